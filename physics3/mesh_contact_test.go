package physics3_test

import (
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/physics3"
)

// meshWorld is a world with a mesh as its ground.
func meshWorld(t testing.TB, c physics3.Config, d physics3.ShapeDef, m *physics3.Mesh) (*physics3.World, physics3.Shape) {
	t.Helper()
	c.Gravity = vec{0, -9.81, 0}
	w := emptyWorld(t, c)
	return w, must[physics3.Shape](t)(w.CreateMesh(bodyAt(t, w, physics3.StaticBody, 0, 0, 0), d, m, physics3.Placement{}))
}

// bodiesOfAllKinds are a ball, a capsule that lies, a box and a hull, of half a metre or less, that touch the plane y = 0.
func bodiesOfAllKinds(t testing.TB, w *physics3.World, d physics3.ShapeDef, x, z float32) []physics3.Body {
	t.Helper()
	ball, capsule := bodyAt(t, w, physics3.DynamicBody, x, 0.4, z), bodyAt(t, w, physics3.DynamicBody, x, 0.3, z+2)
	sphere(t, w, ball, d, 0.4)
	must[physics3.Shape](t)(w.CreateCapsule(capsule, d, physics3.Capsule{P1: vec{0, 0, -0.5}, P2: vec{0, 0, 0.5}, Radius: 0.3}))
	block, hull := bodyAt(t, w, physics3.DynamicBody, x, 0.3, z+4), bodyAt(t, w, physics3.DynamicBody, x, 0.4, z+6)
	box(t, w, block, d, 0.5, 0.3, 0.4)
	must[physics3.Shape](t)(w.CreateHull(hull, d, cube, physics3.Placement{}))
	return []physics3.Body{ball, capsule, block, hull}
}

// Nothing bumps over flat ground: not a millimetre per second, and no contact ends.
func TestNoBumpsOnFlatTriangles(t *testing.T) {
	n, length := 71, float32(71)
	if testing.Short() {
		n = 35
	}
	slippery := plain
	slippery.Friction = 0
	m := newMesh(gridMesh(n, length, flat))
	for _, speed := range []float32{1, 5, 20, 50} {
		w, _ := meshWorld(t, physics3.Config{Capacity: 10, DisableSleep: true}, slippery, m)
		bodies := bodiesOfAllKinds(t, w, slippery, -length/2+2, -3.3)
		steps(t, w, 30)
		for i, b := range bodies {
			v := vec{speed, 0, 0.1 * float32(i) * min(speed, 5)}
			no(t, w.SetVelocity(b, v, vec{}))
		}
		ticks := min(int(60*(length-4)/speed), 300)
		worst := make([]float32, len(bodies))
		for range ticks {
			steps(t, w, 1)
			for i, b := range bodies {
				v := speedOf(t, w, b)
				worst[i] = max(worst[i], v[1], -v[1])
			}
			if e := w.Events(); len(e.End) > 0 || len(e.Begin) > 0 {
				t.Fatalf("%g m/s: events %+v", speed, e)
			}
		}
		for i, v := range worst {
			if v > 1e-3 {
				t.Errorf("%g m/s: body %d moves up or down at %g m/s", speed, i, v)
			}
		}
	}
}

// A tower stands on triangles, sleeps there, and wakes when it is hit.
func TestTowerOnTriangles(t *testing.T) {
	w, _ := meshWorld(t, physics3.Config{Capacity: 20}, plain, newMesh(gridMesh(8, 6, flat)))
	bodies := tower(t, w, 10)
	steps(t, w, 400)
	for i, b := range bodies {
		if p := position(t, w, b); max(p[0], -p[0], p[2], -p[2]) > 0.01 {
			t.Errorf("box %d is at %v", i, p)
		}
	}
	if n := w.AwakeCount(); n > 0 {
		t.Fatalf("%d are awake", n)
	}
	touching := must[[]physics3.ContactData](t)(w.AppendContactData(nil, bodies[0]))
	if len(touching) != 2 || touching[0].Count != 4 {
		t.Errorf("contacts of the lowest box: %+v", touching)
	}
	other := must[*physics3.World](t)(w.Clone())
	restored := emptyWorld(t, w.Config())
	no(t, restored.Restore(snapshot(t, w)))
	for _, each := range []*physics3.World{w, other, restored} {
		no(t, each.ApplyLinearImpulse(bodies[9], vec{300, 0, 0}, vec{0, 9.5, 0}))
		steps(t, each, 60)
	}
	sameState(t, "a clone", w, other)
	sameState(t, "a restored world", w, restored)
	if w.Events(); w.AwakeCount() == 0 {
		t.Error("nothing woke")
	}
}

// A pair has one begin and one end, however many directions it touches in, and one hit.
func TestEventsOfAPairWithAMesh(t *testing.T) {
	d := physics3.MeshDef{ // a corner of a room
		Vertices:  []vec{{0, 0, 0}, {4, 0, 0}, {4, 0, 4}, {0, 0, 4}, {0, 4, 0}, {4, 4, 0}, {0, 4, 4}},
		Triangles: [][3]uint32{{0, 2, 1}, {0, 3, 2}, {0, 1, 5}, {0, 5, 4}, {0, 4, 6}, {0, 6, 3}},
	}
	w, corner := meshWorld(t, physics3.Config{Capacity: 4, DisableSleep: true}, plain, newMesh(d))
	b := bodyAt(t, w, physics3.DynamicBody, 0.6, 0.6, 0.6)
	ball := sphere(t, w, b, plain, 0.5)
	no(t, w.SetVelocity(b, vec{-5, -5, -5}, vec{}))
	begin, hit, most := 0, 0, 0
	for range 30 {
		steps(t, w, 1)
		most = max(most, len(must[[]physics3.ContactData](t)(w.AppendContactData(nil, b))))
		e := w.Events()
		begin, hit = begin+len(e.Begin), hit+len(e.Hit)
		if len(e.End) > 0 {
			t.Fatalf("End %v", e.End)
		}
		for _, h := range e.Hit {
			if h.A != corner || h.B != ball || h.Speed < 4 {
				t.Errorf("Hit %+v", h)
			}
		}
	}
	if begin != 1 || hit != 1 {
		t.Errorf("%d begin, %d hit", begin, hit)
	}
	if most != 3 {
		t.Errorf("at most %d contacts", most)
	}
	if all := must[[]physics3.Touch](t)(w.AppendContacts(nil, b)); len(all) != 1 || all[0] != (physics3.Touch{A: corner, B: ball}) {
		t.Errorf("touches %v", all)
	}
	no(t, w.DestroyShape(corner))
	steps(t, w, 1)
	if e := w.Events(); len(e.End) != 1 {
		t.Errorf("End %v", e.End)
	}
}

// Each triangle has the friction and the bounce of its material.
func TestMaterialsOfTriangles(t *testing.T) {
	d := gridMesh(1, 40, flat)
	d.Vertices, d.Triangles = append(d.Vertices, vec{-20, 0, 60}, vec{20, 0, 60}), append(d.Triangles, [3]uint32{1, 4, 5}, [3]uint32{1, 5, 3})
	d.Materials = []physics3.SurfaceMaterial{{Friction: 0.4}, {Friction: 0.9, Restitution: 1}}
	d.MaterialOf = []uint32{0, 0, 1, 1}
	d.User = []uint32{5, 6, 7, 8}
	for _, last := range []bool{false, true} { // the mesh is the lower shape, or the higher one
		w := emptyWorld(t, physics3.Config{Capacity: 8, Gravity: vec{0, -10, 0}})
		ground := bodyAt(t, w, physics3.StaticBody, 0, 0, 0)
		lay := func() { must[physics3.Shape](t)(w.CreateMesh(ground, plain, newMesh(d), physics3.Placement{})) }
		if !last {
			lay()
		}
		def := plain
		def.Friction = 0.4
		box1 := addBoxOf(t, w, dynamicAt(-10, 0.5, 0), vec{0.5, 0.5, 0.5}, def)
		def.Friction = 0.9
		box2 := addBoxOf(t, w, dynamicAt(-10, 0.5, 40), vec{0.5, 0.5, 0.5}, def)
		bounces := addSphereOf(t, w, dynamicAt(0, 5.5, 40), 0.5, def)
		rests := addSphereOf(t, w, dynamicAt(0, 5.5, -9), 0.5, def)
		if last {
			lay()
		}
		for _, b := range []physics3.Body{box1, box2} {
			no(t, w.SetVelocity(b, vec{12, 0, 0}, vec{}))
		}
		high := float32(0)
		for tick := range 130 {
			steps(t, w, 1)
			if tick == 59 {
				near(t, "speed at a friction of 0.4", float64(speedOf(t, w, box1)[0]), 8, 0.1)
				near(t, "speed at a friction of 0.9", float64(speedOf(t, w, box2)[0]), 3, 0.1)
				c := contactOf(t, w, box2)
				if c.Triangle != 2 && c.Triangle != 3 || c.User != c.Triangle+5 {
					t.Errorf("triangle %d, user number %d", c.Triangle, c.User)
				}
			}
			if tick > 70 {
				high = max(high, position(t, w, bounces)[1])
			}
		}
		near(t, "bounces to", float64(high), 5.5, 0.2)
		near(t, "rests at", float64(position(t, w, rests)[1]), 0.5, 0.01)
	}
}

// A mesh sees what passes as a sensor, and other sensors see it; neither pushes.
func TestMeshesAndSensors(t *testing.T) {
	sensing := plain
	sensing.Sensor = true
	for _, meshSenses := range []bool{false, true} {
		w := emptyWorld(t, physics3.Config{Capacity: 8, Gravity: vec{0, -10, 0}})
		d, e := plain, sensing
		if meshSenses {
			d, e = sensing, plain
		}
		mesh := must[physics3.Shape](t)(w.CreateMesh(bodyAt(t, w, physics3.KinematicBody, 0, 0, 0), d, newMesh(gridMesh(6, 6, flat)), physics3.Placement{}))
		b := bodyAt(t, w, physics3.DynamicBody, 0.2, 2, 0.1)
		ball := sphere(t, w, b, e, 0.5)
		want := physics3.Sensed{Sensor: ball, Visitor: mesh}
		if meshSenses {
			want = physics3.Sensed{Sensor: mesh, Visitor: ball}
		}
		var begun, ended []physics3.Sensed
		for range 80 {
			steps(t, w, 1)
			begun, ended = append(begun, w.Events().SensorBegin...), append(ended, w.Events().SensorEnd...)
		}
		if len(begun) != 1 || len(ended) != 1 || begun[0] != want || ended[0] != want {
			t.Errorf("begun %v, ended %v, want %v", begun, ended, want)
		}
		if v := speedOf(t, w, b); v[1] > -13 {
			t.Errorf("velocity %v", v)
		}
	}
}

// A heap on uneven triangles is the same on all levels, with any number of workers, restored in its midst, and allocates nothing.
func TestHeapOnTriangles(t *testing.T) {
	def := bumpyDef()
	run := func(level native.Level, workers int, restored bool) (*physics3.World, []uint64) {
		w, _ := meshWorld(t, physics3.Config{Capacity: 100, Level: level, Workers: workers}, plain, newMesh(def))
		for i := range 6 {
			y := float32(2 * i)
			for k, b := range bodiesOfAllKinds(t, w, plain, 0, 0) {
				no(t, w.SetTransform(b, vec{float32(k%2) - 0.5 + 0.1*float32(i), y + 1.3, float32(k/2) - 0.5}, quat{0.1, 0, 0.2, 1}))
			}
		}
		return hashesOfSteps(t, w, 120, restored)
	}
	w, want := run(native.Go, 1, false)
	for _, level := range native.Levels() {
		for _, workers := range []int{1, 2, 5} {
			_, got := run(level, workers, workers == 2)
			for tick := range want {
				if got[tick] != want[tick] {
					t.Fatalf("%v, %d workers: another state after tick %d", level, workers, tick)
				}
			}
		}
	}
	sound(t, "heap", w)
	if paritytest.Instrumented {
		return
	}
	no(t, w.EnableSleeping(false))
	steps(t, w, 60)
	buf := snapshot(t, w)
	for name, call := range map[string]func(){
		"Step": func() { no(t, w.Step(dt)) }, "Hash": func() { w.Hash() }, "Snapshot": func() { buf, _ = w.Snapshot(buf[:0]) },
	} {
		if n := testing.AllocsPerRun(20, call); n != 0 {
			t.Errorf("%s has %g allocations", name, n)
		}
	}
}

func speedOf(t testing.TB, w *physics3.World, b physics3.Body) vec {
	t.Helper()
	v, _, err := w.Velocity(b)
	no(t, err)
	return v
}
