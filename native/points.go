package native

import "math"

// NoSlot is the slot that no point has: "exclude nothing".
const NoSlot uint32 = math.MaxUint32

// MaxSlots bounds the slots of a point set: slots are below it.
const MaxSlots = 1 << 24

// Grid is a uniform grid over a box. Cell (i, j, k) has the number
// (k*N[1] + j)*N[0] + i: cells along x are neighbours.
type Grid struct {
	Min [3]float32 // lower corner, metres
	Inv [3]float32 // cells per metre along each axis, positive
	N   [3]int32   // cells along each axis, 1 to 1<<24: float32 counts so far
}

// Cell maps a coordinate to its cell along an axis. It is monotone in v and
// clamped to the grid, so that points outside the box lie in border cells.
func (g *Grid) Cell(axis int, v float32) int32 {
	n := g.N[axis]
	t := (v - g.Min[axis]) * g.Inv[axis]
	if !(t > 0) {
		return 0
	}
	if t >= float32(n) {
		return n - 1
	}
	return int32(t)
}

// Number returns the number of the cell of a point.
func (g *Grid) Number(x, y, z float32) uint32 {
	return uint32((g.Cell(2, z)*g.N[1]+g.Cell(1, y))*g.N[0] + g.Cell(0, x))
}

// holds reports whether the grid has that many cells; cell numbers fit an int32.
func (g *Grid) holds(cells int) bool {
	product := uint64(1)
	for _, n := range g.N {
		if n < 1 || n > 1<<24 {
			return false
		}
		if product *= uint64(n); product > math.MaxInt32 {
			return false
		}
	}
	return product == uint64(cells)
}

// BlockLen is the number of points in a Block: the widest vector has as many
// lanes, and narrower ones divide it.
const BlockLen = 16

// Block holds sixteen points: four cache lines that every level reads as they
// are.
type Block struct {
	X, Y, Z [BlockLen]float32
	Slot    [BlockLen]uint32
}

// Points are a point set sorted by cell; within a cell the order is the
// caller's. Place i is lane i%BlockLen of block i/BlockLen. Start[c] is the place
// of the first point of cell c, and one more entry ends the last. What stands in
// the lanes behind the last point is never reported. Slots are distinct: rows with
// a slot twice differ between levels.
type Points struct {
	Start  []uint32
	Blocks []Block
	Limit  int // slots are below it; at most MaxSlots
	// Category has a set of 32 categories for each place, BlockLen for each block.
	// Nil: every point is in all of them.
	Category []uint32
}

// Len returns the number of points.
func (p *Points) Len() int { return int(p.Start[len(p.Start)-1]) }

// check looks at lengths. What it would have to walk over the points for, the
// kernels look at as they go: places and slots.
func (p *Points) check(g *Grid) {
	if !g.holds(len(p.Start) - 1) {
		panic("native: Points.Start does not fit the grid")
	}
	n := p.Len()
	if n > MaxSlots {
		panic("native: Points holds more than MaxSlots points")
	}
	if len(p.Blocks) < (n+BlockLen-1)/BlockLen {
		panic("native: Points.Blocks is too short")
	}
	if p.Limit < 0 || p.Limit > MaxSlots || p.Limit == 0 && n > 0 {
		panic("native: Points.Limit is out of range")
	}
	if p.Category != nil && len(p.Category) < BlockLen*len(p.Blocks) {
		panic("native: Points.Category is too short")
	}
}
