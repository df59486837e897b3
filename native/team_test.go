package native

import (
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func needHelpers(t *testing.T) {
	if oneThread {
		t.Skip("not run: on one thread no helper joins")
	}
}

// runJob runs one job.
func runJob(team *Team, workers, stages int, job func(*Worker)) error {
	return team.Run(workers, func() { team.Parallel(stages, job) })
}

func TestTeamStages(t *testing.T) {
	var team Team
	for _, workers := range []int{1, 2, 3, 7} {
		const stages, n = 200, 1000
		counts := make([]atomic.Int64, n)
		err := runJob(&team, workers, stages, func(w *Worker) {
			for stage := range stages {
				w.For(0, n, 1+stage%30, func(lo, hi int) {
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

// TestTeamEmpty: stages of nothing, and of one chunk.
func TestTeamEmpty(t *testing.T) {
	var team Team
	var calls atomic.Int64
	for range 100 {
		runJob(&team, 3, 3, func(w *Worker) {
			w.For(5, 5, 10, func(lo, hi int) { t.Error("a chunk of nothing") })
			w.For(5, 8, 10, func(lo, hi int) { calls.Add(int64(100*lo + hi)) })
			w.For(0, 0, 1, func(lo, hi int) { t.Error("a chunk of nothing") })
		})
	}
	if calls.Load() != 100*508 {
		t.Error(calls.Load())
	}
}

// TestTeamSlow: workers that wait for a slow chunk sleep, and then go on.
func TestTeamSlow(t *testing.T) {
	needHelpers(t)
	var team Team
	for range 3 {
		var calls atomic.Int64
		err := runJob(&team, 3, 4, func(w *Worker) {
			for range 4 {
				w.For(0, 6, 1, func(lo, _ int) {
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

func TestTeamPanic(t *testing.T) {
	needHelpers(t)
	var team Team
	func() {
		defer func() {
			if v := recover(); v != "broken" {
				t.Errorf("panic %v", v)
			}
		}()
		runJob(&team, 3, 3, func(w *Worker) {
			w.For(0, 9, 1, func(int, int) {})
			w.For(0, 9, 1, func(lo, _ int) {
				if lo == 4 {
					panic("broken")
				}
			})
			w.For(0, 9, 1, func(int, int) { t.Error("went on without the chunk that panicked") })
		})
	}()
	done := 0
	if err := runJob(&team, 1, 1, func(w *Worker) { w.For(0, 4, 4, func(int, int) { done++ }) }); err != nil || done != 1 {
		t.Fatal(err, done) // it can be used again
	}
}

// TestTeamLeaderPanics: the leader panics between two jobs; helpers leave and Run passes the panic on.
func TestTeamLeaderPanics(t *testing.T) {
	needHelpers(t)
	var team Team
	for range 3 {
		func() {
			defer func() {
				if v := recover(); v != "broken" {
					t.Errorf("panic %v", v)
				}
			}()
			team.Run(3, func() {
				team.Parallel(1, func(w *Worker) { w.For(0, 9, 1, func(int, int) {}) })
				panic("broken")
			})
		}()
		if n := team.gate.Load(); n > shut+2 {
			t.Fatalf("helpers have not left: gate %d", n)
		}
	}
}

// TestTeamFloatEnv: a helper whose floating-point environment is altered only reports that, and the next run
// is not affected.
func TestTeamFloatEnv(t *testing.T) {
	needHelpers(t)
	var team Team
	team.check = func() error { return ErrFloatEnv }
	var calls atomic.Int64
	lead := func() {
		for team.arrived.Load() == 0 && team.envErr.Load() == nil {
			runtime.Gosched()
		}
		team.Parallel(1, func(w *Worker) {
			w.For(0, 100, 1, func(int, int) {
				if w != &team.members[0] {
					t.Error("a helper works")
				}
				calls.Add(1)
			})
		})
	}
	if err := team.Run(2, lead); !errors.Is(err, ErrFloatEnv) || calls.Load() != 100 {
		t.Fatalf("%v after %d chunks", err, calls.Load())
	}
	team.check = nil
	if err := runJob(&team, 2, 1, func(w *Worker) { w.For(0, 100, 1, func(int, int) { calls.Add(1) }) }); err != nil || calls.Load() != 200 {
		t.Fatalf("%v after %d chunks", err, calls.Load())
	}
}

// TestTeamForAscending: chunks begin in ascending order.
func TestTeamForAscending(t *testing.T) {
	var team Team
	var begun atomic.Int64
	for range 20 {
		begun.Store(0)
		runJob(&team, 3, 1, func(w *Worker) {
			w.ForAscending(0, 64, 1, func(lo, _ int) {
				if n := int(begun.Add(1)); team.workers > 1 && lo >= n+3 {
					t.Errorf("chunk %d as number %d", lo, n)
				}
			})
		})
	}
}

func TestTeamAllocatesNothing(t *testing.T) {
	var team Team
	job := func(w *Worker) {
		for range 10 {
			w.For(0, 100, 10, func(int, int) {})
		}
	}
	lead := func() {
		for range 3 {
			team.Parallel(10, job)
		}
	}
	run := func() {
		team.Run(2, lead)
		runtime.Gosched() // AllocsPerRun leaves one CPU: a helper that has not arrived yet runs now
	}
	run()
	if n := testing.AllocsPerRun(50, run); n > 0 {
		t.Errorf("%g allocations", n)
	}
}

// TestSerialStage: the second parts run once each, in order, after their first parts.
func TestSerialStage(t *testing.T) {
	var s SerialStage
	for _, chunks := range []int{0, 1, 2, 50} {
		for _, workers := range []int{1, 2, 7} {
			s.Begin(chunks)
			first := make([]bool, chunks)
			var order []int
			var all sync.WaitGroup
			for k := range workers {
				all.Go(func() {
					for chunk := k; chunk < chunks; chunk += workers {
						first[chunk] = true
						s.Done(chunk, func(chunk int) {
							if !first[chunk] {
								t.Errorf("chunk %d came too early", chunk)
							}
							order = append(order, chunk)
						})
					}
				})
			}
			all.Wait()
			if len(order) != chunks || !slices.IsSorted(order) {
				t.Fatalf("%d chunks, %d workers: order %v", chunks, workers, order)
			}
		}
	}
}
