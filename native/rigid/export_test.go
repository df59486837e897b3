package rigid

import "github.com/evertick/evertick/native"

// Crowded makes a Broad search as where everything is in one place.
func (b *Broad) Crowded(level native.Level, boxes *Boxes, filters *Filters, out *Pairs) {
	b.known.update(boxes, filters, 0)
	b.crowd.search(level, boxes, &b.known, out)
}
