package physics_test

import (
	"slices"
	"testing"

	"github.com/evertick/evertick/physics"
)

func circle(t testing.TB, w *physics.World, b physics.Body, def physics.ShapeDef, r float32) physics.Shape {
	t.Helper()
	return must[physics.Shape](t)(w.CreateCircle(b, def, physics.Circle{Radius: r}))
}

func isTouch(list []physics.Touch, a, b physics.Shape) bool {
	return slices.Equal(list, []physics.Touch{{A: a, B: b}})
}

func TestContactsBeginAndEnd(t *testing.T) {
	w := newWorld(t, physics.Config{})
	a, b := body(t, w, physics.DynamicBody, 0, 0), body(t, w, physics.DynamicBody, 3, 0)
	sa, sb := circle(t, w, a, physics.DefaultShapeDef(), 0.5), circle(t, w, b, physics.DefaultShapeDef(), 0.5)
	if err := w.SetVelocity(a, [2]float32{10, 0}, 0); err != nil {
		t.Fatal(err)
	}
	var begun, hit int
	for range 30 {
		steps(t, w, 1)
		e := w.Events()
		if len(e.Begin) > 0 {
			begun++
			if !isTouch(e.Begin, sa, sb) {
				t.Errorf("begun: %v", e.Begin)
			}
		}
		for _, h := range e.Hit {
			hit++
			p := h.Point
			if h.A != sa || h.B != sb || h.Speed < 9 || h.Speed > 10 || h.Normal[0] < 0.99 || p[0] < 2.3 || p[0] > 2.7 || p[1] != 0 {
				t.Errorf("hit: %+v", h)
			}
		}
		if len(e.End) > 0 {
			t.Errorf("ended: %v", e.End)
		}
	}
	if begun != 1 || hit != 1 {
		t.Errorf("%d begun, %d hit", begun, hit)
	}
	if err := w.SetTransform(a, [2]float32{-50, 0}, 0); err != nil {
		t.Fatal(err)
	}
	steps(t, w, 1)
	if !isTouch(w.Events().End, sa, sb) {
		t.Errorf("ended: %v", w.Events().End)
	}
	steps(t, w, 1)
	if e := w.Events(); len(e.Begin)+len(e.End)+len(e.Hit) > 0 || !slices.Equal(e.Moved, []uint32{0, 1}) {
		t.Errorf("events of a quiet step: %+v", e)
	}
}

// One of two overlapping circles is destroyed in some way. The contact ends with
// the handles of the old shapes, even if new shapes reuse their numbers; those begin
// without the old impulses.
func TestContactsOfTheDestroyedEnd(t *testing.T) {
	for name, destroy := range map[string]func(*physics.World, physics.Body, physics.Shape) error{
		"DestroyShape": func(w *physics.World, _ physics.Body, s physics.Shape) error { return w.DestroyShape(s) },
		"DestroyBody":  func(w *physics.World, b physics.Body, _ physics.Shape) error { return w.DestroyBody(b) },
	} {
		for _, sensor := range []bool{false, true} {
			for _, again := range []bool{false, true} {
				w := newWorld(t, physics.Config{Gravity: [2]float32{0, -10}})
				ground := body(t, w, physics.StaticBody, 0, -1)
				under := box(t, w, ground, 5, 1)
				def := physics.DefaultShapeDef()
				def.Sensor = sensor
				b := body(t, w, physics.DynamicBody, 0, 0.49)
				s := circle(t, w, b, def, 0.5)
				steps(t, w, 5)
				if err := destroy(w, b, s); err != nil {
					t.Fatal(err)
				}
				if again {
					if !w.Valid(b) {
						b = body(t, w, physics.DynamicBody, 0, 0.49)
					}
					def.Sensor = !sensor // the new shape is of the other kind
					if n := circle(t, w, b, def, 0.5); n == s || w.ValidShape(s) {
						t.Fatal("a handle was given out twice")
					}
				}
				fresh := w
				if again {
					fresh = newWorld(t, physics.Config{Gravity: [2]float32{0, -10}})
					box(t, fresh, body(t, fresh, physics.StaticBody, 0, -1), 5, 1)
					nb := body(t, fresh, physics.DynamicBody, 0, 0)
					circle(t, fresh, nb, def, 0.5)
					c, f := w.Columns(), fresh.Columns()
					i := b.Index()
					f.X[1], f.Y[1], f.VX[1], f.VY[1], f.W[1] = c.X[i], c.Y[i], c.VX[i], c.VY[i], c.W[i]
					f.Cos[1], f.Sin[1], f.Angle[1] = c.Cos[i], c.Sin[i], c.Angle[i]
					steps(t, fresh, 1)
				}
				steps(t, w, 1)
				e := w.Events()
				ok := isTouch(e.End, under, s) && len(e.SensorEnd) == 0
				if sensor {
					ok = slices.Equal(e.SensorEnd, []physics.Sensed{{Sensor: s, Visitor: under}}) && len(e.End) == 0
				}
				if !ok {
					t.Errorf("%s, sensor %t, again %t: ended: %v, %v", name, sensor, again, e.End, e.SensorEnd)
				}
				if begun := len(e.Begin) + len(e.SensorBegin); begun != map[bool]int{false: 0, true: 1}[again] {
					t.Errorf("%s, sensor %t, again %t: %d begun", name, sensor, again, begun)
				}
				if again {
					c, f, i := w.Columns(), fresh.Columns(), b.Index()
					if c.VY[i] != f.VY[1] || c.Y[i] != f.Y[1] {
						t.Errorf("%s, sensor %t: the new shape moves at %g, one that never had another's number at %g",
							name, sensor, c.VY[i], f.VY[1])
					}
				}
			}
		}
	}
}

func TestSensorsSeeWhoPasses(t *testing.T) {
	w := newWorld(t, physics.Config{})
	def := physics.DefaultShapeDef()
	def.Sensor = true
	gate := must[physics.Shape](t)(w.CreatePolygon(body(t, w, physics.StaticBody, 0, 0), def, physics.Box(0.5, 2)))
	otherSensor := circle(t, w, body(t, w, physics.DynamicBody, 0, 0), def, 1)
	var visitors []physics.Shape
	for i, kind := range []physics.BodyType{physics.KinematicBody, physics.DynamicBody} {
		b := body(t, w, kind, -3, float32(i))
		if err := w.SetVelocity(b, [2]float32{6, 0}, 0); err != nil {
			t.Fatal(err)
		}
		visitors = append(visitors, circle(t, w, b, physics.DefaultShapeDef(), 0.25))
	}
	begun, ended := map[physics.Sensed]int{}, map[physics.Sensed]int{}
	for tick := range 120 {
		steps(t, w, 1)
		for _, s := range w.Events().SensorBegin {
			begun[s] = tick
		}
		for _, s := range w.Events().SensorEnd {
			ended[s] = tick
		}
		if e := w.Events(); len(e.Begin)+len(e.End)+len(e.Hit) > 0 {
			t.Fatalf("a sensor was touched: %+v", e)
		}
	}
	if len(begun) != 4 || len(ended) != 4 {
		t.Fatalf("begun %v, ended %v", begun, ended)
	}
	for _, v := range visitors {
		in, out := begun[physics.Sensed{Sensor: gate, Visitor: v}], ended[physics.Sensed{Sensor: gate, Visitor: v}]
		// The disc reaches the gate after 2.25 m and has left it after 3.75 m, at 0.1 m a step.
		if in < 22 || in > 23 || out < 37 || out > 38 {
			t.Errorf("%v entered in step %d and left in step %d", v, in, out)
		}
		if _, seen := begun[physics.Sensed{Sensor: otherSensor, Visitor: v}]; !seen {
			t.Errorf("the moving sensor did not see %v", v)
		}
	}
	for i := range w.Rows() {
		b, _ := w.BodyAt(i)
		if p := must[[2]float32](t)(w.Position(b)); p[1] != float32(max(0, i-2)) {
			t.Errorf("body %d was pushed to %v", i, p)
		}
	}
}

// A new filter ends a contact, and another density changes the mass.
func TestShapesChange(t *testing.T) {
	w := newWorld(t, physics.Config{Gravity: [2]float32{0, -10}})
	under := box(t, w, body(t, w, physics.StaticBody, 0, -1), 5, 1)
	b := body(t, w, physics.DynamicBody, 0, 0.5)
	s := box(t, w, b, 0.5, 0.5)
	steps(t, w, 2)
	def := must[physics.ShapeDef](t)(w.ShapeDef(s))
	if def != physics.DefaultShapeDef() {
		t.Errorf("ShapeDef = %+v", def)
	}
	hash := w.Hash()
	def.Density, def.Friction, def.RollingResistance, def.TangentSpeed, def.Restitution = 3, 0.1, 0.2, 0.3, 0.4
	if err := w.SetShapeDef(s, def); err != nil {
		t.Fatal(err)
	}
	if m := must[physics.MassData](t)(w.MassData(b)); m.Mass != 3 || w.Columns().InvMass[1] != 1/float32(3) || w.Hash() == hash {
		t.Errorf("mass %v", m)
	}
	if got := must[physics.ShapeDef](t)(w.ShapeDef(s)); got != def {
		t.Errorf("ShapeDef = %+v, want %+v", got, def)
	}
	made := newWorld(t, physics.Config{Gravity: [2]float32{0, -10}})
	box(t, made, body(t, made, physics.StaticBody, 0, -1), 5, 1)
	must[physics.Shape](t)(made.CreatePolygon(body(t, made, physics.DynamicBody, 0, 0.5), def, physics.Box(0.5, 0.5)))
	for i, c := range made.AppendColumnHashes(nil) {
		if c.Name == "ShapeDigest" && w.AppendColumnHashes(nil)[i] != c {
			t.Error("a changed shape and one made so differ in their digest")
		}
	}
	def.Filter.Mask = 0
	if err := w.SetShapeDef(s, def); err != nil {
		t.Fatal(err)
	}
	steps(t, w, 1)
	if !isTouch(w.Events().End, under, s) {
		t.Errorf("ended: %v", w.Events().End)
	}
	steps(t, w, 60)
	if p := must[[2]float32](t)(w.Position(b)); p[1] > -1 {
		t.Errorf("the box rests at %v on what it does not collide with", p)
	}
}

// ClearEvents changes no state: the next step reports what it would have reported, also a body that was woken
// before the call.
func TestClearEvents(t *testing.T) {
	var events [2]physics.Events
	var hashes [2]uint64
	for i := range 2 {
		w := newWorld(t, physics.Config{})
		a, b := body(t, w, physics.DynamicBody, 0, 0), body(t, w, physics.DynamicBody, 0.9, 0)
		circle(t, w, a, physics.DefaultShapeDef(), 0.5)
		circle(t, w, b, physics.DefaultShapeDef(), 0.5)
		steps(t, w, 1)
		if len(w.Events().Begin) != 1 {
			t.Fatal("the two do not touch")
		}
		if err := w.SetAwake(a, false); err != nil {
			t.Fatal(err)
		}
		steps(t, w, 1)
		if err := w.SetAwake(b, true); err != nil {
			t.Fatal(err)
		}
		if i == 1 {
			w.ClearEvents()
			if e := w.Events(); len(e.Begin)+len(e.Moved)+len(e.Slept)+len(e.Woke) > 0 {
				t.Errorf("events after ClearEvents: %+v", e)
			}
		}
		steps(t, w, 1)
		events[i], hashes[i] = *w.Events(), w.Hash()
	}
	if len(events[0].Woke) == 0 || !slices.Equal(events[0].Woke, events[1].Woke) || !slices.Equal(events[0].Moved, events[1].Moved) || hashes[0] != hashes[1] {
		t.Errorf("the next step reports %+v, want %+v", events[1], events[0])
	}
}
