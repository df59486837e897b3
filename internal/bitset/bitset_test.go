package bitset

import (
	"math/rand/v2"
	"testing"
)

func TestSetAgreesWithMap(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var s Set
	for _, n := range []int{0, 1, 63, 64, 65, 200, 3} {
		s.Reset(n)
		model := map[int]bool{}
		for range 4 * n {
			if i := rng.IntN(n); rng.IntN(3) > 0 {
				s.Add(i)
				model[i] = true
			} else {
				s.Remove(i)
				delete(model, i)
			}
		}
		for i := range n {
			if s.Has(i) != model[i] {
				t.Errorf("n %d: Has(%d) = %v", n, i, s.Has(i))
			}
		}
	}
	if len(Make(64)) != 1 || len(Make(65)) != 2 {
		t.Errorf("Make has %d and %d words", len(Make(64)), len(Make(65)))
	}
}
