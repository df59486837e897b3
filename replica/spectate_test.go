package replica

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/replay"
	"github.com/evertick/evertick/worldlog"
)

// A Sim that follows a log has the hash of its master after every tick, whatever the viewers of its Server do, and they see its state.
func TestSpectate(t *testing.T) {
	cases := map[string]int{}
	for seed := range uint64(4) {
		newRelayRun(t, seed, cases).run(80)
	}
	for _, what := range []string{"join", "resume", "input", "ordered", "unordered", "simulate", "owners", "away"} {
		if cases[what] == 0 {
			t.Errorf("no case of %q in %v", what, cases)
		}
	}
	drawn := uint64(20)
	if !full() {
		drawn = 2
	}
	for i := range drawn {
		newRelayRun(t, paritytest.Seed()+i, cases).run(80)
	}
}

// relayRun is a master with players, and a Sim that follows its log with viewers.
type relayRun struct {
	t testing.TB
	*rand.Rand
	seed    uint64
	cases   map[string]int
	master  *evertick.Sim
	rec     *replay.Recorder
	server  *Server
	players []*guest
	hashes  []uint64

	follower *replay.Player
	relay    *Server
	viewers  []*guest
}

func newRelayRun(t testing.TB, seed uint64, cases map[string]int) *relayRun {
	t.Helper()
	r := &relayRun{t: t, Rand: rand.New(rand.NewPCG(seed, 1)), seed: seed, cases: cases}
	var err error
	r.master, err = walkers.New(seed)
	check(t, err)
	dir := t.TempDir()
	r.rec, err = replay.Record(dir, walkers.Name, r.master, replay.Options{Log: worldlog.Options{Durability: worldlog.None}})
	check(t, err)
	r.server, err = New(r.master, guestConfig())
	check(t, err)
	r.step()
	check(t, r.rec.Log().Sync())
	r.follower, err = replay.Play(dir, walkers, nil)
	check(t, err)
	c := guestConfig()
	c.Spectate = true
	r.relay, err = New(r.follower.Sim(), c)
	check(t, err)
	t.Cleanup(func() {
		check(t, errors.Join(r.server.Close(), r.relay.Close(), r.rec.Close(), r.follower.Close()))
	})
	return r
}

// step runs a tick of the master, whose players come, go and act.
func (r *relayRun) step() {
	r.t.Helper()
	switch n := len(r.players); {
	case n < 8 && r.IntN(3) == 0:
		g := newGuest(r.t, r.Rand, View, true, r.seed)
		g.connect(r.server)
		r.players = append(r.players, g)
	case n > 0 && r.IntN(8) == 0:
		r.players[n-1].session.Close(Closing)
		r.players = r.players[:n-1]
	}
	for _, g := range r.players {
		if r.IntN(2) == 0 {
			g.move()
		}
	}
	check(r.t, r.master.Step())
	for _, g := range r.players {
		g.deliver()
	}
	r.hashes = append(r.hashes, r.master.Hash())
}

func (r *relayRun) run(ticks int) {
	r.t.Helper()
	sim := r.follower.Sim()
	for tick := range ticks {
		if tick > 0 {
			r.step()
		}
		if r.IntN(10) == 0 {
			continue // the follower is slow, and makes up for it
		}
		for sim.Ticks() < r.master.Ticks() {
			r.view()
			stepped(r.t, r.follower)
			r.compare()
		}
	}
}

// view lets the viewers do what viewers do.
func (r *relayRun) view() {
	r.t.Helper()
	if len(r.viewers) < 6 && r.IntN(2) == 0 {
		mode, ordered := View, r.IntN(2) == 0
		if r.IntN(3) == 0 {
			mode, ordered = Simulate, true
		}
		g := newGuest(r.t, r.Rand, mode, ordered, r.seed)
		r.welcomed(g.connect(r.relay), false)
		r.viewers = append(r.viewers, g)
		r.cases["join"]++
	}
	for i := 0; i < len(r.viewers); i++ {
		g := r.viewers[i]
		switch r.IntN(10) {
		case 0:
			was := g.client.welcome.Session
			w := g.connect(r.relay)
			r.welcomed(w, true)
			expect(r.t, "the session that was resumed", w.Session, was)
			r.cases["resume"]++
		case 1:
			g.leave()
			r.cases["away"]++
		case 2:
			if g.session != nil {
				g.session.Close(Closing)
			}
			r.viewers = slices.Delete(r.viewers, i, i+1)
			i--
		default:
			if g.session != nil {
				r.act(g)
			}
		}
	}
}

// act sends what a client of players may send.
func (r *relayRun) act(g *guest) {
	r.t.Helper()
	if _, err := g.client.Input(guestMove, nil, 0); !errors.Is(err, fault.ErrUnsupported) || g.client.Waiting() > 0 {
		r.t.Errorf("an input of a session that only watches: %v, %d wait", err, g.client.Waiting())
	}
	before := g.session.Stats().Intents.Refused
	list := []intent{{seq: 1 + r.Uint64N(5), kind: guestMove}, {seq: 10 + r.Uint64N(5), tick: r.Uint64N(100), kind: guestJoined}}
	check(r.t, g.session.Receive(appendIntents(nil, list)))
	expect(r.t, "inputs that were refused", g.session.Stats().Intents.Refused, before+2)
	check(r.t, g.session.Receive((&look{follow: 1 + r.Uint64N(20)}).append(nil)))
	check(r.t, g.client.Ping())
	r.cases["input"]++
}

// welcomed checks the Welcome of a viewer.
func (r *relayRun) welcomed(w Welcome, resumed bool) {
	r.t.Helper()
	if !w.Spectates || w.Session < FirstSpectator || w.Resumed != resumed {
		r.t.Errorf("Welcome: session %d, spectates %t, resumed %t", w.Session, w.Spectates, w.Resumed)
	}
}

// compare compares the Sim that follows with the master, and the viewers with it.
func (r *relayRun) compare() {
	r.t.Helper()
	sim := r.follower.Sim()
	expect(r.t, "hash of the follower", sim.Hash(), r.hashes[sim.Ticks()-1])
	if st := sim.InputStats(); st.Pushed+st.Ignored+st.Full > 0 {
		r.t.Errorf("inputs were pushed into a Sim that follows: %+v", st)
	}
	r.cases["owners"] += len(owners(sim, "owner"))
	for _, g := range r.viewers {
		g.deliver()
		if g.session == nil || !g.compare(sim) {
			continue
		}
		switch {
		case g.sim != nil:
			expect(r.t, "errors of a client that simulates", g.errs, 0)
			r.cases["simulate"]++
		case g.ordered:
			r.cases["ordered"]++
		default:
			r.cases["unordered"]++
		}
		expect(r.t, "entities that a viewer owns", len(g.client.State().Own()), 0)
	}
}

// A viewer owns nothing, even where the world has its number in the column of owners.
func TestSpectatorsOwnNothing(t *testing.T) {
	w := newSim(t, 3, evertick.InputConfig{})
	c := notices
	c.Spectate, c.Owner = true, "owner"
	c.Columns = []Column{{Name: "position.x"}, {Name: "owner", To: Owner}}
	w.serve(c)
	p := w.mustJoin(Hello{})
	for i := range 3 {
		w.owner.Values()[i] = p.ID()
	}
	w.owner.Touch()
	m := newMirror(t, p.welcome.schema)
	w.step(1)
	for _, message := range p.conn.take() {
		m.apply(message)
	}
	if len(m.state.Slots()) != 3 || len(m.state.Own()) != 0 {
		t.Errorf("%d entities, %d of them owned", len(m.state.Slots()), len(m.state.Own()))
	}
	p.Close(Closing)
	w.step(2)
	expect(t, "inputs", len(w.took()), 0)
}

// The Sim of players can have viewers beside them: their inputs do not mix.
func TestSpectatorsBesidePlayers(t *testing.T) {
	c := notices
	w := newWorld(t, 2, c, evertick.InputConfig{})
	c.Spectate, c.Inline = true, true
	beside, err := New(w.sim, c)
	check(t, err)
	defer beside.Close()
	v := &world{t: t, sim: w.sim, Server: beside}
	viewer, player := v.mustJoin(Hello{}), w.mustJoin(Hello{})
	check(t, viewer.input(1, 0, 7, ""))
	check(t, player.input(1, 0, 8, ""))
	w.step(1)
	got := w.took()
	if len(got) != 2 || got[0].Kind != 100 || got[1].Kind != 8 || got[1].Source != player.ID() {
		t.Errorf("inputs %+v", got)
	}
	expect(t, "frames of the viewer", kinds(viewer.conn.take()), "K")
	expect(t, "inputs of the viewer", v.stats().Intents, IntentStats{Refused: 1})
	viewer.Close(Closing)
	player.Close(Closing)
	w.step(1)
	expect(t, "inputs", lifecycle(w.took()), "[-1]")
}

// With Free a viewer follows any entity that its categories show, and looks at any point; otherwise only the host moves its view.
func TestSpectatorsLook(t *testing.T) {
	for _, free := range []bool{false, true} {
		w := newSim(t, 60, evertick.InputConfig{})
		category, err := ecs.AddColumn[uint32](w.sim.World, "category")
		check(t, err)
		for i := range 60 {
			category.Values()[i] = 1
		}
		category.Values()[40] = 2
		w.serve(Config{Spectate: true, View: ViewConfig{Enter: 1.5, Category: "category"}, Authorize: grants(Grant{Free: free, Mask: 3}), Limits: Limits{FramesPerSecond: 1e6}})
		p := w.mustJoin(Hello{})
		m := newMirror(t, p.welcome.schema)
		sees := func(what string, want ...uint32) {
			t.Helper()
			w.step(1)
			for _, message := range p.conn.take() {
				m.apply(message)
			}
			if got := m.state.Slots(); !slices.Equal(got, want) {
				t.Errorf("free %t: %s: sees %v, want %v", free, what, got, want)
			}
		}
		follow := func(slot uint64) { check(t, p.Receive((&look{follow: slot + 1}).append(nil))) }
		sees("nothing yet")
		follow(20)
		if free {
			sees("an entity", 19, 20, 21)
		} else {
			sees("no entity")
		}
		check(t, p.Receive((&look{x: 30}).append(nil)))
		if free {
			sees("a point", 29, 30, 31)
		} else {
			sees("no point")
		}
		p.LookAt(10, 0, 0)
		sees("where the host wants", 9, 10, 11)
		p.SetMask(1)
		follow(40)
		sees("not one of another category", 9, 10, 11)
		sees("not one of another category, again", 9, 10, 11)
		p.SetMask(3)
		if free {
			sees("what it may see now", 39, 40, 41)
		} else {
			sees("what the host wants", 9, 10, 11)
		}
		p.Follow(ecs.ID(51))
		sees("what the host wants", 49, 50, 51)
	}
}

// A viewer resumes at another relay with the same Secret, with its number unless that is in use there. Tokens of players and of
// viewers are not for each other's Servers.
func TestSpectatorTokens(t *testing.T) {
	secret := []byte("0123456789abcdef")
	c := notices
	c.Secret, c.Spectate = secret, true
	relays := []*world{newWorld(t, 1, c, evertick.InputConfig{}), newWorld(t, 1, c, evertick.InputConfig{})}
	for _, w := range relays {
		w.step(3)
	}
	p := relays[0].mustJoin(Hello{})
	there := relays[1].resume(p, 0)
	if !there.welcome.resumed || there.ID() != p.ID() {
		t.Errorf("at another relay: session %d, resumed %t, want %d", there.ID(), there.welcome.resumed, p.ID())
	}
	relays[1].step(1)
	expect(t, "frames", kinds(there.conn.take()), "K")
	if again := relays[1].resume(there, 0); !again.welcome.resumed || again.ID() != p.ID() {
		t.Error("the token of the other relay does not work there")
	}
	relays[1].clock.Add(math.MaxInt64 / 4) // any time later, and with a session that is gone
	if late := relays[1].resume(relays[0].mustJoin(Hello{}), 0); !late.welcome.resumed {
		t.Error("a relay that runs for long honours no tokens of others")
	}

	// The second relay gives a viewer the number that one of the first has.
	q := relays[0].mustJoin(Hello{})
	relays[1].numbers.next = uint64(q.ID())
	taken := relays[1].mustJoin(Hello{})
	expect(t, "the number", taken.ID(), q.ID())
	if p := relays[1].resume(q, 0); p.welcome.resumed || p.ID() == q.ID() {
		t.Errorf("a token has resumed the session of another viewer, %d", p.ID())
	}
	// And once that one has gone, its token does not resume the session of the other.
	taken.Close(Closing)
	back := relays[1].resume(q, 0)
	if !back.welcome.resumed || back.ID() != q.ID() {
		t.Errorf("a number that is free: session %d, resumed %t", back.ID(), back.welcome.resumed)
	}
	if p := relays[1].resume(taken, 0); p.welcome.resumed {
		t.Error("a token has resumed the session of another viewer with the same number")
	}

	c.Spectate = false
	players := newWorld(t, 1, c, evertick.InputConfig{})
	players.step(3)
	if p := players.resume(p, 0); p.welcome.resumed || p.ID() >= FirstSpectator {
		t.Errorf("a viewer has become player %d, resumed %t", p.ID(), p.welcome.resumed)
	}
	if p := relays[0].resume(players.mustJoin(Hello{}), 0); p.welcome.resumed || p.ID() < FirstSpectator {
		t.Errorf("a player has become viewer %d, resumed %t", p.ID(), p.welcome.resumed)
	}
}

// The numbers of viewers begin again after the last one, and skip those in use.
func TestSpectatorNumbers(t *testing.T) {
	w := newWorld(t, 1, Config{Spectate: true}, evertick.InputConfig{})
	w.numbers.next = FirstSpectator
	first := w.mustJoin(Hello{})
	w.numbers.next = math.MaxUint32
	last, next := w.mustJoin(Hello{}), w.mustJoin(Hello{})
	if first.ID() != FirstSpectator || last.ID() != math.MaxUint32 || next.ID() != FirstSpectator+1 {
		t.Errorf("sessions %d, %d, %d", first.ID(), last.ID(), next.ID())
	}
}

// Numbers in the column of owners that no session has do not use up those of players.
func TestOwnersAboveAllSessions(t *testing.T) {
	w := newSim(t, 3, evertick.InputConfig{})
	copy(w.owner.Values(), []uint32{math.MaxUint32, 7, FirstSpectator})
	w.serve(Config{Owner: "owner"})
	expect(t, "session", w.mustJoin(Hello{}).ID(), 8)
}

// A Player that goes forward keeps its Sim, and one that goes back replaces it, which the Server says.
func TestSpectateReplacedSim(t *testing.T) {
	r := newRelayRun(t, 5, map[string]int{})
	for range 20 {
		r.step()
	}
	check(t, r.rec.Log().Sync())
	g := newGuest(t, r.Rand, View, true, r.seed)
	g.connect(r.relay)
	check(t, r.follower.Seek(12))
	check(t, r.relay.Serves(r.follower.Sim()))
	g.deliver()
	if !g.compare(r.follower.Sim()) {
		t.Error("no state after a Seek forward")
	}
	check(t, r.follower.Seek(4))
	if err := r.relay.Serves(r.follower.Sim()); !errors.Is(err, fault.ErrStale) {
		t.Fatalf("the Sim was replaced: %v", err)
	}
	check(t, r.relay.Close())
	c := guestConfig()
	c.Spectate = true
	var err error
	r.relay, err = New(r.follower.Sim(), c)
	check(t, err)
	if w := g.connect(r.relay); !w.Resumed {
		t.Error("the viewer has not resumed at the Server of the new Sim")
	}
	stepped(t, r.follower)
	g.deliver()
	if !g.compare(r.follower.Sim()) || r.follower.Sim().Ticks() != 6 {
		t.Errorf("no state of tick %d after a Seek back", r.follower.Sim().Ticks())
	}
}
