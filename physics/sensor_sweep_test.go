package physics_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/physics"
)

func sensing() physics.ShapeDef {
	d := physics.DefaultShapeDef()
	d.Sensor = true
	return d
}

// gate is a fast body, and a thin sensor in its way at x = 2, 2.9 m from it; it moves by 5 m in a step.
type gate struct {
	fixture
	ball, post physics.Body
	want       []physics.Sensed
}

func newGate(t *testing.T, c physics.Config, ball func(d *physics.BodyDef), post physics.BodyType, change ...func(d *physics.BodyDef)) *gate {
	t.Helper()
	g := &gate{fixture: fixture{t, newWorld(t, c)}}
	g.post = g.body(post, 2, 0, change...)
	sensor := g.box(g.post, sensing(), 0.05, 1)
	g.ball = g.dynamic(-0.9, 0, moving(300, 0, 0), ball)
	g.want = []physics.Sensed{{Sensor: sensor, Visitor: g.circle(g.ball, plain, 0.1)}}
	return g
}

// sees runs a step and checks its events.
func (g *gate) sees(step string, begin, end bool) {
	g.Helper()
	g.steps(1)
	e := g.w.Events()
	for _, c := range []struct {
		name string
		list []physics.Sensed
		any  bool
	}{{"begin", e.SensorBegin, begin}, {"end", e.SensorEnd, end}} {
		if want := map[bool][]physics.Sensed{true: g.want}[c.any]; !slices.Equal(c.list, want) {
			g.Errorf("%s: %s: %v, want %v", step, c.name, c.list, want)
		}
	}
	if len(e.Begin)+len(e.End) > 0 {
		g.Errorf("%s: contacts", step)
	}
}

// A fast body that passes a thin sensor within one step enters it in this step and leaves it in the next one.
func TestFastBodiesPassSensors(t *testing.T) {
	ordinary, bullet := func(*physics.BodyDef) {}, func(d *physics.BodyDef) { d.Bullet = true }
	falling := func(d *physics.BodyDef) { d.GravityScale = 0 }
	asleep := func(d *physics.BodyDef) { d.Asleep, d.DisableSleep = true, false }
	for name, g := range map[string]*gate{
		"static":         newGate(t, physics.Config{}, ordinary, physics.StaticBody),
		"bullet":         newGate(t, physics.Config{}, bullet, physics.StaticBody),
		"kinematic":      newGate(t, physics.Config{}, ordinary, physics.KinematicBody),
		"approaching":    newGate(t, physics.Config{}, ordinary, physics.KinematicBody, moving(-20, 5, 3)),
		"dynamic":        newGate(t, physics.Config{}, ordinary, physics.DynamicBody, falling, moving(3, 0, 1)),
		"asleep":         newGate(t, physics.Config{}, ordinary, physics.DynamicBody, asleep),
		"kinematic nap":  newGate(t, physics.Config{}, ordinary, physics.KinematicBody, asleep),
		"without sleep":  newGate(t, physics.Config{DisableSleep: true}, ordinary, physics.StaticBody),
		"body is bullet": newGate(t, physics.Config{}, bullet, physics.DynamicBody, bullet),
	} {
		g.sees(name+", passing", true, false)
		g.sees(name+", after", false, true)
		g.sees(name+", later", false, false)
	}
}

// What does not pass within a step reports as a slow body does.
func TestWhatPassesNoSensor(t *testing.T) {
	ordinary := func(*physics.BodyDef) {}
	off := newGate(t, physics.Config{DisableContinuous: true}, ordinary, physics.StaticBody)
	off.sees("without continuous collision", false, false)
	off.sees("without continuous collision", false, false)

	switched := newGate(t, physics.Config{}, ordinary, physics.StaticBody)
	switched.steps(2)
	switched.no(switched.w.EnableContinuous(false))
	switched.no(switched.w.SetTransform(switched.ball, [2]float32{-0.9, 0}, 0))
	switched.sees("switched off", false, false)
	switched.no(switched.w.EnableContinuous(true))
	switched.no(switched.w.SetTransform(switched.ball, [2]float32{-0.9, 0}, 0))
	switched.sees("switched on", true, false)

	wall := newGate(t, physics.Config{}, ordinary, physics.StaticBody)
	wall.box(wall.body(physics.StaticBody, 1, 0), plain, 0.1, 3)
	wall.steps(1)
	if n := len(wall.w.Events().SensorBegin); n > 0 {
		t.Errorf("a ball passes a sensor after a wall that stops it: %d", n)
	}

	ends := newGate(t, physics.Config{}, func(d *physics.BodyDef) { d.Position[0] = -3 }, physics.StaticBody)
	ends.sees("it ends inside, in the step before", false, false)
	ends.sees("it begins inside", true, false)
	ends.sees("it has left", false, true)

	apart := newGate(t, physics.Config{}, ordinary, physics.StaticBody)
	apart.no(apart.w.IgnorePair(apart.ball, apart.post))
	apart.sees("an ignored pair", false, false)

	joined := newGate(t, physics.Config{}, ordinary, physics.DynamicBody)
	joint := physics.DefaultFilterJointDef()
	joint.BodyA, joint.BodyB = joined.ball, joined.post
	must[physics.Joint](t)(joined.w.CreateFilterJoint(joint))
	joined.sees("a joint that prevents collision", false, false)
}

// A sensor that was destroyed after a body had passed it ends, and so does the visitor; a restored world and a copy
// report the end.
func TestPassedSensorsEnd(t *testing.T) {
	for name, change := range map[string]func(g *gate){
		"sensor":  func(g *gate) { g.no(g.w.DestroyBody(g.post)) },
		"visitor": func(g *gate) { g.no(g.w.DestroyBody(g.ball)) },
		"restored": func(g *gate) {
			w := newWorld(t, physics.Config{})
			restore(t, w, snapshot(t, g.w))
			g.w = w
		},
		"copied": func(g *gate) { g.w = must[*physics.World](t)(g.w.Clone()) },
	} {
		g := newGate(t, physics.Config{}, func(*physics.BodyDef) {}, physics.StaticBody)
		g.sees(name, true, false)
		change(g)
		g.sees(name+", after", false, true)
	}
}

// shootingRange is a world with sensors of all kinds, and n fast bodies that fly through them.
func shootingRange(t testing.TB, c physics.Config, seed uint64, n int) fixture {
	c.Capacity = 4096
	r := fixture{t, newWorld(t, c)}
	rng := rand.New(rand.NewPCG(seed, 8))
	for i := range 150 {
		b := r.body(physics.BodyType(i%3), float32(within(rng, -40, 40)), float32(within(rng, -40, 40)), turned(within(rng, 0, 6)))
		if i%3 != 0 {
			r.no(r.w.SetVelocity(b, [2]float32{float32(within(rng, -9, 9)), float32(within(rng, -9, 9))}, float32(within(rng, -9, 9))))
		}
		switch i % 4 {
		case 0:
			r.box(b, sensing(), 0.02, 2)
		case 1:
			r.circle(b, sensing(), 0.3)
		case 2:
			r.capsule(b, sensing(), -1, 0, 1, 0, 0.05)
		case 3:
			r.segment(b, sensing(), -2, 0, 2, 0)
		}
	}
	free := physics.DefaultShapeDef()
	free.Filter.Group = -1 // they pass each other
	for i := range n {
		b := r.dynamic(float32(within(rng, -40, 40)), float32(within(rng, -40, 40)), turned(within(rng, 0, 6)),
			moving(float32(within(rng, -300, 300)), float32(within(rng, -300, 300)), float32(within(rng, -20, 20))))
		switch i % 3 {
		case 0:
			r.circle(b, free, 0.15)
		case 1:
			r.box(b, free, 0.1, 0.2)
		case 2:
			r.capsule(b, free, -0.2, 0, 0.2, 0, 0.1)
		}
	}
	return r
}

// Bodies enter the sensors that they enter in a world with steps that are 64 times shorter.
func TestShortStepsFindTheSameSensors(t *testing.T) {
	coarse, fine := shootingRange(t, physics.Config{}, 1, 400), shootingRange(t, physics.Config{}, 1, 400)
	const parts = 64
	seen, want := map[physics.Sensed]int{}, map[physics.Sensed]int{}
	for range 2 {
		for range parts {
			r := fine.w.Step(dt / parts)
			fine.no(r)
			for _, e := range fine.w.Events().SensorBegin {
				want[e]++
			}
		}
		coarse.steps(1)
		for _, e := range coarse.w.Events().SensorBegin {
			seen[e]++
		}
	}
	for _, w := range []fixture{coarse, fine} { // those that a body was in at the end
		w.no(w.w.Step(dt / parts))
	}
	for _, e := range coarse.w.Events().SensorBegin {
		seen[e]++
	}
	for _, e := range fine.w.Events().SensorBegin {
		want[e]++
	}
	missed, more := 0, 0
	for e := range want {
		if seen[e] == 0 {
			missed++
		}
	}
	for e, n := range seen {
		if want[e] == 0 {
			more++
		}
		if n > 2 {
			t.Errorf("%v begins %d times", e, n)
		}
	}
	t.Logf("%d in short steps, %d in long ones; %d only in short ones, %d only in long ones", len(want), len(seen), missed, more)
	if len(want) < 100 || missed > len(want)/50 || more > len(want)/50 { // some graze a sensor
		t.Error("the two differ")
	}
}

// All levels and numbers of workers report the same, in the order of the shapes.
func TestPassedSensorsAreTheSameEverywhere(t *testing.T) {
	base := shootingRange(t, physics.Config{Level: native.Go}, 2, 2400)
	var runs []fixture
	for _, level := range native.Levels() {
		for _, workers := range []int{1, 3} {
			runs = append(runs, shootingRange(t, physics.Config{Level: level, Workers: workers}, 2, 2400))
		}
	}
	passed := 0
	for step := range 4 {
		base.steps(1)
		list := base.w.Events().SensorBegin
		passed += len(list)
		if !slices.IsSortedFunc(list, func(a, b physics.Sensed) int {
			return slices.Compare(lowFirst(a), lowFirst(b))
		}) {
			t.Errorf("step %d: events are out of order", step)
		}
		for i, r := range runs {
			r.steps(1)
			if !bytes.Equal(base.w.AppendEvents(nil), r.w.AppendEvents(nil)) {
				t.Fatalf("step %d, run %d: other events", step, i)
			}
			sameState(t, fmt.Sprintf("step %d, run %d", step, i), base.w, r.w)
		}
	}
	if passed < 100 {
		t.Errorf("only %d pass", passed)
	}
}

func lowFirst(s physics.Sensed) []int {
	a, b := s.Sensor.Index(), s.Visitor.Index()
	return []int{min(a, b), max(a, b)}
}

func TestPassedSensorsAllocateNothing(t *testing.T) {
	r := shootingRange(t, physics.Config{}, 3, 200)
	start := snapshot(t, r.w)
	events := 0
	run := func() {
		r.steps(1)
		events += len(r.w.Events().SensorBegin)
	}
	for range 12 {
		run()
	}
	r.no(r.w.Restore(start))
	if n := testing.AllocsPerRun(10, run); n > 0 || events == 0 {
		t.Errorf("%v allocations, %d events", n, events)
	}
}
