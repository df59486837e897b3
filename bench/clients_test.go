package main

import (
	"bytes"
	"encoding/binary"
	"io"
	"math/rand/v2"
	"net"
	"testing"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/native/paritytest"
)

// A connection takes whole frames or none, while nobody reads and afterwards.
func TestFrameConn(t *testing.T) {
	server, client := tcpPair(t)
	conn, err := newFrameConn(server, 4<<10)
	if err != nil {
		t.Fatal(err)
	}
	var sent [][]byte
	r := rand.New(rand.NewPCG(1, 1))
	refused := 0
	send := func() {
		frame := binary.AppendUvarint(nil, uint64(len(sent)))
		frame = append(frame, make([]byte, r.IntN(3000))...)
		if conn.Send(frame) {
			sent = append(sent, frame)
		} else {
			refused++
		}
	}
	for refused == 0 { // until all buffers are full
		send()
	}
	reader := newFrameReader(client, 64)
	received := 0
	for received < len(sent) {
		if err := reader.read(1 << 16); err != nil {
			t.Fatal(err)
		}
		for frame, ok := reader.next(); ok; frame, ok = reader.next() {
			if !bytes.Equal(frame, sent[received]) {
				t.Fatalf("frame %d of %d bytes, want %d", received, len(frame), len(sent[received]))
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
	conn, err := newFrameConn(server, 16<<10)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	frame, buf := make([]byte, 300), make([]byte, 304)
	if n := testing.AllocsPerRun(100, func() {
		if !conn.Send(frame) {
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
	c, err := newCrowd(n, 100, hz, 10, 1, native.Auto, 1)
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

// A walker belongs to the client that has its number, and turns as the inputs of its owner say.
func TestCrowdInputs(t *testing.T) {
	c, err := newCrowd(20, 20, 60, 4, 1, native.Auto, 1)
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
