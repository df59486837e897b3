package space_test

import (
	"context"
	"math"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/internal/sims3"
	"github.com/evertick/evertick/internal/simtest"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/replica"
)

// remote is a client of a server in the same process.
type remote struct {
	*replica.Client
	pipe    *replica.Pipe
	session *replica.Session
}

func newRemote(t *testing.T, sim *replica.Simulator) *remote {
	t.Helper()
	r := new(remote)
	var err error
	if r.pipe, err = replica.NewPipe(replica.PipeConfig{Ordered: true}); err != nil {
		t.Fatal(err)
	}
	c := replica.ClientConfig{Send: r.pipe.ToServer, Ordered: true, Clock: simtest.ManualClock()}
	if sim != nil {
		c.Mode, c.SimVersion, c.Simulator = replica.Simulate, evertick.SimVersion, sim
	}
	if r.Client, err = replica.NewClient(c); err != nil {
		t.Fatal(err)
	}
	if err := r.Connect(); err != nil {
		t.Fatal(err)
	}
	return r
}

// deliver carries all messages of both directions.
func (r *remote) deliver(t *testing.T, server *replica.Server, now int64) {
	t.Helper()
	r.pipe.Deliver(now, func(message []byte) {
		if err := r.Receive(message); err != nil {
			t.Fatalf("at %d a client gets: %v", now, err)
		}
	}, func(message []byte) {
		var err error
		if r.session == nil {
			r.session, err = server.Join(context.Background(), r.pipe, message)
		} else {
			err = r.session.Receive(message)
		}
		if err != nil {
			t.Fatalf("at %d the server gets: %v", now, err)
		}
	})
}

// Clients of a life see the entities where their bodies are, and one that runs the Sim itself, on another level and with other workers, has
// the hash of the server at each tick.
func TestReplicaOfALife(t *testing.T) {
	ticks := 200
	if testing.Short() {
		ticks = 80
	}
	var want []uint64
	for _, level := range native.Levels() {
		l := newLifeFor(t, 6, evertick.Config{Level: level})
		server, err := replica.New(l.Sim, replica.Config{
			Columns: []replica.Column{{Name: "position"}, {Name: "rotation", Codec: replica.Quat{Bits: 12}}, {Name: "touches"}}, Joined: 2, Left: 3, Inline: true,
			Authorize: func(context.Context, replica.Hello) (replica.Grant, error) { return replica.Grant{Simulate: true}, nil },
		})
		if err != nil {
			t.Fatal(err)
		}
		defer server.Close()
		own := newLifeFor(t, 6, evertick.Config{Level: native.Go, Workers: 2})
		diverged := 0
		follower, err := replica.NewSimulator(own.Sim, replica.SimulatorConfig{Compared: func(_, a, b uint64) {
			if a != b {
				diverged++
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		viewer, simulating := newRemote(t, nil), newRemote(t, follower)
		seen := 0
		for tick := range ticks {
			viewer.deliver(t, server, int64(tick))
			simulating.deliver(t, server, int64(tick))
			if tick%10 == 5 {
				if err := l.Sim.Push(spawnInput(uint64(tick))); err != nil {
					t.Fatal(err)
				}
			}
			simtest.Step(t, l.Sim, 1)
			viewer.deliver(t, server, int64(tick))
			simulating.deliver(t, server, int64(tick))
			if tick > 10 {
				seen += sameView(t, l, viewer.State())
			}
			if len(want) <= tick {
				want = append(want, l.Sim.Hash())
			} else if want[tick] != l.Sim.Hash() {
				t.Fatalf("level %v, tick %d: another hash than on level %v", level, tick, native.Levels()[0])
			}
		}
		if st := follower.Stats(); own.Sim.Hash() != l.Sim.Hash() || diverged > 0 || st.Ticks < uint64(ticks)-20 {
			t.Errorf("level %v: the client that simulates has %x, want %x, %d times it differed: %+v", level, own.Sim.Hash(), l.Sim.Hash(), diverged, st)
		}
		if seen < ticks {
			t.Errorf("level %v: %d bodies seen in %d ticks", level, seen, ticks)
		}
	}
}

// sameView compares what a client sees with the entities, and returns the number of those with a body in space.
func sameView(t *testing.T, l *sims3.Life, s *replica.State) (bodies int) {
	t.Helper()
	w := l.Sim.World
	if s.Tick() != l.Sim.Ticks() || len(s.IDs()) != w.Len() {
		t.Fatalf("a client has %d entities of tick %d, the Sim has %d at %d", len(s.IDs()), s.Tick(), w.Len(), l.Sim.Ticks())
	}
	values := func(name string, i int) []float32 {
		v, err := replica.AppendValues[float32](nil, s, name, i)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	var p [3][]float32
	for i, name := range []string{"position.x", "position.y", "position.z"} {
		p[i] = values(name, 0)
	}
	var q [4][]float32
	for i := range q {
		q[i] = values("rotation", i)
	}
	for i, id := range s.IDs() {
		slot := simtest.SlotOf(t, l.Sim, id)
		at, turned := place(t, l.Sim, id)
		if got := [3]float32{p[0][i], p[1][i], p[2][i]}; got != at {
			t.Fatalf("%v in slot %d is seen at %v, is at %v", id, slot, got, at)
		}
		if _, has := l.Bodies.Body(id); !has { // a system may have written a rotation of another length
			continue
		}
		bodies++
		dot := 0.0
		for k := range q {
			dot += float64(q[k][i]) * float64(turned[k])
		}
		if math.Abs(dot) < 0.9999 {
			t.Fatalf("%v is seen turned by %v, is by %v", id, [4]float32{q[0][i], q[1][i], q[2][i], q[3][i]}, turned)
		}
	}
	return bodies
}
