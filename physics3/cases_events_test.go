package physics3_test

import (
	"testing"

	"github.com/evertick/evertick/physics3"
)

func sensor() physics3.ShapeDef {
	s := physics3.DefaultShapeDef()
	s.Sensor = true
	return s
}

// Case 86: a body that falls asleep in a sensor and wakes there has entered it once.
func TestCase86AsleepInASensor(t *testing.T) {
	w := newWorld(t, physics3.Config{Capacity: 16})
	addBoxOf(t, w, physics3.DefaultBodyDef(), [3]float32{2, 2, 2}, sensor())
	b := addBox(t, w, dynamicAt(0, 4, 0), [3]float32{0.5, 0.5, 0.5})
	begins, ends := 0, 0
	run := func(n int) {
		for range n {
			steps(t, w, 1)
			begins, ends = begins+len(w.Events().SensorBegin), ends+len(w.Events().SensorEnd)
		}
	}
	run(300)
	if begins != 1 || ends != 0 || w.Awake(b) {
		t.Fatalf("%d begins, %d ends, awake %v", begins, ends, w.Awake(b))
	}
	for i := range 3 { // others collide near by
		addBox(t, w, dynamicAt(8, 2+3*float32(i), 0), [3]float32{0.5, 0.5, 0.5})
	}
	run(300)
	check(t, w.SetVelocity(b, [3]float32{10, 2, 0}, [3]float32{}))
	run(120)
	if begins != 1 || ends != 1 {
		t.Errorf("%d begins, %d ends", begins, ends)
	}
}

// Case 87: whatever ends a contact, its end is reported once.
func TestCase87EveryEndComes(t *testing.T) {
	for name, end := range map[string]func(w *physics3.World, floor, b physics3.Body, s physics3.Shape) error{
		"destroy the body":       func(w *physics3.World, _, b physics3.Body, _ physics3.Shape) error { return w.DestroyBody(b) },
		"destroy the other body": func(w *physics3.World, floor, _ physics3.Body, _ physics3.Shape) error { return w.DestroyBody(floor) },
		"destroy the shape":      func(w *physics3.World, _, _ physics3.Body, s physics3.Shape) error { return w.DestroyShape(s) },
		"filter": func(w *physics3.World, _, _ physics3.Body, s physics3.Shape) error {
			d := physics3.DefaultShapeDef()
			d.Filter.Mask = 0
			return w.SetShapeDef(s, d)
		},
		"ignore": func(w *physics3.World, floor, b physics3.Body, _ physics3.Shape) error { return w.IgnorePair(floor, b) },
		"type": func(w *physics3.World, _, b physics3.Body, _ physics3.Shape) error {
			return w.SetType(b, physics3.StaticBody)
		},
		"disable": func(w *physics3.World, _, b physics3.Body, _ physics3.Shape) error { return w.Disable(b) },
		"teleport": func(w *physics3.World, _, b physics3.Body, _ physics3.Shape) error {
			return w.SetTransform(b, [3]float32{0, 20, 0}, [4]float32{3: 1})
		},
	} {
		for _, asleep := range []bool{false, true} {
			w := must[*physics3.World](t)(physics3.New(physics3.Config{Gravity: [3]float32{0, -9.81, 0}, Capacity: 4, DisableSleep: !asleep}))
			floor := addBox(t, w, physics3.DefaultBodyDef(), [3]float32{5, 0.5, 5})
			b := must[physics3.Body](t)(w.CreateBody(dynamicAt(0, 1, 0)))
			s := must[physics3.Shape](t)(w.CreateBox(b, physics3.DefaultShapeDef(), physics3.Box{Half: [3]float32{0.5, 0.5, 0.5}}))
			steps(t, w, 120)
			check(t, end(w, floor, b, s))
			ends, first := 0, 0
			for i := range 30 {
				steps(t, w, 1)
				ends += len(w.Events().End)
				if i == 0 {
					first = ends
				}
			}
			if ends != 1 || first != 1 {
				t.Errorf("%s, asleep %v: %d ends, %d of them in the next step", name, asleep, ends, first)
			}
		}
	}
}

// Case 88: a sensor on a body of any type sees solid shapes of bodies of any type, but not static ones from a static body, and no sensors; in
// whatever order they were made, and whether they arrive by velocity or are put there.
func TestCase88WhoSeesWhom(t *testing.T) {
	types := []physics3.BodyType{physics3.StaticBody, physics3.KinematicBody, physics3.DynamicBody}
	for _, own := range types {
		for _, visitor := range types {
			for _, alsoSensor := range []bool{false, true} {
				for _, sensorFirst := range []bool{false, true} {
					for _, teleport := range []bool{false, true} {
						if visitor == physics3.StaticBody && !teleport {
							continue
						}
						w := weightlessWorld(t, physics3.Config{Capacity: 4})
						var bodies [2]physics3.Body
						for k := range 2 {
							if !sensorFirst {
								k = 1 - k
							}
							d, shape := physics3.DefaultBodyDef(), physics3.DefaultShapeDef()
							d.Type = own
							if k == 1 {
								d.Type, d.Position = visitor, [3]float32{3, 0, 0}
								if !teleport {
									d.LinearVelocity = [3]float32{-6, 0, 0}
								}
							}
							shape.Sensor = k == 0 || alsoSensor
							bodies[k] = addBoxOf(t, w, d, [3]float32{0.5, 0.5, 0.5}, shape)
						}
						begins := 0
						run := func(n int) {
							for range n {
								steps(t, w, 1)
								begins += len(w.Events().SensorBegin)
							}
						}
						run(2)
						if teleport {
							check(t, w.SetTransform(bodies[1], [3]float32{}, [4]float32{3: 1}))
							run(2)
						} else {
							run(30)
						}
						want := 1
						if alsoSensor || own == physics3.StaticBody && visitor == physics3.StaticBody {
							want = 0
						}
						if begins != want {
							t.Errorf("sensor on a %v body, visitor %v (sensor %v), sensor first %v, teleported %v: %d begins, want %d",
								own, visitor, alsoSensor, sensorFirst, teleport, begins, want)
						}
					}
				}
			}
		}
	}
}

// Case 90: a step of no, negative or tiny length is refused and changes nothing.
func TestCase90StepOfZero(t *testing.T) {
	w := newWorld(t, physics3.Config{Capacity: 32})
	tower(t, w, 20)
	steps(t, w, 10)
	twin := must[*physics3.World](t)(w.Clone())
	nan := float32(0)
	nan /= nan
	for _, dt := range []float32{0, -1, nan, 1e-40, 1e9} {
		if w.Step(dt) == nil {
			t.Errorf("a step of %g is not refused", dt)
		}
		if w.Hash() != twin.Hash() {
			t.Errorf("a refused step of %g changes the world", dt)
		}
	}
	steps(t, w, 20)
	steps(t, twin, 20)
	if w.Hash() != twin.Hash() {
		t.Error("a world that refused steps continues in another way")
	}
}
