package physics3

import (
	"github.com/evertick/evertick/internal/batch"
	"github.com/evertick/evertick/internal/buffer"
	"github.com/evertick/evertick/internal/check"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/rigid3"
)

// Rays is a batch of rays: the points (X, Y, Z) + f·(DX, DY, DZ) for fractions f from 0 to MaxFraction, one ray per index. All in metres, along the axes
// of the world.
type Rays struct {
	X, Y, Z, DX, DY, DZ []float32
	// MaxFraction is the fraction at which each ray ends. Nil: 1.
	MaxFraction []float32
	// SkipInside leaves out shapes in which a ray begins. Otherwise it hits them at the fraction 0, with a zero normal.
	SkipInside bool
	QueryFilter
}

// Validate reports the first fault of the batch: a value that is NaN or infinite (ErrNotFinite); a coordinate of more than 2^60, a ray whose length is
// zero or has a square that float32 cannot hold, a negative MaxFraction, or one that takes the ray beyond 2^60 (ErrRange). It panics if slices differ in
// length.
func (q *Rays) Validate() error {
	n := len(q.X)
	if len(q.Y) != n || len(q.Z) != n {
		panic("physics3: Rays: X, Y or Z differ in length")
	}
	q.check(n)
	return checkTranslations("physics3: Rays", [3][]float32{q.X, q.Y, q.Z}, [3][]float32{q.DX, q.DY, q.DZ}, q.MaxFraction)
}

// checkTranslations returns the first fault of translations from p by the fractions of d.
func checkTranslations(what string, p, d [3][]float32, end []float32) error {
	n := len(p[0])
	if len(d[0]) != n || len(d[1]) != n || len(d[2]) != n || end != nil && len(end) != n {
		panic(what + ": X, DX, DY, DZ or MaxFraction differ in length")
	}
	for i := range n {
		from, by := [3]float32{p[0][i], p[1][i], p[2][i]}, [3]float32{d[0][i], d[1][i], d[2][i]}
		if err := checkTranslation(what, i, from, by, fractionAt(end, i)); err != nil {
			return err
		}
	}
	return nil
}

// checkTranslation returns the fault of a translation from p by end times d.
func checkTranslation(what string, i int, p, d [3]float32, end float32) error {
	square := (float32(d[0]*d[0]) + float32(d[1]*d[1])) + float32(d[2]*d[2])
	longest := largest(d)
	if largest(p) <= maxQueryCoordinate && square >= minSquare && float32(end*longest) <= maxQueryCoordinate && end >= 0 && longest <= maxQueryCoordinate {
		return nil // none of the comparisons is true of NaN
	}
	names := [3]string{"X", "Y", "Z"}
	for k, name := range names {
		if err := checkQueryCoordinate(what+"."+name, i, p[k]); err != nil {
			return err
		}
	}
	for k, name := range names {
		if err := checkQueryCoordinate(what+".D"+name, i, d[k]); err != nil {
			return err
		}
	}
	switch {
	case !fault.Finite(end):
		return fault.Element(ErrNotFinite, what+".MaxFraction", i, end)
	case end < 0:
		return fault.Element(ErrRange, what+".MaxFraction", i, end)
	case square < minSquare:
		return check.Because(fault.Element(ErrRange, what+": translation", i, d), "no length")
	}
	return check.Because(fault.Element(ErrRange, what+".MaxFraction", i, end), "goes beyond 2^60")
}

// largest returns the largest magnitude; NaN if there is one.
func largest(v [3]float32) float32 { return max(v[0], -v[0], v[1], -v[1], v[2], -v[2]) }

// minSquare is the least normal number: a ray shorter than its square root, 1e-19 m, counts as having no length.
const minSquare = 0x1p-126

// fractionAt returns the fraction at which ray i ends.
func fractionAt(maxFraction []float32, i int) float32 {
	if maxFraction == nil {
		return 1
	}
	return maxFraction[i]
}

// RayHits holds the hits of rays, or of cast forms. After RayAll and CastAll it holds one row per ray in compressed sparse rows: row i is [Offsets[i],
// Offsets[i+1]) of the other slices, in ascending order of the fraction, then of the index of the shape. After RayClosest and CastClosest it has no
// offsets, and element i belongs to ray i. The zero RayHits is ready; if it is reused, it allocates nothing after a few batches.
type RayHits struct {
	Offsets                   []uint32
	Shapes                    []Shape
	Fractions                 []float32
	X, Y, Z                   []float32 // the point, in metres
	NormalX, NormalY, NormalZ []float32 // of the surface, outwards, length one; zero where a ray begins in a shape
	UserMaterials             []uint64  // of the triangles, if they have materials, or of the shapes: see ShapeDef.UserMaterial
	// Triangles are the numbers of the triangles of meshes, height fields and terrains that were hit, and Users are those of MeshDef.User. They are 0
	// for other shapes.
	Triangles, Users []uint32
}

func (h *RayHits) resize(rows, n int) []uint32 {
	h.Offsets, h.Shapes, h.UserMaterials = buffer.Resized(h.Offsets, rows), buffer.Resized(h.Shapes, n), buffer.Resized(h.UserMaterials, n)
	h.Triangles, h.Users = buffer.Resized(h.Triangles, n), buffer.Resized(h.Users, n)
	for _, c := range [...]*[]float32{&h.Fractions, &h.X, &h.Y, &h.Z, &h.NormalX, &h.NormalY, &h.NormalZ} {
		*c = buffer.Resized(*c, n)
	}
	return h.Offsets
}

// put writes a hit to an index of the result.
func (h *RayHits) put(at int, s *solver, shape, face uint32, fraction float32, normal, point rigid3.Vec) {
	h.Shapes[at], h.Fractions[at], h.UserMaterials[at] = s.presentHandle(shape), fraction, s.userMaterial(shape, face)
	h.Triangles[at], h.Users[at] = s.triangle(shape, face)
	h.X[at], h.Y[at], h.Z[at] = point.X, point.Y, point.Z
	h.NormalX[at], h.NormalY[at], h.NormalZ[at] = normal.X, normal.Y, normal.Z
}

// RayClosest finds the first shape that each ray hits; of several at the same fraction the one with the lowest index. A ray without a hit gets the zero
// Shape, its MaxFraction, its end point, and a zero normal. Rays see the present world, including all objects that were created, moved or written to
// the columns since the last step. A batch after a change costs a pass over all shapes, which is more expensive for many queries than for
// few.
//
// A ray hits a shape where it enters it, and a mesh where it first meets a triangle from the front, or from either side of a two-sided one: no ray
// passes between two triangles that share an edge or a vertex, and none begins inside. It is computed in float64, relative to the shape: the fraction is that rounded to float32, and the point is
// rounded by itself, so that it is on the surface even at the end of a long ray, where a fraction cannot be as precise.
//
// Errors: those of Rays.Validate, ErrStale for an excluded body that is destroyed, and that which has stopped the world, with out unchanged; and
// ErrFloatEnv, with out empty.
func (w *World) RayClosest(q *Rays, out *RayHits) error {
	t, err := w.beginRays(q, out)
	if err != nil {
		return err
	}
	return t.Closest(len(q.X))
}

// RayAny sets hit[i] to whether ray i hits any shape, which takes less time than RayClosest. It panics if hit and q.X differ in length. Errors are those
// of RayClosest; after ErrFloatEnv hit is unspecified.
func (w *World) RayAny(q *Rays, hit []bool) error {
	if len(hit) != len(q.X) {
		panic("physics3: RayAny: hit and Rays.X differ in length")
	}
	t, err := w.beginRays(q, nil)
	if err != nil {
		return err
	}
	t.hit = hit
	return t.Each(len(q.X))
}

// RayAll finds all shapes that each ray hits. Errors are those of RayClosest, and ErrRange for more than 2^31-1 hits, with out empty.
func (w *World) RayAll(q *Rays, out *RayHits) error {
	t, err := w.beginRays(q, out)
	if err != nil {
		return err
	}
	return t.All("physics3: RayAll: hits", len(q.X))
}

// rayChunk is the number of rays that a worker takes at a time: some tens of microseconds.
const rayChunk = 64

// rayTask is a batch of rays.
type rayTask struct {
	batch.Batch[rigid3.RayHit]
	s       *solver
	q       *Rays
	out     *RayHits
	tree    *rigid3.QueryTree
	only    Shape        // of RayShape
	hit     []bool       // of RayAny
	scratch []rayScratch // one a worker
}

type rayScratch struct {
	rays   [rayChunk]rigid3.Ray
	hits   [rayChunk]rigid3.RayHit
	memory rigid3.RayMemory
}

func (w *World) beginRays(q *Rays, out *RayHits) (*rayTask, error) {
	if err := q.Validate(); err != nil {
		return nil, err
	}
	if err := w.prepareQueries(&q.QueryFilter, len(q.X)); err != nil {
		return nil, err
	}
	t := &w.solver.queries.rays
	t.set(w.solver, q, out)
	t.only, t.tree = Shape{}, &w.solver.queries.tree
	return t, nil
}

func (t *rayTask) set(s *solver, q *Rays, out *RayHits) {
	t.s, t.q, t.out, t.hit = s, q, out, nil
	t.Begin(s.pool, rayChunk, t)
	if workers := s.pool.Workers(); len(t.scratch) != workers {
		t.scratch = make([]rayScratch, workers)
	}
}

// prepare fills the rays of a chunk.
func (t *rayTask) prepare(worker, lo, hi int) []rigid3.Ray {
	q, rays := t.q, t.scratch[worker].rays[:hi-lo]
	for k := range rays {
		i, r := lo+k, &rays[k]
		r.O, r.D = rigid3.Vec{X: q.X[i], Y: q.Y[i], Z: q.Z[i]}, rigid3.Vec{X: q.DX[i], Y: q.DY[i], Z: q.DZ[i]}
		r.MaxT = fractionAt(q.MaxFraction, i)
		if q.set(r, i, q.SkipInside); t.only != (Shape{}) {
			r.Category, r.Mask, r.Exclude = ^uint64(0), ^uint64(0), rigid3.NoShape
		}
	}
	rigid3.PrepareRays(rays)
	return rays
}

// Answer finds the first hit of each ray of a chunk, or whether there is one.
func (t *rayTask) Answer(worker, lo, hi int) {
	rays := t.prepare(worker, lo, hi)
	m := &t.scratch[worker]
	hits := m.hits[:hi-lo]
	if t.hit != nil {
		t.tree.CastRaysAny(t.s.level, rays, hits, &m.memory)
		for i := range hits {
			t.hit[lo+i] = hits[i].Shape != rigid3.NoShape
		}
		return
	}
	t.tree.CastRaysClosest(t.s.level, rays, hits, &m.memory)
	for i := range hits {
		if t.only != (Shape{}) && hits[i].Shape != rigid3.NoShape {
			hits[i].Shape = t.only.index
		}
		t.Put(lo+i, lo+i, &hits[i])
	}
}

// Rows finds all hits of the rays of a chunk.
func (t *rayTask) Rows(worker, lo, hi int, ends []uint32, to []rigid3.RayHit) []rigid3.RayHit {
	return t.tree.CastRaysAll(t.s.level, t.prepare(worker, lo, hi), ends, to)
}

// Resize resizes the result.
func (t *rayTask) Resize(rows, n int) []uint32 { return t.out.resize(rows, n) }

// Put writes a hit to index at of the result.
func (t *rayTask) Put(_, at int, h *rigid3.RayHit) {
	t.out.put(at, t.s, h.Shape, h.Face, h.T, h.Normal, h.Point)
}
