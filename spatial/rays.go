package spatial

import (
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/neighbours"
)

// Rays is a batch of rays against spheres: the points O + t*D for 0 <= t <= MaxT,
// one ray an index. D need not have length one; t is in units of its length. The
// spheres are the points of the index with a radius each.
//
// The formula in the comment of neighbours.Rays decides whether and where a ray hits a
// sphere, in float32 with every operation rounded on its own. Touching counts,
// and a ray that begins on or in a sphere hits it at t = 0. Nothing else decides:
// the grid only leaves out spheres that the formula would not accept.
type Rays struct {
	OX, OY, OZ, DX, DY, DZ, MaxT []float32 // a nil OZ or DZ is zero everywhere
	// Exclude has for each ray a slot whose sphere is left out, or NoSlot. Nil: none.
	Exclude []uint32
	// Mask and Live are as in Queries.
	Mask []uint32
	Live []uint64
}

// Validate returns the first fault of the batch: a value that is NaN or infinite
// (ErrNotFinite), a direction of three zeros or a negative MaxT (ErrRange). It
// panics if the slices differ in length.
func (q *Rays) Validate() error {
	n, oz, dz := len(q.OX), q.oz(), q.dz()
	mustBeLong("spatial: Rays: OX, OY, OZ, DX, DY, DZ and MaxT differ in length", n, q.OY, oz, q.DX, q.DY, dz, q.MaxT)
	mustBeLongOrNil("spatial: Rays: Exclude or Mask and OX differ in length", n, q.Exclude, q.Mask)
	negativeMaxT := negative("Rays.MaxT", q.MaxT)
	return firstFault("Rays.OX Rays.OY Rays.OZ Rays.DX Rays.DY Rays.DZ Rays.MaxT", func(i int) error {
		if q.DX[i] == 0 && q.DY[i] == 0 && dz[i] == 0 {
			return fault.Element(ErrRange, "spatial: Rays: direction", i, "0")
		}
		return negativeMaxT(i)
	}, q.OX, q.OY, oz, q.DX, q.DY, dz, q.MaxT)
}

func (q *Rays) oz() []float32 { return planar(q.OZ, len(q.OX)) }
func (q *Rays) dz() []float32 { return planar(q.DZ, len(q.OX)) }

// chunkRays is the number of rays that a worker takes at a time; see
// chunkQueries. A ray is work for up to a microsecond.
const chunkRays = 16

// checkRadius panics if the column of radii is shorter than those of Build.
func (ix *Index) checkRadius(radius []float32) {
	ix.mustBeInitialized()
	if len(radius) < ix.points.Limit {
		panic("spatial: Rays: the column of radii is shorter than those of Build")
	}
}

// setSpheres sets the radii of the points. It does not read the radii of other slots.
func (ix *Index) setSpheres(s *neighbours.Spheres, query string, radius []float32) error {
	slot := s.Set(&ix.points, radius, ix.box.Min, ix.box.Max)
	if slot < 0 {
		return nil
	}
	sentinel := ErrRange
	if !fault.Finite(radius[slot]) {
		sentinel = ErrNotFinite
	}
	return fault.Element(sentinel, "spatial: "+query+": radius", slot, radius[slot])
}

// RayClosest stores in slots and t, for each ray, the sphere that it hits first and
// where; if it hits several at the same t, the one in the lowest slot. For a ray that
// hits none it stores NoSlot and its MaxT. radius is a column by slot, at least as long
// as those of Build; only the slots of the index are read. Reading it is a pass over all
// points in each call, so prefer one batch of many rays to many batches of few.
//
// Errors are those of Rays.Validate, and a radius that is not finite (ErrNotFinite) or
// negative (ErrRange), with slots and t as they were; and ErrFloatEnv. It panics if slots
// or t and q.OX differ in length, and if radius is too short.
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

// rayBatch is the common part of RayClosest and RayAll.
type rayBatch struct {
	ix      *Index
	q       *Rays
	spheres neighbours.Spheres
	tracers []neighbours.Tracer // one a worker
	live    liveBits
}

func (r *rayBatch) begin(ix *Index, q *Rays, query string, radius []float32) error {
	if err := ix.setSpheres(&r.spheres, query, radius); err != nil {
		return err
	}
	r.ix, r.q = ix, q
	r.live.set(ix, q.Live)
	if len(r.tracers) != ix.cfg.Workers {
		r.tracers = make([]neighbours.Tracer, ix.cfg.Workers)
	}
	return nil
}

func (r *rayBatch) part(lo, hi int) (neighbours.Rays, neighbours.Filter) {
	q := r.q
	return neighbours.Rays{OX: q.OX[lo:hi], OY: q.OY[lo:hi], OZ: q.oz()[lo:hi], DX: q.DX[lo:hi], DY: q.DY[lo:hi], DZ: q.dz()[lo:hi], MaxT: q.MaxT[lo:hi]},
		neighbours.Filter{Exclude: cut(q.Exclude, lo, hi), Mask: cut(q.Mask, lo, hi), Live: r.live.bits}
}

type closestTask struct {
	rayBatch
	slots []uint32
	t     []float32
}

// Do answers one chunk of rays; it implements native.Task.
func (c *closestTask) Do(worker, chunk int) {
	lo, hi := chunk*chunkRays, min((chunk+1)*chunkRays, len(c.q.OX))
	part, f := c.part(lo, hi)
	neighbours.RayClosest(c.ix.level, &c.ix.grid, &c.ix.points, &c.spheres, &part, &f, &c.tracers[worker], c.slots[lo:hi], c.t[lo:hi])
}

// RayAll finds all spheres that each ray hits. radius and errors are as in
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
		searcher: s, ix: ix, query: "RayAll", rows: len(q.OX), chunk: chunkRays,
		order: ByDistance, withKey: true, parallel: ix.parallelFrom,
	}, &out.Offsets, &out.Slots, &out.T)
	s.ix, s.q = nil, nil
	return err
}

// raySearch is the searcher of RayAll.
type raySearch struct{ rayBatch }

func (s *raySearch) search(worker, from, to int, rows *neighbours.Rows) int {
	part, f := s.part(from, to)
	return neighbours.RayAll(s.ix.level, &s.ix.grid, &s.ix.points, &s.spheres, &part, &f, &s.tracers[worker], rows)
}
