package replica

import (
	"errors"
	"slices"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/loop"
)

// Clients that join in the middle, stall and come back have the hash of the server at each tick, and get
// no more Snapshots than they need.
func TestSimulatorFollows(t *testing.T) {
	ticks := 10000
	if !full() {
		ticks = 3500
	}
	const clients = 4
	a := newAuthority(t, 24, 3)
	type client struct {
		*Simulator
		follower
		lane
		joined, connected bool
		stall             int
	}
	list := make([]client, clients)
	var stalls, longStalls, resumes, equal int
	for tick := range ticks {
		a.step(t)
		for i := range list {
			c := &list[i]
			r := loop.NewRand(uint64(i), uint64(tick), 1, 2)
			switch {
			case !c.joined && tick >= 200*i:
				c.Simulator, c.joined, c.connected, c.room = newSimulator(t, newDuel(t, duelSeed, 24), SimulatorConfig{}), true, true, 8
				a.stream.join(&c.follower, c.held())
				continue
			case !c.joined:
				continue
			case c.stall > 0:
				c.stall--
			case !c.connected: // back again, with the token
				c.messages, c.connected = nil, true
				a.stream.resume(&c.follower, c.held())
				resumes++
			case r.Uint64n(300) == 0:
				c.stall, stalls = int(r.Uint64n(60)), stalls+1
			case i == 3 && tick == 700 || r.Uint64n(6000) == 0: // longer than the log
				c.stall, longStalls = 1500, longStalls+1
			case r.Uint64n(300) == 0: // what is on the way is lost
				c.connected, c.stall = false, int(r.Uint64n(100))
			}
			if c.connected {
				if _, err := a.stream.send(&c.follower, c); err != nil {
					t.Fatal(err)
				}
			}
			if c.connected && c.stall == 0 {
				c.deliver(t, c.Simulator, int(r.Uint64n(12)))
			}
			if n := c.held(); n > 0 {
				equal++
				if c.sim.Hash() != a.hashes[n-1] {
					t.Fatalf("client %d, after %d ticks: hash %x, want %x", i, n, c.sim.Hash(), a.hashes[n-1])
				}
			}
		}
	}
	for i := range list {
		c := &list[i]
		for len(c.messages) > 0 || c.connected && c.next != uint64(ticks) { // a stalled client catches up
			a.stream.send(&c.follower, c)
			c.deliver(t, c.Simulator, len(c.messages))
		}
		st := c.Stats()
		if c.held() != uint64(ticks) && c.connected {
			t.Errorf("client %d holds tick %d of %d", i, c.held(), ticks)
		}
		if most := uint64(1 + longStalls); st.Diverged != 0 || st.Snapshots == 0 || st.Snapshots > most || st.Ticks < uint64(ticks)/8 {
			t.Errorf("client %d: %+v, at most %d Snapshots wanted", i, st, most)
		}
	}
	if stalls < 10 || resumes < 10 || longStalls == 0 || equal < ticks {
		t.Errorf("%d stalls, %d resumes, %d long stalls, %d ticks compared", stalls, resumes, longStalls, equal)
	}
}

// A client detects in the same tick that its Sim differs from that of the server, and a Snapshot repairs it.
func TestSimulatorNotices(t *testing.T) {
	for name, wrong := range map[string]func(d *duel) func(*evertick.Tick){
		"system": func(d *duel) func(*evertick.Tick) { return func(*evertick.Tick) { d.sum ^= 1 } },
		"one bit of a column": func(d *duel) func(*evertick.Tick) {
			return func(*evertick.Tick) { d.score.Values()[1] ^= 1 << 31 }
		},
		"random numbers": func(d *duel) func(*evertick.Tick) {
			return func(t *evertick.Tick) { r := t.Rand(1, 1); d.sum += duelSum(r.Uint64n(1 << 40)) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			a, d := newAuthority(t, 24, 3), newDuel(t, duelSeed, 24)
			s := newSimulator(t, d, SimulatorConfig{})
			c, f := lane{room: 100}, follower{}
			a.stream.join(&f, s.held())
			run := func(n int) {
				for range n {
					a.step(t)
					if _, err := a.stream.send(&f, &c); err != nil {
						t.Fatal(err)
					}
					if s.held() == a.sim.Ticks()-1 || s.held() == 0 {
						c.deliver(t, s, 100)
					}
				}
			}
			run(50)
			if s.held() != 50 {
				t.Fatal(s.held())
			}
			a.step(t)
			a.stream.send(&f, &c)
			d.wrong = wrong(d)
			err := s.receive(c.messages[0])
			if !errors.Is(err, ErrDiverged) || s.held() != 0 || s.Stats().Diverged != 1 {
				t.Fatalf("error %v, held %d, %+v", err, s.held(), s.Stats())
			}
			c.messages, d.wrong = nil, nil
			a.stream.resync(&f, s.held())
			run(2 * snapshotAge)
			if s.held() != a.sim.Ticks() || s.Stats().Snapshots != 2 {
				t.Errorf("held %d of %d, %+v", s.held(), a.sim.Ticks(), s.Stats())
			}
		})
	}
}

// The host sees both hashes of each tick and Snapshot, also those that differ.
func TestSimulatorCompared(t *testing.T) {
	a, d := newAuthority(t, 24, 3), newDuel(t, duelSeed, 24)
	var ticks, equal uint64
	s := newSimulator(t, d, SimulatorConfig{Compared: func(n, own, server uint64) {
		if server != a.hashes[n-1] || own == server && own != d.sim.Hash() {
			t.Errorf("after %d ticks: hashes %x and %x, that of the server was %x", n, own, server, a.hashes[n-1])
		}
		ticks++
		if own == server {
			equal++
		}
	}})
	c, f := lane{room: 100}, follower{}
	a.stream.join(&f, s.held())
	for i := range 40 {
		if i == 30 {
			d.wrong = func(*evertick.Tick) { d.sum++ }
		}
		a.step(t)
		if _, err := a.stream.send(&f, &c); err != nil {
			t.Fatal(err)
		}
		for _, message := range c.messages {
			_ = s.receive(message)
		}
		c.messages = nil
	}
	if st := s.Stats(); equal != st.Ticks+st.Snapshots || ticks != equal+1 || st.Diverged != 1 || equal < 20 {
		t.Errorf("%d ticks, %d of them equal, %+v", ticks, equal, st)
	}
}

// A client also detects a host that changes the world between two ticks, without an input.
func TestSimulatorNoticesHost(t *testing.T) {
	a, s := newAuthority(t, 24, 3), newSimulator(t, newDuel(t, duelSeed, 24), SimulatorConfig{})
	c, f := lane{room: 100}, follower{}
	a.stream.join(&f, 0)
	for range 20 {
		a.step(t)
		a.stream.send(&f, &c)
		c.deliver(t, s, 9)
	}
	a.score.Values()[0]++
	a.step(t)
	a.stream.send(&f, &c)
	if err := s.receive(c.messages[0]); !errors.Is(err, ErrDiverged) {
		t.Error(err)
	}
}

// The prediction begins anew with a Snapshot.
func TestSimulatorPredictsFromASnapshot(t *testing.T) {
	a, predicted := newAuthority(t, 24, 3), newDuel(t, duelSeed, 24)
	s := newSimulator(t, newDuel(t, duelSeed, 24), SimulatorConfig{Predicted: predicted.sim})
	c, f := lane{room: 100}, follower{}
	a.stream.join(&f, 0)
	for i := range 4 * snapshotAge {
		if i == snapshotAge {
			a.score.Values()[0]++ // no input has done that
		}
		a.step(t)
		if _, err := a.stream.send(&f, &c); err != nil {
			t.Fatal(err)
		}
		for _, message := range c.messages {
			switch err := s.receive(message); {
			case errors.Is(err, ErrDiverged):
				a.stream.resync(&f, s.held())
			case err != nil:
				t.Fatal(err)
			}
			if err := s.Predict(s.held()); err != nil {
				t.Fatal(err)
			}
			if s.held() > 0 && predicted.sim.Hash() != s.Sim().Hash() {
				t.Fatalf("tick %d: the prediction is at tick %d and another state", s.held(), predicted.sim.Ticks())
			}
		}
		c.messages = nil
	}
	if st := s.Stats(); st.Snapshots != 2 || st.Diverged != 1 {
		t.Errorf("%+v", st)
	}
}

// Inputs that wait at the time of the Snapshot are applied once, in their tick.
func TestSimulatorWaitingInputs(t *testing.T) {
	a, s := newAuthority(t, 24, 3), newSimulator(t, newDuel(t, duelSeed, 24), SimulatorConfig{})
	a.early = 10
	c, f := lane{room: 100}, follower{}
	for range 15 {
		a.step(t)
	}
	a.stream.join(&f, 0)
	for i := range 60 {
		a.step(t)
		if n := a.sim.InputStats().Waiting; i == 0 && n < 10 {
			t.Fatalf("%d inputs wait", n)
		}
		a.stream.send(&f, &c)
		c.deliver(t, s, 9)
	}
	if s.held() != a.sim.Ticks() || s.Stats().Ticks != 59 || s.sim.InputStats().Waiting != 0 {
		t.Errorf("held %d of %d, %+v, %+v", s.held(), a.sim.Ticks(), s.Stats(), s.sim.InputStats())
	}
}

func newEmpty(t testing.TB) *evertick.Sim {
	t.Helper()
	sim, err := evertick.New(evertick.Config{Capacity: 8})
	if err != nil {
		t.Fatal(err)
	}
	return sim
}

// A server that steps back and runs other ticks sends a Snapshot of the new past.
func TestSimulatorStepBack(t *testing.T) {
	sim, err := evertick.New(evertick.Config{Capacity: 8, History: evertick.HistoryConfig{Keep: 100, Every: 4}})
	if err != nil {
		t.Fatal(err)
	}
	var stream inputStream
	sim.AddHooks(evertick.Hooks{AfterTick: func(t *evertick.Tick) error { stream.capture(t, 0); return nil }})
	twin := newEmpty(t)
	s, err := NewSimulator(twin, SimulatorConfig{})
	if err != nil {
		t.Fatal(err)
	}
	c, f := lane{room: 100}, follower{}
	stream.join(&f, 0)
	step := func(n uint64) {
		t.Helper()
		if err := sim.StepN(n); err != nil {
			t.Fatal(err)
		}
		stream.send(&f, &c)
		c.deliver(t, s, 100)
	}
	step(40)
	if err := sim.StepBack(5); err != nil {
		t.Fatal(err)
	}
	if err := sim.Forward(5); err != nil {
		t.Fatal(err)
	}
	step(1)
	if s.Stats().Snapshots != 1 || s.held() != 41 || stream.log.begin() != 0 {
		t.Errorf("after the same ticks: %+v, held %d, log from %d", s.Stats(), s.held(), stream.log.begin())
	}
	if err := sim.StepBack(20); err != nil {
		t.Fatal(err)
	}
	if _, err := sim.World.Spawn(); err != nil {
		t.Fatal(err)
	}
	step(1)
	for s.held() != sim.Ticks() && sim.Ticks() < 100 {
		step(1)
	}
	if s.Stats().Snapshots != 2 || s.Stats().Diverged != 0 || twin.World.Len() != 1 {
		t.Errorf("after other ticks: %+v, held %d of %d", s.Stats(), s.held(), sim.Ticks())
	}
}

// A client that gets nothing while the server goes back and beyond its place, and one that joins then, get
// Snapshots of what has happened since.
func TestSimulatorStepBackUnseen(t *testing.T) {
	sim, err := evertick.New(evertick.Config{Capacity: 8, History: evertick.HistoryConfig{Keep: 100, Every: 4}})
	if err != nil {
		t.Fatal(err)
	}
	var stream inputStream
	sim.AddHooks(evertick.Hooks{AfterTick: func(t *evertick.Tick) error { stream.capture(t, 0); return nil }})
	var clients [2]*Simulator
	var followers [2]follower
	c := lane{room: 100}
	send := func(n int) {
		t.Helper()
		for i := range n {
			if clients[i] == nil {
				clients[i] = newSimulator(t, &duel{sim: newEmpty(t)}, SimulatorConfig{})
				stream.join(&followers[i], 0)
			}
			stream.send(&followers[i], &c)
			c.deliver(t, clients[i], 100)
		}
		if err := sim.Step(); err != nil {
			t.Fatal(err)
		}
	}
	for range 40 {
		send(1)
	}
	stream.resync(&followers[0], 0) // a Snapshot of tick 41, which is undone soon
	for range 3 {
		send(1)
	}
	if err := sim.StepBack(20); err != nil {
		t.Fatal(err)
	}
	if _, err := sim.World.Spawn(); err != nil {
		t.Fatal(err)
	}
	if err := sim.StepN(24); err != nil {
		t.Fatal(err)
	}
	for range snapshotAge + 3 {
		send(2)
	}
	for i, s := range clients {
		if s.held()+1 != sim.Ticks() || s.Stats().Diverged != 0 || s.sim.World.Len() != 1 {
			t.Errorf("client %d holds %d of %d, %+v", i, s.held(), sim.Ticks(), s.Stats())
		}
	}
}

// With ten players, each of which acts in every tick, a client gets less than 8 kB/s, as many for 100 entities as for 10,000.
func TestSimulatorBandwidth(t *testing.T) {
	const players, ticks = 10, 600
	bytes := map[int]int{}
	for _, entities := range []int{100, 10000} {
		d := newDuel(t, duelSeed, entities)
		var stream inputStream
		d.sim.AddHooks(evertick.Hooks{AfterTick: func(t *evertick.Tick) error { stream.capture(t, 1e9+t.N*16667); return nil }})
		c, f := lane{room: 100}, follower{}
		stream.join(&f, 0)
		for tick := range uint64(ticks) {
			for p := range uint32(players) {
				in := evertick.Input{Tick: tick, Source: 100 + p, Seq: 100000 + tick, Kind: duelPush, Data: []byte{1, byte(tick)}}
				if err := d.sim.Push(in); err != nil {
					t.Fatal(err)
				}
			}
			if err := d.sim.Step(); err != nil {
				t.Fatal(err)
			}
			n, err := stream.send(&f, &c)
			if err != nil || n.inputs+n.snapshots != 1 {
				t.Fatalf("%+v, %v", n, err)
			}
			bytes[entities] += n.inputBytes
			c.messages = c.messages[:0]
		}
	}
	t.Logf("%d bytes a second", bytes[100]*60/(ticks-1))
	if bytes[100] != bytes[10000] {
		t.Errorf("bytes by entities: %v", bytes)
	}
	if n := bytes[100] * 60 / (ticks - 1); n > 8000 {
		t.Errorf("%d bytes a second", n)
	}
}

// A message with a flipped bit is refused, or the hash shows it, or the state is right nevertheless.
func TestSimulatorBitFlips(t *testing.T) {
	a := newAuthority(t, 6, 3)
	c, f := lane{room: 100}, follower{}
	a.stream.join(&f, 0)
	for len(c.messages) < 12 {
		a.step(t)
		a.stream.send(&f, &c)
	}
	snapshot := c.messages[0]
	start, _, _, err := parseSnapshot(snapshot)
	if err != nil {
		t.Fatal(err)
	}
	d := newDuel(t, duelSeed, 6)
	s := newSimulator(t, d, SimulatorConfig{})
	var refused, diverged, harmless int
	check := func(message []byte, want uint64) {
		t.Helper()
		err := s.receive(message)
		switch {
		case errors.Is(err, ErrDiverged):
			diverged++
		case err != nil:
			refused++
		case s.held() == want && d.sim.Hash() == a.hashes[want-1]:
			harmless++
		case s.held() < want:
			harmless++ // the message was taken for an older one; the next one shows the gap
		default:
			t.Fatalf("held %d, hash %x, want %x", s.held(), d.sim.Hash(), a.hashes[want-1])
		}
	}
	step := 1
	if !full() {
		step = 17
	}
	for bit := 0; bit < 8*len(snapshot); bit += step {
		flipped := slices.Clone(snapshot)
		flipped[bit/8] ^= 1 << (bit % 8)
		check(flipped, start)
	}
	if harmless > 0 {
		t.Errorf("%d Snapshots taken with a flipped bit", harmless)
	}
	for i := 1; i < 4; i++ {
		message := c.messages[i]
		for bit := range 8 * len(message) {
			if err := s.receive(snapshot); err != nil {
				t.Fatal(err)
			}
			for _, before := range c.messages[1:i] {
				if err := s.receive(before); err != nil {
					t.Fatal(err)
				}
			}
			flipped := slices.Clone(message)
			flipped[bit/8] ^= 1 << (bit % 8)
			check(flipped, start+uint64(i))
		}
	}
	t.Logf("%d refused, %d with another hash, %d harmless", refused, diverged, harmless)
	if refused == 0 || diverged == 0 {
		t.Error("a case is missing")
	}
}

func TestSimulatorWelcome(t *testing.T) {
	good := welcome{session: 3, simVersion: evertick.SimVersion, seed: duelSeed, scenario: "duel"}
	s := newSimulator(t, newDuel(t, duelSeed, 2), SimulatorConfig{Scenario: "duel"})
	if err := s.welcome(&good); err != nil || s.source != 3 {
		t.Error(err)
	}
	for name, change := range map[string]func(*welcome){
		"SimVersion": func(w *welcome) { w.simVersion++ },
		"seed":       func(w *welcome) { w.seed++ },
		"scenario":   func(w *welcome) { w.scenario = "" },
	} {
		w := good
		w.session++
		change(&w)
		if err := s.welcome(&w); !errors.Is(err, fault.ErrUnsupported) || s.source != 3 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Messages that leave ticks out are reported once, and the messages that follow the Resync go on.
func TestSimulatorGap(t *testing.T) {
	a, s := newAuthority(t, 4, 1), newSimulator(t, newDuel(t, duelSeed, 4), SimulatorConfig{})
	c, f := lane{room: 100}, follower{}
	a.stream.join(&f, 0)
	for range 10 {
		a.step(t)
		a.stream.send(&f, &c)
	}
	c.deliver(t, s, 4)
	c.messages = c.messages[2:]
	if err := s.receive(c.messages[0]); !errors.Is(err, fault.ErrRange) || s.held() != 4 {
		t.Fatal(err, s.held())
	}
	c.deliver(t, s, 100)
	a.stream.resync(&f, s.held())
	a.stream.send(&f, &c)
	c.deliver(t, s, 100)
	if s.held() != 10 || s.Stats().Snapshots != 1 {
		t.Error(s.held(), s.Stats())
	}
	if err := s.sim.Step(); !errors.Is(err, fault.ErrRange) {
		t.Errorf("Sim stepped by hand: %v", err)
	}
}

// A client whose connection does not take the Resync sends it later, and once.
func TestClientAsksAgainForSnapshot(t *testing.T) {
	a, d := newAuthority(t, 4, 1), newDuel(t, duelSeed, 4)
	c, f := lane{room: 100}, follower{}
	a.stream.join(&f, 0)
	b := newBench(t, ClientConfig{Mode: Simulate, Simulator: newSimulator(t, d, SimulatorConfig{}), Ordered: true})
	w := plainWelcome(Schema{})
	w.seed, w.simVersion = duelSeed, evertick.SimVersion
	b.join(w)
	next := func() error {
		t.Helper()
		a.step(t)
		a.stream.send(&f, &c)
		if len(c.messages) == 0 {
			return nil
		}
		message := c.messages[0]
		c.messages = c.messages[1:]
		return b.Receive(message)
	}
	for range 5 {
		b.must(next())
	}
	d.wrong = func(*evertick.Tick) { d.sum++ }
	b.full = true
	if err := next(); !errors.Is(err, ErrDiverged) {
		t.Fatal(err)
	}
	b.full, d.wrong = false, nil
	for range 5 {
		b.must(next())
	}
	messages := b.take(kindResync)
	if len(messages) != 1 || b.stats().Resyncs != 1 {
		t.Fatalf("%d Resyncs", len(messages))
	}
	held, err := parseTick(messages[0], kindResync)
	b.must(err)
	a.stream.resync(&f, held)
	for range 2 * snapshotAge {
		b.must(next())
	}
	if b.held() != a.sim.Ticks() || d.sim.Hash() != a.sim.Hash() || len(b.take(kindResync)) != 0 {
		t.Errorf("holds %d of %d", b.held(), a.sim.Ticks())
	}
}
