package physics

import (
	"cmp"
	"slices"
)

// Events are the events of a step: see World.Events. Each list is in ascending order of the indices of its shapes,
// bodies, or joints; of two shapes that touch the lower one comes first.
type Events struct {
	// Begin and End are contacts of solid shapes that began and ended to touch. In End those with
	// destroyed shapes come first, in an ascending order of their own; their handles are
	// stale.
	Begin, End []Touch
	// SensorBegin and SensorEnd are overlaps of sensors that began and ended. They include the sensors that a fast body
	// entered and left within a step: SensorEnd then lists the end in the next step. See the package comment.
	SensorBegin, SensorEnd []Sensed
	// Hit are contacts that were hit at Tuning.HitSpeed or faster.
	Hit []Hit
	// Moved are the indices of the bodies whose position or angle has changed.
	Moved []uint32
	// Disabled are the bodies that were disabled because one of their values was
	// not finite.
	Disabled []Disabled
	// Broken are the joints whose load was too great; they are destroyed.
	Broken []Broken
	// JointLoads are the joints whose load exceeded a threshold of their definition, and which did not break.
	JointLoads []JointLoad
	// Slept are the indices of the bodies that fell asleep at the end of the step, or by a call after it.
	// Woke are the bodies that woke in the step, or by a call since the previous step.
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
	Speed  float32    // of approach, in m/s
}

// Disabled is a body that was disabled because it had a value that is not finite, or 2^63
// or more: see World.Enable.
type Disabled struct {
	Body   Body
	Tick   uint64  // number of steps before this one
	Column string  // of Columns; the first one with such a value
	Value  float32 // the value found; every NaN is stored as the same NaN
}

// Broken is a joint that was destroyed because its load in the last sub-step exceeded
// JointDef.BreakForce or BreakTorque. Its handle is stale.
type Broken struct {
	Joint  Joint
	A, B   Body
	Force  [2]float32 // on body B in N
	Torque float32    // on body B in N·m
	Tick   uint64     // number of steps before this one
}

// JointLoad is a joint whose load in the last sub-step exceeded JointDef.ForceThreshold or TorqueThreshold.
type JointLoad struct {
	Joint  Joint
	Force  [2]float32 // on body B in N
	Torque float32    // on body B in N·m
}

// Events returns the events of the last step. The slices belong to the world and are
// valid until the next step. Another engine reports none.
func (w *World) Events() *Events { return &w.solver.events }

// ClearEvents empties Events until the next step: for programs that skip steps.
func (w *World) ClearEvents() { w.solver.events.clear() }

func (e *Events) clear() { eventLists.Clear(e) }

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

// usualEvents is more than the number of events in most steps. A list has this capacity from its first event on,
// so that it does not grow in small steps.
const usualEvents = 64

func appendEvent[T any](list *[]T, event T) {
	if cap(*list) == 0 {
		*list = make([]T, 0, usualEvents)
	}
	*list = append(*list, event)
}

// sort sorts the bodies that were disabled before and after the step, and those that woke before
// and in it.
func (e *Events) sort() {
	slices.Sort(e.Woke)
	e.Woke = slices.Compact(e.Woke) // a body that calls woke and put to sleep may wake again
	slices.SortFunc(e.Disabled, func(a, b Disabled) int { return cmp.Compare(a.Body.index, b.Body.index) })
}

// hit reports contact i.
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
