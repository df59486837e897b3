package loop_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/evertick/evertick/loop"
)

// fpsOracle is the documentation of Frame.FPS in float64.
type fpsOracle struct{ frames, ns float64 }

func (o *fpsOracle) add(ns int64) {
	d := float64(max(0, min(ns, 1e9)))
	fade := 5e8 / (5e8 + d)
	o.frames = float64(o.frames*fade) + 1
	o.ns = float64(o.ns*fade) + d
}

func (o *fpsOracle) check(f loop.Frame) error {
	o.add(f.ElapsedNs)
	var want float64
	if o.ns > 0 {
		want = o.frames / o.ns * 1e9
	}
	if math.Abs(f.FPS-want) > 1e-6*want {
		return fmt.Errorf("FPS = %v, want %v", f.FPS, want)
	}
	return nil
}

func TestFPS(t *testing.T) {
	l := mustNew(t, loop.Config{})
	advance := func(n int, ns int64) (fps float64) {
		for range n {
			fps = l.Advance(ns).FPS
		}
		return fps
	}
	check := func(what string, got, least, most float64) {
		t.Helper()
		if !(got >= least && got <= most) {
			t.Errorf("%s: FPS = %v, want %v to %v", what, got, least, most)
		}
	}
	check("no time", advance(1, 0), 0, 0)
	l.StartNew()
	check("the first frame", advance(1, 10e6), 100, 100)
	check("100 Hz", advance(1000, 10e6), 99.999999, 100.000001)
	check("100 ms of 50 Hz", advance(5, 20e6), 80, 95)
	check("two seconds of 50 Hz", advance(95, 20e6), 50, 52)
	l.SetPaused(true)
	check("a pause", advance(1000, 20e6), 49.999999, 50.000001)
	l.SetPaused(false)
	check("two frames at once every 40 ms", func() (fps float64) {
		for range 100 {
			l.Advance(0)
			fps = l.Advance(40e6).FPS
		}
		return fps
	}(), 48, 52)
	check("a stall", advance(1, math.MaxInt64), 0, 12)
	check("two seconds after a stall", advance(100, 20e6), 45, 50)
	check("a clock that goes back", advance(1, -1), 45, 51)
	check("1 ms of the shortest frames", advance(1_000_000, 1), 1.8e6, 2.1e6)
	if l.StartNew(); advance(1, 10e6) != 100 {
		t.Error("StartNew kept the rate")
	}
}

// Frames that take no time cannot overflow the sum.
func TestFPSOfFramesWithoutTime(t *testing.T) {
	l := mustNew(t, loop.Config{Batch: true})
	for range 1000 {
		if f := l.Advance(0); f.FPS != 0 {
			t.Fatalf("%v", f.FPS)
		}
	}
	if f := l.Advance(500e6); math.Abs(f.FPS-1002) > 0.001 {
		t.Errorf("501 weighted frames in half a second: %v", f.FPS)
	}
}
