package rigid3

import "math/bits"

const (
	curveSteps = 10 // of one bit along each axis
	curveCells = 1<<curveSteps - 1
	curveBits  = 2 + 3*curveSteps // bits of a key
)

// hilbertCurve is a Hilbert curve through a cube: it visits all its cells, each next to the one before.
type hilbertCurve struct {
	origin Vec
	scale  float32
	small  float32 // extent of a box that counts as small
}

// key is the size class of a box, in two bits, then the position of its middle on the curve. A large box in a node of small ones would make
// the box of the node large.
func (c *hilbertCurve) key(lo, hi Vec) uint32 {
	class, size := uint32(0), hi.Sub(lo)
	extent := maxFloat(maxFloat(size.X, size.Y), size.Z)
	for limit := c.small; class < 3 && extent > limit; limit *= 8 {
		class++
	}
	x, y, z := c.cell(float32(0.5*(lo.X+hi.X))-c.origin.X), c.cell(float32(0.5*(lo.Y+hi.Y))-c.origin.Y), c.cell(float32(0.5*(lo.Z+hi.Z))-c.origin.Z)
	return class<<(3*curveSteps) | curvePosition(x, y, z)
}

// cell maps a distance to a cell; NaN to the first.
func (c *hilbertCurve) cell(v float32) uint32 {
	return uint32(int32(minFloat(maxFloat(v*c.scale, 0), curveCells)))
}

// curvePosition is the number of a cell on the curve.
func curvePosition(x, y, z uint32) uint32 {
	at, form := uint32(0), uint8(0)
	for k := curveSteps - 1; k >= 0; k-- {
		step := &hilbert[form][x>>k&1|y>>k&1<<1|z>>k&1<<2]
		at, form = at<<3|uint32(step.at), step.form
	}
	return at
}

// hilbert has, for each form of the curve in a cube of 2 by 2 by 2 cells and each cell, its position on the curve and the form that the
// curve has in it. A form is 3·entry + axis: the corner in which the curve begins, and the axis along which it ends. The curve of entry 0
// and axis 0 visits the cells in the order of the Gray code, turned by one axis. The corner and the axis of the part in a cell follow from
// its position, as C. Hamilton derives in Compact Hilbert Indices (Dalhousie University, 2006).
var hilbert = func() (table [24][8]struct{ at, form uint8 }) {
	turn := func(v uint8, by int) uint8 { return (v<<by | v>>(3-by)) & 7 }
	for form := range table {
		entry, axis := uint8(form/3), form%3
		for cell := range uint8(8) {
			gray := turn(cell^entry, (5-axis)%3) // back by axis + 1
			at := gray ^ gray>>1 ^ gray>>2
			begin, along := uint8(0), 0
			if at > 0 {
				even := (at - 1) &^ 1
				begin = even ^ even>>1
				along = bits.TrailingZeros8(^((at - 1) | at&1)) % 3
			}
			table[form][cell] = struct{ at, form uint8 }{at, 3*(entry^turn(begin, (axis+1)%3)) + uint8((axis+along+1)%3)}
		}
	}
	return table
}()
