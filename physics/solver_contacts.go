package physics

import (
	"bytes"
	"slices"
	"unsafe"

	"github.com/evertick/evertick/native/rigid"
)

// Flags of rigid.Contact: which shape was a sensor, as long as it was there.
const (
	sensorA = 1 << 31
	sensorB = 1 << 30
)

// dropStale takes out contacts of shapes that are gone, whose number another shape
// may have by now, and tells that they ended.
func (s *solver) dropStale() {
	generation := s.table.pool.generation
	if slices.Equal(s.seen, generation) {
		return
	}
	s.contacts = slices.DeleteFunc(s.contacts, func(c rigid.Contact) bool {
		gone := !s.current(&c)
		if gone && c.Count > 0 {
			s.events.end(s.seen, c.A, c.B, c.Flags)
		}
		return gone
	})
	s.seen = append(s.seen[:0], generation...)
}

// findContacts finds the contacts of this step, and gives them colours.
func (s *solver) findContacts() {
	s.findManifolds()
	for s.wakeTouched() {
		s.updateBounds()
		s.findManifolds()
	}
	n := len(s.pairs.A)
	s.next = forContacts(s.next, n, s.usualContacts())
	s.assemble(s.next).BeginStep(s.dt)
	chunks := max(1, (n+pairChunk-1)/pairChunk) // one that looks what ended
	s.reserveShares(chunks)
	s.colouring.Begin(chunks)
	s.inOrder(chunks, (*solver).touchChunks)
	s.done("collide")
	s.report()
	s.contacts, s.next = s.next, s.contacts
	s.tracePairs()
	s.done("match")
}

// usualContacts is for how many contacts there is room from the beginning: one for each shape, and no
// more than a world of any size may take for nothing. So few contacts come and go without memory
// being asked for each time that there are more of them than ever.
func (s *solver) usualContacts() int { return min(len(s.shapes.shape), 1024) }

// forContacts returns n elements in the memory of s, if it has room for them, or else in new memory with
// some to spare, and room for at least usual. What they hold is unspecified.
func forContacts[T any](s []T, n, usual int) []T {
	if cap(s) < n {
		return make([]T, n, max(n+n/2, usual))
	}
	return s[:n]
}

// findManifolds finds the pairs of this step, and where they touch, if that may wake a body.
// If not, touchChunks does so.
func (s *solver) findManifolds() {
	if s.idle() {
		s.pairs.A, s.pairs.B, s.omitted = s.pairs.A[:0], s.pairs.B[:0], 0
	} else {
		if s.broad.ParallelFor = s.shareJob; s.alone() {
			s.broad.ParallelFor = nil
		}
		s.broad.FindPairs(s.level, &s.boxes, &s.shapes.filters, s.sleep.broadVersion(), &s.pairs)
		s.omitted = s.broad.Omitted
		s.keepMeaningful()
	}
	s.done("pairs")
	n := len(s.pairs.A)
	s.manifolds = forContacts(s.manifolds, n, s.usualContacts())
	if s.collided = s.sleep.asleep > 0; s.collided {
		s.over(0, n, pairChunk, (*solver).collideRows)
	}
}

// shareParts has the parts of the broad phase done.
func (s *solver) shareParts(parts int, f func(part int)) {
	s.part = f
	s.over(0, parts, 1, (*solver).doParts)
}

func (s *solver) doParts(lo, hi int) {
	for i := lo; i < hi; i++ {
		s.part(i)
	}
}

// share is what comes of a chunk of pairs beside manifolds and contacts.
type share struct {
	began, ended rigid.Pairs
	stopped      rigid.Pairs // began, but for those that pass
	passing      int         // contacts that do
	hits         []uint32    // contacts to tell of
}

// reserveShares keeps the room that shares have.
func (s *solver) reserveShares(n int) {
	const usual = 128 // more than begins or ends in a step, most often
	for s.shares = s.shares[:min(n, cap(s.shares))]; len(s.shares) < n; {
		s.shares = append(s.shares, share{})
	}
	for i := range s.shares {
		if sh := &s.shares[i]; sh.hits == nil {
			room := make([]uint32, 5*usual)
			sh.hits = room[4*usual:][:0]
			sh.began = rigid.Pairs{A: room[:0:usual], B: room[usual : usual : 2*usual]}
			sh.ended = rigid.Pairs{A: room[2*usual : 2*usual : 3*usual], B: room[3*usual : 3*usual : 4*usual]}
		}
	}
}

// pairChunk is the number of pairs of a chunk: as many as are given colours together.
const pairChunk = rigid.ColourChunk

// touchChunks makes the contacts of chunks [lo, hi) of the pairs while their manifolds are
// in the cache, and gives them colours: this one after the other, by who finds that it can be
// done.
func (s *solver) touchChunks(lo, hi int) {
	for chunk := lo; chunk < hi; chunk++ {
		from := chunk * pairChunk
		to := min(from+pairChunk, len(s.next))
		if !s.collided {
			s.collideRows(from, to)
		}
		s.matchRows(from, to, &s.shares[chunk])
		s.letPass(from, to, &s.shares[chunk])
		s.muteSensors(from, to)
		s.colouring.Done(chunk, s.chooseJob)
	}
}

// chooseChunk gives colours to the contacts of a chunk.
func (s *solver) chooseChunk(chunk int) {
	s.sys.AssignColours(chunk*pairChunk, min((chunk+1)*pairChunk, len(s.next)))
}

func (s *solver) matchRows(lo, hi int, to *share) {
	first, last := 0, len(s.contacts)
	if lo > 0 {
		first = rigid.LowerBound(s.contacts, s.pairs.A[lo], s.pairs.B[lo])
	}
	if hi < len(s.next) {
		last = rigid.LowerBound(s.contacts, s.pairs.A[hi], s.pairs.B[hi])
	}
	pairs := rigid.Pairs{A: s.pairs.A[lo:hi], B: s.pairs.B[lo:hi]}
	rigid.MatchContacts(s.contacts[first:last], &pairs, s.manifolds[lo:hi], s.next[lo:hi], &to.began, &to.ended)
}

// report tells what began and ended to touch, before s.next replaces s.contacts.
func (s *solver) report() {
	through := 0
	for k := range s.shares {
		through += s.shares[k].passing
		ended := &s.shares[k].ended
		for i, a := range ended.A {
			b := ended.B[i]
			s.events.end(s.seen, a, b, s.senses(a, b)|s.passed(a, b))
		}
		s.wakeLeft(ended)
		began := &s.shares[k].began
		for i, a := range began.A {
			b := began.B[i]
			s.events.begin(s.seen, a, b, s.senses(a, b))
		}
	}
	s.passing = through
}

// keepMeaningful takes out the pairs of which nothing follows: two sensors, two solid shapes
// of which neither belongs to a dynamic body, and two shapes of static bodies, of which one was
// changed; and those of bodies that ignore each other, or that a joint keeps apart.
func (s *solver) keepMeaningful() {
	t, n := &s.shapes, 0
	if t.sensors == 0 && s.joints.apart == 0 && len(s.sleep.briefly) == 0 && !s.anyKinematic() && s.pairTable.empty() {
		return // one body of each pair is dynamic
	}
	for i, a := range s.pairs.A {
		b := s.pairs.B[i]
		if s.joints.apart > 0 && s.jointed(t.filters.Body[a], t.filters.Body[b]) {
			continue
		}
		most := max(s.cols.Type[t.filters.Body[a]], s.cols.Type[t.filters.Body[b]])
		senses := t.sensor[a] != t.sensor[b] && most != StaticBody
		if (senses || !t.sensor[a] && !t.sensor[b] && most == DynamicBody) && !s.ignored(a, b) {
			s.pairs.A[n], s.pairs.B[n] = a, b
			n++
		}
	}
	s.pairs.A, s.pairs.B = s.pairs.A[:n], s.pairs.B[:n]
}

func (s *solver) anyKinematic() bool {
	types := s.cols.Type[:s.rows]
	return bytes.IndexByte(unsafe.Slice((*byte)(unsafe.SliceData(types)), len(types)), byte(KinematicBody)) >= 0
}

func (s *solver) collideRows(lo, hi int) {
	pairs := rigid.Pairs{A: s.pairs.A[lo:hi], B: s.pairs.B[lo:hi]}
	t, out := &s.shapes, s.manifolds[lo:hi]
	rigid.Collide(s.level, t.shape, t.filters.Body, &s.centre, &pairs, out)
	if t.chained > 0 {
		rigid.CollideChains(t.shape, t.smooth, t.filters.Body, &s.centre, &pairs, out)
	}
	s.sense(lo, hi)
}

// sense empties the manifolds of sensors that are near a shape and do not overlap it, of
// pairs [lo, hi).
func (s *solver) sense(lo, hi int) {
	if s.shapes.sensors == 0 {
		return
	}
	for i := lo; i < hi; i++ {
		a := s.pairs.A[i]
		if s.senses(a, s.pairs.B[i]) == 0 {
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

// muteSensors lets sensors push nothing, and marks their contacts.
func (s *solver) muteSensors(lo, hi int) {
	if s.shapes.sensors == 0 {
		return
	}
	for i := lo; i < hi; i++ {
		if flags := s.senses(s.pairs.A[i], s.pairs.B[i]); flags != 0 {
			s.manifolds[i].Count = 0
			s.next[i].Flags = flags
		}
	}
}

// senses returns the flags of a contact of two shapes.
func (s *solver) senses(a, b uint32) uint32 {
	switch {
	case s.shapes.sensor[a]:
		return sensorA
	case s.shapes.sensor[b]:
		return sensorB
	}
	return 0
}
