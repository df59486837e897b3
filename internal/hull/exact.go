package hull

import (
	"math"
	"math/bits"
)

// gridBits is the size of the grid: coordinates are at most 2^gridBits, plus one for rounding.
const gridBits = 29

// point is a point of the grid, or a difference of two.
type point [3]int64

func (a point) sub(b point) point { return point{a[0] - b[0], a[1] - b[1], a[2] - b[2]} }

// cross is exact: its components are below 2^60 for differences of points.
func (a point) cross(b point) point {
	return point{a[1]*b[2] - a[2]*b[1], a[2]*b[0] - a[0]*b[2], a[0]*b[1] - a[1]*b[0]}
}

func (a point) less(b point) bool {
	for k := range a {
		if a[k] != b[k] {
			return a[k] < b[k]
		}
	}
	return false
}

// sideOf returns the sign of n·d, where n is a cross product and d a difference of points.
func (n point) sideOf(d point) int {
	// Each product is below 2^90, and the error of this sum below 2^40.
	sum := n.dot(d)
	const certain = 1 << 40
	switch {
	case sum > certain:
		return 1
	case sum < -certain:
		return -1
	}
	hi, lo := uint64(0), uint64(0)
	for k := range n {
		h, l := bits.Mul64(uint64(n[k]), uint64(d[k])) // as unsigned numbers
		if n[k] < 0 {
			h -= uint64(d[k])
		}
		if d[k] < 0 {
			h -= uint64(n[k])
		}
		var carry uint64
		lo, carry = bits.Add64(lo, l, 0)
		hi, _ = bits.Add64(hi, h, carry)
	}
	switch {
	case int64(hi) < 0:
		return -1
	case hi|lo != 0:
		return 1
	}
	return 0
}

// dot is n·d, rounded.
func (n point) dot(d point) float64 {
	x, y, z := float64(n[0])*float64(d[0]), float64(n[1])*float64(d[1]), float64(n[2])*float64(d[2])
	return float64(float64(x)+float64(y)) + float64(z)
}

// grid maps coordinates to cells.
type grid struct {
	cell  [3]float64 // the size of a cell, a power of two
	first [3]float64 // the number of the first cell
}

// newGrid returns the grid of a box.
func newGrid(lo, hi [3]float32) (g grid) {
	for k := range lo {
		g.cell[k] = 1
		if extent := float64(hi[k]) - float64(lo[k]); extent > 0 {
			// A power of two, of which the extent has between 2^28 and 2^29.
			exponent := math.Float64bits(extent) >> 52
			g.cell[k] = math.Float64frombits((exponent + 1 - gridBits) << 52)
		}
		g.first[k] = math.RoundToEven(float64(lo[k]) / g.cell[k])
	}
	return g
}

// point returns the nearest point of the grid. The difference is exact: both numbers are multiples of the same power of two, and
// less than 2^53 of it apart.
func (g *grid) point(p [3]float32) (q point) {
	for k := range q {
		q[k] = int64(math.RoundToEven(float64(p[k])/g.cell[k]) - g.first[k])
	}
	return q
}
