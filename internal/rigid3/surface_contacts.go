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
	Manifolds    []Manifold  // of all pairs
	Began, Ended broad.Pairs

	faces    []uint32 // by manifold
	from     []int32  // by manifold: the contact in Old that was recycled, or NotRecycled
	counts   []uint8  // by pair: manifolds
	collider SurfaceCollider
	out      [MaxSurfaceManifolds]SurfaceManifold
	waiting  waitingPairs
}

// Collide makes the manifolds of the pairs of a chunk. They are those of Recycle if all contacts of a pair can be recycled. A sensor has at most one
// manifold, if it overlaps the other shape.
func (k *SurfaceChunk) Collide(s *SurfacePairs) {
	k.Manifolds, k.faces, k.from, k.counts = k.Manifolds[:0], k.faces[:0], k.from[:0], k.counts[:0]
	kernel := kernelsOf(s.Level).surface
	k.waiting.pairs = k.waiting.pairs[:0]
	next := k.First
	for i, a := range k.Pairs.A {
		pair := Contact{A: a, B: k.Pairs.B[i]}
		for next < k.Last && s.Old[next].key() < pair.key() {
			next++
		}
		run := next
		for next < k.Last && s.Old[next].key() == pair.key() {
			next++
		}
		before := len(k.Manifolds)
		switch {
		case k.recycle(s, run, next):
		case kernel == nil:
			k.collide(s, pair.A, pair.B)
		default:
			k.waiting.pairs = append(k.waiting.pairs, uint32(i))
		}
		k.counts = append(k.counts, uint8(len(k.Manifolds)-before))
	}
	if len(k.waiting.pairs) > 0 {
		k.collideWaiting(s, kernel)
	}
}

// Touches reports whether pair i has a manifold.
func (k *SurfaceChunk) Touches(i int) bool { return k.counts[i] > 0 }

// recycle makes the manifolds of a pair from contacts [lo, hi) of the last step, if it can.
func (k *SurfaceChunk) recycle(s *SurfacePairs, lo, hi int) bool {
	before := len(k.Manifolds)
	for n := lo; n < hi; n++ {
		c := &s.Old[n]
		k.Manifolds = append(k.Manifolds, Manifold{})
		if c.Flags&FlagBase == 0 || !c.recycle(&s.Bases[n], &s.Poses[s.BodyOf[c.A]], &s.Poses[s.BodyOf[c.B]], &k.Manifolds[before+n-lo]) {
			k.Manifolds = k.Manifolds[:before]
			return false
		}
	}
	for n := lo; n < hi; n++ {
		k.faces, k.from = append(k.faces, s.Touches[n].Face), append(k.from, int32(n))
	}
	return hi > lo
}

func (k *SurfaceChunk) collide(s *SurfacePairs, a, b uint32) {
	k.add(s, a, b, k.out[:k.collider.collidePair(s, a, b, &k.out)])
}

// add adds the manifolds of a pair that was not recycled.
func (k *SurfaceChunk) add(s *SurfacePairs, a, b uint32, found []SurfaceManifold) {
	if s.Sensors[a] || s.Sensors[b] {
		found = onlyTouching(found)
	}
	for i := range found {
		k.Manifolds = append(k.Manifolds, found[i].Manifold)
		k.faces, k.from = append(k.faces, found[i].Face), append(k.from, NotRecycled)
	}
}

// onlyTouching returns the first manifold with an overlap, if there is one.
func onlyTouching(found []SurfaceManifold) []SurfaceManifold {
	for i := range found {
		for _, p := range found[i].Points[:found[i].Count] {
			if p.Separation <= 0 {
				return found[i : i+1]
			}
		}
	}
	return nil
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

// Match makes the contacts of the manifolds of Collide. A contact continues the one of the last step in its pair with the most equal normal, if their
// cosine is at least 0.9 and no other contact is closer to it: it inherits the impulses of the friction, and those of points with the same ID.
func (k *SurfaceChunk) Match(s *SurfacePairs, contacts []Contact, touches []SurfaceTouch, bases []BaseManifold) {
	k.Began.Reset()
	k.Ended.Reset()
	next, at := k.First, 0
	for i, n := range k.counts {
		pair := Contact{A: k.Pairs.A[i], B: k.Pairs.B[i]}
		next = k.endBefore(s, next, pair.key())
		run := next
		for next < k.Last && s.Old[next].key() == pair.key() {
			next++
		}
		end := at + int(n)
		switch {
		case n > 0 && next == run:
			k.Began.Add(pair.A, pair.B)
		case n == 0 && next > run:
			k.Ended.Add(pair.A, pair.B)
		}
		if n > 0 {
			k.matchRun(s, &pair, at, end, run, next, contacts[at:end], touches[at:end], bases[at:end])
		}
		at = end
	}
	k.endBefore(s, next, ^uint64(0))
}

// endBefore notes that the pairs of old contacts before a key have ended.
func (k *SurfaceChunk) endBefore(s *SurfacePairs, next int, key uint64) int {
	for ; next < k.Last && s.Old[next].key() < key; next++ {
		if c := &s.Old[next]; next == k.First || s.Old[next-1].key() != c.key() {
			k.Ended.Add(c.A, c.B)
		}
	}
	return next
}

// matchRun makes the contacts of manifolds [at, end), which are those of a pair that had contacts [run, next) of Old.
func (k *SurfaceChunk) matchRun(s *SurfacePairs, pair *Contact, at, end, run, next int, contacts []Contact, touches []SurfaceTouch, bases []BaseManifold) {
	if k.from[at] != NotRecycled {
		copy(contacts, s.Old[run:next])
		copy(touches, s.Touches[run:next])
		copy(bases, s.Bases[run:next])
		return
	}
	manifolds := k.Manifolds[at:end]
	for i := range manifolds {
		c := &contacts[i]
		c.A, c.B = pair.A, pair.B
		c.begin(&manifolds[i])
		c.Flags = FlagSurface
		touches[i] = SurfaceTouch{manifolds[i].Normal, k.faces[at+i]}
	}
	matchNormals(contacts, touches, s.Old[run:next], s.Touches[run:next])
	k.keepBases(s, manifolds, contacts, bases)
}

// matchNormals lets contacts inherit from those of the last step: always the two with the most equal normals that are left, the first of equals.
func matchNormals(contacts []Contact, touches []SurfaceTouch, old []Contact, oldTouches []SurfaceTouch) {
	var matched, used [MaxSurfaceManifolds]bool
	old = old[:min(len(old), MaxSurfaceManifolds)]
	for range contacts {
		best, bestOld, most := -1, 0, float32(sameNormal)
		for i := range contacts {
			for n := range old {
				if cosine := touches[i].Normal.Dot(oldTouches[n].Normal); !matched[i] && !used[n] && cosine > most {
					best, bestOld, most = i, n, cosine
				}
			}
		}
		if best < 0 {
			return
		}
		matched[best], used[bestOld] = true, true
		contacts[best].inherit(&old[bestOld])
	}
}

// keepBases gives bases to the contacts of a pair if all can have one.
func (k *SurfaceChunk) keepBases(s *SurfacePairs, manifolds []Manifold, contacts []Contact, bases []BaseManifold) {
	a, b := s.BodyOf[contacts[0].A], s.BodyOf[contacts[0].B]
	if s.Sensors[contacts[0].A] || s.Sensors[contacts[0].B] {
		return
	}
	motion := motionOf(s.V, s.W, a, b, float32(s.Time*recycleSteps))
	for i := range manifolds {
		if m := &manifolds[i]; m.Count < 2 || !motion.within(float32(surfaceRecycling*m.limit())) {
			return
		}
	}
	for i := range manifolds {
		m := &manifolds[i]
		bases[i] = m.base(float32(surfaceRecycling*m.limit()), s.Poses[a].Q, s.Poses[b].Q)
		contacts[i].Flags |= FlagBase
	}
}
