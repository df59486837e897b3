package evertick_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/native/paritytest"
	"github.com/evertick/evertick/physics"
)

func copyFrom(t testing.TB, to, from *evertick.Sim) {
	t.Helper()
	if err := to.CopyFrom(from); err != nil {
		t.Fatal(err)
	}
}

// A copy at any tick has the snapshot of its source and continues as it does, in a Sim that was in
// another state and in one of another capacity; and the source continues, too.
func TestCopyFromAtEveryTick(t *testing.T) {
	r := record(t, newPark(t, parkConfig()), parkTicks)
	other := parkConfig()
	other.Workers, other.Physics.Capacity, other.Capacity, other.Seed = 2, 300, 320, 5
	other.Physics.Slots = 256
	source, alike, roomy := newPark(t, parkConfig()), newPark(t, parkConfig()), newPark(t, other)
	stride := 1
	if testing.Short() {
		stride = 13
	}
	for k := range r.snaps {
		if k > 0 {
			source.next(t)
		}
		if k%stride != 0 {
			continue
		}
		copyFrom(t, alike.sim, source.sim)
		copyFrom(t, alike.sim, alike.sim)
		if !bytes.Equal(snapshot(t, alike.sim), r.snaps[k]) {
			t.Fatalf("tick %d: the snapshot of the copy differs", k)
		}
		r.follow(t, alike, k)
		if k%7 == 0 {
			copyFrom(t, roomy.sim, source.sim)
			copyFrom(t, alike.sim, roomy.sim) // back
			if !bytes.Equal(snapshot(t, alike.sim), r.snaps[k]) {
				t.Fatalf("tick %d: the snapshot of the copy of a copy differs", k)
			}
			r.follow(t, roomy, k)
		}
	}
	if source.sim.Hash() != r.hashes[parkTicks] {
		t.Error("the source was changed")
	}
}

// A run that moves to a copy after random numbers of ticks has the hashes of a run in one Sim, and so
// has a run that continues from an older copy.
func TestCopyFromByTurns(t *testing.T) {
	r := record(t, newPark(t, parkConfig()), parkTicks)
	for seed := range uint64(4) {
		rng := rand.New(rand.NewPCG(seed, 7))
		now, spare, old := newPark(t, parkConfig()), newPark(t, parkConfig()), newPark(t, parkConfig())
		for range 2 * parkTicks {
			if rng.IntN(4) == 0 {
				copyFrom(t, spare.sim, now.sim)
				now, spare = spare, now
			}
			switch k := int(now.sim.Ticks()); {
			case k == parkTicks || rng.IntN(16) == 0: // back
				copyFrom(t, now.sim, old.sim)
			case rng.IntN(16) == 0:
				copyFrom(t, old.sim, now.sim)
			default:
				if now.next(t) != r.hashes[k+1] {
					t.Fatalf("seed %d: tick %d differs", seed, k+1)
				}
			}
		}
	}
}

// A body of an entity beyond the Sim is refused, and the Sim stays as it was.
func TestCopyFromBodyBeyondWorld(t *testing.T) {
	c := small()
	c.Physics.Slots = 1000
	src, s := newSim(t, c), newSim(t, small())
	if _, err := src.Physics.CreateBody(physics.BodyDef{HasSlot: true, Slot: 900}); err != nil {
		t.Fatal(err)
	}
	before := snapshot(t, s)
	wantError(t, s.CopyFrom(src), evertick.ErrCorrupt, "evertick: CopyFrom", "slot of body[0] = 900")
	if !bytes.Equal(snapshot(t, s), before) {
		t.Error("the Sim was changed")
	}
}

// Copies of one Sim into another by turns, from two sources, take no memory.
func TestCopyFromAllocatesNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("instrumented builds allocate on their own account")
	}
	early, late, other := newPark(t, parkConfig()), newPark(t, parkConfig()), newPark(t, parkConfig())
	for range 30 {
		late.next(t)
	}
	round := func() {
		copyFrom(t, other.sim, early.sim)
		copyFrom(t, other.sim, late.sim)
	}
	for range 3 {
		round()
	}
	if n := testing.AllocsPerRun(20, round); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

func TestCopyFromNil(t *testing.T) {
	s := newSim(t, small())
	defer func() {
		if p := recover(); p != "evertick: CopyFrom from a nil Sim" {
			t.Errorf("panic %v", p)
		}
	}()
	_ = s.CopyFrom(nil)
}

// discs returns a Sim of n discs that lie on each other and on the ground.
func discs(tb testing.TB, n int) *evertick.Sim {
	tb.Helper()
	s := newSim(tb, evertick.Config{Capacity: 2 * n, Physics: physics.Config{Gravity: [2]float32{0, -10}}})
	add := func(d physics.BodyDef, shape func(physics.Body) error) {
		tb.Helper()
		id := spawn(tb, s)
		p := &s.World.Position
		p.X[slotOf(tb, s, id)], p.Y[slotOf(tb, s, id)] = d.Position[0], d.Position[1]
		b, err := s.CreateBody(id, d)
		if err == nil {
			err = shape(b)
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
	add(physics.BodyDef{Type: physics.StaticBody}, func(b physics.Body) error {
		_, err := s.Physics.CreatePolygon(b, physics.ShapeDef{}, physics.Box(100, 1))
		return err
	})
	for i := range n {
		d := physics.BodyDef{Type: physics.DynamicBody, Position: [2]float32{float32(i%64) - 32, float32(i/64) + 2}}
		add(d, func(b physics.Body) error {
			_, err := s.Physics.CreateCircle(b, physics.ShapeDef{Density: 1}, physics.Circle{Radius: 0.5})
			return err
		})
	}
	step(tb, s, 60)
	return s
}

// A rollback copies a Sim as often as it runs ticks again.
func BenchmarkCopyFrom(b *testing.B) {
	src, dst := discs(b, 1024), discs(b, 1024)
	data := snapshot(b, src)
	for _, c := range []struct {
		name string
		copy func() error
	}{
		{"CopyFrom", func() error { return dst.CopyFrom(src) }},
		{"Snapshot", func() (err error) { data, err = src.Snapshot(data[:0]); return err }},
		{"Restore", func() error { return dst.Restore(data) }},
	} {
		b.Run("of="+c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := c.copy(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
