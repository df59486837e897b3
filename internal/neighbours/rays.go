package neighbours

import (
	"math"

	"github.com/evertick/evertick/native"
)

// Rays are the points O + t*D with 0 <= t <= MaxT. D need not have length one, but is not zero; all values are finite
// and MaxT is not negative.
//
// A ray meets the sphere of radius R about C in float32, every operation rounded
// on its own:
//
//	scale   the power of two, at most 2^126, that brings the longest component
//	        of D into [1, 2); for denormal directions it comes to less
//	d       = D * scale
//	inv     = 1 / ((dx*dx + dy*dy) + dz*dz)
//	part    = sqrt(inv)                            of s, for each metre
//	r2      = R * R
//	m       = C - O
//	s       = ((mx*dx + my*dy) + mz*dz) * inv      nearest to C is O + s*d
//	l       = m - s*d
//	e       = (lx*lx + ly*ly) + lz*lz              squared distance there
//	inside  : (mx*mx + my*my) + mz*mz <= r2
//	ahead   : 0 <= s and e <= r2
//	entry   = s - sqrt(r2 - e) * part
//	t       = 0 if inside, else entry * scale if entry > 0, else 0
//
// and it is a hit if inside or ahead, and t <= MaxT. Touching is a hit. So is an origin on or in the sphere, at t =
// 0, in any direction. A sphere of radius 0 is a point: it is hit where e is 0. t is never -0.
//
// e is computed from l, not as a difference of squares, which would lose a small sphere in the rounding of a large m.
// The error of e is then that of a point moved by a few units in the last place of m.
//
// Overflow: if R*R is +Inf, every origin is inside. Otherwise a sphere is missed if m, s, l or e overflows or becomes
// NaN, and if t overflows, as it exceeds MaxT. Underflow: squares below 2^-149 round like any other number, so
// differences below about 1e-23 count as zero.
type Rays struct{ OX, OY, OZ, DX, DY, DZ, MaxT []float32 }

// Spheres are the radii around a set of points, in the order of their places; Set fills them.
type Spheres struct {
	R2       []float32  // squared, BlockLen for each block
	Largest  float32    // radius
	Min, Max [3]float32 // a box that has all centres
}

// Set reads the radii from a column by slot; lo and hi are the corners of a box that contains all points. It returns
// the lowest slot of a point whose radius is not finite or negative, or -1 if there is none. The column has at least
// p.Limit elements.
func (s *Spheres) Set(p *Points, radius []float32, lo, hi [3]float32) int {
	n := p.Len()
	if len(radius) < p.Limit || len(p.Blocks) < (n+BlockLen-1)/BlockLen {
		panic("neighbours: Spheres: the column of radii or Points.Blocks is too short")
	}
	if size := BlockLen * len(p.Blocks); cap(s.R2) < size {
		s.R2 = make([]float32, size, size+size/4)
	} else {
		s.R2 = s.R2[:size]
	}
	s.Min, s.Max = lo, hi
	largest := uint32(0) // the bits of radii sort as the radii do; negative and infinite ones have higher bits
	for at := 0; at < n; at += BlockLen {
		b, r2 := &p.Blocks[at/BlockLen], (*[BlockLen]float32)(s.R2[at:])
		for lane := range min(BlockLen, n-at) {
			r := radius[b.Slot[lane%BlockLen]]
			r2[lane%BlockLen] = r * r
			largest = max(largest, math.Float32bits(r+0)) // turns -0 into +0
		}
	}
	if s.Largest = math.Float32frombits(largest); largest <= math.Float32bits(math.MaxFloat32) {
		return -1
	}
	return s.bad(p, radius)
}

func (s *Spheres) bad(p *Points, radius []float32) int {
	slot := -1
	for at := range p.Len() {
		o := p.Blocks[at/BlockLen].Slot[at%BlockLen]
		if r := radius[o]; !(r >= 0 && r <= math.MaxFloat32) && (slot < 0 || uint(o) < uint(slot)) {
			slot = int(o)
		}
	}
	return slot
}

// A ray is a prepared ray, in the form that the kernels use.
type ray struct {
	o, d              [3]float32
	inv, part         float32
	scale, maxT       float32
	exclude, category uint32
}

// span is the places [first, last).
type span struct{ first, last uint32 }

// A Tracer is the scratch of RayClosest and RayAll. The zero Tracer is ready.
type Tracer struct {
	rays  []ray
	spans []span
	ends  []uint32 // the spans of ray i end before ends[i]
	swath swath
}

func (q *Rays) check() {
	n := len(q.OX)
	for _, c := range [...][]float32{q.OY, q.OZ, q.DX, q.DY, q.DZ, q.MaxT} {
		if len(c) != n {
			panic("neighbours: Rays differ in length")
		}
	}
}

func (q *Rays) at(i int, s *queryFilter) ray {
	scale := scaleOf(max(abs(q.DX[i]), abs(q.DY[i]), abs(q.DZ[i])))
	r := ray{o: [3]float32{q.OX[i], q.OY[i], q.OZ[i]}, scale: scale, maxT: q.MaxT[i], exclude: s.exclude, category: s.mask}
	r.d = [3]float32{q.DX[i] * scale, q.DY[i] * scale, q.DZ[i] * scale}
	r.inv = 1 / dot(r.d, r.d)
	r.part = float32(math.Sqrt(float64(r.inv)))
	return r
}

// scaleOf returns 2^-k for v in [2^k, 2^(k+1)), with k of at least -126.
func scaleOf(v float32) float32 {
	exponent := max(math.Float32bits(v)>>23, 1) // k + 127, up to 254
	if exponent == 254 {
		return 0x1p-127
	}
	return math.Float32frombits((254 - exponent) << 23)
}

func abs(v float32) float32 { return math.Float32frombits(math.Float32bits(v) &^ (1 << 31)) }

func dot(a, b [3]float32) float32 {
	return float32(float32(a[0]*b[0])+float32(a[1]*b[1])) + float32(a[2]*b[2])
}

// prepare finds the spans of all rays.
func (tr *Tracer) prepare(g *Grid, p *Points, s *Spheres, q *Rays, f *Filter) {
	tr.rays, tr.ends, tr.spans = tr.rays[:0], tr.ends[:0], tr.spans[:0]
	for i := range q.OX {
		filter := f.of(i, p)
		r := q.at(i, &filter)
		if !filter.none() && p.Len() > 0 {
			tr.trace(g, p, s, &r)
		}
		tr.rays, tr.ends = append(tr.rays, r), append(tr.ends, uint32(len(tr.spans)))
	}
}

func checkRays(level native.Level, g *Grid, p *Points, s *Spheres, q *Rays, f *Filter) native.Level {
	q.check()
	p.check(g)
	f.check(len(q.OX), p)
	if len(s.R2) < BlockLen*((p.Len()+BlockLen-1)/BlockLen) {
		panic("neighbours: Spheres.R2 is too short")
	}
	return must(level)
}

// RayClosest stores in slots and t, for each ray, the first sphere that it meets among those that pass the filter,
// and the parameter there; of several at the same t the one with the lowest slot. If there is none, it stores NoSlot
// and MaxT. It panics when lengths do not fit or Points contradicts itself, and on a level that Resolve refuses.
func RayClosest(level native.Level, g *Grid, p *Points, s *Spheres, q *Rays, f *Filter, tr *Tracer, slots []uint32, t []float32) {
	level = checkRays(level, g, p, s, q, f)
	if len(slots) != len(q.OX) || len(t) != len(q.OX) {
		panic("neighbours: RayClosest: slots or t differ in length from the rays")
	}
	if len(q.OX) == 0 {
		return
	}
	tr.prepare(g, p, s, q, f)
	if level == native.Go {
		rayClosestGo(p, s, f, tr, slots, t)
	} else {
		rayClosestC(level, p, s, f, tr, slots, t)
	}
}

// RayAll finds all spheres that each ray meets among those that pass the filter, in grid order. It answers as many
// rays as fit into rows, whose Dist2 gets the parameters, and returns their number. Like Overlap, it can be called
// again for the rest, and panics in the same cases.
func RayAll(level native.Level, g *Grid, p *Points, s *Spheres, q *Rays, f *Filter, tr *Tracer, rows *Rows) int {
	level = checkRays(level, g, p, s, q, f)
	rows.check(len(q.OX))
	if rows.Dist2 == nil && len(rows.Slots) > 0 {
		panic("neighbours: RayAll: Rows.Dist2 is missing")
	}
	if len(q.OX) == 0 {
		return 0
	}
	tr.prepare(g, p, s, q, f)
	if level == native.Go {
		return rows.answered(rayAllGo(p, s, f, tr, rows))
	}
	return rows.answered(rayAllC(level, p, s, f, tr, rows))
}

// spansOf returns the spans of ray i.
func (tr *Tracer) spansOf(i int) []span {
	from := uint32(0)
	if i > 0 {
		from = tr.ends[i-1]
	}
	return tr.spans[from:tr.ends[i]]
}

// next returns the first place in [at, last) whose sphere is near enough to the line of the ray, or last. There are
// few of them.
func (r *ray) next(p *Points, s *Spheres, at, last int) int {
	ox, oy, oz, dx, dy, dz, inv := r.o[0], r.o[1], r.o[2], r.d[0], r.d[1], r.d[2], r.inv
	for at < last {
		b, r2 := &p.Blocks[at/BlockLen], (*[BlockLen]float32)(s.R2[at/BlockLen*BlockLen:])
		end := min(last-at/BlockLen*BlockLen, BlockLen)
		for i := at % BlockLen; i < end; i++ {
			mx, my, mz := b.X[i%BlockLen]-ox, b.Y[i%BlockLen]-oy, b.Z[i%BlockLen]-oz
			s := float32((float32(float32(mx*dx)+float32(my*dy)) + float32(mz*dz)) * inv)
			lx, ly, lz := mx-float32(s*dx), my-float32(s*dy), mz-float32(s*dz)
			e := float32(float32(lx*lx)+float32(ly*ly)) + float32(lz*lz)
			if e <= r2[i%BlockLen] || float32(float32(mx*mx)+float32(my*my))+float32(mz*mz) <= r2[i%BlockLen] {
				return at/BlockLen*BlockLen + i
			}
		}
		at = at/BlockLen*BlockLen + BlockLen
	}
	return last
}

// meet tests one sphere.
func (r *ray) meet(x, y, z, r2 float32) (t float32, hit bool) {
	m := [3]float32{x - r.o[0], y - r.o[1], z - r.o[2]}
	s := float32(dot(m, r.d) * r.inv)
	l := [3]float32{m[0] - float32(s*r.d[0]), m[1] - float32(s*r.d[1]), m[2] - float32(s*r.d[2])}
	e := dot(l, l)
	if dot(m, m) <= r2 {
		return 0, true
	}
	if !(e <= r2 && s >= 0) {
		return 0, false
	}
	t = s - float32(float32(math.Sqrt(float64(r2-e)))*r.part)
	if !(t > 0) {
		t = 0
	}
	t *= r.scale
	return t, t <= r.maxT
}

func rayClosestGo(p *Points, s *Spheres, f *Filter, tr *Tracer, slots []uint32, t []float32) {
	for i := range tr.rays {
		r, filter := &tr.rays[i], f.of(i, p)
		best, bestT := native.NoSlot, r.maxT
		for _, part := range tr.spansOf(i) {
			for at := r.next(p, s, int(part.first), int(part.last)); at < int(part.last); at = r.next(p, s, at+1, int(part.last)) {
				b, lane := &p.Blocks[at/BlockLen], at%BlockLen
				t, hit := r.meet(b.X[lane], b.Y[lane], b.Z[lane], s.R2[at])
				if hit && (t < bestT || t == bestT && b.Slot[lane] < best) && filter.pass(p, at/BlockLen, lane) {
					best, bestT = b.Slot[lane], t
				}
			}
		}
		slots[i], t[i] = best, bestT
	}
}

func rayAllGo(p *Points, s *Spheres, f *Filter, tr *Tracer, rows *Rows) int {
	fill := rows.Fill
	for i := range tr.rays {
		r, filter := &tr.rays[i], f.of(i, p)
		for _, part := range tr.spansOf(i) {
			if !rows.room(fill, int(part.last-part.first)) {
				return i
			}
			for at := r.next(p, s, int(part.first), int(part.last)); at < int(part.last); at = r.next(p, s, at+1, int(part.last)) {
				b, lane := &p.Blocks[at/BlockLen], at%BlockLen
				if t, hit := r.meet(b.X[lane], b.Y[lane], b.Z[lane], s.R2[at]); hit && filter.pass(p, at/BlockLen, lane) {
					rows.Slots[fill], rows.Dist2[fill] = b.Slot[lane], t
					fill++
				}
			}
		}
		rows.Ends[i] = uint32(fill)
	}
	return len(tr.rays)
}

// pass reports whether one lane of a block passes.
func (s *queryFilter) pass(p *Points, block, lane int) bool { return s.lanes(p, block)>>lane&1 != 0 }
