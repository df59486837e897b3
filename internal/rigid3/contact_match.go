package rigid3

import (
	"math"

	"github.com/evertick/evertick/internal/broad"
)

// MatchContacts makes the contacts of a step: out[i] is the contact of pair i, with the points of manifold i. A pair
// touches if its manifold has points; it touched before if its contact of the last step, in old, has points. If the
// manifold is recycled, the contact is that in old. Otherwise, if both hold, the contact inherits its impulses and
// flags, except FlagBase, and each point inherits the impulse of the point with the same ID. Everything else begins at
// zero.
//
// recycled is what Recycle made of the pairs, or nil if it recycled none. began gets the pairs that touch and did not
// before. ended gets those that touched before and no longer do, or are no longer in the list. Both ascend. Their memory
// is reused, and grows only to the number of contacts.
//
// pairs and old ascend by A, then B, each pair once. The work can be split at the same pairs in both:
// LowerBound finds them in old. MatchContacts panics if slices that belong together differ in length.
func MatchContacts(old []Contact, recycled []int32, pairs *broad.Pairs, manifolds []Manifold, out []Contact, began, ended *broad.Pairs) {
	if len(pairs.A) != len(out) || len(pairs.B) != len(out) || len(manifolds) != len(out) || recycled != nil && len(recycled) != len(out) {
		panic("rigid3: MatchContacts: recycled, pairs, manifolds and out differ in length")
	}
	began.Reset()
	ended.Reset()
	as, bs, ms := pairs.A[:len(out)], pairs.B[:len(out)], manifolds[:len(out)]
	next, nextKey := 0, keyOf(old, 0)
	for i := range out {
		c, m := &out[i], &ms[i]
		c.A, c.B = as[i], bs[i]
		key := c.key()
		for nextKey < key {
			old[next].endTouching(ended)
			next++
			nextKey = keyOf(old, next)
		}
		if nextKey != key {
			if c.begin(m); c.Count > 0 {
				began.Add(c.A, c.B)
			}
			continue
		}
		last := &old[next]
		next++
		nextKey = keyOf(old, next)
		if i < len(recycled) && recycled[i] >= 0 {
			*c = *last
			continue
		}
		switch c.begin(m); {
		case c.Count == 0:
			last.endTouching(ended)
		case last.Count > 0:
			c.inherit(last)
		default:
			began.Add(c.A, c.B)
		}
	}
	for i := range old[next:] {
		old[next+i].endTouching(ended)
	}
}

// UpdateContacts is MatchContacts in place, for the pairs of the last step. It reports whether one has another number
// of points than it had.
func UpdateContacts(contacts []Contact, manifolds []Manifold, began, ended *broad.Pairs) (changed bool) {
	if len(manifolds) != len(contacts) {
		panic("rigid3: UpdateContacts: contacts and manifolds differ in length")
	}
	began.Reset()
	ended.Reset()
	for i := range manifolds {
		m, c := &manifolds[i], &contacts[i]
		if m.Source == Recycled || m.Count|c.Count == 0 {
			continue
		}
		last := *c
		c.begin(m)
		switch {
		case c.Count == 0:
			last.endTouching(ended)
		case last.Count > 0:
			c.inherit(&last)
		default:
			began.Add(c.A, c.B)
		}
		changed = changed || c.Count != last.Count
	}
	return changed
}

// begin sets what a contact has without those of the last step.
func (c *Contact) begin(m *Manifold) {
	*c = Contact{A: c.A, B: c.B, Count: m.Count}
	for k := range m.Points[:m.Count] {
		c.Normal[k].ID = m.Points[k].ID
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

// LowerBoundNear is LowerBound for a result that is at least from, and most likely not far from there.
func LowerBoundNear(contacts []Contact, from int, a, b uint32) int {
	pair := Contact{A: a, B: b}
	key, lo, step := pair.key(), from, 1
	for lo+step <= len(contacts) && contacts[lo+step-1].key() < key {
		lo += step
		step *= 2
	}
	return lo + LowerBound(contacts[lo:min(lo+step-1, len(contacts))], a, b)
}

// key orders contacts like pairs.
func (c *Contact) key() uint64 { return uint64(c.A)<<32 | uint64(c.B) }

// keyOf returns the key of contact i, or more than any key if there is none.
func keyOf(contacts []Contact, i int) uint64 {
	if i < len(contacts) {
		return contacts[i].key()
	}
	return math.MaxUint64
}

func (c *Contact) endTouching(ended *broad.Pairs) {
	if c.Count > 0 {
		ended.Add(c.A, c.B)
	}
}

// inherit copies what the contact had in the last step; both have points.
func (c *Contact) inherit(last *Contact) {
	c.Flags, c.Tangent, c.Twist, c.Rolling = last.Flags&^FlagBase, last.Tangent, last.Twist, last.Rolling
	for k := range c.Normal[:c.Count] {
		p := &c.Normal[k]
		for n := range last.Normal[:last.Count] {
			if last.Normal[n].ID == p.ID {
				p.Impulse = last.Normal[n].Impulse
			}
		}
	}
}
