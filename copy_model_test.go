package evertick_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/physics"
	"github.com/evertick/evertick/spatial"
)

// medley is a Sim with a random set-up, whose systems and host do random things with all that a
// snapshot holds.
type medley struct {
	*evertick.Sim
	blobs  []*ecs.Blobs
	tags   []ecs.Tag
	cols   []*ecs.Column[float32]
	timer  *evertick.Timer
	bodies []physics.Body
	kept   keptNumber
}

// newMedley returns the Sim of a number: equal numbers give equal set-ups.
func newMedley(t testing.TB, number uint64) *medley {
	t.Helper()
	r := rand.New(rand.NewPCG(number, 1))
	m := &medley{Sim: newSim(t, evertick.Config{
		Capacity: 40 + 60*r.IntN(2), Seed: number, Previous: r.IntN(2) == 0, Workers: r.IntN(3), PhysicsModes: 5 * r.Uint64N(2),
		Physics: physics.Config{Gravity: [2]float32{0, -10}}, Spatial: spatial.Config{CellSize: float32(2 * r.IntN(2))},
		Inputs: evertick.InputConfig{Capacity: 8 + 50*r.IntN(2)}, History: evertick.HistoryConfig{Keep: 3 * r.IntN(2), Every: 4},
	})}
	var errs []error
	keep := func(err error) { errs = append(errs, err) }
	for _, i := range r.Perm(4) { // each set-up lacks some, and has the others in an order of its own
		if r.IntN(2) > 0 {
			b, err := m.World.Blobs(fmt.Sprintf("blobs.%d", i))
			m.blobs = append(m.blobs, b)
			keep(err)
		}
		if r.IntN(3) > 0 {
			tag, err := m.World.Tag(fmt.Sprint("tag", i))
			m.tags = append(m.tags, tag)
			keep(err)
		}
		if r.IntN(40) == 0 {
			_, err := ecs.AddColumn[int16](m.World, fmt.Sprintf("column.%d", i))
			keep(err)
		} else if r.IntN(9) > 0 {
			c, err := ecs.AddColumn[float32](m.World, fmt.Sprintf("column.%d", i))
			m.cols = append(m.cols, c)
			keep(err)
		}
	}
	var err error
	m.timer, err = m.AddTimer("timer", 3*r.Uint64N(2))
	keep(errors.Join(err, m.AddState("kept", &m.kept)))
	add(t, m.Sim, evertick.AfterPhysics, "count", func(tick *evertick.Tick) error {
		for _, in := range tick.Inputs() {
			m.kept.n = 31*m.kept.n + byte(in.Seq+in.At+uint64(in.Fraction)+uint64(len(in.Data)))
		}
		m.kept.n += byte(len(m.Physics.Events().Moved) + 7*len(m.Physics.Events().Begin))
		return nil
	})
	add(t, m.Sim, evertick.AfterIndex, "act", func(tick *evertick.Tick) error {
		m.act(rand.New(rand.NewPCG(tick.N, m.Seed())))
		return nil
	})
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return m
}

// act does random things. What is impossible, such as a spawn in a full world, does not happen.
func (m *medley) act(r *rand.Rand) {
	c, ids := m.Commands(), []ecs.ID{77}
	for id := range m.World.IDs() {
		ids = append(ids, id)
	}
	for range r.IntN(7) {
		id, data := ids[r.IntN(len(ids))], make([]byte, r.IntN(40))
		switch i := r.IntN(12); {
		case i == 0 && m.World.Len()+c.Len() < m.World.Cap():
			spawned := c.Spawn()
			_ = c.SetPosition(spawned, r.Float32(), r.Float32(), 0)
		case i == 1 && len(ids) > 20:
			c.Despawn(id)
		case i <= 3 && len(m.blobs) > 0:
			_ = m.blobs[r.IntN(len(m.blobs))].Set(id, data)
		case i <= 5 && len(m.blobs) > 0:
			_ = c.SetBlob(m.blobs[r.IntN(len(m.blobs))], id, data)
		case i == 6 && len(m.tags) > 0:
			m.tags[r.IntN(len(m.tags))].Set(id)
		case i == 7 && len(m.cols) > 0:
			ecs.Write(c, m.cols[r.IntN(len(m.cols))], id, r.Float32())
		case i == 8:
			_ = m.SetMode(uint8(r.IntN(3)))
		case i == 9:
			m.timer.Set(r.Uint64N(5))
			m.timer.Start()
		case i == 10:
			_ = m.Push(evertick.Input{Tick: m.Ticks() + r.Uint64N(4), Seq: r.Uint64(), At: r.Uint64N(3), Fraction: r.Uint32N(3), Data: data})
		case i == 11:
			_ = m.World.SetPosition(id, r.Float32(), 2, 0)
		}
	}
}

// host does what only a host may do, between ticks.
func (m *medley) host(r *rand.Rand) {
	m.act(r)
	for range r.IntN(4) {
		switch r.IntN(4) {
		case 0:
			if id, err := m.World.Spawn(); err == nil {
				if b, err := m.CreateBody(id, physics.BodyDef{Type: physics.DynamicBody, Position: [2]float32{r.Float32(), r.Float32()}}); err == nil {
					_, _ = m.Physics.CreateCircle(b, physics.ShapeDef{Density: 1}, physics.Circle{Radius: 0.5})
					m.bodies = append(m.bodies, b)
				}
			}
		case 1:
			if n := len(m.bodies); n > 1 {
				j := physics.DefaultRevoluteJointDef()
				j.BodyA, j.BodyB = m.bodies[r.IntN(n)], m.bodies[r.IntN(n)]
				_, _ = m.Physics.CreateRevoluteJoint(j)
			}
		case 2:
			categories := make([]uint32, m.World.Cap())
			categories[0] = r.Uint32()
			m.Index.SetCategories(categories)
		case 3:
			if back := m.Ticks() - m.OldestTick(); back > 0 {
				_ = m.StepBack(r.Uint64N(back)) // ErrStale, where a host has changed something
			}
		}
	}
}

func (m *medley) live(seed uint64, ticks int) {
	r := rand.New(rand.NewPCG(seed, 2))
	for range ticks {
		m.host(r)
		_ = m.Step()
	}
	m.host(r)
	for range 4 { // many commands that wait
		m.act(r)
	}
}

// sameKind reports whether both errors wrap one of those that Restore documents.
func sameKind(a, b error) bool {
	return slices.ContainsFunc([]error{evertick.ErrCapacity, evertick.ErrUnsupported}, func(kind error) bool { return errors.Is(a, kind) && errors.Is(b, kind) })
}

// CopyFrom does what Restore of a snapshot does, between Sims of any set-up: it gives the same kind of
// error and the same state, which goes on alike, as does that of the source if its set-up is equal.
func TestCopyFromIsRestore(t *testing.T) {
	rounds := 1500
	if testing.Short() {
		rounds = 150
	}
	copies, refused := 0, 0
	for seed := range uint64(rounds) {
		r := rand.New(rand.NewPCG(seed, 3))
		number := r.Uint64N(50)
		other := number + r.Uint64N(2)*(1+r.Uint64N(50))
		src, restored, copied := newMedley(t, number), newMedley(t, other), newMedley(t, other)
		src.live(seed, r.IntN(12))
		ticks := r.IntN(8)
		restored.live(seed+1, ticks)
		copied.live(seed+1, ticks)
		data, err := src.Snapshot(nil)
		if err != nil {
			continue
		}
		err = restored.Restore(data)
		if e := copied.CopyFrom(src.Sim); (e == nil) != (err == nil) || err != nil && !sameKind(e, err) {
			t.Fatalf("seed %d: CopyFrom: %v, Restore: %v", seed, e, err)
		}
		if !bytes.Equal(snapshot(t, src.Sim), data) {
			t.Fatalf("seed %d: the source was changed", seed)
		}
		followers := []*medley{copied}
		switch {
		case err != nil:
			refused++
		case number == other:
			followers = append(followers, src)
			fallthrough
		default:
			copies++
		}
		for range 6 {
			want, failed := restored.Snapshot(nil)
			for _, m := range followers {
				got, err := m.Snapshot(nil)
				if m.Hash() != restored.Hash() || (err == nil) != (failed == nil) || !bytes.Equal(got, want) {
					d, _ := evertick.Diff(restored.Sim, m.Sim)
					t.Fatalf("seed %d, tick %d: differs: %v; errors %v and %v", seed, m.Ticks(), d, failed, err)
				}
				_ = m.Step()
			}
			_ = restored.Step()
		}
	}
	if copies == 0 || refused == 0 {
		t.Error("no copy, or none refused")
	}
	t.Logf("%d copies, %d refused", copies, refused)
}
