//go:build cgo && !purego && (amd64 || arm64)

package spatial_test

import (
	"cmp"
	"errors"
	"runtime"
	"testing"

	"github.com/evertick/evertick/csrc/face"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/spatial"
)

// A thread that flushes denormals would give other answers than the oracle:
// Radius must refuse, and work again once the thread is restored.
func TestRadiusRefusesAnAlteredFloatEnv(t *testing.T) {
	s := goldenScene()
	for _, level := range native.Levels() {
		for _, workers := range []int{1, 2, 7} {
			ix := build(t, spatial.Config{CellSize: 8, Level: level, Workers: workers}, s)
			out := &spatial.Result{}
			if err := ix.Radius(queriesOf(s), out); err != nil {
				t.Fatal(err)
			}
			if err := flushedRadius(ix, queriesOf(s), out); !errors.Is(err, spatial.ErrFloatEnv) {
				t.Errorf("level %s, %d workers: %v", level, workers, err)
			}
			if out.Len() != 0 || len(out.Slots) != 0 || len(out.Dist2) != 0 {
				t.Errorf("level %s, %d workers: the result is not empty", level, workers)
			}
			if err := ix.Radius(queriesOf(s), out); err != nil || out.Len() != len(s.Radius) {
				t.Errorf("level %s, %d workers, restored: %v", level, workers, err)
			}
		}
	}
}

func flushedRadius(ix *spatial.Index, q *spatial.Queries, out *spatial.Result) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	face.FlushDenormals(true)
	defer face.FlushDenormals(false)
	return ix.Radius(q, out)
}

// A thread that flushes denormals would give other answers than the oracle: KNN
// and Nearest must refuse, and work again once the thread is restored.
func TestNearestRefusesAnAlteredFloatEnv(t *testing.T) {
	s := goldenScene()
	q := &spatial.NearestQueries{X: s.QueryX, Y: s.QueryY, Z: s.QueryZ, K: 3}
	for _, level := range native.Levels() {
		for _, workers := range []int{1, 2, 7} {
			ix := build(t, spatial.Config{CellSize: 8, Level: level, Workers: workers}, s)
			var out spatial.Result
			var first spatial.NearestResult
			both := func() (rows, nearest error) { return ix.KNN(q, &out), ix.Nearest(q, &first) }
			rows, nearest := flushed(both)
			if !errors.Is(rows, spatial.ErrFloatEnv) || !errors.Is(nearest, spatial.ErrFloatEnv) {
				t.Errorf("level %s, %d workers: %v, %v", level, workers, rows, nearest)
			}
			if out.Len()+len(out.Slots)+len(out.Dist2)+len(first.Slots)+len(first.Dist2) != 0 {
				t.Errorf("level %s, %d workers: a result is not empty", level, workers)
			}
			rows, nearest = both()
			if rows != nil || nearest != nil || out.Len() != len(q.X) || len(first.Slots) != len(q.X) {
				t.Errorf("level %s, %d workers, restored: %v, %v", level, workers, rows, nearest)
			}
		}
	}
}

func flushed(both func() (rows, nearest error)) (rows, nearest error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	face.FlushDenormals(true)
	defer face.FlushDenormals(false)
	return both()
}

func TestSumsRefuseAnAlteredFloatEnv(t *testing.T) {
	s := goldenScene()
	for _, level := range native.Levels() {
		for _, workers := range []int{1, 2, 7} {
			ix := build(t, spatial.Config{CellSize: 8, Level: level, Workers: workers}, s)
			sums := func(rows int) *spatial.Sums {
				return &spatial.Sums{Terms: []spatial.Term{{To: make([]float32, rows)}}}
			}
			batch, self := sums(len(s.Radius)), sums(s.Limit())
			both := func() (error, error) { return ix.Sum(queriesOf(s), batch), ix.SumSelf(&spatial.Self{Radius: 8}, self) }
			if one, all := flushed(both); !errors.Is(one, spatial.ErrFloatEnv) || !errors.Is(all, spatial.ErrFloatEnv) {
				t.Errorf("level %s, %d workers: %v, %v", level, workers, one, all)
			}
			want := sums(len(s.Radius))
			one, all := both()
			if err := cmp.Or(one, all, ix.SumOracle(queriesOf(s), want), sameSums("restored", batch, want)); err != nil {
				t.Errorf("level %s, %d workers, restored: %v", level, workers, err)
			}
		}
	}
}

func TestRadiusOnceRefusesAnAlteredFloatEnv(t *testing.T) {
	s := goldenScene()
	for _, level := range native.Levels() {
		for _, path := range []bool{false, true} {
			ix := build(t, spatial.Config{CellSize: 8, Level: level, Workers: 2}, s)
			out := &spatial.Result{}
			if path {
				spatial.Force(out, spatial.Streaming, spatial.MostHits)
			}
			if err := flushedRadiusOnce(ix, s, out); !errors.Is(err, spatial.ErrFloatEnv) {
				t.Errorf("level %s, streaming %t: %v", level, path, err)
			}
			if out.Len() != 0 || len(out.Slots) != 0 || len(out.Dist2) != 0 {
				t.Errorf("level %s, streaming %t: the result is not empty", level, path)
			}
			x, y, z := s.Columns()
			if err := ix.RadiusOnce(spatial.Columns{X: x, Y: y, Z: z, Slots: s.Slots}, queriesOf(s), out); err != nil || out.Len() != len(s.Radius) {
				t.Errorf("level %s, streaming %t, restored: %v", level, path, err)
			}
		}
	}
}

func flushedRadiusOnce(ix *spatial.Index, s *paritytest.Scene, out *spatial.Result) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	face.FlushDenormals(true)
	defer face.FlushDenormals(false)
	x, y, z := s.Columns()
	return ix.RadiusOnce(spatial.Columns{X: x, Y: y, Z: z, Slots: s.Slots}, queriesOf(s), out)
}
