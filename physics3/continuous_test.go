package physics3_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/physics3"
)

func between(rng *rand.Rand, lo, hi float32) float32 { return lo + (hi-lo)*rng.Float32() }

// addProjectile makes a body with a shape of any kind.
func addProjectile(t testing.TB, w *physics3.World, rng *rand.Rand, kind int, d physics3.BodyDef) physics3.Body {
	t.Helper()
	d.Rotation = [4]float32{between(rng, -1, 1), between(rng, -1, 1), between(rng, -1, 1), between(rng, -1, 1)}
	b := bodyOf(t, w, d)
	size := func() float32 { return between(rng, 0.02, 0.4) }
	switch kind % 5 {
	case 0:
		sphere(t, w, b, plain, size())
	case 1:
		box(t, w, b, plain, size(), size(), size())
	case 2:
		must[physics3.Shape](t)(w.CreateCapsule(b, plain, physics3.Capsule{P1: vec{-size(), 0, 0}, P2: vec{0.1, 0.1, 0}, Radius: size() / 2}))
	case 3:
		must[physics3.Shape](t)(w.CreateHull(b, plain, []*physics3.Hull{tetrahedron, prism, cube}[rng.IntN(3)], physics3.Placement{Position: vec{0.1, 0.1, 0.1}}))
	case 4:
		must[physics3.Shape](t)(w.CreateSphere(b, plain, physics3.Sphere{Center: vec{0.6, 0, 0}, Radius: size() / 2}))
		must[physics3.Shape](t)(w.CreateBox(b, plain, physics3.Box{Half: vec{size(), size(), size()}, Center: vec{-0.3, 0, 0}}))
	}
	return b
}

// Nothing passes a sheet: shapes of all kinds at 30 to 390 m/s, most of which tumble. The sheet is a box of 2 mm, or triangles of no thickness.
func TestNothingPassesASheet(t *testing.T) {
	shots := paritytest.Rounds(30000) / 10
	for round, kind := range []physics3.BodyType{physics3.StaticBody, physics3.KinematicBody, physics3.StaticBody, physics3.KinematicBody} {
		rng := rand.New(rand.NewPCG(paritytest.Seed(), uint64(round)))
		w := emptyWorld(t, physics3.Config{Capacity: shots + 1, Workers: 2})
		d := physics3.DefaultBodyDef()
		if d.Type = kind; kind == physics3.KinematicBody {
			d.LinearVelocity = vec{-3, 1, 2}
		}
		sheet := bodyOf(t, w, d)
		if round < 2 {
			box(t, w, sheet, plain, 0.001, float32(4*shots), 50)
		} else {
			must[physics3.Shape](t)(w.CreateMesh(sheet, plain, wallMesh(40, float32(4*shots), 50), physics3.Placement{}))
		}
		var all []physics3.Body
		for i := range shots {
			d := dynamicAt(between(rng, -8, -2), float32(4*i-2*shots), between(rng, -20, 20))
			d.Bullet = kind == physics3.KinematicBody // the sheet also hits those that are slow by then
			d.LinearVelocity = vec{between(rng, 30, 390), between(rng, -30, 30), between(rng, -60, 60)}
			if i%3 > 0 {
				d.AngularVelocity = vec{between(rng, -90, 90), between(rng, -90, 90), between(rng, -90, 90)}
			}
			all = append(all, addProjectile(t, w, rng, i, d))
		}
		for range 20 {
			no(t, w.Step(dt))
		}
		wall := position(t, w, sheet)[0]
		for i, b := range all {
			if c := must[vec](t)(w.WorldCenter(b)); c[0] > wall {
				t.Errorf("round %d, %v sheet: shot %d of %d is at %v (seed %d)", round, kind, i, shots, c, paritytest.Seed())
			}
		}
	}
}

// wallMesh makes a wall across the x axis, with its front towards -x, of n by 3 squares.
func wallMesh(n int, y, z float32) *physics3.Mesh {
	d := physics3.MeshDef{}
	for i := range n + 1 {
		for k := range 4 {
			d.Vertices = append(d.Vertices, vec{0, y * (2*float32(i)/float32(n) - 1), z * (2*float32(k)/3 - 1)})
			if a := uint32(4*i + k); i < n && k < 3 {
				d.Triangles = append(d.Triangles, [3]uint32{a, a + 1, a + 5}, [3]uint32{a, a + 5, a + 4})
			}
		}
	}
	return newMesh(d)
}

// addCell makes a closed room of thin walls with inner half extents of 2 m.
func addCell(t testing.TB, w *physics3.World, x, y, z float32, kind physics3.BodyType) {
	t.Helper()
	b := bodyAt(t, w, kind, x, y, z)
	for k := range 3 {
		for _, side := range [2]float32{-2, 2} {
			half, at := vec{2.1, 2.1, 2.1}, vec{}
			half[k], at[k] = 0.005, side
			must[physics3.Shape](t)(w.CreateBox(b, plain, physics3.Box{Half: half, Center: at}))
		}
	}
}

// addPrison makes cells with fast bodies in them, and returns these with their cells.
func addPrison(t testing.TB, w *physics3.World, rng *rand.Rand, cells, each int) (bodies []physics3.Body, at []vec) {
	t.Helper()
	for i := range cells {
		x, y, z := float32(i%3)*6, float32(i/3%3)*6, float32(i/9)*6
		addCell(t, w, x, y, z, physics3.StaticBody)
		for k := range each {
			d := dynamicAt(x+between(rng, -0.5, 0.5), y+between(rng, -0.5, 0.5), z+between(rng, -0.5, 0.5))
			d.LinearVelocity = vec{between(rng, -300, 300), between(rng, -300, 300), between(rng, -300, 300)}
			d.AngularVelocity = vec{between(rng, -90, 90), between(rng, -90, 90), between(rng, -90, 90)}
			d.Bullet = k%2 == 0
			bodies, at = append(bodies, addProjectile(t, w, rng, i+k, d)), append(at, vec{x, y, z})
		}
	}
	return bodies, at
}

// What is stuck where two thin walls cross is pushed back into the room: the floor, which reaches through the wall, does not make that thicker.
func TestNothingIsPushedOutOfARoom(t *testing.T) {
	w := emptyWorld(t, physics3.Config{Capacity: 2})
	addCell(t, w, 0, 0, 0, physics3.StaticBody)
	d := dynamicAt(-0.9990487, -1.7559648, -0.087569)
	d.Rotation = quat{-0.040542733, -0.6702928, 0.2991605, 0.6779136}
	b := bodyOf(t, w, d)
	must[physics3.Shape](t)(w.CreateHull(b, plain, tetrahedron, physics3.Placement{Position: vec{0.1, 0.1, 0.1}}))
	no(t, w.Step(1e-6))
	contacts := must[[]physics3.ContactData](t)(w.AppendContactData(nil, b))
	if len(contacts) != 2 {
		t.Errorf("%d contacts", len(contacts))
	}
	for _, c := range contacts {
		if min(c.Normal[0], c.Normal[1]) < 0 {
			t.Errorf("pushed out by %+v", c)
		}
	}
}

// No fast body leaves a room with walls of 1 cm, not even after many bounces.
func TestNothingLeavesARoom(t *testing.T) {
	rng := rand.New(rand.NewPCG(paritytest.Seed(), 3))
	w := emptyWorld(t, physics3.Config{Capacity: 200})
	bodies, at := addPrison(t, w, rng, 27, 1)
	for step := range paritytest.Rounds(600) {
		if step%60 == 0 {
			for _, b := range bodies {
				no(t, w.SetVelocity(b, vec{between(rng, -390, 390), between(rng, -390, 390), between(rng, -390, 390)},
					vec{between(rng, -90, 90), between(rng, -90, 90), between(rng, -90, 90)}))
			}
		}
		no(t, w.Step(dt))
		for i, b := range bodies {
			c := must[vec](t)(w.WorldCenter(b))
			for k := range c {
				if !(math.Abs(float64(c[k]-at[i][k])) < 2) {
					t.Fatalf("step %d: body %d of kind %d has left: %v, cell %v (seed %d)", step, i, i%5, c, at[i], paritytest.Seed())
				}
			}
		}
	}
}

// The result does not depend on levels and workers, nor on copies and snapshots.
func TestContinuousIsTheSameEverywhere(t *testing.T) {
	gallery := func(c physics3.Config) *physics3.World {
		rng := rand.New(rand.NewPCG(5, 7))
		c.Capacity, c.Gravity = 400, vec{0, -10, 0}
		w := emptyWorld(t, c)
		addPrison(t, w, rng, 27, 6)
		walls := wallMesh(5, 30, 30)
		for x := range 3 { // through the cells
			must[physics3.Shape](t)(w.CreateMesh(bodyAt(t, w, physics3.BodyType(x%2), float32(6*x), 6, 6), plain, walls, physics3.Placement{}))
		}
		for i := range 20 {
			d := dynamicAt(between(rng, -1, 13), between(rng, -1, 13), between(rng, -1, 13))
			d.Type = physics3.KinematicBody
			d.LinearVelocity, d.AngularVelocity = vec{between(rng, -2, 2), 0, float32(i % 2)}, vec{0, between(rng, -20, 20), 0}
			shape := plain
			shape.Sensor = i%3 == 0
			box(t, w, bodyOf(t, w, d), shape, 1, 0.02, 0.2)
		}
		return w
	}
	base := gallery(physics3.Config{Level: native.Go})
	var others []*physics3.World
	var names []string
	for _, level := range native.Levels() {
		for _, workers := range []int{1, 2, 7} {
			if testing.Short() && workers != 2 {
				continue
			}
			others = append(others, gallery(physics3.Config{Level: level, Workers: workers}))
			names = append(names, fmt.Sprintf("%s, %d workers", level, workers))
		}
	}
	for step := range paritytest.Rounds(300) / 10 {
		no(t, base.Step(dt))
		for i, o := range others {
			no(t, o.Step(dt))
			sameState(t, fmt.Sprintf("step %d: %s", step, names[i]), base, o)
		}
		switch step {
		case 0, 1, 3, 10:
			restored := emptyWorld(t, physics3.Config{Capacity: 400})
			no(t, restored.Restore(snapshot(t, base)))
			others = append(others, restored, must[*physics3.World](t)(base.Clone()))
			names = append(names, "restored", "copied")
		}
	}
}

// What stops a body that moves by 5 m in a step: a plate of 2 cm in the middle of its path.
func TestWhatStopsWhat(t *testing.T) {
	type setting struct {
		kind           physics3.BodyType
		bullet, target bool // are bullets
		change         func(w *physics3.World, ball, plate physics3.Body)
		passes         bool
	}
	const static, kinematic, dynamic = physics3.StaticBody, physics3.KinematicBody, physics3.DynamicBody
	for name, c := range map[string]setting{
		"static":                   {static, false, false, nil, false},
		"kinematic":                {kinematic, false, false, nil, false},
		"dynamic":                  {dynamic, false, false, nil, true},
		"bullet on static":         {static, true, false, nil, false},
		"bullet on kinematic":      {kinematic, true, false, nil, false},
		"bullet on dynamic":        {dynamic, true, false, nil, false},
		"bullet on bullet":         {dynamic, true, true, nil, true},
		"dynamic on bullet":        {dynamic, false, true, nil, true},
		"asleep":                   {dynamic, false, false, func(w *physics3.World, _, plate physics3.Body) { no(t, w.SetAwake(plate, false)) }, false},
		"moving kinematic":         {kinematic, false, false, func(w *physics3.World, _, p physics3.Body) { no(t, w.SetVelocity(p, vec{-20, 0, 0}, vec{})) }, false},
		"bullet on moving dynamic": {dynamic, true, false, func(w *physics3.World, _, p physics3.Body) { no(t, w.SetVelocity(p, vec{-20, 2, 0}, vec{})) }, false},
		"ignored":                  {static, false, false, func(w *physics3.World, b, p physics3.Body) { no(t, w.IgnorePair(b, p)) }, true},
		"disabled plate":           {static, false, false, func(w *physics3.World, _, p physics3.Body) { no(t, w.Disable(p)) }, true},
		"switched off":             {static, false, false, func(w *physics3.World, _, _ physics3.Body) { no(t, w.EnableContinuous(false)) }, true},
		"fixed rotation": {static, false, false, func(w *physics3.World, b, _ physics3.Body) {
			no(t, w.SetMotionLocks(b, physics3.MotionLocks{Rotation: true}))
		}, false},
		"plate that has just changed": {static, false, false, func(w *physics3.World, _, p physics3.Body) { no(t, w.SetTransform(p, vec{2.6, 0.1, 0}, unit)) }, false},
		"filter": {static, false, false, func(w *physics3.World, b, _ physics3.Body) {
			d := plain
			d.Filter.Mask = 2
			no(t, w.SetShapeDef(shapesOf(t, w, b)[0], d))
		}, true},
	} {
		for _, sleeping := range []bool{false, true} {
			w := emptyWorld(t, physics3.Config{Capacity: 8, DisableSleep: !sleeping})
			if sleeping { // something else sleeps
				d := dynamicAt(0, 50, 0)
				d.Asleep = true
				box(t, w, bodyOf(t, w, d), plain, 1, 1, 1)
			} else if name == "asleep" {
				continue
			}
			d := dynamicAt(2.6, 0, 0)
			d.Type, d.Bullet = c.kind, c.target
			plate := bodyOf(t, w, d)
			heavy := plain
			heavy.Density = 1000
			box(t, w, plate, heavy, 0.01, 2, 2)
			d = dynamicAt(0, 0, 0)
			d.LinearVelocity, d.Bullet = vec{300, 0, 0}, c.bullet
			ball := bodyOf(t, w, d)
			sphere(t, w, ball, plain, 0.1)
			if c.change != nil {
				c.change(w, ball, plate)
			}
			no(t, w.Step(dt))
			from, to := position(t, w, ball)[0], position(t, w, plate)[0]
			if passes := from > to; passes != c.passes {
				t.Errorf("%s: the ball is at %v, the plate at %v", name, from, to)
			}
			if v, _, _ := w.Velocity(ball); !c.passes && math.Abs(float64(v[0])-300) > 1e-3 {
				t.Errorf("%s: the ball that was stopped has %v m/s", name, v)
			}
			steps(t, w, 20)
			from, to = position(t, w, ball)[0], position(t, w, plate)[0]
			if passes := from > to; passes != c.passes {
				t.Errorf("%s: after 20 steps the ball is at %v, the plate at %v", name, from, to)
			}
		}
	}
}

// A one-sided mesh stops what comes from its front alone; a two-sided one stops from either side. A height field stops what falls.
func TestFrontsStop(t *testing.T) {
	for _, kind := range []physics3.BodyType{physics3.StaticBody, physics3.KinematicBody} {
		for _, twoSided := range []bool{false, true} {
			for _, back := range []bool{false, true} {
				d := physics3.MeshDef{Vertices: []vec{{0, -9, -9}, {0, 9, -9}, {0, 0, 9}}, Triangles: [][3]uint32{{0, 2, 1}}, TwoSided: twoSided}
				w := weightlessWorld(t, physics3.Config{})
				must[physics3.Shape](t)(w.CreateMesh(bodyAt(t, w, kind, 0, 0, 0), plain, newMesh(d), physics3.Placement{}))
				speed := float32(300)
				if back {
					speed = -speed
				}
				def := dynamicAt(-speed/120, 0, 0)
				def.LinearVelocity = vec{speed, 0, 0}
				b := addBoxOf(t, w, def, vec{0.1, 0.1, 0.1}, plain)
				steps(t, w, 8)
				if stopped := (position(t, w, b)[0] < 0) != back; stopped != (twoSided || !back) {
					t.Errorf("%v, two-sided %v, from the back %v: the box is at %v", kind, twoSided, back, position(t, w, b))
				}
			}
		}
	}
}

// Sensors stop nothing.
func TestSensorsStopNothing(t *testing.T) {
	w := weightlessWorld(t, physics3.Config{})
	d := physics3.DefaultBodyDef()
	d.Position = vec{2.6, 0, 0}
	addBoxOf(t, w, d, vec{0.01, 2, 2}, sensor())
	d = dynamicAt(0, 0, 0)
	d.LinearVelocity = vec{300, 0, 0}
	b := addSphereOf(t, w, d, 0.1, plain)
	steps(t, w, 1)
	near(t, "the ball", float64(position(t, w, b)[0]), 5, 1e-5)
}

// What slides or rolls fast on a floor, also over the seams of several boxes, moves as far as its speed implies, and so does what rests.
func TestSlidingIsNotHeldUp(t *testing.T) {
	for _, seams := range []bool{false, true} {
		for kind := range 3 {
			for _, speed := range []float32{5, 60, 200} {
				w := emptyWorld(t, physics3.Config{Capacity: 300, Gravity: vec{0, -10, 0}, DisableSleep: true})
				smooth := plain
				smooth.Friction = 0
				floor := bodyOf(t, w, physics3.DefaultBodyDef())
				if !seams {
					must[physics3.Shape](t)(w.CreateBox(floor, smooth, physics3.Box{Half: vec{500, 0.5, 5}, Center: vec{480, -0.5, 0}}))
				} else {
					for i := range 125 {
						must[physics3.Shape](t)(w.CreateBox(floor, smooth, physics3.Box{Half: vec{2, 0.5, 5}, Center: vec{4 * float32(i), -0.5, 0}}))
					}
				}
				b := bodyOf(t, w, dynamicAt(0, 0.25, 0))
				switch kind {
				case 0:
					box(t, w, b, smooth, 0.25, 0.25, 0.25)
				case 1:
					sphere(t, w, b, smooth, 0.25)
				case 2:
					must[physics3.Shape](t)(w.CreateCapsule(b, smooth, physics3.Capsule{P1: vec{0, 0, -0.5}, P2: vec{0, 0, 0.5}, Radius: 0.25}))
				}
				steps(t, w, 60)
				from := position(t, w, b)
				no(t, w.SetVelocity(b, vec{speed, 0, 0}, vec{}))
				steps(t, w, 60)
				p := position(t, w, b)
				if seams && (kind == 0 || speed == 5) {
					continue // contacts with seams of boxes slow it down, without continuous collision, too
				}
				near(t, fmt.Sprintf("kind %d, seams %v, %g m/s: way", kind, seams, speed), float64(p[0]-from[0]), float64(speed), 0.01*float64(speed))
				near(t, fmt.Sprintf("kind %d, seams %v, %g m/s: height", kind, seams, speed), float64(p[1]), 0.25, 0.02)
			}
		}
	}
}

// A result does not depend on the order in which the bodies were made, as long as they do not touch each other.
func TestStopsDoNotDependOnOrder(t *testing.T) {
	const n = 40
	run := func(order []int) (at [n]vec) {
		w := emptyWorld(t, physics3.Config{Capacity: 2*n + 8, Workers: 2})
		bodies := make([]physics3.Body, n)
		plates := make([]physics3.Body, n)
		for _, i := range order {
			rng := rand.New(rand.NewPCG(8, uint64(i)))
			y := float32(8 * i)
			d := dynamicAt(between(rng, 2, 3), y, 0)
			d.Type = []physics3.BodyType{physics3.StaticBody, physics3.KinematicBody, physics3.DynamicBody}[i%3]
			if i%3 > 0 {
				d.LinearVelocity = vec{between(rng, -10, 10), 0, 0}
			}
			plates[i] = bodyOf(t, w, d)
			box(t, w, plates[i], plain, 0.01, 2, 2)
			d = dynamicAt(0, y, 0)
			d.LinearVelocity, d.AngularVelocity, d.Bullet = vec{300, 10, 5}, vec{20, 0, 30}, true
			bodies[i] = addProjectile(t, w, rng, i, d)
		}
		steps(t, w, 1)
		for i, b := range bodies {
			at[i] = position(t, w, b)
		}
		return at
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	want := run(order)
	slices.Reverse(order)
	if got := run(order); got != want {
		t.Errorf("bodies in the reverse order stop elsewhere")
	}
}

func TestContinuousAllocatesNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("instrumented builds allocate on their own account")
	}
	rng := rand.New(rand.NewPCG(1, 1))
	w := emptyWorld(t, physics3.Config{Capacity: 100})
	bodies, _ := addPrison(t, w, rng, 8, 3)
	addCell(t, w, 0, 0, 30, physics3.KinematicBody)
	for _, kind := range []physics3.BodyType{physics3.StaticBody, physics3.KinematicBody} {
		must[physics3.Shape](t)(w.CreateMesh(bodyAt(t, w, kind, 1, 0, 0), plain, wallMesh(9, 20, 20), physics3.Placement{}))
	}
	box(t, w, bodyAt(t, w, physics3.StaticBody, 1, 1, 0), sensor(), 0.05, 1, 1)
	must[physics3.Shape](t)(w.CreateMesh(bodyAt(t, w, physics3.KinematicBody, 0, 1, 0), sensor(), wallMesh(4, 20, 20), physics3.Placement{}))
	c := w.Columns()
	step := func() {
		for i, b := range bodies {
			k := b.Index()
			c.VX[k], c.VY[k], c.VZ[k], c.WX[k], c.WY[k] = float32(i-12), 300, 5, 9, float32(i)
		}
		no(t, w.Step(dt))
	}
	for range 30 {
		step()
	}
	if n := testing.AllocsPerRun(20, step); n != 0 {
		t.Errorf("%g allocations", n)
	}
}
