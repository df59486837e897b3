package rigid

import "slices"

// Match makes the contacts of a step: out[i] is that of pair i, with the points of
// manifold i. A pair touches if its manifold has points, and touched in old if its
// contact there has. If both, the contact takes over flags and rolling impulse, and
// each point the impulses of the point with equal ID; all else begins at zero.
//
// began becomes the pairs that touch and did not in old, ended those that did and do
// not any more, be it that they left the list; both ascend. Their room is
// reused, and grows only to the number of contacts.
//
// pairs and old ascend by A, then B, each pair once. The work can be split where
// old is split at the same pairs: After tells where. It panics if slices
// that belong together differ in length.
func Match(old []Contact, pairs *Pairs, manifolds []Manifold, out []Contact, began, ended *Pairs) {
	if len(pairs.A) != len(out) || len(pairs.B) != len(out) || len(manifolds) != len(out) {
		panic("rigid: Match: pairs, manifolds and out differ in length")
	}
	began.reset()
	ended.reset()
	as, bs := pairs.A[:len(out)], pairs.B[:len(out)]
	for i := range out {
		a, b, m, c := as[i], bs[i], &manifolds[i], &out[i]
		for len(old) > 0 && old[0].before(a, b) {
			old[0].end(ended)
			old = old[1:]
		}
		*c = Contact{A: a, B: b, Count: m.Count}
		for k := range m.Points {
			c.Points[k].ID = m.Points[k].ID
		}
		var last *Contact
		if len(old) > 0 && old[0].A == a && old[0].B == b {
			last, old = &old[0], old[1:]
		}
		switch {
		case m.Count > 0 && last != nil && last.Count > 0:
			c.inherit(last)
		case m.Count > 0:
			began.add(a, b)
		case last != nil:
			last.end(ended)
		}
	}
	for i := range old {
		old[i].end(ended)
	}
}

// After returns the number of contacts that come before the pair (a, b).
func After(contacts []Contact, a, b uint32) int {
	n, _ := slices.BinarySearchFunc(contacts, struct{}{}, func(c Contact, _ struct{}) int {
		if c.before(a, b) {
			return -1
		}
		return 1
	})
	return n
}

func (c *Contact) before(a, b uint32) bool { return c.A < a || c.A == a && c.B < b }

func (c *Contact) end(ended *Pairs) {
	if c.Count > 0 {
		ended.add(c.A, c.B)
	}
}

// inherit takes over what the contact was in the step before.
func (c *Contact) inherit(last *Contact) {
	c.Flags, c.Rolling = last.Flags, last.Rolling
	for i := range c.Points[:min(c.Count, 2)] {
		p := &c.Points[i]
		for _, q := range last.Points[:min(last.Count, 2)] {
			if q.ID == p.ID {
				*p = q
			}
		}
	}
}

func (p *Pairs) reset() { p.A, p.B = p.A[:0], p.B[:0] }

func (p *Pairs) add(a, b uint32) { p.A, p.B = append(p.A, a), append(p.B, b) }
