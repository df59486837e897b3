//go:build cgo && (amd64 || arm64)

package spatial_test

import (
	"errors"
	"runtime"
	"testing"

	"github.com/evertick/evertick/csrc"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/native/paritytest"
	"github.com/evertick/evertick/spatial"
)

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
	csrc.FlushDenormals(true)
	defer csrc.FlushDenormals(false)
	x, y, z := s.Columns()
	return ix.RadiusOnce(spatial.Columns{X: x, Y: y, Z: z, Slots: s.Slots}, queriesOf(s), out)
}
