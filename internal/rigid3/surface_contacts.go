package rigid3

import (
	"github.com/evertick/evertick/internal/broad"
	"github.com/evertick/evertick/native"
)

// FlagSurface is the flag of a Contact with a surface. A pair with a surface has a contact for each of its manifolds, one after the other.
const FlagSurface = 2

// SurfaceTouch is what is kept of a manifold with a surface in addition to its contact.
type SurfaceTouch struct {
	Normal Vec    // from A to B
	Face   uint32 // the triangle at the deepest point
}

const (
	// sameNormal is the least cosine between the normals of a manifold and of the one in the last step that it continues.
	sameNormal = 0.9

	// surfaceRecycling is the share of the motion of other contacts for which those with a surface are recycled: another triangle may come near.
	surfaceRecycling = 0.5
)

// SurfacePairs makes the contacts of pairs of which one shape is a surface, and the other is none. Collide and then Match do a chunk of the pairs.
type SurfacePairs struct {
	Level   native.Level
	Shapes  []Shape
	Hulls   *Hulls
	BodyOf  []uint32 // by shape
	Sensors []bool   // by shape
	Poses   []Pose
	V, W    *[3][]float32 // of the bodies
	Time    float32       // length of the step, s

	// Contacts with surfaces of the last step, ascending by A, then B, and what belongs to them.
	Old     []Contact
	Touches []SurfaceTouch
	Bases   []BaseManifold
}

// SurfaceChunk holds the results of a chunk of SurfacePairs.
type SurfaceChunk struct {
	Pairs        broad.Pairs // ascending by A, then B
	First, Last  int         // range of Old that belongs to them
	Began, Ended broad.Pairs

	runs      []surfaceRun // by pair
	count     int          // of the manifolds of all pairs
	recycled  []Manifold
	from      []int32 // by manifold in recycled: the contact in Old, or NotRecycled
	made      []SurfaceManifold
	recycling Recycling
	collider  SurfaceCollider
	out       [MaxSurfaceManifolds]SurfaceManifold
	waiting   waitingPairs
}

// surfaceRun is the manifolds of a pair.
type surfaceRun struct {
	first, last int32 // Old[first:last] are its contacts of the last step
	from        int32 // its first manifold in recycled or in made
	count       uint8 // of its manifolds
	recycled    bool
}

// Collide makes the manifolds of the pairs of a chunk. They are those of Recycle if all contacts of a pair can be recycled. A sensor has at most one
// manifold, if it overlaps the other shape.
func (k *SurfaceChunk) Collide(s *SurfacePairs) {
	kernels := kernelsOf(s.Level)
	k.findRuns(s)
	k.recycle(s, kernels)
	k.made, k.count, k.waiting.pairs = k.made[:0], 0, k.waiting.pairs[:0]
	for i := range k.runs {
		switch {
		case k.runs[i].recycled:
		case kernels.surface == nil:
			k.collide(s, i)
		default:
			k.waiting.pairs = append(k.waiting.pairs, uint32(i))
		}
	}
	if len(k.waiting.pairs) > 0 {
		k.collideWaiting(s, kernels.surface)
	}
	for i := range k.runs {
		k.count += int(k.runs[i].count)
	}
}

// Count returns the number of manifolds of all pairs.
func (k *SurfaceChunk) Count() int { return k.count }

// Touches reports whether pair i has a manifold.
func (k *SurfaceChunk) Touches(i int) bool { return k.runs[i].count > 0 }

// findRuns finds the contacts of the last step of each pair.
func (k *SurfaceChunk) findRuns(s *SurfacePairs) {
	k.runs = k.runs[:0]
	next, nextKey := k.First, keyOf(s.Old[:k.Last], k.First)
	for i, a := range k.Pairs.A {
		pair := Contact{A: a, B: k.Pairs.B[i]}
		key := pair.key()
		for nextKey < key {
			next++
			nextKey = keyOf(s.Old[:k.Last], next)
		}
		first := next
		for nextKey == key {
			next++
			nextKey = keyOf(s.Old[:k.Last], next)
		}
		k.runs = append(k.runs, surfaceRun{first: int32(first), last: int32(next)})
	}
}

// recycle makes the manifolds of the pairs of which all contacts can be recycled.
func (k *SurfaceChunk) recycle(s *SurfacePairs, kernels *kernels) {
	r := &k.recycling
	r.Old, r.Bases, r.BodyOf, r.Poses = s.Old, s.Bases, s.BodyOf, s.Poses
	k.from = k.from[:0]
	found, begun := 0, 0
	for i := range k.runs {
		run := &k.runs[i]
		if !run.hasBases(s.Old) {
			continue
		}
		if found+int(run.last-run.first) > recyclePart {
			k.recycleRuns(begun, i, found, kernels)
			found, begun = 0, i
		}
		run.from = int32(len(k.from))
		for n := run.first; n < run.last; n++ {
			r.pairs[found], r.contacts[found] = uint32(len(k.from)), uint32(n)
			k.from = append(k.from, NotRecycled)
			found++
		}
		run.recycled = true
	}
	k.recycleRuns(begun, len(k.runs), found, kernels)
}

// hasBases reports whether a pair has contacts of which each has a base.
func (r *surfaceRun) hasBases(old []Contact) bool {
	if n := r.last - r.first; n == 0 || n > MaxSurfaceManifolds {
		return false
	}
	for n := r.first; n < r.last; n++ {
		if old[n].Flags&FlagBase == 0 {
			return false
		}
	}
	return true
}

// recycleRuns tries the contacts that were found, which are those of runs [lo, hi) that are marked.
func (k *SurfaceChunk) recycleRuns(lo, hi, found int, kernels *kernels) {
	if found == 0 {
		return
	}
	k.recycled = grown(k.recycled[:len(k.from)-found], found)
	kernels.recycle(&k.recycling, found, k.from, k.recycled)
	for i := lo; i < hi; i++ {
		run := &k.runs[i]
		if !run.recycled {
			continue
		}
		run.count = uint8(run.last - run.first)
		for _, from := range k.from[run.from:][:run.count] {
			run.recycled = run.recycled && from != NotRecycled
		}
		if !run.recycled {
			run.count = 0
		}
	}
}

// collide makes the manifolds of pair i in Go.
func (k *SurfaceChunk) collide(s *SurfacePairs, i int) {
	a, b, run := k.Pairs.A[i], k.Pairs.B[i], &k.runs[i]
	run.from, run.count = int32(len(k.made)), uint8(k.collider.collidePair(s, a, b, &k.out))
	k.made = append(k.made, k.out[:run.count]...)
	k.keepTouching(s, i)
}

// keepTouching leaves a sensor the first manifold with an overlap, or none.
func (k *SurfaceChunk) keepTouching(s *SurfacePairs, i int) {
	run := &k.runs[i]
	if run.count == 0 || !s.Sensors[k.Pairs.A[i]] && !s.Sensors[k.Pairs.B[i]] {
		return
	}
	found := k.made[run.from:][:run.count]
	run.count = 0
	for n := range found {
		for _, p := range found[n].Points[:found[n].Count] {
			if p.Separation <= 0 {
				run.from, run.count = run.from+int32(n), 1
				return
			}
		}
	}
}

// collidePair makes the manifolds of two shapes, of which one is a surface, with normals from a to b.
func (k *SurfaceCollider) collidePair(s *SurfacePairs, a, b uint32, out *[MaxSurfaceManifolds]SurfaceManifold) int {
	a, b, mirrored := s.surfaceFirst(a, b)
	surface, ok := s.surfaceOf(a, b)
	if !ok {
		return 0
	}
	shape := &s.Shapes[a]
	n := k.Collide(surface.Surface, surface.TwoSided, &s.Shapes[b], s.Hulls, &s.Poses[s.BodyOf[a]], &s.Poses[s.BodyOf[b]], &shape.Pose, out)
	if mirrored {
		swapAll(out[:n])
	}
	return n
}

// surfaceFirst returns the shapes of a pair with the surface first, and whether they were not.
func (s *SurfacePairs) surfaceFirst(a, b uint32) (surface, other uint32, mirrored bool) {
	if s.Shapes[a].Kind != KindSurface {
		return b, a, true
	}
	return a, b, false
}

// surfaceOf returns the triangles of a shape, if it is a surface and another one is none.
func (s *SurfacePairs) surfaceOf(shape, other uint32) (surface Surface, ok bool) {
	surface = s.Hulls.surface(s.Shapes[shape].Hull)
	return surface, s.Shapes[shape].Kind == KindSurface && s.Shapes[other].Kind != KindSurface && surface.Surface != nil
}

func swapAll(manifolds []SurfaceManifold) {
	for i := range manifolds {
		manifolds[i].swap()
	}
}

// CollideSurface makes the manifolds of a pair, with normals from a to b. Of s it needs the shapes, the hulls and the poses.
func (k *SurfaceChunk) CollideSurface(s *SurfacePairs, a, b uint32) []SurfaceManifold {
	return k.out[:k.collider.collidePair(s, a, b, &k.out)]
}

// SurfaceContacts is what Match makes, by manifold.
type SurfaceContacts struct {
	Contacts  []Contact
	Touches   []SurfaceTouch
	Bases     []BaseManifold // of the contacts with FlagBase
	Manifolds []Manifold
}

// Match makes the contacts of the manifolds of Collide. A contact continues the one of the last step in its pair with the most equal normal, if their
// cosine is at least 0.9 and no other contact is closer to it: it inherits the impulses of the friction, and those of points with the same ID.
func (k *SurfaceChunk) Match(s *SurfacePairs, out SurfaceContacts) {
	k.Began.Reset()
	k.Ended.Reset()
	at, next := 0, k.First
	for i := range k.runs {
		r := &k.runs[i]
		a, b, end := k.Pairs.A[i], k.Pairs.B[i], at+int(r.count)
		k.end(s.Old, next, int(r.first))
		next = int(r.last)
		switch {
		case r.count > 0 && r.first == r.last:
			k.Began.Add(a, b)
		case r.count == 0 && r.first < r.last:
			k.Ended.Add(a, b)
		}
		if r.recycled {
			copy(out.Contacts[at:end], s.Old[r.first:r.last])
			copy(out.Touches[at:end], s.Touches[r.first:r.last])
			copy(out.Bases[at:end], s.Bases[r.first:r.last])
			copy(out.Manifolds[at:end], k.recycled[r.from:])
		} else if r.count > 0 {
			k.match(s, i, SurfaceContacts{out.Contacts[at:end], out.Touches[at:end], out.Bases[at:end], out.Manifolds[at:end]})
		}
		at = end
	}
	k.end(s.Old, next, k.Last)
}

// end notes that the pairs of contacts [lo, hi) of the last step have ended.
func (k *SurfaceChunk) end(old []Contact, lo, hi int) {
	for i := lo; i < hi; i++ {
		if c := &old[i]; i == k.First || old[i-1].key() != c.key() {
			k.Ended.Add(c.A, c.B)
		}
	}
}

// match makes the contacts of pair i, which was not recycled.
func (k *SurfaceChunk) match(s *SurfacePairs, i int, out SurfaceContacts) {
	r := &k.runs[i]
	made := k.made[r.from:][:r.count]
	for n := range out.Contacts {
		m, c := &made[n], &out.Contacts[n]
		out.Manifolds[n] = m.Manifold
		out.Touches[n] = SurfaceTouch{m.Normal, m.Face}
		c.A, c.B = k.Pairs.A[i], k.Pairs.B[i]
		c.begin(&m.Manifold)
		c.Flags = FlagSurface
	}
	if r.first < r.last {
		matchNormals(out.Contacts, out.Touches, s.Old[r.first:r.last], s.Touches[r.first:r.last])
	}
	s.keepBases(&out)
}

// matchNormals lets contacts inherit from those of the last step: always the two with the most equal normals that are left, the first of equals.
func matchNormals(contacts []Contact, touches []SurfaceTouch, old []Contact, oldTouches []SurfaceTouch) {
	var likely [MaxSurfaceManifolds * MaxSurfaceManifolds]struct {
		cosine float32
		i, n   uint8
	}
	count := 0
	old = old[:min(len(old), MaxSurfaceManifolds)]
	for i := range contacts {
		for n := range old {
			if cosine := touches[i].Normal.Dot(oldTouches[n].Normal); cosine > sameNormal {
				l := &likely[count%len(likely)]
				l.cosine, l.i, l.n = cosine, uint8(i), uint8(n)
				count++
			}
		}
	}
	for left := likely[:count]; len(left) > 0; {
		best := left[0]
		for _, l := range left[1:] {
			if l.cosine > best.cosine {
				best = l
			}
		}
		contacts[best.i].inherit(&old[best.n])
		kept := 0
		for _, l := range left {
			if l.i != best.i && l.n != best.n {
				left[kept] = l
				kept++
			}
		}
		left = left[:kept]
	}
}

// keepBases gives bases to the contacts of a pair that was not recycled, if all can have one.
func (s *SurfacePairs) keepBases(of *SurfaceContacts) {
	c := &of.Contacts[0]
	if s.Sensors[c.A] || s.Sensors[c.B] {
		return
	}
	a, b := s.BodyOf[c.A], s.BodyOf[c.B]
	motion := motionOf(s.V, s.W, a, b, float32(s.Time*recycleSteps))
	if !motion.within(surfaceRecycling * recycleDistance) { // no limit is higher
		return
	}
	var limits [MaxSurfaceManifolds]float32
	for i := range of.Manifolds {
		m := &of.Manifolds[i]
		if m.Count < 2 {
			return
		}
		limits[i] = float32(surfaceRecycling * m.limit())
		if !motion.within(limits[i]) {
			return
		}
	}
	for i := range of.Manifolds {
		of.Manifolds[i].base(limits[i], s.Poses[a].Q, s.Poses[b].Q, &of.Bases[i])
		of.Contacts[i].Flags |= FlagBase
	}
}
