package physics

import (
	"github.com/evertick/evertick/internal/batch"
	"github.com/evertick/evertick/internal/buffer"
	"github.com/evertick/evertick/internal/check"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/rigid"
)

// Rays is a batch of rays: the points (X + f*DX, Y + f*DY) for fractions f from 0 to
// MaxFraction, one ray per index. All in metres, along the axes of the plane.
type Rays struct {
	X, Y, DX, DY []float32
	// MaxFraction is the fraction at which each ray ends. Nil: 1.
	MaxFraction []float32
	// SkipInside leaves out shapes in which a ray begins. Otherwise it hits them at the
	// fraction 0, with a zero normal.
	SkipInside bool
	QueryFilter
}

// Validate reports the first fault of the batch: a value that is NaN or infinite
// (ErrNotFinite); a coordinate of more than 2^60, a ray whose length is zero or has a square
// that float32 cannot hold, a negative MaxFraction, or one that takes the ray
// beyond 2^60 (ErrRange); or a span with a NaN (ErrNotFinite) or a Min above its Max (ErrRange). It panics
// if slices differ in length.
func (q *Rays) Validate() error {
	n := len(q.X)
	if len(q.Y) != n || len(q.DX) != n || len(q.DY) != n || q.MaxFraction != nil && len(q.MaxFraction) != n {
		panic("physics: Rays: X, Y, DX, DY or MaxFraction differ in length")
	}
	if err := q.check(n); err != nil {
		return err
	}
	for i := range n {
		err := checkTranslation("physics: Rays", i, q.X[i], q.Y[i], q.DX[i], q.DY[i], fractionAt(q.MaxFraction, i))
		if err != nil {
			return err
		}
	}
	return nil
}

// checkTranslation returns the fault of a translation from (x, y) by end times (dx, dy).
func checkTranslation(what string, i int, x, y, dx, dy, end float32) error {
	square, reach := float32(dx*dx)+float32(dy*dy), end*max(dx, -dx, dy, -dy)
	if max(x, -x, y, -y) <= maxQueryCoordinate && square >= minSquare && reach <= maxQueryCoordinate && end >= 0 &&
		max(dx, -dx, dy, -dy) <= maxQueryCoordinate {
		return nil // none of the comparisons is true of NaN
	}
	for _, c := range [...]struct {
		field string
		value float32
	}{{".X", x}, {".Y", y}, {".DX", dx}, {".DY", dy}} {
		if err := checkCoordinate(what+c.field, i, c.value); err != nil {
			return err
		}
	}
	switch {
	case !fault.Finite(end):
		return fault.Element(ErrNotFinite, what+".MaxFraction", i, end)
	case end < 0:
		return fault.Element(ErrRange, what+".MaxFraction", i, end)
	case square < minSquare:
		return check.Because(fault.Element(ErrRange, what+": translation", i, [2]float32{dx, dy}), "no length")
	}
	return check.Because(fault.Element(ErrRange, what+".MaxFraction", i, end), "goes beyond 2^60")
}

// minSquare is the least normal number: a ray shorter than its square root,
// 1e-19 m, counts as having no length.
const minSquare = 0x1p-126

// fractionAt returns the fraction at which ray i ends.
func fractionAt(maxFraction []float32, i int) float32 {
	if maxFraction == nil {
		return 1
	}
	return maxFraction[i]
}

// RayHits holds the hits of rays, or of cast forms. After RayAll and CastAll it holds one row per ray in compressed
// sparse rows: row i is [Offsets[i], Offsets[i+1]) of the other slices, in ascending order of the fraction, then of
// the index of the shape. After RayClosest and CastClosest it has no offsets, and element i belongs to ray i. The
// zero RayHits is ready; if it is reused, it allocates nothing after a few batches.
type RayHits struct {
	Offsets          []uint32
	Shapes           []Shape
	Fractions        []float32
	X, Y             []float32 // the point, in metres
	NormalX, NormalY []float32 // of the surface, outwards, length one; zero where a ray begins in a shape
}

func (h *RayHits) resize(rows, n int) {
	h.Offsets, h.Shapes = buffer.Resized(h.Offsets, rows), resizedWithRoom(h.Shapes, n)
	for _, c := range [...]*[]float32{&h.Fractions, &h.X, &h.Y, &h.NormalX, &h.NormalY} {
		*c = resizedWithRoom(*c, n)
	}
}

// resizedWithRoom is resized with spare capacity where it allocates, because the number of results
// changes from batch to batch.
func resizedWithRoom[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, n+n/4)
	}
	return s[:n]
}

// RayClosest finds the first shape that each ray hits; of several at the same fraction the one with the lowest index.
// A ray without a hit gets the zero Shape, its MaxFraction, its end point, and a zero normal. Rays see the present
// world, including all objects that were created, moved or written to the columns since the last step. A batch after
// a change costs a pass over all shapes, which is more expensive for many queries than for few. Queries find one-way
// platforms and chains from both sides. rigid.QueryTree.CastRaysClosest defines when a ray hits a shape.
//
// Errors: those of Rays.Validate, ErrStale for an excluded body that is destroyed,
// and ErrUnsupported from another engine, with out unchanged; and ErrFloatEnv, with out empty.
func (w *World) RayClosest(q *Rays, out *RayHits) error {
	t, err := w.beginRays(q, out)
	if err != nil {
		return err
	}
	return t.Closest(len(q.X))
}

// RayAll finds all shapes that each ray hits. Errors are those of RayClosest, and
// ErrRange for more than 2^31-1 hits, with out empty.
func (w *World) RayAll(q *Rays, out *RayHits) error {
	t, err := w.beginRays(q, out)
	if err != nil {
		return err
	}
	return t.All("physics: RayAll: hits", len(q.X))
}

// rayChunk is the number of rays that a worker takes at a time: some tens of microseconds.
const rayChunk = 64

// rayTask is a batch of rays.
type rayTask struct {
	batch.Batch[rigid.RayHit]
	s       *solver
	q       *Rays
	out     *RayHits
	tree    *rigid.QueryTree
	only    Shape        // of RayShape
	scratch []rayScratch // one a worker
}

type rayScratch struct {
	rays [rayChunk]rigid.Ray
	one  [rayChunk]rigid.RayHit
}

func (w *World) beginRays(q *Rays, out *RayHits) (*rayTask, error) {
	if err := q.Validate(); err != nil {
		return nil, err
	}
	if err := w.prepareQueries(&q.QueryFilter, len(q.X), kernelCost); err != nil {
		return nil, err
	}
	t := &w.solver.queries.rays
	t.set(w.solver, q, out)
	t.only, t.tree = Shape{}, &w.solver.queries.tree
	return t, nil
}

func (t *rayTask) set(s *solver, q *Rays, out *RayHits) {
	t.s, t.q, t.out = s, q, out
	t.Begin(s.pool, rayChunk, t)
	if workers := s.pool.Workers(); len(t.scratch) != workers {
		t.scratch = make([]rayScratch, workers)
	}
}

// prepare fills the rays of a chunk.
func (t *rayTask) prepare(worker, lo, hi int) []rigid.Ray {
	q, rays := t.q, t.scratch[worker].rays[:hi-lo]
	flags := q.flags(q.SkipInside)
	for k := range rays {
		i, r := lo+k, &rays[k]
		r.OX, r.OY, r.DX, r.DY, r.MaxT, r.Flags = q.X[i], q.Y[i], q.DX[i], q.DY[i], fractionAt(q.MaxFraction, i), flags
		if r.Category, r.Mask, r.Exclude = q.forQuery(i); t.only != (Shape{}) {
			r.Category, r.Mask, r.Exclude = ^uint64(0), ^uint64(0), rigid.NoShape
		}
	}
	if q.spanned() {
		for k := range rays {
			q.setSpan(&rays[k], lo+k)
		}
	}
	rigid.PrepareRays(rays)
	return rays
}

func (t *rayTask) Answer(worker, lo, hi int) {
	rays, hits := t.prepare(worker, lo, hi), t.scratch[worker].one[:hi-lo]
	t.tree.CastRaysClosest(t.s.level, rays, hits)
	for i := range hits {
		t.Put(lo+i, lo+i, &hits[i])
	}
}

func (t *rayTask) Rows(worker, lo, hi int, ends []uint32, to []rigid.RayHit) []rigid.RayHit {
	rays, fill := t.prepare(worker, lo, hi), len(to)
	to = to[:cap(to)]
	for at := 0; ; {
		var done int
		done, fill = t.tree.CastRaysAll(t.s.level, rays[at:], ends[at:], to, fill)
		if at += done; at == len(rays) {
			return to[:fill]
		}
		to = append(to[:fill], make([]rigid.RayHit, fill+16*rayChunk)...)
		to = to[:cap(to)]
	}
}

func (t *rayTask) Resize(rows, n int) []uint32 {
	t.out.resize(rows, n)
	return t.out.Offsets
}

// put writes a hit of a ray to index at of the result.
func (t *rayTask) Put(ray, at int, h *rigid.RayHit) {
	q, shape := t.q, t.only
	if shape == (Shape{}) || h.Shape == rigid.NoShape {
		shape = t.s.handle(h.Shape)
	}
	t.out.put(at, shape, h.T, h.Normal,
		rigid.Vec{X: q.X[ray] + float32(h.T*q.DX[ray]), Y: q.Y[ray] + float32(h.T*q.DY[ray])})
}

func (h *RayHits) put(at int, s Shape, fraction float32, normal, point rigid.Vec) {
	h.Shapes[at], h.Fractions[at] = s, fraction
	h.X[at], h.Y[at], h.NormalX[at], h.NormalY[at] = point.X, point.Y, normal.X, normal.Y
}
