package physics_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/physics"
)

func sleepy(d *physics.BodyDef) { d.DisableSleep = false }

// bedroom is two stacks of three boxes, each on its own slab, and a sensor above the slab of
// the first.
type bedroom struct {
	fixture
	slabs  [2]physics.Body
	stacks [2][]physics.Body
	boxes  [2][]physics.Shape
	slab   physics.Shape // of the first
	sensor physics.Shape
}

func newBedroom(t testing.TB, c physics.Config) *bedroom {
	t.Helper()
	c.Gravity, c.Capacity = [2]float32{0, -10}, 256
	b := &bedroom{fixture: fixture{t, newWorld(t, c)}}
	for k := range b.slabs {
		x := float32(20 * k)
		b.slabs[k] = b.body(physics.StaticBody, x, -0.5)
		s := b.box(b.slabs[k], plain, 5, 0.5)
		if k == 0 {
			b.slab = s
			d := plain
			d.Sensor = true
			b.sensor = b.capsule(b.slabs[0], d, 0, 1, 0, 3, 0.2)
		}
		for i := range 3 {
			box := b.dynamic(x, 0.5+float32(i), sleepy)
			b.stacks[k] = append(b.stacks[k], box)
			b.boxes[k] = append(b.boxes[k], b.box(box, plain, 0.5, 0.5))
		}
	}
	return b
}

// asleep runs steps until no body is awake.
func (b *bedroom) asleep() {
	b.Helper()
	for range 300 {
		if b.w.AwakeCount() == 0 {
			return
		}
		b.steps(1)
	}
	b.Fatalf("%d bodies are awake after 300 steps", b.w.AwakeCount())
}

func (b *bedroom) isAwake(stack int) bool {
	b.Helper()
	awake, asleep := 0, 0
	for _, x := range b.stacks[stack] {
		if b.w.Awake(x) {
			awake++
		} else if b.w.Valid(x) && b.w.Columns().Flags[x.Index()]&physics.FlagAsleep != 0 {
			asleep++
		}
	}
	if awake > 0 && asleep > 0 {
		b.Errorf("%d bodies of a stack are awake, %d asleep", awake, asleep)
	}
	return awake > 0
}

// Stacks fall asleep, and from then on the state stays the same except for the number of steps.
func TestSleepingStateStays(t *testing.T) {
	b := newBedroom(t, physics.Config{})
	slept := []uint32(nil)
	for b.w.AwakeCount() > 0 {
		b.steps(1)
		slept = append(slept, b.w.Events().Slept...)
	}
	if !slices.IsSorted(slept) || len(slept) != 6 {
		t.Errorf("slept: %v", slept)
	}
	b.steps(2)
	before := b.w.AppendColumnHashes(nil)
	for range 100 {
		b.steps(1)
		e := b.w.Events()
		if n := len(e.Begin) + len(e.End) + len(e.SensorBegin) + len(e.SensorEnd) + len(e.Moved) + len(e.Slept) + len(e.Woke); n > 0 {
			t.Fatalf("events: %+v", e)
		}
	}
	for i, c := range b.w.AppendColumnHashes(nil) {
		if c != before[i] && c.Name != "Steps" {
			t.Errorf("%s has changed", c.Name)
		}
	}
	c := b.w.Columns()
	for _, x := range b.stacks[0] {
		i := x.Index()
		if c.Flags[i]&physics.FlagAsleep == 0 || c.VX[i] != 0 || c.VY[i] != 0 || c.W[i] != 0 || c.InvMass[i] == 0 {
			t.Errorf("body %d: flags %d, velocity (%v, %v, %v), inverse mass %v", i, c.Flags[i], c.VX[i], c.VY[i], c.W[i], c.InvMass[i])
		}
	}
}

// A change that wakes one stack leaves the other one asleep.
func TestWhatWakes(t *testing.T) {
	for name, do := range map[string]func(b *bedroom){
		"impulse":         func(b *bedroom) { b.no(b.w.ApplyLinearImpulseToCenter(b.stacks[0][2], [2]float32{0.1, 0})) },
		"impulse at":      func(b *bedroom) { b.no(b.w.ApplyLinearImpulse(b.stacks[0][1], [2]float32{0.1, 0}, [2]float32{})) },
		"turning impulse": func(b *bedroom) { b.no(b.w.ApplyAngularImpulse(b.stacks[0][0], 0.1)) },
		"force":           func(b *bedroom) { b.no(b.w.ApplyForceToCenter(b.stacks[0][2], [2]float32{1, 0})) },
		"torque":          func(b *bedroom) { b.no(b.w.ApplyTorque(b.stacks[0][2], 1)) },
		"velocity":        func(b *bedroom) { b.no(b.w.SetVelocity(b.stacks[0][2], [2]float32{0, 0.01}, 0)) },
		"transform":       func(b *bedroom) { b.no(b.w.SetTransform(b.stacks[0][2], [2]float32{0, 4}, 0)) },
		"awake":           func(b *bedroom) { b.no(b.w.SetAwake(b.stacks[0][2], true)) },
		"type":            func(b *bedroom) { b.no(b.w.SetType(b.stacks[0][1], physics.StaticBody)) },
		"shape":           func(b *bedroom) { b.circle(b.stacks[0][2], plain, 0.6) },
		"shape of slab":   func(b *bedroom) { b.segment(b.slabs[0], plain, -1, 0.4, 1, 0.4) },
		"no shape":        func(b *bedroom) { b.no(b.w.DestroyShape(b.boxes[0][1])) },
		"no slab shape":   func(b *bedroom) { b.no(b.w.DestroyShape(b.slab)) },
		"material":        func(b *bedroom) { b.no(b.w.SetShapeDef(b.boxes[0][1], material(0, 0))) },
		"slab material":   func(b *bedroom) { b.no(b.w.SetShapeDef(b.slab, material(0, 0))) },
		"disable":         func(b *bedroom) { b.no(b.w.Disable(b.stacks[0][0])) },
		"disable slab":    func(b *bedroom) { b.no(b.w.Disable(b.slabs[0])) },
		"destroy":         func(b *bedroom) { b.no(b.w.DestroyBody(b.stacks[0][0])) },
		"destroy slab":    func(b *bedroom) { b.no(b.w.DestroyBody(b.slabs[0])) },
		"destroy slab, whose row is used again": func(b *bedroom) {
			b.no(b.w.DestroyBody(b.slabs[0]))
			b.circle(b.dynamic(-50, 50), plain, 1)
		},
		"move slab":     func(b *bedroom) { b.no(b.w.SetTransform(b.slabs[0], [2]float32{-100, 0}, 0)) },
		"slab is moved": func(b *bedroom) { b.no(b.w.SetType(b.slabs[0], physics.KinematicBody)) },
		"X":             func(b *bedroom) { b.w.Columns().X[b.stacks[0][1].Index()] += 0.001 },
		"Cos":           func(b *bedroom) { b.w.Columns().Cos[b.stacks[0][1].Index()] = -1 },
		"VX":            func(b *bedroom) { b.w.Columns().VX[b.stacks[0][1].Index()] = 1 },
		"W":             func(b *bedroom) { b.w.Columns().W[b.stacks[0][1].Index()] = 1 },
		"ForceY":        func(b *bedroom) { b.w.Columns().ForceY[b.stacks[0][1].Index()] = 1 },
		"Torque":        func(b *bedroom) { b.w.Columns().Torque[b.stacks[0][1].Index()] = 1 },
		"Y of slab":     func(b *bedroom) { b.w.Columns().Y[b.slabs[0].Index()]-- },
		"command": func(b *bedroom) {
			list := b.w.NewCommands()
			list.ApplyForceToCenter(b.stacks[0][1], [2]float32{1, 0})
			b.no(b.w.Apply(list))
		},
		"new body": func(b *bedroom) { b.circle(b.dynamic(0, 3.5), plain, 0.5) },
		"new slab": func(b *bedroom) { b.box(b.body(physics.StaticBody, 0, 3.4), plain, 0.5, 0.5) },
		"kinematic body": func(b *bedroom) {
			b.circle(b.body(physics.KinematicBody, 0.9, 2.5, moving(-1, 0, 0)), plain, 0.5)
		},
	} {
		for _, snapshotted := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/snapshot=%v", name, snapshotted), func(t *testing.T) {
				b := newBedroom(t, physics.Config{})
				b.asleep()
				b.steps(20)
				do(b)
				if snapshotted {
					snap := snapshot(t, b.w)
					other := newWorld(t, b.w.Config())
					restore(t, other, snap)
					b.steps(1)
					steps(t, other, 1)
					sameState(t, "restored", b.w, other)
				} else {
					b.steps(1)
				}
				if !b.isAwake(0) || b.isAwake(1) {
					t.Errorf("awake: %v and %v", b.isAwake(0), b.isAwake(1))
				}
				if woke := b.w.Events().Woke; len(woke) == 0 || !slices.IsSorted(woke) {
					t.Errorf("woke: %v", woke)
				}
			})
		}
	}
}

// Unrelated changes do not wake sleepers.
func TestWhatDoesNotWake(t *testing.T) {
	for name, do := range map[string]func(b *bedroom){
		"no velocity":         func(b *bedroom) { b.no(b.w.SetVelocity(b.stacks[0][2], [2]float32{}, 0)) },
		"the same gravity":    func(b *bedroom) { b.no(b.w.SetGravity([2]float32{0, -10})) },
		"a body elsewhere":    func(b *bedroom) { b.circle(b.dynamic(0, 100), plain, 0.5) },
		"a slab elsewhere":    func(b *bedroom) { b.box(b.body(physics.StaticBody, 0, 100), plain, 0.5, 0.5) },
		"a still kinematic":   func(b *bedroom) { b.no(b.w.SetTransform(b.slabs[1], [2]float32{20, -0.5}, 0)) },
		"a sensor":            func(b *bedroom) { d := plain; d.Sensor = true; b.circle(b.dynamic(0, 1), d, 2) },
		"the end of a sensor": func(b *bedroom) { b.no(b.w.DestroyShape(b.sensor)) },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBedroom(t, physics.Config{})
			b.asleep()
			do(b)
			if name == "the end of a sensor" { // it is a change of the slab
				return
			}
			b.steps(3)
			if b.isAwake(0) || b.isAwake(1) {
				t.Error("awake")
			}
		})
	}
}

func TestGravityWakesAll(t *testing.T) {
	b := newBedroom(t, physics.Config{})
	b.asleep()
	b.no(b.w.SetGravity([2]float32{0, 1}))
	b.steps(60)
	for _, stack := range b.stacks {
		if _, y := b.at(stack[0]); y < 0.6 {
			t.Errorf("y %v", y)
		}
	}
}

// A sensor still detects bodies that fall asleep in it, and reports when they are destroyed.
func TestSensorsSeeSleepers(t *testing.T) {
	b := newBedroom(t, physics.Config{})
	entered, left := 0, 0
	count := func() {
		b.steps(1)
		entered += len(b.w.Events().SensorBegin)
		left += len(b.w.Events().SensorEnd)
	}
	for range 200 {
		count()
	}
	if b.isAwake(0) || entered != 3 || left != 0 {
		t.Fatalf("%d entered, %d left", entered, left)
	}
	b.no(b.w.DestroyBody(b.stacks[0][2]))
	count()
	if left != 1 {
		t.Errorf("%d left, want 1", left)
	}
	for range 200 {
		count()
	}
	if entered != 3 || left != 1 {
		t.Errorf("%d entered, %d left", entered, left)
	}
	// A sensor that moves to sleepers detects them, and does not wake them.
	d := plain
	d.Sensor = true
	s := b.body(physics.StaticBody, 20, 1)
	b.circle(s, d, 5)
	count()
	if entered != 6 || b.isAwake(1) {
		t.Errorf("%d entered, want 6; awake %v", entered, b.isAwake(1))
	}
	b.no(b.w.SetTransform(s, [2]float32{20, 50}, 0))
	count()
	count()
	if left != 4 || b.isAwake(1) {
		t.Errorf("%d left, want 4; awake %v", left, b.isAwake(1))
	}
}

// A ball that hits a sleeper gives it its momentum in the same step.
func TestSleeperIsHit(t *testing.T) {
	r := newFixture(t, 0)
	cue := r.dynamic(-1.05, 0, sleepy)
	ball := r.dynamic(0, 0, sleepy)
	for _, x := range []physics.Body{cue, ball} {
		r.circle(x, material(0, 1), 0.5)
	}
	r.seconds(2)
	if r.w.Awake(ball) || r.w.Awake(cue) {
		t.Fatal("awake")
	}
	r.no(r.w.SetVelocity(cue, [2]float32{10, 0}, 0))
	r.steps(5)
	vx, _, _ := r.velocity(cue)
	r.near("cue", vx, 0, 0.01)
	vx, _, _ = r.velocity(ball)
	r.near("ball", vx, 10, 0.01)
}

// A body that does not sleep keeps its island awake, and so does a kinematic body that moves.
func TestWhatKeepsAwake(t *testing.T) {
	b := newBedroom(t, physics.Config{})
	b.box(b.dynamic(0, 3.5), plain, 0.5, 0.5)
	belt := b.body(physics.KinematicBody, 60, -0.5, sleepy)
	b.box(belt, plain, 100, 0.5)
	b.no(b.w.SetTransform(belt, [2]float32{140, -0.5}, 0))
	rider := b.dynamic(100, 0.5, sleepy)
	b.box(rider, plain, 0.5, 0.5)
	b.no(b.w.SetVelocity(belt, [2]float32{0.01, 0}, 0))
	b.seconds(4)
	if !b.isAwake(0) || b.isAwake(1) || !b.w.Awake(belt) || !b.w.Awake(rider) {
		t.Errorf("awake: %v, %v, belt %v, rider %v", b.isAwake(0), b.isAwake(1), b.w.Awake(belt), b.w.Awake(rider))
	}
	b.no(b.w.SetVelocity(belt, [2]float32{}, 0))
	b.seconds(2)
	if b.w.Awake(belt) || b.w.Awake(rider) {
		t.Errorf("awake: belt %v, rider %v", b.w.Awake(belt), b.w.Awake(rider))
	}
	x, _ := b.at(rider)
	b.w.Columns().VX[belt.Index()] = 1
	b.seconds(1)
	if to, _ := b.at(rider); to < x+0.5 {
		t.Errorf("the rider went from %v to %v", x, to)
	}
}

func TestSetAwake(t *testing.T) {
	b := newBedroom(t, physics.Config{})
	b.no(b.w.SetVelocity(b.stacks[0][2], [2]float32{0, 0}, 0))
	b.steps(1)
	b.no(b.w.SetAwake(b.stacks[0][0], false))
	if b.isAwake(0) || !b.isAwake(1) || b.w.AwakeCount() != 3 {
		t.Errorf("awake: %v, %v, %d", b.isAwake(0), b.isAwake(1), b.w.AwakeCount())
	}
	b.no(b.w.SetAwake(b.stacks[0][1], true))
	b.steps(1)
	if !b.isAwake(0) {
		t.Error("the stack is asleep")
	}
	b.no(b.w.SetSleepThreshold(b.stacks[0][1], 1e-9))
	b.no(b.w.ApplyLinearImpulseToCenter(b.stacks[0][2], [2]float32{0, 0.01}))
	off := newBedroom(t, physics.Config{DisableSleep: true})
	off.no(off.w.SetAwake(off.stacks[0][0], false))
	off.seconds(3)
	if off.w.AwakeCount() != 6 {
		t.Errorf("%d are awake without sleep", off.w.AwakeCount())
	}
}

// Until a body sleeps, the world equals one without sleep.
func TestSleepChangesNothingBefore(t *testing.T) {
	on, off := newCrowd(t, physics.Config{Capacity: 200}, 60, 4), newCrowd(t, physics.Config{Capacity: 200, DisableSleep: true}, 60, 4)
	for range 60 {
		on.run(1)
		off.run(1)
		if len(on.Events().Slept) > 0 {
			return
		}
		x, y := on.AppendColumnHashes(nil), off.AppendColumnHashes(nil)
		for i := range y {
			if x[i] != y[i] {
				t.Fatalf("%s differs", y[i].Name)
			}
		}
	}
}

// calm is a crowd, and beside it stacks that fall asleep unless something disturbs them.
func calm(t testing.TB, c physics.Config, seed uint64) *crowd {
	c.Capacity = 200
	w := newCrowd(t, c, 70, seed)
	r := fixture{t, w.World}
	walls, _ := w.BodyAt(0)
	r.segment(walls, plain, 20, 0, 60, 0)
	for i := range 10 {
		for k := range 3 {
			r.box(r.dynamic(22+3*float32(i), 0.5+float32(k), sleepy), plain, 0.5, 0.5)
		}
	}
	return w
}

// live runs a tick of a crowd, with occasional changes.
func (w *crowd) live(tick int) {
	w.t.Helper()
	switch w.pick(40) {
	case 0:
		w.stir()
	case 1:
		w.Columns().VY[w.pick(w.Rows())] += 1 // of whatever is there
	case 2:
		if i := w.pick(w.Rows()); w.Columns().Alive[i] != 0 {
			w.Columns().X[i] += w.float(-0.5, 0.5)
		}
	case 3:
		if b, ok := w.BodyAt(1 + w.pick(w.Rows()-1)); ok {
			if err := w.SetAwake(b, w.pick(2) == 0); err != nil {
				w.t.Fatal(err)
			}
		}
	}
	if err := w.Step(1. / 60); err != nil {
		w.t.Fatalf("tick %d: %v", tick, err)
	}
}

// With any number of workers and on every level the same bodies sleep and wake, and a restored
// world, a clone and a copy continue like the original.
func TestSleepIsDeterministic(t *testing.T) {
	ticks := 1200
	if testing.Short() || paritytest.Instrumented {
		ticks = 200
	}
	for seed := range uint64(paritytest.Rounds(3)) {
		worlds := []*crowd{calm(t, physics.Config{Level: native.Go}, seed)}
		for _, l := range native.Levels() {
			worlds = append(worlds, calm(t, physics.Config{Level: l, Workers: 1 + 2*len(worlds)}, seed))
		}
		restored := calm(t, physics.Config{}, seed+100)
		copied := calm(t, physics.Config{Workers: 2}, seed+200)
		slept, most := 0, 0
		for tick := range ticks {
			if tick%17 == 5 {
				snap := snapshot(t, worlds[0].World)
				rng := *worlds[0].rng
				restored.rng = &rng
				restore(t, restored.World, snap)
				rng2 := rng
				copied.rng = &rng2
				if err := copied.CopyFrom(worlds[0].World); err != nil {
					t.Fatal(err)
				}
			}
			for _, w := range worlds {
				w.live(tick)
			}
			slept += len(worlds[0].Events().Slept)
			most = max(most, worlds[0].Len()-worlds[0].AwakeCount())
			for i, w := range worlds[1:] {
				sameState(t, fmt.Sprintf("seed %d, tick %d, world %d", seed, tick, i), worlds[0].World, w.World)
			}
			if tick >= 5 {
				restored.live(tick)
				copied.live(tick)
				sameState(t, fmt.Sprintf("seed %d, tick %d, restored", seed, tick), worlds[0].World, restored.World)
				sameState(t, fmt.Sprintf("seed %d, tick %d, copied", seed, tick), worlds[0].World, copied.World)
			}
		}
		t.Logf("seed %d: %d fell asleep, up to %d of %d were", seed, slept, most, worlds[0].Len())
		if slept == 0 {
			t.Error("nobody slept")
		}
	}
}

// A value that is not finite disables its body, wakes its neighbours, and reaches no other body.
func TestQuarantineOfSleepers(t *testing.T) {
	for _, column := range []string{"X", "W", "ForceX"} {
		b := newBedroom(t, physics.Config{})
		b.asleep()
		c := b.w.Columns()
		i := b.stacks[0][1].Index()
		switch column {
		case "X":
			c.X[i] = float32(math.NaN())
		case "W":
			c.W[i] = float32(math.Inf(1))
		case "ForceX":
			c.ForceX[i] = float32(math.NaN())
		}
		b.steps(1)
		if e := b.w.Events().Disabled; len(e) != 1 || e[0].Column != column || e[0].Body != b.stacks[0][1] {
			t.Errorf("%s: disabled %+v", column, e)
		}
		b.asleep()
		if _, y := b.at(b.stacks[0][2]); y > 1.6 {
			t.Errorf("%s: the box above is at %v", column, y)
		}
		c.X[b.slabs[0].Index()] = float32(math.NaN())
		b.steps(1)
		if e := b.w.Events().Disabled; len(e) != 1 || e[0].Body != b.slabs[0] || !b.w.Awake(b.stacks[0][2]) {
			t.Errorf("slab: disabled %+v, awake %v", e, b.w.Awake(b.stacks[0][2]))
		}
	}
}

func TestSleepAllocatesNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("instrumented")
	}
	b := newBedroom(t, physics.Config{})
	cycle := func() {
		b.no(b.w.ApplyLinearImpulseToCenter(b.stacks[0][2], [2]float32{0, 1}))
		for range 120 {
			if err := b.w.Step(dt); err != nil {
				t.Fatal(err)
			}
		}
	}
	b.asleep()
	cycle()
	if n := testing.AllocsPerRun(3, cycle); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// The bodies of a joint fall asleep and wake together, and changing the joint wakes them.
func TestJointsAndSleep(t *testing.T) {
	r := newFixture(t, -10)
	post := r.body(physics.StaticBody, 0, 5)
	calm := func(d *physics.BodyDef) { d.LinearDamping = 5 }
	a, b := r.dynamic(0, 4, sleepy, calm), r.dynamic(0, 3, sleepy, calm)
	for _, x := range []physics.Body{a, b} {
		r.circle(x, plain, 0.2)
	}
	upper := r.hinge(post, a, 0, 5)
	lower := r.hinge(a, b, 0, 4)
	sleep := func() {
		t.Helper()
		r.seconds(3)
		if r.w.Awake(a) || r.w.Awake(b) {
			t.Fatalf("awake: %v and %v", r.w.Awake(a), r.w.Awake(b))
		}
	}
	woken := func(what string) {
		t.Helper()
		r.steps(1)
		if !r.w.Awake(a) || !r.w.Awake(b) {
			t.Errorf("%s: awake %v and %v", what, r.w.Awake(a), r.w.Awake(b))
		}
	}
	sleep()
	force, err := r.w.JointForce(upper)
	r.no(err)
	r.near("force asleep", float64(force[1]), 2*10*math.Pi*0.04, 0.1)
	r.no(r.w.ApplyLinearImpulseToCenter(b, [2]float32{0.01, 0}))
	woken("impulse")
	sleep()
	r.no(r.w.SetMotorSpeed(lower, 1))
	woken("motor")
	sleep()
	r.no(r.w.SetTransform(post, [2]float32{0.01, 5}, 0))
	woken("post")
	sleep()
	r.no(r.w.DestroyJoint(lower))
	r.seconds(1)
	if _, y := r.at(b); y > 2 {
		t.Errorf("y %v", y)
	}
}

// Changes to a body that a step has disabled at its end are detected like those to any other body.
func TestWhoIsDisabledByItsFirstStepIsNoticed(t *testing.T) {
	r := newFixture(t, -10)
	floor := r.body(physics.KinematicBody, 9.2e18, 0, func(d *physics.BodyDef) {
		d.LinearVelocity[0], d.DisableSleep = 9e18, false
	})
	r.box(floor, plain, 2, 0.5)
	r.no(r.w.Step(dt))
	if !r.w.Disabled(floor) {
		t.Fatal("the floor is still there")
	}
	r.no(r.w.SetTransform(floor, [2]float32{}, 0))
	r.no(r.w.Enable(floor))
	b := r.dynamic(0, 1, sleepy)
	r.box(b, plain, 0.5, 0.5)
	for range 120 {
		r.no(r.w.Step(dt))
	}
	if r.w.AwakeCount() != 0 {
		t.Fatal("nobody sleeps")
	}
	r.no(r.w.SetTransform(floor, [2]float32{0, -5}, 0))
	r.no(r.w.Step(dt))
	if !r.w.Awake(b) {
		t.Error("the box sleeps in the air")
	}
}

// A body that calls put to sleep and wake several times is reported once.
func TestEventsOfSleepAreToldOnce(t *testing.T) {
	b := newBedroom(t, physics.Config{})
	b.asleep()
	high, low := b.stacks[1][0], b.stacks[0][0]
	for range 2 {
		for _, body := range []physics.Body{high, low} {
			b.no(b.w.SetAwake(body, true))
			b.no(b.w.SetAwake(body, false))
		}
	}
	slept := b.w.Events().Slept
	if !slices.IsSorted(slept) || len(slices.Compact(slices.Clone(slept))) != len(slept) || len(slept) == 0 {
		t.Errorf("slept: %v", slept)
	}
	b.no(b.w.ApplyLinearImpulseToCenter(b.stacks[0][1], [2]float32{0, 1}))
	b.steps(1)
	if woke := b.w.Events().Woke; !slices.IsSorted(woke) || len(slices.Compact(slices.Clone(woke))) != len(woke) || len(woke) == 0 {
		t.Errorf("woke: %v", woke)
	}
}

// A belt that is slower than bodies at rest moves its load, and a load that something holds back falls asleep.
func TestSlowBelts(t *testing.T) {
	for _, speed := range []float32{0.04, 0.01, -0.002} {
		r := newFixture(t, -10)
		belt := material(0.6, 0)
		belt.TangentSpeed = speed
		r.floor(belt)
		load := r.dynamic(0, 0.5, sleeps)
		r.box(load, plain, 0.5, 0.5)
		r.seconds(10)
		x, _ := r.at(load)
		r.near("way of the load", x, 10*float64(speed), 0.05*math.Abs(float64(speed))*10+1e-3)
		if !r.w.Awake(load) {
			t.Errorf("belt at %g: the load is asleep", speed)
		}
		r.box(r.body(physics.StaticBody, float32(x)+float32(math.Copysign(1.02, float64(speed))), 0.5), plain, 0.5, 0.5)
		r.seconds(20)
		if r.w.Awake(load) {
			t.Errorf("belt at %g: a load at a wall is awake", speed)
		}
	}
}

// EnableSleep changes what BodyDef.DisableSleep has said, at any time.
func TestEnableSleep(t *testing.T) {
	r := newFixture(t, -10)
	r.floor(plain)
	b := r.dynamic(0, 0.5) // without sleep
	r.box(b, plain, 0.5, 0.5)
	for _, on := range []bool{true, false, true} {
		r.no(r.w.EnableSleep(b, on))
		if !on && !r.w.Awake(b) {
			t.Error("not woken at once")
		}
		r.seconds(2)
		if r.w.Awake(b) == on {
			t.Errorf("after EnableSleep(%t) awake: %t", on, r.w.Awake(b))
		}
	}
	r.no(r.w.DestroyBody(b))
	if err := r.w.EnableSleep(b, true); !errors.Is(err, physics.ErrStale) {
		t.Error(err)
	}
}
