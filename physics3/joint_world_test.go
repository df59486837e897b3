package physics3_test

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/physics3"
)

// jointsBetween returns definitions for two bodies side by side: what every kind has in common.
func commonDef(a, b physics3.Body, onA, onB vec) physics3.JointDef {
	return physics3.JointDef{BodyA: a, BodyB: b, FrameA: physics3.JointFrame{Point: onA}, FrameB: physics3.JointFrame{Point: onB}}
}

func joined(t testing.TB, w *physics3.World, def physics3.AnyJointDef) physics3.Joint {
	t.Helper()
	return must[physics3.Joint](t)(w.CreateJoint(def))
}

func stateOf(t testing.TB, w *physics3.World, j physics3.Joint) physics3.JointState {
	t.Helper()
	return must[physics3.JointState](t)(w.JointState(j))
}

// net is a world with a net of balls, 16 by 8, that hangs by its first row. The joints are made in an order, or the reverse.
func net(t testing.TB, c physics3.Config, order func(i int) int) (*physics3.World, []physics3.Body) {
	t.Helper()
	const columns, rows = 16, 8
	c.Capacity, c.Gravity = 200, vec{0, -10, 0}
	w := emptyWorld(t, c)
	var bodies []physics3.Body
	for i := range columns * rows {
		kind := physics3.DynamicBody
		if i < columns {
			kind = physics3.StaticBody
		}
		b := bodyAt(t, w, kind, float32(i%columns), 0, float32(i/columns))
		sphere(t, w, b, plain, 0.4)
		bodies = append(bodies, b)
	}
	var defs []physics3.AnyJointDef
	for i := range bodies {
		add := func(k int, side vec) {
			half := vec{side[0] / 2, 0, side[2] / 2}
			d := commonDef(bodies[i], bodies[k], half, vec{-half[0], 0, -half[2]})
			switch (i + k) % 5 {
			case 0:
				defs = append(defs, &physics3.RevoluteJointDef{JointDef: d, EnableLimit: true, LowerAngle: -1, UpperAngle: 1})
			case 1:
				defs = append(defs, &physics3.DistanceJointDef{JointDef: d, Length: 0, EnableSpring: true, Hertz: 5, Damping: 0.5})
			default:
				defs = append(defs, &physics3.SphericalJointDef{JointDef: d, EnableConeLimit: k%3 == 0, ConeAngle: 0.5})
			}
		}
		if i%columns < columns-1 {
			add(i+1, vec{1, 0, 0})
		}
		if i+columns < len(bodies) {
			add(i+columns, vec{0, 0, 1})
		}
	}
	for i := range defs {
		joined(t, w, defs[order(i)%len(defs)])
	}
	return w, bodies
}

// The result does not depend on the order in which joints are made, nor on levels, workers, or a restore in motion.
func TestOrderOfJoints(t *testing.T) {
	inOrder := func(i int) int { return i }
	mixed := func(i int) int { return 97*i + 5 } // all of 225
	w, _ := net(t, physics3.Config{}, inOrder)
	var worlds []*physics3.World
	for i, level := range native.Levels() {
		order := mixed
		if i%2 == 1 {
			order = inOrder
		}
		other, _ := net(t, physics3.Config{Level: level, Workers: 1 + i%3, StageHashes: i == 2}, order)
		worlds = append(worlds, other)
	}
	if w.JointCount() != 15*8+16*7-0 {
		t.Fatalf("%d joints", w.JointCount())
	}
	positions := func(w *physics3.World) []byte {
		var all []byte
		c := w.Columns()
		for _, column := range [][]float32{c.X, c.Y, c.Z, c.QX, c.QY, c.QZ, c.QW, c.VX, c.VY, c.VZ, c.WX, c.WY, c.WZ} {
			for _, v := range column[:w.Rows()] {
				bits := math.Float32bits(v)
				all = append(all, byte(bits), byte(bits>>8), byte(bits>>16), byte(bits>>24))
			}
		}
		return all
	}
	for tick := range 90 {
		steps(t, w, 1)
		want := positions(w)
		for i, other := range worlds {
			if tick%30 == 20 {
				fresh := emptyWorld(t, other.Config())
				no(t, fresh.Restore(snapshot(t, other)))
				worlds[i], other = fresh, fresh
			}
			steps(t, other, 1)
			if !bytes.Equal(positions(other), want) {
				t.Fatalf("tick %d: level %v differs", tick, other.Config().Level)
			}
		}
	}
	sameWhenSaved(t, w, worlds[0])
}

// A steady step with joints allocates nothing, and neither do calls on joints.
func TestJointsAllocateNothing(t *testing.T) {
	paritytest.SkipSerialUnderRace(t)
	w, bodies := net(t, physics3.Config{DisableSleep: true}, func(i int) int { return i })
	steps(t, w, 5)
	var data []byte
	hinge, _ := w.JointAt(1)
	kind := must[physics3.JointKind](t)(w.JointKind(hinge))
	if kind != physics3.DistanceJoint {
		t.Fatal(kind)
	}
	joints := make([]physics3.Joint, 0, 10)
	c := w.NewCommands()
	for name, call := range map[string]func(){
		"Step":     func() { no(t, w.Step(dt)) },
		"Snapshot": func() { data = must[[]byte](t)(w.Snapshot(data[:0])) },
		"Restore":  func() { no(t, w.Restore(data)) },
		"Hash":     func() { w.Hash() },
		"JointDef": func() {
			var d physics3.DistanceJointDef
			no(t, w.JointDef(hinge, &d))
			d.Hertz++
			no(t, w.SetJointDef(hinge, &d))
		},
		"JointState":   func() { _ = must[physics3.JointState](t)(w.JointState(hinge)) },
		"AppendJoints": func() { joints = must[[]physics3.Joint](t)(w.AppendJoints(joints[:0], bodies[20])) },
		"CreateJoint": func() {
			no(t, w.DestroyJoint(joined(t, w, &physics3.WeldJointDef{JointDef: commonDef(bodies[20], bodies[40], vec{}, vec{})})))
		},
		"Commands": func() {
			c.DestroyJoint(c.CreateJoint(&physics3.WeldJointDef{JointDef: commonDef(bodies[20], bodies[40], vec{}, vec{})}))
			var d physics3.JointDef
			c.SetJointDef(hinge, &d)
			no(t, w.Apply(c))
		},
	} {
		data = must[[]byte](t)(w.Snapshot(data[:0]))
		call()
		call()
		if n := testing.AllocsPerRun(10, call); n != 0 && !paritytest.Instrumented {
			t.Errorf("%s allocates %v times", name, n)
		}
	}
}

// Joined bodies fall asleep and wake as one island, but not by a filter, and changes to a joint wake its bodies.
func TestJointsSleepAndWake(t *testing.T) {
	w := newWorld(t, physics3.Config{Capacity: 20})
	var bodies []physics3.Body
	for i := range 4 {
		b := bodyAt(t, w, physics3.DynamicBody, 3*float32(i), 0.5, 0)
		box(t, w, b, plain, 0.5, 0.5, 0.5)
		bodies = append(bodies, b)
	}
	j := joined(t, w, &physics3.WeldJointDef{JointDef: commonDef(bodies[0], bodies[1], vec{1.5, 0, 0}, vec{-1.5, 0, 0})})
	filter := joined(t, w, &physics3.FilterJointDef{JointDef: commonDef(bodies[1], bodies[2], vec{}, vec{})})
	steps(t, w, 120)
	awake := func(want ...bool) {
		t.Helper()
		for i, b := range bodies {
			if w.Awake(b) != want[i] {
				t.Errorf("body %d awake: %v", i, !want[i])
			}
		}
	}
	awake(false, false, false, false)
	no(t, w.ApplyLinearImpulse(bodies[0], vec{0, 2, 0}, vec{0, 0.5, 0}))
	steps(t, w, 1)
	awake(true, true, false, false)
	steps(t, w, 200)
	awake(false, false, false, false)
	var d physics3.WeldJointDef
	no(t, w.JointDef(j, &d))
	no(t, w.SetJointDef(j, &d)) // no change
	steps(t, w, 1)
	awake(false, false, false, false)
	d.BreakForce = 1e6
	no(t, w.SetJointDef(j, &d))
	awake(true, true, false, false)
	steps(t, w, 200)
	awake(false, false, false, false)
	no(t, w.DestroyJoint(filter))
	awake(false, true, true, false)
	no(t, w.DestroyBody(bodies[0]))
	steps(t, w, 1)
	if w.JointCount() != 0 || !w.Awake(bodies[1]) {
		t.Errorf("%d joints, awake %v", w.JointCount(), w.Awake(bodies[1]))
	}
}

// Joints between bodies created asleep leave them asleep.
func TestJointsOfBodiesCreatedAsleep(t *testing.T) {
	w := newWorld(t, physics3.Config{Capacity: 20})
	var bodies []physics3.Body
	for i := range 5 {
		d := dynamicAt(float32(i), 0.5, 0)
		d.Asleep = true
		b := bodyOf(t, w, d)
		box(t, w, b, plain, 0.4, 0.5, 0.4)
		if i > 0 {
			joined(t, w, &physics3.SphericalJointDef{JointDef: commonDef(bodies[i-1], b, vec{0.5, 0, 0}, vec{-0.5, 0, 0})})
		}
		bodies = append(bodies, b)
	}
	steps(t, w, 3)
	if w.AwakeCount() != 0 {
		t.Errorf("%d awake", w.AwakeCount())
	}
	no(t, w.SetAwake(bodies[4], true))
	steps(t, w, 1)
	if w.AwakeCount() != 5 {
		t.Errorf("%d awake of 5", w.AwakeCount())
	}
}

// Bodies of a joint collide only if each joint between them wants it, also where one is a bullet.
func TestJointedBodiesDoNotCollide(t *testing.T) {
	for _, collide := range [][2]bool{{true, true}, {true, false}, {false, false}} {
		w := emptyWorld(t, physics3.Config{Capacity: 20})
		a, b := bodyAt(t, w, physics3.StaticBody, 0, 0, 0), bodyAt(t, w, physics3.DynamicBody, -3, 0, 0)
		box(t, w, a, plain, 0.05, 1, 1)
		sphere(t, w, b, plain, 0.25)
		for _, c := range collide {
			d := &physics3.DistanceJointDef{JointDef: commonDef(a, b, vec{}, vec{}), EnableSpring: true, EnableLimit: true, MaxLength: 99}
			d.CollideConnected = c
			joined(t, w, d)
		}
		no(t, w.SetVelocity(b, vec{60, 0, 0}, vec{}))
		steps(t, w, 6)
		passed := positionOf(t, w, b)[0] > 1
		if want := !collide[0] || !collide[1]; passed != want {
			t.Errorf("CollideConnected %v: passed %v", collide, passed)
		}
	}
}

// A joint breaks when its load exceeds a bound, and is reported at a lower one.
func TestJointsBreak(t *testing.T) {
	w, bob, j := pendulum(t, 10, func(d, _ physics3.JointDef) physics3.AnyJointDef {
		d.BreakForce, d.ForceThreshold = 1000, 500
		return &physics3.SphericalJointDef{JointDef: d}
	})
	m := must[physics3.MassData](t)(w.MassData(bob)).Mass
	rope := joined(t, w, &physics3.FilterJointDef{JointDef: must1(w, j)})
	for tick, load := range []float32{0, 0.2, 0.4, 0.6, 0.8, 1.2, 0} {
		for range 30 {
			no(t, w.ApplyForceToCenter(bob, vec{0, -1000*load + 10*m, 0}))
			steps(t, w, 1)
		}
		e := w.Events()
		loads, broken := load > 0.5 && load < 1, load > 1
		if broken && len(e.Broken) == 0 && w.ValidJoint(j) || !broken && load > 0 && !w.ValidJoint(j) || len(e.JointLoads) > 0 != loads {
			t.Errorf("tick %d: %v, %v", tick, e.Broken, e.JointLoads)
		}
		if len(e.JointLoads) == 1 {
			near(t, "the load", float64(e.JointLoads[0].Force[1]), float64(1000*load), 20)
		}
	}
	if w.ValidJoint(j) || !w.ValidJoint(rope) || w.JointCount() != 1 {
		t.Error("the joint has not broken")
	}
	if y := positionOf(t, w, bob)[1]; y > -2 {
		t.Errorf("the bob is at %v", y)
	}
	// An event has the handles, and survives encoding.
	w, bob, j = pendulum(t, 10, func(d, _ physics3.JointDef) physics3.AnyJointDef {
		d.BreakForce, d.TorqueThreshold = 100, 1
		return &physics3.WeldJointDef{JointDef: d}
	})
	no(t, w.ApplyForceToCenter(bob, vec{0, -4000, 0}))
	steps(t, w, 1)
	e := w.Events()
	if len(e.Broken) != 1 || e.Broken[0].Joint != j || e.Broken[0].B != bob || e.Broken[0].Force[1] < 100 || w.ValidJoint(j) {
		t.Fatalf("%+v", e.Broken)
	}
	other := emptyWorld(t, w.Config())
	no(t, other.Prepare(snapshot(t, w)))
	no(t, other.PrepareEvents(w.AppendEvents(nil)))
	other.Commit()
	if !slices.Equal(other.Events().Broken, e.Broken) {
		t.Errorf("%v, want %v", other.Events().Broken, e.Broken)
	}
}

func must1(w *physics3.World, j physics3.Joint) (d physics3.JointDef) {
	_ = w.JointDef(j, &d)
	return d
}

// Commands on joints are all or none, and see what the list has created and destroyed so far.
func TestJointCommands(t *testing.T) {
	w, a, b := twoBodies(t)
	c := w.NewCommands()
	box := c.CreateBody(dynamicAt(4, 5, 0))
	j1 := c.CreateJoint(&physics3.SphericalJointDef{JointDef: commonDef(b, box, vec{1, 0, 0}, vec{-1, 0, 0})})
	j2 := c.CreateJoint(&physics3.WeldJointDef{JointDef: commonDef(a, b, vec{1, 0, 0}, vec{-1, 0, 0})})
	c.SetJointDef(j1, &physics3.JointDef{BreakForce: 9})
	c.DestroyJoint(j2)
	if j1.String() != "new joint 0" {
		t.Error(j1)
	}
	no(t, w.Apply(c))
	if w.JointCount() != 1 || !w.ValidJoint(c.Joint(j1)) || w.ValidJoint(c.Joint(j2)) || c.Joint(c.Joint(j1)) != c.Joint(j1) {
		t.Errorf("%d joints", w.JointCount())
	}
	j := c.Joint(j1)
	if d := must1(w, j); d.BreakForce != 9 || d.BodyB != c.Body(box) || d.FrameA.Point != (vec{}) {
		t.Errorf("%+v", d)
	}
	for name, record := range map[string]func(c *physics3.Commands){
		"destroyed joint": func(c *physics3.Commands) { c.DestroyJoint(j); c.SetJointDef(j, &physics3.JointDef{}) },
		"destroyed body":  func(c *physics3.Commands) { c.DestroyBody(b); c.DestroyJoint(j) },
		"new destroyed": func(c *physics3.Commands) {
			n := c.CreateJoint(&physics3.FilterJointDef{JointDef: commonDef(a, b, vec{}, vec{})})
			c.DestroyBody(a)
			c.DestroyJoint(n)
		},
		"body gone": func(c *physics3.Commands) {
			c.DestroyBody(a)
			c.CreateJoint(&physics3.FilterJointDef{JointDef: commonDef(a, b, vec{}, vec{})})
		},
		"no joint": func(c *physics3.Commands) { c.DestroyJoint(physics3.Joint{}) },
	} {
		hash := w.Hash()
		c := w.NewCommands()
		record(c)
		if err := w.Apply(c); !errors.Is(err, physics3.ErrStale) || w.Hash() != hash {
			t.Errorf("%s: %v", name, err)
		}
	}
	wrong := w.NewCommands()
	wrong.DestroyBody(a)
	wrong.SetJointDef(j, &physics3.WeldJointDef{})
	if err := w.Apply(wrong); !errors.Is(err, physics3.ErrUnsupported) || !w.Valid(a) {
		t.Error(err)
	}
}

// A joint is idle while a body is disabled or neither is dynamic, and works again afterwards.
func TestIdleJoints(t *testing.T) {
	w, bob, j := pendulum(t, 10, func(d, _ physics3.JointDef) physics3.AnyJointDef { return &physics3.SphericalJointDef{JointDef: d} })
	steps(t, w, 10)
	if f := stateOf(t, w, j).Force; f[1] < 0.1 {
		t.Errorf("force %v", f)
	}
	no(t, w.Disable(bob))
	steps(t, w, 10)
	if s := stateOf(t, w, j); s.Force != (vec{}) || math.Abs(float64(s.Length)) > 1e-3 {
		t.Errorf("disabled: %+v", s)
	}
	no(t, w.SetTransform(bob, vec{0.1, -1, 0}, unit))
	no(t, w.Enable(bob))
	steps(t, w, 60)
	if s := stateOf(t, w, j); s.Force[1] < 0.1 || s.Separation > 1e-3 {
		t.Errorf("enabled: %+v", s)
	}
	no(t, w.SetType(bob, physics3.KinematicBody))
	no(t, w.SetVelocity(bob, vec{1, 0, 0}, vec{}))
	steps(t, w, 60)
	if s := stateOf(t, w, j); s.Force != (vec{}) || s.Length < 0.5 {
		t.Errorf("kinematic: %+v", s)
	}
	no(t, w.SetType(bob, physics3.DynamicBody))
	steps(t, w, 120)
	if s := stateOf(t, w, j); s.Separation > 1e-2 {
		t.Errorf("dynamic: %+v", s)
	}
	// A value that is not finite disables its body, and not the others.
	w, bodies := net(t, physics3.Config{}, func(i int) int { return i })
	steps(t, w, 20)
	w.Columns().VX[bodies[60].Index()] = nan
	steps(t, w, 60)
	if !w.Disabled(bodies[60]) || w.Disabled(bodies[61]) {
		t.Error("the wrong bodies are disabled")
	}
	sound(t, "after a NaN", w)
}

// A body that teleports is pulled back, and the origin may shift under joints, also that of a mouse joint.
func TestJointsTeleportAndShift(t *testing.T) {
	w, bob, j := pendulum(t, 10, func(d, _ physics3.JointDef) physics3.AnyJointDef { return &physics3.SphericalJointDef{JointDef: d} })
	ground := must1(w, j).BodyA
	dragged := bodyAt(t, w, physics3.DynamicBody, 5, 0, 0)
	sphere(t, w, dragged, plain, 0.2)
	mouse := joined(t, w, &physics3.MouseJointDef{JointDef: commonDef(ground, dragged, vec{}, vec{}), Target: vec{5, 1, 2}, Hertz: 4, Damping: 1, MaxForce: 1e4})
	steps(t, w, 30)
	no(t, w.SetTransform(bob, vec{0.5, -1.5, 0}, unit))
	steps(t, w, 120)
	if s := stateOf(t, w, j); s.Separation > 1e-2 {
		t.Errorf("%+v", s)
	}
	by := vec{1024, -2048, 3072}
	shifted := must[*physics3.World](t)(w.Clone())
	no(t, shifted.ShiftOrigin(by))
	no(t, shifted.ShiftOrigin(vec{-by[0], -by[1], -by[2]}))
	var d physics3.MouseJointDef
	no(t, shifted.JointDef(mouse, &d))
	if d.Target != (vec{5, 1, 2}) {
		t.Error(d.Target)
	}
	no(t, shifted.ShiftOrigin(by))
	no(t, shifted.JointDef(mouse, &d))
	if d.Target != (vec{5 - 1024, 1 + 2048, 2 - 3072}) {
		t.Error(d.Target)
	}
	steps(t, shifted, 60)
	steps(t, w, 60)
	at, want := positionOf(t, shifted, dragged), positionOf(t, w, dragged)
	for k := range at {
		near(t, "the dragged ball", at[k]+float64(by[k]), want[k], 5e-3)
	}
	near(t, "the dragged ball", want[2], 2, 0.01)
}

// Any number of joints side by side gives the result of one alone: blocks hold 16.
func TestNumbersOfJoints(t *testing.T) {
	most := 129
	if testing.Short() {
		most = 40
	}
	counts := []int{1, 2, 15, 16, 17, 31, 33, most}
	for _, n := range counts {
		w := emptyWorld(t, physics3.Config{Capacity: 300, Gravity: vec{0, -10, 0}, Workers: 1 + n%2})
		hook := bodyAt(t, w, physics3.StaticBody, 0, 0, 0)
		for i := range n {
			b := bodyAt(t, w, physics3.DynamicBody, 1, 0, 0)
			apart := plain
			apart.Filter.Group = -1
			box(t, w, b, apart, 0.1, 0.2, 0.3)
			d := commonDef(hook, b, vec{}, vec{-1, 0, 0})
			if i%2 == 0 {
				joined(t, w, &physics3.RevoluteJointDef{JointDef: rotatedFrames(d, turn(vector{0, 1, 0}, math.Pi/2))})
			} else {
				joined(t, w, &physics3.SphericalJointDef{JointDef: d})
			}
		}
		steps(t, w, 45)
		c := w.Columns()
		for i := 3; i < w.Rows(); i++ {
			if c.Y[i] != c.Y[i-2] || c.X[i] != c.X[i-2] || c.WZ[i] != c.WZ[i-2] {
				t.Fatalf("%d joints: body %d is at %v, %v, and not at %v, %v", n, i, c.X[i], c.Y[i], c.X[i-2], c.Y[i-2])
			}
		}
		if c.Y[1] > -0.5 || n > 1 && math.Abs(float64(c.Y[2]-c.Y[1])) > 1e-2 {
			t.Errorf("%d joints: at %v", n, c.Y[1:3])
		}
	}
}

// rotatedFrames turns the axes of both frames.
func rotatedFrames(d physics3.JointDef, q quat) physics3.JointDef {
	d.FrameA.Rotation, d.FrameB.Rotation = q, q
	return d
}

// Pictures of joints: three lines each, two for a static body, and from the target of a mouse joint.
func TestDrawJoints(t *testing.T) {
	w, a, b := twoBodies(t)
	before := must[[]physics3.DrawnLine](t)(w.AppendDraw(nil, physics3.DrawOptions{Joints: true}))
	ground := bodyAt(t, w, physics3.StaticBody, 0, 0, 0)
	joined(t, w, &physics3.SphericalJointDef{JointDef: commonDef(a, b, vec{1, 0, 0}, vec{-1, 0, 0})})
	joined(t, w, &physics3.SphericalJointDef{JointDef: commonDef(ground, b, vec{}, vec{})})
	joined(t, w, &physics3.MouseJointDef{JointDef: commonDef(ground, b, vec{}, vec{}), Target: vec{7, 7, 7}})
	all := must[[]physics3.DrawnLine](t)(w.AppendDraw(nil, physics3.DrawOptions{Joints: true}))
	if n := len(all) - len(before); n != 3+2+2 {
		t.Errorf("%d lines", n)
	}
	if !slices.ContainsFunc(all, func(l physics3.DrawnLine) bool { return l.P1 == vec{7, 7, 7} }) {
		t.Error("no line begins at the target")
	}
}

// Random chains in random order, with joints destroyed and made again, give the same as without: only what lives counts.
func TestJointsMadeAgain(t *testing.T) {
	rng := rand.New(rand.NewPCG(paritytest.Seed(), 3))
	for range 3 {
		a, _ := net(t, physics3.Config{}, func(i int) int { return i })
		b, _ := net(t, physics3.Config{}, func(i int) int { return i })
		for range 60 {
			j, ok := b.JointAt(rng.IntN(b.JointCount()))
			if kind := must[physics3.JointKind](t)(b.JointKind(j)); !ok || kind != physics3.RevoluteJoint {
				continue
			}
			var d physics3.RevoluteJointDef
			no(t, b.JointDef(j, &d))
			extra := joined(t, b, &physics3.WeldJointDef{JointDef: d.JointDef})
			no(t, b.DestroyJoint(j))
			joined(t, b, &d)
			no(t, b.DestroyJoint(extra))
		}
		steps(t, a, 30)
		steps(t, b, 30)
		for i := range a.Rows() {
			if a.Columns().Y[i] != b.Columns().Y[i] || a.Columns().QW[i] != b.Columns().QW[i] {
				t.Fatalf("body %d differs", i)
			}
		}
	}
}
