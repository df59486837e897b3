package replica

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/loop"
)

// link is a client with its connection to a Server, over Pipes that the test cuts.
type link struct {
	*Client
	t       testing.TB
	server  *Server
	pipe    *Pipe
	config  PipeConfig
	session *Session
	lead    uint64 // of inputs; 0: Client.Lead
	diverge int    // errors of messages
}

func newLink(t testing.TB, s *Server, clock loop.Clock, c ClientConfig, pipe PipeConfig) *link {
	t.Helper()
	l := &link{t: t, server: s, config: pipe}
	c.Clock, c.Ordered = clock, pipe.Ordered
	c.Send = func(message []byte) bool { return l.pipe.ToServer(message) }
	var err error
	l.Client, err = NewClient(c)
	check(t, err)
	l.connect()
	return l
}

func (l *link) connect() {
	l.t.Helper()
	var err error
	l.config.Seed++
	l.pipe, err = NewPipe(l.config)
	check(l.t, err)
	check(l.t, l.Connect())
}

// cut ends the connection, and makes a new one.
func (l *link) cut() {
	l.t.Helper()
	l.pipe.Cut()
	if l.session != nil {
		l.session.Disconnected()
	}
	l.session = nil
	l.connect()
}

func (l *link) deliver(now int64) {
	l.t.Helper()
	l.pipe.Deliver(now, func(f []byte) {
		if err := l.Receive(f); errors.Is(err, ErrDiverged) {
			l.diverge++
		} else {
			check(l.t, err)
		}
	}, func(f []byte) {
		var err error
		switch hello := f[0] == kindHello; {
		case l.session != nil && !hello:
			err = l.session.Receive(f)
		case l.session == nil && hello:
			l.session, err = l.server.Join(context.Background(), l.pipe, f)
		}
		check(l.t, err)
	})
}

const tickNs = 16_666_667

// act sends an input for each tick up to the one that the server should get now, and predicts it.
func (l *link) act(predict func(tick uint64) error, next func() uint64, input func(seq uint64) (uint32, []byte)) {
	l.t.Helper()
	to, _ := l.Aim()
	lead := to - l.ServerTick()
	if l.lead > 0 {
		lead, to = l.lead, l.ServerTick()+l.lead
	}
	if next()+lead < to { // it begins, or nothing came for long: inputs would be too late
		check(l.t, predict(to-1))
	}
	for next() < to {
		at := next()
		kind, data := input(at)
		_, err := l.Input(kind, data, at)
		check(l.t, err)
		check(l.t, predict(at+1))
		if next() == at { // the prediction is as far ahead as it may be
			return
		}
	}
}

// Clients in mode Simulate have the hash of a Server at each tick: they join in the middle, stall, lose their
// connection and resume the session, and all that they do comes from their inputs. One of them
// gets a wrong bit, notices it in that tick, and is right again after a Snapshot.
func TestSimulateServer(t *testing.T) {
	ticks := 3000
	if !full() {
		ticks = 900
	}
	clock := new(loop.ManualClock)
	d := newTimedDuel(t, duelSeed, 24, clock)
	server, err := New(d.sim, Config{Scenario: "duel", Inline: true, Joined: 50, Left: 51, Authorize: grants(Grant{Simulate: true})})
	check(t, err)
	defer server.Close()
	var hashes []uint64
	type client struct {
		*link
		*Simulator
		game *duel
	}
	var list []client
	var stalled, cuts, compared int
	for tick := range ticks {
		if tick%200 == 10 && len(list) < 3 {
			game := newDuel(t, duelSeed, 24)
			s, err := NewSimulator(game.sim, SimulatorConfig{Scenario: "duel", Predicted: newDuel(t, duelSeed, 24).sim})
			check(t, err)
			l := newLink(t, server, clock, ClientConfig{Mode: Simulate, Simulator: s},
				PipeConfig{Ordered: true, DelayNs: 30e6, JitterNs: 20e6, Seed: 100 * uint64(tick)})
			list = append(list, client{l, s, game})
		}
		check(t, d.sim.Step())
		hashes = append(hashes, d.sim.Hash())
		for range 4 {
			clock.Add(tickNs / 4)
			for i := range list {
				list[i].deliver(clock.Now())
			}
		}
		for i := range list {
			c := &list[i]
			r := loop.NewRand(8, uint64(tick), uint64(i), 0)
			switch r.Uint64n(400) {
			case 0:
				c.pipe.Stall(true)
				stalled++
			case 1, 2, 3, 4, 5, 6, 7, 8:
				c.pipe.Stall(false)
			case 9:
				c.cut()
				cuts++
			}
			if c.game.wrong = nil; i == 0 && tick >= ticks/2 && c.diverge == 0 {
				c.game.wrong = func(*evertick.Tick) { c.game.sum ^= 1 << 63 }
			}
			n := c.held()
			if n == 0 {
				continue
			}
			if compared++; c.game.sim.Hash() != hashes[n-1] {
				t.Fatalf("client %d after %d ticks: hash %x, want %x", i, n, c.game.sim.Hash(), hashes[n-1])
			}
			if tick%60 == i {
				if err := c.Ping(); !errors.Is(err, ErrNoSession) {
					check(t, err)
				}
			}
			c.act(c.Predict, c.Predicted().Ticks, func(seq uint64) (uint32, []byte) {
				return duelPush, []byte{byte(13 * seq), byte(int(seq) * (i + 1))}
			})
		}
	}
	for i := range list {
		c, st := &list[i], list[i].Simulator.Stats()
		late, want := int(st.Ticks) < ticks/3, 0
		if i == 0 {
			want = 1
		}
		if late || c.diverge != want || int(st.Diverged) != want {
			t.Errorf("client %d: %+v, %d divergences", i, st, c.diverge)
		}
		t.Logf("client %d: %+v", i, st)
	}
	if len(list) != 3 || stalled == 0 || cuts == 0 || compared < ticks || d.sum == 0 {
		t.Errorf("%d clients, %d stalls, %d cuts, %d compared", len(list), stalled, cuts, compared)
	}
	var st Stats
	server.Stats(&st)
	if st.Inputs.Frames == 0 || st.Snapshot.Frames == 0 || st.Update.Frames+st.Keyframe.Frames != 0 || st.Resumed == 0 {
		t.Errorf("%+v", st)
	}
}

// A client with a prediction among others, over a Server: while nobody interferes nothing is corrected, and
// the prediction is what the server computes, bit for bit.
func TestPredictServer(t *testing.T) {
	for name, c := range map[string]struct {
		pipe  PipeConfig
		every int
		lead  uint64 // of inputs, so long that none comes late; 0: that of the client
	}{
		"delay":           {PipeConfig{Ordered: true, DelayNs: 50e6}, 1, 8},
		"every third":     {PipeConfig{Ordered: true, DelayNs: 50e6}, 3, 8},
		"jitter and loss": {PipeConfig{DelayNs: 40e6, JitterNs: 30e6, Loss: 0.1, Duplicate: 0.02, Reorder: 0.02, Seed: 2}, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := newPredictServer(t, c.pipe, c.every)
			r.lead = c.lead
			r.run(300) // in which the client finds its lead
			before := r.predictor.Stats()
			clear(r.guesses)
			r.late, r.ended, r.right = 0, 0, 0
			r.run(900)
			st, late := r.predictor.Stats(), r.late
			st.Corrections, st.Rolled = st.Corrections-before.Corrections, st.Rolled-before.Rolled
			t.Logf("%+v, %d late, %d of %d ticks predicted right", st, late, r.right, r.ended)
			if st.Updates < 900/uint64(c.every)/2 || r.ended < 700 {
				t.Errorf("%+v, %d ticks", st, r.ended)
			}
			if c.lead != 0 && (late != 0 || st.Corrections != 0 || st.Rolled != 0 || r.right != r.ended) {
				t.Error("a prediction did not come true")
			}
			if c.lead == 0 && (late == 0 || int(st.Corrections) > late || r.right < r.ended*8/10) {
				t.Error("more than what inputs that come late, and states that are lost, explain")
			}
		})
	}
}

// Each push of the server is one correction.
func TestPredictServerPushes(t *testing.T) {
	r := newPredictServer(t, PipeConfig{Ordered: true, DelayNs: 50e6}, 1)
	r.lead = 8
	pushes := 0
	r.wind = func(t *evertick.Tick) {
		if t.N > 100 && t.N%90 == 0 {
			slot, _ := t.Sim.World.Slot(r.car)
			r.vx.Values()[slot] += 2
			pushes++
		}
	}
	r.run(900)
	if st := r.predictor.Stats(); pushes < 5 || int(st.Corrections) != pushes || st.Rolled == 0 || r.right < r.ended*3/4 {
		t.Errorf("%+v, %d pushes, %d of %d ticks predicted right", st, pushes, r.right, r.ended)
	}
}

// predictServer is a race over a Server, with one client that predicts.
type predictServer struct {
	*race
	*link
	t         testing.TB
	clock     *loop.ManualClock
	server    *Server
	predictor *Predictor
	mine      *race
	car       ecs.ID
	guesses   map[uint64]string
	late      int // inputs
	ended     int // ticks that were predicted
	right     int // those with the values of the server
}

func newPredictServer(t testing.TB, pipe PipeConfig, every int) *predictServer {
	t.Helper()
	r := &predictServer{t: t, clock: new(loop.ManualClock), guesses: map[uint64]string{}}
	r.race = newTimedRace(t, false, r.clock)
	ids := make([]ecs.ID, 6)
	check(t, r.sim.World.SpawnN(ids))
	r.car = ids[3]
	check(t, r.sim.Add(evertick.BeforePhysics, "late", func(tick *evertick.Tick) error {
		for i := range tick.Inputs() {
			if tick.Inputs()[i].Tick < tick.N {
				r.late++
			}
		}
		return nil
	}))
	var err error
	r.server, err = New(r.sim, Config{Inline: true, Every: every, Owner: "owner", Columns: []Column{
		{Name: "position.z", Codec: Quantised{}}, {Name: "position.x"}, {Name: "position.y"}, {Name: "vx"},
		{Name: "vy", To: Owner}, {Name: "fuel", To: Owner}, {Name: "gear", To: Owner},
	}})
	check(t, err)
	t.Cleanup(func() { r.server.Close() })
	r.mine = newRace(t, true)
	r.predictor, err = NewPredictor(PredictorConfig{Confirmed: newRace(t, true).sim, Predicted: r.mine.sim,
		Spawn: func(sim *evertick.Sim, _ ecs.ID) (ecs.ID, error) { return sim.World.Spawn() }})
	check(t, err)
	r.link = newLink(t, r.server, r.clock, ClientConfig{Predictor: r.predictor}, pipe)
	return r
}

// run runs ticks, and compares what was predicted with what the server computed.
func (r *predictServer) run(ticks int) {
	t := r.t
	t.Helper()
	for tick := range ticks {
		check(t, r.sim.Step())
		if guess, ok := r.guesses[r.sim.Ticks()]; ok {
			r.ended++
			if guess == fmt.Sprint(r.values(r.car)) {
				r.right++
			}
		}
		for range 4 {
			r.clock.Add(tickNs / 4)
			r.deliver(r.clock.Now())
		}
		w, joined := r.Welcome()
		if !joined {
			continue
		}
		if r.owner.Values()[3] != w.Session {
			r.owner.Values()[3] = w.Session
			r.owner.Touch()
		}
		if tick%60 == 1 || r.sim.Ticks() < 8 {
			check(t, r.Ping())
		}
		if r.predictor.Tick() > 0 && r.sim.Ticks() > 20 {
			r.act(r.predictor.Predict, r.predictor.Tick, func(seq uint64) (uint32, []byte) {
				return raceTurn, []byte{byte(17 * seq), byte(29 * seq)}
			})
			local, _ := r.predictor.Entity(r.car)
			if _, ok := r.guesses[r.predictor.Tick()]; !ok {
				r.guesses[r.predictor.Tick()] = fmt.Sprint(r.mine.values(local))
			}
		}
	}
}

// A Server with a goroutine of its own sends all ticks, although it skips those at which it is busy, while
// sessions come and go.
func TestSimulateServerGoroutine(t *testing.T) {
	d := newDuel(t, duelSeed, 24)
	server, err := New(d.sim, Config{Authorize: grants(Grant{Simulate: true})})
	check(t, err)
	defer server.Close()
	var others sync.WaitGroup
	defer others.Wait()
	var s *Simulator
	conn, caughtUp := new(recorder), 0
	for tick := 0; caughtUp < 50; tick++ {
		if tick%40 == 0 {
			other := new(recorder)
			h := Hello{Mode: Simulate, SimVersion: evertick.SimVersion}
			c, err := server.Join(context.Background(), other, h.append(nil))
			check(t, err)
			if s == nil {
				s, conn = newSimulator(t, newDuel(t, duelSeed, 24), SimulatorConfig{}), other
			} else {
				others.Go(func() {
					if err := c.Receive(appendTick(nil, kindResync, 0)); err != nil {
						t.Error(err)
					}
					c.Close(Closing)
				})
			}
		}
		in, _ := duelInput(1, d.sim.Ticks())
		check(t, d.sim.Push(in))
		check(t, d.sim.Step())
		for _, f := range conn.take() {
			if f[0] == kindSnapshot || f[0] == kindInputs {
				check(t, s.receive(f))
			}
		}
		if s.held() != 0 && s.held()+2 > d.sim.Ticks() {
			caughtUp++
		} else {
			runtime.Gosched()
		}
	}
	if st := s.Stats(); st.Diverged != 0 || st.Snapshots == 0 {
		t.Errorf("%+v", st)
	}
}
