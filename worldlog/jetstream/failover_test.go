package jetstream

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/replay"
	"github.com/evertick/evertick/replica"
)

const kindJoined, kindMove = 100, 1

// park is a scenario in which each session owns an entity, which its inputs move by a quarter.
var park = replay.Scenario{Name: "park", New: func(seed uint64) (*evertick.Sim, error) {
	sim, err := evertick.New(evertick.Config{Capacity: 64, Seed: seed})
	if err != nil {
		return nil, err
	}
	owner, err := ecs.AddColumn[uint32](sim.World, "owner")
	if err != nil {
		return nil, err
	}
	return sim, sim.Add(evertick.BeforePhysics, "walk", func(t *evertick.Tick) error {
		w := t.Sim.World
		for _, in := range t.Inputs() {
			at := slices.IndexFunc(w.LiveSlots(nil), func(slot uint32) bool { return owner.Values()[slot] == in.Source })
			if in.Kind == kindJoined && at < 0 {
				_, slot, err := w.SpawnSlot()
				if err != nil {
					return err
				}
				owner.Values()[slot] = in.Source
				owner.Touch()
			} else if in.Kind == kindMove && at >= 0 {
				w.Position.X[w.LiveSlots(nil)[at]] += 0.25
				w.Position.Touch()
			}
		}
		return nil
	})
}}

func parkServer(t *testing.T, sim *evertick.Sim, spectate bool) *replica.Server {
	t.Helper()
	s, err := replica.New(sim, replica.Config{Columns: []replica.Column{{Name: "position", Codec: replica.Quantised{}}, {Name: "owner"}},
		Owner: "owner", Joined: kindJoined, Secret: []byte("that of all servers"), Inline: true, Spectate: spectate,
		Limits: replica.Limits{FramesPerSecond: 1e6, BytesPerSecond: 1 << 28, Resume: time.Hour}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// guest is a client, connected by a Pipe.
type guest struct {
	t       *testing.T
	client  *replica.Client
	pipe    *replica.Pipe
	session *replica.Session
	now     int64
	moved   float32
}

func newGuest(t *testing.T, s *replica.Server) *guest {
	t.Helper()
	g := &guest{t: t}
	var err error
	g.client, err = replica.NewClient(replica.ClientConfig{Ordered: true, Send: func(frame []byte) bool { return g.pipe.ToServer(frame) }})
	if err != nil {
		t.Fatal(err)
	}
	g.connect(s)
	return g
}

// connect begins a connection to a server, with the token of the session before.
func (g *guest) connect(s *replica.Server) replica.Welcome {
	g.t.Helper()
	pipe, err := replica.NewPipe(replica.PipeConfig{Ordered: true})
	if err != nil {
		g.t.Fatal(err)
	}
	g.pipe, g.session = pipe, nil
	if err := g.client.Connect(); err != nil {
		g.t.Fatal(err)
	}
	g.deliver(s)
	w, _ := g.client.Welcome()
	return w
}

func (g *guest) deliver(s *replica.Server) {
	g.t.Helper()
	var errs error
	g.now++
	g.pipe.Deliver(g.now, func(frame []byte) { errs = errors.Join(errs, g.client.Receive(frame)) }, func(frame []byte) {
		var err error
		if g.session == nil {
			g.session, err = s.Join(context.Background(), g.pipe, frame)
		} else {
			err = g.session.Receive(frame)
		}
		errs = errors.Join(errs, err)
	})
	if errs != nil {
		g.t.Fatal(errs)
	}
}

func (g *guest) move(s *replica.Server) {
	g.t.Helper()
	if _, err := g.client.Input(kindMove, nil, 0); err != nil {
		g.t.Fatal(err)
	}
	g.moved += 0.25
	g.deliver(s)
}

// sees checks that the client has the state of the Sim.
func (g *guest) sees(sim *evertick.Sim) {
	g.t.Helper()
	state := g.client.State()
	x, err := replica.AppendValues[float32](nil, state, "position.x", 0)
	if err != nil || state.Tick() != sim.Ticks() || !slices.Equal(state.Slots(), sim.World.LiveSlots(nil)) {
		g.t.Fatalf("tick %d of %d, slots %v: %v", state.Tick(), sim.Ticks(), state.Slots(), err)
	}
	for i, slot := range state.Slots() {
		if x[i] != sim.World.Position.X[slot] {
			g.t.Fatalf("slot %d at %v, is at %v", slot, x[i], sim.World.Position.X[slot])
		}
	}
}

// Viewers of a follower see the state of the master. The master ends without a word; the follower takes over, and the players
// go on there with their sessions and entities.
func TestRelayAndFailover(t *testing.T) {
	nc := served(t)
	ctx := background(t)
	sim, err := park.New(1)
	if err != nil {
		t.Fatal(err)
	}
	rec, err := replay.Record(t.TempDir(), park.Name, sim, replay.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ship, err := Ship(ctx, nc, rec, ShipConfig{Beat: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	f, err := Follow(ctx, nc, park, FollowConfig{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	play, relay := parkServer(t, sim, false), parkServer(t, f.Sim(), true)
	var players, viewers []*guest
	for range 4 {
		players = append(players, newGuest(t, play))
		viewers = append(viewers, newGuest(t, relay))
	}
	for tick := range 60 {
		for i, g := range players {
			if (tick+i)%3 == 0 {
				g.move(play)
			}
		}
		if err := sim.Step(); err != nil {
			t.Fatal(err)
		}
		if err := f.Step(ctx); err != nil {
			t.Fatal(err)
		}
		for i := range players {
			players[i].deliver(play)
			viewers[i].deliver(relay)
			players[i].sees(sim)
			viewers[i].sees(sim) // the master's, not the follower's
		}
	}
	ship.cancel() // as a kill: it says nothing any more
	if err := relay.Close(); err != nil {
		t.Fatal(err)
	}
	next, again, err := f.Standby(ctx, 500*time.Millisecond, ShipConfig{})
	if err != nil {
		t.Fatal(err)
	}
	defer again.cancel()
	if next.Sim().Hash() != sim.Hash() {
		t.Fatal("other hashes")
	}
	after := parkServer(t, next.Sim(), false)
	for _, g := range players {
		before, _ := g.client.Welcome()
		if w := g.connect(after); !w.Resumed || w.Session != before.Session {
			t.Fatalf("session %d, resumed %t, was %d", w.Session, w.Resumed, before.Session)
		}
	}
	for range 20 {
		for _, g := range players {
			g.move(after)
		}
		if err := next.Sim().Step(); err != nil {
			t.Fatal(err)
		}
		for _, g := range players {
			g.deliver(after)
			g.sees(next.Sim())
		}
	}
	for _, g := range players {
		x, err := replica.AppendValues[float32](nil, g.client.State(), "position.x", 0)
		if own := g.client.State().Own(); err != nil || len(own) != 1 || x[own[0]] != g.moved {
			t.Errorf("it owns %v, at %v, after moves of %v: %v", own, x, g.moved, err)
		}
	}
	if err := errors.Join(after.Close(), again.Close(ctx), next.Close(), play.Close(), rec.Close()); err != nil {
		t.Fatal(err)
	}
}
