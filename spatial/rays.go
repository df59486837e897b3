package spatial

import (
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/native"
)

// Rays is a batch of rays against spheres: the points O + t*D for 0 <= t <= MaxT,
// one ray an index. D need not have length one; t is in units of its length. The
// spheres are the points of the index with a radius each.
//
// Whether and where a ray meets a sphere is computed in float32 by the formula in
// the comment of native.Rays, every operation rounded on its own. Touching counts,
// and a ray that begins on or in a sphere meets it at t = 0. Nothing else decides:
// the grid only leaves out spheres that the formula would not accept.
type Rays struct {
	OX, OY, OZ, DX, DY, DZ, MaxT []float32 // a nil OZ or DZ is zero everywhere
	// Exclude names for each ray a slot that is left out, or NoSlot. Nil: none.
	Exclude []uint32
	// Mask and Live are as in Queries.
	Mask []uint32
	Live []uint64
}

// Validate reports the first fault of the batch: a value that is NaN or infinite
// (ErrNotFinite), a direction of three zeros or a negative MaxT (ErrRange). It
// panics if the slices differ in length.
func (q *Rays) Validate() error {
	n := len(q.OX)
	if len(q.OY) != n || len(q.oz()) != n || len(q.DX) != n || len(q.DY) != n || len(q.dz()) != n || len(q.MaxT) != n {
		panic("spatial: Rays: OX, OY, OZ, DX, DY, DZ and MaxT differ in length")
	}
	if q.Exclude != nil && len(q.Exclude) != n || q.Mask != nil && len(q.Mask) != n {
		panic("spatial: Rays: Exclude or Mask and OX differ in length")
	}
	for i := range n {
		if err := q.fault(i); err != nil {
			return err
		}
	}
	return nil
}

// fault finds what is wrong with ray i.
func (q *Rays) fault(i int) error {
	switch {
	case !fault.Finite(q.OX[i]):
		return fault.Element(ErrNotFinite, "spatial: Rays.OX", i, q.OX[i])
	case !fault.Finite(q.OY[i]):
		return fault.Element(ErrNotFinite, "spatial: Rays.OY", i, q.OY[i])
	case !fault.Finite(q.oz()[i]):
		return fault.Element(ErrNotFinite, "spatial: Rays.OZ", i, q.oz()[i])
	case !fault.Finite(q.DX[i]):
		return fault.Element(ErrNotFinite, "spatial: Rays.DX", i, q.DX[i])
	case !fault.Finite(q.DY[i]):
		return fault.Element(ErrNotFinite, "spatial: Rays.DY", i, q.DY[i])
	case !fault.Finite(q.dz()[i]):
		return fault.Element(ErrNotFinite, "spatial: Rays.DZ", i, q.dz()[i])
	case !fault.Finite(q.MaxT[i]):
		return fault.Element(ErrNotFinite, "spatial: Rays.MaxT", i, q.MaxT[i])
	case q.DX[i] == 0 && q.DY[i] == 0 && q.dz()[i] == 0:
		return fault.Element(ErrRange, "spatial: Rays: direction", i, "0")
	case q.MaxT[i] < 0:
		return fault.Element(ErrRange, "spatial: Rays.MaxT", i, q.MaxT[i])
	}
	return nil
}

func (q *Rays) oz() []float32 { return planar(q.OZ, len(q.OX)) }
func (q *Rays) dz() []float32 { return planar(q.DZ, len(q.OX)) }

// RayHits holds one row per ray in compressed sparse rows, like Result: row i is
// Slots[Offsets[i]:Offsets[i+1]], and T has where the ray meets these spheres. Rows
// ascend by t, then slot. The zero RayHits is ready; reuse it, as a Result.
type RayHits struct {
	Offsets []uint32
	Slots   []uint32
	T       []float32

	scratch *scratch
}

// Len returns the number of rows.
func (h *RayHits) Len() int { return max(0, len(h.Offsets)-1) }

// Row returns the slots of row i.
func (h *RayHits) Row(i int) []uint32 { return row(h.Offsets, h.Slots, i) }

// TRow returns where ray i meets the spheres of row i.
func (h *RayHits) TRow(i int) []float32 { return row(h.Offsets, h.T, i) }

// chunkRays is the number of rays that a worker takes at a time; see
// chunkQueries. A ray is work for up to a microsecond.
const chunkRays = 16

// checkRadius refuses a column that does not reach as far as those of Build.
func (ix *Index) checkRadius(radius []float32) {
	ix.made()
	if len(radius) < ix.points.Limit {
		panic("spatial: Rays: the column of radii is shorter than those of Build")
	}
}

// set takes the radii of the points. Radii of other slots are not looked at.
func (ix *Index) set(s *native.Spheres, what string, radius []float32) error {
	slot := s.Set(&ix.points, radius, ix.box.Min, ix.box.Max)
	if slot < 0 {
		return nil
	}
	sentinel := ErrRange
	if !fault.Finite(radius[slot]) {
		sentinel = ErrNotFinite
	}
	return fault.Element(sentinel, "spatial: "+what+": radius", slot, radius[slot])
}

// RayClosest stores in slots and t, for each ray, the sphere that it meets first
// and where; of several at the same t the one of the lowest slot. A ray that meets
// none gets NoSlot and its MaxT. radius is a column by slot, at least as long as
// those of Build, and read for slots of the index only. Reading it is a pass over
// all points in each call: many rays in a batch are better than few.
//
// Errors are those of Rays.Validate, and a radius that is not finite
// (ErrNotFinite) or negative (ErrRange), with slots and t as they were; and
// ErrFloatEnv. It panics if slots or t and q.OX differ in length, and if radius is
// too short.
func (ix *Index) RayClosest(radius []float32, q *Rays, slots []uint32, t []float32) error {
	if err := ix.checkClosest(radius, q, slots, t); err != nil {
		return err
	}
	b := ix.scratches.borrow()
	defer ix.scratches.giveBack(b)
	c := &b.closest
	if err := c.begin(ix, q, "RayClosest", radius); err != nil {
		return err
	}
	c.slots, c.t = slots, t
	err := b.pools.run(ix, len(q.OX), chunkRays, c)
	c.ix, c.q, c.slots, c.t = nil, nil, nil, nil
	return err
}

func (ix *Index) checkClosest(radius []float32, q *Rays, slots []uint32, t []float32) error {
	ix.checkRadius(radius)
	if len(slots) != len(q.OX) || len(t) != len(q.OX) {
		panic("spatial: RayClosest: slots or t and Rays.OX differ in length")
	}
	return q.Validate()
}

// tracing is what both kinds of answers to rays need.
type tracing struct {
	ix      *Index
	q       *Rays
	spheres native.Spheres
	tracers []native.Tracer // one a worker
	live    []uint16
	lanes   lanes
}

func (r *tracing) begin(ix *Index, q *Rays, what string, radius []float32) error {
	if err := ix.set(&r.spheres, what, radius); err != nil {
		return err
	}
	r.ix, r.q, r.live = ix, q, r.lanes.of(ix, q.Live)
	if len(r.tracers) != ix.cfg.Workers {
		r.tracers = make([]native.Tracer, ix.cfg.Workers)
	}
	return nil
}

func (r *tracing) part(lo, hi int) (native.Rays, native.Filter) {
	q := r.q
	return native.Rays{OX: q.OX[lo:hi], OY: q.OY[lo:hi], OZ: q.oz()[lo:hi], DX: q.DX[lo:hi], DY: q.DY[lo:hi], DZ: q.dz()[lo:hi], MaxT: q.MaxT[lo:hi]},
		native.Filter{Exclude: cut(q.Exclude, lo, hi), Mask: cut(q.Mask, lo, hi), Live: r.live}
}

type closestTask struct {
	tracing
	slots []uint32
	t     []float32
}

// Do answers one chunk of rays; it implements native.Task.
func (c *closestTask) Do(worker, chunk int) {
	lo, hi := chunk*chunkRays, min((chunk+1)*chunkRays, len(c.q.OX))
	part, f := c.part(lo, hi)
	native.RayClosest(c.ix.level, &c.ix.grid, &c.ix.points, &c.spheres, &part, &f, &c.tracers[worker], c.slots[lo:hi], c.t[lo:hi])
}

// RayAll finds all spheres that each ray meets. radius and errors are as in
// RayClosest, with out as it was; more than 2^31-1 hits are ErrRange, and then, as
// after ErrFloatEnv, out is empty.
func (ix *Index) RayAll(radius []float32, q *Rays, out *RayHits) error {
	ix.checkRadius(radius)
	if err := q.Validate(); err != nil {
		return err
	}
	w := scratchOf(&out.scratch)
	s := &w.rays
	if err := s.begin(ix, q, "RayAll", radius); err != nil {
		return err
	}
	err := w.rows.collect(task{
		searcher: s, ix: ix, what: "RayAll", rows: len(q.OX), chunk: chunkRays,
		order: ByDistance, withKey: true, parallel: ix.parallelFrom,
	}, &out.Offsets, &out.Slots, &out.T)
	s.ix, s.q = nil, nil
	return err
}

// raySearch is the searcher of RayAll.
type raySearch struct{ tracing }

func (s *raySearch) search(worker, from, to int, rows *native.Rows) int {
	part, f := s.part(from, to)
	return native.RayAll(s.ix.level, &s.ix.grid, &s.ix.points, &s.spheres, &part, &f, &s.tracers[worker], rows)
}
