package native

import (
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/evertick/evertick/internal/pace"
	"github.com/evertick/evertick/internal/team"
)

func init() { pace.Always = true }

func noRows(_, _, _ int) {}

// A team reports to a watch what the leader and helpers have done, and so does a pool.
func TestWatchedStages(t *testing.T) {
	pace.Watched = new(pace.Watch)
	defer func() { pace.Watched = nil }()
	for _, workers := range []int{1, 2} {
		if workers > 1 {
			if team.OneThread {
				t.Skip("not run: on one thread no helper joins")
			}
		}
		var run team.Team
		pace.Watched.Start()
		var helped atomic.Bool
		err := run.Run(workers, func() {
			run.For(3, 3, 1, noRows)
			run.For(0, 5, 10, noRows)
			pace.Name((*addBoth).Do)
			run.For(0, 40, 4, func(worker, lo, hi int) {
				var inner team.Team
				inner.For(0, 5, 1, noRows) // a part of this stage
				if worker != 0 {
					helped.Store(true)
				}
				for workers > 1 && worker == 0 && !helped.Load() {
					runtime.Gosched()
				}
			})
		})
		if err != nil {
			t.Fatal(err)
		}
		pace.Watched.Stop()
		got, _ := pace.Watched.Take()
		if len(got) != 2 || got[0].Name != "native.noRows" || !got[0].Alone || got[0].Chunks != 1 || got[1].Name != "native.Do" || got[1].Alone {
			t.Fatalf("%d workers: %+v", workers, got)
		}
		s := got[1]
		if workers == 1 && (s.Chunks != 1 || s.Theirs != 0 || s.Helped != 0 || s.Waited != 0) {
			t.Errorf("one worker: %+v", s)
		}
		if workers == 2 && (s.Chunks != 10 || s.Theirs < 1 || s.Theirs > 10 || s.Helped <= 0) {
			t.Errorf("two workers: %+v", s)
		}
	}
	for _, workers := range []int{1, 2} {
		p := NewPool(workers)
		pace.Watched.Start()
		for _, chunks := range []int{0, 1, 8, 8} {
			if err := p.Run(chunks, &addBoth{}); err != nil {
				t.Fatal(err)
			}
		}
		pace.Watched.Stop()
		got, _ := pace.Watched.Take()
		if len(got) != 2 || got[0].Name != "native.addBoth" || !got[0].Alone || got[0].Calls != 1 || got[1].Calls != 2 || got[1].Alone {
			t.Errorf("a pool of %d: %+v", workers, got)
		}
	}
}

type addBoth struct{ sum atomic.Int64 }

func (a *addBoth) Do(_, chunk int) { a.sum.Add(int64(chunk)) }
