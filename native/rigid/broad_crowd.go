package rigid

import (
	"slices"

	"github.com/evertick/evertick/native"
)

// crowd finds the pairs where so many boxes overlap that keeping them all, to thin
// them out afterwards, would cost too much memory. It compares each box with each
// that has a higher number, in time that grows as the square of theirs.
type crowd struct {
	boxes Boxes
	shape []uint32
	moves []bool
	met   []uint32 // as in ordering
}

func (c *crowd) search(level native.Level, boxes *Boxes, k *known, out *Pairs) {
	c.gather(boxes, k)
	out.A, out.B = out.A[:0], out.B[:0]
	for i := len(c.shape) - 1; i >= 0; i-- { // backwards, and so are the pairs
		c.row(i, &k.rule, out)
	}
	slices.Reverse(out.A)
	slices.Reverse(out.B)
}

// gather collects the boxes that can overlap others, by number.
func (c *crowd) gather(boxes *Boxes, k *known) {
	b := &c.boxes
	b.MinX, b.MinY, b.MaxX, b.MaxY = b.MinX[:0], b.MinY[:0], b.MaxX[:0], b.MaxY[:0]
	c.shape, c.moves = c.shape[:0], c.moves[:0]
	f := k.rule.filters
	for i := range boxes.MinX {
		x0, y0, x1, y1 := boxes.MinX[i], boxes.MinY[i], boxes.MaxX[i], boxes.MaxY[i]
		if proper(x0, y0, x1, y1) {
			b.MinX, b.MinY, b.MaxX, b.MaxY = append(b.MinX, x0), append(b.MinY, y0), append(b.MaxX, x1), append(b.MaxY, y1)
			c.shape, c.moves = append(c.shape, uint32(i)), append(c.moves, f.Moves[i])
		}
	}
	c.met = resize(c.met, len(c.shape))
	clear(c.met)
}

// row appends the pairs of box i with those behind it, in descending order.
func (c *crowd) row(i int, r *rule, out *Pairs) {
	b := &c.boxes
	x0, y0, x1, y1 := b.MinX[i], b.MinY[i], b.MaxX[i], b.MaxY[i]
	a, moves := c.shape[i], c.moves[i]
	begin, rank := len(out.A), 0
	for j := i + 1; j < len(c.shape); j++ {
		if b.MinX[j] > x1 || b.MaxX[j] < x0 || b.MinY[j] > y1 || b.MaxY[j] < y0 ||
			!moves && !c.moves[j] || !r.agrees(a, c.shape[j]) {
			continue
		}
		if rank < MaxPairs || c.met[j] < MaxPairs {
			out.A, out.B = append(out.A, a), append(out.B, c.shape[j])
		}
		rank++
		c.met[j]++
	}
	slices.Reverse(out.B[begin:])
}
