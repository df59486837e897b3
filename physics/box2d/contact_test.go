package box2d

import (
	"errors"
	"testing"

	"github.com/evertick/evertick/physics"
)

// collide lets two circles run into each other and reports whether they did.
func collide(t *testing.T, a, b physics.ShapeDef) bool {
	t.Helper()
	w := newWorld(t, physics.Config{})
	d := dynamic(-1, 0)
	d.LinearVelocity = [2]float32{3, 0}
	left := addCircle(t, w, d, a)
	d = dynamic(1, 0)
	d.LinearVelocity = [2]float32{-3, 0}
	addCircle(t, w, d, b)
	step(t, w, 60)
	p := must[[2]float32](t)(w.Position(left))
	return p[0] < 0
}

func TestDefaultBodiesCollide(t *testing.T) {
	if !collide(t, physics.DefaultShapeDef(), physics.DefaultShapeDef()) {
		t.Error("two default bodies passed through each other")
	}
}

func TestFilters(t *testing.T) {
	const all = ^uint64(0)
	for _, c := range []struct {
		name string
		a, b physics.Filter
		want bool
	}{
		{"masks match", physics.Filter{Category: 1, Mask: 2}, physics.Filter{Category: 2, Mask: 1}, true},
		{"one mask does not", physics.Filter{Category: 1, Mask: 2}, physics.Filter{Category: 2, Mask: 2}, false},
		{"the other does not", physics.Filter{Category: 1, Mask: 1}, physics.Filter{Category: 2, Mask: 1}, false},
		{"highest category", physics.Filter{Category: 1 << 15, Mask: all}, physics.Filter{Category: 1, Mask: 1 << 15}, true},
		{"mask of upper bits only", physics.Filter{Category: 1, Mask: all &^ 0xffff}, physics.Filter{Category: 1, Mask: all}, false},
		{"positive group", physics.Filter{Group: 32767}, physics.Filter{Group: 32767}, true},
		{"negative group", physics.Filter{Category: 1, Mask: all, Group: -32768}, physics.Filter{Category: 1, Mask: all, Group: -32768}, false},
		{"different groups", physics.Filter{Category: 1, Mask: all, Group: -1}, physics.Filter{Category: 1, Mask: all, Group: -2}, true},
		{"no category", physics.Filter{Mask: all}, physics.Filter{Category: 1, Mask: all}, false},
	} {
		a, b := physics.DefaultShapeDef(), physics.DefaultShapeDef()
		a.Filter, b.Filter = c.a, c.b
		if got := collide(t, a, b); got != c.want {
			t.Errorf("%s: collide = %v", c.name, got)
		}
		if got := collide(t, b, a); got != c.want {
			t.Errorf("%s, swapped: collide = %v", c.name, got)
		}
	}
}

func TestSensorsDoNotCollide(t *testing.T) {
	sensor := physics.DefaultShapeDef()
	sensor.Sensor = true
	if collide(t, sensor, physics.DefaultShapeDef()) {
		t.Error("a sensor stopped a body")
	}
}

func TestUnsupportedIsSaid(t *testing.T) {
	w := newWorld(t, physics.Config{})
	b := addCircle(t, w, dynamic(0, 0), physics.DefaultShapeDef())
	before := w.Hash()
	with := func(f physics.Filter) error {
		d := physics.DefaultShapeDef()
		d.Filter = f
		_, err := w.CreateCircle(b, d, physics.Circle{Radius: 1})
		return err
	}
	_, capsule := w.CreateCapsule(b, physics.DefaultShapeDef(), physics.Capsule{P2: [2]float32{1, 0}, Radius: 1})
	oneWay := physics.DefaultShapeDef()
	oneWay.OneWay = [2]float32{0, 1}
	_, platform := w.CreateCircle(b, oneWay, physics.Circle{Radius: 1})
	_, chain := w.CreateChain(b, physics.ChainDef{Points: [][2]float32{{0, 0}, {1, 0}, {0, 1}}, Loop: true})
	locked := dynamic(0, 0)
	locked.LockY = true
	_, lock := w.CreateBody(locked)
	for name, err := range map[string]error{
		"lock": lock, "locks": w.SetMotionLocks(b, physics.MotionLocks{X: true}), "tuning": w.SetTuning(physics.Tuning{}),
		"mass": w.SetMassData(b, physics.MassData{Mass: 1}), "mass of shapes": w.ResetMassData(b),
		"explosion": w.Explode(physics.ExplosionDef{}), "wind": w.ApplyWind(physics.WindDef{}),
		"wind on one": w.ApplyWindTo(b, physics.WindDef{}),
		"one-way":     platform, "chain": chain, "ignored pair": w.IgnorePair(b, b),
		"category": with(physics.Filter{Category: 1 << 16, Mask: 1}),
		"group":    with(physics.Filter{Group: 32768}),
		"-group":   with(physics.Filter{Group: -32769}),
		"capsule":  capsule,
	} {
		if !errors.Is(err, physics.ErrUnsupported) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if w.Hash() != before || w.ShapeCount() != 1 {
		t.Error("a refused shape changed the world")
	}
}

func TestFastBodiesStopAtThinWalls(t *testing.T) {
	passes := func(o Options) bool {
		w := newWorld(t, physics.Config{Engine: NewEngine(o)})
		addFloor(t, w)
		d := dynamic(0, 5)
		d.LinearVelocity = [2]float32{0, -100}
		ball := must[physics.Body](t)(w.CreateBody(d))
		must[physics.Shape](t)(w.CreateCircle(ball, physics.DefaultShapeDef(), physics.Circle{Radius: 0.05}))
		step(t, w, 30)
		p := must[[2]float32](t)(w.Position(ball))
		return p[1] < 0
	}
	if passes(Options{}) {
		t.Error("went through the floor")
	}
	if !passes(Options{NoContinuous: true}) {
		t.Error("NoContinuous has no effect, or the test none")
	}
}
