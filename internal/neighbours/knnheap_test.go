package neighbours_test

import (
	"testing"

	"github.com/evertick/evertick/internal/neighbours"
	"github.com/evertick/evertick/internal/paritytest"
)

// Queries at coincident points, and queries far from points that are all coincident, test a number of them that does not
// grow with the number of points.
func TestKNNOfCoincidentPoints(t *testing.T) {
	run := paritytest.Start(t, "KNN, coincident")
	perQuery := func(n, others int, away float32, k int) float64 {
		s := &paritytest.Scene{Scale: 1}
		for i := range n + others {
			x, y := float32(0), float32(0)
			if i%(1+n/(1+others)) == 0 && others > 0 {
				x, y = run.Float32()*100, run.Float32()*100
			}
			s.X, s.Y, s.Z, s.Slots = append(s.X, x), append(s.Y, y), append(s.Z, 0), append(s.Slots, uint32(i))
		}
		g := neighbours.Grid{Inv: [3]float32{1, 1, 1}, N: [3]int32{100, 100, 1}}
		if others == 0 {
			g.N = [3]int32{1, 1, 1}
		}
		c := inGrid(s, g)
		hundred := make([]float32, 100)
		q := &neighbours.NearestQueries{X: make([]float32, 100), Y: hundred, Z: hundred, K: k, Exclude: make([]uint32, 100)}
		for i := range q.X {
			q.X[i], q.Exclude[i] = away, uint32(run.IntN(n))
		}
		if others == 0 {
			q.Box = &[2][3]float32{}
		}
		return float64(neighbours.KNNTested(&c.grid, &c.points, q)) / 100
	}
	for _, k := range []int{1, 8, 64} {
		for _, c := range []struct {
			others int
			away   float32
		}{{0, 0}, {0, 7}, {500, 0}} {
			few, many := perQuery(2000, c.others, c.away, k), perQuery(20000, c.others, c.away, k)
			if many > 2*few+100 || few > 2000 {
				t.Errorf("K %d, %d others, %g m away: %.0f points tested of 2000, %.0f of 20000", k, c.others, c.away, few, many)
			}
		}
	}
}
