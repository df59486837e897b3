package serving

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/bench/internal/command"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/paritytest"
)

func TestClients(t *testing.T) {
	t.Parallel() // it waits for ticks
	out := runClients(t, "-n", "200", "-clients", "8", "-hz", "60", "-slow", "0.25", "-decode", "4", "-ticks", "50", "-warmup", "15", "-json")
	var got struct {
		Clients map[string]json.RawMessage
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	number := func(name string) (v float64) {
		t.Helper()
		if err := json.Unmarshal(got.Clients[name], &v); err != nil {
			t.Errorf("%s: %v in %s", name, err, out)
		}
		return v
	}
	between := func(name string, least, most float64) {
		t.Helper()
		if v := number(name); v < least || v > most {
			t.Errorf("%s = %v, want %v to %v", name, v, least, most)
		}
	}
	between("count", 8, 8)
	between("entities", 200, 200)
	between("visible", 80, 125) // a mean of 100
	between("bytes_per_entity", 0.1, 12)
	between("server_cpu_ns_per_tick", 1, 1e9)
	between("ticks_late", 0, 50)
	between("hz", 60, 60)
	between("slow_clients", 2, 2)
	between("decoding_clients", 4, 4)
	between("acts_seen", 1, 1e6)
	between("frames", 6, 6*36)
	for _, name := range []string{"input_to_applied_ns", "tick_to_receipt_ns", "total_ns"} {
		var q struct{ P50, P95, P99 int64 }
		if err := json.Unmarshal(got.Clients[name], &q); err != nil || q.P50 <= 0 || q.P50 > q.P95 || q.P95 > q.P99 {
			t.Errorf("%s: %+v, %v", name, q, err)
		}
	}
}

// All clients see all walkers, with inputs that have a lead.
func TestClientsSeeAll(t *testing.T) {
	t.Parallel()
	text := runClients(t, "-n", "50", "-clients", "2", "-visible", "50", "-lead", "-ticks", "40", "-warmup", "10")
	for _, part := range []string{"2 clients, 0 of them slow, of 50 walkers, 50.0 in view", "A acts → B sees", "inputs with a lead"} {
		if !bytes.Contains([]byte(text), []byte(part)) {
			t.Errorf("no %q in\n%s", part, text)
		}
	}
}

// runClients runs the scene, with this binary as the process of the clients.
func runClients(t *testing.T, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	err := command.Run(append([]string{"-scene", "clients"}, args...), &out, os.Stderr)
	if errors.Is(err, syscall.ENOEXEC) {
		t.Skip("not run: the clients as a child process: this binary runs in an emulator only")
	}
	if err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	return out.String()
}

// A connection takes whole messages or none, while nobody reads and afterwards.
func TestFrameConn(t *testing.T) {
	server, client := tcpPair(t)
	conn, err := newClientConn(server, 4<<10)
	if err != nil {
		t.Fatal(err)
	}
	var sent [][]byte
	r := rand.New(rand.NewPCG(1, 1))
	refused := 0
	send := func() {
		message := binary.AppendUvarint(nil, uint64(len(sent)))
		message = append(message, make([]byte, r.IntN(3000))...)
		if conn.Send(message) {
			sent = append(sent, message)
		} else {
			refused++
		}
	}
	for refused == 0 { // until all buffers are full
		send()
	}
	reader := newMessageReader(client, 64)
	received := 0
	for received < len(sent) {
		if err := reader.read(1 << 16); err != nil {
			t.Fatal(err)
		}
		for message, ok := reader.next(); ok; message, ok = reader.next() {
			if !bytes.Equal(message, sent[received]) {
				t.Fatalf("frame %d of %d bytes, want %d", received, len(message), len(sent[received]))
			}
			received++
			if received%8 == 0 && len(sent) < 2000 {
				send()
			}
		}
	}
	conn.Close()
	if err := reader.read(1); err != io.EOF {
		t.Errorf("after Close: %v", err)
	}
	if conn.Send([]byte{1}) {
		t.Error("a connection that is closed takes a frame")
	}
}

func TestFrameConnAllocatesNothing(t *testing.T) {
	server, client := tcpPair(t)
	conn, err := newClientConn(server, 16<<10)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	message, buf := make([]byte, 300), make([]byte, 304)
	if n := testing.AllocsPerRun(100, func() {
		if !conn.Send(message) {
			t.Fatal("refused")
		}
		if _, err := io.ReadFull(client, buf); err != nil {
			t.Fatal(err)
		}
	}); n > 0 && !paritytest.Instrumented {
		t.Errorf("%v allocations a frame", n)
	}
}

func tcpPair(t *testing.T) (server *net.TCPConn, client net.Conn) {
	t.Helper()
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if client, err = net.Dial("tcp", l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	if server, err = l.AcceptTCP(); err != nil {
		t.Fatal(err)
	}
	client.SetDeadline(time.Now().Add(30 * time.Second))
	return server, client
}

// Walkers stay within the walls, face where they go, and all move.
func TestCrowdMoves(t *testing.T) {
	const n, hz = 500, 60
	c, err := newCrowd(n, 100, hz, 10, evertick.Config{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	w := c.sim.World
	before := make([][2]float32, n)
	for tick := range 10 * hz {
		for i := range before {
			before[i] = [2]float32{w.Position.X[i], w.Position.Y[i]}
		}
		if err := c.sim.Step(); err != nil {
			t.Fatal(err)
		}
		rest := 0
		for i, from := range before {
			x, y := w.Position.X[i], w.Position.Y[i]
			dx, dy := x-from[0], y-from[1]
			if x < -1 || y < -1 || x > c.edge+1 || y > c.edge+1 {
				t.Fatalf("tick %d: walker %d is at %v, %v, beyond the walls", tick, i, x, y)
			}
			if step := dx*dx + dy*dy; step > 4.01*4.01/hz/hz {
				t.Fatalf("tick %d: walker %d has moved by %v, %v", tick, i, dx, dy)
			} else if step == 0 {
				rest++
			}
			if z, co := w.Rotation.Z[i], w.Rotation.W[i]; z*z+co*co < 0.999 || z*z+co*co > 1.001 {
				t.Fatalf("tick %d: walker %d has a rotation of length² %v", tick, i, z*z+co*co)
			}
		}
		if rest > n/100 {
			t.Fatalf("tick %d: %d of %d rest", tick, rest, n)
		}
	}
}

// In a crowd as many walkers are near one as was asked for.
func TestCrowdEdge(t *testing.T) {
	const n = 2000
	for _, visible := range []int{20, 100, 1500} {
		c, err := newCrowd(n, visible, 60, 0, evertick.Config{Seed: 3})
		if err != nil {
			t.Fatal(err)
		}
		x, y := c.sim.World.Position.X, c.sim.World.Position.Y
		near := 0
		for i := range n {
			for j := range n {
				dx, dy := x[i]-x[j], y[i]-y[j]
				if dx*dx+dy*dy <= (crowdRadius+0.5)*(crowdRadius+0.5) {
					near++
				}
			}
		}
		if got := float64(near) / n; got < 0.93*float64(visible) || got > 1.07*float64(visible)+1 {
			t.Errorf("%.1f walkers near one, want %d", got, visible)
		}
	}
}

// A walker belongs to the client that has its number, and turns as the inputs of its owner say.
func TestCrowdInputs(t *testing.T) {
	c, err := newCrowd(20, 20, 60, 4, evertick.Config{})
	if err != nil {
		t.Fatal(err)
	}
	push := func(source uint32, seq uint64, kind uint32, data []byte) {
		t.Helper()
		if err := c.sim.Push(evertick.Input{Source: source, Seq: seq, Kind: kind, Data: data}); err != nil {
			t.Fatal(err)
		}
	}
	push(7, 1, inputJoined, []byte{3, 0, 0, 0})
	push(8, 1, inputJoined, []byte{20, 0, 0, 0}) // there is none
	push(7, 2, inputTurn, appendTurn(nil, 3, 0, 1))
	push(8, 2, inputTurn, appendTurn(nil, 3, 5, 2)) // not its walker
	push(7, 3, inputTurn, []byte{3})
	if err := c.sim.Step(); err != nil {
		t.Fatal(err)
	}
	check := func(act uint16, turn float32) {
		t.Helper()
		const slot ecs.Slot = 3
		if o, a, got := c.Owner.Values()[slot], c.Act.Values()[slot], c.Turn.Values()[slot]; o != 7 || a != act || got != turn {
			t.Errorf("owner %d, act %d, turn %v; want 7, %d, %v", o, a, got, act, turn)
		}
	}
	check(0, turns[1])
	push(7, 4, inputTurn, appendTurn(nil, 3, 9, 6))
	if err := c.sim.Step(); err != nil {
		t.Fatal(err)
	}
	check(9, turns[2])
}
