package physics

import (
	"math"

	"github.com/evertick/evertick/native/rigid"
)

// quarantine takes bodies out of the world of which a value in the first columns is not
// usable, before they reach another one. What is out stays at rest.
func (s *solver) quarantine(columns int) {
	c := s.cols
	if s.disabled > 0 && !s.sleep.on { // see settleMarks
		for i, flags := range c.Flags[:s.rows] {
			if flags&FlagDisabled != 0 {
				c.VX[i], c.VY[i], c.W[i] = 0, 0, 0
			}
		}
	}
	s.looked = columns
	s.huge.Store(false)
	s.overSpans(s.sleep.spans, (*solver).lookForHuge)
	if s.huge.Load() {
		all := c.floatColumns()
		for _, rows := range s.sleep.spans {
			s.findHuge(all[:columns], rows.lo, rows.hi)
		}
	}
}

func (s *solver) lookForHuge(_, lo, hi int) {
	c := s.cols
	if !rigid.AllInRange(s.level, c.memory[lo:], c.stride, s.looked, hi-lo) {
		s.huge.Store(true)
	}
}

func (s *solver) findHuge(columns []namedColumn, lo, hi int) {
	for i := lo; i < hi; i++ {
		for _, nc := range columns {
			if v := (*nc.column)[i]; !usable(v) {
				s.condemn(i, nc.name, v)
				break
			}
		}
	}
}

// condemn disables the body of a row with a value that is not usable. A row without
// a body becomes zero again.
func (s *solver) condemn(i int, column string, v float32) {
	c := s.cols
	if !s.bodies.occupied(i) {
		c.clear(i)
		return
	}
	for _, nc := range c.floatColumns() {
		if v := &(*nc.column)[i]; !usable(*v) {
			*v = 0
		}
	}
	s.setRotation(i, 0, 1)
	s.disable(i)
	s.forget(uint32(i))
	s.events.Disabled = append(s.events.Disabled, Disabled{
		Body: Body{uint32(i), s.bodies.generation[i]}, Tick: s.steps, Column: column, Value: oneNaN(v),
	})
}

// oneNaN is v, and for any NaN the same one: which sign and payload a NaN has that a calculation
// gives differs between machines and levels, so that none is written down as it is.
func oneNaN(v float32) float32 {
	if v != v {
		return math.Float32frombits(0x7fc00000)
	}
	return v
}

func oneNaN2(x, y float32) [2]float32 { return [2]float32{oneNaN(x), oneNaN(y)} }

// forget takes the impulses from the contacts of a body, which may be anything.
func (s *solver) forget(body uint32) {
	of := s.shapes.filters.Body
	for i := range s.contacts {
		c := &s.contacts[i]
		if s.current(c) && (of[c.A] == body || of[c.B] == body) {
			c.RollingImpulse = 0
			for k := range c.Points {
				c.Points[k].Normal, c.Points[k].Tangent = 0, 0
			}
		}
	}
}

// current reports whether both shapes of a contact are those of the last step.
func (s *solver) current(c *rigid.Contact) bool {
	g := s.table.pool.generation
	return g[c.A] == s.seen[c.A] && g[c.B] == s.seen[c.B]
}

// disable makes a body one without shapes, mass and velocity.
func (s *solver) disable(i int) {
	c := s.cols
	if c.Flags[i]&FlagDisabled == 0 {
		c.Flags[i] |= FlagDisabled
		s.disabled++
	}
	c.InvMass[i], c.InvInertia[i] = 0, 0
	c.VX[i], c.VY[i], c.W[i] = 0, 0, 0
	c.ForceX[i], c.ForceY[i], c.Torque[i] = 0, 0, 0
	for link := s.table.head[i]; link != 0; link = s.table.next[link-1] {
		s.shapes.version++
		s.shapes.shape[link-1] = rigid.Shape{}
	}
	s.placeJoints(i)
	s.disturb(i)
	s.weighed(i)
}

func (s *solver) enable(i int) error {
	c := s.cols
	if c.Flags[i]&FlagDisabled == 0 {
		return nil
	}
	c.Flags[i] &^= FlagDisabled
	if err := s.weigh(i, s.shapesOf(i)); err != nil {
		c.Flags[i] |= FlagDisabled
		return err
	}
	s.disabled--
	s.disturb(i)
	return nil
}

// Disable takes a body out of the world: it comes to rest, nothing touches it, and
// forces and impulses have no effect, until Enable brings it back. SetTransform still
// places it. It does nothing to a body that is disabled. Errors: ErrStale, and
// ErrUnsupported from another engine.
func (w *World) Disable(b Body) error {
	i, err := w.solved(b)
	if err == nil {
		w.solver.disable(i)
	}
	return err
}

// Enable brings a body back that was disabled, by Disable or because a value of its was
// not finite: at rest where it is, with its shapes and the mass of these. Values that were not
// finite are zero by then, the rotation of such a body too. Errors are those of Disable,
// and ErrRange as from the creation of a shape.
func (w *World) Enable(b Body) error {
	i, err := w.solved(b)
	if err == nil {
		err = w.solver.enable(i)
	}
	return err
}

// Disabled reports whether b is a live body that is disabled.
func (w *World) Disabled(b Body) bool {
	return w.Valid(b) && w.cols.Flags[b.index]&FlagDisabled != 0
}

// solved returns the index of b if it may be changed now, and this package solves.
func (w *World) solved(b Body) (int, error) {
	i, err := w.mutable(b)
	if err == nil {
		err = w.engine.require()
	}
	return i, err
}

// solving is an error if the world has failed, or another engine solves.
func (w *World) solving() error {
	if w.failed != nil {
		return w.failed
	}
	return w.engine.require()
}
