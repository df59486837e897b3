package native_test

import (
	"sync/atomic"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
)

type taskFunc func(worker, chunk int)

func (f taskFunc) Do(worker, chunk int) { f(worker, chunk) }

// countChunks runs a task and checks that every chunk is done once, and that no
// two chunks run on one worker at the same time.
func countChunks(t *testing.T, p *native.Pool, chunks int) {
	t.Helper()
	done := make([]int, chunks) // not atomic: the race detector sees a chunk done twice
	busy := make([]atomic.Bool, p.Workers())
	err := p.Run(chunks, taskFunc(func(worker, chunk int) {
		if busy[worker].Swap(true) {
			t.Errorf("worker %d does two chunks at once", worker)
		}
		done[chunk]++
		busy[worker].Store(false)
	}))
	if err != nil {
		t.Fatal(err)
	}
	for c, n := range done {
		if n != 1 {
			t.Fatalf("%d workers, %d chunks: chunk %d was done %d times", p.Workers(), chunks, c, n)
		}
	}
}

func TestPoolDoesEveryChunkOnce(t *testing.T) {
	for workers := range 9 {
		p := native.NewPool(workers)
		if p.Workers() != max(workers, 1) {
			t.Errorf("NewPool(%d) has %d workers", workers, p.Workers())
		}
		for range 20 {
			for _, chunks := range []int{0, 1, 2, 7, 8, 9, 100, 1000} {
				countChunks(t, p, chunks)
			}
		}
	}
}

func TestZeroPool(t *testing.T) {
	var p native.Pool
	countChunks(t, &p, 10)
	if err := p.Run(-1, nil); err != nil {
		t.Error(err)
	}
}

func TestOneWorkerGoesInOrder(t *testing.T) {
	next := 0
	if err := native.NewPool(1).Run(50, taskFunc(func(worker, chunk int) {
		if worker != 0 || chunk != next {
			t.Errorf("worker %d, chunk %d; want worker 0, chunk %d", worker, chunk, next)
		}
		next++
	})); err != nil {
		t.Error(err)
	}
}

func TestPoolPassesPanicsOn(t *testing.T) {
	for workers := range 9 {
		p := native.NewPool(workers)
		for _, bad := range []int{0, 13, 99} {
			expectPanic(t, "chunk is bad", func() {
				_ = p.Run(100, taskFunc(func(_, chunk int) {
					if chunk == bad {
						panic("chunk is bad")
					}
				}))
			})
			countChunks(t, p, 100)
		}
	}
}

type addTask struct{ sums [8]int }

func (a *addTask) Do(worker, chunk int) { a.sums[worker] += chunk }

func TestPoolAllocatesNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("instrumented builds allocate on their own account")
	}
	for workers := 1; workers <= 8; workers++ {
		p, task := native.NewPool(workers), &addTask{}
		n := testing.AllocsPerRun(200, func() {
			if err := p.Run(40, task); err != nil {
				t.Error(err)
			}
		})
		if n != 0 {
			t.Errorf("%d workers: %g allocations a run", workers, n)
		}
	}
}
