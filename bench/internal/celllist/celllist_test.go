package celllist

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/evertick/evertick/native"
)

// The lists of all levels find what brute force finds, also for centres and spheres that reach out of the box.
func TestFind(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const edge = 9
	for _, n := range []int{0, 1, 7, 400} {
		var column [3][]float32
		for a := range column {
			column[a] = make([]float32, n)
			for i := range n {
				column[a][i] = rng.Float32() * edge
			}
		}
		x, y, z := column[0], column[1], column[2]
		for _, level := range native.Levels() {
			l := List{Level: level}
			for _, cell := range []float32{0.7, 2, 20} {
				l.Build([3]float32{}, [3]float32{edge, edge, edge}, cell, x, y, z)
				checkOrder(t, &l)
				centres := slices.Concat(l.Points(), []Point{{X: -3, Y: 5, Z: 12}, {X: 4, Y: 4, Z: 4}})
				for _, radius := range []float32{0, 0.5, 2, 40} {
					var out Rows
					l.Find(centres, radius, &out)
					checkRows(t, &l, centres, radius, &out)
				}
			}
		}
	}
}

func checkOrder(t *testing.T, l *List) {
	t.Helper()
	last := int64(-1)
	for _, p := range l.points {
		key := int64(l.cellOf[p.Slot])<<32 | int64(p.Slot)
		if key <= last {
			t.Fatalf("level %v: slot %d is not in its place", l.Level, p.Slot)
		}
		last = key
	}
}

func checkRows(t *testing.T, l *List, centres []Point, radius float32, out *Rows) {
	t.Helper()
	first := uint32(0)
	for i, q := range centres {
		var want []uint32
		for _, p := range l.points {
			dx, dy, dz := p.X-q.X, p.Y-q.Y, p.Z-q.Z
			if float32(dx*dx)+float32(dy*dy)+float32(dz*dz) <= radius*radius {
				want = append(want, p.Slot)
			}
		}
		if got := out.Slots[first:out.Ends[i]]; !slices.Equal(got, want) {
			t.Fatalf("level %v, radius %g, centre %v: %v, want %v", l.Level, radius, q, got, want)
		}
		first = out.Ends[i]
	}
}
