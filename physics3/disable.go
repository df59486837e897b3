package physics3

import (
	"math"

	"github.com/evertick/evertick/internal/check"
	"github.com/evertick/evertick/internal/rigid3"
)

// disableInvalid disables the bodies with a value out of range in the first columns, before such a value reaches another body. Disabled bodies
// stay at rest.
func (s *solver) disableInvalid(columns int) {
	if s.disabledBodies > 0 && !s.sleep.On { // see sleep.State
		for i, flags := range s.cols.Flags[:s.rows()] {
			if flags&FlagDisabled != 0 {
				s.putVelocity(i, rigid3.Vec{}, rigid3.Vec{})
			}
		}
	}
	s.checkedColumns = columns
	if s.stages.Any(s.sleep.Spans, (*solver).outOfRange) {
		all := s.cols.floatColumns()
		for _, rows := range s.sleep.Spans {
			s.findInvalid(all[:columns], rows.Lo, rows.Hi)
		}
	}
}

func (s *solver) outOfRange(lo, hi int) bool { return !s.allInRange(s.checkedColumns, lo, hi) }

// allInRange reports whether the values of rows [lo, hi) are in range in the first columns.
func (s *solver) allInRange(columns, lo, hi int) bool {
	const least, sign = (127 + 63) << 23, 1 << 31 // the bits of check.Limit
	for k := range columns {
		most := uint32(0)
		for _, v := range s.cols.memory[k*s.cols.stride:][lo:hi] {
			most = max(most, math.Float32bits(v)&^sign)
		}
		if most >= least {
			return false
		}
	}
	return true
}

func (s *solver) findInvalid(columns []namedColumn, lo, hi int) {
	for i := lo; i < hi; i++ {
		for _, nc := range columns {
			if v := (*nc.column)[i]; !check.InRange(v) {
				s.disableInvalidBody(i, nc.name, v)
				break
			}
		}
	}
}

// disableInvalidBody disables the body of a row with a value out of range. A row without a body becomes zero again.
func (s *solver) disableInvalidBody(i int, column string, v float32) {
	c := s.cols
	if !s.bodies.Occupied(i) {
		c.clear(i)
		return
	}
	for _, nc := range c.floatColumns() {
		if v := &(*nc.column)[i]; !check.InRange(*v) {
			*v = 0
		}
	}
	s.setRotation(i, rigid3.Identity)
	s.disable(i)
	s.sleep.UpdateAllBounds() // the boxes of a static body are sorted, and empty from now on
	s.eachContactOf(uint32(i), (*rigid3.Contact).ClearImpulses)
	s.events.Disabled = append(s.events.Disabled, Disabled{
		Body: Body{uint32(i), s.bodies.Generation[i]}, Tick: s.steps, Column: column, Value: check.CanonicalNaN(v),
	})
}

// canonical replaces every NaN by the same one.
func canonical(v rigid3.Vec) rigid3.Vec {
	return rigid3.Vec{X: check.CanonicalNaN(v.X), Y: check.CanonicalNaN(v.Y), Z: check.CanonicalNaN(v.Z)}
}

// disable takes the shapes, the mass and the velocity from a body.
func (s *solver) disable(i int) {
	c := s.cols
	if c.Flags[i]&FlagDisabled == 0 {
		c.Flags[i] |= FlagDisabled
		s.disabledBodies++
	}
	s.putInverseMass(i, 0, rigid3.Vec{})
	s.putVelocity(i, rigid3.Vec{}, rigid3.Vec{})
	s.putForce(i, rigid3.Vec{}, rigid3.Vec{})
	for shape := range s.shapeTable.Of(i) {
		s.shapes.version++
		s.shapes.shape[shape] = rigid3.Shape{}
	}
	s.sleep.WakeWithNeighbours(i)
	s.storeInverseMass(i)
	s.updateJoints(i)
}

func (s *solver) enable(i int) error {
	c := s.cols
	if c.Flags[i]&FlagDisabled == 0 {
		return nil
	}
	c.Flags[i] &^= FlagDisabled
	if err := s.updateMass(i, s.bodyShapes(i)); err != nil {
		c.Flags[i] |= FlagDisabled
		return err
	}
	s.disabledBodies--
	s.sleep.WakeWithNeighbours(i)
	return nil
}

// Disable takes a body out of the world until Enable brings it back: it comes to rest, nothing touches it, and forces and impulses have no
// effect. SetTransform still moves it. Disable has no effect on a disabled body. ErrStale if b is destroyed.
func (w *World) Disable(b Body) error {
	i, err := w.row(b)
	if err == nil {
		w.solver.disable(i)
	}
	return err
}

// Enable brings back a body that Disable, or a value that was not finite, has disabled: at rest at its present position, with its shapes and
// their mass. Values that were not finite are zero, and the rotation of such a body is the unit rotation. Errors: ErrStale, and ErrRange as when
// a shape is created.
func (w *World) Enable(b Body) error {
	i, err := w.row(b)
	if err == nil {
		err = w.solver.enable(i)
	}
	return err
}

// Disabled reports whether b is a live body that is disabled.
func (w *World) Disabled(b Body) bool {
	return w.Valid(b) && w.cols.Flags[b.index]&FlagDisabled != 0
}
