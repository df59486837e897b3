package physics

import (
	"slices"

	"github.com/evertick/evertick/native/rigid"
)

// Step runs the stages of package rigid in order.
func (s *solver) Step(dt float32) error {
	s.events.clear()
	s.quarantine()
	s.place()
	s.done("place")
	s.dropStale()
	s.collide()
	s.solve(dt)
	s.done("solve")
	s.settle()
	s.quarantine()
	s.done("settle")
	return nil
}

// done tells who traces the world that a stage is done.
func (s *solver) done(stage string) {
	if s.trace != nil {
		s.trace(stage)
	}
}

// place computes where the centres of mass are, and the boxes of the shapes.
func (s *solver) place() {
	c, n := s.cols, s.rows
	for i := range n {
		x, y := s.turned(i, c.CentreX[i], c.CentreY[i])
		s.centre.X[i], s.centre.Y[i] = c.X[i]+x, c.Y[i]+y
	}
	s.centre.Cos, s.centre.Sin = c.Cos, c.Sin
	shapes := len(s.shapes.shape)
	for _, b := range [...]*[]float32{&s.boxes.MinX, &s.boxes.MinY, &s.boxes.MaxX, &s.boxes.MaxY} {
		*b = slices.Grow((*b)[:0], shapes)[:shapes]
	}
	const margin = rigid.SpeculativeDistance / 2 // of two shapes, one each
	rigid.Bounds(s.level, s.shapes.shape, s.shapes.filters.Body, &s.centre, margin, &s.boxes)
}

// dropStale takes out contacts of shapes that are gone, whose number another shape
// may have by now, and tells that they ended.
func (s *solver) dropStale() {
	generation := s.table.pool.generation
	if slices.Equal(s.seen, generation) {
		return
	}
	stale := func(shape uint32) bool { return generation[shape] != s.seen[shape] }
	s.contacts = slices.DeleteFunc(s.contacts, func(c rigid.Contact) bool {
		gone := stale(c.A) || stale(c.B)
		if gone && c.Count > 0 {
			s.events.end(s, s.seen, c.A, c.B)
		}
		return gone
	})
	s.seen = append(s.seen[:0], generation...)
}

// collide finds the contacts of this step.
func (s *solver) collide() {
	t := &s.shapes
	s.broad.Pairs(s.level, &s.boxes, &t.filters, 0, &s.pairs)
	s.keepMeaningful()
	s.done("pairs")
	n := len(s.pairs.A)
	s.manifolds = slices.Grow(s.manifolds[:0], n)[:n]
	rigid.Collide(s.level, t.shape, t.filters.Body, &s.centre, &s.pairs, s.manifolds)
	s.sense()
	s.done("collide")
	s.next = slices.Grow(s.next[:0], n)[:n]
	rigid.Match(s.contacts, &s.pairs, s.manifolds, s.next, &s.began, &s.ended)
	s.contacts, s.next = s.next, s.contacts
	for i, a := range s.ended.A {
		s.events.end(s, s.seen, a, s.ended.B[i])
	}
	for i, a := range s.began.A {
		s.events.begin(s, s.seen, a, s.began.B[i])
	}
	s.done("match")
}

// keepMeaningful takes out the pairs of which nothing follows: two sensors, and two
// solid shapes of which neither belongs to a dynamic body.
func (s *solver) keepMeaningful() {
	t, n := &s.shapes, 0
	for i, a := range s.pairs.A {
		b := s.pairs.B[i]
		dynamic := s.cols.Type[t.filters.Body[a]] == DynamicBody || s.cols.Type[t.filters.Body[b]] == DynamicBody
		if t.sensor[a] != t.sensor[b] || !t.sensor[a] && dynamic {
			s.pairs.A[n], s.pairs.B[n] = a, b
			n++
		}
	}
	s.pairs.A, s.pairs.B = s.pairs.A[:n], s.pairs.B[:n]
}

// sense empties the manifolds of sensors that are near a shape and do not overlap it.
func (s *solver) sense() {
	for i, a := range s.pairs.A {
		if !s.senses(a, s.pairs.B[i]) {
			continue
		}
		m := &s.manifolds[i]
		touches := false
		for _, p := range m.Points[:m.Count] {
			touches = touches || p.Separation <= 0
		}
		if !touches {
			*m = rigid.Manifold{}
		}
	}
}

func (s *solver) senses(a, b uint32) bool { return s.shapes.sensor[a] || s.shapes.sensor[b] }

// solve moves the bodies.
func (s *solver) solve(dt float32) {
	c, n, sys := s.cols, s.rows, &s.sys
	for i, a := range s.pairs.A { // sensors push nothing
		if s.senses(a, s.pairs.B[i]) {
			s.manifolds[i].Count = 0
		}
	}
	b := &sys.Bodies
	b.VX, b.VY, b.W = c.VX[:n], c.VY[:n], c.W[:n]
	b.InvMass, b.InvInertia = c.InvMass[:n], c.InvInertia[:n]
	b.ForceX, b.ForceY, b.Torque = c.ForceX[:n], c.ForceY[:n], c.Torque[:n]
	b.GravityScale, b.LinearDamping, b.AngularDamping = c.GravityScale[:n], c.LinearDamping[:n], c.AngularDamping[:n]
	b.FreeX, b.FreeY, b.FreeW = b.FreeX[:n], b.FreeY[:n], b.FreeW[:n]
	sys.States = sys.States[:n]
	sys.Poses = rigid.Poses{X: s.centre.X[:n], Y: s.centre.Y[:n], Cos: c.Cos[:n], Sin: c.Sin[:n]}
	sys.Angle = c.Angle[:n]
	sys.Body, sys.Materials = s.shapes.filters.Body, s.shapes.Materials
	sys.Contacts, sys.Manifolds = s.contacts, s.manifolds
	sys.Hits = slices.Grow(sys.Hits[:0], len(s.contacts))[:len(s.contacts)]
	sys.Step(s.level, dt)
}

// settle writes positions back, tells what moved and what was hit, and ends what acts
// for one step.
func (s *solver) settle() {
	c := s.cols
	for i := range s.sys.States {
		st := &s.sys.States[i]
		if st.DX == 0 && st.DY == 0 && st.S == 0 {
			continue
		}
		x, y := s.turned(i, c.CentreX[i], c.CentreY[i])
		c.X[i], c.Y[i] = s.centre.X[i]-x, s.centre.Y[i]-y
		s.events.Moved = append(s.events.Moved, uint32(i))
	}
	clear(c.ForceX[:s.rows])
	clear(c.ForceY[:s.rows])
	clear(c.Torque[:s.rows])
	for i := range s.sys.Hits {
		s.events.hit(s, i)
	}
}
