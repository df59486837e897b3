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
	first  []int32  // by pair: the first manifold in made
	made   []SurfaceManifold
	part   surfacePart
	number []uint32 // of the pairs of the part
	shapes []uint32
	counts []uint8

	manifolds []Manifold // of the pairs that were recycled
	faces     []uint32
	from      []int32
}

// collideWaiting makes the manifolds of the pairs that wait, those of one surface after the other, and puts them among those of the others.
func (k *SurfaceChunk) collideWaiting(s *SurfacePairs, kernel func(p *surfacePart, shapes []uint32, counts []uint8, out []SurfaceManifold) int) {
	w := &k.waiting
	w.made, w.first = w.made[:0], w.first[:0]
	for range k.counts {
		w.first = append(w.first, -1)
	}
	for i, n := range w.pairs {
		if w.first[n] >= 0 {
			continue
		}
		a, b, _ := s.surfaceFirst(k.Pairs.A[n], k.Pairs.B[n])
		surface, ok := s.surfaceOf(a, b)
		if !ok {
			w.first[n] = 0 // its count is 0
			continue
		}
		w.part.SurfacePairs, w.part.shape, w.part.twoSided = s, a, surface.TwoSided
		w.number, w.shapes = w.number[:0], w.shapes[:0]
		for _, m := range w.pairs[i:] {
			if c, other, _ := s.surfaceFirst(k.Pairs.A[m], k.Pairs.B[m]); c == a && s.Shapes[other].Kind != KindSurface {
				w.number, w.shapes = append(w.number, m), append(w.shapes, other)
			}
		}
		k.findFaces(surface)
		k.collidePart(kernel)
	}
	w.part.SurfacePairs, w.part.mesh = nil, nil
	k.weave(s)
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
	w.counts = append(w.counts[:0], make([]uint8, len(w.shapes))...)
	starts := w.part.starts
	for done := 0; done < len(w.shapes); {
		at := len(w.made)
		room := at + len(w.shapes) - done + MaxSurfaceManifolds
		if cap(w.made) < room {
			w.made = append(make([]SurfaceManifold, 0, 2*room), w.made...)
		}
		n := kernel(&w.part, w.shapes[done:], w.counts[done:], w.made[at:cap(w.made)])
		if n < 0 {
			panic("rigid3: SurfaceChunk.Collide: a pair names no shape, or a shape no body")
		}
		for i := done; i < done+n; i++ {
			pair := w.number[i]
			w.first[pair] = int32(at)
			if w.counts[i] == surfaceLeft {
				k.counts[pair] = surfaceLeft
				continue
			}
			k.counts[pair] = w.counts[i]
			at += int(w.counts[i])
		}
		w.made = w.made[:at]
		if done += n; w.part.mesh == nil {
			w.part.starts = w.part.starts[n:]
		}
	}
	w.part.starts = starts
}

// weave puts the manifolds that were made among those that were recycled, and makes those that a kernel has left.
func (k *SurfaceChunk) weave(s *SurfacePairs) {
	w := &k.waiting
	w.manifolds, w.faces, w.from = append(w.manifolds[:0], k.Manifolds...), append(w.faces[:0], k.faces...), append(w.from[:0], k.from...)
	k.Manifolds, k.faces, k.from = k.Manifolds[:0], k.faces[:0], k.from[:0]
	next, recycled := 0, 0
	for i := range k.counts {
		n := int(k.counts[i])
		if next == len(w.pairs) || w.pairs[next] != uint32(i) {
			end := recycled + n
			k.Manifolds, k.faces, k.from = append(k.Manifolds, w.manifolds[recycled:end]...), append(k.faces, w.faces[recycled:end]...), append(k.from, w.from[recycled:end]...)
			recycled = end
			continue
		}
		next++
		a, b, before := k.Pairs.A[i], k.Pairs.B[i], len(k.Manifolds)
		if n == surfaceLeft {
			k.collide(s, a, b)
		} else {
			found := w.made[w.first[i]:][:n]
			if _, _, mirrored := s.surfaceFirst(a, b); mirrored {
				swapAll(found)
			}
			k.add(s, a, b, found)
		}
		k.counts[i] = uint8(len(k.Manifolds) - before)
	}
}
