package physics3

import (
	"cmp"
	"slices"

	"github.com/evertick/evertick/internal/broad"
	"github.com/evertick/evertick/internal/rigid3"
)

// surfaceContacts is how a step makes contacts with surfaces. In the list of contacts they follow all others, one for each manifold; those of a pair
// follow each other.
type surfaceContacts struct {
	pairs  broad.Pairs // of which one is a surface
	scene  rigid3.SurfacePairs
	chunks []rigid3.SurfaceChunk
	start  []int // by chunk: the first of its contacts; and the end

	made  rigid3.SurfaceContacts // of this step
	mixed []rigid3.Material      // of its contacts
	moved rigid3.SurfaceContacts // memory for contacts and bases that must not replace those of the last step yet

	velocities [2][3][]float32 // columns, for scene
	present    rigid3.SurfaceChunk
}

// count returns the number of contacts with surfaces in this step.
func (t *surfaceContacts) count() int {
	if len(t.start) == 0 {
		return 0
	}
	return t.start[len(t.chunks)]
}

// surfaceChunkPairs is the number of pairs of a chunk. Their manifolds take some ten microseconds.
const surfaceChunkPairs = 32

// collideSurfaces makes the manifolds of the pairs with surfaces.
func (s *solver) collideSurfaces() {
	t := &s.surfaces
	old := s.contacts[s.convex:]
	t.scene = s.surfaceScene()
	t.scene.Old, t.scene.Touches, t.scene.Bases = old, s.touches, s.bases[s.convex:]
	n := (len(t.pairs.A) + surfaceChunkPairs - 1) / surfaceChunkPairs
	if n == 0 && len(old) > 0 {
		n = 1 // reports what ended
	}
	for t.chunks = t.chunks[:min(n, cap(t.chunks))]; len(t.chunks) < n; {
		t.chunks = append(t.chunks, rigid3.SurfaceChunk{})
	}
	first := 0
	for i := range t.chunks {
		lo, hi := i*surfaceChunkPairs, min((i+1)*surfaceChunkPairs, len(t.pairs.A))
		k := &t.chunks[i]
		k.Pairs = broad.Pairs{A: t.pairs.A[lo:hi], B: t.pairs.B[lo:hi]}
		k.First, k.Last = first, len(old)
		if hi < len(t.pairs.A) {
			k.Last = rigid3.LowerBoundNear(old, first, t.pairs.A[hi], t.pairs.B[hi])
		}
		first = k.Last
	}
	s.stages.ForEach(n, (*solver).collideSurfaceChunks)
	t.start = append(t.start[:0], 0)
	for i := range t.chunks {
		t.start = append(t.start, t.start[i]+t.chunks[i].Count())
	}
}

func (s *solver) surfaceScene() rigid3.SurfacePairs {
	c := s.cols
	s.surfaces.velocities = [2][3][]float32{{c.VX, c.VY, c.VZ}, {c.WX, c.WY, c.WZ}}
	return rigid3.SurfacePairs{
		Level: s.level, Shapes: s.shapes.shape, Hulls: &s.contents.Hulls, BodyOf: s.shapes.filters.Body, Sensors: s.shapes.sensor, Poses: s.poses,
		V: &s.surfaces.velocities[0], W: &s.surfaces.velocities[1], Time: s.dt,
	}
}

func (s *solver) collideSurfaceChunks(lo, hi int) {
	t := &s.surfaces
	for i := lo; i < hi; i++ {
		t.chunks[i].Collide(&t.scene)
	}
}

// matchSurfaces makes the contacts of these manifolds. It returns the list of all contacts, in which they come after n others. If the pairs of the others
// have stayed, that list has the contacts of the last step, and takeSurfaces puts the new ones there.
func (s *solver) matchSurfaces(n int) []rigid3.Contact {
	t, count, usual := &s.surfaces, s.surfaces.count(), s.minContactCapacity()
	t.made.Touches = growContacts(t.made.Touches, count, usual)
	t.made.Manifolds = s.manifolds[n : n+count]
	if s.samePairs {
		t.moved.Contacts, t.moved.Bases = growContacts(t.moved.Contacts, count, usual), growContacts(t.moved.Bases, count, usual)
		t.made.Contacts, t.made.Bases = t.moved.Contacts, t.moved.Bases
		s.contacts, s.bases = extendContacts(s.contacts, n, count), extendContacts(s.bases, n, count)
	} else {
		s.next, s.nextBases = growContacts(s.next, n+count, usual), growContacts(s.nextBases, n+count, usual)
		t.made.Contacts, t.made.Bases = s.next[n:], s.nextBases[n:]
	}
	s.reserveMixed(count)
	s.stages.ForParts(len(t.chunks), (*solver).matchSurfaceChunks)
	s.touches, t.made.Touches = t.made.Touches, s.touches
	if s.samePairs {
		return s.contacts
	}
	return s.next
}

// extendContacts returns s with a length of n+count. What is beyond n may be from before.
func extendContacts[T any](s []T, n, count int) []T {
	if n+count <= cap(s) {
		return s[:n+count]
	}
	return append(s[:n], make([]T, count)...)
}

func (s *solver) matchSurfaceChunks(lo, hi int) {
	t := &s.surfaces
	for i := lo; i < hi; i++ {
		from, to, m := t.start[i], t.start[i+1], &t.made
		t.chunks[i].Match(&t.scene, rigid3.SurfaceContacts{
			Contacts: m.Contacts[from:to], Touches: m.Touches[from:to], Bases: m.Bases[from:to], Manifolds: m.Manifolds[from:to],
		})
		for k := from; k < to; k++ {
			s.mixSurface(&m.Contacts[k], m.Touches[k].Face, &t.mixed[k])
		}
	}
}

// takeSurfaces puts the contacts with surfaces among contacts [lo, hi) to their place in the list.
func (s *solver) takeSurfaces(lo, hi int) {
	n := len(s.pairs.A)
	if lo = max(lo, n); !s.samePairs || lo >= hi {
		return
	}
	made := &s.surfaces.made
	copy(s.contacts[lo:hi], made.Contacts[lo-n:])
	for i := lo; i < hi; i++ {
		if s.contacts[i].Flags&rigid3.FlagBase != 0 {
			s.bases[i] = made.Bases[i-n]
		}
	}
}

// mixesPairs reports whether the stages do not know the rules of the world by which the materials of two shapes are mixed.
func (s *solver) mixesPairs() bool {
	return s.frictionMix != MixGeometric || s.restitutionMix != MixMax
}

// reserveMixed makes room for the mixed materials of the last contacts after the materials of the shapes: of all pairs if they are mixed here, and
// of a number of contacts with surfaces.
func (s *solver) reserveMixed(surfaces int) {
	t, pairs := &s.shapes, 0
	if s.mixesPairs() {
		pairs = len(s.pairs.A)
	}
	shapes := len(t.materials)
	all := slices.Grow(t.materials, pairs+surfaces)[:shapes+pairs+surfaces]
	t.materials, s.surfaces.mixed = all[:shapes], all[shapes+pairs:]
}

// mixMaterials returns the materials of the shapes, and after them those of the last contacts, which it counts.
func (s *solver) mixMaterials() (all []rigid3.Material, mixed int) {
	t, pairs := &s.shapes, 0
	if s.mixesPairs() {
		pairs = len(s.pairs.A)
	}
	mixed = pairs + len(s.surfaces.mixed)
	all = t.materials[:len(t.materials)+mixed]
	for i := range pairs {
		x, y := &t.materials[s.pairs.A[i]], &t.materials[s.pairs.B[i]]
		s.mix(x, y, x.RollingResistance, x.TwistResistance, &all[len(t.materials)+i])
	}
	return all, mixed
}

// mixSurface sets the material of a contact with a surface. The radius that counts for its resistance to rolling is that of the other shape.
func (s *solver) mixSurface(c *rigid3.Contact, face uint32, to *rigid3.Material) {
	t, a, b := &s.shapes, c.A, c.B
	if t.surface[a] == nil {
		a, b = b, a
	}
	x, rolling, radius := &t.materials[a], t.rolling[a], t.local[b].Radius
	if m := materialOf(t.surface[a], face); m != nil {
		x = &rigid3.Material{Friction: m.Friction, Restitution: m.Restitution, TangentVelocity: x.TangentVelocity}
		rolling = [2]float32{m.RollingResistance, m.TwistResistance}
	}
	s.mix(x, &t.materials[b], float32(rolling[0]*radius), float32(rolling[1]*radius), to)
}

// mix combines two materials by the rules of the world, given the lever arms of the first in metres. The velocity of its belts is half of that which
// the surfaces have: see rigid3.System.Mixed.
func (s *solver) mix(x, y *rigid3.Material, rolling, twist float32, to *rigid3.Material) {
	to.Friction = s.frictionMix.Apply(x.Friction, y.Friction)
	to.Restitution = s.restitutionMix.Apply(x.Restitution, y.Restitution)
	to.RollingResistance, to.TwistResistance = max(rolling, y.RollingResistance), max(twist, y.TwistResistance)
	to.TangentVelocity = x.TangentVelocity.Add(y.TangentVelocity).Times(0.5)
}

// materialOf returns the material of a face, or nil for that of the shape.
func materialOf(f surface, face uint32) *SurfaceMaterial {
	if !hasFace(f, face) {
		return nil
	}
	return f.material(face)
}

// hasFace reports whether a surface has a face. That of a contact in a forged snapshot may not exist.
func hasFace(f surface, face uint32) bool { return int64(face) < int64(f.triangles().Len()) }

// reportSurfaces reports which shapes began and ended to touch a surface.
func (s *solver) reportSurfaces() {
	for k := range s.surfaces.chunks {
		c := &s.surfaces.chunks[k]
		s.reportTouches(&c.Began, &c.Ended)
	}
}

// sortTouches sorts lists from some elements on, after the pairs with surfaces followed all others.
func (e *Events) sortTouches(begin, end, sensorBegin, sensorEnd int) {
	for _, list := range [...][]Touch{e.Begin[begin:], e.End[end:]} {
		slices.SortFunc(list, func(x, y Touch) int {
			return cmp.Or(cmp.Compare(x.A.index, y.A.index), cmp.Compare(x.B.index, y.B.index))
		})
	}
	for _, list := range [...][]Sensed{e.SensorBegin[sensorBegin:], e.SensorEnd[sensorEnd:]} {
		slices.SortFunc(list, func(x, y Sensed) int {
			return cmp.Or(cmp.Compare(min(x.Sensor.index, x.Visitor.index), min(y.Sensor.index, y.Visitor.index)),
				cmp.Compare(max(x.Sensor.index, x.Visitor.index), max(y.Sensor.index, y.Visitor.index)))
		})
	}
}

// reportSurfaceHits reports the pairs with surfaces that were hit: of several contacts of a pair the one that was hit at the greatest speed.
func (s *solver) reportSurfaceHits() {
	n := len(s.sys.Hits)
	before := len(s.events.Hit)
	for i := s.convex; i < n; {
		best, end := -1, i
		for ; end < n && s.contacts[end].A == s.contacts[i].A && s.contacts[end].B == s.contacts[i].B; end++ {
			if h := &s.sys.Hits[end]; h.Speed >= s.tuning.HitSpeed && h.Impulse > 0 && (best < 0 || h.Speed > s.sys.Hits[best].Speed) {
				best = end
			}
		}
		if best >= 0 {
			s.reportHit(best)
		}
		i = end
	}
	if before > 0 && len(s.events.Hit) > before {
		slices.SortFunc(s.events.Hit, func(x, y Hit) int {
			return cmp.Or(cmp.Compare(x.A.index, y.A.index), cmp.Compare(x.B.index, y.B.index))
		})
	}
}

// removeStaleSurfaces is removeStaleContacts for contacts with surfaces, which go to index n of the list.
func (s *solver) removeStaleSurfaces(n int) {
	contacts, kept := s.contacts[s.convex:], 0
	for i := range contacts {
		c := &contacts[i]
		if s.shapesLive(c) {
			s.contacts[n+kept], s.bases[n+kept], s.touches[kept] = *c, s.bases[s.convex+i], s.touches[i]
			kept++
		}
	}
	s.contacts, s.bases, s.touches = s.contacts[:n+kept], s.bases[:n+kept], s.touches[:kept]
}

// sameShapes reports whether two contacts are of one pair.
func sameShapes(a, b *rigid3.Contact) bool { return a.A == b.A && a.B == b.B }
