package physics

import (
	"slices"
	"sync"
	"testing"
)

// TestRelay: the second parts are done once each, in order, after their first parts.
func TestRelay(t *testing.T) {
	var r relay
	for _, chunks := range []int{0, 1, 2, 50} {
		for _, workers := range []int{1, 2, 7} {
			r.begin(chunks)
			first := make([]bool, chunks)
			var order []int
			var all sync.WaitGroup
			for k := range workers {
				all.Go(func() {
					for chunk := k; chunk < chunks; chunk += workers {
						first[chunk] = true
						r.finish(chunk, func(chunk int) {
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
