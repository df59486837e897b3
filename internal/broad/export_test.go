package broad

import "github.com/evertick/evertick/native"

// Kernels are tested with any number of boxes.
func init() { fewBoxes = 0 }

// Crowded makes a Phase search by brute force.
func (b *Phase) Crowded(level native.Level, boxes *Boxes, filters *Filters, out *Pairs) {
	b.begin(level, boxes, filters, out)
	b.updateCache(boxes, filters, 0)
	b.Omitted = b.bruteForce.search(b.kernels, boxes, &b.cache, out)
}

// Grain makes a Phase work in parts of that many shapes, a multiple of 64.
func (b *Phase) Grain(shapes int) { b.grain = shapes }
