package broad

import (
	"unsafe"

	"github.com/evertick/evertick/internal/buffer"
)

// bruteForce finds the pairs in scenes where so many boxes overlap that storing all pairs, to drop some afterwards,
// would cost too much memory. It compares each box with all boxes of higher numbers, in quadratic time.
type bruteForce struct {
	n      int
	memory []uint32 // the columns, one after the other, each with room for one vector more

	minX, minY, maxX, maxY   []float32
	spanMin, spanMax         []float32   // if spanned
	spanned                  bool        // shapes have intervals
	shape, body, moves, kind []uint32    // moves: 0 or 1
	rank                     [2][]uint32 // by shape: its partners above the current shape that move, and that do not

	rowLengths []uint32 // how many pairs each shape has
	partners   []uint32 // of the last shape, then of the one before it, and so on
}

// search replaces out by the pairs, without those in excess, and returns how many it left out.
func (c *bruteForce) search(kern *kernels, boxes *Boxes, k *pairCache, out *Pairs) (omitted int) {
	c.gather(boxes, &k.filter)
	if k.filter.grouped || k.filter.kinds == 0 {
		kern = &goKernels
	}
	c.rowLengths = buffer.Resized(c.rowLengths, c.n)
	fill, done := 0, false
	for most := (pairLimits{MaxPairs, MaxPairs}); !done; {
		fill, done = c.fill(kern, &k.filter, &most, len(boxes.MinX))
	}
	all := 0
	for i := range c.n {
		all += int(c.rank[0][i] + c.rank[1][i])
	}
	omitted = all - fill
	out.A, out.B = buffer.Resized(out.A, fill), buffer.Resized(out.B, fill)
	to := 0
	for i, count := range c.rowLengths {
		fill -= int(count)
		for _, b := range c.partners[fill : fill+int(count)] {
			out.A[to], out.B[to] = c.shape[i], b
			to++
		}
	}
	return omitted
}

// fill finds the pairs under the limits most and returns their number. If they are more than n shapes may have,
// it halves a limit, stops and is not done.
func (c *bruteForce) fill(kern *kernels, r *pairFilter, most *pairLimits, n int) (fill int, done bool) {
	clear(c.rank[0])
	clear(c.rank[1])
	still := 0 // pairs with a shape that does not move
	for i := c.n - 1; i >= 0; i-- {
		if need := fill + c.n - i + padding; need > len(c.partners) {
			c.partners = append(make([]uint32, 0, 2*need), c.partners[:fill]...)[:2*need]
		}
		count := kern.bruteForceRow(c, i, r, *most, c.partners[fill:])
		c.rowLengths[i] = uint32(count)
		for _, b := range c.partners[fill : fill+count] {
			still += 1 - bit(c.moves[i] > 0 && r.filters.Moves[b])
		}
		fill += count
		if most.halve(n, fill, still) {
			return fill, false
		}
	}
	return fill, true
}

// gather collects the boxes that can overlap others, in the order of their shapes.
func (c *bruteForce) gather(boxes *Boxes, r *pairFilter) {
	c.reserve(len(boxes.MinX))
	f := r.filters
	c.n, c.spanned = 0, f.Spanned()
	for i := range boxes.MinX {
		x0, y0, x1, y1 := boxes.MinX[i], boxes.MinY[i], boxes.MaxX[i], boxes.MaxY[i]
		if !isValid(x0, y0, x1, y1) {
			continue
		}
		n := c.n
		c.minX[n], c.minY[n], c.maxX[n], c.maxY[n] = x0, y0, x1, y1
		c.shape[n], c.body[n], c.moves[n], c.kind[n] = uint32(i), f.Body[i], 0, 0
		if f.Moves[i] {
			c.moves[n] = 1
		}
		if r.kinds > 0 {
			c.kind[n] = uint32(r.kind[i])
		}
		if c.spanned {
			c.spanMin[n], c.spanMax[n] = f.SpanMin[i], f.SpanMax[i]
		}
		c.n++
	}
}

func (c *bruteForce) reserve(n int) {
	if n+padding <= len(c.shape) {
		return
	}
	stride := staggered(n)
	c.memory = make([]uint32, 12*stride)
	c.minX, c.minY, c.maxX, c.maxY = floats(c.memory, 0, stride), floats(c.memory, 1, stride), floats(c.memory, 2, stride), floats(c.memory, 3, stride)
	c.shape, c.body, c.moves, c.kind = words(c.memory, 4, stride), words(c.memory, 5, stride), words(c.memory, 6, stride), words(c.memory, 7, stride)
	c.rank = [...][]uint32{words(c.memory, 8, stride), words(c.memory, 9, stride)}
	c.spanMin, c.spanMax = floats(c.memory, 10, stride), floats(c.memory, 11, stride)
}

// staggered is the length of a column with room for n elements and a vector. Columns of this length start in
// different cache sets.
func staggered(n int) int { return (n+n/4+padding)/64*64 + 64 + 16 }

// words returns a column of memory, floats one of float32.
func words(memory []uint32, k, stride int) []uint32 { return memory[k*stride : (k+1)*stride] }

func floats(memory []uint32, k, stride int) []float32 {
	return unsafe.Slice((*float32)(unsafe.Pointer(&memory[k*stride])), stride)
}

// bruteForceRowGo writes the partners of box i that come after it to `to`, under limits, and returns their number.
func bruteForceRowGo(c *bruteForce, i int, r *pairFilter, limits pairLimits, to []uint32) int {
	x0, y0, x1, y1 := c.minX[i], c.minY[i], c.maxX[i], c.maxY[i]
	a, moves := c.shape[i], c.moves[i]
	met, kept, rank := c.rank[1-moves], 0, [2]uint32{}
	for j := i + 1; j < c.n; j++ {
		if c.minX[j] > x1 || c.maxX[j] < x0 || c.minY[j] > y1 || c.maxY[j] < y0 ||
			moves|c.moves[j] == 0 || !r.shouldCollide(a, c.shape[j]) || !r.filters.spansOverlap(a, c.shape[j]) {
			continue
		}
		both := moves & c.moves[j]
		limit := limits.limit(both > 0)
		to[kept] = c.shape[j]
		if rank[both] < limit || met[j] < limit {
			kept++
		}
		rank[both]++
		met[j]++
	}
	return kept
}
