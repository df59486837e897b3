package physics

import (
	"sync/atomic"
	"testing"
	"time"
)

func TestCrewStages(t *testing.T) {
	var c crew
	for _, workers := range []int{1, 2, 3, 7} {
		const stages, n = 200, 1000
		counts := make([]atomic.Int64, n)
		err := c.run(workers, stages, func(w *shift) {
			for stage := range stages {
				w.do(0, n, 1+stage%30, func(lo, hi int) {
					for i := lo; i < hi; i++ {
						if before := counts[(i+stage*37)%n].Load(); before < int64(stage) {
							t.Errorf("stage %d began when the one before had not ended", stage)
						}
						counts[i].Add(1)
					}
				})
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		for i := range counts {
			if v := counts[i].Load(); v != stages {
				t.Fatalf("%d workers: element %d was done %d times", workers, i, v)
			}
		}
	}
}

// TestCrewEmpty: stages of nothing, and of one chunk.
func TestCrewEmpty(t *testing.T) {
	var c crew
	var calls atomic.Int64
	for range 100 {
		c.run(3, 3, func(w *shift) {
			w.do(5, 5, 10, func(lo, hi int) { t.Error("a chunk of nothing") })
			w.do(5, 8, 10, func(lo, hi int) { calls.Add(int64(100*lo + hi)) })
			w.do(0, 0, 1, func(lo, hi int) { t.Error("a chunk of nothing") })
		})
	}
	if calls.Load() != 100*508 {
		t.Error(calls.Load())
	}
}

// TestCrewSlow: those who wait for a chunk that takes long sleep, and go on.
func TestCrewSlow(t *testing.T) {
	var c crew
	for range 3 {
		var calls atomic.Int64
		err := c.run(3, 4, func(w *shift) {
			for range 4 {
				w.do(0, 6, 1, func(lo, _ int) {
					if lo == 5 {
						time.Sleep(3 * time.Millisecond)
					}
					calls.Add(1)
				})
			}
		})
		if err != nil || calls.Load() != 4*6 {
			t.Fatal(err, calls.Load())
		}
	}
}

func TestCrewPanic(t *testing.T) {
	var c crew
	func() {
		defer func() {
			if v := recover(); v != "broken" {
				t.Errorf("panic %v", v)
			}
		}()
		c.run(3, 3, func(w *shift) {
			w.do(0, 9, 1, func(int, int) {})
			w.do(0, 9, 1, func(lo, _ int) {
				if lo == 4 {
					panic("broken")
				}
			})
			w.do(0, 9, 1, func(int, int) { t.Error("went on without the chunk that panicked") })
		})
	}()
	done := 0
	if err := c.run(1, 1, func(w *shift) { w.do(0, 4, 4, func(int, int) { done++ }) }); err != nil || done != 1 {
		t.Fatal(err, done) // it can be used again
	}
}

func TestCrewAllocatesNothing(t *testing.T) {
	var c crew
	job := func(w *shift) {
		for range 10 {
			w.do(0, 100, 10, func(int, int) {})
		}
	}
	if n := testing.AllocsPerRun(50, func() { c.run(1, 10, job) }); n > 0 {
		t.Errorf("%g allocations", n)
	}
}
