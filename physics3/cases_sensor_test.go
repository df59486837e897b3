package physics3_test

import (
	"testing"

	"github.com/evertick/evertick/physics3"
)

// Case 87, for a sensor: whatever ends an overlap, its end is reported once, in the next step.
func TestCase87EveryEndOfASensorComes(t *testing.T) {
	for name, end := range map[string]func(w *physics3.World, zone, b physics3.Body, s physics3.Shape) error{
		"destroy the body":   func(w *physics3.World, _, b physics3.Body, _ physics3.Shape) error { return w.DestroyBody(b) },
		"destroy the sensor": func(w *physics3.World, zone, _ physics3.Body, _ physics3.Shape) error { return w.DestroyBody(zone) },
		"destroy the shape":  func(w *physics3.World, _, _ physics3.Body, s physics3.Shape) error { return w.DestroyShape(s) },
		"filter": func(w *physics3.World, _, _ physics3.Body, s physics3.Shape) error {
			d := plain
			d.Filter.Mask = 0
			return w.SetShapeDef(s, d)
		},
		"ignore": func(w *physics3.World, zone, b physics3.Body, _ physics3.Shape) error { return w.IgnorePair(zone, b) },
		"type": func(w *physics3.World, _, b physics3.Body, _ physics3.Shape) error {
			return w.SetType(b, physics3.StaticBody)
		},
		"disable":            func(w *physics3.World, _, b physics3.Body, _ physics3.Shape) error { return w.Disable(b) },
		"disable the sensor": func(w *physics3.World, zone, _ physics3.Body, _ physics3.Shape) error { return w.Disable(zone) },
		"teleport": func(w *physics3.World, _, b physics3.Body, _ physics3.Shape) error {
			return w.SetTransform(b, vec{0, 20, 0}, unit)
		},
		"teleport the sensor": func(w *physics3.World, zone, _ physics3.Body, _ physics3.Shape) error {
			return w.SetTransform(zone, vec{0, 20, 0}, unit)
		},
	} {
		for _, mesh := range []bool{false, true} {
			for _, asleep := range []bool{false, true} {
				w := weightlessWorld(t, physics3.Config{DisableSleep: !asleep})
				zone := bodyAt(t, w, physics3.StaticBody, 0, 0, 0)
				if mesh {
					must[physics3.Shape](t)(w.CreateMesh(zone, sensor(), wallMesh(2, 2, 2), physics3.Placement{}))
				} else {
					box(t, w, zone, sensor(), 2, 2, 2)
				}
				b := bodyAt(t, w, physics3.DynamicBody, -0.2, 0.1, 0.1)
				s := box(t, w, b, plain, 0.5, 0.5, 0.5)
				steps(t, w, 60)
				check(t, end(w, zone, b, s))
				ends, first := 0, 0
				for i := range 30 {
					steps(t, w, 1)
					ends += len(w.Events().SensorEnd)
					if i == 0 {
						first = ends
					}
				}
				if ends != 1 || first != 1 {
					t.Errorf("%s, mesh %v, asleep %v: %d ends, %d of them in the next step", name, mesh, asleep, ends, first)
				}
			}
		}
	}
}

// Case 89: a ball that rolls over many triangles touches one mesh; over a floor of many boxes it touches one after the other, at most two at once.
func TestCase89OneBeginOverManyChildren(t *testing.T) {
	level := func(_, _ float32) float32 { return 0 }
	run := func(w *physics3.World) (begins, ends, most int, sensed [2]int) {
		w.SetGravity(vec{0, -10, 0})
		d := dynamicAt(-9.5, 0.3, 0.3)
		d.LinearVelocity, d.AngularVelocity = vec{8, 0, 0}, vec{0, 0, -8 / 0.3}
		sphere(t, w, bodyOf(t, w, d), plain, 0.3)
		for range 140 {
			steps(t, w, 1)
			e := w.Events()
			begins, ends = begins+len(e.Begin), ends+len(e.End)
			most = max(most, begins-ends)
			sensed[0], sensed[1] = sensed[0]+len(e.SensorBegin), sensed[1]+len(e.SensorEnd)
		}
		return begins, ends, most, sensed
	}
	w := weightlessWorld(t, physics3.Config{DisableSleep: true})
	ground := bodyAt(t, w, physics3.StaticBody, 0, 0, 0)
	must[physics3.Shape](t)(w.CreateMesh(ground, plain, newMesh(gridMesh(14, 20, level)), physics3.Placement{}))
	must[physics3.Shape](t)(w.CreateMesh(ground, sensor(), newMesh(gridMesh(14, 20, level)), physics3.Placement{Position: vec{0, 0.1, 0}}))
	if begins, ends, _, sensed := run(w); begins != 1 || ends != 0 || sensed != [2]int{1, 0} {
		t.Errorf("mesh: %d begins, %d ends; of the sensor %v", begins, ends, sensed)
	}
	w = weightlessWorld(t, physics3.Config{DisableSleep: true})
	ground = bodyAt(t, w, physics3.StaticBody, 0, 0, 0)
	for i := range 20 {
		must[physics3.Shape](t)(w.CreateBox(ground, plain, physics3.Box{Half: vec{0.5, 0.5, 5}, Center: vec{float32(i) - 9.5, -0.5, 0}}))
	}
	if begins, ends, most, _ := run(w); begins < 5 || begins > 20 || begins < ends || most > 2 {
		t.Errorf("boxes: %d begins, %d ends, up to %d at once", begins, ends, most)
	}
}
