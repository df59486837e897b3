package physics_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/evertick/evertick/physics"
)

func TestSetTuning(t *testing.T) {
	r := newFixture(t, -10)
	config := r.w.Config()
	want := physics.Tuning{ContactHertz: 30, ContactDamping: 10, PushSpeed: 3, RestitutionThreshold: 1, MaxSpeed: 400, HitSpeed: 1}
	if got := r.w.Tuning(); got != want {
		t.Errorf("tuning %v, want %v", got, want)
	}
	hash := r.w.Hash()
	want = physics.Tuning{ContactHertz: 20, ContactDamping: 5, PushSpeed: 2, RestitutionThreshold: 100, MaxSpeed: 6, HitSpeed: 7}
	r.no(r.w.SetTuning(want))
	if got := r.w.Tuning(); got != want || r.w.Config() != config || r.w.Hash() == hash {
		t.Errorf("tuning %v, want %v", got, want)
	}
	r.floor(material(0, 1))
	ball := r.dynamic(0, 5)
	r.circle(ball, material(0, 1), 0.5)
	fastest, hits := 0.0, 0
	run := func(w *physics.World) {
		for range 90 {
			if err := w.Step(dt); err != nil {
				t.Fatal(err)
			}
			hits += len(w.Events().Hit)
			v, _, _ := w.Velocity(ball)
			fastest = max(fastest, math.Abs(float64(v[1])))
		}
	}
	copied := must[*physics.World](t)(r.w.Clone())
	restored := newWorld(t, physics.Config{Capacity: 1024})
	restore(t, restored, snapshot(t, r.w))
	for _, w := range []*physics.World{copied, restored, r.w} {
		if w.Tuning() != want {
			t.Errorf("a copy has %v", w.Tuning())
		}
		run(w)
		sameState(t, "a copy", copied, w)
	}
	r.near("greatest speed", fastest, 6, 0.01)
	_, y := r.at(ball)
	r.near("a ball that does not bounce", y, 0.5, 0.01)
	if hits != 0 {
		t.Errorf("%d hits", hits)
	}
	r.no(r.w.SetTuning(physics.Tuning{}))
	r.no(r.w.SetTransform(ball, [2]float32{0, 5}, 0))
	run(r.w)
	if hits != 1 || fastest < 9 {
		t.Errorf("%d hits, speed %v", hits, fastest)
	}
}

func TestTuningErrors(t *testing.T) {
	r := newFixture(t, 0)
	hash := r.w.Hash()
	for name, tuning := range map[string]physics.Tuning{
		"ContactHertz": {ContactHertz: -1}, "ContactDamping": {ContactDamping: 2e6}, "PushSpeed": {PushSpeed: -0.1},
		"RestitutionThreshold": {RestitutionThreshold: -3}, "MaxSpeed": {MaxSpeed: 1e7}, "HitSpeed": {HitSpeed: -1},
	} {
		if err := r.w.SetTuning(tuning); !errors.Is(err, physics.ErrRange) || !strings.Contains(err.Error(), "Tuning."+name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := r.w.SetTuning(physics.Tuning{PushSpeed: float32(math.NaN())}); !errors.Is(err, physics.ErrNotFinite) || r.w.Hash() != hash {
		t.Errorf("NaN: %v", err)
	}
}

func TestSetMassData(t *testing.T) {
	r := newFixture(t, 0)
	b := r.dynamic(0, 0, moving(0, 0, 2))
	r.box(b, plain, 1, 0.5) // 2 kg
	own, err := r.w.MassData(b)
	r.no(err)
	set := physics.MassData{Mass: 5, Inertia: 7, Center: [2]float32{1, 0.5}}
	r.no(r.w.SetMassData(b, set))
	expect := func(what string, want physics.MassData) {
		t.Helper()
		c := r.w.Columns()
		got, err := r.w.MassData(b)
		if i := b.Index(); err != nil || got != want || c.CentreX[i] != want.Center[0] || want.Inertia > 0 && c.InvInertia[i] != 1/want.Inertia ||
			want.Mass > 0 && c.InvMass[i] != 1/want.Mass {
			t.Errorf("%s: %v, %v, want %v", what, got, err, want)
		}
	}
	expect("set", set)
	vx, vy, _ := r.velocity(b) // of the new centre
	r.near("vx", vx, -1, 1e-6)
	r.near("vy", vy, 2, 1e-6)
	r.box(b, plain, 2, 2)
	expect("with another shape", set)
	restored := newWorld(t, physics.Config{Capacity: 1024})
	restore(t, restored, snapshot(t, r.w))
	r.w = restored
	r.box(b, plain, 2, 2)
	expect("restored, with another shape", set)
	r.no(r.w.SetType(b, physics.StaticBody))
	expect("static", physics.MassData{})
	r.no(r.w.SetType(b, physics.DynamicBody))
	expect("dynamic again", set)
	r.no(r.w.SetMotionLocks(b, physics.MotionLocks{Rotation: true}))
	expect("not turning", physics.MassData{Mass: 5, Center: set.Center})
	r.no(r.w.SetMotionLocks(b, physics.MotionLocks{}))
	r.no(r.w.ResetMassData(b))
	r.no(r.w.ResetMassData(b))
	if got, err := r.w.MassData(b); err != nil || got.Mass != 34 || got.Center != own.Center {
		t.Errorf("reset: %v, %v", got, err)
	}
	r.no(r.w.SetMassData(b, set))
	r.no(r.w.DestroyBody(b))
	next := r.dynamic(0, 0)
	r.box(next, plain, 1, 0.5)
	if got, err := r.w.MassData(next); err != nil || next.Index() != b.Index() || got != own {
		t.Errorf("the next body in its place: %v, %v", got, err)
	}
	if err := r.w.SetMassData(b, set); !errors.Is(err, physics.ErrStale) {
		t.Errorf("stale: %v", err)
	}
	hash := r.w.Hash()
	nan := float32(math.NaN())
	for name, m := range map[string]physics.MassData{
		"no mass": {}, "negative mass": {Mass: -1}, "negative inertia": {Mass: 1, Inertia: -1}, "tiny": {Mass: 1e-25},
		"huge": {Mass: 1, Inertia: 1e30}, "far": {Mass: 1, Center: [2]float32{2e6, 0}}, "NaN": {Mass: nan}, "NaN centre": {Mass: 1, Center: [2]float32{0, nan}},
	} {
		is := physics.ErrRange
		if strings.HasPrefix(name, "NaN") {
			is = physics.ErrNotFinite
		}
		if err := r.w.SetMassData(next, m); !errors.Is(err, is) || r.w.Hash() != hash {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// locks is a change of a body.
func locks(x, y, rotation bool) func(d *physics.BodyDef) {
	return func(d *physics.BodyDef) { d.LockX, d.LockY, d.FixedRotation = x, y, rotation }
}

// A body that is locked does not move along that axis, whatever pushes it, and moves freely along the other.
func TestMotionLocks(t *testing.T) {
	r := newFixture(t, -10)
	rail := r.dynamic(0, 5, locks(false, true, true)) // in the air
	r.box(rail, plain, 2, 0.25)
	x0, y0 := r.at(rail)
	var boxes []physics.Body
	for i := range 6 {
		b := r.dynamic(0, 5.75+1.005*float32(i))
		r.box(b, plain, 0.5, 0.5)
		boxes = append(boxes, b)
	}
	lift := r.dynamic(10, 5, locks(true, false, true))
	r.box(lift, plain, 0.5, 0.5)
	r.box(r.dynamic(7, 2, moving(20, 0, 0)), plain, 0.5, 0.5)
	free := r.dynamic(20, 5)
	r.box(free, plain, 0.5, 0.5)
	for range 60 {
		r.steps(1)
		if _, y := r.at(rail); y != y0 {
			t.Fatalf("the rail is at %v", y)
		}
		if x, _ := r.at(lift); x != 10 {
			t.Fatalf("the lift is at %v", x)
		}
	}
	_, falls := r.at(free)
	_, y := r.at(lift)
	r.near("the lift falls", y, falls, 0.05)
	r.seconds(4)
	for i, b := range boxes {
		_, y := r.at(b)
		vx, vy, _ := r.velocity(b)
		r.near("a box of the stack", y, 5.75+float64(i), 0.05)
		r.near("its speed", math.Hypot(vx, vy), 0, 0.02)
	}
	if x, y := r.at(rail); math.Abs(x-x0) > 0.05 || y != y0 {
		t.Errorf("the rail under the stack is at %v, %v", x, y)
	}
	r.no(r.w.SetVelocity(rail, [2]float32{1, 3}, 0))
	r.steps(10)
	if x, y := r.at(rail); x < x0+0.05 || y != y0 {
		t.Errorf("the rail that is pushed is at %v, %v", x, y)
	}

	r = newFixture(t, -10)
	wheel := r.dynamic(0, 0, locks(true, true, false))
	r.box(wheel, plain, 2, 0.1)
	r.box(r.dynamic(1.5, 1), plain, 0.2, 0.2)
	r.seconds(1)
	if x, y := r.at(wheel); x != 0 || y != 0 || r.angle(wheel) > -0.2 {
		t.Errorf("a see-saw is at %v, %v, turned by %v", x, y, r.angle(wheel))
	}
	r.no(r.w.SetMotionLocks(wheel, physics.MotionLocks{Rotation: true}))
	if l, err := r.w.MotionLocks(wheel); l != (physics.MotionLocks{Rotation: true}) || err != nil {
		t.Errorf("locks %v, %v", l, err)
	}
	r.steps(10)
	if _, y := r.at(wheel); y > -0.1 {
		t.Errorf("unlocked, at %v", y)
	}
	if _, err := r.w.MotionLocks(physics.Body{}); !errors.Is(err, physics.ErrStale) {
		t.Errorf("stale: %v", err)
	}
}
