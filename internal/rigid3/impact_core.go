package rigid3

// sweptShape is a shape of a body that may be stopped, with the core that is tried.
type sweptShape struct {
	shape  *Shape
	whole  convexCore
	extent float32 // Shape.MinExtent
	mem    boxArrays
	inset  [MaxHullVertices]Vec

	bounded bool // lo and hi are those of motion.boundsOf
	lo, hi  Vec
}

// boundsOn is motion.boundsOf, computed once for all obstacles.
func (s *sweptShape) boundsOn(m *motion, hulls *Hulls) (lo, hi Vec) {
	if !s.bounded {
		s.lo, s.hi = m.boundsOf(s.shape, hulls)
		s.bounded = true
	}
	return s.lo, s.hi
}

// convex returns the core of a shape as a convexCore, whose points are in mem for all but hulls.
func (s *Shape) convex(hulls *Hulls, mem *boxArrays) convexCore {
	t := s.polytope(hulls, mem)
	return convexCore{t.Vertices, s.Kind == KindBox, float64(s.Radius), &s.Pose}
}

func (s *sweptShape) set(shape *Shape, hulls *Hulls) {
	s.bounded = false
	s.shape, s.extent = shape, shape.MinExtent(hulls)
	s.whole = shape.convex(hulls, &s.mem)
}

// core is the shape without a part of its least extent all around. It is in the memory of s, and valid until the next call.
func (s *sweptShape) core(hulls *Hulls, part float32) convexCore {
	c, depth := s.whole, float32(part*s.extent)
	if s.shape.Radius >= depth {
		c.radius = float64(s.shape.Radius - depth)
		return c
	}
	depth -= s.shape.Radius
	c.radius = 0
	switch s.shape.Kind {
	case KindBox:
		var b boxArrays
		h := s.shape.Half
		h.Sub(Vec{depth, depth, depth}).box(&b)
		c.points = append(s.inset[:0], b.vertices[:]...)
	case KindHull:
		if t := hulls.at(s.shape.Hull); t != nil {
			c.points = t.insetVertices(depth, s.inset[:0])
		}
	}
	return c
}

// insetRounds is the number of times that a vertex is moved into all planes, one after the other. For corners of three planes at right angles one
// suffices.
const insetRounds = 8

// insetVertices appends points whose hull is inside of all planes moved inwards by depth, less than the least distance of the centre from a plane: for
// each vertex one near it.
func (t *Polytope) insetVertices(depth float32, out []Vec) []Vec {
	for _, v := range t.Vertices {
		for range insetRounds {
			inside := true
			for i := range t.Planes {
				f := &t.Planes[i]
				if d := f.distance(v) + depth; d > 0 {
					v, inside = v.addTimes(f.Normal, -d), false
				}
			}
			if inside {
				break
			}
		}
		// What is left is removed on the way to the centre, which is inside.
		share := float32(0)
		for i := range t.Planes {
			if d := t.Planes[i].distance(v) + depth; d > 0 {
				share = maxFloat(d/(d-(t.Planes[i].distance(t.Centre)+depth)), share)
			}
		}
		out = append(out, v.addTimes(t.Centre.Sub(v), minFloat(share, 1)))
	}
	return out
}

// Cores that begin a step in touch with an obstacle give way to smaller ones: each takes off coreStep more of the extent than the last one.
const (
	firstCore = 0.5
	coreStep  = 1. / 16
	lastCore  = 1 - coreStep
)

// stopTime returns when an obstacle stops a shape that comes within targetSeparation of it at time touch, and the direction away from the obstacle
// then. It returns 1 if it does not.
func (s *sweptShape) stopTime(p *impact, hulls *Hulls, touch float64) (float64, vec64) {
	tolerance := min(separationTolerance, 0.05*float64(s.extent))
	core := s.core(hulls, firstCore)
	p.replace(&core)
	if touch > 0 {
		if t, out := p.advance(touch, 0, tolerance, 1); t < 1 {
			return touch, out
		}
		return 1, vec64{}
	}
	for part := float32(firstCore); ; part += coreStep {
		if t, out := p.advance(0, 0, tolerance, 1); t > 0 {
			return t, out
		}
		if part == lastCore {
			break
		}
		core = s.core(hulls, part+coreStep)
		p.replace(&core)
	}
	if out, deeper := p.movesDeeper(tolerance); deeper {
		return 0, out
	}
	return 1, vec64{}
}

// movesDeeper reports whether b, a small core that touches the obstacle from outside, comes nearer to it by more than a tolerance, and the direction
// away from the obstacle.
func (p *impact) movesDeeper(tolerance float64) (vec64, bool) {
	_, n, apart := p.gapAt(0)
	if !apart {
		return n, false
	}
	from := p.frameB.p.Sub(p.frameA.p)
	p.place(1)
	return n, p.frameB.p.Sub(p.frameA.p).Sub(from).Dot(n) < -tolerance
}
