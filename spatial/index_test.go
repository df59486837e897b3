package spatial_test

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/spatial"
)

func TestEmptyIndexAnswersEmptyRows(t *testing.T) {
	ix, err := spatial.New(spatial.Config{})
	if err != nil {
		t.Fatal(err)
	}
	q := &spatial.Queries{X: []float32{0, 1e30}, Y: []float32{0, 0}, Z: []float32{0, 0}, Radius: []float32{1, math.MaxFloat32}}
	for range 2 {
		var out spatial.Result
		if err := ix.Radius(q, &out); err != nil || out.Len() != 2 || len(out.Slots) != 0 || !slices.Equal(out.Offsets, []uint32{0, 0, 0}) {
			t.Errorf("%+v, %v", out.Offsets, err)
		}
		if err := ix.Radius(&spatial.Queries{}, &out); err != nil || out.Len() != 0 || len(out.Slots) != 0 {
			t.Errorf("no queries: %+v, %v", out.Offsets, err)
		}
		if err := ix.Build(nil, nil, nil, nil); err != nil || ix.Len() != 0 {
			t.Errorf("Build of nothing: %d points, %v", ix.Len(), err)
		}
	}
	if zero := new(spatial.Result); zero.Len() != 0 {
		t.Errorf("the zero Result has %d rows", zero.Len())
	}
}

// Build reads the columns and does not keep them.
func TestColumnsAreNotKept(t *testing.T) {
	ix, err := spatial.New(spatial.Config{})
	if err != nil {
		t.Fatal(err)
	}
	x, zero := []float32{1, 2}, []float32{0, 0}
	if err := ix.Build(x, zero, zero, []uint32{0, 1}); err != nil {
		t.Fatal(err)
	}
	x[0], x[1] = 100, 200
	var out spatial.Result
	if err := ix.Radius(&spatial.Queries{X: []float32{1}, Y: []float32{0}, Z: []float32{0}, Radius: []float32{0}}, &out); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(out.Row(0), []uint32{0}) || out.Dist2Row(0)[0] != 0 {
		t.Errorf("row %v, distances %v", out.Row(0), out.Dist2Row(0))
	}
}

// However far apart the points and however small the cell, the grid stays small.
func TestCellsAreBounded(t *testing.T) {
	run := paritytest.Start(t, "Index, cells")
	for range rounds(20, 100) {
		for i := range paritytest.Families {
			s := paritytest.Families[i].Draw(run, 250, 0)
			for _, cell := range append(cellSizes(s), math.SmallestNonzeroFloat32, math.MaxFloat32) {
				for _, bounds := range append(boundsFor(s), spatial.Bounds{
					Min: [3]float32{-math.MaxFloat32, -math.MaxFloat32, -math.MaxFloat32},
					Max: [3]float32{math.MaxFloat32, math.MaxFloat32, math.MaxFloat32},
				}) {
					g := spatial.GridOf(build(t, spatial.Config{CellSize: cell, Bounds: bounds}, s))
					cells := int64(g.N[0]) * int64(g.N[1]) * int64(g.N[2])
					if min(g.N[0], g.N[1], g.N[2]) < 1 || cells > int64(2*len(s.Slots)+1) || !(min(g.Inv[0], g.Inv[1], g.Inv[2]) > 0) || max(g.Inv[0], g.Inv[1], g.Inv[2]) > math.MaxFloat32 {
						t.Fatalf("scene %s, cell %g, bounds %v, %d points: grid %+v", s.Name, cell, bounds, len(s.Slots), g)
					}
				}
			}
		}
	}
}

// An index takes 16 bytes a point for itself, 4 for its cell and 4 for each cell.
func TestIndexIsSmall(t *testing.T) {
	for _, n := range []int{2256, 16384} {
		c := cloud(n, 1)
		ix, err := spatial.New(spatial.Config{CellSize: 2})
		if err != nil {
			t.Fatal(err)
		}
		if err := ix.Build(c.x, c.y, c.z, c.slots); err != nil {
			t.Fatal(err)
		}
		if each := float64(spatial.BytesOf(ix)) / float64(n); each > 25 {
			t.Errorf("%.1f bytes a point for %d points", each, n)
		}
	}
}

// A set so large that all workers build it, and not a multiple of anything.
func TestWorkersBuildTheSameIndex(t *testing.T) {
	c := cloud(100_003, 1)
	for _, level := range native.Levels() {
		var want spatial.Result
		q := newQueries(300, spatial.Grid)
		c.ask(q, 3)
		for _, workers := range []int{1, 2, 7} {
			ix, err := spatial.New(spatial.Config{CellSize: 2, Level: level, Workers: workers})
			if err != nil {
				t.Fatal(err)
			}
			if err := ix.Build(c.x, c.y, c.z, c.slots); err != nil {
				t.Fatal(err)
			}
			var got spatial.Result
			if err := ix.Radius(q, &got); err != nil {
				t.Fatal(err)
			}
			if workers == 1 {
				want = got
			}
			if err := sameResult(fmt.Sprintf("level %s, %d workers", level, workers), &got, &want, false); err != nil {
				t.Error(err)
			}
		}
	}
}

// A cell that would give more than two cells a point is doubled, not more often
// than needed: the order named Grid depends on it.
func TestCellSizeIsDoubled(t *testing.T) {
	s := &paritytest.Scene{}
	for i := range uint32(100) {
		s.X, s.Y, s.Z = append(s.X, float32(i%10*10)), append(s.Y, 0), append(s.Z, float32(i/10*10))
		s.Slots = append(s.Slots, i)
	}
	for _, c := range []struct{ given, want float32 }{
		{100, 100}, {14, 14}, {13, 13}, {12, 24}, {1, 16}, {0.75, 24}, // 13: 28 by 7 cells of 201; 12: 31 by 8
	} {
		if got := build(t, spatial.Config{CellSize: c.given}, s).CellSize(); got < c.want*0.999 || got > c.want*1.001 {
			t.Errorf("cell size %g became %g, want %g", c.given, got, c.want)
		}
	}
}

// tick is what a simulation does every step: move, build, query.
type tick struct {
	s       *paritytest.Scene
	x, y, z []float32
	ix      *spatial.Index
	q       *spatial.Queries
	out     spatial.Result
}

func newTick(tb testing.TB, s *paritytest.Scene, cfg spatial.Config, order spatial.Order) *tick {
	tb.Helper()
	k := &tick{s: s, q: queriesOf(s)}
	k.x, k.y, k.z = s.Columns()
	k.q.Order = order
	var err error
	if k.ix, err = spatial.New(cfg); err != nil {
		tb.Fatal(err)
	}
	spatial.AlwaysParallel(k.ix)
	return k
}

func (k *tick) do(tb testing.TB) {
	if err := k.ix.Build(k.x, k.y, k.z, k.s.Slots); err != nil {
		tb.Error(err)
	}
	if err := k.ix.Radius(k.q, &k.out); err != nil {
		tb.Error(err)
	}
}

func TestNothingIsAllocatedAfterWarmUp(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("instrumented builds allocate on their own account")
	}
	s := goldenScene()
	for _, level := range native.Levels() {
		for _, workers := range []int{1, 2, 7} {
			for _, order := range orders {
				k := newTick(t, s, spatial.Config{CellSize: 8, Level: level, Workers: workers}, order)
				for range 20 {
					k.do(t)
				}
				if n := allocations(20, func() { k.do(t) }); n != 0 {
					t.Errorf("level %s, %d workers, by %s: %g allocations", level, workers, orderName(order), n)
				}
			}
		}
	}
}

// Any number of goroutines may query one index, each with a Result of its own.
func TestConcurrentReaders(t *testing.T) {
	s := goldenScene()
	for _, level := range native.Levels() {
		ix := build(t, spatial.Config{CellSize: 8, Level: level, Workers: 2}, s)
		var want [3]spatial.Result
		for _, order := range orders {
			q := queriesOf(s)
			q.Order = order
			if err := ix.RadiusOracle(q, &want[order]); err != nil {
				t.Fatal(err)
			}
		}
		var done sync.WaitGroup
		for reader := range 8 {
			done.Add(1)
			go func() {
				defer done.Done()
				var out spatial.Result
				q := queriesOf(s)
				for i := range 10 {
					q.Order = orders[(reader+i)%3]
					query := ix.Radius
					if i == 5 {
						query = ix.RadiusOracle
					}
					if err := query(q, &out); err != nil {
						t.Error(err)
					}
					if err := sameResult(fmt.Sprintf("level %s, reader %d", level, reader), &out, &want[q.Order], false); err != nil {
						t.Error(err)
					}
				}
			}()
		}
		done.Wait()
	}
}
