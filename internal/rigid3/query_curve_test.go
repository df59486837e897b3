package rigid3

import "testing"

// Neighbours on the curve are neighbours in space, and each cell has its own position.
func TestCurveGoesFromCellToCell(t *testing.T) {
	const side = 16 // the first cells of the curve fill a cube
	cells := map[uint32][3]int{}
	for x := range side {
		for y := range side {
			for z := range side {
				cells[curvePosition(uint32(x), uint32(y), uint32(z))] = [3]int{x, y, z}
			}
		}
	}
	before := cells[0]
	for at := uint32(1); at < side*side*side; at++ {
		c, ok := cells[at]
		if !ok {
			t.Fatalf("no cell has position %d", at)
		}
		steps := 0
		for k := range c {
			steps += max(c[k]-before[k], before[k]-c[k])
		}
		if steps != 1 {
			t.Fatalf("position %d is in cell %v, and the one before in %v", at, c, before)
		}
		before = c
	}
}
