package physics

import (
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/native/rigid"
)

// Events are what happened in a step, as World.Events returns them. Each list is
// ascending in the indices of its shapes, or bodies; what touches is told by the lower
// shape first.
type Events struct {
	// Begin and End are contacts of solid shapes that began and ended to touch. Shapes
	// in End may be destroyed by now: these come first.
	Begin, End []Touch
	// SensorBegin and SensorEnd are overlaps of sensors that began and ended.
	SensorBegin, SensorEnd []Sensed
	// Hit are contacts that were hit at HitSpeed or faster.
	Hit []Hit
	// Moved are the indices of the bodies whose position or angle has changed.
	Moved []uint32
	// Disabled are the bodies that were taken out of the world since a value of
	// theirs was not finite.
	Disabled []Disabled
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

// Disabled is a body that had a value that is not finite.
type Disabled struct {
	Body   Body
	Column string // of the value, the first of several
}

// HitSpeed is the least speed of approach of a Hit, in m/s.
const HitSpeed = 1

// Events returns what happened in the last step. The slices are the world's own and
// good until the next step. An engine other than the default one reports none.
func (w *World) Events() *Events {
	if w.solver == nil {
		return &Events{}
	}
	return &w.solver.events
}

func (e *Events) clear() {
	*e = Events{e.Begin[:0], e.End[:0], e.SensorBegin[:0], e.SensorEnd[:0], e.Hit[:0], e.Moved[:0], e.Disabled[:0]}
}

func (e *Events) begin(s *solver, generation []uint32, a, b uint32) {
	add(s, &e.Begin, &e.SensorBegin, generation, a, b)
}

func (e *Events) end(s *solver, generation []uint32, a, b uint32) {
	add(s, &e.End, &e.SensorEnd, generation, a, b)
}

func add(s *solver, touches *[]Touch, sensed *[]Sensed, generation []uint32, a, b uint32) {
	ha, hb := Shape{a, generation[a]}, Shape{b, generation[b]}
	switch {
	case s.shapes.sensor[a]:
		*sensed = append(*sensed, Sensed{ha, hb})
	case s.shapes.sensor[b]:
		*sensed = append(*sensed, Sensed{hb, ha})
	default:
		*touches = append(*touches, Touch{ha, hb})
	}
}

// hit tells of contact i if it was hit.
func (e *Events) hit(s *solver, i int) {
	h := s.sys.Hits[i]
	if h.Speed < HitSpeed || h.Impulse <= 0 {
		return
	}
	c, m := &s.contacts[i], &s.manifolds[i]
	body := s.shapes.filters.Body[c.A]
	p := m.Points[0].AnchorA
	e.Hit = append(e.Hit, Hit{
		A: Shape{c.A, s.seen[c.A]}, B: Shape{c.B, s.seen[c.B]},
		Point:  [2]float32{s.centre.X[body] + p.X, s.centre.Y[body] + p.Y},
		Normal: [2]float32{m.Normal.X, m.Normal.Y},
		Speed:  h.Speed,
	})
}

// quarantine takes bodies out of the world that have a value that is not finite,
// before they reach another one.
func (s *solver) quarantine() {
	c := s.cols
	if s.finite() {
		return
	}
	for i := range s.rows {
		for _, nc := range c.floatColumns() {
			if c.Alive[i] != 0 && !fault.Finite((*nc.column)[i]) {
				s.disable(i, nc.name)
				break
			}
		}
	}
}

func (s *solver) finite() bool {
	for _, nc := range s.cols.floatColumns() {
		for _, v := range (*nc.column)[:s.rows] {
			if !fault.Finite(v) {
				return false
			}
		}
	}
	return true
}

// disable makes a body static, without shapes and at rest; what is not finite becomes
// zero.
func (s *solver) disable(i int, column string) {
	c := s.cols
	c.Flags[i] |= FlagDisabled
	c.InvMass[i], c.InvInertia[i] = 0, 0
	c.VX[i], c.VY[i], c.W[i] = 0, 0, 0
	for _, nc := range c.floatColumns() {
		if v := &(*nc.column)[i]; !fault.Finite(*v) {
			*v = 0
		}
	}
	c.Cos[i], c.Sin[i], c.Angle[i] = 1, 0, 0
	for _, shape := range s.shapesOf(i) {
		s.shapes.shape[shape] = rigid.Shape{}
	}
	s.events.Disabled = append(s.events.Disabled, Disabled{Body{uint32(i), s.bodies.generation[i]}, column})
}
