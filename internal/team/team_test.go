package team

import (
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/pace"
	"github.com/evertick/evertick/internal/paritytest"
)

func needHelpers(t *testing.T) {
	if OneThread {
		t.Skip("not run: on one thread no helper joins")
	}
}

func init() { pace.Always = true }

func TestTeamStages(t *testing.T) {
	var team Team
	for _, workers := range []int{1, 2, 3, 7} {
		const stages, n = 200, 1000
		counts := make([]atomic.Int64, n)
		err := team.Run(workers, func() {
			for stage := range stages {
				team.For(0, n, 1+stage%30, func(_, lo, hi int) {
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

// TestTeamEmpty: stages of nothing, and of one chunk, which the leader does.
func TestTeamEmpty(t *testing.T) {
	var team Team
	calls := 0
	for range 100 {
		team.Run(3, func() {
			team.For(5, 5, 10, func(_, _, _ int) { t.Error("a chunk of nothing") })
			team.For(5, 8, 10, func(worker, lo, hi int) { calls += 1000*worker + 100*lo + hi })
			team.For(0, 0, 1, func(_, _, _ int) { t.Error("a chunk of nothing") })
		})
	}
	if calls != 100*508 {
		t.Error(calls)
	}
}

// TestTeamManyChunks: more chunks than the claims can count are made larger.
func TestTeamManyChunks(t *testing.T) {
	needHelpers(t)
	if paritytest.Instrumented && testing.Short() {
		t.Skip("not run: hundreds of thousands of chunks in an instrumented build")
	}
	var team Team
	var sum atomic.Int64
	const n = 3*maxChunks + 5
	team.Run(2, func() {
		team.For(0, n, 1, func(_, lo, hi int) { sum.Add(int64(hi - lo)) })
	})
	if sum.Load() != n {
		t.Error(sum.Load())
	}
}

// TestTeamSlow: a leader that waits for a slow chunk sleeps, and then goes on.
func TestTeamSlow(t *testing.T) {
	needHelpers(t)
	var team Team
	for range 3 {
		var calls atomic.Int64
		err := team.Run(3, func() {
			for range 4 {
				team.For(0, 6, 1, func(_, lo, _ int) {
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

// TestTeamWithoutHelpers: where no helper arrives before the end of the run, the leader does everything. Helpers
// that arrive later leave.
func TestTeamWithoutHelpers(t *testing.T) {
	needHelpers(t)
	var team Team
	late := make(chan struct{})
	team.check = func() error { <-late; return nil }
	for range 3 {
		done := 0
		err := team.Run(4, func() {
			for range 5 {
				team.For(0, 100, 3, func(worker, lo, hi int) {
					if worker != 0 {
						t.Error("a helper works")
					}
					done += hi - lo
				})
			}
		})
		if err != nil || done != 500 {
			t.Fatal(err, done)
		}
	}
	if n := team.helpers.Load(); n != 3 {
		t.Errorf("%d helpers started for three runs", n)
	}
	close(late)
	for team.helpers.Load() != 0 {
		runtime.Gosched()
	}
}

// TestTeamHelperStops: while a helper is off its CPU in a chunk, the leader does all others of the stage. When the helper
// stops without a chunk, the leader does all stages, and ends the run.
func TestTeamHelperStops(t *testing.T) {
	needHelpers(t)
	var team Team
	const chunks = 50
	var done atomic.Int64
	var stopped atomic.Bool
	err := team.Run(2, func() {
		team.For(0, chunks, 1, func(worker, _, _ int) {
			if worker != 0 {
				stopped.Store(true)
				for done.Load() < chunks-1 { // by the leader
					runtime.Gosched()
				}
			} else {
				for !stopped.Load() {
					runtime.Gosched()
				}
			}
			done.Add(1)
		})
		if done.Load() != chunks {
			t.Errorf("stage ended after %d chunks", done.Load())
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	late := make(chan struct{})
	defer close(late)
	team.check = func() error { <-late; return nil }
	for range 10 {
		done.Store(0)
		team.Run(2, func() {
			for range 3 {
				team.For(0, chunks, 1, func(_, _, _ int) { done.Add(1) })
			}
		})
		if done.Load() != 3*chunks {
			t.Fatal(done.Load())
		}
	}
}

// TestTeamShortStages: of stages that follow each other quickly, each has its chunks, although helpers that looked at the
// claims of one stage claim chunks of the next.
func TestTeamShortStages(t *testing.T) {
	needHelpers(t)
	var team Team
	var counts [4]int64
	for range 2000 {
		var sum atomic.Int64
		team.Run(4, func() {
			for stage := range counts {
				team.For(0, stage+2, 1, func(_, lo, _ int) { sum.Add(1 << (8 * stage)) })
			}
		})
		if sum.Load() != 2|3<<8|4<<16|5<<24 {
			t.Fatalf("chunks by stage: %x", sum.Load())
		}
	}
}

// TestTeamPaces: runs have helpers as the times of runs decide.
func TestTeamPaces(t *testing.T) {
	needHelpers(t)
	pace.Always = false
	defer func() { pace.Always = true }()
	var team Team
	var now time.Duration
	team.clock = func() time.Duration { return now }
	run := func(shared time.Duration) (workers int) {
		team.Run(2, func() {
			if workers = team.Workers(); workers == 1 {
				now += time.Millisecond
			} else {
				now += shared
			}
		})
		return workers
	}
	count := func(runs int, shared time.Duration) (helped int) {
		for range runs {
			helped += run(shared) - 1
		}
		return helped
	}
	if n := count(1000, 600*time.Microsecond); n < 960 {
		t.Errorf("%d of 1000 runs have helpers, which save time", n)
	}
	if n := count(1000, 3*time.Millisecond); n > 20 {
		t.Errorf("%d of 1000 runs have helpers, which cost time", n)
	}
	count(1100, 600*time.Microsecond) // the pause
	if n := count(1000, 600*time.Microsecond); n < 960 {
		t.Errorf("%d of 1000 runs have helpers, which save time again", n)
	}
}

// A run has no more workers than GOMAXPROCS, which may change between runs.
func TestTeamWorkersOfProcess(t *testing.T) {
	needHelpers(t)
	pace.Always = false
	defer func() { pace.Always = true }()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var team Team
	var now time.Duration
	team.clock = func() time.Duration { return now }
	for _, c := range []struct{ procs, workers, want int }{{1, 2, 1}, {3, 2, 2}, {3, 8, 3}, {2, 8, 2}, {1, 8, 1}} {
		runtime.GOMAXPROCS(c.procs)
		most := 0
		for range 10 {
			team.Run(c.workers, func() {
				most = max(most, team.Workers())
				if now += time.Millisecond; team.Workers() > 1 {
					now -= 400 * time.Microsecond
				}
			})
		}
		if most != c.want {
			t.Errorf("GOMAXPROCS %d, %d workers: a run had %d", c.procs, c.workers, most)
		}
	}
}

func TestTeamPanic(t *testing.T) {
	needHelpers(t)
	var team Team
	for bad := range 50 {
		func() {
			defer func() {
				if v := recover(); v != "broken" {
					t.Errorf("panic %v", v)
				}
			}()
			team.Run(3, func() {
				team.For(0, 9, 1, func(_, _, _ int) {})
				team.For(0, 50, 1, func(_, lo, _ int) {
					if runtime.Gosched(); lo == bad {
						panic("broken")
					}
				})
				team.For(0, 9, 1, func(_, _, _ int) { t.Error("went on without the chunk that panicked") })
			})
		}()
		done := 0
		if err := team.Run(1, func() { team.For(0, 4, 4, func(_, _, _ int) { done++ }) }); err != nil || done != 1 {
			t.Fatal(err, done) // it can be used again
		}
	}
}

// TestTeamLeaderPanics: the leader panics in a chunk; the run ends when no helper is in a chunk.
func TestTeamLeaderPanics(t *testing.T) {
	needHelpers(t)
	var team Team
	for range 20 {
		var inside atomic.Int64
		func() {
			defer func() {
				if v := recover(); v != "broken" {
					t.Errorf("panic %v", v)
				}
				if n := inside.Load(); n != 0 {
					t.Errorf("%d helpers are in a chunk", n)
				}
			}()
			team.Run(3, func() {
				team.For(0, 9, 1, func(_, _, _ int) {})
				team.For(0, 9, 1, func(worker, lo, _ int) {
					if worker == 0 && lo > 0 {
						panic("broken")
					}
					inside.Add(1)
					runtime.Gosched()
					inside.Add(-1)
				})
				panic("broken")
			})
		}()
	}
}

// TestTeamFloatEnv: a helper whose floating-point environment is altered only reports that, and the next run
// is not affected.
func TestTeamFloatEnv(t *testing.T) {
	needHelpers(t)
	var team Team
	team.check = func() error { return fault.ErrFloatEnv }
	calls := 0
	lead := func() {
		for team.envErr.Load() == nil {
			runtime.Gosched()
		}
		team.For(0, 100, 1, func(worker, _, _ int) {
			if worker != 0 {
				t.Error("a helper works")
			}
			calls++
		})
	}
	if err := team.Run(2, lead); !errors.Is(err, fault.ErrFloatEnv) || calls != 100 {
		t.Fatalf("%v after %d chunks", err, calls)
	}
	for team.helpers.Load() != 0 {
		runtime.Gosched()
	}
	team.check = nil
	var more atomic.Int64
	if err := team.Run(2, func() { team.For(0, 100, 1, func(_, _, _ int) { more.Add(1) }) }); err != nil || more.Load() != 100 {
		t.Fatalf("%v after %d chunks", err, more.Load())
	}
}

// TestTeamForAscending: chunks begin in ascending order.
func TestTeamForAscending(t *testing.T) {
	var team Team
	var begun atomic.Int64
	for range 20 {
		begun.Store(0)
		team.Run(3, func() {
			workers := team.Workers()
			team.ForAscending(0, 64, 1, func(_, lo, _ int) {
				if n := int(begun.Add(1)); workers > 1 && lo >= n+3 {
					t.Errorf("chunk %d as number %d", lo, n)
				}
			})
		})
	}
}

func TestTeamAllocatesNothing(t *testing.T) {
	team := Team{check: func() error { return nil }} // under the address sanitizer CheckFloatEnv allocates
	job := func(_, _, _ int) {}
	lead := func() {
		for range 30 {
			team.For(0, 100, 10, job)
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

// The numbers of workers are below their count, also if helpers start at the same time.
func TestNumbersOfWorkers(t *testing.T) {
	needHelpers(t)
	const workers = 7
	for round := range 3000 {
		var team Team
		team.numbers[0].Store(1) // the leader
		var ready atomic.Int64
		var all sync.WaitGroup
		var used [workers]atomic.Int64
		for range workers - 1 {
			all.Go(func() {
				ready.Add(1)
				for ready.Load() < 2 { // so that two take one at once
					runtime.Gosched()
				}
				if n := team.takeNumber(); n >= workers {
					t.Errorf("round %d: the number %d", round, n)
				} else {
					used[n].Add(1)
				}
			})
		}
		all.Wait()
		for n := 1; n < workers; n++ {
			if k := used[n].Load(); k != 1 {
				t.Fatalf("round %d: %d workers have the number %d", round, k, n)
			}
		}
	}
}
