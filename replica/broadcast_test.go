package replica

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/evertick/evertick"
)

// gate is a connection whose Send waits until the gate opens, which a transport must not do: it holds the
// goroutine that sends.
type gate struct {
	recorder
	entered, open chan struct{}
}

func newGate() *gate { return &gate{entered: make(chan struct{}, 100), open: make(chan struct{}, 100)} }

func (g *gate) Send(message []byte) bool {
	if message[0] == kindKeyframe || message[0] == kindUpdate {
		g.entered <- struct{}{}
		<-g.open
	}
	return g.recorder.Send(message)
}

// newThreaded returns a world whose Server has a goroutine that sends.
func newThreaded(t testing.TB, n int, c Config) *world {
	t.Helper()
	w := newSim(t, n, evertick.InputConfig{})
	s, err := New(w.sim, c)
	check(t, err)
	w.Server = s
	t.Cleanup(func() { check(t, s.Close()) })
	return w
}

// idle waits until the goroutine that sends is idle.
func (w *world) idle() {
	for w.busy.Load() {
		time.Sleep(20 * time.Microsecond)
	}
}

// A Sim does not wait for the goroutine that sends: a send tick at which it is busy is skipped, and the
// next message has all changes.
func TestBusyTicksAreSkipped(t *testing.T) {
	w := newThreaded(t, 3, Config{})
	g := newGate()
	c, err := w.Join(context.Background(), g, (&Hello{}).append(nil))
	check(t, err)
	welcome, err := parseWelcome(g.take()[0])
	check(t, err)
	client := newMirror(t, welcome.schema)
	w.step(1)
	<-g.entered
	check(t, c.Receive(appendIntents(nil, []intent{{seq: 1}})))
	w.step(5) // none of them waits
	g.open <- struct{}{}
	w.idle()
	w.step(1)
	<-g.entered
	g.open <- struct{}{}
	w.idle()
	messages := g.take()
	expect(t, "frames", kinds(messages), "KU")
	if k, u := headerOf(messages[0]), headerOf(messages[1]); k.tick != 1 || k.applied != 0 || u.tick != 7 || u.age != 6 || u.applied != 1 {
		t.Errorf("Keyframe %+v, Update %+v", k, u)
	}
	for _, f := range messages {
		client.apply(f)
	}
	st := w.stats()
	if st.Updates != 2 || st.Skipped != 5 || st.TickToSent.Count() != 2 {
		t.Errorf("%d send ticks, %d skipped", st.Updates, st.Skipped)
	}
}

// The messages of a state do not report inputs that a later tick applies while they are being sent.
func TestAppliedWhileFramesAreSent(t *testing.T) {
	w := newThreaded(t, 3, Config{})
	g := newGate()
	_, err := w.Join(context.Background(), g, (&Hello{}).append(nil))
	check(t, err)
	for range chunkMessages {
		w.mustJoin(Hello{})
	}
	p := w.mustJoin(Hello{}) // its message is made in another chunk
	w.step(1)
	<-g.entered
	check(t, p.input(1, 0, 1, ""))
	w.step(1)
	expect(t, "applied", p.Stats().Applied, 1)
	g.open <- struct{}{}
	w.idle()
	if h := headerOf(p.conn.take()[0]); h.tick != 1 || h.applied != 0 {
		t.Errorf("the frame of tick %d says that input %d was applied", h.tick, h.applied)
	}
	w.step(1)
	<-g.entered
	g.open <- struct{}{}
	w.idle()
	expect(t, "applied in the next frame", headerOf(p.conn.take()[0]).applied, 1)
}

func TestLateSendTicks(t *testing.T) {
	w := newWorld(t, 1, Config{}, evertick.InputConfig{})
	r := new(recorder)
	delay := int64(0)
	_, err := w.joinBy(r, Hello{})
	check(t, err)
	r.onSend = func([]byte) { w.clock.Add(delay) }
	for _, delay = range []int64{0, 16_666_665, 16_666_666, 50_000_000} {
		w.step(1)
	}
	st := w.stats()
	if st.Updates != 4 || st.Late != 2 || st.TickToSent.Max() != 50_000_000 || st.Send.Last != 50_000_000 || st.Send.Total != 83_333_331 {
		t.Errorf("%d send ticks, %d late, the last one took %d ns", st.Updates, st.Late, st.Send.Last)
	}
}

// Clients that do not read change nothing for others, and cost no memory: what they have not seen is in
// the next message that they take.
func TestSlowClientsCoalesce(t *testing.T) {
	const slow = 1000
	w := newWorld(t, 20, Config{}, evertick.InputConfig{})
	var stalled []*peer
	for range slow {
		stalled = append(stalled, w.mustJoin(Hello{}))
	}
	good := w.mustJoin(Hello{})
	w.step(2)
	bytes := func(p *peer) int { return p.session.viewer.bytes() }
	before := bytes(stalled[0])
	for _, p := range stalled {
		p.conn.take()
		p.conn.setFull(true)
	}
	good.conn.take()
	for i := range 200 {
		w.sim.World.Position.X[i%20] += 0.25
		w.sim.World.Position.Touch()
		w.step(1)
	}
	if got := len(good.conn.take()); got != 200 {
		t.Errorf("a good client got %d frames of 200", got)
	}
	for i, p := range stalled {
		p.conn.setFull(false)
		if n := bytes(p); n > 2*before+256 {
			t.Fatalf("client %d takes %d bytes, %d before", i, n, before)
		}
	}
	tried := retryEvery + (200-retryEvery)/retryEvery
	st := w.stats()
	if st.NotTaken != uint64(slow*tried) || st.Slow != 0 || st.Connected != slow+1 {
		t.Errorf("%d frames not taken, %d connections ended", st.NotTaken, st.Slow)
	}
	expect(t, "of one client", stalled[0].Stats().NotTaken, uint64(tried))
	most := 0
	for range retryEvery {
		before := w.stats().Keyframe.Frames
		w.step(1)
		most = max(most, int(w.stats().Keyframe.Frames-before))
	}
	if most > slow/retryEvery+1 {
		t.Errorf("%d of %d clients were tried in the same tick", most, slow)
	}
	for i, p := range stalled {
		if k := kinds(p.conn.take()); strings.Trim(k, "U") != "K" { // the base has left the ring
			t.Fatalf("client %d gets %q", i, k)
		}
	}
}

// A connection that refuses a few messages gets the next one at once.
func TestShortStallsCostNoTime(t *testing.T) {
	w := newWorld(t, 3, Config{}, evertick.InputConfig{})
	p := w.mustJoin(Hello{})
	for range 5 {
		w.step(1)
		p.conn.setFull(true)
		w.step(retryEvery - 1)
		p.conn.setFull(false)
		p.conn.take()
		w.step(1)
		expect(t, "frames", kinds(p.conn.take()), "U")
	}
}

func TestSlowClientsDisconnect(t *testing.T) {
	c := notices
	c.Slow, c.SlowTicks = Disconnect, 3
	w := newWorld(t, 3, c, evertick.InputConfig{})
	p := w.mustJoin(Hello{})
	w.step(1)
	for range 3 { // twice in a row is not enough
		p.conn.setFull(true)
		w.step(2)
		p.conn.setFull(false)
		w.step(1)
	}
	p.conn.setFull(true)
	w.step(3)
	expect(t, "closed", p.conn.closed, 1)
	if err := p.input(1, 0, 1, ""); !errors.Is(err, TooSlow) {
		t.Errorf("an input afterwards: %v", err)
	}
	w.step(5)
	expect(t, "frames not taken", w.stats().NotTaken, 9)
	expect(t, "connections ended", w.stats().Slow, 1)
	if back := w.resume(p, 10); !back.welcome.resumed {
		t.Error("the session has ended")
	}
	expect(t, "inputs", lifecycle(w.took()), "[+1]")
}

// A Sim that goes back sends Keyframes: its clients have states of a discarded future.
func TestRestoreSendsKeyframes(t *testing.T) {
	w := newWorld(t, 3, Config{}, evertick.InputConfig{})
	p := w.mustJoin(Hello{})
	q, err := w.joinBy(&recorder{unordered: true}, Hello{})
	check(t, err)
	w.step(3)
	state, err := w.sim.Snapshot(nil)
	check(t, err)
	w.step(3)
	check(t, q.Receive(appendTick(nil, kindAck, 6)))
	p.conn.take()
	q.conn.take()
	check(t, w.sim.Restore(state))
	w.step(2)
	expect(t, "frames", kinds(p.conn.take()), "KU")
	expect(t, "a connection that is not ordered", q.lastError(t), Closing)
	if back := w.resume(q, 6); !back.welcome.resumed || back.welcome.tick != 5 {
		t.Errorf("Welcome: %+v", back.welcome)
	} else {
		w.step(1)
		expect(t, "frames", kinds(back.conn.take()), "K")
	}
	expect(t, "causes", w.stats().Keyframes.Lost > 0, true)
}

// A transport in memory may call the Session within Send, also on the goroutine of the Sim.
func TestSendMayCallTheSession(t *testing.T) {
	w := newWorld(t, 3, notices, evertick.InputConfig{})
	p, q := w.mustJoin(Hello{}), w.mustJoin(Hello{})
	calls := 0
	p.conn.onSend = func([]byte) {
		calls++
		switch calls {
		case 1:
			check(t, p.input(1, 0, 1, ""))
			check(t, p.Receive(appendPing(nil, 1)))
		case 3: // after the Pong
			p.SetMask(3)
			p.Stats()
			w.stats()
			w.mustJoin(Hello{})
		case 4:
			q.Disconnected()
			p.Close(Closing)
		}
	}
	w.step(5)
	if calls < 4 {
		t.Errorf("%d calls", calls)
	}
	expect(t, "inputs", lifecycle(w.took()), "[+1 +2 +3 -1]")
}

// sink is a connection that takes everything and keeps nothing.
type sink struct{ messages, bytes int }

func (s *sink) Send(message []byte) bool {
	s.messages++
	s.bytes += len(message)
	return true
}
func (s *sink) Ordered() bool { return true }
func (s *sink) Close()        {}

func TestSendTicksDoNotAllocate(t *testing.T) {
	const n, clients = 500, 100
	for _, view := range []ViewConfig{{}, {Enter: 20, Leave: 25}} {
		w := newSim(t, n, evertick.InputConfig{})
		s, err := New(w.sim, Config{Owner: "owner", View: view, Inline: true, Limits: Limits{FramesPerSecond: 1e9, BytesPerSecond: 1e9}})
		check(t, err)
		w.Server = s
		conn := new(sink)
		var sessions []*Session
		for i := range clients {
			c, err := s.Join(t.Context(), conn, (&Hello{}).append(nil))
			check(t, err)
			w.owner.Values()[5*i] = c.ID()
			sessions = append(sessions, c)
		}
		w.owner.Touch()
		seq := uint64(0)
		message := make([]byte, 0, 64)
		list := make([]intent, 1)
		ack, ping := make([]byte, 0, 16), appendPing(nil, 5)
		step := func() {
			seq++
			list[0] = intent{seq: seq, kind: 1, data: ping}
			message = appendIntents(message[:0], list)
			ack = appendTick(ack[:0], kindAck, w.tick.Load())
			for _, c := range sessions {
				check(t, c.Receive(message))
				check(t, c.Receive(ack))
				check(t, c.Receive(ping))
			}
			for i := range w.sim.World.Position.X[:n] {
				w.sim.World.Position.X[i] += float32(int(seq+uint64(i))%7-3) * 0.1
			}
			w.sim.World.Position.Touch()
			w.applied = w.applied[:0]
			check(t, w.sim.Step())
		}
		w.quiet = true
		for range 150 {
			step()
		}
		before := conn.messages
		if allocs := testing.AllocsPerRun(100, step); allocs > 0 {
			t.Errorf("view %v: %v allocations a tick", view.Enter, allocs)
		}
		if conn.messages < before+100*clients {
			t.Errorf("only %d frames", conn.messages-before)
		}
		check(t, s.Close())
	}
}

// Clients come, send, leave and come back on goroutines of their own while the Sim runs.
func TestConcurrentSessions(t *testing.T) {
	const clients, rounds = 8, 30
	c := notices
	c.Limits = Limits{Sessions: 5, FramesPerSecond: 1e9, BytesPerSecond: 1e9}
	w := newThreaded(t, 50, c)
	var wg sync.WaitGroup
	for k := range clients {
		wg.Go(func() {
			var token []byte
			for i := range rounds {
				r := new(recorder)
				session, err := w.Join(t.Context(), r, (&Hello{Token: token, Held: uint64(i)}).append(nil))
				if err != nil {
					if code := codeOf(err, 0); code != TooMany && code != Closing {
						t.Errorf("Join: %v", err)
					}
					time.Sleep(time.Millisecond)
					continue
				}
				welcome, err := parseWelcome(r.take()[0])
				if err != nil {
					t.Error(err)
					return
				}
				token = welcome.token
				concurrentClient(session, uint64(i), k)
				switch i % 4 {
				case 0:
					session.Close(Closing)
				case 1:
					_ = session.Receive([]byte{99})
					session.Disconnected()
				case 2: // the next Join replaces the connection
				default:
					session.Disconnected()
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
			w.sim.World.Position.X[w.sim.Ticks()%50]++
			w.sim.World.Position.Touch()
			w.step(1)
			w.clock.Add(16_666_667)
			w.stats()
		}
	}
	w.idle()
	st := w.stats()
	if st.Joined == 0 || st.Ended == 0 || st.Faults != 0 || st.Connected+st.Waiting > 5 {
		t.Errorf("%d joined, %d ended, %d connected, %d waiting, %d faults", st.Joined, st.Ended, st.Connected, st.Waiting, st.Faults)
	}
}

func concurrentClient(session *Session, seq uint64, k int) {
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := range 5 {
			_ = session.Receive(appendIntents(nil, []intent{{seq: seq*10 + uint64(i) + 1, kind: 1, data: []byte("data")}}))
			_ = session.Receive(appendPing(nil, 1))
			_ = session.Receive(appendTick(nil, kindResync, 0))
		}
	})
	wg.Go(func() {
		session.SetMask(uint32(k))
		session.Follow(3)
		session.LookAt(1, 2, 3)
		session.Stats()
		time.Sleep(time.Millisecond)
	})
	wg.Wait()
}

func TestCloseWhileClientsCome(t *testing.T) {
	for range 20 {
		w := newSim(t, 5, evertick.InputConfig{})
		s, err := New(w.sim, Config{})
		check(t, err)
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for {
					c, err := s.Join(t.Context(), new(recorder), (&Hello{}).append(nil))
					if err != nil {
						if !errors.Is(err, Closing) {
							t.Errorf("Join: %v", err)
						}
						return
					}
					for err == nil {
						err = c.Receive(appendPing(nil, 1))
					}
					if !errors.Is(err, Closing) && !errors.Is(err, TooFast) {
						t.Errorf("Receive: %v", err)
					}
				}
			})
		}
		w.step(20)
		check(t, s.Close())
		wg.Wait()
	}
}
