package physics3

import (
	"cmp"
	"slices"

	"github.com/evertick/evertick/internal/check"
	"github.com/evertick/evertick/internal/rigid3"
)

// Events are the events of a step: see World.Events. Each list is in ascending order of the indices of its shapes, bodies or joints; of two shapes that
// touch the lower one comes first.
type Events struct {
	// Begin and End are contacts of solid shapes that began and ended to touch. In End those with destroyed shapes come first, in an
	// ascending order of their own; their handles are stale.
	Begin, End []Touch
	// SensorBegin and SensorEnd are overlaps of sensors that began and ended.
	SensorBegin, SensorEnd []Sensed
	// Hit are contacts that were hit at Tuning.HitSpeed or faster.
	Hit []Hit
	// Moved are the indices of the bodies whose position or rotation has changed.
	Moved []uint32
	// Disabled are the bodies that were disabled because one of their values was not finite.
	Disabled []Disabled
	// Broken are the joints whose load was too great; they are destroyed.
	Broken []Broken
	// JointLoads are the joints whose load exceeded a threshold of their definition, and which did not break.
	JointLoads []JointLoad
	// Slept are the indices of the bodies that fell asleep at the end of the step, or by a call after it. Woke are those of the bodies that
	// woke in the step, or by a call since the previous step.
	Slept, Woke []uint32
}

// Touch is two shapes that touch.
type Touch struct{ A, B Shape }

// Sensed is a shape that overlaps a sensor.
type Sensed struct{ Sensor, Visitor Shape }

// Hit is a collision.
type Hit struct {
	A, B    Shape
	Point   [3]float32 // between the two surfaces, at the centre of the points of contact, in metres
	Normal  [3]float32 // from A to B
	Speed   float32    // of approach, in m/s
	Impulse float32    // along the normal in the whole step, in N·s
}

// Disabled is a body that was disabled because it had a value that is not finite, or 2^63 or more: see World.Enable.
type Disabled struct {
	Body   Body
	Tick   uint64  // number of steps before this one
	Column string  // of Columns; the first one with such a value
	Value  float32 // the value found; every NaN is stored as the same NaN
}

// Broken is a joint that was destroyed because its load in the last sub-step exceeded JointDef.BreakForce or BreakTorque. Its handle is stale.
type Broken struct {
	Joint         Joint
	A, B          Body
	Force, Torque [3]float32 // as in JointState
	Tick          uint64     // number of steps before this one
}

// JointLoad is a joint whose load in the last sub-step exceeded JointDef.ForceThreshold or TorqueThreshold.
type JointLoad struct {
	Joint         Joint
	Force, Torque [3]float32 // as in JointState
}

// Events returns the events of the last step. The slices belong to the world and are valid until the next step.
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

// usualEvents is more than the number of events in most steps. A list has this capacity from its first event on, so that it does not grow in
// small steps.
const usualEvents = 64

func appendEvent[T any](list *[]T, event T) {
	if cap(*list) == 0 {
		*list = make([]T, 0, usualEvents)
	}
	*list = append(*list, event)
}

// sort sorts the bodies that were disabled before and after the step, and those that woke before and in it.
func (e *Events) sort() {
	slices.Sort(e.Woke)
	e.Woke = slices.Compact(e.Woke) // a body that calls woke and put to sleep may wake again
	slices.SortFunc(e.Disabled, func(a, b Disabled) int { return cmp.Compare(a.Body.index, b.Body.index) })
}

// reportHit reports contact i. The anchors are from before the step.
func (s *solver) reportHit(i int) {
	c, m, h := &s.contacts[i], &s.manifolds[i], &s.sys.Hits[i]
	body := s.shapes.filters.Body[c.A]
	anchor := rigid3.Vec{}
	for _, p := range m.Points[:m.Count] {
		anchor = anchor.Add(p.AnchorA.Times(1 / float32(m.Count)))
	}
	appendEvent(&s.events.Hit, Hit{
		A: s.handle(c.A), B: s.handle(c.B),
		Point:  arrayOf(canonical(s.poses[body].P.Sub(s.sys.States[body].D).Add(anchor))),
		Normal: arrayOf(canonical(m.Normal)), Speed: check.CanonicalNaN(h.Speed), Impulse: check.CanonicalNaN(h.Impulse),
	})
}

// handle returns the handle of a shape of the last step.
func (s *solver) handle(shape uint32) Shape { return Shape{shape, s.lastGenerations[shape]} }
