package spatial

import (
	"cmp"
	"math"
	"slices"

	"github.com/evertick/evertick/native"
)

// RayAllOracle is the specification of RayAll: for each ray it tests every sphere.
func (ix *Index) RayAllOracle(radius []float32, q *Rays, out *RayHits) error {
	ix.checkRadius(radius)
	if err := cmp.Or(q.Validate(), ix.set(new(native.Spheres), "RayAllOracle", radius)); err != nil {
		return err
	}
	ix.checkLive(q.Live)
	out.Offsets, out.Slots, out.T = append(out.Offsets[:0], 0), out.Slots[:0], out.T[:0]
	for i := range q.OX {
		for _, h := range ix.met(radius, q, i) {
			out.Slots, out.T = append(out.Slots, h.slot), append(out.T, h.t)
		}
		if n := len(out.Slots); n > maxResults {
			out.Offsets, out.Slots, out.T = out.Offsets[:0], out.Slots[:0], out.T[:0]
			return tooManyResults("RayAllOracle", n)
		}
		out.Offsets = append(out.Offsets, uint32(len(out.Slots)))
	}
	return nil
}

// RayClosestOracle is the specification of RayClosest: the first of all hits.
func (ix *Index) RayClosestOracle(radius []float32, q *Rays, slots []uint32, t []float32) error {
	if err := cmp.Or(ix.checkClosest(radius, q, slots, t), ix.set(new(native.Spheres), "RayClosestOracle", radius)); err != nil {
		return err
	}
	ix.checkLive(q.Live)
	for i := range q.OX {
		slots[i], t[i] = NoSlot, q.MaxT[i]
		if hits := ix.met(radius, q, i); len(hits) > 0 {
			slots[i], t[i] = hits[0].slot, hits[0].t
		}
	}
	return nil
}

// sphereHit is a sphere that passed the test of a ray.
type sphereHit struct {
	slot uint32
	t    float32
}

// met returns all spheres that ray i meets, by t, then slot.
func (ix *Index) met(radius []float32, q *Rays, i int) []sphereHit {
	longest := max(q.DX[i], -q.DX[i], q.DY[i], -q.DY[i], q.dz()[i], -q.dz()[i])
	scale := float32(0x1p126)
	for float32(longest*scale) >= 2 { // until in [1, 2), or less if it is denormal
		scale /= 2
	}
	var hits []sphereHit
	for at := range ix.n {
		x, y, z, slot := ix.point(at)
		if t, hit := q.meets(i, scale, x, y, z, radius[slot]); hit && ix.passes(q.Exclude, q.Mask, q.Live, i, at) {
			hits = append(hits, sphereHit{slot, t})
		}
	}
	slices.SortFunc(hits, func(a, b sphereHit) int { return cmp.Or(cmp.Compare(a.t, b.t), cmp.Compare(a.slot, b.slot)) })
	return hits
}

// meets is the formula of native.Rays.
func (q *Rays) meets(i int, scale, cx, cy, cz, radius float32) (t float32, hit bool) {
	dx, dy, dz := float32(q.DX[i]*scale), float32(q.DY[i]*scale), float32(q.dz()[i]*scale)
	inv := 1 / (float32(float32(dx*dx)+float32(dy*dy)) + float32(dz*dz))
	r2 := float32(radius * radius)
	mx, my, mz := cx-q.OX[i], cy-q.OY[i], cz-q.oz()[i]
	s := float32((float32(float32(mx*dx)+float32(my*dy)) + float32(mz*dz)) * inv)
	lx, ly, lz := mx-float32(s*dx), my-float32(s*dy), mz-float32(s*dz)
	e := float32(float32(lx*lx)+float32(ly*ly)) + float32(lz*lz)
	if float32(float32(mx*mx)+float32(my*my))+float32(mz*mz) <= r2 {
		return 0, true
	}
	if !(0 <= s && e <= r2) {
		return 0, false
	}
	part := float32(math.Sqrt(float64(inv)))
	entry := s - float32(float32(math.Sqrt(float64(r2-e)))*part)
	if entry > 0 {
		t = float32(entry * scale)
	}
	return t, t <= q.MaxT[i]
}
