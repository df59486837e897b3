package broad_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/evertick/evertick/internal/broad"
	"github.com/evertick/evertick/native"
)

// boxes3 are boxes of three axes.
type boxes3 struct{ least, most [3][]float32 }

// draw draws boxes that spread by so much along each axis.
func (s *boxes3) draw(rng *rand.Rand, n int, spread [3]float64) {
	*s = boxes3{}
	for range n {
		for k := range s.least {
			a := float32(spread[k] * rng.Float64())
			s.least[k], s.most[k] = append(s.least[k], a), append(s.most[k], a+1+rng.Float32())
		}
	}
}

func (s *boxes3) meet(i, j int) bool {
	for k := range s.least {
		if !(s.least[k][i] <= s.most[k][j] && s.least[k][j] <= s.most[k][i]) {
			return false
		}
	}
	return true
}

// filters are those of bodies of one shape each, all of which pair. Of seven one does not move.
func (s *boxes3) filters() *broad.Filters {
	n := len(s.least[0])
	f := &broad.Filters{Moves: make([]bool, n), Group: make([]int32, n)}
	for i := range n {
		f.Body, f.Category, f.Mask = append(f.Body, uint32(i)), append(f.Category, 1), append(f.Mask, 1)
		f.Moves[i] = i%7 > 0
	}
	return f
}

// planar returns the boxes in the plane, and sets the spans along the third axis.
func (s *boxes3) planar(third int, f *broad.Filters) *broad.Boxes {
	x, y := (third+1)%3, (third+2)%3
	f.SpanMin, f.SpanMax = s.least[third], s.most[third]
	return &broad.Boxes{MinX: s.least[x], MinY: s.least[y], MaxX: s.most[x], MaxY: s.most[y]}
}

// pairs finds the pairs with the given axis as the third.
func (s *boxes3) pairs(phase *broad.Phase, third int, out *broad.Pairs) {
	f := s.filters()
	phase.FindPairs(native.Auto, s.planar(third, f), f, 0, out)
}

// Pairs of boxes in space are those of a search by brute force, whatever the third axis is.
func TestPairsInSpace(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	var phase broad.Phase
	var s boxes3
	var out broad.Pairs
	found := 0
	for round := range 60 {
		spread := [3]float64{40, 40, 40}
		spread[round%3] = []float64{1, 40, 400}[round/3%3]
		n := 1 + rng.IntN(400)
		s.draw(rng, n, spread)
		var want [][2]uint32
		for i := range n {
			for j := i + 1; j < n; j++ {
				if (i%7 > 0 || j%7 > 0) && s.meet(i, j) {
					want = append(want, [2]uint32{uint32(i), uint32(j)})
				}
			}
		}
		found += len(want)
		for third := range 3 {
			s.pairs(&phase, third, &out)
			got := make([][2]uint32, len(out.A))
			for i, a := range out.A {
				got[i] = [2]uint32{a, out.B[i]}
			}
			if phase.Omitted == 0 && !slices.Equal(got, want) {
				t.Fatalf("round %d, third axis %d: %d pairs, want %d", round, third, len(got), len(want))
			}
		}
	}
	if found < 1000 {
		t.Errorf("only %d pairs", found)
	}
}

func TestThirdAxis(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	var s boxes3
	for i := range 6 {
		spread, want := [3]float64{300, 100, 200}, i%3
		spread[want] = 20
		s.draw(rng, []int{200, 5000}[i/3], spread)
		s.least[want][3], s.most[want][3] = 900, 901 // one is far away
		nan, inf := float32(math.NaN()), float32(math.Inf(1))
		s.most[want][5], s.least[want][6], s.most[want][7] = nan, -inf, -1e30
		for current := range 3 {
			if got := broad.ThirdAxis(&s.least, &s.most, current); got != want {
				t.Errorf("boxes that spread by %v: axis %d after %d, want %d", spread, got, current, want)
			}
		}
	}
	for current := range 3 { // a cube
		s.draw(rng, 5000, [3]float64{100, 100, 100})
		if got := broad.ThirdAxis(&s.least, &s.most, current); got != current {
			t.Errorf("boxes that spread equally: axis %d after %d", got, current)
		}
	}
	if got := broad.ThirdAxis(&[3][]float32{}, &[3][]float32{}, 0); got != 2 {
		t.Errorf("without boxes: axis %d, want 2", got)
	}
}
