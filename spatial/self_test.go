package spatial_test

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/spatial"
)

// selfForm is one kind of self query.
type selfForm struct {
	q     spatial.Self
	pairs bool
}

func (f selfForm) String() string {
	return fmt.Sprintf("radius %g, by %s, self %t, rows in grid order %t, pairs %t, no dist2 %t, mask %t, live %t",
		f.q.Radius, orderName(f.q.Order), f.q.IncludeSelf, f.q.RowsInGridOrder, f.pairs, f.q.SkipDist2, f.q.Mask != nil, f.q.Live != nil)
}

func (f *selfForm) ask(ix *spatial.Index, out *spatial.Result) error {
	if f.pairs {
		return ix.Pairs(&f.q, out)
	}
	return ix.RadiusSelf(&f.q, out)
}

func (f *selfForm) askOracle(ix *spatial.Index, out *spatial.Result) error {
	if f.pairs {
		return ix.PairsOracle(&f.q, out)
	}
	return ix.RadiusSelfOracle(&f.q, out)
}

// bruteForceSelf tests every pair of points.
func bruteForceSelf(s *paritytest.Scene, f *selfForm, cells map[uint32]int64) *spatial.Result {
	q := &spatial.Queries{X: s.X, Y: s.Y, Z: s.Z, Radius: slices.Repeat([]float32{f.q.Radius}, len(s.X)), Live: f.q.Live}
	for _, slot := range s.Slots {
		if f.q.Mask != nil {
			q.Mask = append(q.Mask, f.q.Mask[slot])
		}
	}
	rows := bruteForce(s, q)
	for i, own := range s.Slots {
		rows[i] = slices.DeleteFunc(rows[i], func(h hit) bool {
			return h.slot == own && !f.q.IncludeSelf || f.pairs && h.slot <= own
		})
	}
	of := slices.Clone(s.Slots)
	if f.q.RowsInGridOrder {
		places := make([]int, len(s.X))
		for i := range places {
			places[i] = i
		}
		slices.SortFunc(places, func(a, b int) int {
			return cmp.Or(cmp.Compare(cells[of[a]], cells[of[b]]), cmp.Compare(of[a], of[b]))
		})
		bySlot, slots := rows, slices.Clone(of)
		rows = make([][]hit, len(places))
		for i, at := range places {
			rows[i], of[i] = bySlot[at], slots[at]
		}
	}
	want := expected(rows, f.q.Order, cells)
	want.Of = of
	return want
}

func sameSelf(what string, got, want *spatial.Result, skipDist2 bool) error {
	return cmp.Or(sameResult(what, got, want, skipDist2), paritytest.Bits(what+": Of", got.Of, want.Of))
}

// everySelfForm calls do with each kind of self query of a radius.
func everySelfForm(radius float32, do func(f selfForm)) {
	for form := range 24 {
		do(selfForm{q: spatial.Self{Radius: radius, Order: orders[form%3], RowsInGridOrder: form/3&1 != 0, IncludeSelf: form/6&1 != 0},
			pairs: form/12 != 0})
	}
}

func TestParitySelf(t *testing.T) {
	run := paritytest.Start(t, "Self")
	results := map[string]*spatial.Result{} // reused over all cases, per level and workers
	for range rounds(1, 10) {
		for i := range paritytest.Families {
			s := paritytest.Families[i].Draw(run, 200, 1)
			if run.IntN(3) == 0 { // slots without a gap
				for i := range s.Slots {
					s.Slots[i] = uint32(i)
				}
			}
			radius := s.Scale
			if run.IntN(2) == 0 {
				radius = s.Radius[0]
			}
			if run.IntN(3) == 0 {
				s.Category = run.Categories(s.Limit())
			}
			sizes, bounds := cellSizes(s), boundsFor(s)
			cfg := spatial.Config{CellSize: sizes[run.IntN(len(sizes))], Bounds: bounds[run.IntN(len(bounds))]}
			paritySelf(t, run, s, radius, cfg, results)
		}
	}
}

// paritySelf compares the oracle with brute force, and every level and number of
// workers with the oracle.
func paritySelf(t *testing.T, run *paritytest.Run, s *paritytest.Scene, radius float32, cfg spatial.Config, results map[string]*spatial.Result) {
	ix := build(t, cfg, s)
	cells := cellNumbers(s, spatial.GridOf(ix))
	everySelfForm(radius, func(f selfForm) {
		var want spatial.Result
		if run.IntN(4) == 0 {
			f.q.Mask = run.Categories(s.Limit())
		}
		if run.IntN(4) == 0 {
			f.q.Live = run.Bitmap(s.Limit())
		}
		name := fmt.Sprintf("scene %s, %+v, %v", s.Name, cfg, f)
		if err := f.askOracle(ix, &want); err != nil {
			t.Fatalf("%s: oracle: %v", name, err)
		}
		run.Check(sameSelf(name+": oracle against brute force", &want, bruteForceSelf(s, &f, cells), false))
		for _, cfg.Level = range native.Levels() {
			for _, cfg.Workers = range some(run, 1, 2, 7) {
				run.Case(cfg.Level)
				key := fmt.Sprint(cfg.Level, cfg.Workers)
				got := results[key]
				if got == nil {
					got = &spatial.Result{}
					results[key] = got
				}
				spatial.SmallChunks(got, 1+run.IntN(40))
				f.q.SkipDist2 = run.IntN(4) == 0
				what := fmt.Sprintf("%s, workers %d, %v", name, cfg.Workers, f)
				run.Check(f.ask(build(t, cfg, s), got), sameSelf(what, got, &want, f.q.SkipDist2))
			}
		}
	})
}

// Every pair is in the answer of RadiusSelf twice and in that of Pairs once.
func TestPairsAreHalfOfSelf(t *testing.T) {
	run := paritytest.Start(t, "Pairs")
	for i := range paritytest.Families {
		s := paritytest.Families[i].Draw(run, 250, 0)
		for _, level := range native.Levels() {
			run.Case(level)
			ix := build(t, spatial.Config{CellSize: s.Scale, Level: level}, s)
			var pairs, self spatial.Result
			run.Check(ix.Pairs(&spatial.Self{Radius: s.Scale}, &pairs), ix.RadiusSelf(&spatial.Self{Radius: s.Scale}, &self))
			if len(self.Slots) != 2*len(pairs.Slots) {
				t.Errorf("scene %s: %d pairs, %d neighbours", s.Name, len(pairs.Slots), len(self.Slots))
			}
		}
	}
}

// Sets large enough for the workers of an ordinary index, with hard cases for grids:
// outliers, clusters, everything at one position or on one axis, cells that are far too
// small or large.
func TestParitySelfLarge(t *testing.T) {
	run := paritytest.Start(t, "Self, large")
	var want, got spatial.Result
	for _, name := range []string{"uniform", "line", "clusters", "outliers", "duplicates", "huge"} {
		s := drawExactly(run, name, 1300)
		x, y, z := s.Columns()
		for _, radius := range some(run, 0, s.Scale, 3e38) {
			for _, cell := range some(run, 0, s.Scale/50, s.Scale*1000) {
				f := selfForm{q: spatial.Self{Radius: radius, Order: spatial.Grid, RowsInGridOrder: run.IntN(2) == 0}, pairs: run.IntN(2) == 0}
				crews := some(run, 1, 2, 7)
				for li, level := range native.Levels() {
					for wi, workers := range crews {
						run.Case(level)
						ix, err := spatial.New(spatial.Config{CellSize: cell, Level: level, Workers: workers})
						run.Check(err, ix.Build(x, y, z, s.Slots))
						if li == 0 && wi == 0 {
							run.Check(f.askOracle(ix, &want))
						}
						run.Check(f.ask(ix, &got), sameSelf(fmt.Sprintf("scene %s, cell %g, %v", name, cell, f), &got, &want, false))
					}
				}
			}
		}
	}
}

// drawExactly draws from a family until the scene has n points.
func drawExactly(run *paritytest.Run, name string, n int) *paritytest.Scene {
	for i := range paritytest.Families {
		if f := &paritytest.Families[i]; f.Name == name {
			for {
				if s := f.Draw(run, n+n/4, 0); len(s.X) >= n {
					s.X, s.Y, s.Z, s.Slots = s.X[:n], s.Y[:n], s.Z[:n], s.Slots[:n]
					return s
				}
			}
		}
	}
	panic("no such family: " + name)
}

func TestSelfOfNothing(t *testing.T) {
	for _, workers := range []int{1, 2} {
		ix, err := spatial.New(spatial.Config{Workers: workers})
		if err != nil {
			t.Fatal(err)
		}
		everySelfForm(1, func(f selfForm) {
			var out spatial.Result
			if err := f.ask(ix, &out); err != nil || out.Len() != 0 || len(out.Slots) != 0 || !slices.Equal(out.Offsets, []uint32{0}) || len(out.Of) != 0 {
				t.Errorf("%v: %+v, %v", f, out.Offsets, err)
			}
		})
	}
}

// Radius does not leave the slots of an earlier answer in Of.
func TestOfIsOfTheLastBatch(t *testing.T) {
	st := newState(t)
	var out spatial.Result
	for _, ask := range []func() error{
		func() error { return st.ix.Radius(st.q, &out) },
		func() error { return st.ix.RadiusOracle(st.q, &out) },
	} {
		if err := st.ix.RadiusSelf(&spatial.Self{Radius: 1}, &out); err != nil || len(out.Of) != 3 {
			t.Fatal(out.Of, err)
		}
		if err := ask(); err != nil || len(out.Of) != 0 {
			t.Error(out.Of, err)
		}
	}
}

func TestBadSelf(t *testing.T) {
	for _, c := range []struct {
		q        spatial.Self
		sentinel error
		message  string
	}{
		{spatial.Self{Radius: nan}, spatial.ErrNotFinite, "spatial: Self.Radius = NaN: not finite"},
		{spatial.Self{Radius: inf}, spatial.ErrNotFinite, "spatial: Self.Radius = +Inf: not finite"},
		{spatial.Self{Radius: -1}, spatial.ErrRange, "spatial: Self.Radius = -1: out of range"},
		{spatial.Self{Order: 3}, spatial.ErrRange, "spatial: Self.Order = 3: out of range"},
	} {
		st := newState(t)
		for _, ask := range []func(*spatial.Self, *spatial.Result) error{st.ix.RadiusSelf, st.ix.Pairs, st.ix.RadiusSelfOracle, st.ix.PairsOracle} {
			mustBe(t, ask(&c.q, st.result), c.sentinel, c.message)
			st.mustBeUnchanged(t)
		}
	}
}

// More than 2^31-1 results are refused before memory is allocated for them.
func TestTooManySelf(t *testing.T) {
	n := 66000 // in one spot
	if !long || testing.Short() || paritytest.Instrumented {
		n = 3300
		spatial.MostResults(t, 1<<23)
	}
	column := make([]float32, n)
	slots := make([]uint32, n)
	for i := range slots {
		slots[i] = uint32(i)
	}
	for _, level := range native.Levels()[len(native.Levels())-1:] {
		for _, workers := range []int{1, 2} {
			for _, grid := range []bool{false, true} {
				ix, err := spatial.New(spatial.Config{Level: level, Workers: workers})
				if err != nil {
					t.Fatal(err)
				}
				if err := ix.Build(column, column, column, slots); err != nil {
					t.Fatal(err)
				}
				out := spatial.Result{Slots: []uint32{1}}
				if n < 66000 {
					spatial.CountSooner(&out, &spatial.RayHits{}, 1<<18)
				}
				err = ix.RadiusSelf(&spatial.Self{RowsInGridOrder: grid, SkipDist2: true, Order: spatial.Grid}, &out)
				if !errors.Is(err, spatial.ErrRange) {
					t.Fatalf("level %s: %v", level, err)
				}
				if len(out.Offsets)+len(out.Slots)+len(out.Dist2)+len(out.Of) != 0 || cap(out.Slots) > n*n/32 {
					t.Errorf("level %s: out holds %d slots, room for %d", level, len(out.Slots), cap(out.Slots))
				}
			}
		}
	}
}

func TestSelfAllocatesNothingAfterWarmUp(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("instrumented builds allocate on their own account")
	}
	run := paritytest.Start(t, "Self, allocations")
	s := drawExactly(run, "uniform", 700)
	for _, level := range native.Levels() {
		for _, workers := range []int{1, 2, 7} {
			ix := build(t, spatial.Config{CellSize: s.Scale, Level: level, Workers: workers}, s)
			everySelfForm(s.Scale, func(f selfForm) {
				var out spatial.Result
				do := func() {
					if err := f.ask(ix, &out); err != nil {
						t.Error(err)
					}
				}
				spatial.SmallChunks(&out, 100)
				for range 10 {
					do()
				}
				if n := allocations(10, do); n != 0 {
					t.Errorf("level %s, %d workers, %v: %g allocations", level, workers, f, n)
				}
			})
		}
	}
}

// swarm is n points of density 1 in a cube, at random slots: a sphere of a radius
// for k neighbours, the centre included, holds k.
type swarm struct {
	x, y, z []float32
	slots   []uint32
	radius  float32
	rng     *rand.Rand
	width   float32
}

func newSwarm(n int, k float64) *swarm {
	s := &swarm{radius: float32(math.Cbrt(k * 3 / (4 * math.Pi))), width: float32(math.Cbrt(float64(n))), rng: rand.New(rand.NewPCG(3, 4))}
	for i := range n {
		s.slots = append(s.slots, uint32(i))
	}
	s.x, s.y, s.z = make([]float32, n), make([]float32, n), make([]float32, n)
	s.draw()
	return s
}

func (s *swarm) draw() {
	for i := range s.x {
		s.x[i], s.y[i], s.z[i] = s.rng.Float32()*s.width, s.rng.Float32()*s.width, s.rng.Float32()*s.width
	}
}

// BenchmarkSelf is a self query with 32 neighbours a point; Build is not timed.
func BenchmarkSelf(b *testing.B) {
	for _, n := range []int{16384, 1 << 20} {
		for _, rows := range []string{"grid", "slot"} {
			for _, level := range native.Levels() {
				for _, workers := range []int{1, 2} {
					b.Run(fmt.Sprintf("n=%d/rows=%s/level=%s/workers=%d", n, rows, level, workers), func(b *testing.B) {
						benchmarkSelf(b, n, spatial.Config{Level: level, Workers: workers},
							&spatial.Self{Order: spatial.Grid, SkipDist2: true, RowsInGridOrder: rows == "grid"}, (*spatial.Index).RadiusSelf)
					})
				}
			}
		}
	}
}

// BenchmarkPairs finds every pair within the same radius.
func BenchmarkPairs(b *testing.B) {
	for _, level := range native.Levels() {
		b.Run(fmt.Sprintf("n=16384/level=%s", level), func(b *testing.B) {
			benchmarkSelf(b, 16384, spatial.Config{Level: level}, &spatial.Self{Order: spatial.Grid, SkipDist2: true, RowsInGridOrder: true}, (*spatial.Index).Pairs)
		})
	}
}

func benchmarkSelf(b *testing.B, n int, cfg spatial.Config, q *spatial.Self, ask func(*spatial.Index, *spatial.Self, *spatial.Result) error) {
	s := newSwarm(n, 32)
	q.Radius, cfg.CellSize = s.radius, float32(s.radius*1.05)
	ix, err := spatial.New(cfg)
	if err != nil {
		b.Fatal(err)
	}
	var out spatial.Result
	again := func() {
		s.draw()
		if err := ix.Build(s.x, s.y, s.z, s.slots); err != nil {
			b.Fatal(err)
		}
	}
	for range 2 {
		again()
		if err := ask(ix, q, &out); err != nil {
			b.Fatal(err)
		}
	}
	rounds := 0
	for b.Loop() {
		if rounds++; n < 1<<20 || rounds%8 == 0 { // a large set takes longer to draw than a predictor remembers
			b.StopTimer()
			again()
			b.StartTimer()
		}
		if err := ask(ix, q, &out); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/point")
	b.ReportMetric(float64(len(out.Slots))/float64(n), "hits/point")
}
