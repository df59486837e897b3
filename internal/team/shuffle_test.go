package team

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
)

// TestShuffle: shuffled stages do each chunk once, and most of them not in ascending order; those in ascending order still are. Shuffled steps do
// all steps of all parts.
func TestShuffle(t *testing.T) {
	needHelpers(t)
	defer SetShuffle(nil)
	var drawn atomic.Uint64
	SetShuffle(func() uint64 {
		n := drawn.Add(1)
		if n%3 == 0 {
			runtime.Gosched()
		}
		return rand.NewPCG(n, 1).Uint64()
	})
	var team Team
	shuffled := 0
	for stage := range 200 {
		chunks := 2 + stage%40
		var order []int
		counts := make([]atomic.Int64, chunks)
		team.Run(2+stage%3, func() {
			team.For(5, 5+3*chunks-1, 3, func(worker, lo, hi int) {
				if hi != min(lo+3, 5+3*chunks-1) {
					t.Errorf("chunk %d to %d", lo, hi)
				}
				counts[lo/3-1].Add(1)
				if worker == 0 {
					order = append(order, lo)
				}
			})
			next := 0
			team.ForAscending(0, chunks, 1, func(worker, lo, _ int) {
				if worker == 0 && lo < next {
					t.Errorf("chunk %d after %d", lo, next)
				} else if worker == 0 {
					next = lo
				}
			})
		})
		for i := range counts {
			if n := counts[i].Load(); n != 1 {
				t.Fatalf("stage %d: chunk %d of %d was done %d times", stage, i, chunks, n)
			}
		}
		if !slices.IsSorted(order) {
			shuffled++
		}
	}
	if shuffled < 60 {
		t.Errorf("%d of 200 stages were shuffled", shuffled)
	}
}
