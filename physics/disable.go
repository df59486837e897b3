package physics

import (
	"github.com/evertick/evertick/internal/check"
	"github.com/evertick/evertick/internal/rigid"
)

// disableInvalid disables the bodies with a value out of range in the first columns, before such a value
// reaches another body. Disabled bodies stay at rest.
func (s *solver) disableInvalid(columns int) {
	c := s.cols
	if s.disabledBodies > 0 && !s.sleep.On { // see sleep.State
		for i, flags := range c.Flags[:s.rows] {
			if flags&FlagDisabled != 0 {
				c.VX[i], c.VY[i], c.W[i] = 0, 0, 0
			}
		}
	}
	s.checkedColumns = columns
	if s.stages.Any(s.sleep.Spans, (*solver).outOfRange) {
		all := c.floatColumns()
		for _, rows := range s.sleep.Spans {
			s.findInvalid(all[:columns], rows.Lo, rows.Hi)
		}
	}
}

func (s *solver) outOfRange(lo, hi int) bool {
	c := s.cols
	return !rigid.AllInRange(s.level, c.memory[lo:], c.stride, s.checkedColumns, hi-lo)
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

// disableInvalidBody disables the body of a row with a value out of range. A row without
// a body becomes zero again.
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
	s.setRotation(i, 0, 1)
	s.disable(i)
	s.sleep.UpdateAllBounds() // the boxes of a static body are sorted, and empty from now on
	s.clearBodyImpulses(uint32(i))
	s.events.Disabled = append(s.events.Disabled, Disabled{
		Body: Body{uint32(i), s.bodies.Generation[i]}, Tick: s.steps, Column: column, Value: check.CanonicalNaN(v),
	})
}

func canonicalNaN2(x, y float32) [2]float32 {
	return [2]float32{check.CanonicalNaN(x), check.CanonicalNaN(y)}
}

// clearBodyImpulses zeroes the impulses of the contacts of a body, which may hold any value.
func (s *solver) clearBodyImpulses(body uint32) { s.eachContactOf(body, clearImpulses) }

// clearBases makes the next step collide the shapes of a body anew.
func (s *solver) clearBases(body uint32) {
	s.eachContactOf(body, func(c *rigid.Contact) { c.Flags &^= rigid.FlagBase })
}

// eachContactOf calls f, which changes contacts, with the contacts of a body.
func (s *solver) eachContactOf(body uint32, f func(c *rigid.Contact)) {
	s.pairsKnown = false
	of := s.shapes.filters.Body
	for i := range s.contacts {
		if c := &s.contacts[i]; s.shapesLive(c) && (of[c.A] == body || of[c.B] == body) {
			f(c)
		}
	}
}

// shapesLive reports whether both shapes of a contact of the last step still live.
func (s *solver) shapesLive(c *rigid.Contact) bool {
	return s.shapeLives(c.A) && s.shapeLives(c.B)
}

func (s *solver) shapeLives(shape uint32) bool {
	return s.shapeTable.IDs.Generation[shape] == s.lastGenerations[shape]
}

// disable takes the shapes, the mass and the velocity from a body.
func (s *solver) disable(i int) {
	c := s.cols
	if c.Flags[i]&FlagDisabled == 0 {
		c.Flags[i] |= FlagDisabled
		s.disabledBodies++
	}
	c.InvMass[i], c.InvInertia[i] = 0, 0
	c.VX[i], c.VY[i], c.W[i] = 0, 0, 0
	c.ForceX[i], c.ForceY[i], c.Torque[i] = 0, 0, 0
	for shape := range s.shapeTable.Of(i) {
		s.shapes.version++
		s.shapes.shape[shape] = rigid.Shape{}
	}
	s.updateJoints(i)
	s.sleep.WakeWithNeighbours(i)
	s.storeInverseMass(i)
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

// Disable takes a body out of the world until Enable brings it back: it comes to rest, nothing touches it, and forces
// and impulses have no effect. SetTransform still moves it. Disable has no effect on a disabled body. Errors:
// ErrStale, and ErrUnsupported from another engine.
func (w *World) Disable(b Body) error {
	i, err := w.solverRow(b)
	if err == nil {
		w.solver.disable(i)
	}
	return err
}

// Enable brings back a body that Disable, or a value that was not finite, has disabled: at rest at
// its present position, with its shapes and their mass. Values that were not
// finite are zero, and so is the rotation of such a body. Errors are those of Disable,
// and ErrRange as when a shape is created.
func (w *World) Enable(b Body) error {
	i, err := w.solverRow(b)
	if err == nil {
		err = w.solver.enable(i)
	}
	return err
}

// Disabled reports whether b is a live body that is disabled.
func (w *World) Disabled(b Body) bool {
	return w.Valid(b) && w.cols.Flags[b.index]&FlagDisabled != 0
}

// solverRow returns the index of b if b may be changed now and the solver of this package is in use.
func (w *World) solverRow(b Body) (int, error) {
	i, err := w.mutableRow(b)
	if err == nil {
		err = w.engine.require()
	}
	return i, err
}

// requireRunning returns an error if the world has failed, or another engine is in use.
func (w *World) requireRunning() error {
	if w.failed != nil {
		return w.failed
	}
	return w.engine.require()
}
