package physics3_test

import (
	"slices"
	"testing"

	"github.com/evertick/evertick/physics3"
)

// bedroom has two towers asleep, of three boxes each, and returns their bodies.
func bedroom(t testing.TB, c physics3.Config) (w *physics3.World, stacks [2][]physics3.Body) {
	w = newWorld(t, c)
	for k := range stacks {
		for i := range 3 {
			stacks[k] = append(stacks[k], addBox(t, w, dynamicAt(float32(5*k), 0.5+float32(i), 0), vec{0.5, 0.5, 0.5}))
		}
	}
	steps(t, w, 90)
	if w.AwakeCount() != 0 {
		t.Fatal("the towers are awake")
	}
	return w, stacks
}

// What a program does to a sleeper wakes its tower and no other; some things wake nothing. A restored world
// and a copy continue in the same way.
func TestWhatWakes(t *testing.T) {
	for name, c := range map[string]struct {
		do    func(w *physics3.World, b physics3.Body)
		wakes int // towers
	}{
		"nothing":      {func(w *physics3.World, b physics3.Body) {}, 0},
		"impulse":      {func(w *physics3.World, b physics3.Body) { no(t, w.ApplyLinearImpulse(b, vec{0, 1}, vec{})) }, 1},
		"turn":         {func(w *physics3.World, b physics3.Body) { no(t, w.ApplyAngularImpulse(b, vec{0, 0.1})) }, 1},
		"force":        {func(w *physics3.World, b physics3.Body) { no(t, w.ApplyForceToCenter(b, vec{0, 1})) }, 1},
		"torque":       {func(w *physics3.World, b physics3.Body) { no(t, w.ApplyTorque(b, vec{0, 1})) }, 1},
		"velocity":     {func(w *physics3.World, b physics3.Body) { no(t, w.SetVelocity(b, vec{0, 1}, vec{})) }, 1},
		"no velocity":  {func(w *physics3.World, b physics3.Body) { no(t, w.SetVelocity(b, vec{}, vec{})) }, 0},
		"teleport":     {func(w *physics3.World, b physics3.Body) { no(t, w.SetTransform(b, vec{20, 0.5, 0}, unit)) }, 1},
		"column":       {func(w *physics3.World, b physics3.Body) { w.Columns().VZ[b.Index()] = 1 }, 1},
		"torque in Z":  {func(w *physics3.World, b physics3.Body) { w.Columns().TorqueZ[b.Index()] = 1 }, 1},
		"rotation":     {func(w *physics3.World, b physics3.Body) { w.Columns().QY[b.Index()] += 1e-3 }, 1},
		"damping":      {func(w *physics3.World, b physics3.Body) { w.Columns().LinearDamping[b.Index()] = 1 }, 0},
		"destroyed":    {func(w *physics3.World, b physics3.Body) { no(t, w.DestroyBody(b)) }, 1},
		"no shape":     {func(w *physics3.World, b physics3.Body) { no(t, w.DestroyShape(shapesOf(t, w, b)[0])) }, 1},
		"shape":        {func(w *physics3.World, b physics3.Body) { sphere(t, w, b, plain, 0.1) }, 1},
		"mass":         {func(w *physics3.World, b physics3.Body) { no(t, w.SetMassData(b, physics3.MassData{Mass: 1})) }, 1},
		"type":         {func(w *physics3.World, b physics3.Body) { no(t, w.SetType(b, physics3.KinematicBody)) }, 1},
		"disabled":     {func(w *physics3.World, b physics3.Body) { no(t, w.Disable(b)) }, 1},
		"NaN":          {func(w *physics3.World, b physics3.Body) { w.Columns().Z[b.Index()] = nan }, 1},
		"material":     {func(w *physics3.World, b physics3.Body) { no(t, w.SetShapeDef(shapesOf(t, w, b)[0], plain)) }, 1},
		"locks":        {func(w *physics3.World, b physics3.Body) { no(t, w.SetMotionLocks(b, physics3.MotionLocks{X: true})) }, 1},
		"awake":        {func(w *physics3.World, b physics3.Body) { no(t, w.SetAwake(b, true)) }, 1},
		"never asleep": {func(w *physics3.World, b physics3.Body) { no(t, w.EnableSleep(b, false)) }, 1},
		"gravity":      {func(w *physics3.World, b physics3.Body) { no(t, w.SetGravity(vec{0, -9, 0})) }, 2},
		"same gravity": {func(w *physics3.World, b physics3.Body) { no(t, w.SetGravity(w.Config().Gravity)) }, 0},
		"no sleep":     {func(w *physics3.World, b physics3.Body) { no(t, w.EnableSleeping(false)) }, 2},
		"no floor":     {func(w *physics3.World, b physics3.Body) { floor, _ := w.BodyAt(0); no(t, w.DestroyBody(floor)) }, 2},
		"floor moves":  {func(w *physics3.World, b physics3.Body) { w.Columns().Y[0] -= 0.01 }, 2},
		"beside":       {func(w *physics3.World, b physics3.Body) { addBox(t, w, dynamicAt(50, 9, 0), vec{1, 1, 1}) }, 0},
		"hit": {func(w *physics3.World, b physics3.Body) {
			d := dynamicAt(0, 3.6, 0)
			d.LinearVelocity = vec{0, -3, 0}
			addBox(t, w, d, vec{0.5, 0.5, 0.5})
		}, 1},
	} {
		w, stacks := bedroom(t, physics3.Config{})
		c.do(w, stacks[0][1])
		other, copied := emptyWorld(t, w.Config()), must[*physics3.World](t)(w.Clone())
		no(t, other.Restore(snapshot(t, w)))
		var woke []uint32
		for range 3 {
			for _, v := range []*physics3.World{w, other, copied} {
				steps(t, v, 1)
				sameState(t, name, w, v)
			}
			woke = append(woke, w.Events().Woke...)
			sound(t, name, w)
		}
		for k, stack := range stacks {
			want := k < c.wakes
			for _, b := range stack {
				if !w.Valid(b) || w.Disabled(b) || name == "type" && b == stack[1] {
					continue
				}
				if w.Awake(b) != want || slices.Contains(woke, uint32(b.Index())) != want {
					t.Errorf("%s: %v of tower %d is awake: %v; %v woke", name, b, k, w.Awake(b), woke)
				}
			}
		}
	}
}

// A world that is created asleep stays asleep, and wakes where it is touched.
func TestWorldBeginsAsleep(t *testing.T) {
	w := newWorld(t, physics3.Config{})
	var bodies []physics3.Body
	for i := range 12 {
		d := dynamicAt(float32(i/3)*3, 0.5+float32(i%3), 0)
		d.Asleep = true
		bodies = append(bodies, addBox(t, w, d, vec{0.5, 0.5, 0.5}))
	}
	twin := must[*physics3.World](t)(w.Clone())
	other := emptyWorld(t, w.Config())
	no(t, other.Restore(snapshot(t, w)))
	for tick := range 40 {
		if tick == 20 {
			for _, v := range []*physics3.World{w, twin, other} {
				no(t, v.ApplyLinearImpulseToCenter(bodies[4], vec{0.1, 0, 0}))
			}
		}
		for _, v := range []*physics3.World{w, twin, other} {
			steps(t, v, 1)
			sameState(t, "begun asleep", w, v)
		}
		if want := map[bool]int{false: 0, true: 3}[tick >= 20]; w.AwakeCount() != want {
			t.Fatalf("tick %d: %d awake, want %d", tick, w.AwakeCount(), want)
		}
	}
}

// The motion of bodies does not depend on sleep before they fall asleep, nor on others that they never meet.
func TestMotionDependsOnNothingElse(t *testing.T) {
	alone := newWorld(t, physics3.Config{DisableSleep: true})
	tower(t, alone, 4)
	others := newWorld(t, physics3.Config{})
	tower(t, others, 4)
	for i := range 20 {
		addBox(t, others, dynamicAt(20+float32(i%3), 0.5+float32(i), 0), vec{0.5, 0.5, 0.5})
	}
	for range 25 {
		steps(t, alone, 1)
		steps(t, others, 1)
		names, x := floats(alone)
		_, y := floats(others)
		for k := range x {
			if !slices.Equal(x[k][:alone.Rows()], y[k][:alone.Rows()]) {
				t.Fatalf("%s: %v, and with others %v", names[k], x[k][:alone.Rows()], y[k][:alone.Rows()])
			}
		}
	}
}

// Hundreds of bodies in one place separate, the same on every level; contacts are left out rather than memory filled.
func TestManyBodiesInOnePlace(t *testing.T) {
	const n = 420
	make := func(c physics3.Config) *physics3.World {
		c.Capacity = n
		w := emptyWorld(t, c)
		for range n {
			sphere(t, w, bodyAt(t, w, physics3.DynamicBody, 0, 0, 0), plain, 0.5)
		}
		return w
	}
	a, b, omitted := make(physics3.Config{}), make(physics3.Config{Workers: 3}), 0
	for range 3 {
		steps(t, a, 1)
		steps(t, b, 1)
		sameState(t, "in one place", a, b)
		omitted = max(omitted, a.OmittedContacts())
	}
	if omitted == 0 {
		t.Errorf("%d contacts, none left out", a.ContactCount())
	}
	sound(t, "in one place", a)
}
