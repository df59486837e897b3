package rigid

// Islands are bodies that hold each other, directly or by way of others. The island of a
// body is named by the lowest index of a body that belongs to it, so that the order in which
// bodies were joined does not matter. The zero Islands has no bodies.
type Islands struct {
	parent []uint32 // never higher than the body
}

// Reset makes n bodies, an island each.
func (s *Islands) Reset(n int) {
	s.parent = resized(s.parent, n)
	for i := range s.parent {
		s.parent[i] = uint32(i)
	}
}

// Union makes one island of those of two bodies.
func (s *Islands) Union(a, b uint32) {
	a, b = s.Find(a), s.Find(b)
	if a < b {
		s.parent[b] = a
	} else {
		s.parent[a] = b
	}
}

// Find returns the lowest body of the island of a body. It shortens the way there for those
// who come next: each body on it is pointed at the next but one.
func (s *Islands) Find(body uint32) uint32 {
	for p := s.parent; ; {
		up := p[body]
		if up == body {
			return body
		}
		p[body] = p[up]
		body = p[up]
	}
}
