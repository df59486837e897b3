package physics

import (
	"cmp"
	"slices"
)

// Events are what happened in a step, as World.Events returns them. Each list is
// ascending in the indices of its shapes, bodies, or joints; what touches is told by the lower
// shape first.
type Events struct {
	// Begin and End are contacts of solid shapes that began and ended to touch. The ends
	// of those that were destroyed come first, ascending by themselves; their handles are
	// stale.
	Begin, End []Touch
	// SensorBegin and SensorEnd are overlaps of sensors that began and ended.
	SensorBegin, SensorEnd []Sensed
	// Hit are contacts that were hit at Tuning.HitSpeed or faster.
	Hit []Hit
	// Moved are the indices of the bodies whose position or angle has changed.
	Moved []uint32
	// Disabled are the bodies that were taken out of the world since a value of theirs was
	// not finite.
	Disabled []Disabled
	// Broken are the joints that bore more than they can; they are destroyed.
	Broken []Broken
	// Slept are the indices of the bodies that fell asleep at the end of the step, or by a call since then,
	// and Woke of those that woke in the step, or by a call since the step before.
	Slept, Woke []uint32
}

// Touch is two shapes that touch.
type Touch struct{ A, B Shape }

// Sensed is a shape that overlaps a sensor.
type Sensed struct{ Sensor, Visitor Shape }

// Hit is a collision.
type Hit struct {
	A, B   Shape
	Point  [2]float32 // between the two surfaces, in metres
	Normal [2]float32 // from A to B
	Speed  float32    // at which they approached, in m/s
}

// Disabled is a body that was disabled since it had a value that is not finite, or 2^63
// and more: see World.Enable.
type Disabled struct {
	Body   Body
	Tick   uint64  // number of steps that the world had done before
	Column string  // of Columns; the first of several
	Value  float32 // that was there; of any NaN one and the same
}

// Broken is a joint that was destroyed since its load in the last sub-step was above
// JointDef.BreakForce or BreakTorque. Its handle is stale.
type Broken struct {
	Joint  Joint
	A, B   Body
	Force  [2]float32 // on body B in N
	Torque float32    // on body B in N·m
	Tick   uint64     // number of steps that the world had done before
}

// DefaultHitSpeed is Tuning.HitSpeed of a world whose tuning leaves it zero, in m/s.
const DefaultHitSpeed = 1

// Events returns what happened in the last step. The slices are the world's own and
// good until the next step. An engine other than the default one reports none.
func (w *World) Events() *Events { return &w.solver.events }

func (e *Events) clear() {
	*e = Events{e.Begin[:0], e.End[:0], e.SensorBegin[:0], e.SensorEnd[:0], e.Hit[:0], e.Moved[:0], e.Disabled[:0], e.Broken[:0],
		e.Slept[:0], e.Woke[:0]}
}

func (e *Events) begin(generation []uint32, a, b, flags uint32) {
	appendTouch(&e.Begin, &e.SensorBegin, generation, a, b, flags)
}

func (e *Events) end(generation []uint32, a, b, flags uint32) {
	appendTouch(&e.End, &e.SensorEnd, generation, a, b, flags)
}

// appendTouch adds a contact with these flags to one of two lists.
func appendTouch(touches *[]Touch, sensed *[]Sensed, generation []uint32, a, b, flags uint32) {
	if flags&passThrough != 0 {
		return
	}
	ha, hb := Shape{a, generation[a]}, Shape{b, generation[b]}
	switch {
	case flags&sensorA != 0:
		appendEvent(sensed, Sensed{ha, hb})
	case flags&sensorB != 0:
		appendEvent(sensed, Sensed{hb, ha})
	default:
		appendEvent(touches, Touch{ha, hb})
	}
}

// usualEvents is more than happens in most steps. A list has room for as many from its first event on,
// so that it does not ask for memory each time that more happens than ever before.
const usualEvents = 64

func appendEvent[T any](list *[]T, event T) {
	if cap(*list) == 0 {
		*list = make([]T, 0, usualEvents)
	}
	*list = append(*list, event)
}

// sort puts what was disabled before and after the step in one order, and what woke before
// and in it.
func (e *Events) sort() {
	slices.Sort(e.Woke)
	e.Woke = slices.Compact(e.Woke) // who was woken and put to sleep by calls may wake again
	slices.SortFunc(e.Disabled, func(a, b Disabled) int { return cmp.Compare(a.Body.index, b.Body.index) })
}

// hit tells of contact i.
func (e *Events) hit(s *solver, i int) {
	c, m := &s.contacts[i], &s.manifolds[i]
	body := s.shapes.filters.Body[c.A]
	p, st := m.Points[0].AnchorA, &s.sys.States[body] // the anchor is from before the step
	appendEvent(&e.Hit, Hit{
		A: Shape{c.A, s.lastGenerations[c.A]}, B: Shape{c.B, s.lastGenerations[c.B]},
		Point:  canonicalNaN2((s.centre.X[body]-st.DX)+p.X, (s.centre.Y[body]-st.DY)+p.Y),
		Normal: canonicalNaN2(m.Normal.X, m.Normal.Y),
		Speed:  s.sys.Hits[i].Speed,
	})
}
