package rigid

// Crowded makes a Broad search as where everything is in one place.
func (b *Broad) Crowded(boxes *Boxes, filters *Filters, out *Pairs) {
	b.known.update(boxes, filters, 0)
	b.crowd.search(0, boxes, &b.known, out)
}
