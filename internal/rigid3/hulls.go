package rigid3

// Hulls are the polytopes of a world, by number. The zero value has none.
type Hulls struct {
	polytopes []*Polytope
}

// Set gives a polytope a number, or frees the number if it is nil. Numbers should be small: the memory is proportional to the greatest.
func (h *Hulls) Set(i int, t *Polytope) {
	for len(h.polytopes) <= i {
		h.polytopes = append(h.polytopes, nil)
	}
	h.polytopes[i] = t
}

// Len returns one more than the greatest number that Set has had since Reset.
func (h *Hulls) Len() int { return len(h.polytopes) }

// At returns the polytope of a number, or nil.
func (h *Hulls) At(i int) *Polytope {
	if i < len(h.polytopes) {
		return h.polytopes[i]
	}
	return nil
}

// Reset removes all polytopes.
func (h *Hulls) Reset() {
	clear(h.polytopes)
	h.polytopes = h.polytopes[:0]
}

func (h *Hulls) at(i uint32) *Polytope {
	if h == nil || int64(i) >= int64(len(h.polytopes)) {
		return nil
	}
	return h.polytopes[i]
}
