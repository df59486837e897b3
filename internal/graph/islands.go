package graph

import "github.com/evertick/evertick/internal/buffer"

// Islands are sets of bodies that are connected, directly or through others. The lowest body is the name of an
// island, so the order of the Unions does not matter. It is a union-find structure; the zero Islands has no bodies.
type Islands struct {
	parent []uint32 // never higher than the body
}

// Reset makes n bodies, each its own island.
func (s *Islands) Reset(n int) {
	s.parent = buffer.Resized(s.parent, n)
	for i := range s.parent {
		s.parent[i] = uint32(i)
	}
}

// Union joins the islands of two bodies.
func (s *Islands) Union(a, b uint32) {
	a, b = s.Find(a), s.Find(b)
	if a < b {
		s.parent[b] = a
	} else {
		s.parent[a] = b
	}
}

// Find returns the lowest body of the island of a body. It halves the path: each body on it then points to its
// grandparent.
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
