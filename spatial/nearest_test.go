package spatial_test

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/spatial"
)

var ks = []int{1, 2, 7, 8, 16, 63, 64}

// categoryOf is a set of few categories, some of them in use by hardly any point.
func categoryOf(slot uint32) uint32 {
	h := slot * 2654435761
	return 1<<(h>>29) | h>>7&0x100 | (h>>20&1)<<31
}

// nearestOf returns a scene's batch with the filters that the bits of form select.
func nearestOf(run *paritytest.Run, s *paritytest.Scene, k, form int) *spatial.NearestQueries {
	q := &spatial.NearestQueries{X: s.QueryX, Y: s.QueryY, Z: s.QueryZ, K: k}
	if form&1 != 0 {
		q.Radius = s.Radius
	}
	if form&2 != 0 {
		q.Exclude = s.Exclude
	}
	if form&4 != 0 {
		for range q.X {
			q.Mask = append(q.Mask, []uint32{1, 2, 0x103, 1 << 31, math.MaxUint32, 0}[run.IntN(6)])
		}
	}
	if form&8 != 0 {
		q.Live = run.Bitmap(s.Limit())
	}
	return q
}

// bruteForceNearest sorts all points of the scene for each query. Without
// categories every point is in all of them.
func bruteForceNearest(s *paritytest.Scene, q *spatial.NearestQueries, category func(uint32) uint32) *spatial.Result {
	out := &spatial.Result{Offsets: []uint32{0}}
	for i := range q.X {
		var row []hit
		for at, slot := range s.Slots {
			dx, dy, dz := s.X[at]-q.X[i], s.Y[at]-q.Y[i], s.Z[at]-q.Z[i]
			d2 := float32(float32(dx*dx)+float32(dy*dy)) + float32(dz*dz)
			far := q.Radius != nil && d2 > float32(q.Radius[i]*q.Radius[i])
			excluded := q.Exclude != nil && slot == q.Exclude[i]
			dead := q.Live != nil && q.Live[slot/64]>>(slot%64)&1 == 0
			if far || excluded || dead || q.Mask != nil && category(slot)&q.Mask[i] == 0 {
				continue
			}
			row = append(row, hit{slot, d2})
		}
		slices.SortFunc(row, func(a, b hit) int { return cmp.Or(cmp.Compare(a.dist2, b.dist2), cmp.Compare(a.slot, b.slot)) })
		for _, h := range row[:min(q.K, len(row))] {
			out.Slots, out.Dist2 = append(out.Slots, h.slot), append(out.Dist2, h.dist2)
		}
		out.Offsets = append(out.Offsets, uint32(len(out.Slots)))
	}
	return out
}

// column returns the categories of all slots of a scene.
func column(s *paritytest.Scene, of func(slot uint32) uint32) []uint32 {
	c := make([]uint32, s.Limit())
	for i := range c {
		c[i] = of(uint32(i))
	}
	return c
}

// nearestParity compares all ways to answer one batch.
type nearestParity struct {
	t       *testing.T
	run     *paritytest.Run
	results map[string]*spatial.Result // reused over all cases, per level and workers
	firsts  spatial.NearestResult
}

func TestParityNearest(t *testing.T) {
	p := &nearestParity{t: t, run: paritytest.Start(t, "Nearest"), results: map[string]*spatial.Result{}}
	for round := range rounds(2, 4) {
		for i := range paritytest.Families {
			queries := []int{1, 63, 64, 65, 200}[p.run.IntN(5)]
			s := paritytest.Families[i].Draw(p.run, []int{250, 1500}[round%2], queries)
			cells, bounds := cellSizes(s), boundsFor(s)
			for _, k := range some(p.run, ks...) {
				p.scene(s, nearestOf(p.run, s, k, p.run.IntN(16)),
					spatial.Config{CellSize: cells[p.run.IntN(len(cells))], Bounds: bounds[p.run.IntN(len(bounds))]})
			}
		}
	}
}

func (p *nearestParity) scene(s *paritytest.Scene, q *spatial.NearestQueries, cfg spatial.Config) {
	name := fmt.Sprintf("scene %s, %d points, k %d, %+v", s.Name, len(s.Slots), q.K, cfg)
	category := categoryOf
	if p.run.IntN(4) == 0 {
		category = func(uint32) uint32 { return math.MaxUint32 }
	}
	want := bruteForceNearest(s, q, category)
	for _, cfg.Level = range native.Levels() {
		for _, cfg.Workers = range []int{1, 2, 7} {
			p.run.Case(cfg.Level)
			ix := build(p.t, cfg, s)
			ix.SetCategories(column(s, category))
			p.index(ix, q, want, fmt.Sprintf("%s, workers %d", name, cfg.Workers))
		}
	}
}

func (p *nearestParity) index(ix *spatial.Index, q *spatial.NearestQueries, want *spatial.Result, name string) {
	key := fmt.Sprint(ix.Level(), name[len(name)-1:])
	if p.results[key] == nil {
		p.results[key] = &spatial.Result{}
	}
	got := p.results[key]
	if ix.Level() == native.Go {
		p.run.Check(ix.KNNOracle(q, got), sameResult(name+": oracle against brute force", got, want, false))
	}
	q.SkipDist2 = p.run.IntN(4) == 0
	p.run.Check(ix.KNN(q, got), sameResult(name, got, want, q.SkipDist2))
	q.SkipDist2 = false
	slots, dist2 := firstOf(want)
	p.run.Check(ix.Nearest(q, &p.firsts), paritytest.Bits(name+": nearest", p.firsts.Slots, slots),
		paritytest.Bits(name+": its distance", p.firsts.Dist2, dist2))
}

// firstOf returns the first of each row.
func firstOf(rows *spatial.Result) (slots []uint32, dist2 []float32) {
	for i := range rows.Len() {
		slot, d2 := uint32(spatial.NoSlot), inf
		if row := rows.Row(i); len(row) > 0 {
			slot, d2 = row[0], rows.Dist2Row(i)[0]
		}
		slots, dist2 = append(slots, slot), append(dist2, d2)
	}
	return slots, dist2
}

// A batch large enough for the workers of an ordinary index, and not a multiple
// of a chunk.
func TestParityNearestLargeBatch(t *testing.T) {
	run := paritytest.Start(t, "Nearest, large batch")
	s := familyOf(t, "clusters").Draw(run, 3000, 1500)
	x, y, z := s.Columns()
	q := nearestOf(run, s, 8, 3)
	want := bruteForceNearest(s, q, nil)
	for _, level := range native.Levels() {
		for _, workers := range []int{1, 2, 7} {
			run.Case(level)
			ix, err := spatial.New(spatial.Config{Level: level, Workers: workers})
			if err != nil {
				t.Fatal(err)
			}
			var got spatial.Result
			run.Check(ix.Build(x, y, z, s.Slots), ix.KNN(q, &got), sameResult("result", &got, want, false))
		}
	}
}

func familyOf(t *testing.T, name string) *paritytest.Family {
	for i := range paritytest.Families {
		if paritytest.Families[i].Name == name {
			return &paritytest.Families[i]
		}
	}
	t.Fatalf("no family %q", name)
	return nil
}

// knnGoldenHash belongs to goldenScene, on every level and architecture.
const knnGoldenHash = 0xc05e1f049acb3d1b

func TestParityNearestGolden(t *testing.T) {
	run := paritytest.Start(t, "Nearest, golden hash")
	s := goldenScene()
	for _, level := range native.Levels() {
		run.Case(level)
		ix := build(t, spatial.Config{CellSize: 8, Level: level, Workers: 2}, s)
		sum := fnv.New64a()
		for _, k := range ks {
			q := nearestOf(run, s, k, 3)
			var out spatial.Result
			run.Check(ix.KNN(q, &out))
			fmt.Fprint(sum, out.Offsets, out.Slots)
			for _, d := range out.Dist2 {
				fmt.Fprint(sum, math.Float32bits(d))
			}
		}
		if got := sum.Sum64(); got != knnGoldenHash {
			t.Errorf("level %s: hash %#x, want %#x", level, got, uint64(knnGoldenHash))
		}
	}
}

func TestNearestOfAnEmptyIndex(t *testing.T) {
	ix, err := spatial.New(spatial.Config{})
	if err != nil {
		t.Fatal(err)
	}
	q := &spatial.NearestQueries{X: []float32{0, 1e30}, Y: []float32{0, 0}, Z: []float32{0, 0}, K: 3}
	var out spatial.Result
	if err := ix.KNN(q, &out); err != nil || len(out.Slots) != 0 || !slices.Equal(out.Offsets, []uint32{0, 0, 0}) {
		t.Errorf("%+v, %v", out.Offsets, err)
	}
	var first spatial.NearestResult
	if err := ix.Nearest(q, &first); err != nil || !slices.Equal(first.Slots, []uint32{spatial.NoSlot, spatial.NoSlot}) ||
		!slices.Equal(first.Dist2, []float32{inf, inf}) {
		t.Errorf("%v, %v, %v", first.Slots, first.Dist2, err)
	}
	none := &spatial.NearestQueries{K: 1}
	if err := ix.KNN(none, &out); err != nil || out.Len() != 0 || len(out.Slots) != 0 {
		t.Errorf("no queries: %+v, %v", out.Offsets, err)
	}
	if err := ix.Nearest(none, &first); err != nil || len(first.Slots) != 0 || len(first.Dist2) != 0 {
		t.Errorf("no queries: %v, %v", first.Slots, err)
	}
}

func TestBadNearestQueries(t *testing.T) {
	st := newState(t)
	first := spatial.NearestResult{}
	good := &spatial.NearestQueries{X: []float32{2}, Y: []float32{0}, Z: []float32{1}, K: 1}
	if err := st.ix.Nearest(good, &first); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		set      func(q *spatial.NearestQueries)
		sentinel error
		message  string
	}{
		{func(q *spatial.NearestQueries) { q.K = 0 }, spatial.ErrRange, "spatial: NearestQueries.K = 0: out of range"},
		{func(q *spatial.NearestQueries) { q.K = 65 }, spatial.ErrRange, "spatial: NearestQueries.K = 65: out of range"},
		{func(q *spatial.NearestQueries) { q.X[1] = nan }, spatial.ErrNotFinite, "spatial: NearestQueries.X[1] = NaN: not finite"},
		{func(q *spatial.NearestQueries) { q.Y[0] = inf }, spatial.ErrNotFinite, "spatial: NearestQueries.Y[0] = +Inf: not finite"},
		{func(q *spatial.NearestQueries) { q.Z[1] = -inf }, spatial.ErrNotFinite, "spatial: NearestQueries.Z[1] = -Inf: not finite"},
		{func(q *spatial.NearestQueries) { q.Radius[1] = inf }, spatial.ErrNotFinite, "spatial: NearestQueries.Radius[1] = +Inf: not finite"},
		{func(q *spatial.NearestQueries) { q.Radius[0] = nan }, spatial.ErrNotFinite, "spatial: NearestQueries.Radius[0] = NaN: not finite"},
		{func(q *spatial.NearestQueries) { q.Radius[1] = -1 }, spatial.ErrRange, "spatial: NearestQueries.Radius[1] = -1: out of range"},
	} {
		q := &spatial.NearestQueries{X: []float32{2, 0}, Y: []float32{0, 0}, Z: []float32{1, 1}, Radius: []float32{1, 1}, K: 2}
		c.set(q)
		mustBe(t, st.ix.KNN(q, st.result), c.sentinel, c.message)
		mustBe(t, st.ix.KNNOracle(q, st.result), c.sentinel, c.message)
		st.mustBeUnchanged(t)
		if q.K == 2 {
			mustBe(t, st.ix.Nearest(q, &first), c.sentinel, c.message)
		}
	}
	if !slices.Equal(first.Slots, []uint32{2}) || !slices.Equal(first.Dist2, []float32{0}) {
		t.Errorf("after errors: %v, %v", first.Slots, first.Dist2)
	}
}

func TestNearestMisusePanics(t *testing.T) {
	ix, out := newState(t).ix, &spatial.Result{}
	two, three := make([]float32, 2), make([]float32, 3)
	const unequal, filters = "spatial: NearestQueries: X, Y, Z and Radius differ in length", "spatial: NearestQueries: Exclude, Mask and X differ in length"
	for _, c := range []struct {
		want string
		q    spatial.NearestQueries
	}{
		{unequal, spatial.NearestQueries{X: two, Y: three, Z: two, K: 1}},
		{unequal, spatial.NearestQueries{X: two, Y: two, Z: two[:1], K: 1}},
		{unequal, spatial.NearestQueries{X: two, Y: two, Z: two, K: 1, Radius: three}},
		{filters, spatial.NearestQueries{X: two, Y: two, Z: two, K: 1, Exclude: []uint32{}}},
		{filters, spatial.NearestQueries{X: two, Y: two, Z: two, K: 1, Mask: []uint32{1}}},
	} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); got != c.want {
					t.Errorf("panic %q, want %q", got, c.want)
				}
			}()
			_ = ix.KNN(&c.q, out)
		}()
	}
}

// K points a query may be too many results, even if there are fewer points.
func TestNearestTooMany(t *testing.T) {
	if testing.Short() || math.MaxInt == math.MaxInt32 {
		t.Skip("needs 400 MB")
	}
	column := make([]float32, math.MaxInt32/64+1)
	q := &spatial.NearestQueries{X: column, Y: column, Z: column, K: 64}
	st := newState(t)
	for _, query := range []func(*spatial.NearestQueries, *spatial.Result) error{st.ix.KNN, st.ix.KNNOracle} {
		out := spatial.Result{Offsets: []uint32{0, 1}, Slots: []uint32{7}, Dist2: []float32{1}}
		mustBe(t, query(q, &out), spatial.ErrRange, "spatial: KNN: K times the number of queries = 2147483648: out of range")
		if len(out.Offsets)+len(out.Slots)+len(out.Dist2) != 0 {
			t.Errorf("the result is not empty: %+v", out)
		}
	}
}

func TestNearestAllocatesNothingAfterWarmUp(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("instrumented builds allocate on their own account")
	}
	s := goldenScene()
	for _, level := range native.Levels() {
		for _, workers := range []int{1, 2, 7} {
			ix := build(t, spatial.Config{CellSize: 8, Level: level, Workers: workers}, s)
			var out spatial.Result
			var first spatial.NearestResult
			q := &spatial.NearestQueries{X: s.QueryX, Y: s.QueryY, Z: s.QueryZ, Exclude: s.Exclude, Radius: s.Radius}
			both := func() {
				for _, q.K = range ks {
					if err := errors.Join(ix.KNN(q, &out), ix.Nearest(q, &first)); err != nil {
						t.Error(err)
					}
				}
			}
			for range 5 {
				both()
			}
			if n := allocations(10, both); n != 0 {
				t.Errorf("level %s, %d workers: %g allocations", level, workers, n)
			}
		}
	}
}

// Any number of goroutines may query one index, each with a result of its own,
// and share the queries.
func TestConcurrentNearest(t *testing.T) {
	s := goldenScene()
	q := &spatial.NearestQueries{X: s.QueryX, Y: s.QueryY, Z: s.QueryZ, Exclude: s.Exclude, K: 9}
	want := bruteForceNearest(s, q, nil)
	slots, dist2 := firstOf(want)
	for _, level := range native.Levels() {
		ix := build(t, spatial.Config{CellSize: 8, Level: level, Workers: 2}, s)
		var done sync.WaitGroup
		for range 6 {
			done.Go(func() {
				var out spatial.Result
				var first spatial.NearestResult
				for range 5 {
					err := cmp.Or(ix.KNN(q, &out), ix.Nearest(q, &first), sameResult("rows", &out, want, false),
						paritytest.Bits("nearest", first.Slots, slots), paritytest.Bits("its distance", first.Dist2, dist2))
					if err != nil {
						t.Errorf("level %s: %v", level, err)
					}
				}
			})
		}
		done.Wait()
	}
}

func FuzzKNN(f *testing.F) {
	fuzzConfigured(f, func(t *testing.T, cfg spatial.Config, in *fuzzInput) {
		k, form := 1+int(in.byte()%64), in.byte()
		s := in.scene()
		q := &spatial.NearestQueries{X: s.QueryX, Y: s.QueryY, Z: s.QueryZ, K: k}
		if form&1 != 0 {
			q.Radius = s.Radius
		}
		if form&2 != 0 {
			q.Exclude = s.Exclude
		}
		if form&4 != 0 {
			for i := range q.X {
				q.Mask = append(q.Mask, uint32(form>>3)<<(i%8))
			}
		}
		if firstBadPoint(s) == "" {
			fuzzKNN(t, cfg, q, s)
		}
	})
}

func fuzzKNN(t *testing.T, cfg spatial.Config, q *spatial.NearestQueries, s *paritytest.Scene) {
	if err := q.Validate(); err != nil {
		st := newState(t)
		for _, got := range []error{st.ix.KNN(q, st.result), st.ix.KNNOracle(q, st.result)} {
			if got == nil || got.Error() != err.Error() {
				t.Fatalf("got %v, want %v", got, err)
			}
		}
		st.mustBeUnchanged(t)
		return
	}
	want := bruteForceNearest(s, q, categoryOf)
	var got spatial.Result
	for _, cfg.Level = range native.Levels() {
		ix := build(t, cfg, s)
		ix.SetCategories(column(s, categoryOf))
		if err := cmp.Or(ix.KNNOracle(q, &got), sameResult("oracle", &got, want, false),
			ix.KNN(q, &got), sameResult("level "+cfg.Level.String(), &got, want, false)); err != nil {
			t.Fatal(err)
		}
	}
}
