package neighbours

import (
	"math"

	"github.com/evertick/evertick/native"
)

// Grid is a grid of cells. Cell (i, j, k) has the number (k*N[1] + j)*N[0] + i:
// cells along x are neighbours.
//
// Along each axis the cells of its core have one length, 1/Inv. For few points that lie far apart there may be Low
// cells below the core and High cells above it: they grow with the distance from the core. The distance d, in cells
// of the core, is converted to steps. Steps are linear between two powers of two; the bits of a float32 serve as its
// logarithm:
//
//	steps(d) = float32(bits(d+1) - bits(1)) * Tail
//
// With no cells outside the core the grid is uniform.
//
// An axis may have pieces instead, for points that lie in several clusters far from each other. Each piece begins at
// its Min, and has cells of one length; the last of them ends where the next piece begins, however far that is. A
// coordinate is in the last piece that begins at it or below, and in the first one if there is none. Such an axis has
// no cells outside the core, its Tail is -1, and its Inv is that of most pieces.
type Grid struct {
	Min       [3]float32 // lower corner of the core, metres
	Inv       [3]float32 // cells of the core per metre along each axis, positive
	N         [3]int32   // cells along each axis, 1 to 1<<24: float32 holds no more integers
	Low, High [3]int32   // how many of these lie below and above the core; the core has at least one
	Tail      [3]float32 // cells below and above the core for each of Steps, 0 to 1; 0 if there are none; -1 with pieces
	Pieces    [3]int32   // pieces of each axis, at most MaxPieces; 0: the axis has a core
	Piece     [3]Pieces
}

// MaxPieces is the largest number of pieces of an axis.
const MaxPieces = 64

// Pieces are the pieces of an axis. Piece i has the cells First[i] to First[i+1]-1. Only as many elements count as
// the axis has pieces, and one more of First.
type Pieces struct {
	Min   [MaxPieces]float32 // where a piece begins, metres; they ascend
	Inv   [MaxPieces]float32 // cells per metre, positive
	First [MaxPieces + 1]int32
}

// Cell maps a coordinate to its cell along an axis. It is monotone in v and
// clamped to the grid, so that points outside its box lie in border cells.
func (g *Grid) Cell(axis int, v float32) int32 {
	n := g.N[axis]
	t := (v - g.Min[axis]) * g.Inv[axis]
	if tail := g.Tail[axis]; tail != 0 {
		if tail < 0 {
			return g.pieced(axis, v)
		}
		return g.tailed(axis, t)
	}
	if !(t > 0) {
		return 0
	}
	if t >= float32(n) {
		return n - 1
	}
	return int32(t)
}

// tailed is Cell for a grid with cells outside the core; t is the distance from the lower corner of the core, in
// cells. Low cells are counted upwards, so any distance below the core gives one or more. Distances too small for
// that, and NaN, are in the first cell of the core.
func (g *Grid) tailed(axis int, t float32) int32 {
	low, high, tail := float32(g.Low[axis]), float32(g.High[axis]), g.Tail[axis]
	core := float32(g.N[axis] - g.Low[axis] - g.High[axis])
	var inside, above, below float32
	if t > 0 {
		inside = t
	}
	if t > core {
		inside, above = core, t-core
	}
	if t < 0 {
		below = -t
	}
	up, down := float32(Steps(above)*tail), float32(Steps(below)*tail)+lessThanOne
	if up > high {
		up = high
	}
	if down > low {
		down = low
	}
	return min(g.Low[axis]+int32(inside)+int32(up)-int32(down), g.N[axis]-1)
}

// pieced is Cell for an axis with pieces. It is monotone, because the choice of the piece rounds nothing. NaN is in
// the first cell.
func (g *Grid) pieced(axis int, v float32) int32 {
	p := &g.Piece[axis]
	i, end := int32(0), g.Pieces[axis]
	for end-i > 1 {
		if mid := (i + end) / 2; p.Min[mid%MaxPieces] <= v {
			i = mid
		} else {
			end = mid
		}
	}
	t, first := (v-p.Min[i%MaxPieces])*p.Inv[i%MaxPieces], p.First[i%MaxPieces]
	n := p.First[i%MaxPieces+1] - first
	if !(t > 0) {
		return first
	}
	if t >= float32(n) {
		return first + n - 1
	}
	return first + int32(t)
}

// pieceOf returns the piece that cell j of an axis with pieces is in, the first if j is below all cells, and the last
// one if it is above.
func (g *Grid) pieceOf(axis int, j int32) int32 {
	i := int32(0)
	for i+1 < g.Pieces[axis] && g.Piece[axis].First[i+1] <= j {
		i++
	}
	return i
}

// lessThanOne is the largest float32 below 1.
const lessThanOne = 1 - 0x1p-24

// Steps returns the steps of a distance outside the core of a Grid, in cells of the core: they grow by 1<<23 each
// time that d+1 doubles. d is not negative, and may be +Inf.
func Steps(d float32) float32 { return float32(int32(math.Float32bits(d+1) - 127<<23)) }

// distance is the inverse of Steps.
func distance(steps float32) float32 {
	return math.Float32frombits(127<<23+uint32(min(steps, 1<<30))) - 1
}

// uneven reports whether there are pieces, or cells outside the core.
func (g *Grid) uneven() bool { return g.Tail != [3]float32{} }

// edge returns approximately where cell j of an axis begins, or where the grid ends if j is N: good for guesses, not
// for proofs.
func (g *Grid) edge(axis int, j int32) float32 {
	if g.Pieces[axis] != 0 {
		p, i := &g.Piece[axis], g.pieceOf(axis, j)
		return p.Min[i] + float32(float32(j-p.First[i])/p.Inv[i])
	}
	core, i := g.N[axis]-g.Low[axis]-g.High[axis], j-g.Low[axis]
	cells := float32(i)
	switch {
	case i < 0:
		cells = -distance(float32(-i) / g.Tail[axis])
	case i > core:
		cells = float32(core) + distance(float32(i-core)/g.Tail[axis])
	}
	return g.Min[axis] + float32(cells/g.Inv[axis])
}

// Number returns the number of the cell of a point.
func (g *Grid) Number(x, y, z float32) uint32 {
	return uint32((g.Cell(2, z)*g.N[1]+g.Cell(1, y))*g.N[0] + g.Cell(0, x))
}

// holds reports whether the grid has the given number of cells, and the numbers of cells fit an int32.
func (g *Grid) holds(cells int) bool {
	product := uint64(1)
	for a, n := range g.N {
		if n < 1 || n > 1<<24 || g.Low[a] < 0 || g.High[a] < 0 || int64(g.Low[a])+int64(g.High[a]) >= int64(n) {
			return false
		}
		if product *= uint64(n); product > math.MaxInt32 {
			return false
		}
		if (g.Tail[a] < 0 || g.Pieces[a] != 0) && !g.holdsPieces(a) {
			return false
		}
	}
	return product == uint64(cells)
}

// holdsPieces reports whether the pieces of an axis are valid.
func (g *Grid) holdsPieces(axis int) bool {
	k, p := g.Pieces[axis], &g.Piece[axis]
	if k < 1 || k > MaxPieces || g.Tail[axis] != -1 || g.Low[axis]+g.High[axis] != 0 || p.First[0] != 0 || p.First[k] != g.N[axis] {
		return false
	}
	for i := range k {
		if p.First[i] >= p.First[i+1] || !(p.Inv[i] > 0) || i > 0 && !(p.Min[i-1] < p.Min[i]) {
			return false
		}
	}
	return true
}

// BlockLen is the number of points in a Block: the number of lanes of the widest vector, and a multiple of the number in
// narrower ones.
const BlockLen = 16

// Block holds sixteen points: four cache lines that every level reads directly.
type Block struct {
	X, Y, Z [BlockLen]float32
	Slot    [BlockLen]uint32
}

// Points are a point set sorted by cell; within a cell the caller chooses the order. Place i is lane i%BlockLen of
// block i/BlockLen. Start[c] is the place of the first point of cell c, and one more entry ends the last cell. Lanes
// after the last point are never reported. Slots are distinct: if a slot occurs twice, rows with it differ between
// levels.
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

// check checks lengths. The kernels check places and slots while they visit the points, because check would need a
// pass of its own.
func (p *Points) check(g *Grid) {
	if !g.holds(len(p.Start) - 1) {
		panic("neighbours: Points.Start does not fit the grid")
	}
	n := p.Len()
	if n > native.MaxSlots {
		panic("neighbours: Points holds more than native.MaxSlots points")
	}
	if len(p.Blocks) < (n+BlockLen-1)/BlockLen {
		panic("neighbours: Points.Blocks is too short")
	}
	if p.Limit < 0 || p.Limit > native.MaxSlots || p.Limit == 0 && n > 0 {
		panic("neighbours: Points.Limit is out of range")
	}
	if p.Category != nil && len(p.Category) < BlockLen*len(p.Blocks) {
		panic("neighbours: Points.Category is too short")
	}
}
