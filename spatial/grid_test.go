package spatial

import (
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/evertick/evertick/internal/neighbours"
	"github.com/evertick/evertick/internal/paritytest"
)

// fitPlainly is fitGrid that tries every edge.
func (ix *Index) fitPlainly(n int, l *layout) (neighbours.Grid, float64) {
	cell, most := float64(ix.cfg.CellSize), float64(2*n+1)
	if cell == 0 {
		widest := 0.0
		for a := range 3 {
			widest = max(widest, l.core[1][a]-l.core[0][a])
		}
		cell, most = widest*0x1p-20, max(1, float64(n/2))
	}
	for cell = max(cell, smallestCell); ; cell *= 2 {
		var g neighbours.Grid
		if core, all := l.grid(cell, &g); core <= most && all <= float64(2*n+1) {
			return g, cell
		}
	}
}

// fitGrid finds the grid that trying all edges finds, for sets and boxes of every size.
func TestFitGrid(t *testing.T) {
	seed := paritytest.Seed()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	side := func() float32 {
		switch r.IntN(4) {
		case 0:
			return 0
		case 1:
			return float32(math.Ldexp(1, r.IntN(276)-149))
		}
		return float32(math.Ldexp(r.Float64(), r.IntN(276)-149))
	}
	rounds := 5000
	if os.Getenv("EVERTICK_LONG") != "" {
		rounds = 30_000
	}
	for range rounds {
		var box Bounds
		for a := range 3 {
			box.Min[a], box.Max[a] = -side(), side()
		}
		ix := &Index{}
		if r.IntN(4) == 0 {
			ix.cfg.CellSize = max(side(), 0x1p-100)
		}
		n := r.IntN(1 << r.IntN(22))
		l := uniform(box)
		var g neighbours.Grid
		cell := ix.fitGrid(n, l, &g)
		if want, size := ix.fitPlainly(n, l); g != want || cell != size {
			t.Fatalf("%d points in %v: cells of %v, want %v", n, box, cell, size)
		}
	}
}
