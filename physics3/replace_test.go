package physics3_test

import (
	"testing"

	"github.com/evertick/evertick/physics3"
)

// A list of commands replaces a shape by another one: the body stays as it is and lies on the new shape, its neighbours wake, and each contact and each
// overlap of a sensor with the old shape ends once, before or with the begin of that with the new one. A world that was saved in between goes on with
// the same bits.
func TestShapesAreReplaced(t *testing.T) {
	for _, asleep := range []bool{false, true} {
		w := newWorld(t, physics3.Config{Capacity: 16, DisableSleep: !asleep})
		zone := box(t, w, bodyAt(t, w, physics3.StaticBody, 0, 1, 0), sensor(), 2, 2, 2)
		b := bodyAt(t, w, physics3.DynamicBody, 0, 0.5, 0)
		old := box(t, w, b, plain, 0.5, 0.5, 0.5)
		upper := addBox(t, w, dynamicAt(0, 1.5, 0), vec{0.5, 0.5, 0.5})
		steps(t, w, 120)
		if asleep != (w.AwakeCount() == 0) {
			t.Fatalf("%d awake", w.AwakeCount())
		}
		c := w.NewCommands()
		c.DestroyShape(old)
		provisional := c.CreateBox(b, plain, physics3.Box{Half: vec{0.6, 0.4, 0.6}, Center: vec{0, -0.1, 0}}) // its top is 0.2 m lower
		no(t, w.Apply(c))
		s := c.Shape(provisional)
		twin := restored(t, snapshot(t, w), physics3.Config{Capacity: 16})
		if w.ValidShape(old) || !w.ValidShape(s) || w.ShapeCount() != 4 {
			t.Fatalf("asleep %v: the old shape lives: %v, the new one: %v, of %d", asleep, w.ValidShape(old), w.ValidShape(s), w.ShapeCount())
		}
		var began, ended []physics3.Touch
		var entered, left []physics3.Sensed
		for step := range 120 {
			steps(t, w, 1)
			steps(t, twin, 1)
			sameState(t, "saved between two shapes", w, twin)
			e := w.Events()
			if step == 0 && (!w.Awake(b) || len(e.End) != 2) {
				t.Errorf("asleep %v: awake %v, ends of the old shape %v", asleep, w.Awake(b), e.End)
			}
			began, ended = append(began, e.Begin...), append(ended, e.End...)
			entered, left = append(entered, e.SensorBegin...), append(left, e.SensorEnd...)
		}
		if len(began) != 2 || len(ended) != 2 || len(entered) != 1 || len(left) != 1 || entered[0] != (physics3.Sensed{Sensor: zone, Visitor: s}) {
			t.Errorf("asleep %v: began %v, ended %v, entered %v, left %v", asleep, began, ended, entered, left)
		}
		for _, e := range ended {
			if e.A != old && e.B != old {
				t.Errorf("asleep %v: the contact %v ended", asleep, e)
			}
		}
		near(t, "the height of the body", positionOf(t, w, b)[1], 0.5, 2e-3)
		near(t, "that of the one above", positionOf(t, w, upper)[1], 1.3, 2e-3)
	}
}
