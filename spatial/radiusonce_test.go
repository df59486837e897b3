package spatial_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/spatial"
)

var pathNames = map[any]string{spatial.Cheapest: "cheapest", spatial.Streaming: "streaming", spatial.Building: "building"}

// onceParity compares RadiusOnce, on each path, with Build and Radius.
type onceParity struct {
	t       *testing.T
	run     *paritytest.Run
	results map[string]*spatial.Result // reused over all cases
}

func TestParityRadiusOnce(t *testing.T) {
	p := &onceParity{t, paritytest.Start(t, "RadiusOnce"), map[string]*spatial.Result{}}
	for range rounds(2, 12) {
		for i := range paritytest.Families {
			queries := []int{0, 1, 7, 64, 200}[p.run.IntN(5)]
			p.scene(paritytest.Families[i].Draw(p.run, 250, queries))
		}
	}
}

// scene answers in every order on every path, level and number of workers.
func (p *onceParity) scene(s *paritytest.Scene) {
	q := queriesOf(s)
	if p.run.IntN(3) == 0 {
		q.Exclude = nil
	}
	if p.run.IntN(3) == 0 {
		s.Category = p.run.Categories(s.Limit())
	}
	if p.run.IntN(3) == 0 {
		q.Mask = p.run.Categories(len(q.X))
	}
	if p.run.IntN(3) == 0 {
		q.Live = p.run.Bitmap(s.Limit())
	}
	cfg := spatial.Config{CellSize: cellSizes(s)[p.run.IntN(4)], Bounds: boundsFor(s)[p.run.IntN(3)]}
	rows := bruteForce(s, q)
	cells := cellNumbers(s, spatial.GridOf(build(p.t, cfg, s)))
	for _, cfg.Level = range native.Levels() {
		for _, cfg.Workers = range []int{1, 2, 7} {
			for _, q.Order = range orders {
				p.compare(s, q, cfg, expected(rows, q.Order, cells))
			}
		}
	}
}

func (p *onceParity) compare(s *paritytest.Scene, q *spatial.Queries, cfg spatial.Config, want *spatial.Result) {
	ix := build(p.t, cfg, s)
	var built spatial.Result
	q.SkipDist2 = p.run.IntN(4) == 0
	if err := ix.Radius(q, &built); err != nil {
		p.t.Fatal(err)
	}
	points, cell := ix.Len(), ix.CellSize()
	x, y, z := s.Columns()
	for _, path := range []any{spatial.Cheapest, spatial.Streaming, spatial.Building} {
		p.run.Case(cfg.Level)
		got := p.result(cfg, path)
		what := fmt.Sprintf("scene %s, %+v, %s, by %s", s.Name, cfg, pathNames[path], orderName(q.Order))
		p.run.Check(ix.RadiusOnce(spatial.Columns{X: x, Y: y, Z: z, Slots: s.Slots, Category: s.Category}, q, got), sameResult(what, got, want, q.SkipDist2),
			sameResult(what+", against Build and Radius", got, &built, false))
	}
	if ix.Len() != points || ix.CellSize() != cell {
		p.t.Fatalf("RadiusOnce changed the index: %d points, cells of %g", ix.Len(), ix.CellSize())
	}
}

// result is one of the results, made anew now and then.
func (p *onceParity) result(cfg spatial.Config, path any) *spatial.Result {
	key := fmt.Sprint(cfg.Level, cfg.Workers, path)
	if p.results[key] == nil || p.run.IntN(20) == 0 {
		p.results[key] = &spatial.Result{}
		switch path {
		case spatial.Streaming:
			spatial.Force(p.results[key], spatial.Streaming, spatial.MostHits)
		case spatial.Building:
			spatial.Force(p.results[key], spatial.Building, spatial.MostHits)
		}
	}
	return p.results[key]
}

// More points than a worker takes at a time, with gaps between the slots and
// radii of all sizes.
func TestParityRadiusOnceManyPoints(t *testing.T) {
	run := paritytest.Start(t, "RadiusOnce, many points")
	for range rounds(1, 4) {
		s := paritytest.Families[1].Draw(run, 1, 60)
		*s = paritytest.Scene{Name: "many", QueryX: s.QueryX, QueryY: s.QueryY, QueryZ: s.QueryZ, Radius: s.Radius, Exclude: s.Exclude}
		gaps := run.IntN(2) == 0
		for slot := range uint32(40_000) {
			if !gaps || run.IntN(3) > 0 {
				s.X, s.Y = append(s.X, (run.Float32()-0.5)*200), append(s.Y, (run.Float32()-0.5)*200)
				s.Z, s.Slots = append(s.Z, (run.Float32()-0.5)*200), append(s.Slots, slot)
			}
		}
		x, y, z := s.Columns()
		q := queriesOf(s)
		rows := bruteForce(s, q)
		for _, level := range native.Levels() {
			for _, workers := range some(run, 1, 2, 7) {
				ix, err := spatial.New(spatial.Config{Level: level, Workers: workers})
				if err != nil {
					t.Fatal(err)
				}
				spatial.AlwaysParallel(ix)
				var got spatial.Result
				spatial.Force(&got, spatial.Streaming, spatial.MostHits)
				for _, q.Order = range orders[:2] {
					run.Case(level)
					run.Check(ix.RadiusOnce(spatial.Columns{X: x, Y: y, Z: z, Slots: s.Slots, Category: s.Category}, q, &got), sameResult("result", &got, expected(rows, q.Order, nil), false))
				}
				if !spatial.Streams(&got) {
					t.Fatal("RadiusOnce did not stream")
				}
			}
		}
	}
}

// All queries or all points at one position, radii of zero, radii that include
// everything, and one of these among ordinary ones.
func TestRadiusOnceDegenerate(t *testing.T) {
	const n, m = 3000, 150
	spot := func(int) float32 { return 7 }
	spread := func(i int) float32 { return float32(i * 7919 % 1000) }
	for name, c := range map[string]struct {
		point, query, radius func(int) float32
	}{
		"queries in one spot": {spread, spot, func(int) float32 { return 3 }},
		"points in one spot":  {spot, spread, func(int) float32 { return 300 }},
		"all in one spot":     {spot, spot, func(i int) float32 { return float32(i % 2) }},
		"radius 0":            {spread, spread, func(int) float32 { return 0 }},
		"radius 0, one spot":  {spot, spot, func(int) float32 { return 0 }},
		"everything":          {spread, spread, func(int) float32 { return 3e38 }},
		"one of everything":   {spread, spread, func(i int) float32 { return []float32{2, 3e38}[max(0, i-m+2)/1%2] }},
		"one of 1e18":         {spread, spread, func(i int) float32 { return []float32{2, 1e18}[max(0, i-m+2)%2] }},
		"any of 0 to 3e38":    {spread, spread, func(i int) float32 { return float32(math.Pow(10, float64(i%76)-38)) }},
		"far":                 {func(i int) float32 { return 1e30 + spread(i)*1e23 }, func(i int) float32 { return 1e30 + spread(i)*1e23 }, func(int) float32 { return 1 }},
		"far, one query":      {spread, func(i int) float32 { return []float32{spread(i), -1e30}[max(0, i-m+2)%2] }, func(int) float32 { return 5 }},
		"denormal":            {func(i int) float32 { return spread(i) * 1e-45 }, func(i int) float32 { return spread(i) * 1e-45 }, func(int) float32 { return 1e-44 }},
	} {
		s := &paritytest.Scene{Name: name}
		for i := range n {
			s.X, s.Y, s.Z = append(s.X, c.point(i)), append(s.Y, c.point(2*i)), append(s.Z, c.point(3*i))
			s.Slots = append(s.Slots, uint32(i))
		}
		for i := range m {
			s.QueryX, s.QueryY, s.QueryZ = append(s.QueryX, c.query(i)), append(s.QueryY, c.query(2*i)), append(s.QueryZ, c.query(3*i))
			s.Radius = append(s.Radius, c.radius(i))
		}
		q := queriesOf(s)
		want := expected(bruteForce(s, q), spatial.BySlot, nil)
		for _, level := range native.Levels() {
			for _, path := range []bool{false, true} {
				ix := build(t, spatial.Config{Level: level}, s)
				var got spatial.Result
				if path {
					spatial.Force(&got, spatial.Streaming, spatial.MostHits)
				}
				if err := ix.RadiusOnce(spatial.Columns{X: s.X, Y: s.Y, Z: s.Z, Slots: s.Slots}, q, &got); err != nil {
					t.Fatal(err)
				}
				if err := sameResult(fmt.Sprintf("%s, level %s, forced %t", name, level, path), &got, want, false); err != nil {
					t.Error(err)
				}
			}
		}
	}
}

// With each strategy, errors have the order in which Build and Radius find them, and leave
// index and result as they were.
func TestRadiusOnceErrors(t *testing.T) {
	good := []float32{5, 6, 7, 8}
	badQuery := func(q *spatial.Queries) { q.X[1] = nan }
	for _, c := range []struct {
		x, y, z  []float32
		slots    []uint32
		spoil    func(q *spatial.Queries)
		sentinel error
		message  string
	}{
		{[]float32{5, 6, nan, 8}, good, good, []uint32{0, 2}, badQuery, spatial.ErrNotFinite, "spatial: Build: x[2] = NaN: not finite"},
		{good, []float32{5, 6, -inf, 8}, []float32{5, 6, nan, 8}, []uint32{0, 2}, nil, spatial.ErrNotFinite, "spatial: Build: y[2] = -Inf: not finite"},
		{good, good, []float32{5, 6, inf, 8}, []uint32{2, 3}, nil, spatial.ErrNotFinite, "spatial: Build: z[2] = +Inf: not finite"},
		{good, good, good, []uint32{0, 2, 2}, badQuery, spatial.ErrRange, "spatial: Build: slots[2] = 2: out of range"},
		{good, good, good, []uint32{0, 4}, nil, spatial.ErrRange, "spatial: Build: slots[1] = 4: out of range"},
		{nil, nil, nil, []uint32{spatial.NoSlot}, nil, spatial.ErrRange, "spatial: Build: slots[0] = 4294967295: out of range"},
		{good, good, good, []uint32{0, 2}, badQuery, spatial.ErrNotFinite, "spatial: Queries.X[1] = NaN: not finite"},
		{good, good, good, []uint32{0, 2}, func(q *spatial.Queries) { q.Radius[0] = -1 }, spatial.ErrRange, "spatial: Queries.Radius[0] = -1: out of range"},
		{good, good, good, []uint32{0, 2}, func(q *spatial.Queries) { q.Order = 3 }, spatial.ErrRange, "spatial: Queries.Order = 3: out of range"},
		{good, good, []float32{nan, 6, 7, 8}, []uint32{0, 2}, func(q *spatial.Queries) { q.Radius[0] = 3e38 }, spatial.ErrNotFinite, "spatial: Build: z[0] = NaN: not finite"},
	} {
		for _, path := range []any{spatial.Cheapest, spatial.Streaming, spatial.Building} {
			st := newState(t)
			switch path {
			case spatial.Streaming:
				spatial.Force(st.result, spatial.Streaming, spatial.MostHits)
			case spatial.Building:
				spatial.Force(st.result, spatial.Building, spatial.MostHits)
			}
			q := &spatial.Queries{X: []float32{2, 0}, Y: []float32{0, 0}, Z: []float32{1, 1}, Radius: []float32{1, 1}}
			if c.spoil != nil {
				c.spoil(q)
			}
			mustBe(t, st.ix.RadiusOnce(spatial.Columns{X: c.x, Y: c.y, Z: c.z, Slots: c.slots}, q, st.result), c.sentinel, c.message)
			st.mustBeUnchanged(t)
		}
	}
}

// The first fault in the order of slots is reported, whichever worker finds one.
func TestRadiusOnceFirstFault(t *testing.T) {
	const n = 60_000
	column, slots := make([]float32, n), make([]uint32, n)
	for i := range slots {
		slots[i] = uint32(i)
	}
	q := &spatial.Queries{X: []float32{1}, Y: []float32{1}, Z: []float32{1}, Radius: []float32{1}}
	for _, workers := range []int{1, 2, 7} {
		for _, at := range []int{0, 8191, 8192, 31_000, n - 1} {
			x, z := slices.Clone(column), slices.Clone(column)
			for _, later := range []int{at, at + 8192, at + 20_000, n - 1} {
				z[min(later, n-1)] = inf
			}
			x[n-1] = nan
			ix, err := spatial.New(spatial.Config{Workers: workers})
			if err != nil {
				t.Fatal(err)
			}
			spatial.AlwaysParallel(ix)
			var out spatial.Result
			spatial.Force(&out, spatial.Streaming, spatial.MostHits)
			want := fmt.Sprintf("spatial: Build: z[%d] = +Inf: not finite", at)
			if at == n-1 {
				want = fmt.Sprintf("spatial: Build: x[%d] = NaN: not finite", at)
			}
			mustBe(t, ix.RadiusOnce(spatial.Columns{X: x, Y: column, Z: z, Slots: slots}, q, &out), spatial.ErrNotFinite, want)
		}
	}
}

// The speed of workers must not matter.
func TestFirstBadOfAllWorkers(t *testing.T) {
	for _, c := range []struct {
		found []int
		want  int
	}{{[]int{-1, -1}, -1}, {[]int{-1, 0, 7}, 0}, {[]int{9, -1, 3, 5}, 3}, {[]int{2, 8}, 2}} {
		if got := spatial.FirstBad(c.found...); got != c.want {
			t.Errorf("of %v: %d, want %d", c.found, got, c.want)
		}
	}
}

// Too many results are detected without keeping them, while streaming
// and before a strategy is chosen.
func TestRadiusOnceTooManyResults(t *testing.T) {
	n, many := 1<<16, 1<<15+10
	if !long || paritytest.Instrumented || testing.Short() || len(native.Levels()) < 3 { // not two billion tests
		n, many = 1<<12, 1<<11+10
		spatial.MostResults(t, 1<<23)
	}
	column, slots := make([]float32, n), make([]uint32, n)
	for i := range slots {
		slots[i] = uint32(i)
	}
	for _, c := range []struct {
		radius  float32
		queries int
	}{{3e38, many}, {1e18, many}} {
		q := newQueries(c.queries, spatial.BySlot)
		for i := range q.Radius {
			q.Radius[i] = c.radius
		}
		ix, err := spatial.New(spatial.Config{})
		if err != nil {
			t.Fatal(err)
		}
		out := &spatial.Result{}
		spatial.Force(out, spatial.Streaming, 1<<16)
		if err := ix.RadiusOnce(spatial.Columns{X: column, Y: column, Z: column, Slots: slots}, q, out); !errors.Is(err, spatial.ErrRange) {
			t.Errorf("radius %g: %v", c.radius, err)
		}
		if out.Len() != 0 || len(out.Slots) != 0 || len(out.Dist2) != 0 {
			t.Errorf("radius %g: the result is not empty", c.radius)
		}
		column[n-1] = nan
		err = ix.RadiusOnce(spatial.Columns{X: column, Y: column, Z: column, Slots: slots}, q, out)
		mustBe(t, err, spatial.ErrNotFinite, fmt.Sprintf("spatial: Build: x[%d] = NaN: not finite", n-1))
		column[n-1] = 0
	}
}

// A batch with more hits than streaming keeps still succeeds.
func TestRadiusOnceManyHits(t *testing.T) {
	s := goldenScene()
	x, y, z := s.Columns()
	q := queriesOf(s)
	want := expected(bruteForce(s, q), spatial.BySlot, nil)
	for _, level := range native.Levels() {
		for _, most := range []int{0, 100, 5000} {
			ix := build(t, spatial.Config{Level: level, Workers: 2}, s)
			var got spatial.Result
			spatial.Force(&got, spatial.Streaming, most)
			if err := ix.RadiusOnce(spatial.Columns{X: x, Y: y, Z: z, Slots: s.Slots, Category: s.Category}, q, &got); err != nil {
				t.Fatal(err)
			}
			if err := sameResult(fmt.Sprintf("level %s, at most %d", level, most), &got, want, false); err != nil {
				t.Error(err)
			}
			if spatial.Streams(&got) {
				t.Errorf("level %s: %d hits were kept, at most %d wanted", level, len(got.Slots), most)
			}
		}
	}
}

func TestRadiusOnceAllocatesNothingAfterWarmUp(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("instrumented builds allocate on their own account")
	}
	s := goldenScene()
	x, y, z := s.Columns()
	for _, level := range native.Levels() {
		for _, workers := range []int{1, 2, 7} {
			for _, order := range orders {
				for _, path := range []bool{false, true} {
					ix := build(t, spatial.Config{CellSize: 8, Level: level, Workers: workers}, s)
					q := queriesOf(s)
					q.Order = order
					var out spatial.Result
					if path {
						spatial.Force(&out, spatial.Streaming, spatial.MostHits)
					}
					do := func() {
						if err := ix.RadiusOnce(spatial.Columns{X: x, Y: y, Z: z, Slots: s.Slots, Category: s.Category}, q, &out); err != nil {
							t.Error(err)
						}
					}
					for range 20 {
						do()
					}
					if n := allocations(20, do); n != 0 {
						t.Errorf("level %s, %d workers, by %s, streaming %t: %g allocations", level, workers, orderName(order), path, n)
					}
				}
			}
		}
	}
}

// RadiusOnce only reads the index: any number of goroutines may call it while
// others query.
func TestRadiusOnceConcurrently(t *testing.T) {
	s := goldenScene()
	x, y, z := s.Columns()
	ix := build(t, spatial.Config{CellSize: 8, Workers: 2}, s)
	want := expected(bruteForce(s, queriesOf(s)), spatial.BySlot, nil)
	var done sync.WaitGroup
	for reader := range 6 {
		done.Add(1)
		go func() {
			defer done.Done()
			var out spatial.Result
			if reader%2 == 0 {
				spatial.Force(&out, spatial.Streaming, spatial.MostHits)
			}
			for range 10 {
				err := ix.RadiusOnce(spatial.Columns{X: x, Y: y, Z: z, Slots: s.Slots, Category: s.Category}, queriesOf(s), &out)
				if reader == 5 {
					err = ix.Radius(queriesOf(s), &out)
				}
				if err = errors.Join(err, sameResult("concurrent", &out, want, false)); err != nil {
					t.Error(err)
				}
			}
		}()
	}
	done.Wait()
}

// A million points and few queries are streamed; a hundred thousand queries are
// not, and neither is the order that needs the points' cells.
func TestRadiusOnceChooses(t *testing.T) {
	const n = 1 << 18
	x, y, z, slots := make([]float32, n), make([]float32, n), make([]float32, n), make([]uint32, n)
	for i := range slots {
		x[i], y[i], z[i], slots[i] = float32(i%64), float32(i/64%64), float32(i/4096), uint32(i)
	}
	for _, c := range []struct {
		points, queries int
		order           spatial.Order
		streams         bool
	}{
		{n, 200, spatial.BySlot, true}, {n, 1, spatial.ByDistance, true}, {n, 200, spatial.Grid, false},
		{n, 100_000, spatial.BySlot, false}, {1000, 1000, spatial.BySlot, false}, {1000, 2, spatial.BySlot, true},
		{0, 5, spatial.BySlot, true}, {5, 0, spatial.BySlot, true},
	} {
		ix, err := spatial.New(spatial.Config{CellSize: 2})
		if err != nil {
			t.Fatal(err)
		}
		q := newQueries(c.queries, c.order)
		for i := range q.X {
			q.X[i], q.Y[i], q.Z[i], q.Radius[i] = x[i*7919%n], y[i*7919%n], z[i*7919%n], 1.5
		}
		var out spatial.Result
		if err := ix.RadiusOnce(spatial.Columns{X: x, Y: y, Z: z, Slots: slots[:c.points]}, q, &out); err != nil {
			t.Fatal(err)
		}
		if got := spatial.Streams(&out); got != c.streams {
			t.Errorf("%d points, %d queries, by %s: streams is %t", c.points, c.queries, orderName(c.order), got)
		}
	}
}

func TestRadiusOnceMisuse(t *testing.T) {
	ix, two, three := newState(t).ix, make([]float32, 2), make([]float32, 3)
	for want, do := range map[string]func(){
		"spatial: RadiusOnce: X, Y and Z differ in length": func() {
			_ = ix.RadiusOnce(spatial.Columns{X: two, Y: two, Z: three, Slots: nil}, &spatial.Queries{}, &spatial.Result{})
		},
		"spatial: Queries: X, Y, Z and Radius differ in length": func() {
			_ = ix.RadiusOnce(spatial.Columns{X: two, Y: two, Z: two, Slots: nil}, &spatial.Queries{X: two, Y: two, Z: two, Radius: three}, &spatial.Result{})
		},
	} {
		mustPanic(t, "RadiusOnce", want, do)
	}
}

func FuzzRadiusOnce(f *testing.F) {
	fuzzConfigured(f, func(t *testing.T, cfg spatial.Config, in *fuzzInput) {
		order := spatial.Order(in.byte() % 3)
		streamed := in.byte()%4 > 0
		fuzzRadiusOnce(t, cfg, order, streamed, in.scene())
	})
}

func fuzzRadiusOnce(t *testing.T, cfg spatial.Config, order spatial.Order, streamed bool, s *paritytest.Scene) {
	x, y, z := s.Columns()
	q := queriesOf(s)
	q.Order = order
	due := firstBadPoint(s)
	if due == "" {
		due = firstBadQuery(q)
	}
	for _, cfg.Level = range native.Levels() {
		st := newState(t)
		if streamed {
			spatial.Force(st.result, spatial.Streaming, spatial.MostHits)
		}
		if due != "" {
			refused(t, st.ix.RadiusOnce(spatial.Columns{X: x, Y: y, Z: z, Slots: s.Slots, Category: s.Category}, q, st.result), due)
			st.mustBeUnchanged(t)
			continue
		}
		ix, err := spatial.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		if err := ix.RadiusOnce(spatial.Columns{X: x, Y: y, Z: z, Slots: s.Slots, Category: s.Category}, q, st.result); err != nil {
			t.Fatal(err)
		}
		want := expected(bruteForce(s, q), order, cellNumbers(s, spatial.GridOf(build(t, cfg, s))))
		if err := sameResult("level "+cfg.Level.String(), st.result, want, false); err != nil {
			t.Fatal(err)
		}
	}
}
