package replica

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/internal/paritytest"
)

// unorderedHost is the part of a host that has one connection of a client.
type unorderedHost struct {
	*world
	pipe    *Pipe
	session *Session // nil: no first message has come
	each    bool     // it passes each Hello to Join, and otherwise the first message only
	errors  int
}

func (h *unorderedHost) receive(message []byte) {
	if h.session == nil || h.each && message[0] == kindHello {
		s, err := h.Join(context.Background(), h.pipe, message)
		if err == nil {
			h.session = s
		}
		return
	}
	if h.session.Receive(message) != nil {
		h.errors++
		h.session = nil
	}
}

// unorderedRun is what a schedule has met.
type unorderedRun struct{ hellos, welcomes, again, moved int }

// runUnordered runs a schedule: the network loses, repeats and reorders any message, the client sends another Hello at any time, and, if
// moves is set, the connection is lost at times, and the client makes another one. Then the network gets better, and all must be as
// after one Hello.
func runUnordered(t *testing.T, seed uint64, each, moves bool, seen *unorderedRun) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 0))
	w := newWorld(t, 3, Config{Joined: 100, Left: 101, Limits: Limits{Resume: time.Hour, FramesPerSecond: 100_000}}, evertick.InputConfig{})
	c := PipeConfig{Loss: r.Float32() * 0.6, Duplicate: r.Float32() * 0.6, Reorder: r.Float32(),
		DelayNs: r.Int64N(40e6), JitterNs: r.Int64N(80e6), Seed: r.Uint64(), QueueBytes: 1 << 20}
	pipe, err := NewPipe(c)
	check(t, err)
	host := &unorderedHost{world: w, pipe: pipe, each: each}
	client, err := NewClient(ClientConfig{Clock: w.clock, Send: func(message []byte) bool { return host.pipe.ToServer(message) }})
	check(t, err)
	check(t, client.Connect())
	const bad, good = 400, 300
	waiting := 0
	connect := func() {
		check(t, client.Connect())
		seen.hellos++
		waiting = 0
	}
	var sent []uint64
	for step := range bad + good {
		if step == bad {
			host.pipe.config.Loss, host.pipe.config.Duplicate, host.pipe.config.Reorder = 0, 0, 0
		}
		w.clock.Add(16_666_667)
		w.step(1)
		host.pipe.Deliver(w.clock.Now(), func(message []byte) {
			if message[0] == kindWelcome {
				seen.welcomes++
			}
			if err := client.Receive(message); err != nil {
				t.Fatalf("seed %d, step %d: the client refuses a frame: %v", seed, step, err)
			}
		}, host.receive)
		if waiting++; !client.live && waiting > 10 {
			connect()
		} else if client.live && step < bad && r.IntN(60) == 0 {
			connect()
			seen.again++
		}
		if moves && step < bad && client.joined && r.IntN(50) == 0 { // before there is a token it would be another client
			if host.session != nil {
				host.session.Disconnected()
			}
			c.Seed++
			host.pipe, err = NewPipe(c)
			check(t, err)
			host.pipe.Deliver(w.clock.Now(), nil, nil)
			host.session = nil
			seen.moved++
			connect()
		}
		if client.joined && step%5 == 0 && step < bad+good/2 {
			seq, err := client.Input(1, nil, 0)
			check(t, err)
			sent = append(sent, seq)
		}
	}
	what := fmt.Sprintf("seed %d, each Hello to Join: %v, the client moves: %v", seed, each, moves)
	begun, times := 0, map[uint64]int{}
	for _, in := range w.took() {
		switch in.Kind {
		case 100:
			begun++
		case 101:
			t.Errorf("%s: a session has ended", what)
		default:
			times[in.Seq]++
		}
	}
	st := w.stats()
	if begun != 1 || st.Connected != 1 || st.Waiting != 0 || host.errors != 0 {
		t.Errorf("%s: %d sessions began, %d are connected, %d wait, %d errors", what, begun, st.Connected, st.Waiting, host.errors)
	}
	if !client.live || client.State().Tick()+10 < w.sim.Ticks() || client.Waiting() > 0 {
		t.Errorf("%s: the client is connected: %v, its state is of tick %d of %d, %d inputs wait", what, client.live, client.State().Tick(), w.sim.Ticks(), client.Waiting())
	}
	for i, seq := range sent {
		if n := times[seq]; seq != uint64(i+1) || n > 1 || n == 0 && i > len(sent)-20 {
			t.Errorf("%s: input %d has the number %d, and was applied %d times", what, i+1, seq, n)
		}
	}
}

// Whatever an unordered network does with the messages of a connection, Hello and Welcome included, there is one session, and the connection lives.
func TestUnorderedConnections(t *testing.T) {
	var seen unorderedRun
	runs := 40
	if !full() {
		runs = 6
	}
	first := paritytest.Seed() % (1 << 32)
	for i := range uint64(runs) {
		for _, each := range []bool{false, true} {
			for _, moves := range []bool{false, true} {
				runUnordered(t, first+i, each, moves, &seen)
				if t.Failed() {
					return
				}
			}
		}
	}
	if seen.again == 0 || seen.moved == 0 || seen.welcomes < seen.again {
		t.Errorf("%+v", seen)
	}
}

// incomparable is a Conn that cannot be compared.
type incomparable struct {
	*recorder
	_ []int
}

// A Hello that comes again finds the session of its connection, also while the first one waits for Authorize; a connection that cannot be
// compared passes it to Receive. A message that comes before the Hello begins nothing, and is not answered.
func TestHelloAgain(t *testing.T) {
	wait, asked := make(chan struct{}), make(chan struct{}, 2)
	w := newWorld(t, 1, Config{Authorize: func(context.Context, Hello) (Grant, error) {
		asked <- struct{}{}
		<-wait
		return Grant{}, nil
	}}, evertick.InputConfig{})
	conn := &recorder{unordered: true}
	type result struct {
		*Session
		error
	}
	results := make(chan result, 2)
	for range 2 {
		go func() {
			s, err := w.Join(context.Background(), conn, (&Hello{Credentials: []byte("x")}).append(nil))
			results <- result{s, err}
		}()
	}
	<-asked
	<-asked
	close(wait)
	a, b := <-results, <-results
	check(t, a.error)
	check(t, b.error)
	if a.Session != b.Session {
		t.Error("a Hello that comes twice begins two sessions")
	}
	expect(t, "frames", kinds(conn.take()), "WW")
	check(t, a.Receive((&Hello{Credentials: []byte("y")}).append(nil))) // of another client
	expect(t, "frames", kinds(conn.take()), "")
	check(t, a.Receive(appendTick(nil, kindAck, 0)))
	check(t, a.Receive((&Hello{Credentials: []byte("x")}).append(nil)))
	expect(t, "frames", kinds(conn.take()), "W")
	a.Disconnected()
	if again, err := w.Join(context.Background(), conn, (&Hello{}).append(nil)); err != nil || again.ID() == a.ID() {
		t.Errorf("a Hello without a token after the end: %v", err)
	}

	r := &recorder{unordered: true}
	s, err := w.Join(context.Background(), incomparable{recorder: r}, (&Hello{}).append(nil))
	check(t, err)
	check(t, s.Receive((&Hello{}).append(nil)))
	expect(t, "frames", kinds(r.take()), "WW")
	for _, unordered := range []bool{true, false} {
		r := &recorder{unordered: unordered}
		_, err := w.Join(context.Background(), r, appendTick(nil, kindAck, 7))
		expect(t, "error", codeOf(err, 0), BadFrame)
		expect(t, "answers", kinds(r.take()), map[bool]string{true: "", false: "E"}[unordered])
	}
	if st := w.stats(); st.Joined != 3 {
		t.Errorf("%d sessions", st.Joined)
	}
}
