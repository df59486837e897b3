package spatial_test

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/spatial"
)

// raysOf draws rays from the queries of a scene, most towards a point or past the
// edge of its sphere, and radii by slot.
func raysOf(run *paritytest.Run, s *paritytest.Scene) (*spatial.Rays, []float32) {
	radius := slices.Repeat([]float32{nan}, s.Limit())
	most := float32(s.Scale * []float32{0, 0.01, 0.1, 1, 30}[run.IntN(5)])
	for _, slot := range s.Slots {
		radius[slot] = min(most*run.Float32(), math.MaxFloat32)
	}
	q := &spatial.Rays{OX: slices.Clone(s.QueryX), OY: slices.Clone(s.QueryY), OZ: slices.Clone(s.QueryZ)}
	q.Exclude, q.Mask, q.Live = someFilters(run, s, len(s.Radius))
	clamp := func(v float32) float32 { return max(-math.MaxFloat32, min(v, math.MaxFloat32)) }
	for i := range q.OX {
		d := [3]float32{run.Float32() - 0.5, run.Float32() - 0.5, run.Float32() - 0.5}
		if n := len(s.X); n > 0 && run.IntN(4) > 0 {
			at, edge := run.IntN(n), [3]float32{}
			edge[run.IntN(3)] = float32(radius[s.Slots[at]] * float32(run.IntN(3)-1))
			for a, v := range []float32{s.X[at], s.Y[at], s.Z[at]} {
				d[a] = clamp(clamp(run.Near(v+edge[a])) - []float32{q.OX[i], q.OY[i], q.OZ[i]}[a])
			}
		}
		if run.IntN(4) == 0 {
			d[run.IntN(3)], d[run.IntN(3)] = 0, 0
		}
		if length := []float32{1, 1e-30, 1e-42, 1e10}[run.IntN(4)]; run.IntN(2) == 0 {
			d = [3]float32{clamp(d[0] * length), clamp(d[1] * length), clamp(d[2] * length)}
		}
		if d == [3]float32{} {
			d[run.IntN(3)] = math.SmallestNonzeroFloat32
		}
		q.DX, q.DY, q.DZ = append(q.DX, d[0]), append(q.DY, d[1]), append(q.DZ, d[2])
		q.MaxT = append(q.MaxT, []float32{math.MaxFloat32, 1, 0, run.Float32() * 2, run.Float32() * 100}[run.IntN(5)])
	}
	return q, radius
}

func sameHits(what string, got, want *spatial.RayHits) error {
	return cmp.Or(paritytest.Bits(what+": Offsets", got.Offsets, want.Offsets),
		paritytest.Bits(what+": Slots", got.Slots, want.Slots), paritytest.Bits(what+": T", got.T, want.T))
}

// bruteRays is the oracle's oracle: all hits of a ray by t, then slot, from the
// formula in another form.
func bruteRays(s *paritytest.Scene, radius []float32, q *spatial.Rays) *spatial.RayHits {
	out := &spatial.RayHits{Offsets: []uint32{0}}
	for i := range q.OX {
		var hits []hit
		for at, slot := range s.Slots {
			t, met := meets([3]float32{q.OX[i], q.OY[i], q.OZ[i]}, [3]float32{q.DX[i], q.DY[i], q.DZ[i]},
				[3]float32{s.X[at], s.Y[at], s.Z[at]}, radius[slot])
			if met && t <= q.MaxT[i] && admits(s, q.Exclude, q.Mask, q.Live, i, slot) {
				hits = append(hits, hit{slot, t})
			}
		}
		slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(a.dist2, b.dist2) })
		for _, h := range hits {
			out.Slots, out.T = append(out.Slots, h.slot), append(out.T, h.dist2)
		}
		out.Offsets = append(out.Offsets, uint32(len(out.Slots)))
	}
	return out
}

func meets(o, d, c [3]float32, radius float32) (t float32, hit bool) {
	longest := max(d[0], -d[0], d[1], -d[1], d[2], -d[2])
	_, k := math.Frexp(float64(longest))
	scale := float32(math.Ldexp(1, min(1-k, 126)))
	var m, l [3]float32
	for a := range 3 {
		d[a] *= scale
		m[a] = c[a] - o[a]
	}
	dot := func(v, w [3]float32) float32 {
		sum := float32(v[0]*w[0]) + float32(v[1]*w[1])
		return sum + float32(v[2]*w[2])
	}
	inv, r2 := 1/dot(d, d), float32(radius*radius)
	s := float32(dot(m, d) * inv)
	for a := range 3 {
		l[a] = m[a] - float32(s*d[a])
	}
	if dot(m, m) <= r2 {
		return 0, true
	}
	root := float32(float32(math.Sqrt(float64(r2-dot(l, l)))) * float32(math.Sqrt(float64(inv))))
	return max(0, float32(max(0, s-root)*scale)), s >= 0 && dot(l, l) <= r2
}

func TestParityIndexRays(t *testing.T) {
	run := paritytest.Start(t, "Index, rays")
	var got, oracle spatial.RayHits
	total := 0
	shapes(t, run, 8, func(s *paritytest.Scene) func(*spatial.Index, string) {
		q, radius := raysOf(run, s)
		want := bruteRays(s, radius, q)
		total += len(want.Slots)
		n := len(q.OX)
		slots, ts := slices.Repeat([]uint32{spatial.NoSlot}, n), slices.Clone(q.MaxT)
		for i := range n {
			if row := want.Row(i); len(row) > 0 {
				slots[i], ts[i] = row[0], want.TRow(i)[0]
			}
		}
		return func(ix *spatial.Index, what string) {
			gotSlots, gotT := make([]uint32, n), make([]float32, n)
			oracleSlots, oracleT := make([]uint32, n), make([]float32, n)
			run.Check(ix.RayAllOracle(radius, q, &oracle), sameHits(what+": oracle against brute force", &oracle, want),
				ix.RayAll(radius, q, &got), sameHits(what, &got, want),
				ix.RayClosestOracle(radius, q, oracleSlots, oracleT), ix.RayClosest(radius, q, gotSlots, gotT),
				paritytest.Bits(what+": closest, oracle", oracleSlots, slots), paritytest.Bits(what+": closest t, oracle", oracleT, ts),
				paritytest.Bits(what+": closest", gotSlots, slots), paritytest.Bits(what+": closest t", gotT, ts))
		}
	})
	if total == 0 {
		t.Error("no ray met anything")
	}
}

// An error leaves slots, t and hits as they were.
func TestBadRays(t *testing.T) {
	st := newState(t)
	good := []float32{1, nan, 1, 1}
	hits := spatial.RayHits{}
	for _, c := range []struct {
		radius   []float32
		set      func(q *spatial.Rays)
		sentinel error
		message  string // after the name of the call, if it is about the radius
	}{
		{good, func(q *spatial.Rays) { q.OX[1] = nan }, spatial.ErrNotFinite, "spatial: Rays.OX[1] = NaN: not finite"},
		{good, func(q *spatial.Rays) { q.OY[1] = inf }, spatial.ErrNotFinite, "spatial: Rays.OY[1] = +Inf: not finite"},
		{good, func(q *spatial.Rays) { q.OZ[0] = -inf }, spatial.ErrNotFinite, "spatial: Rays.OZ[0] = -Inf: not finite"},
		{good, func(q *spatial.Rays) { q.DX[1] = nan }, spatial.ErrNotFinite, "spatial: Rays.DX[1] = NaN: not finite"},
		{good, func(q *spatial.Rays) { q.DY[1] = nan }, spatial.ErrNotFinite, "spatial: Rays.DY[1] = NaN: not finite"},
		{good, func(q *spatial.Rays) { q.DZ[1] = inf }, spatial.ErrNotFinite, "spatial: Rays.DZ[1] = +Inf: not finite"},
		{good, func(q *spatial.Rays) { q.MaxT[0] = inf }, spatial.ErrNotFinite, "spatial: Rays.MaxT[0] = +Inf: not finite"},
		{good, func(q *spatial.Rays) { q.MaxT[1] = -1 }, spatial.ErrRange, "spatial: Rays.MaxT[1] = -1: out of range"},
		{good, func(q *spatial.Rays) { q.DX[1] = 0 }, spatial.ErrRange, "spatial: Rays: direction[1] = 0: out of range"},
		{[]float32{1, 1, nan, -1}, func(*spatial.Rays) {}, spatial.ErrNotFinite, ": radius[2] = NaN: not finite"},
		{[]float32{1, 1, 1, inf}, func(*spatial.Rays) {}, spatial.ErrNotFinite, ": radius[3] = +Inf: not finite"},
		{[]float32{-0.5, 1, nan, 1}, func(*spatial.Rays) {}, spatial.ErrRange, ": radius[0] = -0.5: out of range"},
	} {
		q := &spatial.Rays{OX: []float32{0, 0}, OY: []float32{0, 0}, OZ: []float32{0, 0},
			DX: []float32{1, 1}, DY: []float32{0, 0}, DZ: []float32{0, 0}, MaxT: []float32{9, 9}}
		if err := st.ix.RayAll(good, q, &hits); err != nil {
			t.Fatal(err)
		}
		before := spatial.RayHits{Offsets: slices.Clone(hits.Offsets), Slots: slices.Clone(hits.Slots), T: slices.Clone(hits.T)}
		c.set(q)
		slots, ts := []uint32{5, 6}, []float32{7, 8}
		for _, call := range []struct {
			name string
			err  error
		}{
			{"RayClosest", st.ix.RayClosest(c.radius, q, slots, ts)}, {"RayClosestOracle", st.ix.RayClosestOracle(c.radius, q, slots, ts)},
			{"RayAll", st.ix.RayAll(c.radius, q, &hits)}, {"RayAllOracle", st.ix.RayAllOracle(c.radius, q, &hits)},
		} {
			message := c.message
			if message[0] == ':' {
				message = "spatial: " + call.name + message
			}
			mustBe(t, call.err, c.sentinel, message)
		}
		if err := cmp.Or(sameHits("hits after an error", &hits, &before), paritytest.Bits("slots", slots, []uint32{5, 6}),
			paritytest.Bits("t", ts, []float32{7, 8})); err != nil {
			t.Error(err)
		}
		st.mustBeUnchanged(t)
	}
}

func TestRaysMisusePanics(t *testing.T) {
	ix := newState(t).ix
	two, four := []float32{1, 1}, []float32{1, 1, 1, 1}
	q := &spatial.Rays{OX: two, OY: two, OZ: two, DX: two, DY: two, DZ: two, MaxT: two}
	short := *q
	short.DZ = two[:1]
	masked := *q
	masked.Mask = []uint32{1}
	const (
		unequal = "spatial: Rays: OX, OY, OZ, DX, DY, DZ and MaxT differ in length"
		column  = "spatial: Rays: the column of radii is shorter than those of Build"
	)
	for i, c := range []struct {
		want string
		do   func()
	}{
		{unequal, func() { _ = ix.RayAll(four, &short, &spatial.RayHits{}) }},
		{unequal, func() { _ = ix.RayClosest(four, &short, make([]uint32, 2), two) }},
		{"spatial: Rays: Exclude or Mask and OX differ in length", func() { _ = ix.RayAll(four, &masked, &spatial.RayHits{}) }},
		{column, func() { _ = ix.RayAll(four[:3], q, &spatial.RayHits{}) }},
		{column, func() { _ = ix.RayClosest(nil, q, make([]uint32, 2), two) }},
		{"spatial: RayClosest: slots or t and Rays.OX differ in length", func() { _ = ix.RayClosest(four, q, make([]uint32, 1), two) }},
		{"spatial: RayClosest: slots or t and Rays.OX differ in length", func() { _ = ix.RayClosest(four, q, make([]uint32, 2), nil) }},
	} {
		mustPanic(t, fmt.Sprint("case ", i), c.want, c.do)
	}
}

// FuzzShapes reads the centres and radii of a fuzzed scene as boxes and as rays.
func FuzzShapes(f *testing.F) {
	fuzzConfigured(f, func(t *testing.T, cfg spatial.Config, in *fuzzInput) {
		cfg.Bounds = in.bounds()
		s := in.scene()
		if firstBadPoint(s) == "" {
			fuzzShapes(t, cfg, s)
		}
	})
}

// fuzzShapes compares all levels with the oracles, and these with brute force.
// The oracles decide whether a batch is refused: another test checks errors.
func fuzzShapes(t *testing.T, cfg spatial.Config, s *paritytest.Scene) {
	q := queriesOf(s)
	n := len(q.X)
	boxes := &spatial.Boxes{Exclude: s.Exclude, MaxX: q.Y, MaxY: q.Z, MaxZ: q.Radius}
	for i := range n {
		boxes.MinX, boxes.MinY, boxes.MinZ = append(boxes.MinX, min(q.X[i], q.Y[i])), append(boxes.MinY, min(q.Y[i], q.Z[i])), append(boxes.MinZ, min(q.X[i], q.Radius[i]))
	}
	rays := &spatial.Rays{OX: q.X, OY: q.Y, OZ: q.Z, DX: q.Radius, DY: q.X, DZ: q.Y, MaxT: q.Z, Exclude: s.Exclude}
	radius := make([]float32, s.Limit())
	for i, slot := range s.Slots {
		if i < n && finite(q.Radius[i]) {
			radius[slot] = max(q.Radius[i], -q.Radius[i])
		}
	}
	for _, cfg.Level = range native.Levels() {
		ix := build(t, cfg, s)
		counts, wantCounts := make([]uint32, n), make([]uint32, n)
		if err := ix.CountOracle(q, wantCounts); err == nil {
			for i, row := range bruteForce(s, q) {
				if int(wantCounts[i]) != len(row) {
					t.Fatalf("query %d: the oracle counts %d, brute force %d", i, wantCounts[i], len(row))
				}
			}
			check(t, ix.Count(q, counts), paritytest.Bits("counts", counts, wantCounts))
		}
		var out, wantOut spatial.Result
		if err := ix.OverlapOracle(boxes, &wantOut); err == nil {
			want := expected(inBoxes(s, boxes), spatial.BySlot, nil)
			check(t, sameResult("boxes, oracle", &wantOut, want, true), ix.Overlap(boxes, &out), sameResult("boxes", &out, want, true))
		}
		var hits, wantHits spatial.RayHits
		if err := ix.RayAllOracle(radius, rays, &wantHits); err == nil {
			want := bruteRays(s, radius, rays)
			check(t, sameHits("rays, oracle", &wantHits, want), ix.RayAll(radius, rays, &hits), sameHits("rays", &hits, want))
			slots, ts, wantSlots, wantT := make([]uint32, n), make([]float32, n), make([]uint32, n), make([]float32, n)
			check(t, ix.RayClosest(radius, rays, slots, ts), ix.RayClosestOracle(radius, rays, wantSlots, wantT),
				paritytest.Bits("closest", slots, wantSlots), paritytest.Bits("closest t", ts, wantT))
		}
	}
}

func check(t *testing.T, errs ...error) {
	t.Helper()
	if err := cmp.Or(errs...); err != nil {
		t.Fatal(err)
	}
}
