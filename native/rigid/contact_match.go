package rigid

// MatchContacts makes the contacts of a step: out[i] is the contact of pair i, with the points of manifold i. A pair
// touches if its manifold has points; it touched before if its contact in old has points. If both hold, the contact
// inherits flags and rolling impulse, and each point inherits the impulses of the point with the same ID. Everything
// else begins at zero.
//
// began gets the pairs that touch and did not before. ended gets those that touched before and no longer do, or are
// no longer in the list. Both ascend. Their memory is reused, and grows only to the number of contacts.
//
// pairs and old ascend by A, then B, each pair once. The work can be split at the same pairs in both:
// LowerBound finds them in old. MatchContacts panics if slices that belong together differ in length.
func MatchContacts(old []Contact, pairs *Pairs, manifolds []Manifold, out []Contact, began, ended *Pairs) {
	if len(pairs.A) != len(out) || len(pairs.B) != len(out) || len(manifolds) != len(out) {
		panic("rigid: MatchContacts: pairs, manifolds and out differ in length")
	}
	began.reset()
	ended.reset()
	as, bs, ms := pairs.A[:len(out)], pairs.B[:len(out)], manifolds[:len(out)]
	next := 0 // of old
	for i := range out {
		m, c := &ms[i], &out[i]
		c.A, c.B, c.Count, c.Flags, c.RollingImpulse = as[i], bs[i], m.Count, 0, 0
		c.Points[0], c.Points[1] = Impulse{ID: m.Points[0].ID}, Impulse{ID: m.Points[1].ID}
		key := c.key()
		for next < len(old) && old[next].key() < key {
			old[next].endTouching(ended)
			next++
		}
		if next < len(old) && old[next].key() == key {
			last := &old[next]
			next++
			switch {
			case c.Count == 0:
				last.endTouching(ended)
				continue
			case last.Count > 0:
				c.inherit(last)
				continue
			}
		}
		if c.Count > 0 {
			began.add(c.A, c.B)
		}
	}
	for i := range old[next:] {
		old[next+i].endTouching(ended)
	}
}

// LowerBound returns the number of contacts that come before the pair (a, b).
func LowerBound(contacts []Contact, a, b uint32) int {
	pair := Contact{A: a, B: b}
	key, lo, hi := pair.key(), 0, len(contacts)
	for lo < hi {
		if mid := int(uint(lo+hi) / 2); contacts[mid].key() < key {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// key orders contacts like pairs.
func (c *Contact) key() uint64 { return uint64(c.A)<<32 | uint64(c.B) }

func (c *Contact) endTouching(ended *Pairs) {
	if c.Count > 0 {
		ended.add(c.A, c.B)
	}
}

// inherit copies what the contact had in the last step; both have points.
func (c *Contact) inherit(last *Contact) {
	c.Flags, c.RollingImpulse = last.Flags, last.RollingImpulse
	c.Points[0].inherit(last)
	if c.Count > 1 {
		c.Points[1].inherit(last)
	}
}

func (p *Impulse) inherit(last *Contact) {
	if last.Points[0].ID == p.ID {
		*p = last.Points[0]
	} else if last.Count > 1 && last.Points[1].ID == p.ID {
		*p = last.Points[1]
	}
}

func (p *Pairs) reset() { p.A, p.B = p.A[:0], p.B[:0] }

func (p *Pairs) add(a, b uint32) { p.A, p.B = append(p.A, a), append(p.B, b) }
