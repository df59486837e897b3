package replica

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/replay"
	"github.com/evertick/evertick/worldlog"
)

// A master is cut off in any tick, and another one takes over without its last ticks, and then another. All clients go on with
// their sessions, entities and inputs, and see what the Sim has.
func TestTakeOver(t *testing.T) {
	cases := map[string]int{}
	for seed := range uint64(3) {
		newReigns(t, seed, cases).run(30)
	}
	for _, what := range []string{"resumed", "began again", "back", "forward", "skipped a master", "lost", "twice", "simulates", "while away", "fork", "standby"} {
		if cases[what] == 0 {
			t.Errorf("no case of %q in %v", what, cases)
		}
	}
	clients, drawn := casesOf(60, 200), casesOf(1, 5)
	for i := range drawn {
		newReigns(t, paritytest.Seed()+uint64(i), cases).run(clients)
	}
}

// reigns are the masters of a world, one after the other, and its clients.
type reigns struct {
	t testing.TB
	*rand.Rand
	seed   uint64
	cases  map[string]int
	dir    string
	sim    *evertick.Sim
	rec    *replay.Recorder
	server *Server
	guests []*guest
	lost   map[uint32]uint64 // by session: inputs up to this number were reported as applied in a tick that was lost
}

var reignOptions = replay.Options{SnapshotTicks: 10, Log: worldlog.Options{Durability: worldlog.None}}

func newReigns(t testing.TB, seed uint64, cases map[string]int) *reigns {
	t.Helper()
	r := &reigns{t: t, Rand: rand.New(rand.NewPCG(seed, 2)), seed: seed, cases: cases, dir: t.TempDir(), lost: map[uint32]uint64{}}
	var err error
	r.sim, err = walkers.New(seed)
	check(t, err)
	r.rec, err = replay.Record(r.dir, walkers.Name, r.sim, reignOptions)
	check(t, err)
	r.server, err = New(r.sim, guestConfig())
	check(t, err)
	return r
}

func (r *reigns) run(clients int) {
	r.t.Helper()
	for reign := range 3 {
		if reign > 0 {
			r.takeOver()
		}
		for range 8 + r.IntN(12) {
			for range r.IntN(1 + clients/8) {
				if len(r.guests) < clients {
					r.join()
				}
			}
			r.step()
		}
	}
	for _, g := range r.guests {
		g.lossy = false
		r.connect(g)
	}
	for range 20 { // until what was lost on the way has been sent again
		check(r.t, r.sim.Step())
		for _, g := range r.guests {
			g.deliver()
		}
	}
	r.check()
}

func (r *reigns) join() {
	mode, ordered := View, r.IntN(3) > 0
	if r.IntN(10) == 0 {
		mode, ordered = Simulate, true
		r.cases["simulates"]++
	}
	g := newGuest(r.t, r.Rand, mode, ordered, r.seed)
	g.connect(r.server)
	r.guests = append(r.guests, g)
}

// step runs a tick, in which the clients act, and some of them lose their connection or come back.
func (r *reigns) step() {
	r.t.Helper()
	for _, g := range r.guests {
		switch n := r.IntN(40); {
		case g.session != nil && n == 0:
			g.leave()
		case g.session == nil && n < 8:
			r.connect(g)
		}
		if g.client.Waiting() < 20 && r.IntN(3) == 0 {
			g.move()
			if g.session == nil {
				r.cases["while away"]++
			}
		}
	}
	check(r.t, r.sim.Step())
	for _, g := range r.guests {
		if r.IntN(8) > 0 {
			g.deliver()
			if g.session != nil {
				g.compare(r.sim)
			}
		}
	}
}

// connect makes a connection to the present master, at which the session goes on.
func (r *reigns) connect(g *guest) {
	r.t.Helper()
	before, had := g.client.welcome.Session, g.client.State().Tick()
	w := g.connect(r.server)
	if !w.Resumed || w.Session != before {
		r.t.Fatalf("session %d, resumed %t; before: session %d", w.Session, w.Resumed, before)
	}
	switch now := g.client.State().Tick(); {
	case had == 0:
	case now == 0:
		r.cases["back"]++
	default:
		r.cases["forward"]++
	}
}

// takeOver cuts the master off without a word. The next one has its log, but for some of the last ticks.
func (r *reigns) takeOver() {
	r.t.Helper()
	ticks := r.sim.Ticks() - r.Uint64N(6)
	for _, g := range r.guests {
		if g.session == nil {
			r.cases["skipped a master"]++
		}
		g.session = nil
		if g.at > ticks {
			r.lost[g.client.welcome.Session] = g.applied
			r.cases["lost"]++
		}
		g.at = 0
	}
	check(r.t, errors.Join(r.server.Close(), r.rec.Close()))
	dir := r.t.TempDir()
	var err error
	if r.IntN(3) == 0 {
		r.cases["fork"]++
		r.rec, r.sim, err = replay.Fork(r.dir, walkers, ticks-1, dir, reignOptions)
	} else {
		r.cases["standby"]++
		r.rec, r.sim, err = r.standBy(ticks, dir)
	}
	check(r.t, err)
	r.dir = dir
	r.server, err = New(r.sim, guestConfig())
	check(r.t, err)
	known := map[uint32]bool{}
	for _, number := range owners(r.sim, "owner") {
		known[number] = true
	}
	for _, g := range r.guests {
		if known[g.client.welcome.Session] {
			r.cases["resumed"]++
		} else {
			r.cases["began again"]++
		}
	}
}

// standBy takes over with a follower of that many ticks, which has viewers until then.
func (r *reigns) standBy(ticks uint64, dir string) (*replay.Recorder, *evertick.Sim, error) {
	r.t.Helper()
	log, err := worldlog.OpenReader(r.dir, nil)
	check(r.t, err)
	defer log.Close()
	f, err := replay.NewFollower(walkers, log.Identity(), replay.FollowerOptions{Dir: dir, Log: reignOptions})
	check(r.t, err)
	c := guestConfig()
	c.Spectate = true
	viewers, err := New(f.Sim(), c)
	check(r.t, err)
	viewer := newGuest(r.t, r.Rand, View, true, r.seed)
	viewer.connect(viewers)
	for range ticks {
		t, err := log.Next()
		check(r.t, err)
		check(r.t, f.Apply(t))
		viewer.deliver()
		if !viewer.compare(f.Sim()) {
			r.t.Errorf("the viewer of a standby has no state of tick %d", t.Tick)
		}
	}
	check(r.t, viewers.Close())
	rec, err := f.TakeOver()
	return rec, f.Sim(), err
}

// check compares the world at the end with what the clients did.
func (r *reigns) check() {
	r.t.Helper()
	w := map[uint32]uint32{} // moves by session
	owner, _ := r.sim.World.ColumnNamed("owner")
	moves, _ := r.sim.World.ColumnNamed("moves")
	for _, slot := range r.sim.World.LiveSlots(nil)[16:] {
		number := uint32(owner.Float64(slot, 0))
		if _, twice := w[number]; twice || number == 0 {
			r.t.Errorf("session %d owns two entities", number)
		}
		w[number] = uint32(moves.Float64(slot, 0))
	}
	expect(r.t, "entities of sessions", len(w), len(r.guests))
	check(r.t, r.rec.Close())
	applied := r.applied()
	for _, g := range r.guests {
		number := g.client.welcome.Session
		if !g.compare(r.sim) {
			r.t.Errorf("session %d: no state of the last tick", number)
		}
		total := uint32(0)
		for seq := uint64(1); seq < g.client.queue.next; seq++ {
			n := applied[number][seq]
			total += n
			switch {
			case n == 0 && seq > r.lost[number]:
				r.t.Errorf("session %d: input %d was never applied", number, seq)
			case n > 1:
				r.cases["twice"]++
			}
		}
		if g.sim == nil { // one that simulates learns it from a tick, which a Snapshot can leave out
			expect(r.t, "inputs that wait", g.client.Waiting(), 0)
		}
		expect(r.t, "moves of an entity", w[number], total)
	}
	check(r.t, r.server.Close())
}

// applied returns how often the log has each input, by session and number. All of it verifies.
func (r *reigns) applied() map[uint32]map[uint64]uint32 {
	r.t.Helper()
	all := map[uint32]map[uint64]uint32{}
	p, err := replay.Play(r.dir, walkers, nil)
	check(r.t, err)
	defer p.Close()
	p.Sim().AddHooks(evertick.Hooks{BeforeTick: func(t *evertick.Tick) error {
		for _, in := range t.Inputs() {
			if all[in.Source] == nil {
				all[in.Source] = map[uint64]uint32{}
			}
			if in.Kind == guestMove {
				all[in.Source][in.Seq]++
			}
		}
		return nil
	}})
	for err == nil {
		err = p.Step()
	}
	if err != io.EOF || p.Sim().Ticks() != r.sim.Ticks() || p.Sim().Hash() != r.sim.Hash() {
		r.t.Fatalf("the log has %d of %d ticks: %v", p.Sim().Ticks(), r.sim.Ticks(), err)
	}
	return all
}

// A session whose Joined may be in a tick that was lost begins again: with its number where the next Server can know that the
// state lacks it, and otherwise with another one.
func TestJoinedInALostTick(t *testing.T) {
	for _, c := range []struct {
		owner   string
		joined  uint32
		ticks   uint64 // when the session began
		resumed bool
		inputs  string
	}{
		{"", 100, 3, true, "[]"},   // applied in tick 3 or 4, of 0 to 4
		{"", 100, 4, false, "[+"},  // in tick 4 or 5
		{"", 100, 5, true, "[+1]"}, // in tick 5 or later
		{"", 100, 9, true, "[+1]"},
		{"", 0, 9, true, "[]"},
		{"owner", 100, 3, true, "[+1]"}, // it owns nothing in the state
		{"owner", 100, 4, true, "[+1]"},
		{"owner", 100, 9, true, "[+1]"},
		{"owner", 0, 9, true, "[]"},
	} {
		config := Config{Owner: c.owner, Joined: c.joined, Secret: []byte("0123456789abcdef")}
		old := newWorld(t, 1, config, evertick.InputConfig{})
		old.step(int(c.ticks))
		p := old.mustJoin(Hello{})
		next := newSim(t, 1, evertick.InputConfig{})
		next.step(5)
		next.serve(config)
		back := next.mustJoin(Hello{Token: p.welcome.token})
		if back.welcome.resumed != c.resumed || (back.ID() == p.ID()) != c.resumed {
			t.Errorf("%+v: session %d, resumed %t", c, back.ID(), back.welcome.resumed)
		}
		next.step(1)
		if got := lifecycle(next.took()); got != c.inputs && (c.resumed || got[:2] != c.inputs) {
			t.Errorf("%+v: inputs %s", c, got)
		}
		if again := next.resume(back, 0); !again.welcome.resumed || again.ID() != back.ID() {
			t.Errorf("%+v: the new token does not work", c)
		}
		next.step(1)
		expect(t, "further inputs", lifecycle(next.took()), "[]")
	}
}

// A number that a lost tick has given is not given again: two masters later its token would take another one's entity.
func TestNumbersOfLostTicks(t *testing.T) {
	config := Config{Owner: "owner", Joined: 100, Secret: []byte("0123456789abcdef")}
	first := newWorld(t, 3, config, evertick.InputConfig{})
	first.step(2)
	first.mustJoin(Hello{})
	lost := first.mustJoin(Hello{}) // number 2
	second := newSim(t, 3, evertick.InputConfig{})
	second.step(1)
	second.serve(config)
	player := second.mustJoin(Hello{})
	second.owner.Values()[0] = player.ID()
	second.owner.Touch()
	second.step(1)
	state, err := second.sim.Snapshot(nil)
	check(t, err)
	third := newSim(t, 0, evertick.InputConfig{})
	check(t, third.sim.Restore(state))
	third.serve(config)
	if p := third.resume(lost, 0); p.ID() == player.ID() {
		t.Errorf("a token of a lost tick has resumed session %d of another client", p.ID())
	}
	if p := third.resume(player, 0); p.ID() != player.ID() || !p.welcome.resumed {
		t.Errorf("session %d, resumed %t, want %d", p.ID(), p.welcome.resumed, player.ID())
	}
}

// A session that cannot begin again, as the queue has no room for its Joined, can later.
func TestTakeOverNeedsRoom(t *testing.T) {
	config := Config{Owner: "owner", Joined: 100, Secret: []byte("0123456789abcdef")}
	p := newWorld(t, 1, config, evertick.InputConfig{}).mustJoin(Hello{})
	next := newSim(t, 1, evertick.InputConfig{Capacity: 1})
	next.step(1)
	next.serve(config)
	check(t, next.sim.Push(evertick.Input{Source: 9, Kind: 5}))
	hello := Hello{Token: p.welcome.token}
	if _, err := next.Join(context.Background(), new(recorder), hello.append(nil)); !errors.Is(err, TooMany) {
		t.Errorf("no room for Joined: %v", err)
	}
	next.step(1)
	if back := next.mustJoin(hello); !back.welcome.resumed || back.ID() != p.ID() {
		t.Errorf("session %d, resumed %t", back.ID(), back.welcome.resumed)
	}
	next.step(1)
	expect(t, "inputs", lifecycle(next.took()), "[+1]")
}
