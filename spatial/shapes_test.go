package spatial_test

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/spatial"
)

// anywhere are suitable and unsuitable geometries for a scene.
func anywhere(s *paritytest.Scene) []spatial.Config {
	var all []spatial.Config
	for _, cell := range cellSizes(s) {
		for _, bounds := range boundsFor(s) {
			all = append(all, spatial.Config{CellSize: cell, Bounds: bounds})
		}
	}
	return all
}

// shapes calls do with scenes of every family in every geometry, on every level
// with one worker and with more, and with categories or without.
func shapes(t *testing.T, run *paritytest.Run, full int, do func(s *paritytest.Scene) func(ix *spatial.Index, what string)) {
	for range rounds(1, full) {
		for i := range paritytest.Families {
			s := paritytest.Families[i].Draw(run, 250, []int{1, 7, 64, 65, 150}[run.IntN(5)])
			if run.IntN(2) == 0 {
				s.Category = run.Categories(s.Limit())
			}
			check := do(s)
			for _, cfg := range anywhere(s) {
				for _, cfg.Level = range native.Levels() {
					cfg.Workers = 1 + run.IntN(3)
					ix := build(t, cfg, s)
					run.Case(cfg.Level)
					check(ix, fmt.Sprintf("scene %s, %+v", s.Name, cfg))
				}
			}
		}
	}
}

// someFilters draws filters for n queries, or none.
func someFilters(run *paritytest.Run, s *paritytest.Scene, n int) (exclude, mask []uint32, live []uint64) {
	if run.IntN(3) > 0 {
		exclude = s.Exclude
	}
	if run.IntN(3) > 0 {
		mask = run.Categories(n)
	}
	if run.IntN(3) == 0 {
		live = run.Bitmap(s.Limit())
	}
	return exclude, mask, live
}

func TestParityIndexCount(t *testing.T) {
	run := paritytest.Start(t, "Index, counts")
	shapes(t, run, 8, func(s *paritytest.Scene) func(*spatial.Index, string) {
		q := queriesOf(s)
		q.Exclude, q.Mask, q.Live = someFilters(run, s, len(q.X))
		want := make([]uint32, len(q.X))
		for i, row := range bruteForce(s, q) {
			want[i] = uint32(len(row))
		}
		return func(ix *spatial.Index, what string) {
			got, oracle := make([]uint32, len(want)), make([]uint32, len(want))
			run.Check(ix.CountOracle(q, oracle), paritytest.Bits(what+": oracle against brute force", oracle, want),
				ix.Count(q, got), paritytest.Bits(what, got, want))
		}
	})
}

// boxesOf draws boxes about the queries of a scene, many with sides at points.
func boxesOf(run *paritytest.Run, s *paritytest.Scene) *spatial.Boxes {
	q := &spatial.Boxes{Order: []spatial.Order{spatial.BySlot, spatial.Grid}[run.IntN(2)]}
	q.Exclude, q.Mask, q.Live = someFilters(run, s, len(s.Radius))
	for a, column := range [][]float32{s.X, s.Y, s.Z} {
		centre := [][]float32{s.QueryX, s.QueryY, s.QueryZ}[a]
		lo := []*[]float32{&q.MinX, &q.MinY, &q.MinZ}[a]
		hi := []*[]float32{&q.MaxX, &q.MaxY, &q.MaxZ}[a]
		for i, r := range s.Radius {
			side := func(v float32) float32 {
				switch k := run.IntN(16); {
				case k < 4 && len(column) > 0:
					v = run.Near(column[run.IntN(len(column))])
				case k == 4:
					v = run.Float(paritytest.Finite[run.IntN(len(paritytest.Finite))])
				}
				return max(-math.MaxFloat32, min(v, math.MaxFloat32))
			}
			v, w := side(centre[i]-r), side(centre[i]+r)
			*lo, *hi = append(*lo, min(v, w)), append(*hi, max(v, w))
		}
	}
	return q
}

// inBoxes is the oracle's oracle.
func inBoxes(s *paritytest.Scene, q *spatial.Boxes) [][]hit {
	rows := make([][]hit, len(q.MinX))
	for i := range rows {
		for at, slot := range s.Slots {
			x, y, z := s.X[at], s.Y[at], s.Z[at]
			outside := x < q.MinX[i] || x > q.MaxX[i] || y < q.MinY[i] || y > q.MaxY[i] || z < q.MinZ[i] || z > q.MaxZ[i]
			if !outside && admits(s, q.Exclude, q.Mask, q.Live, i, slot) {
				rows[i] = append(rows[i], hit{slot: slot})
			}
		}
	}
	return rows
}

func TestParityIndexOverlap(t *testing.T) {
	run := paritytest.Start(t, "Index, boxes")
	var got, oracle spatial.Result
	shapes(t, run, 8, func(s *paritytest.Scene) func(*spatial.Index, string) {
		q := boxesOf(run, s)
		rows := inBoxes(s, q)
		return func(ix *spatial.Index, what string) {
			want := expected(rows, q.Order, cellNumbers(s, spatial.GridOf(ix)))
			run.Check(ix.OverlapOracle(q, &oracle), sameResult(what+": oracle against brute force", &oracle, want, true),
				ix.Overlap(q, &got), sameResult(what, &got, want, true))
		}
	})
}

func TestBadBoxes(t *testing.T) {
	st := newState(t)
	st.q.SkipDist2 = true
	if err := st.ix.Radius(st.q, st.result); err != nil {
		t.Fatal(err)
	}
	st.before.Dist2 = nil
	for _, c := range []struct {
		set      func(q *spatial.Boxes)
		sentinel error
		message  string
	}{
		{func(q *spatial.Boxes) { q.MinX[1] = nan }, spatial.ErrNotFinite, "spatial: Boxes.MinX[1] = NaN: not finite"},
		{func(q *spatial.Boxes) { q.MinY[0] = -inf }, spatial.ErrNotFinite, "spatial: Boxes.MinY[0] = -Inf: not finite"},
		{func(q *spatial.Boxes) { q.MinZ[0] = nan }, spatial.ErrNotFinite, "spatial: Boxes.MinZ[0] = NaN: not finite"},
		{func(q *spatial.Boxes) { q.MaxX[1] = inf }, spatial.ErrNotFinite, "spatial: Boxes.MaxX[1] = +Inf: not finite"},
		{func(q *spatial.Boxes) { q.MaxY[1] = inf }, spatial.ErrNotFinite, "spatial: Boxes.MaxY[1] = +Inf: not finite"},
		{func(q *spatial.Boxes) { q.MaxZ[0], q.MinX[1] = nan, nan }, spatial.ErrNotFinite, "spatial: Boxes.MaxZ[0] = NaN: not finite"},
		{func(q *spatial.Boxes) { q.MinX[1] = 5.5 }, spatial.ErrRange, "spatial: Boxes.MinX[1] = 5.5: out of range"},
		{func(q *spatial.Boxes) { q.MinY[1] = 5.5 }, spatial.ErrRange, "spatial: Boxes.MinY[1] = 5.5: out of range"},
		{func(q *spatial.Boxes) { q.MaxZ[0] = -1 }, spatial.ErrRange, "spatial: Boxes.MinZ[0] = 0: out of range"},
		{func(q *spatial.Boxes) { q.Order = spatial.ByDistance }, spatial.ErrRange, "spatial: Boxes.Order = 1: out of range"},
		{func(q *spatial.Boxes) { q.Order = 9 }, spatial.ErrRange, "spatial: Boxes.Order = 9: out of range"},
	} {
		q := &spatial.Boxes{MinX: []float32{0, 0}, MinY: []float32{0, 0}, MinZ: []float32{0, 0},
			MaxX: []float32{5, 5}, MaxY: []float32{5, 5}, MaxZ: []float32{5, 5}}
		c.set(q)
		mustBe(t, st.ix.Overlap(q, st.result), c.sentinel, c.message)
		mustBe(t, st.ix.OverlapOracle(q, st.result), c.sentinel, c.message)
		st.mustBeUnchanged(t)
	}
}

func TestBadCounts(t *testing.T) {
	st := newState(t)
	for _, count := range []func(*spatial.Queries, []uint32) error{st.ix.Count, st.ix.CountOracle} {
		counts := []uint32{7, 8}
		q := &spatial.Queries{X: []float32{2, 0}, Y: []float32{0, nan}, Z: []float32{1, 1}, Radius: []float32{1, 1}}
		mustBe(t, count(q, counts), spatial.ErrNotFinite, "spatial: Queries.Y[1] = NaN: not finite")
		if !slices.Equal(counts, []uint32{7, 8}) {
			t.Errorf("counts are %v after an error", counts)
		}
	}
	st.mustBeUnchanged(t)
}

func TestShapesMisusePanics(t *testing.T) {
	ix, out := newState(t).ix, &spatial.Result{}
	two, three := make([]float32, 2), make([]float32, 3)
	q := &spatial.Queries{X: two, Y: two, Z: two, Radius: two}
	const unequal = "spatial: Boxes: MinX, MinY, MinZ, MaxX, MaxY and MaxZ differ in length"
	for i, c := range []struct {
		want string
		do   func()
	}{
		{"spatial: Count: counts and Queries.X differ in length", func() { _ = ix.Count(q, make([]uint32, 3)) }},
		{"spatial: Count: counts and Queries.X differ in length", func() { _ = ix.CountOracle(q, nil) }},
		{"spatial: Queries: Exclude and X differ in length", func() {
			_ = ix.Count(&spatial.Queries{X: two, Y: two, Z: two, Radius: two, Exclude: []uint32{}}, make([]uint32, 2))
		}},
		{unequal, func() { _ = ix.Overlap(&spatial.Boxes{MinX: two}, out) }},
		{unequal, func() {
			_ = ix.OverlapOracle(&spatial.Boxes{MinX: two, MinY: two, MinZ: two, MaxX: two, MaxY: two, MaxZ: three}, out)
		}},
		{"spatial: Boxes: Exclude or Mask and MinX differ in length", func() {
			_ = ix.Overlap(&spatial.Boxes{MinX: two, MinY: two, MinZ: two, MaxX: two, MaxY: two, MaxZ: two, Mask: []uint32{}}, out)
		}},
	} {
		mustPanic(t, fmt.Sprint("case ", i), c.want, c.do)
	}
}

// shapeTick is a step of a simulation that runs all kinds of queries.
type shapeTick struct {
	ix     *spatial.Index
	q      *spatial.Queries
	boxes  *spatial.Boxes
	rays   *spatial.Rays
	radius []float32
	counts []uint32
	out    spatial.Result
	slots  []uint32
	t      []float32
	hits   spatial.RayHits
}

func newShapeTick(t testing.TB, run *paritytest.Run, s *paritytest.Scene, cfg spatial.Config) *shapeTick {
	k := &shapeTick{ix: build(t, cfg, s), q: queriesOf(s), boxes: boxesOf(run, s)}
	k.rays, k.radius = raysOf(run, s)
	return k.fresh()
}

// fresh returns the same queries with their own results.
func (k *shapeTick) fresh() *shapeTick {
	n := len(k.q.X)
	return &shapeTick{ix: k.ix, q: k.q, boxes: k.boxes, rays: k.rays, radius: k.radius,
		counts: make([]uint32, n), slots: make([]uint32, n), t: make([]float32, n)}
}

func (k *shapeTick) do(tb testing.TB) {
	if err := cmp.Or(k.ix.Count(k.q, k.counts), k.ix.Overlap(k.boxes, &k.out),
		k.ix.RayClosest(k.radius, k.rays, k.slots, k.t), k.ix.RayAll(k.radius, k.rays, &k.hits)); err != nil {
		tb.Error(err)
	}
}

// allocations is testing.AllocsPerRun, but tries again: on a busy machine the
// runtime wants more goroutines for a while.
func allocations(runs int, f func()) float64 {
	n := testing.AllocsPerRun(runs, f)
	for retry := 0; n != 0 && retry < 3; retry++ {
		n = testing.AllocsPerRun(runs, f)
	}
	return n
}

// Counting results before allocating memory for them does not change them.
func TestCountingFirstChangesNothing(t *testing.T) {
	run := paritytest.Start(t, "Index, counting first")
	s := goldenScene()
	for _, level := range native.Levels() {
		for _, workers := range []int{1, 2, 7} {
			run.Case(level)
			want := newShapeTick(t, run, s, spatial.Config{CellSize: 8, Level: level, Workers: workers})
			got := want.fresh()
			spatial.CountSooner(&got.out, &got.hits, 100)
			want.do(t)
			got.do(t)
			run.Check(sameResult("boxes", &got.out, &want.out, true), sameHits("rays", &got.hits, &want.hits))
			self := spatial.Self{Radius: 8, RowsInGridOrder: workers == 2}
			run.Check(want.ix.Radius(want.q, &want.out), want.ix.Radius(want.q, &got.out), sameResult("radius", &got.out, &want.out, false),
				want.ix.RadiusSelf(&self, &want.out), want.ix.RadiusSelf(&self, &got.out), sameResult("self", &got.out, &want.out, false))
		}
	}
}

func TestShapesAllocateNothingAfterWarmUp(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("instrumented builds allocate on their own account")
	}
	run := paritytest.Start(t, "Index, allocations")
	s := goldenScene()
	for _, level := range native.Levels() {
		for _, workers := range []int{1, 2, 7} {
			k := newShapeTick(t, run, s, spatial.Config{CellSize: 8, Level: level, Workers: workers})
			for range 20 {
				k.do(t)
			}
			if n := allocations(20, func() { k.do(t) }); n != 0 {
				t.Errorf("level %s, %d workers: %g allocations", level, workers, n)
			}
		}
	}
}

// Concurrent calls do not share memory.
func TestConcurrentShapes(t *testing.T) {
	run := paritytest.Start(t, "Index, concurrent shapes")
	s := goldenScene()
	for _, level := range native.Levels() {
		want := newShapeTick(t, run, s, spatial.Config{CellSize: 8, Level: level, Workers: 2})
		want.do(t)
		var done sync.WaitGroup
		for range 8 {
			done.Add(1)
			go func() {
				defer done.Done()
				k := want.fresh()
				for range 10 {
					k.do(t)
					if err := cmp.Or(paritytest.Bits("counts", k.counts, want.counts), sameResult("boxes", &k.out, &want.out, true),
						paritytest.Bits("closest", k.slots, want.slots), paritytest.Bits("t", k.t, want.t), sameHits("rays", &k.hits, &want.hits)); err != nil {
						t.Error(err)
					}
				}
			}()
		}
		done.Wait()
	}
}
