//go:build cgo && (amd64 || arm64)

package spatial_test

import (
	"errors"
	"runtime"
	"testing"

	"github.com/evertick/evertick/csrc"
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
	csrc.FlushDenormals(true)
	defer csrc.FlushDenormals(false)
	return ix.Radius(q, out)
}
