package physics

import (
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evertick/evertick/native"
)

// runJob runs one job.
func runJob(c *crew, workers, stages int, job func(*shift)) error {
	return c.run(workers, func() { c.do(stages, job) })
}

func TestCrewStages(t *testing.T) {
	var c crew
	for _, workers := range []int{1, 2, 3, 7} {
		const stages, n = 200, 1000
		counts := make([]atomic.Int64, n)
		err := runJob(&c, workers, stages, func(w *shift) {
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
		runJob(&c, 3, 3, func(w *shift) {
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
		err := runJob(&c, 3, 4, func(w *shift) {
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
		runJob(&c, 3, 3, func(w *shift) {
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
	if err := runJob(&c, 1, 1, func(w *shift) { w.do(0, 4, 4, func(int, int) { done++ }) }); err != nil || done != 1 {
		t.Fatal(err, done) // it can be used again
	}
}

// TestCrewLeaderPanics: where nobody is at a job, too, helpers leave and the panic is passed on.
func TestCrewLeaderPanics(t *testing.T) {
	var c crew
	for range 3 {
		func() {
			defer func() {
				if v := recover(); v != "broken" {
					t.Errorf("panic %v", v)
				}
			}()
			c.run(3, func() {
				c.do(1, func(w *shift) { w.do(0, 9, 1, func(int, int) {}) })
				panic("broken")
			})
		}()
		if n := c.gate.Load(); n > shut+2 {
			t.Fatalf("helpers have not left: gate %d", n)
		}
	}
}

// TestCrewFloatEnv: a helper whose floating-point environment is altered does nothing but report
// that, and the next run is as if nothing had been.
func TestCrewFloatEnv(t *testing.T) {
	var c crew
	c.check = func() error { return native.ErrFloatEnv }
	var calls atomic.Int64
	lead := func() {
		for c.came.Load() == 0 && c.envErr.Load() == nil {
			runtime.Gosched()
		}
		c.do(1, func(w *shift) {
			w.do(0, 100, 1, func(int, int) {
				if w != &c.shifts[0] {
					t.Error("a helper works")
				}
				calls.Add(1)
			})
		})
	}
	if err := c.run(2, lead); !errors.Is(err, native.ErrFloatEnv) || calls.Load() != 100 {
		t.Fatalf("%v after %d chunks", err, calls.Load())
	}
	c.check = nil
	if err := runJob(&c, 2, 1, func(w *shift) { w.do(0, 100, 1, func(int, int) { calls.Add(1) }) }); err != nil || calls.Load() != 200 {
		t.Fatalf("%v after %d chunks", err, calls.Load())
	}
}

// TestCrewInOrder: chunks are begun in ascending order.
func TestCrewInOrder(t *testing.T) {
	var c crew
	var begun atomic.Int64
	for range 20 {
		begun.Store(0)
		runJob(&c, 3, 1, func(w *shift) {
			w.inOrder(0, 64, 1, func(lo, _ int) {
				if n := int(begun.Add(1)); c.workers > 1 && lo >= n+3 {
					t.Errorf("chunk %d as number %d", lo, n)
				}
			})
		})
	}
}

func TestCrewAllocatesNothing(t *testing.T) {
	var c crew
	job := func(w *shift) {
		for range 10 {
			w.do(0, 100, 10, func(int, int) {})
		}
	}
	lead := func() {
		for range 3 {
			c.do(10, job)
		}
	}
	run := func() {
		c.run(2, lead)
		runtime.Gosched() // AllocsPerRun leaves one CPU: a helper who has not come yet goes now
	}
	run()
	if n := testing.AllocsPerRun(50, run); n > 0 {
		t.Errorf("%g allocations", n)
	}
}
