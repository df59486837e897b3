package physics_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/physics"
)

func asleep(d *physics.BodyDef) { d.DisableSleep, d.Asleep = false, true }

// wall is n columns of n boxes side by side on a new floor, of which every other row is hinged together, all of it as
// change says.
func wall(t testing.TB, c physics.Config, n int, change func(*physics.BodyDef)) (fixture, []physics.Body) {
	t.Helper()
	c.Gravity, c.Capacity = [2]float32{0, -10}, 256
	r := fixture{t, newWorld(t, c)}
	r.floor(plain)
	r.box(r.body(physics.KinematicBody, 0, -3, change), plain, 1, 1)
	var all []physics.Body
	for row := range n {
		for i := range n {
			b := r.dynamic(float32(i), 0.5+float32(row), change)
			r.box(b, plain, 0.5, 0.5)
			if i > 0 && row%2 == 1 {
				r.hinge(all[len(all)-1], b, float32(i)-0.5, 0.5+float32(row))
			}
			all = append(all, b)
		}
	}
	r.no(r.w.IgnorePair(all[0], all[len(all)-1]))
	r.no(r.w.SetMassData(all[1], physics.MassData{Mass: 2, Inertia: 1}))
	return r, all
}

// A world that is made asleep stays so, at next to no cost from its second step on, and wakes as one that fell asleep:
// touched, with all that touches.
func TestWorldBeginsAsleep(t *testing.T) {
	const n = 6
	awake, _ := wall(t, physics.Config{}, n, sleepy)
	r, all := wall(t, physics.Config{}, n, asleep)
	if r.w.AwakeCount() != 0 {
		t.Fatalf("%d are awake when they are made", r.w.AwakeCount())
	}
	r.steps(1)
	awake.steps(1)
	if got, want := fmt.Sprint(r.w.Events().Begin), fmt.Sprint(awake.w.Events().Begin); got != want || len(awake.w.Events().Begin) < n {
		t.Errorf("what touches in the first step:\n%s\nwant\n%s", got, want)
	}
	from := places(r.w)
	for step := range 100 {
		r.steps(1)
		e := r.w.Events()
		if r.w.AwakeCount() != 0 || r.w.ContactCount() != 0 || len(e.Moved)+len(e.Slept)+len(e.Woke)+len(e.Begin)+len(e.End) != 0 {
			t.Fatalf("step %d: %d awake, %d contacts, %+v", step, r.w.AwakeCount(), r.w.ContactCount(), e)
		}
	}
	if !slices.Equal(places(r.w), from) {
		t.Error("something has moved")
	}
	r.circle(r.dynamic(-2, 0.6, sleepy, moving(15, 0, 0)), plain, 0.5)
	for range 10 {
		if r.steps(1); r.w.AwakeCount() == len(all)+1 { // and the ball, but not the kinematic box
			return
		}
	}
	t.Errorf("%d of %d are awake when they were hit", r.w.AwakeCount(), len(all)+1)
}

// One that is touched by something awake from the beginning wakes whole in its first step.
func TestWorldBeginsTouched(t *testing.T) {
	r, all := wall(t, physics.Config{}, 6, asleep)
	r.circle(r.dynamic(-0.99, 0.5, sleepy), plain, 0.5)
	if r.steps(1); r.w.AwakeCount() != len(all)+1 || len(r.w.Events().Woke) != len(all) {
		t.Errorf("%d of %d are awake, %d woke", r.w.AwakeCount(), len(all)+1, len(r.w.Events().Woke))
	}
}

// So do those that commands make, and a copy, a restored world and every level go on in the same way, from the moment
// of creation on.
func TestBegunAsleepIsState(t *testing.T) {
	r, _ := wall(t, physics.Config{Level: native.Go}, 4, asleep)
	c := r.w.NewCommands()
	d := physics.DefaultBodyDef()
	d.Type, d.Asleep, d.Position = physics.DynamicBody, true, [2]float32{20, 0.5}
	c.CreatePolygon(c.CreateBody(d), plain, physics.Box(0.5, 0.5))
	d.Asleep, d.Disabled, d.Position[0] = false, true, 22
	off := c.CreateBody(d)
	c.CreatePolygon(off, plain, physics.Box(0.5, 0.5))
	r.no(r.w.Apply(c))
	off = c.Body(off)
	var others []*physics.World
	data := snapshot(t, r.w)
	for _, level := range native.Levels() {
		restored := newWorld(t, physics.Config{Level: level, Workers: 2, Gravity: [2]float32{0, -10}})
		restore(t, restored, data)
		if again := snapshot(t, restored); string(again) != string(data) {
			t.Fatal("another snapshot than it was restored from")
		}
		copied := newWorld(t, physics.Config{Level: level, Gravity: [2]float32{0, -10}})
		r.no(copied.CopyFrom(r.w))
		others = append(others, restored, copied)
	}
	for step := range 40 {
		if step == 0 || step == 15 { // shapes of what begins asleep may still come in what was restored
			for _, w := range append(others, r.w) {
				b, _ := w.BodyAt(w.Rows() - 2)
				must[physics.Shape](t)(w.CreateCircle(b, plain, physics.Circle{Radius: 0.6}))
			}
			if n := r.w.AwakeCount(); n != min(step, 1) {
				t.Fatalf("step %d: %d are awake once one has got a shape", step, n)
			}
		}
		if step == 20 {
			for _, w := range append(others, r.w) {
				r.no(w.Enable(off))
			}
		}
		r.steps(1)
		for i, w := range others {
			steps(t, w, 1)
			sameState(t, fmt.Sprintf("step %d, world %d", step, i), r.w, w)
		}
		if r.w.Disabled(off) != (step < 20) || r.w.Awake(off) != (step >= 20) {
			t.Fatalf("step %d: disabled %t, awake %t", step, r.w.Disabled(off), r.w.Awake(off))
		}
	}
	if _, y := r.at(off); y > 0.51 || y < 0.4 {
		t.Errorf("what was enabled is at %g", y)
	}
}

// What touches new sleepers wakes them if it is awake, and sleepers that were there are not woken by new ones.
func TestNewSleepersAndOthers(t *testing.T) {
	old := func() (fixture, physics.Body) {
		r := newFixture(t, -10)
		r.floor(plain)
		b := r.dynamic(0, 0.5, sleepy)
		r.box(b, plain, 0.5, 0.5)
		r.seconds(2)
		return r, b
	}
	for _, c := range []struct {
		name   string
		awake  int
		change func(r fixture, old physics.Body)
	}{
		{"on a sleeper", 0, func(r fixture, _ physics.Body) { r.box(r.dynamic(0, 1.5, asleep), plain, 0.5, 0.5) }},
		{"beside one that is awake", 2, func(r fixture, _ physics.Body) {
			r.box(r.dynamic(5, 0.5, asleep), plain, 0.5, 0.5)
			r.box(r.dynamic(5.99, 0.5, sleepy), plain, 0.5, 0.5)
		}},
		{"on one that is woken", 2, func(r fixture, old physics.Body) {
			r.box(r.dynamic(0, 1.5, asleep), plain, 0.5, 0.5)
			r.no(r.w.SetAwake(old, true))
		}},
		{"joined to a sleeper", 2, func(r fixture, old physics.Body) {
			b := r.dynamic(3, 0.5, asleep)
			r.box(b, plain, 0.5, 0.5)
			r.hinge(old, b, 1.5, 0.5)
		}},
		{"joined to the ground", 0, func(r fixture, old physics.Body) {
			b := r.dynamic(3, 5, asleep)
			r.box(b, plain, 0.5, 0.5)
			r.hinge(r.body(physics.StaticBody, 3, 6), b, 3, 5.5)
		}},
		{"under a kinematic body that moves", 1, func(r fixture, _ physics.Body) {
			r.box(r.dynamic(5, 0.5, asleep), plain, 0.5, 0.5)
			r.box(r.body(physics.KinematicBody, 5, 1.49, moving(0, -0.1, 0)), plain, 0.5, 0.5)
		}},
		{"pushed", 1, func(r fixture, _ physics.Body) {
			b := r.dynamic(5, 0.5, asleep)
			r.box(b, plain, 0.5, 0.5)
			r.no(r.w.ApplyForceToCenter(b, [2]float32{1, 0}))
		}},
		{"written to", 1, func(r fixture, _ physics.Body) {
			b := r.dynamic(5, 0.5, asleep)
			r.box(b, plain, 0.5, 0.5)
			r.w.Columns().X[b.Index()] = 6
		}},
		{"made static", 0, func(r fixture, _ physics.Body) {
			b := r.dynamic(5, 0.5, asleep)
			r.box(b, plain, 0.5, 0.5)
			r.no(r.w.SetType(b, physics.StaticBody))
		}},
		{"disabled", 0, func(r fixture, _ physics.Body) {
			b := r.dynamic(5, 0.5, asleep)
			r.box(b, plain, 0.5, 0.5)
			r.no(r.w.Disable(b))
		}},
		{"destroyed", 0, func(r fixture, _ physics.Body) { r.no(r.w.DestroyBody(r.dynamic(5, 0.5, asleep))) }},
		{"asleep and disabled", 0, func(r fixture, _ physics.Body) {
			r.box(r.dynamic(0, 1.2, asleep, func(d *physics.BodyDef) { d.Disabled = true }), plain, 0.5, 0.5)
		}},
	} {
		r, b := old()
		if r.w.AwakeCount() != 0 {
			t.Fatal("not asleep")
		}
		c.change(r, b)
		r.steps(2)
		n := 0
		for i := range r.w.Rows() {
			if b, ok := r.w.BodyAt(i); ok && r.w.Awake(b) && r.w.Columns().Type[i] == physics.DynamicBody {
				n++
			}
		}
		if n != c.awake {
			t.Errorf("a body made asleep, %s: %d are awake, want %d", c.name, n, c.awake)
		}
		restore(t, newWorld(t, physics.Config{Gravity: [2]float32{0, -10}, Capacity: 1024}), snapshot(t, r.w))
	}
}

func TestBadSleepers(t *testing.T) {
	w := newWorld(t, physics.Config{})
	for name, change := range map[string]func(*physics.BodyDef){
		"asleep and moving":    func(d *physics.BodyDef) { d.Asleep, d.LinearVelocity[1] = true, 1 },
		"asleep and turning":   func(d *physics.BodyDef) { d.Asleep, d.AngularVelocity = true, 1 },
		"disabled and moving":  func(d *physics.BodyDef) { d.Disabled, d.LinearVelocity[0] = true, 1 },
		"disabled and turning": func(d *physics.BodyDef) { d.Disabled, d.AngularVelocity = true, 1 },
		"asleep and sleepless": func(d *physics.BodyDef) { d.Asleep, d.DisableSleep = true, true },
	} {
		d := physics.DefaultBodyDef()
		d.Type = physics.DynamicBody
		change(&d)
		before := w.Hash()
		if _, err := w.CreateBody(d); !errors.Is(err, physics.ErrRange) || w.Hash() != before {
			t.Errorf("%s: %v", name, err)
		}
		c := w.NewCommands()
		c.CreateBody(d)
		if err := w.Apply(c); !errors.Is(err, physics.ErrRange) || w.Hash() != before {
			t.Errorf("%s, by commands: %v", name, err)
		}
	}
	off := newWorld(t, physics.Config{DisableSleep: true})
	body(t, off, physics.StaticBody, 0, 0)
	d := physics.DefaultBodyDef()
	d.Type, d.Asleep = physics.DynamicBody, true
	must[physics.Body](t)(off.CreateBody(d))
	if off.AwakeCount() != 1 {
		t.Error("asleep in a world without sleep")
	}
	d.Type = physics.StaticBody
	b := must[physics.Body](t)(w.CreateBody(d))
	if w.Columns().Flags[b.Index()] != 0 {
		t.Error("a static body is asleep")
	}
}

// What was put to sleep stays asleep whatever was done to it before, in the same pause between two steps; what it left in
// mid-air does not.
func TestSetAwakeAfterChanges(t *testing.T) {
	changes := []struct {
		name string
		do   func(r fixture, b physics.Body)
	}{
		{"nothing", func(fixture, physics.Body) {}},
		{"a shape", func(r fixture, b physics.Body) { r.circle(b, plain, 0.3) }},
		{"a mass", func(r fixture, b physics.Body) { r.no(r.w.SetMassData(b, physics.MassData{Mass: 3, Inertia: 1})) }},
		{"locks", func(r fixture, b physics.Body) { r.no(r.w.SetMotionLocks(b, physics.MotionLocks{X: true})) }},
		{"an impulse", func(r fixture, b physics.Body) { r.no(r.w.ApplyLinearImpulseToCenter(b, [2]float32{1, 1})) }},
		{"a force", func(r fixture, b physics.Body) { r.no(r.w.ApplyForceToCenter(b, [2]float32{1, 1})) }},
		{"a velocity", func(r fixture, b physics.Body) { r.no(r.w.SetVelocity(b, [2]float32{1, 1}, 1)) }},
		{"being woken", func(r fixture, b physics.Body) { r.no(r.w.SetAwake(b, true)) }},
		{"another type", func(r fixture, b physics.Body) {
			r.no(r.w.SetType(b, physics.KinematicBody))
			r.no(r.w.SetType(b, physics.DynamicBody))
		}},
		{"being disabled", func(r fixture, b physics.Body) { r.no(r.w.Disable(b)); r.no(r.w.Enable(b)) }},
		{"a teleport", func(r fixture, b physics.Body) { r.no(r.w.SetTransform(b, [2]float32{50, 3}, 0)) }},
		{"a column", func(r fixture, b physics.Body) { r.w.Columns().X[b.Index()] = 50; r.no(r.w.SetAwake(b, true)) }},
		{"a joint", func(r fixture, b physics.Body) { r.hinge(r.body(physics.StaticBody, 0, 9), b, 0, 9) }},
	}
	for _, first := range changes {
		for _, second := range changes {
			for _, slept := range []bool{false, true} { // before
				r := newFixture(t, -10)
				r.floor(plain)
				b := r.dynamic(0, 0.5, sleepy)
				r.box(b, plain, 0.5, 0.5)
				if slept {
					r.seconds(2)
				}
				first.do(r, b)
				second.do(r, b)
				r.no(r.w.SetAwake(b, false))
				through := newWorld(t, physics.Config{Gravity: [2]float32{0, -10}, Capacity: 1024})
				restore(t, through, snapshot(t, r.w))
				for range 3 {
					r.steps(1)
					steps(t, through, 1)
					if r.w.Awake(b) {
						t.Fatalf("%s and %s, slept before: %t: is awake", first.name, second.name, slept)
					}
					sameState(t, "restored", r.w, through)
				}
			}
		}
	}
	for _, c := range changes {
		b := newBedroom(t, physics.Config{})
		b.asleep()
		support, above := b.stacks[0][0], b.stacks[0][1]
		c.do(b.fixture, support)
		b.no(b.w.SetAwake(support, false))
		b.seconds(1)
		if _, y := b.at(above); (y < 0.7) != (c.name == "a teleport" || c.name == "a column") {
			t.Errorf("%s of a support that is put to sleep: what stood on it is at %g", c.name, y)
		}
		if most, who := watchSleepers(t, b.w, physics.DefaultSleepThreshold); most > 1 && c.name == "nothing" {
			t.Errorf("%s: body %d moves %g times as far as it may", c.name, who, most)
		}
	}
}

// What sleeps beside a body that was changed and put to sleep wakes, whichever of its island that is; what sleeps beside
// the others does not.
func TestSetAwakeWakesBesideTheChanged(t *testing.T) {
	for mask := range 4 {
		r := newFixture(t, -10)
		r.floor(plain)
		var base, above [2]physics.Body
		for i := range base {
			base[i], above[i] = r.dynamic(float32(2*i), 0.5, sleepy), r.dynamic(float32(2*i), 1.5, sleepy)
			r.box(base[i], plain, 0.5, 0.5)
			r.box(above[i], plain, 0.5, 0.5)
		}
		r.hinge(base[0], base[1], 1, 0.5)
		r.seconds(3)
		if r.w.AwakeCount() != 0 {
			t.Fatal("not asleep")
		}
		r.no(r.w.SetAwake(base[0], true))
		for i := range base {
			if mask>>i&1 != 0 {
				r.no(r.w.SetMassData(base[i], physics.MassData{Mass: 3, Inertia: 1}))
			}
		}
		r.no(r.w.SetAwake(base[0], false))
		first, second := mask&1 != 0, mask&2 != 0
		for i, want := range []bool{first, second, false, first && !second} {
			if b := []physics.Body{above[0], above[1], base[0], base[1]}[i]; r.w.Awake(b) != want {
				t.Errorf("changed %02b: body %d of the four is awake: %t", mask, i, !want)
			}
		}
	}
}
