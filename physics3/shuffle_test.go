package physics3_test

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evertick/evertick/internal/pace"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/internal/team"
	"github.com/evertick/evertick/physics3"
)

// Workers that take chunks and regions in random order, and lose their CPU at any of them, give the bits of one worker.
func TestShuffledWorkersAgree(t *testing.T) {
	seeds, ticks := 2, 3
	switch {
	case paritytest.Instrumented:
		seeds, ticks = 1, 2
	case !testing.Short():
		seeds, ticks = 20, 12
	}
	run := paritytest.Start(t, "shuffle")
	defer func() { pace.Always = false }()
	defer team.SetShuffle(nil)
	pace.Always = true
	for _, joints := range []bool{false, true} {
		t.Run(fmt.Sprintf("joints=%v", joints), func(t *testing.T) {
			start := medley(t, joints, joints, false)
			steps(t, start, 5) // until bodies touch
			hashes := func(workers int) (all []uint64) {
				w := newWorld(t, physics3.Config{Capacity: start.Cap(), Workers: workers})
				no(t, w.CopyFrom(start))
				no(t, w.SetWorkers(workers))
				for range ticks {
					steps(t, w, 1)
					all = append(all, w.Hash())
				}
				return all
			}
			want := hashes(1)
			for range seeds {
				seed, workers := run.Uint64(), 2+run.IntN(4)
				var drawn atomic.Uint64
				team.SetShuffle(func() uint64 {
					x := (seed + drawn.Add(1)) * 0x9e3779b97f4a7c15
					x = (x ^ x>>29) * 0xbf58476d1ce4e5b9
					x ^= x >> 32
					switch n := x >> 8 & 63; {
					case n < 8:
						runtime.Gosched()
					case n == 8:
						time.Sleep(time.Microsecond)
					}
					return x
				})
				for i, hash := range hashes(workers) {
					if hash != want[i] {
						t.Fatalf("seed %#x, %d workers: tick %d differs from one worker", seed, workers, i)
					}
				}
				if drawn.Load() < 100 {
					t.Errorf("seed %#x, %d workers: only %d random claims", seed, workers, drawn.Load())
				}
				team.SetShuffle(nil)
			}
		})
	}
}
