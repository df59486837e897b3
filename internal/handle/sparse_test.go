package handle

import (
	"math/rand/v2"
	"testing"
)

// A Sparse is a map with its keys in order.
func TestSparse(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var s Sparse[int]
	want := map[int]int{}
	for range 1000 {
		number, v, keep := r.IntN(20), r.Int(), r.IntN(2) == 0
		if s.Set(number, v, keep); keep {
			want[number] = v
		} else {
			delete(want, number)
		}
		if len(s) != len(want) {
			t.Fatalf("%d values, want %d", len(s), len(want))
		}
		for i := range 20 {
			got, ok := s.Of(i)
			if v, has := want[i]; ok != has || got != v {
				t.Fatalf("the value of %d is %d, %v; want %d, %v", i, got, ok, v, has)
			}
		}
		for i := 1; i < len(s); i++ {
			if s[i].Number <= s[i-1].Number {
				t.Fatal("not ascending")
			}
		}
	}
}
