package physics3

import (
	"slices"

	"github.com/evertick/evertick/internal/broad"
	"github.com/evertick/evertick/internal/graph"
	"github.com/evertick/evertick/internal/rigid3"
)

// Flags of rigid3.Contact: which shape was a sensor when the contact was made.
const (
	sensorA = 1 << 31
	sensorB = 1 << 30
	sensing = sensorA | sensorB
)

// removeStaleContacts removes the contacts of destroyed shapes, whose numbers other shapes may have by now, and reports that they ended.
func (s *solver) removeStaleContacts() {
	generation := s.shapeTable.IDs.Generation
	if slices.Equal(s.lastGenerations, generation) {
		return
	}
	s.pairsKnown = false
	n := 0
	for i := range s.contacts {
		if c := &s.contacts[i]; !s.shapesLive(c) {
			if c.Count > 0 && (i == 0 || !sameShapes(c, &s.contacts[i-1])) {
				s.events.end(s.lastGenerations, c.A, c.B, c.Flags)
			}
		} else if i < s.convex {
			s.contacts[n], s.bases[n] = *c, s.bases[i]
			n++
		}
	}
	if s.convex < len(s.contacts) {
		s.events.sortTouches(0, 0, 0, 0)
	}
	s.removeStaleSurfaces(n)
	s.convex = n
	s.lastGenerations = append(s.lastGenerations[:0], generation...)
}

// updateContacts finds the contacts of this step and assigns their colours.
func (s *solver) updateContacts() {
	s.rescaleImpulses()
	s.updateBelts()
	s.updateBroadPhase()
	for s.sleep.WakeTouched() {
		s.updateBounds()
		s.updateBroadPhase()
	}
	n := len(s.pairs.A)
	if !s.samePairs {
		s.nextBaseMarks = growContacts(s.nextBaseMarks, n, s.minContactCapacity())
	}
	sys := s.prepareSystem(s.matchSurfaces(n))
	sys.BeginStep(s.dt)
	sys.ResetColours()
	s.colouring.Begin(len(s.contactChunks))
	s.stages.ForAscending(len(s.contactChunks), (*solver).updateContactChunks)
	s.stages.End("collide")
	s.reportContacts()
	if !s.samePairs {
		s.contacts, s.next = s.next, s.contacts
		s.bases, s.nextBases = s.nextBases, s.bases
		s.baseMarks, s.nextBaseMarks = s.nextBaseMarks, s.baseMarks
	}
	s.convex = n
	s.hashPairs()
	s.pairs, s.contactPairs, s.pairsKnown = s.contactPairs, s.pairs, true
	s.stages.End("match")
}

// minContactCapacity is the initial capacity for contacts: one for each shape, up to a number that is negligible for a world of any size.
// Up to this capacity a new maximum of contacts does not allocate.
func (s *solver) minContactCapacity() int { return min(len(s.shapes.shape), 1024) }

// growContacts returns n elements in the memory of s if its capacity suffices, or else in new memory with spare capacity, at least usual.
// The contents of the elements are unspecified.
func growContacts[T any](s []T, n, usual int) []T {
	if cap(s) < n {
		return make([]T, n, max(n+n/2, usual))
	}
	return s[:n]
}

// updateBroadPhase finds the pairs of this step. If a body is asleep it also computes their manifolds, since contacts may wake bodies;
// otherwise updateContactChunks does that later.
func (s *solver) updateBroadPhase() {
	if s.isIdle() {
		s.pairs.A, s.pairs.B, s.omittedPairs = s.pairs.A[:0], s.pairs.B[:0], 0
		s.surfaces.pairs.Reset()
	} else {
		s.findPairs()
		s.filterPairs()
	}
	s.samePairs = s.pairsKnown && slices.Equal(s.pairs.A, s.contactPairs.A) && slices.Equal(s.pairs.B, s.contactPairs.B)
	s.stages.End("pairs")
	if !s.pairsKnown {
		s.markBases()
	}
	s.collideSurfaces()
	n := len(s.pairs.A)
	all := n + s.surfaces.count()
	s.manifolds = growContacts(s.manifolds, all, s.minContactCapacity())
	s.recycled = growContacts(s.recycled, n, s.minContactCapacity())
	s.reserveContactChunks(max(1, (all+pairChunk-1)/pairChunk)) // at least one, which reports what ended
	if s.collided = s.sleep.Count > 0; s.collided {
		s.stages.ForParts(len(s.contactChunks), (*solver).collideChunks)
	}
}

// findPairs gives the broad phase the two axes along which the shapes spread most, and the third as spans.
func (s *solver) findPairs() {
	if s.broad.ParallelFor = s.broadPhaseJob; s.stages.Unshared() {
		s.broad.ParallelFor = nil
	}
	b, f := &s.boxes, &s.shapes.filters
	third := broad.ThirdAxis(&b.Min, &b.Max, s.thirdAxis)
	version := s.sleep.BroadVersion()
	if s.thirdAxis != third {
		s.thirdAxis, version = third, 0
	}
	x, y, _ := s.planarAxes()
	f.SpanMin, f.SpanMax = b.Min[third], b.Max[third]
	s.planar = broad.Boxes{MinX: b.Min[x], MinY: b.Min[y], MaxX: b.Max[x], MaxY: b.Max[y]}
	s.broad.FindPairs(s.level, &s.planar, f, version, &s.pairs)
	s.omittedPairs = s.broad.Omitted
}

// planarAxes returns the axes of the broad phase: the two along which it sorts, ascending, and that which it gets as intervals.
func (s *solver) planarAxes() (x, y, third int) {
	x, y, third = (s.thirdAxis+1)%3, (s.thirdAxis+2)%3, s.thirdAxis
	return min(x, y), max(x, y), third
}

// markBases marks the contacts with a base, after the list of contacts was changed between steps.
func (s *solver) markBases() {
	s.baseMarks = growContacts(s.baseMarks, s.convex, s.minContactCapacity())
	for i := range s.baseMarks {
		s.baseMarks[i] = uint8(s.contacts[i].Flags & rigid3.FlagBase)
	}
}

// contactChunk holds the results of a chunk of pairs beside manifolds and contacts.
type contactChunk struct {
	pairs        broad.Pairs // of the chunk
	began, ended broad.Pairs
	recycling    rigid3.Recycling
	seams        rigid3.SeamMemory
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
		if k := &s.contactChunks[i]; k.hits == nil {
			room := make([]uint32, 5*usual)
			k.hits = room[4*usual:][:0]
			k.began = broad.Pairs{A: room[:0:usual], B: room[usual : usual : 2*usual]}
			k.ended = broad.Pairs{A: room[2*usual : 2*usual : 3*usual], B: room[3*usual : 3*usual : 4*usual]}
		}
	}
}

// pairChunk is the number of pairs of a chunk: those that get their colours together.
const pairChunk = graph.Chunk

// updateContactChunks makes the contacts of chunks [lo, hi) of the pairs while their manifolds are in the cache. It also assigns their
// colours, one chunk after the other, on any worker: see team.SerialStage.
func (s *solver) updateContactChunks(lo, hi int) {
	for chunk := lo; chunk < hi; chunk++ {
		from := chunk * pairChunk
		to := min(from+pairChunk, len(s.sys.Contacts))
		lo, hi := s.pairsOf(chunk)
		if !s.collided {
			s.collideChunk(chunk)
		}
		k := &s.contactChunks[chunk]
		if s.samePairs || lo == hi && chunk > 0 {
			rigid3.UpdateContacts(s.sys.Contacts[lo:hi], s.manifolds[lo:hi], &k.began, &k.ended)
		} else {
			s.matchContacts(lo, hi, k)
		}
		s.takeSurfaces(from, to)
		s.disableSensorContacts(s.sys.Contacts[from:to], s.manifolds[from:to])
		s.keepBases(lo, hi)
		s.sys.ListEdges(from, to)
		s.colouring.Done(chunk, s.colourJob)
	}
}

// pairsOf returns the range of pairs of a chunk, which may hold contacts with surfaces after these.
func (s *solver) pairsOf(chunk int) (lo, hi int) {
	n := len(s.pairs.A)
	return min(chunk*pairChunk, n), min((chunk+1)*pairChunk, n)
}

// keepBases gives bases to contacts [lo, hi) whose manifolds are new.
func (s *solver) keepBases(lo, hi int) {
	b, bases, marks := &s.sys.Bodies, s.nextBases, s.nextBaseMarks
	if s.samePairs {
		bases, marks = s.bases, s.baseMarks
	}
	rigid3.KeepBases(s.sys.Contacts[lo:hi], s.manifolds[lo:hi], s.shapes.filters.Body, s.poses, &b.V, &b.W, s.dt, bases[lo:hi], marks[lo:hi])
}

// colourChunk assigns colours to the contacts of a chunk.
func (s *solver) colourChunk(chunk int) {
	s.sys.Colours.AssignRange(chunk*pairChunk, min((chunk+1)*pairChunk, len(s.sys.Contacts)))
}

// matchContacts makes the contacts of pairs [lo, hi) in next.
func (s *solver) matchContacts(lo, hi int, to *contactChunk) {
	first, last := s.contactRange(lo, hi)
	manifolds, bases, nextBases, marks := s.manifolds[lo:hi], s.bases[first:last], s.nextBases[lo:hi], s.nextBaseMarks[lo:hi]
	rigid3.MatchContacts(s.contacts[first:last], to.recycled, &to.pairs, manifolds, s.next[lo:hi], &to.began, &to.ended)
	clear(marks)
	for i, old := range to.recycled {
		if old >= 0 {
			nextBases[i], marks[i] = bases[old], 1
		}
	}
}

// contactRange returns the range of contacts of the last step that belongs to pairs [lo, hi): it also holds those that are no longer in
// the list.
func (s *solver) contactRange(lo, hi int) (first, last int) {
	if s.samePairs {
		return lo, hi
	}
	old := s.contacts[:s.convex]
	last = len(old)
	if lo > 0 {
		first = rigid3.LowerBound(old, s.pairs.A[lo], s.pairs.B[lo])
	}
	if hi < len(s.pairs.A) {
		last = rigid3.LowerBound(old, s.pairs.A[hi], s.pairs.B[hi])
	}
	return first, last
}

// reportContacts reports which shapes began and ended to touch, before s.next replaces s.contacts.
func (s *solver) reportContacts() {
	e := &s.events
	begin, end, sensorBegin, sensorEnd := len(e.Begin), len(e.End), len(e.SensorBegin), len(e.SensorEnd)
	for k := range s.contactChunks {
		s.reportTouches(&s.contactChunks[k].began, &s.contactChunks[k].ended)
	}
	if len(s.surfaces.chunks) > 0 {
		s.reportSurfaces()
		e.sortTouches(begin, end, sensorBegin, sensorEnd)
	}
}

func (s *solver) reportTouches(began, ended *broad.Pairs) {
	for i, a := range ended.A {
		b := ended.B[i]
		s.events.end(s.lastGenerations, a, b, s.sensorFlags(a, b))
	}
	s.wakeSeparated(ended)
	for i, a := range began.A {
		b := began.B[i]
		s.events.begin(s.lastGenerations, a, b, s.sensorFlags(a, b))
	}
}

// collideChunks computes the manifolds of chunks [lo, hi) of the pairs.
func (s *solver) collideChunks(lo, hi int) {
	for chunk := lo; chunk < hi; chunk++ {
		s.collideChunk(chunk)
	}
}

func (s *solver) collideChunk(chunk int) {
	lo, hi := s.pairsOf(chunk)
	if lo == hi {
		k := &s.contactChunks[chunk]
		k.pairs, k.recycled = broad.Pairs{}, nil
		return
	}
	t, out, recycled := &s.shapes, s.manifolds[lo:hi], s.recycled[lo:hi]
	first, last := s.contactRange(lo, hi)
	k := &s.contactChunks[chunk]
	k.pairs = broad.Pairs{A: s.pairs.A[lo:hi], B: s.pairs.B[lo:hi]}
	r := &k.recycling
	r.Old, r.Bases, r.Marks, r.Same = s.contacts[first:last], s.bases[first:last], s.baseMarks[first:last], s.samePairs
	r.BodyOf, r.Poses = t.filters.Body, s.poses
	if r.Recycle(s.level, &k.pairs, recycled, out) == 0 {
		recycled = nil
	}
	k.recycled = recycled
	rigid3.CollidePairs(s.level, t.shape, &s.contents.Hulls, t.filters.Body, s.poses, &k.pairs, recycled, out)
	if s.seams.any {
		s.seams.scene.Join(&k.pairs, recycled, out, &k.seams)
	}
	s.clearSeparatedSensors(lo, hi)
}

// clearSeparatedSensors empties the manifolds of pairs [lo, hi) whose sensor is near a shape and does not overlap it.
func (s *solver) clearSeparatedSensors(lo, hi int) {
	if s.shapes.sensors == 0 {
		return
	}
	for i := lo; i < hi; i++ {
		if s.sensorFlags(s.pairs.A[i], s.pairs.B[i]) == 0 {
			continue
		}
		m := &s.manifolds[i]
		touches := false
		for _, p := range m.Points[:m.Count] {
			touches = touches || p.Separation <= 0
		}
		if touches || s.overlapRounded(s.pairs.A[i], s.pairs.B[i]) {
			m.Count = max(m.Count, 1)
		} else {
			*m = rigid3.Manifold{}
		}
	}
}

// overlapRounded reports whether two boxes or hulls, one of which is round, overlap at their edges. The points of their contacts are those of faces, and
// may be a little above each other there.
func (s *solver) overlapRounded(a, b uint32) bool {
	x, y := &s.shapes.shape[a], &s.shapes.shape[b]
	isPolytope := func(k rigid3.Kind) bool { return k == rigid3.KindBox || k == rigid3.KindHull }
	if !isPolytope(x.Kind) || !isPolytope(y.Kind) || x.Radius+y.Radius == 0 {
		return false
	}
	of := s.shapes.filters.Body
	at, to := &s.poses[of[a]], &s.poses[of[b]]
	if !poseInRange(at) || !poseInRange(to) {
		return false
	}
	d := rigid3.Distance(x, y, &s.contents.Hulls, at, to)
	return d.Distance <= 0
}

// disableSensorContacts removes the points of sensors, so that they push nothing, and marks their contacts.
func (s *solver) disableSensorContacts(contacts []rigid3.Contact, manifolds []rigid3.Manifold) {
	if s.shapes.sensors == 0 {
		return
	}
	for i := range contacts {
		if c := &contacts[i]; s.sensorFlags(c.A, c.B) != 0 {
			manifolds[i].Count = 0
			c.Flags = s.sensorFlags(c.A, c.B) | c.Flags&rigid3.FlagSurface
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

// shapesLive reports whether both shapes of a contact of the last step still live.
func (s *solver) shapesLive(c *rigid3.Contact) bool { return s.shapeLives(c.A) && s.shapeLives(c.B) }

func (s *solver) shapeLives(shape uint32) bool {
	return s.shapeTable.IDs.Generation[shape] == s.lastGenerations[shape]
}

// clearBases makes the next step collide the shapes of a body anew.
func (s *solver) clearBases(body uint32) {
	s.eachContactOf(body, func(c *rigid3.Contact) { c.Flags &^= rigid3.FlagBase })
}

// eachContactOf calls f, which changes contacts, with those of a body.
func (s *solver) eachContactOf(body uint32, f func(c *rigid3.Contact)) {
	s.pairsKnown = false
	of := s.shapes.filters.Body
	for i := range s.contacts {
		if c := &s.contacts[i]; s.shapesLive(c) && (of[c.A] == body || of[c.B] == body) {
			f(c)
		}
	}
}
