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

// A fast body that passes a thin sensor within one step enters it in this step and leaves it in the next one: a box, a mesh, or a body that moves itself;
// also if something asleep is near.
func TestFastBodiesPassSensors(t *testing.T) {
	const static, kinematic, dynamic = physics3.StaticBody, physics3.KinematicBody, physics3.DynamicBody
	for name, c := range map[string]struct {
		gate, visitor physics3.BodyType
		mesh, bullet  bool
		velocity      vec // of the gate
		asleep        bool
	}{
		"static":            {gate: static, visitor: dynamic},
		"bullet":            {gate: static, visitor: dynamic, bullet: true},
		"mesh":              {gate: static, visitor: dynamic, mesh: true},
		"kinematic":         {gate: kinematic, visitor: dynamic},
		"kinematic mesh":    {gate: kinematic, visitor: dynamic, mesh: true, velocity: vec{-5, 2, 0}},
		"approaching":       {gate: kinematic, visitor: dynamic, velocity: vec{-20, 5, 0}},
		"dynamic":           {gate: dynamic, visitor: dynamic, velocity: vec{3, 0, 0}},
		"asleep":            {gate: dynamic, visitor: dynamic, asleep: true},
		"kinematic visitor": {gate: static, visitor: kinematic},
		"both kinematic":    {gate: kinematic, visitor: kinematic, velocity: vec{0, 9, 0}},
	} {
		w := weightlessWorld(t, physics3.Config{})
		d := dynamicAt(2, 0, 0)
		d.Type, d.LinearVelocity, d.Asleep = c.gate, c.velocity, c.asleep
		post := bodyOf(t, w, d)
		var gate physics3.Shape
		if c.mesh {
			gate = must[physics3.Shape](t)(w.CreateMesh(post, sensor(), wallMesh(3, 2, 2), physics3.Placement{}))
		} else {
			gate = box(t, w, post, sensor(), 0.05, 1, 1)
		}
		d = dynamicAt(-0.9, 0, 0.1)
		d.Type, d.LinearVelocity, d.Bullet = c.visitor, vec{300, 0, 0}, c.bullet
		want := []physics3.Sensed{{Sensor: gate, Visitor: sphere(t, w, bodyOf(t, w, d), plain, 0.1)}}
		sees := func(when string, begin, end bool) {
			t.Helper()
			no(t, w.Step(dt))
			e := w.Events()
			if slices.Equal(e.SensorBegin, want) != begin || slices.Equal(e.SensorEnd, want) != end || len(e.SensorBegin)+len(e.SensorEnd) > 1 {
				t.Errorf("%s, %s: begin %v, end %v", name, when, e.SensorBegin, e.SensorEnd)
			}
			if len(e.Begin)+len(e.End) > 0 {
				t.Errorf("%s, %s: contacts", name, when)
			}
		}
		sees("passing", true, false)
		data := snapshot(t, w)
		sees("after", false, true)
		hash := w.Hash()
		sees("later", false, false)
		no(t, w.Restore(data)) // the overlap is a part of the state
		sees("restored", false, true)
		if w.Hash() != hash {
			t.Errorf("%s: a restored world continues otherwise", name)
		}
	}
}

// What is stopped, kept apart or slow passes no sensor.
func TestWhatPassesNoSensor(t *testing.T) {
	for name, change := range map[string]func(w *physics3.World, ball, post physics3.Body){
		"wall in front": func(w *physics3.World, _, _ physics3.Body) {
			box(t, w, bodyAt(t, w, physics3.StaticBody, 1, 0, 0), plain, 0.05, 2, 2)
		},
		"ignored":      func(w *physics3.World, b, p physics3.Body) { no(t, w.IgnorePair(b, p)) },
		"switched off": func(w *physics3.World, _, _ physics3.Body) { no(t, w.EnableContinuous(false)) },
		"beside":       func(w *physics3.World, _, p physics3.Body) { no(t, w.SetTransform(p, vec{2, 1.2, 0}, unit)) },
		"disabled":     func(w *physics3.World, _, p physics3.Body) { no(t, w.Disable(p)) },
		"filter": func(w *physics3.World, b, _ physics3.Body) {
			d := plain
			d.Filter.Category = 0
			no(t, w.SetShapeDef(shapesOf(t, w, b)[0], d))
		},
		"slow": func(w *physics3.World, b, _ physics3.Body) { no(t, w.SetVelocity(b, vec{3, 0, 0}, vec{})) },
	} {
		w := weightlessWorld(t, physics3.Config{})
		post := bodyAt(t, w, physics3.StaticBody, 2, 0, 0)
		box(t, w, post, sensor(), 0.05, 1, 1)
		d := dynamicAt(-0.9, 0, 0)
		d.LinearVelocity = vec{300, 0, 0}
		ball := bodyOf(t, w, d)
		sphere(t, w, ball, plain, 0.1)
		change(w, ball, post)
		for range 3 {
			no(t, w.Step(dt))
			if e := w.Events(); len(e.SensorBegin)+len(e.SensorEnd) > 0 {
				t.Errorf("%s: %v, %v", name, e.SensorBegin, e.SensorEnd)
			}
		}
	}
}

// Every shot through a thin sensor enters it and leaves it, once if it does not turn.
func TestShotsThroughASensor(t *testing.T) {
	shots := paritytest.Rounds(1000)
	for round, mesh := range []bool{false, true} {
		rng := rand.New(rand.NewPCG(paritytest.Seed(), uint64(round)))
		w := emptyWorld(t, physics3.Config{Capacity: shots + 1, Workers: 2})
		sheet := bodyAt(t, w, physics3.BodyType(round), 0, 0, 0)
		if mesh {
			must[physics3.Shape](t)(w.CreateMesh(sheet, sensor(), wallMesh(9, float32(4*shots), 50), physics3.Placement{}))
		} else {
			box(t, w, sheet, sensor(), 0.001, float32(4*shots), 50)
		}
		for i := range shots {
			d := dynamicAt(between(rng, -8, -2), float32(4*i-2*shots), between(rng, -20, 20))
			d.LinearVelocity = vec{between(rng, 30, 390), 0, between(rng, -60, 60)}
			if i%8 < 4 {
				d.AngularVelocity = vec{between(rng, -90, 90), between(rng, -90, 90), between(rng, -90, 90)}
			}
			b := addProjectile(t, w, rng, i%4, d)
			no(t, w.SetVelocity(b, d.LinearVelocity, d.AngularVelocity)) // of the centre of mass that it has now
		}
		begins, ends := make([]int, shots), make([]int, shots)
		index := func(s physics3.Sensed) int {
			return must[physics3.Body](t)(w.ShapeBody(s.Visitor)).Index() - 1
		}
		for range 40 {
			no(t, w.Step(dt))
			for _, s := range w.Events().SensorBegin {
				begins[index(s)]++
			}
			for _, s := range w.Events().SensorEnd {
				ends[index(s)]++
			}
		}
		for i := range shots {
			if begins[i] != ends[i] || begins[i] == 0 || i%8 >= 4 && begins[i] > 1 {
				t.Errorf("mesh %v: shot %d begins %d times and ends %d times (seed %d)", mesh, i, begins[i], ends[i], paritytest.Seed())
			}
		}
	}
}

// sensorPairs returns all sensors with the solid shapes that they may detect, and the distances. It leaves out meshes.
func sensorPairs(t testing.TB, w *physics3.World, meshes map[physics3.Shape]bool) (pairs []physics3.Sensed, distance []float32) {
	t.Helper()
	type found struct {
		s    physics3.Shape
		body int
		def  physics3.ShapeDef
	}
	var sensors, solid []found
	for i := range w.Rows() {
		b, ok := w.BodyAt(i)
		if !ok || w.Disabled(b) {
			continue
		}
		for _, s := range shapesOf(t, w, b) {
			if meshes[s] {
				continue
			}
			f := found{s, i, must[physics3.ShapeDef](t)(w.ShapeDef(s))}
			if f.def.Sensor {
				sensors = append(sensors, f)
			} else {
				solid = append(solid, f)
			}
		}
	}
	var a, b []physics3.Shape
	types := w.Columns().Type
	for _, x := range sensors {
		for _, y := range solid {
			if x.body != y.body && x.def.Filter.Mask&y.def.Filter.Mask&1 != 0 && max(types[x.body], types[y.body]) != physics3.StaticBody {
				pairs, a, b = append(pairs, physics3.Sensed{Sensor: x.s, Visitor: y.s}), append(a, x.s), append(b, y.s)
			}
		}
	}
	var d physics3.Distances
	no(t, w.Distances(a, b, &d))
	return pairs, d.Distance
}

// Round hulls overlap at their edges by 7 mm, where the points of their contact are 2.5 mm apart.
func TestSensorOfRoundHulls(t *testing.T) {
	for _, first := range []bool{true, false} {
		w := emptyWorld(t, physics3.Config{Capacity: 2})
		a, b := dynamicAt(0.064421654, 0.83812666, 0.65690327), dynamicAt(-0.4673227, 1.7029647, 1.0570284)
		a.Type, b.Rotation = physics3.KinematicBody, quat{0.0046682707, 1.5574948e-05, 0.026018707, 0.9996506}
		s, visitor := plain, plain
		if s.Sensor = first; !first {
			visitor.Sensor = true
		}
		must[physics3.Shape](t)(w.CreateHull(bodyOf(t, w, a), s, prism, physics3.Placement{}))
		must[physics3.Shape](t)(w.CreateHull(bodyOf(t, w, b), visitor, prism, physics3.Placement{}))
		no(t, w.Step(1e-5))
		if n := len(w.Events().SensorBegin); n != 1 {
			t.Errorf("sensor first: %v: %d overlaps", first, n)
		}
	}
}

// Fast and slow bodies fly through sensors at random, while commands destroy, disable, teleport and change them, and the world is saved and restored.
// Each begin has its end: what a program counts is what overlaps, and so it is on all levels.
func TestEveryBeginHasItsEnd(t *testing.T) {
	seed := paritytest.Seed()
	var hashes [][]uint64
	levels := native.Levels()
	for run, level := range append([]native.Level{native.Go}, levels...) {
		rng := rand.New(rand.NewPCG(seed, 77))
		c := physics3.Config{Capacity: 100, Level: level, Workers: 1 + run%3}
		w := emptyWorld(t, c)
		inside, meshes := map[physics3.Sensed]bool{}, map[physics3.Shape]bool{}
		var list []uint64
		add := func() {
			d := dynamicAt(between(rng, -6, 6), between(rng, -6, 6), between(rng, -6, 6))
			d.Type = physics3.BodyType(rng.IntN(3))
			if d.Type != physics3.StaticBody {
				speed := []float32{0, 3, 200}[rng.IntN(3)]
				d.LinearVelocity = vec{between(rng, -speed, speed), between(rng, -speed, speed), between(rng, -speed, speed)}
			}
			b := bodyOf(t, w, d)
			shape := plain
			shape.Sensor = rng.IntN(2) == 0
			switch rng.IntN(4) {
			case 0:
				sphere(t, w, b, shape, between(rng, 0.1, 1))
			case 1:
				must[physics3.Shape](t)(w.CreateHull(b, shape, prism, physics3.Placement{}))
			case 2:
				if d.Type != physics3.DynamicBody {
					meshes[must[physics3.Shape](t)(w.CreateMesh(b, shape, wallMesh(2, 2, 2), physics3.Placement{}))] = true
					return
				}
				fallthrough
			default:
				box(t, w, b, shape, between(rng, 0.05, 2), between(rng, 0.05, 2), between(rng, 0.05, 2))
			}
		}
		for range 60 {
			add()
		}
		for step := range paritytest.Rounds(400) {
			for range 6 {
				i := rng.IntN(w.Rows())
				b, ok := w.BodyAt(i)
				if !ok {
					add()
					continue
				}
				kind, at := rng.IntN(12), vec{between(rng, -6, 6), between(rng, -6, 6), between(rng, -6, 6)}
				switch shapes := shapesOf(t, w, b); {
				case kind == 0:
					no(t, w.DestroyBody(b))
				case kind == 1:
					no(t, w.Disable(b))
				case kind == 2:
					no(t, w.Enable(b))
				case kind == 3 || kind > 8:
					no(t, w.SetTransform(b, at, unit))
				case kind == 4 && w.Columns().Type[i] != physics3.StaticBody && !w.Disabled(b):
					no(t, w.SetVelocity(b, vec{50 * at[0], 50 * at[1], 50 * at[2]}, vec{}))
				case kind == 5:
					_ = w.SetType(b, physics3.BodyType(rng.IntN(3))) // refused for a mesh
				case kind == 6:
					_ = w.SetAwake(b, rng.IntN(2) == 0)
				case kind == 7 && len(shapes) > 0:
					d := must[physics3.ShapeDef](t)(w.ShapeDef(shapes[0]))
					d.Filter.Mask = uint64(rng.IntN(2))
					no(t, w.SetShapeDef(shapes[0], d))
				case kind == 8 && len(shapes) > 0:
					no(t, w.DestroyShape(shapes[0]))
				}
			}
			if rng.IntN(20) == 0 {
				data := snapshot(t, w)
				c.Workers = 1 + rng.IntN(3)
				w = emptyWorld(t, c)
				no(t, w.Restore(data))
			}
			pairs, distance := sensorPairs(t, w, meshes)
			no(t, w.Step(dt))
			e := w.Events()
			for _, s := range e.SensorEnd {
				if !inside[s] {
					t.Fatalf("step %d, %v: end without a begin: %v (seed %d)", step, level, s, seed)
				}
				delete(inside, s)
			}
			for _, s := range e.SensorBegin {
				if inside[s] {
					t.Fatalf("step %d, %v: begins twice: %v (seed %d)", step, level, s, seed)
				}
				if w.ValidShape(s.Visitor) && must[physics3.ShapeDef](t)(w.ShapeDef(s.Visitor)).Sensor {
					t.Fatalf("step %d: a sensor visits: %v (seed %d)", step, s, seed)
				}
				inside[s] = true
			}
			for i, s := range pairs {
				passed := slices.Contains(e.SensorBegin, s) && distance[i] > 0
				if overlaps := distance[i] < 0; math.Abs(float64(distance[i])) > 1e-3 && overlaps != inside[s] && !passed {
					t.Fatalf("step %d, %v: %v is inside: %v, but the distance is %v (seed %d)", step, level, s, inside[s], distance[i], seed)
				}
			}
			list = append(list, w.Hash())
			if len(inside) > 0 {
				list = append(list, uint64(len(inside)))
			}
		}
		for i := range w.Rows() { // at last all of them end
			if b, ok := w.BodyAt(i); ok {
				no(t, w.DestroyBody(b))
			}
		}
		no(t, w.Step(dt))
		for _, s := range w.Events().SensorEnd {
			delete(inside, s)
		}
		if len(inside) > 0 {
			t.Fatalf("%v: %d have not ended (seed %d)", level, len(inside), seed)
		}
		hashes = append(hashes, list)
		if !slices.Equal(list, hashes[0]) {
			t.Fatalf("%s differs (seed %d)", fmt.Sprint(level), seed)
		}
	}
}
