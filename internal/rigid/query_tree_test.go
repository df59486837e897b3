package rigid

import "testing"

// The curve goes through all cells of a square, each next to the one before.
func TestCurveGoesFromCellToCell(t *testing.T) {
	const edge = 64
	c := hilbertCurve{scale: 1, small: 1}
	shift := 6*curveSteps - 12 // the square of 64 by 64 cells at the end of the curve's first steps
	at := [edge * edge][2]int{}
	seen := 0
	for x := range edge {
		for y := range edge {
			px, py := float32(x*512+1), float32(y*512+1)
			at[c.key(px, py, px, py)>>shift] = [2]int{x, y}
			seen++
		}
	}
	for i := 1; i < len(at); i++ {
		dx, dy := at[i][0]-at[i-1][0], at[i][1]-at[i-1][1]
		if dx*dx+dy*dy != 1 {
			t.Fatalf("from %v to %v at %d of %d", at[i-1], at[i], i, seen)
		}
	}
}
