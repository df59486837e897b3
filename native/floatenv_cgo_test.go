//go:build cgo && !purego && (amd64 || arm64)

package native_test

import (
	"errors"
	"runtime"
	"testing"

	"github.com/evertick/evertick/csrc/face"
	"github.com/evertick/evertick/native"
)

// flushing runs f in a thread that flushes denormals, as a library built with
// -ffast-math would leave it.
func flushing(f func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	face.FlushDenormals(true)
	defer face.FlushDenormals(false)
	f()
}

func TestFlushedDenormalsAreFound(t *testing.T) {
	var probe error
	selfChecks := map[native.Level]error{}
	runs := map[int]error{}
	levels := native.Levels()
	flushing(func() {
		probe = native.CheckFloatEnv()
		for _, level := range levels {
			selfChecks[level] = native.SelfCheck(level)
		}
		for workers := range 9 {
			runs[workers] = native.NewPool(workers).Run(20, taskFunc(func(int, int) {}))
		}
	})
	if !errors.Is(probe, native.ErrFloatEnv) {
		t.Errorf("CheckFloatEnv: %v", probe)
	}
	for level, err := range selfChecks {
		if level != native.Go && !errors.Is(err, native.ErrFloatEnv) {
			t.Errorf("self-check of level %s: %v", level, err)
		}
	}
	for workers, err := range runs {
		if !errors.Is(err, native.ErrFloatEnv) {
			t.Errorf("Run with %d workers: %v", workers, err)
		}
	}
	if err := native.CheckFloatEnv(); err != nil {
		t.Errorf("after restoring: %v", err)
	}
}

// A run that failed must not spoil the next.
func TestPoolRecoversFromFlushedDenormals(t *testing.T) {
	p := native.NewPool(3)
	flushing(func() {
		if err := p.Run(10, taskFunc(func(int, int) {})); err == nil {
			t.Error("no error while denormals are flushed")
		}
	})
	countChunks(t, p, 100)
}
