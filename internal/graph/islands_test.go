package graph_test

import (
	"math/rand/v2"
	"testing"

	"github.com/evertick/evertick/internal/graph"
	"github.com/evertick/evertick/internal/paritytest"
)

// Islands are those of a search by floods, whatever the order of the joins.
func TestIslands(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var s graph.Islands
	for range 200 {
		n := 1 + r.IntN(60)
		joins := make([][2]uint32, r.IntN(n+5))
		for i := range joins {
			joins[i] = [2]uint32{uint32(r.IntN(n)), uint32(r.IntN(n))}
		}
		want := make([]uint32, n)
		for i := range want {
			want[i] = uint32(i)
		}
		for changed := true; changed; {
			changed = false
			for _, j := range joins {
				low := min(want[j[0]], want[j[1]])
				changed = changed || want[j[0]] != low || want[j[1]] != low
				want[j[0]], want[j[1]] = low, low
			}
		}
		for range 3 {
			r.Shuffle(len(joins), func(i, k int) { joins[i], joins[k] = joins[k], joins[i] })
			s.Reset(n)
			for _, j := range joins {
				s.Union(j[0], j[1])
			}
			for i := range want {
				if got := s.Find(uint32(i)); got != want[i] {
					t.Fatalf("%d bodies, joins %v: body %d is in island %d, want %d", n, joins, i, got, want[i])
				}
			}
		}
	}
}

func TestIslandsAllocateNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("instrumented")
	}
	var s graph.Islands
	s.Reset(100)
	if n := testing.AllocsPerRun(20, func() {
		s.Reset(100)
		for i := range uint32(99) {
			s.Union(i, i+1)
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
