package rigid3

import "github.com/evertick/evertick/internal/mesh"

// surfaceLeft is the count of a pair that a kernel leaves to SurfaceCollider: it has too many triangles near it, or asks for a triangle that the
// kernel does not have.
const surfaceLeft = 255

// surfacePart is the pairs of one surface.
type surfacePart struct {
	*SurfacePairs
	shape    uint32 // the surface
	twoSided bool
	mesh     *mesh.Mesh  // or else
	faces    []mesh.Face // those near shape i are faces[starts[i]:starts[i+1]]
	starts   []uint32
}

// waitingPairs is the pairs of a chunk that are not recycled, and memory for a kernel.
type waitingPairs struct {
	pairs  []uint32 // numbers of pairs
	done   []bool   // by pair of the chunk
	part   surfacePart
	number []uint32 // of the pairs of the part
	shapes []uint32
	counts []uint8
	left   []uint32 // pairs that a kernel leaves
}

// collideWaiting makes the manifolds of the pairs that wait, those of one surface after the other.
func (k *SurfaceChunk) collideWaiting(s *SurfacePairs, kernel func(p *surfacePart, shapes []uint32, counts []uint8, out []SurfaceManifold) int) {
	w := &k.waiting
	w.left, w.done = w.left[:0], grown(w.done[:0], len(k.runs))
	clear(w.done)
	for i, n := range w.pairs {
		if w.done[n] {
			continue
		}
		a, b, _ := s.surfaceFirst(k.Pairs.A[n], k.Pairs.B[n])
		surface, ok := s.surfaceOf(a, b)
		if !ok {
			continue // without manifolds
		}
		w.part.SurfacePairs, w.part.shape, w.part.twoSided = s, a, surface.TwoSided
		w.number, w.shapes = w.number[:0], w.shapes[:0]
		for _, m := range w.pairs[i:] {
			if c, other, _ := s.surfaceFirst(k.Pairs.A[m], k.Pairs.B[m]); c == a && s.Shapes[other].Kind != KindSurface {
				w.number, w.shapes, w.done[m] = append(w.number, m), append(w.shapes, other), true
			}
		}
		k.findFaces(surface)
		k.collidePart(kernel)
	}
	for _, n := range w.left {
		k.collide(s, int(n))
	}
	w.part.SurfacePairs, w.part.mesh = nil, nil
}

// findFaces sets the mesh of a part, or the triangles near its shapes if it has none.
func (k *SurfaceChunk) findFaces(surface Surface) {
	w := &k.waiting
	p := &w.part
	p.mesh, p.faces, p.starts = nil, p.faces[:0], append(p.starts[:0], 0)
	if m, ok := surface.Surface.(*mesh.Mesh); ok {
		p.mesh = m
		return
	}
	for _, b := range w.shapes {
		if k.collider.find(surface.Surface, p.twoSided, &p.Shapes[b], p.Hulls, &p.Poses[p.BodyOf[p.shape]], &p.Poses[p.BodyOf[b]], &p.Shapes[p.shape].Pose) {
			p.faces = append(p.faces, k.collider.faces...)
		}
		p.starts = append(p.starts, uint32(len(p.faces)))
	}
	k.collider.surface = nil
}

// collidePart makes the manifolds of a part.
func (k *SurfaceChunk) collidePart(kernel func(p *surfacePart, shapes []uint32, counts []uint8, out []SurfaceManifold) int) {
	w := &k.waiting
	w.counts = grown(w.counts[:0], len(w.shapes))
	starts := w.part.starts
	for done := 0; done < len(w.shapes); {
		at := len(k.made)
		room := at + len(w.shapes) - done + MaxSurfaceManifolds
		if cap(k.made) < room {
			k.made = append(make([]SurfaceManifold, 0, 2*room), k.made...)
		}
		n := kernel(&w.part, w.shapes[done:], w.counts[done:], k.made[at:cap(k.made)])
		if n < 0 {
			panic("rigid3: SurfaceChunk.Collide: a pair names no shape, or a shape no body")
		}
		for i := done; i < done+n; i++ {
			pair, count := w.number[i], w.counts[i]
			if count == surfaceLeft {
				w.left = append(w.left, pair)
				continue
			}
			k.made = k.made[:at+int(count)]
			k.takeMade(w.part.SurfacePairs, int(pair), at)
			at += int(count)
		}
		if done += n; w.part.mesh == nil {
			w.part.starts = w.part.starts[n:]
		}
	}
	w.part.starts = starts
}

// takeMade gives pair i the manifolds from number from on, which a kernel has made with the surface as A.
func (k *SurfaceChunk) takeMade(s *SurfacePairs, i, from int) {
	found := k.made[from:]
	k.runs[i].from, k.runs[i].count = int32(from), uint8(len(found))
	if s.Shapes[k.Pairs.A[i]].Kind != KindSurface {
		swapAll(found)
	}
	k.keepTouching(s, i)
}
