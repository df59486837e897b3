package physics_test

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/evertick/evertick/physics"
)

// Restoring a snapshot together with its events restores events of every kind; without them there are none.
func TestEventsAreKept(t *testing.T) {
	w := eventful(t)
	e := w.Events()
	kinds := []int{len(e.Begin), len(e.Hit), len(e.SensorBegin), len(e.Moved), len(e.Disabled), len(e.Broken), len(e.Slept), len(e.JointLoads), len(e.End), len(e.SensorEnd), len(e.Woke)}
	if slices.Contains(kinds[:8], 0) {
		t.Fatalf("events of each kind: %v; not the case to test", kinds)
	}
	data, kept := snapshot(t, w), w.AppendEvents(nil)
	other, err := physics.New(physics.Config{})
	if err != nil {
		t.Fatal(err)
	}
	restore(t, other, data)
	if !sameEvents(other.Events(), new(physics.Events)) {
		t.Error("events without having been kept")
	}
	both := func() error {
		return errors.Join(other.Prepare(data), other.PrepareEvents(kept))
	}
	if err := both(); err != nil {
		t.Fatal(err)
	}
	if !sameEvents(other.Events(), new(physics.Events)) {
		t.Error("events before Commit")
	}
	other.Commit()
	if !bytes.Equal(other.AppendEvents(nil), kept) {
		t.Error("other events")
	}
	if err := other.Prepare(data); err != nil {
		t.Fatal(err)
	}
	for i := range kept {
		if err := other.PrepareEvents(kept[:i]); !errors.Is(err, physics.ErrCorrupt) {
			t.Fatalf("cut to %d bytes: %v", i, err)
		}
	}
	other.Commit()
	if !sameEvents(other.Events(), new(physics.Events)) {
		t.Error("events that were refused")
	}
	if n := testing.AllocsPerRun(20, func() { _ = both(); other.Commit(); kept = other.AppendEvents(kept[:0]) }); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

// eventful is a world whose last step has many events.
func eventful(t *testing.T) *physics.World {
	t.Helper()
	w, err := physics.New(physics.Config{})
	if err != nil {
		t.Fatal(err)
	}
	disc := func(x float32, sensor bool) physics.Body {
		def := physics.DefaultBodyDef()
		def.Type, def.Position, def.GravityScale = physics.DynamicBody, [2]float32{x, 0}, 0
		b, err := w.CreateBody(def)
		if err != nil {
			t.Fatal(err)
		}
		shape := physics.DefaultShapeDef()
		shape.Sensor = sensor
		if _, err := w.CreateCircle(b, shape, physics.Circle{Radius: 0.5}); err != nil {
			t.Fatal(err)
		}
		return b
	}
	a, b := disc(0, false), disc(0.98, false)
	disc(10, true)
	disc(10.2, false)
	randomWorld := disc(20, false)
	c, d := disc(30, false), disc(34, false)
	sleeper := disc(40, false)
	rod := physics.DefaultDistanceJointDef()
	rod.BodyA, rod.BodyB, rod.Length, rod.BreakForce = c, d, 4, 1
	loaded := rod
	loaded.BodyA, loaded.BodyB, loaded.BreakForce, loaded.ForceThreshold = disc(50, false), disc(54, false), 0, 1
	for _, d := range []physics.DistanceJointDef{rod, loaded} {
		if _, err := w.CreateDistanceJoint(d); err != nil {
			t.Fatal(err)
		}
	}
	for _, err := range []error{
		w.SetVelocity(a, [2]float32{20, 0}, 0), w.SetVelocity(b, [2]float32{-20, 0}, 0),
		w.ApplyForceToCenter(c, [2]float32{-1000, 0}), w.ApplyForceToCenter(loaded.BodyA, [2]float32{-1000, 0}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	w.Columns().VX[randomWorld.Index()] = float32(math.Inf(1))
	if err := errors.Join(w.Step(1.0/60), w.SetAwake(sleeper, false)); err != nil {
		t.Fatal(err)
	}
	return w
}

func TestTakeTeleported(t *testing.T) {
	w, err := physics.New(physics.Config{})
	if err != nil {
		t.Fatal(err)
	}
	var bodies []physics.Body
	for _, slot := range []uint32{70, 3, 5} {
		def := physics.DefaultBodyDef()
		def.Type, def.HasSlot, def.Slot = physics.KinematicBody, true, slot
		b, err := w.CreateBody(def)
		if err != nil {
			t.Fatal(err)
		}
		bodies = append(bodies, b)
	}
	free, err := w.CreateBody(physics.DefaultBodyDef())
	if err != nil {
		t.Fatal(err)
	}
	want := func(what string, slots ...uint32) {
		t.Helper()
		if got := w.TakeTeleported(nil); !slices.Equal(got, slots) {
			t.Errorf("%s: slots %v, want %v", what, got, slots)
		}
		if got := w.TakeTeleported(nil); len(got) != 0 {
			t.Errorf("%s: %v a second time", what, got)
		}
	}
	want("created", 3, 5, 70)
	list := w.NewCommands()
	list.SetTransform(bodies[2], [2]float32{7, 8}, 0)
	if err := errors.Join(w.SetTransform(bodies[0], [2]float32{1, 2}, 3), w.SetTransform(free, [2]float32{}, 0),
		w.SetVelocity(bodies[1], [2]float32{1, 1}, 1), w.Apply(list), w.Step(1.0/60)); err != nil {
		t.Fatal(err)
	}
	want("moved", 5, 70)
	if err := w.SetTransform(bodies[0], [2]float32{}, 0); err != nil {
		t.Fatal(err)
	}
	restore(t, w, snapshot(t, w))
	want("restored")
}
