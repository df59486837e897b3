package broad

import "math"

var inf = float32(math.Inf(1))

// Boxes are axis-aligned, one per shape. A box with a Min above its Max overlaps nothing.
type Boxes struct {
	MinX, MinY, MaxX, MaxY []float32
}

// Len is the length of the columns. It panics if they differ.
func (b *Boxes) Len() int {
	n := len(b.MinX)
	if len(b.MinY) != n || len(b.MaxX) != n || len(b.MaxY) != n {
		panic("broad: columns of Boxes differ in length")
	}
	return n
}

// Filters decide which shapes can pair, one element per shape.
type Filters struct {
	Body     []uint32 // the body of the shape
	Moves    []bool   // false: of a static body, or one asleep
	Category []uint64
	Mask     []uint64
	Group    []int32

	// The interval of each shape along the axis that the plane leaves out. Both empty: no shape has one.
	SpanMin, SpanMax []float32
}

// Pairs are shapes that may touch: A[i] < B[i], ascending by A, then B.
type Pairs struct {
	A, B []uint32
}

// Reset removes all pairs and keeps the memory.
func (p *Pairs) Reset() { p.A, p.B = p.A[:0], p.B[:0] }

// Add appends a pair.
func (p *Pairs) Add(a, b uint32) { p.A, p.B = append(p.A, a), append(p.B, b) }

// Find returns the first pair, from number from on, whose key is not below key. It doubles its steps, since that pair is
// often near and sometimes far.
func (p *Pairs) Find(from int, key uint64) int {
	as, bs := p.A, p.B[:len(p.A)]
	before := func(i int) bool { return i < len(as) && uint64(as[i])<<32|uint64(bs[i]) < key }
	step := 1
	for before(from + step - 1) {
		from += step
		step *= 2
	}
	for step > 1 {
		if step /= 2; before(from + step - 1) {
			from += step
		}
	}
	return from
}
