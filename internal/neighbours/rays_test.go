package neighbours_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/evertick/evertick/internal/neighbours"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
)

// meets is the test of one ray and one sphere, from the comment of neighbours.Rays.
func meets(o, d [3]float32, maxT float32, c [3]float32, radius float32) (t float32, hit bool) {
	longest := math.Max(math.Abs(float64(d[0])), math.Max(math.Abs(float64(d[1])), math.Abs(float64(d[2]))))
	_, k := math.Frexp(longest) // longest is in [2^(k-1), 2^k)
	scale := math.Ldexp(1, min(1-k, 126))
	var m, l [3]float32
	for a := range 3 {
		d[a] = float32(float64(d[a]) * scale)
		m[a] = c[a] - o[a]
	}
	square := func(v, w [3]float32) float32 {
		x, y, z := float32(v[0]*w[0]), float32(v[1]*w[1]), float32(v[2]*w[2])
		xy := float32(x + y)
		return float32(xy + z)
	}
	inv := float32(1 / square(d, d))
	r2 := float32(radius * radius)
	s := float32(square(m, d) * inv)
	for a := range 3 {
		p := float32(s * d[a])
		l[a] = float32(m[a] - p)
	}
	e := square(l, l)
	switch {
	case square(m, m) <= r2:
		t = 0
	case 0 <= s && e <= r2:
		half := float32(math.Sqrt(float64(r2 - e)))
		half = float32(half * float32(math.Sqrt(float64(inv))))
		entry := float32(s - half)
		if t = 0; entry > 0 {
			t = float32(entry * float32(scale))
		}
	default:
		return 0, false
	}
	return t, t <= maxT
}

// rayCase adds rays and radii to a case.
type rayCase struct {
	*shapeCase
	radius []float32 // by slot
	rays   neighbours.Rays
	lo, hi [3]float32
}

func newRayCase(run *paritytest.Run, c *shapeCase) *rayCase {
	s := c.scene
	r := &rayCase{shapeCase: c, radius: make([]float32, c.points.Limit)}
	most := float32(s.Scale * []float32{0, 1e-3, 0.1, 0.1, 1, 1, 30}[run.IntN(7)])
	for i := range r.radius {
		r.radius[i] = float32(math.NaN()) // of slots without a point
	}
	for i, slot := range s.Slots {
		r.radius[slot] = clampFinite(most * run.Float32())
		if run.IntN(20) == 0 {
			r.radius[slot] = []float32{0, float32(math.Copysign(0, -1)), most}[run.IntN(3)]
		}
		for a, v := range []float32{s.X[i], s.Y[i], s.Z[i]} {
			if i == 0 || v < r.lo[a] {
				r.lo[a] = v
			}
			if i == 0 || v > r.hi[a] {
				r.hi[a] = v
			}
		}
	}
	if len(s.Slots) > 0 && run.IntN(10) == 0 { // one that reaches far, or whose square overflows
		r.radius[s.Slots[run.IntN(len(s.Slots))]] = []float32{clampFinite(s.Scale * 100), 1e19, 1.9e19, math.MaxFloat32}[run.IntN(4)]
	}
	for i := range s.Radius {
		r.addRay(run, [3]float32{s.QueryX[i], s.QueryY[i], s.QueryZ[i]})
	}
	return r
}

func (r *rayCase) addRay(run *paritytest.Run, o [3]float32) {
	q := &r.rays
	if run.IntN(3) == 0 { // from outside
		for a := range o {
			o[a] = clampFinite(o[a] + float32(float32(run.Float32()-0.5)*r.scene.Scale*[]float32{10, 1000}[run.IntN(2)]))
		}
	}
	d := r.direction(run, o)
	longest := max(d[0], -d[0], d[1], -d[1], d[2], -d[2])
	maxT := []float32{math.MaxFloat32, math.MaxFloat32, 1, clampFinite(run.Near(1)), 0, run.Float32() * 2,
		clampFinite(float32(r.scene.Scale * run.Float32() * 10 / longest)), abs32(run.Float(paritytest.Finite[run.IntN(5)]))}[run.IntN(8)]
	q.OX, q.OY, q.OZ = append(q.OX, o[0]), append(q.OY, o[1]), append(q.OZ, o[2])
	q.DX, q.DY, q.DZ = append(q.DX, d[0]), append(q.DY, d[1]), append(q.DZ, d[2])
	q.MaxT = append(q.MaxT, maxT)
}

func abs32(v float32) float32 { return float32(math.Abs(float64(v))) }

// direction draws a direction: mostly to a point, past it by its radius, along
// axes, and of any length that there is.
func (r *rayCase) direction(run *paritytest.Run, o [3]float32) (d [3]float32) {
	s := r.scene
	for d == [3]float32{} {
		switch k := run.IntN(8); {
		case k == 0:
			d[run.IntN(3)] = float32(1 - 2*run.IntN(2))
		case k == 1:
			for a := range d {
				d[a] = float32(run.IntN(3) - 1)
			}
		case k == 2:
			for a := range d {
				d[a] = run.Float(paritytest.Finite[run.IntN(5)])
			}
		case k < 7 && len(s.X) > 0:
			i := run.IntN(len(s.X))
			to := [3]float32{s.X[i], s.Y[i], s.Z[i]}
			if k > 4 { // grazing: the sphere's edge along an axis, or next to it
				a := run.IntN(3)
				to[a] = run.Near(to[a] + float32(r.radius[s.Slots[i]]*float32(1-2*run.IntN(2))))
			}
			for a := range d {
				d[a] = clampFinite(to[a] - o[a])
			}
		default:
			for a := range d {
				d[a] = run.Float32() - 0.5
			}
		}
		if k := []float32{1, 1, 1, 1e-3, 1e20, 1e-20, 1e-38, 1e-44}[run.IntN(8)]; k != 1 {
			for a := range d {
				d[a] = clampFinite(float32(d[a] * k))
			}
		}
	}
	return d
}

// answer tests every sphere, and returns all hits in grid order.
func (r *rayCase) answer() (all *neighbours.Rows, slots []uint32, t []float32) {
	q := &r.rays
	all = &neighbours.Rows{Slots: []uint32{}, Ends: []uint32{}, Dist2: []float32{}}
	for i := range q.OX {
		best, bestT := native.NoSlot, q.MaxT[i]
		r.each(i, func(_ int, x, y, z float32, slot uint32) {
			at, hit := meets([3]float32{q.OX[i], q.OY[i], q.OZ[i]}, [3]float32{q.DX[i], q.DY[i], q.DZ[i]}, q.MaxT[i],
				[3]float32{x, y, z}, r.radius[slot])
			if !hit {
				return
			}
			all.Slots, all.Dist2 = append(all.Slots, slot), append(all.Dist2, at)
			if at < bestT || at == bestT && slot < best {
				best, bestT = slot, at
			}
		})
		all.Ends = append(all.Ends, uint32(len(all.Slots)))
		slots, t = append(slots, best), append(t, bestT)
	}
	return all, slots, t
}

// place returns the case's arguments in guarded memory.
func (g *guard) rays(c *rayCase) (*neighbours.Points, *neighbours.Filter, *neighbours.Rays, *neighbours.Spheres) {
	p, f := g.points(c.shapeCase)
	q := &neighbours.Rays{OX: g.copyFloats("ox", c.rays.OX), OY: g.copyFloats("oy", c.rays.OY), OZ: g.copyFloats("oz", c.rays.OZ),
		DX: g.copyFloats("dx", c.rays.DX), DY: g.copyFloats("dy", c.rays.DY), DZ: g.copyFloats("dz", c.rays.DZ),
		MaxT: g.copyFloats("maxt", c.rays.MaxT)}
	s := &neighbours.Spheres{}
	s.R2 = g.float("r2").Place(neighbours.BlockLen*len(p.Blocks), g.side, g.gap)
	if bad := s.Set(p, g.copyFloats("radius", c.radius), c.lo, c.hi); bad >= 0 {
		g.t.Fatalf("%s: radius %d, %g, is refused", c.scene.Name, bad, c.radius[bad])
	}
	return p, f, q, s
}

func TestParityRays(t *testing.T) {
	run := paritytest.Start(t, "Rays")
	g := newGuard(t, guardRoom)
	tracer := &neighbours.Tracer{}
	met := map[string]int{}
	shapes(run, g, 150, func(sc *shapeCase) func(native.Level) {
		c := newRayCase(run, sc)
		all, slots, ts := c.answer()
		met[sc.scene.Name] += len(all.Slots)
		return func(level native.Level) {
			p, f, q, s := g.rays(c)
			gotSlots, gotT := g.word("slots").Place(len(slots), g.side, g.gap), g.float("ts").Place(len(slots), g.side, g.gap)
			neighbours.RayClosest(level, &c.grid, p, s, q, f, tracer, gotSlots, gotT)
			run.Check(g.check(), paritytest.Bits(sc.scene.Name+": closest", gotSlots, slots), paritytest.Bits(sc.scene.Name+": closest t", gotT, ts))
			run.Check(g.rows(run, sc, all, true, func(from int, _ []uint32, h *neighbours.Rows) int {
				rest, part := neighbours.Rays{OX: q.OX[from:], OY: q.OY[from:], OZ: q.OZ[from:], DX: q.DX[from:], DY: q.DY[from:], DZ: q.DZ[from:],
					MaxT: q.MaxT[from:]}, *f
				part.Exclude, part.Mask = tail(f.Exclude, from), tail(f.Mask, from)
				return neighbours.RayAll(level, &c.grid, p, s, &rest, &part, tracer, h)
			}), c.unchanged(p, f))
		}
	})
	for i := range paritytest.Families {
		if name := paritytest.Families[i].Name; met[name] == 0 && name != "empty" {
			t.Errorf("no ray of family %s met anything", name)
		}
	}
}

// A sphere is met at the places that geometry names, where these are floats.
func TestRayPlaces(t *testing.T) {
	p := &neighbours.Points{Start: []uint32{0, 1}, Blocks: make([]neighbours.Block, 1), Limit: 1}
	p.Blocks[0].X[0], p.Blocks[0].Y[0], p.Blocks[0].Z[0] = 10, 20, 30
	g := &neighbours.Grid{Inv: [3]float32{1, 1, 1}, N: [3]int32{1, 1, 1}}
	tiny := float32(math.SmallestNonzeroFloat32)
	inf := float32(math.Inf(1))
	for i, c := range []struct {
		radius float32
		o, d   [3]float32
		maxT   float32
		want   float32 // +Inf: no hit
	}{
		{2, [3]float32{0, 20, 30}, [3]float32{1, 0, 0}, 100, 8},
		{2, [3]float32{0, 20, 30}, [3]float32{4, 0, 0}, 100, 2},
		{2, [3]float32{0, 20, 30}, [3]float32{1, 0, 0}, 8, 8},
		{2, [3]float32{0, 20, 30}, [3]float32{1, 0, 0}, 7.999, inf},
		{2, [3]float32{0, 20, 30}, [3]float32{-1, 0, 0}, 100, inf},
		{2, [3]float32{0, 22, 30}, [3]float32{1, 0, 0}, 100, 10}, // touching
		{2, [3]float32{0, 22.0001, 30}, [3]float32{1, 0, 0}, 100, inf},
		{2, [3]float32{12, 20, 30}, [3]float32{1, 0, 0}, 0, 0},  // on the surface, leaving
		{2, [3]float32{9, 20, 30}, [3]float32{1, 0, 0}, 100, 0}, // inside
		{5, [3]float32{10, 20, 0}, [3]float32{0, 0, tiny}, math.MaxFloat32, inf},
		{5, [3]float32{10, 20, 30 - 0x1p-100}, [3]float32{0, 0, tiny}, 0, 0},
		{0, [3]float32{0, 20, 30}, [3]float32{0x1p127, 0, 0}, 1, 10 * 0x1p-127}, // a point
		{2, [3]float32{0, 20, 30}, [3]float32{0x1p-120, 0, 0}, math.MaxFloat32, 0x1p123},
		{2, [3]float32{0, 20, 30}, [3]float32{tiny, 0, 0}, math.MaxFloat32, inf},       // 8 * 2^149 is no float
		{1e19, [3]float32{0, 1e22, 0}, [3]float32{0, -1e-44, 0}, math.MaxFloat32, inf}, // large against short
		{1e20, [3]float32{1e30, -1e30, 1e30}, [3]float32{1, 0, 0}, 0, 0},               // whose square overflows
	} {
		q := &neighbours.Rays{OX: c.o[:1], OY: c.o[1:2], OZ: c.o[2:], DX: c.d[:1], DY: c.d[1:2], DZ: c.d[2:], MaxT: []float32{c.maxT}}
		s := &neighbours.Spheres{}
		s.Set(p, []float32{c.radius}, [3]float32{10, 20, 30}, [3]float32{10, 20, 30})
		for _, level := range native.Levels() {
			slots, at := []uint32{7}, []float32{7}
			neighbours.RayClosest(level, g, p, s, q, &neighbours.Filter{}, &neighbours.Tracer{}, slots, at)
			if hit := slots[0] == 0; hit != (c.want < inf) || hit && at[0] != c.want || !hit && (slots[0] != native.NoSlot || at[0] != c.maxT) {
				t.Errorf("case %d, level %s: slot %d at %g, want %g", i, level, slots[0], at[0], c.want)
			}
		}
	}
}

// Of two spheres at the same t the lower slot is the closest, wherever it stands.
func TestRayTies(t *testing.T) {
	p := &neighbours.Points{Start: []uint32{0, 40}, Blocks: make([]neighbours.Block, 3), Limit: 100}
	radius := make([]float32, 100)
	for i := range 40 {
		b, lane := &p.Blocks[i/neighbours.BlockLen], i%neighbours.BlockLen
		b.X[lane], b.Slot[lane] = 5, uint32((i*37+50)%100)
		radius[b.Slot[lane]] = 1
	}
	p.Blocks[2].X[7] = 4.5 // 39th: in front of all, but left out
	s := &neighbours.Spheres{}
	s.Set(p, radius, [3]float32{4.5, 0, 0}, [3]float32{5, 0, 0})
	zero := []float32{0}
	q := &neighbours.Rays{OX: zero, OY: zero, OZ: zero, DX: []float32{1}, DY: zero, DZ: zero, MaxT: []float32{4}}
	f := &neighbours.Filter{Exclude: []uint32{p.Blocks[2].Slot[7]}}
	want := native.NoSlot
	for i := range 39 {
		want = min(want, p.Blocks[i/neighbours.BlockLen].Slot[i%neighbours.BlockLen])
	}
	for _, level := range native.Levels() {
		slots, at := []uint32{7}, []float32{7}
		neighbours.RayClosest(level, &neighbours.Grid{Inv: [3]float32{1, 1, 1}, N: [3]int32{1, 1, 1}}, p, s, q, f, &neighbours.Tracer{}, slots, at)
		if slots[0] != want || at[0] != 4 {
			t.Errorf("level %s: slot %d at %g, want %d at 4", level, slots[0], at[0], want)
		}
	}
}

func TestSpheresRefuse(t *testing.T) {
	p := &neighbours.Points{Start: []uint32{0, 2}, Blocks: make([]neighbours.Block, 1), Limit: 9}
	p.Blocks[0].Slot[0], p.Blocks[0].Slot[1] = 8, 3
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	column := func(at3, at8 float32) []float32 { return []float32{nan, nan, nan, at3, nan, nan, nan, nan, at8} }
	for _, c := range []struct {
		at3, at8 float32
		want     int
		largest  float32
	}{
		{1, 2, -1, 2}, {0, float32(math.Copysign(0, -1)), -1, 0}, {math.MaxFloat32, 0, -1, math.MaxFloat32},
		{nan, 1, 3, 0}, {1, inf, 8, 0}, {-1, -2, 3, 0}, {1, -math.SmallestNonzeroFloat32, 8, 0}, {-inf, nan, 3, 0},
	} {
		s := &neighbours.Spheres{}
		if got := s.Set(p, column(c.at3, c.at8), [3]float32{}, [3]float32{}); got != c.want {
			t.Errorf("radii %g and %g: bad slot %d, want %d", c.at3, c.at8, got, c.want)
		} else if got < 0 && math.Float32bits(s.Largest) != math.Float32bits(c.largest) {
			t.Errorf("radii %g and %g: the largest is %g", c.at3, c.at8, s.Largest)
		}
	}
	expectPanic(t, "neighbours: Spheres: the column of radii or Points.Blocks is too short", func() {
		(&neighbours.Spheres{}).Set(p, make([]float32, 8), [3]float32{}, [3]float32{})
	})
}

// A grid so large that the distance from its corner overflows has points in its
// last cell that lie in front of it.
func TestRaysInACellOfOverflow(t *testing.T) {
	const n = 40
	p := &neighbours.Points{Blocks: make([]neighbours.Block, 3), Limit: n}
	g := &neighbours.Grid{Min: [3]float32{0, 0, -3.4e38}, Inv: [3]float32{1, 1, 1 / 0x1.8p124}, N: [3]int32{1, 1, 16}}
	p.Start = make([]uint32, 17)
	radius := make([]float32, n)
	for i := range n {
		b, lane := &p.Blocks[i/neighbours.BlockLen], i%neighbours.BlockLen
		b.X[lane], b.Z[lane], b.Slot[lane], radius[i] = float32(i), 1e38, uint32(i), 0.25
		p.Start[1+g.Cell(2, 1e38)]++
	}
	if p.Start[16] != n {
		t.Fatalf("cells begin at %d", p.Start)
	}
	s := &neighbours.Spheres{}
	s.Set(p, radius, [3]float32{0, 0, 1e38}, [3]float32{n - 1, 0, 1e38})
	q := &neighbours.Rays{OX: []float32{0.5}, OY: []float32{0}, OZ: []float32{1e38}, DX: []float32{1}, DY: []float32{0}, DZ: []float32{0}, MaxT: []float32{1}}
	for _, level := range native.Levels() {
		slots, at := []uint32{7}, []float32{7}
		neighbours.RayClosest(level, g, p, s, q, &neighbours.Filter{}, &neighbours.Tracer{}, slots, at)
		if slots[0] != 1 || at[0] != 0.25 {
			t.Errorf("level %s: slot %d at %g, want 1 at 0.25", level, slots[0], at[0])
		}
	}
}

// Few of many spheres are tested for a ray.
func TestRaysTestFewSpheres(t *testing.T) {
	run := paritytest.Start(t, "Rays, pruning")
	s := paritytest.Families[1].Draw(run, maxPoints, 1)
	s.X, s.Y, s.Z, s.Slots = nil, nil, nil, nil
	for i := range uint32(20 * 20 * 20) {
		s.X, s.Y, s.Z = append(s.X, float32(i%20)), append(s.Y, float32(i/20%20)), append(s.Z, float32(i/400))
		s.Slots = append(s.Slots, i)
	}
	r := newRadiusCase(run, s)
	r.grid = neighbours.Grid{Min: [3]float32{-0.5, -0.5, -0.5}, Inv: [3]float32{1, 1, 1}, N: [3]int32{20, 20, 20}}
	r.points.Start = r.points.Start[:0]
	for i := range uint32(8001) {
		r.points.Start = append(r.points.Start, i)
	}
	for i := range 8000 {
		b, lane := &r.points.Blocks[i/neighbours.BlockLen], i%neighbours.BlockLen
		b.X[lane], b.Y[lane], b.Z[lane], b.Slot[lane] = s.X[i], s.Y[i], s.Z[i], uint32(i)
	}
	radius := make([]float32, 8000)
	for i := range radius {
		radius[i] = 0.1
	}
	sp := &neighbours.Spheres{}
	sp.Set(&r.points, radius, [3]float32{0, 0, 0}, [3]float32{19, 19, 19})
	for _, c := range []struct {
		o, d [3]float32
		maxT float32
		most int
	}{
		{[3]float32{-5, 3, 7}, [3]float32{1, 0, 0}, 100, 20},
		{[3]float32{3, 7, -5}, [3]float32{0, 0, 1}, 100, 20},
		{[3]float32{3, 7, 5}, [3]float32{0, 0, -1}, math.MaxFloat32, 6},
		{[3]float32{-1, -1, -1}, [3]float32{1, 1, 1}, math.MaxFloat32, 1000}, // a row costs more than the points between two
		{[3]float32{-1, 25, -1}, [3]float32{1, 1, 1}, math.MaxFloat32, 0},
		{[3]float32{3, 7, 5}, [3]float32{0, 1, 1}, 2, 100},
		{[3]float32{3, 25, 5}, [3]float32{1, 0, 1}, math.MaxFloat32, 0},
	} {
		q := &neighbours.Rays{OX: c.o[:1], OY: c.o[1:2], OZ: c.o[2:], DX: c.d[:1], DY: c.d[1:2], DZ: c.d[2:], MaxT: []float32{c.maxT}}
		tr := &neighbours.Tracer{}
		neighbours.RayClosest(native.Go, &r.grid, &r.points, sp, q, &neighbours.Filter{}, tr, make([]uint32, 1), make([]float32, 1))
		if n := neighbours.Traced(tr); n > c.most {
			t.Errorf("from %v along %v: %d spheres tested, want %d at most", c.o, c.d, n, c.most)
		}
	}
}

func TestRaysMisuse(t *testing.T) {
	one := func(v float32) []float32 { return []float32{v} }
	type args struct {
		p     neighbours.Points
		s     neighbours.Spheres
		q     neighbours.Rays
		f     neighbours.Filter
		h     neighbours.Rows
		slots []uint32
	}
	g := &neighbours.Grid{Inv: [3]float32{1, 1, 1}, N: [3]int32{1, 1, 1}}
	closest := func(l native.Level, a *args) {
		neighbours.RayClosest(l, g, &a.p, &a.s, &a.q, &a.f, &neighbours.Tracer{}, a.slots, make([]float32, 1))
	}
	all := func(l native.Level, a *args) {
		neighbours.RayAll(l, g, &a.p, &a.s, &a.q, &a.f, &neighbours.Tracer{}, &a.h)
	}
	for i, c := range []struct {
		want string
		run  func(native.Level, *args)
		do   func(a *args)
	}{
		{"neighbours: Rays differ in length", closest, func(a *args) { a.q.MaxT = nil }},
		{"neighbours: Rays differ in length", all, func(a *args) { a.q.DY = nil }},
		{"neighbours: RayClosest: slots or t differ in length from the rays", closest, func(a *args) { a.slots = nil }},
		{"neighbours: Spheres.R2 is too short", closest, func(a *args) { a.s.R2 = nil }},
		{"neighbours: Spheres.R2 is too short", all, func(a *args) { a.s.R2 = a.s.R2[:15] }},
		{"neighbours: RayAll: Rows.Dist2 is missing", all, func(a *args) { a.h.Dist2 = nil }},
		{"neighbours: Rows differ in length", all, func(a *args) { a.h.Dist2 = a.h.Dist2[:1] }},
		{"neighbours: Filter.Live is too short", all, func(a *args) { a.f.Live = []uint16{} }},
		{"neighbours: Points.Blocks is too short", all, func(a *args) { a.p.Blocks = nil }},
	} {
		for _, level := range native.Levels() {
			a := &args{
				p:     neighbours.Points{Start: []uint32{0, 1}, Blocks: make([]neighbours.Block, 1), Limit: 1},
				q:     neighbours.Rays{OX: one(0), OY: one(0), OZ: one(0), DX: one(1), DY: one(0), DZ: one(0), MaxT: one(1)},
				h:     neighbours.Rows{Ends: make([]uint32, 1), Slots: make([]uint32, 40), Dist2: make([]float32, 40)},
				slots: make([]uint32, 1),
			}
			a.s.Set(&a.p, one(1), [3]float32{}, [3]float32{})
			c.do(a)
			t.Run(fmt.Sprint(i, level), func(t *testing.T) { expectPanic(t, c.want, func() { c.run(level, a) }) })
		}
	}
}
