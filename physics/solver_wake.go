package physics

import (
	"bytes"
	"math"

	"github.com/evertick/evertick/internal/bitset"
	"github.com/evertick/evertick/internal/broad"
	"github.com/evertick/evertick/internal/rigid"
)

// updateActive collects the active bodies when a step begins.
func (s *solver) updateActive() {
	z := &s.sleep
	if !z.on {
		z.all = true
		s.spanAllRows()
		return
	}
	z.all = false
	s.detectWrites()
	s.wakeChanged(false)
}

// wakeChanged wakes the islands of changed bodies and collects the active ones. If the manifolds of this step are known,
// touching shapes also join new sleepers.
func (s *solver) wakeChanged(collided bool) {
	if !s.sleep.dirty {
		return
	}
	if s.sleep.asleep > 0 || len(s.sleep.resting) > 0 {
		s.wakeIslands(collided)
	}
	s.collectActive()
}

// zeroRows is compared with columns that should be zero, in pieces of its length.
var zeroRows [1024]float32

// detectWrites marks bodies at rest whose columns a program has written to: those whose pose
// differs from the stored one by any bit, and those with a velocity or a force. Where all rows of a
// word of active are at rest, it compares whole columns, at the speed of memory.
func (s *solver) detectWrites() {
	active := s.sleep.active
	words := (s.rows + 63) / 64
	for w := 0; w < words; {
		end := w + 1
		for active[w] == 0 && end < words && active[end] == 0 && end-w < len(zeroRows)/64 {
			end++
		}
		lo, hi := w*64, min(end*64, s.rows)
		if active[w] != 0 && ^active[w] != 0 || active[w] == 0 && !s.unwritten(lo, hi) {
			s.detectWritesIn(lo, hi)
		}
		w = end
	}
}

// unwritten reports whether no program has written to rows [lo, hi).
func (s *solver) unwritten(lo, hi int) bool {
	c := s.cols
	for k, column := range [...][]float32{c.X, c.Y, c.Angle, c.Cos, c.Sin} {
		if !bytes.Equal(raw(column[lo:hi]), raw(s.sleep.restPose[k][lo:hi])) {
			return false
		}
	}
	zero := raw(zeroRows[:hi-lo])
	for _, column := range [...][]float32{c.VX, c.VY, c.W, c.ForceX, c.ForceY, c.Torque} {
		if !bytes.Equal(raw(column[lo:hi]), zero) {
			return false
		}
	}
	return true
}

func (s *solver) detectWritesIn(lo, hi int) {
	for i := lo; i < hi; i++ {
		if !s.isAwake(i) && s.sleep.changes[i]&^(onceActive|newAsleep|createdAsleep) == 0 && s.rowWritten(i) {
			s.markChanged(i, written)
		}
	}
}

// poseWritten reports whether the pose of a body at rest differs from the stored one.
func (s *solver) poseWritten(i int) bool {
	c, k := s.cols, &s.sleep.restPose
	return bitsDiffer(c.X[i], k[0][i]) || bitsDiffer(c.Y[i], k[1][i]) || bitsDiffer(c.Angle[i], k[2][i]) ||
		bitsDiffer(c.Cos[i], k[3][i]) || bitsDiffer(c.Sin[i], k[4][i])
}

// rowWritten is the opposite of unwritten for one row.
func (s *solver) rowWritten(i int) bool {
	if s.poseWritten(i) {
		return true
	}
	c := s.cols
	sum := uint32(0)
	for _, v := range [...]float32{c.VX[i], c.VY[i], c.W[i], c.ForceX[i], c.ForceY[i], c.Torque[i]} {
		sum |= math.Float32bits(v)
	}
	return sum != 0
}

// wakeIslands wakes the islands of changed bodies, and of sleepers that touch, or are joined to,
// a body that was changed or destroyed.
func (s *solver) wakeIslands(collided bool) {
	z := &s.sleep
	z.islands.Reset(s.rows)
	z.restless.Reset(s.rows)
	z.restlessIslands.Reset(s.rows)
	for _, i := range z.changed {
		if z.changes[i]&^(newAsleep|createdAsleep) != 0 {
			z.restless.Add(int(i))
		}
	}
	s.joinSleepingContacts(z.resting)
	s.joinSleepingContacts(s.contacts) // for bodies that fell asleep in the last step
	s.eachJoint(s.joinSleepers)
	if collided {
		s.joinNewSleepers()
	}
	for i := range s.rows {
		if z.restless.Has(i) {
			z.restlessIslands.Add(int(z.islands.Find(uint32(i))))
		}
	}
	for i := range s.rows {
		if s.cols.Flags[i]&FlagAsleep != 0 && z.restlessIslands.Has(int(z.islands.Find(uint32(i)))) {
			s.wakeSleeper(i)
		}
	}
}

// joinSleepingContacts joins the sleepers of contacts, and marks as restless those that touched
// a destroyed shape.
func (s *solver) joinSleepingContacts(contacts []rigid.Contact) {
	z, of, flags := &s.sleep, s.shapes.filters.Body, s.cols.Flags
	generation := s.shapeTable.ids.Generation
	for i := range contacts {
		c := &contacts[i]
		if c.Flags&noPush != 0 || c.Count == 0 {
			continue
		}
		a, b := of[c.A], of[c.B]
		switch goneA, goneB := generation[c.A] != s.lastGenerations[c.A], generation[c.B] != s.lastGenerations[c.B]; {
		case goneA && goneB:
		case goneA && z.changes[b]&newAsleep == 0:
			z.restless.Add(int(b))
		case goneB && z.changes[a]&newAsleep == 0:
			z.restless.Add(int(a))
		case goneA || goneB:
		case (flags[a]|flags[b])&FlagAsleep != 0:
			s.joinSleepers(a, b)
		}
	}
}

// joinSleepers joins bodies that may belong to one island. A changed body that is not dynamic
// belongs to no island, and wakes the other body. A new sleeper belongs to no island until the step knows which shapes
// touch it: see joinNewSleepers.
func (s *solver) joinSleepers(a, b uint32) {
	z := &s.sleep
	if (z.changes[a]|z.changes[b])&newAsleep != 0 {
		return
	}
	if s.cols.Type[a] == DynamicBody && s.cols.Type[b] == DynamicBody {
		z.islands.Union(a, b)
		return
	}
	if z.changes[a] != 0 && s.cols.Type[b] == DynamicBody {
		z.restless.Add(int(b))
	}
	if z.changes[b] != 0 && s.cols.Type[a] == DynamicBody {
		z.restless.Add(int(a))
	}
}

// joinNewSleepers joins new sleepers with the sleepers that they touch, or to which a joint connects them.
func (s *solver) joinNewSleepers() {
	z := &s.sleep
	join := func(a, b uint32) {
		if s.isSleeper(a) && s.isSleeper(b) && (z.changes[a]|z.changes[b])&newAsleep != 0 {
			z.islands.Union(a, b)
		}
	}
	for i, a := range s.pairs.A {
		if b := s.pairs.B[i]; s.manifolds[i].Count > 0 && s.sensorFlags(a, b) == 0 {
			join(s.shapes.filters.Body[a], s.shapes.filters.Body[b])
		}
	}
	s.eachJoint(join)
}

// wakeSleeper wakes a sleeping body in a step.
func (s *solver) wakeSleeper(i int) {
	s.cols.Flags[i] &^= FlagAsleep
	s.sleep.asleep--
	s.sleep.time[i] = 0
	s.sleep.changes[i] &^= newAsleep | createdAsleep
	s.events.Woke = append(s.events.Woke, uint32(i))
}

// collectActive lists the active bodies, and updates the data of the others.
func (s *solver) collectActive() {
	c, z := s.cols, &s.sleep
	z.dirty, z.all = false, true
	z.version++
	s.processChanged()
	clear(z.active)
	for _, i := range z.activeOnce {
		z.active.Add(int(i))
	}
	for i := range s.rows {
		z.invMass[i], z.invInertia[i] = c.InvMass[i], c.InvInertia[i]
		switch {
		case s.isAwake(i):
			z.active.Add(i)
		case c.Flags[i]&FlagAsleep != 0:
			z.invMass[i], z.invInertia[i] = 0, 0
		}
	}
	z.spans = appendSpans(z.spans[:0], z.active, s.rows)
	f := &s.shapes.filters
	z.activeShapes.Reset(len(f.Body))
	for k, body := range f.Body {
		f.Moves[k] = s.shapes.local[k].Count > 0 && z.active.Has(int(body))
		if f.Moves[k] {
			z.activeShapes.Add(k)
		}
	}
	z.shapes = appendSpans(z.shapes[:0], z.activeShapes, len(f.Body))
	s.splitContacts()
	states := s.sys.States[:s.rows]
	for i := range states {
		states[i] = rigid.State{C: 1} // the step sets those of active bodies again
	}
}

// processChanged processes the changed bodies. Awake bodies are active anyway. The others rest
// again after this step, or at once if they are static and nothing is asleep. New sleepers are active
// for this step, so that it finds the shapes that touch them.
func (s *solver) processChanged() {
	c, z := s.cols, &s.sleep
	for _, m := range z.changed {
		i, why := int(m), z.changes[m]&^onceActive
		z.changes[i] &= onceActive | newAsleep | createdAsleep
		switch {
		case why == 0:
			continue
		case i >= s.rows || !s.bodies.Occupied(i):
			c.clear(i) // a program has written to a row without a body
			s.storeRestPose(i)
			continue
		case s.isAwake(i) && why&woken != 0:
			s.events.Woke = append(s.events.Woke, m)
		}
		if c.Type[i] == DynamicBody && s.isAwake(i) {
			continue
		}
		if c.Flags[i]&FlagDisabled != 0 {
			c.VX[i], c.VY[i], c.W[i] = 0, 0, 0
		}
		s.storeRestPose(i)
		if (why&written != 0 || z.asleep > 0 || c.Type[i] != StaticBody || !s.rowInRange(i)) && z.changes[i]&onceActive == 0 {
			z.changes[i] |= onceActive
			z.activeOnce = append(z.activeOnce, m)
		}
	}
	z.changed = z.changed[:0]
}

// rowInRange reports whether all values of a row are in range.
func (s *solver) rowInRange(i int) bool {
	c := s.cols
	return rigid.AllInRange(s.level, c.memory[i:], c.stride, len(c.floatColumns()), 1)
}

// splitContacts moves the contacts of active bodies from resting to contacts, and those
// without an active body to resting, if one of their bodies is asleep. The latter lose their bases.
func (s *solver) splitContacts() {
	z := &s.sleep
	next, bases, rest := s.next[:0], s.nextBases[:0], z.spare[:0]
	i, k := 0, 0
	for i < len(s.contacts) || k < len(z.resting) {
		var c *rigid.Contact
		var base rigid.BaseManifold
		if k == len(z.resting) || i < len(s.contacts) && contactLess(&s.contacts[i], &z.resting[k]) {
			c, base = &s.contacts[i], s.bases[i]
			i++
		} else {
			c = &z.resting[k]
			k++
			if c.Flags&passThrough != 0 {
				s.passingContacts++ // disablePassing ends those that no longer touch
			}
		}
		if s.contactActive(c) {
			next, bases = append(next, *c), append(bases, base)
		} else if c.Count > 0 {
			c.Flags &^= rigid.FlagBase
			rest = append(rest, *c)
		}
	}
	s.contacts, s.next, s.pairsKnown = next, s.contacts, false
	s.bases, s.nextBases = bases, s.bases
	z.resting, z.spare = rest, z.resting
}

func contactLess(a, b *rigid.Contact) bool { return a.A < b.A || a.A == b.A && a.B < b.B }

// contactActive reports whether a contact takes part in a step, even if it only ends there.
func (s *solver) contactActive(c *rigid.Contact) bool {
	if !s.shapesLive(c) {
		return true
	}
	a, b := s.shapes.filters.Body[c.A], s.shapes.filters.Body[c.B]
	return s.sleep.active.Has(int(a)) || s.sleep.active.Has(int(b)) || (s.cols.Flags[a]|s.cols.Flags[b])&FlagAsleep == 0
}

// wakeTouched wakes the islands that an awake and moving body touches, and
// reports whether there are any. Then the contacts must be found again.
func (s *solver) wakeTouched() bool {
	z := &s.sleep
	if z.asleep == 0 {
		return false
	}
	any := false
	for i, a := range s.pairs.A {
		b := s.pairs.B[i]
		if s.manifolds[i].Count == 0 || s.sensorFlags(a, b) != 0 {
			continue
		}
		a, b = s.shapes.filters.Body[a], s.shapes.filters.Body[b]
		if s.isSleeper(a) && s.canWake(b, a) {
			s.markChanged(int(a), written)
			any = true
		}
		if s.isSleeper(b) && s.canWake(a, b) {
			s.markChanged(int(b), written)
			any = true
		}
	}
	if len(z.spans) > 0 {
		any = s.markTouchedByJoints() || any
	}
	if any {
		s.wakeChanged(true)
	}
	return any
}

// markTouchedByJoints is wakeTouched for joints: it marks the sleepers that a joint connects to a moving body.
func (s *solver) markTouchedByJoints() (any bool) {
	s.eachJoint(func(a, b uint32) {
		if s.isSleeper(b) {
			a, b = b, a
		}
		if s.isSleeper(a) && s.canWake(b, a) {
			s.markChanged(int(a), written)
			any = true
		}
	})
	return any
}

// canWake reports whether a body wakes a sleeper that it touches. Every body that is active for one step
// does, unless one of the two is a new sleeper: a world that is created asleep stays asleep.
func (s *solver) canWake(i, sleeper uint32) bool {
	stirred := s.sleep.changes
	if stirred[i]&onceActive != 0 && (stirred[i]|stirred[sleeper])&newAsleep == 0 {
		return true
	}
	return s.isAwake(int(i)) && (s.cols.Type[i] == DynamicBody || s.isMoving(int(i)))
}

// wakeSeparated makes the next step wake the sleepers of contacts that ended, as what touched them
// is gone. New sleepers stay asleep: they have moved away themselves.
func (s *solver) wakeSeparated(ended *broad.Pairs) {
	if s.sleep.asleep == 0 {
		return
	}
	for i, a := range ended.A {
		b := ended.B[i]
		if s.sensorFlags(a, b) != 0 {
			continue
		}
		for _, shape := range [...]uint32{a, b} {
			if body := s.shapes.filters.Body[shape]; s.isSleeper(body) && s.sleep.changes[body]&newAsleep == 0 {
				s.markChanged(int(body), written)
			}
		}
	}
}

// spanGap is the number of rows at rest that a span may include: skipping fewer rows costs more, as it takes
// another span.
const spanGap = 256

// appendSpans appends the ranges of rows with a bit in set, in pieces of up to bodyChunk.
func appendSpans(spans []span, set bitset.Set, rows int) []span {
	lo, hi := 0, 0
	for w, word := range set {
		if word == 0 || w*64 >= rows {
			continue
		}
		if w*64 > hi+spanGap || hi == 0 {
			spans = appendSpan(spans, lo, hi)
			lo = w * 64
		}
		hi = min(w*64+64, rows)
	}
	return appendSpan(spans, lo, hi)
}

// appendSpan appends a range of rows in pieces of up to bodyChunk.
func appendSpan(spans []span, lo, hi int) []span {
	for ; lo < hi; lo += bodyChunk {
		spans = append(spans, span{lo, min(lo+bodyChunk, hi)})
	}
	return spans
}

// spanAllRows makes spans of all rows and of all shapes.
func (s *solver) spanAllRows() {
	z := &s.sleep
	z.allSpans[0] = appendSpan(z.allSpans[0][:0], 0, s.rows)
	z.allSpans[1] = appendSpan(z.allSpans[1][:0], 0, len(s.shapes.shape))
	if !z.on {
		z.spans, z.shapes = z.allSpans[0], z.allSpans[1]
	}
}

// boundsSpans returns the rows and the shapes that updateBounds updates.
func (s *solver) boundsSpans() (rows, shapes []span) {
	z := &s.sleep
	if z.all && z.on {
		s.spanAllRows()
		return z.allSpans[0], z.allSpans[1]
	}
	return z.spans, z.shapes
}

// isIdle reports whether there is nothing to do in a step.
func (s *solver) isIdle() bool {
	return s.sleep.on && len(s.sleep.spans) == 0 && len(s.contacts) == 0
}
