package physics

import (
	"bytes"
	"slices"
	"unsafe"

	"github.com/evertick/evertick/internal/broad"
	"github.com/evertick/evertick/internal/buffer"
	"github.com/evertick/evertick/internal/graph"
	"github.com/evertick/evertick/internal/rigid"
)

// Flags of rigid.Contact: which shape was a sensor when the contact was made.
const (
	sensorA = 1 << 31
	sensorB = 1 << 30
)

// removeStaleContacts removes the contacts of destroyed shapes, whose numbers other shapes may have by now, and reports
// that they ended.
func (s *solver) removeStaleContacts() {
	generation := s.shapeTable.IDs.Generation
	if slices.Equal(s.lastGenerations, generation) {
		return
	}
	s.pairsKnown = false
	n := 0
	for i := range s.contacts {
		if c := &s.contacts[i]; s.shapesLive(c) {
			s.contacts[n], s.bases[n] = *c, s.bases[i]
			n++
		} else if c.Count > 0 {
			s.events.end(s.lastGenerations, c.A, c.B, c.Flags)
		}
	}
	s.contacts, s.bases = s.contacts[:n], s.bases[:n]
	s.lastGenerations = append(s.lastGenerations[:0], generation...)
}

// updateContacts finds the contacts of this step and assigns their colours.
func (s *solver) updateContacts() {
	rescaled := s.rescaleImpulses()
	s.updateBroadPhase()
	for s.sleep.WakeTouched() {
		s.updateBounds()
		s.updateBroadPhase()
	}
	n := len(s.pairs.A)
	if s.samePairs {
		s.updateSameContacts(rescaled)
	} else {
		s.next = growContacts(s.next, n, s.minContactCapacity())
		s.nextBases = growContacts(s.nextBases, n, s.minContactCapacity())
		s.nextBaseMarks = growContacts(s.nextBaseMarks, n, s.minContactCapacity())
		s.prepareSystem(s.next, s.nextBases, s.nextBaseMarks).BeginStep(s.dt)
		s.sys.SameBlocks = false
		s.sys.ResetColours()
		s.markEarly()
		s.colouring.Begin(len(s.contactChunks))
		s.stages.ForAscending(s.jointTasks()+len(s.contactChunks), (*solver).updateContactChunks)
	}
	s.stages.End("collide")
	s.reportContacts()
	if !s.samePairs {
		s.contacts, s.next = s.next, s.contacts
		s.bases, s.nextBases = s.nextBases, s.bases
		s.baseMarks, s.nextBaseMarks = s.nextBaseMarks, s.baseMarks
	}
	s.hashPairs()
	s.pairs, s.contactPairs, s.pairsKnown = s.contactPairs, s.pairs, true
	s.stages.End("match")
}

// updateSameContacts updates the contacts of the last step in place. If as many points touch as before, the blocks
// stay as they are, unless the impulses of the last step have been rescaled, which are in the blocks, too.
func (s *solver) updateSameContacts(rescaled bool) {
	s.prepareSystem(s.contacts, s.bases, s.baseMarks).BeginStep(s.dt)
	s.stages.ForParts(s.jointTasks()+len(s.contactChunks), (*solver).updateSameChunks)
	changed := rescaled || s.regions.wanted != s.wantedRegions() || !s.sys.Colours.SameDynamics(s.sys.Bodies.InvMass)
	for k := range s.contactChunks {
		changed = changed || s.contactChunks[k].changed
	}
	if s.sys.SameBlocks = !changed; changed {
		s.regions.marked = false
		s.sys.ResetColours()
		s.sys.ListEdges(0, len(s.contacts))
		s.sys.Colours.AssignRange(0, len(s.contacts))
	}
}

// jointTasks is the number of tasks of joints that come before the chunks of contacts, which do not depend on them.
func (s *solver) jointTasks() int {
	if s.isIdle() {
		return 0
	}
	return 1
}

// buildJoints does the tasks of joints among tasks [lo, hi), and returns the chunks of contacts that are left.
func (s *solver) buildJoints(lo, hi int) (first, last int) {
	n := s.jointTasks()
	if lo < n {
		s.sys.BuildJoints()
	}
	return max(lo-n, 0), hi - n
}

// updateSameChunks updates the contacts of chunks [lo, hi) in place, after the tasks of joints.
func (s *solver) updateSameChunks(lo, hi int) {
	lo, hi = s.buildJoints(lo, hi)
	for chunk := lo; chunk < hi; chunk++ {
		from := chunk * pairChunk
		to := min(from+pairChunk, len(s.contacts))
		if !s.collided {
			s.collideChunk(chunk)
		}
		contacts, manifolds, k := s.contacts[from:to], s.manifolds[from:to], &s.contactChunks[chunk]
		k.changed = rigid.UpdateContacts(contacts, manifolds, &k.began, &k.ended)
		k.passing = 0
		s.disableSensorContacts(contacts, manifolds)
	}
}

// minContactCapacity is the initial capacity for contacts: one for each shape, up to a number that is negligible for a
// world of any size. Up to this capacity a new maximum of contacts does not allocate.
func (s *solver) minContactCapacity() int { return min(len(s.shapes.shape), 1024) }

// growContacts returns n elements in the memory of s if its capacity suffices, or else in new memory with
// spare capacity, at least usual. The contents of the elements are unspecified.
func growContacts[T any](s []T, n, usual int) []T {
	if cap(s) < n {
		return make([]T, n, max(n+n/2, usual))
	}
	return s[:n]
}

// updateBroadPhase finds the pairs of this step. If a body is asleep it also computes their manifolds, since contacts
// may wake bodies; otherwise updateContactChunks does that later.
func (s *solver) updateBroadPhase() {
	if s.isIdle() {
		s.pairs.A, s.pairs.B, s.omittedPairs = s.pairs.A[:0], s.pairs.B[:0], 0
	} else {
		if s.broad.ParallelFor = s.parallelForJob; s.stages.Unshared() {
			s.broad.ParallelFor = nil
		}
		s.broad.FindPairs(s.level, &s.boxes, &s.shapes.filters, s.sleep.BroadVersion(), &s.pairs)
		s.omittedPairs = s.broad.Omitted
		s.filterPairs()
	}
	s.samePairs = s.pairsKnown && s.passingContacts == 0 && s.shapes.oneWays == 0 &&
		slices.Equal(s.pairs.A, s.contactPairs.A) && slices.Equal(s.pairs.B, s.contactPairs.B)
	s.stages.End("pairs")
	if !s.pairsKnown {
		s.markBases()
	}
	s.beginSeams(&s.pairs)
	n := len(s.pairs.A)
	s.manifolds = growContacts(s.manifolds, n, s.minContactCapacity())
	s.recycled = growContacts(s.recycled, n, s.minContactCapacity())
	s.reserveContactChunks(max(1, (n+pairChunk-1)/pairChunk)) // at least one, which reports what ended
	if s.collided = s.sleep.Count > 0; s.collided {
		s.stages.ForParts(len(s.contactChunks), (*solver).collideChunks)
	}
}

// markBases marks the contacts with a base, after the list of contacts was changed between steps.
func (s *solver) markBases() {
	s.baseMarks = growContacts(s.baseMarks, len(s.contacts), s.minContactCapacity())
	for i := range s.contacts {
		s.baseMarks[i] = uint8(s.contacts[i].Flags & rigid.FlagBase)
	}
}

// contactChunk holds the results of a chunk of pairs beside manifolds and contacts.
type contactChunk struct {
	began, ended broad.Pairs
	stopped      broad.Pairs // began, without those that pass through
	passing      int         // contacts that pass through
	changed      bool        // a contact has another number of points
	recycling    rigid.Recycling
	recycled     []int32  // nil: none
	hits         []uint32 // contacts to report
}

// reserveContactChunks resizes contactChunks to n and keeps the memory of each.
func (s *solver) reserveContactChunks(n int) {
	const usual = 128 // more than begin or end in most steps
	for s.contactChunks = s.contactChunks[:min(n, cap(s.contactChunks))]; len(s.contactChunks) < n; {
		s.contactChunks = append(s.contactChunks, contactChunk{})
	}
	for i := range s.contactChunks {
		if sh := &s.contactChunks[i]; sh.hits == nil {
			room := make([]uint32, 5*usual)
			sh.hits = room[4*usual:][:0]
			sh.began = broad.Pairs{A: room[:0:usual], B: room[usual : usual : 2*usual]}
			sh.ended = broad.Pairs{A: room[2*usual : 2*usual : 3*usual], B: room[3*usual : 3*usual : 4*usual]}
		}
	}
}

// pairChunk is the number of pairs of a chunk: those that get their colours together.
const pairChunk = graph.Chunk

// updateContactChunks makes the contacts of chunks [lo, hi) of the pairs while their manifolds are
// in the cache, after the tasks of joints. It also assigns their colours, one chunk after the other, on any worker: see team.SerialStage.
func (s *solver) updateContactChunks(lo, hi int) {
	lo, hi = s.buildJoints(lo, hi)
	for chunk := lo; chunk < hi; chunk++ {
		from := chunk * pairChunk
		to := min(from+pairChunk, len(s.next))
		if !s.collided {
			s.collideChunk(chunk)
		}
		s.matchContacts(from, to, &s.contactChunks[chunk])
		s.disablePassing(from, to, &s.contactChunks[chunk])
		s.disableSensorContacts(s.next[from:to], s.manifolds[from:to])
		s.sys.ListEdges(from, to)
		s.colouring.Done(chunk, s.colourJob)
	}
}

// colourChunk assigns colours to the contacts of a chunk, and finds their regions if those are known already.
func (s *solver) colourChunk(chunk int) {
	s.sys.Colours.AssignRange(chunk*pairChunk, min((chunk+1)*pairChunk, len(s.next)))
	if s.regions.marked {
		s.markRegions(chunk, chunk+1)
	}
}

// matchContacts makes the contacts of pairs [lo, hi) in next.
func (s *solver) matchContacts(lo, hi int, to *contactChunk) {
	first, last := s.contactRange(lo, hi)
	pairs := broad.Pairs{A: s.pairs.A[lo:hi], B: s.pairs.B[lo:hi]}
	manifolds, bases, nextBases, marks := s.manifolds[lo:hi], s.bases[first:last], s.nextBases[lo:hi], s.nextBaseMarks[lo:hi]
	rigid.MatchContacts(s.contacts[first:last], to.recycled, &pairs, manifolds, s.next[lo:hi], &to.began, &to.ended)
	clear(marks)
	for i, old := range to.recycled {
		if old >= 0 {
			nextBases[i], marks[i] = bases[old], 1
		}
	}
}

// contactRange returns the range of contacts of the last step that belongs to pairs [lo, hi): it also holds those
// that are no longer in the list.
func (s *solver) contactRange(lo, hi int) (first, last int) {
	if s.samePairs {
		return lo, hi
	}
	last = len(s.contacts)
	if lo > 0 {
		first = rigid.LowerBound(s.contacts, s.pairs.A[lo], s.pairs.B[lo])
	}
	if hi < len(s.pairs.A) {
		last = rigid.LowerBound(s.contacts, s.pairs.A[hi], s.pairs.B[hi])
	}
	return first, last
}

// reportContacts reports which shapes began and ended to touch, before s.next replaces s.contacts.
func (s *solver) reportContacts() {
	through := 0
	for k := range s.contactChunks {
		through += s.contactChunks[k].passing
		ended := &s.contactChunks[k].ended
		for i, a := range ended.A {
			b := ended.B[i]
			s.events.end(s.lastGenerations, a, b, s.sensorFlags(a, b)|s.passFlag(a, b))
		}
		s.wakeSeparated(ended)
		began := &s.contactChunks[k].began
		for i, a := range began.A {
			b := began.B[i]
			s.events.begin(s.lastGenerations, a, b, s.sensorFlags(a, b))
		}
	}
	s.passingContacts = through
}

// filterPairs removes the pairs without effect: two sensors, two solid shapes
// of which neither belongs to a dynamic body, and two shapes of static bodies, of which one was
// changed. It also removes the pairs of bodies that ignore each other, or whose joint prevents collision.
func (s *solver) filterPairs() {
	t := &s.shapes
	if t.sensors == 0 && s.joints.noCollide == 0 && len(s.sleep.ActiveOnce) == 0 && !s.anyKinematic() && s.ignoredPairs.Empty() {
		return // one body of each pair is dynamic
	}
	s.keptPairs = buffer.Resized(s.keptPairs, (len(s.pairs.A)+pairChunk-1)/pairChunk)
	s.stages.ForParts(len(s.keptPairs), (*solver).filterPairChunks)
	n := 0
	for k, kept := range s.keptPairs {
		lo := k * pairChunk
		copy(s.pairs.A[n:], s.pairs.A[lo:lo+kept])
		n += copy(s.pairs.B[n:], s.pairs.B[lo:lo+kept])
	}
	s.pairs.A, s.pairs.B = s.pairs.A[:n], s.pairs.B[:n]
}

// filterPairChunks filters chunks [lo, hi) of the pairs, each to its beginning.
func (s *solver) filterPairChunks(lo, hi int) {
	for chunk := lo; chunk < hi; chunk++ {
		from := chunk * pairChunk
		to := min(from+pairChunk, len(s.pairs.A))
		s.keptPairs[chunk] = s.keepPairs(s.pairs.A[from:to], s.pairs.B[from:to])
	}
}

// keepPairs moves the pairs that filterPairs keeps to the front, and returns their number.
func (s *solver) keepPairs(as, bs []uint32) (n int) {
	t := &s.shapes
	for i, a := range as {
		b := bs[i]
		if s.joints.noCollide > 0 && s.jointPreventsCollision(t.filters.Body[a], t.filters.Body[b]) {
			continue
		}
		most := max(s.cols.Type[t.filters.Body[a]], s.cols.Type[t.filters.Body[b]])
		senses := t.sensor[a] != t.sensor[b] && most != StaticBody
		if (senses || !t.sensor[a] && !t.sensor[b] && most == DynamicBody) && !s.pairIgnored(a, b) {
			as[n], bs[n] = a, b
			n++
		}
	}
	return n
}

func (s *solver) anyKinematic() bool {
	types := s.cols.Type[:s.rows]
	return bytes.IndexByte(unsafe.Slice((*byte)(unsafe.SliceData(types)), len(types)), byte(KinematicBody)) >= 0
}

// collideChunks computes the manifolds of chunks [lo, hi) of the pairs.
func (s *solver) collideChunks(lo, hi int) {
	for chunk := lo; chunk < hi; chunk++ {
		s.collideChunk(chunk)
	}
}

func (s *solver) collideChunk(chunk int) {
	lo := chunk * pairChunk
	hi := min(lo+pairChunk, len(s.pairs.A))
	pairs := broad.Pairs{A: s.pairs.A[lo:hi], B: s.pairs.B[lo:hi]}
	t, out, recycled := &s.shapes, s.manifolds[lo:hi], s.recycled[lo:hi]
	first, last := s.contactRange(lo, hi)
	k := &s.contactChunks[chunk]
	r := &k.recycling
	r.Old, r.Bases, r.Marks, r.Same = s.contacts[first:last], s.bases[first:last], s.baseMarks[first:last], s.samePairs
	r.BodyOf, r.Poses = t.filters.Body, s.centre
	if r.Recycle(s.level, &pairs, recycled, out) == 0 {
		recycled = nil
	}
	k.recycled = recycled
	rigid.CollideOthers(s.level, t.shape, t.filters.Body, &s.centre, &pairs, recycled, out)
	if t.chained > 0 {
		rigid.CollideChains(t.shape, t.smooth, t.filters.Body, &s.centre, &pairs, recycled, out)
	}
	if s.seams.any {
		s.seams.scene.Join(&pairs, recycled, out)
	}
	s.clearSeparatedSensors(lo, hi)
}

// clearSeparatedSensors empties the manifolds of pairs [lo, hi) whose sensor is near a shape and does not overlap it.
func (s *solver) clearSeparatedSensors(lo, hi int) {
	if s.shapes.sensors == 0 {
		return
	}
	for i := lo; i < hi; i++ {
		a := s.pairs.A[i]
		if s.sensorFlags(a, s.pairs.B[i]) == 0 {
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

// disableSensorContacts removes the points of sensors, so that they push nothing, and marks their contacts.
func (s *solver) disableSensorContacts(contacts []rigid.Contact, manifolds []rigid.Manifold) {
	if s.shapes.sensors == 0 {
		return
	}
	for i := range contacts {
		if c := &contacts[i]; s.sensorFlags(c.A, c.B) != 0 {
			manifolds[i].Count = 0
			c.Flags = s.sensorFlags(c.A, c.B)
		}
	}
}

// sensorFlags returns the sensor flag of a contact of two shapes.
func (s *solver) sensorFlags(a, b uint32) uint32 {
	switch {
	case s.shapes.sensor[a]:
		return sensorA
	case s.shapes.sensor[b]:
		return sensorB
	}
	return 0
}
