package rigid

import "github.com/evertick/evertick/native"

// chunk is some shapes on their way to a sorted.
type chunk struct {
	ids   []uint32 // those that can overlap others
	sum   summary
	sizes sizes            // if they matter
	at    uint32           // the first of their keys
	next  [maxParts]uint32 // keys by part, then where the next one goes
}

// part is keys that are sorted by themselves: those with the same highest bits.
type part struct {
	from, to uint32 // places
	rows     int    // that begin in it, then those before
	layers   [maxLayers]layer
}

// builder sorts boxes, in parts that several workers can do.
type builder struct {
	share func(parts int, f func(part int)) // BroadPhase.Share
	grain int                               // shapes of a part; 0: as cut says
	level native.Level
	boxes *Boxes

	s     *sorted  // that is being built
	which []uint64 // shapes in it
	steps buildSteps
}

// buildSteps are methods of a builder, bound once, that do a part each.
type buildSteps struct{ measure, sizes, keys, spread, sort, place func(part int) }

func (b *builder) begin(level native.Level, boxes *Boxes, share func(parts int, f func(part int))) {
	if b.steps.measure == nil {
		b.steps = buildSteps{b.measurePart, b.sizesPart, b.keysPart, b.spreadPart, b.sortPart, b.placePart}
	}
	b.level, b.boxes, b.share = level, boxes, share
}

// each does all parts of a task.
func (b *builder) each(parts int, task func(part int)) {
	if b.share != nil && parts > 1 {
		b.share(parts, task)
		return
	}
	for i := range parts {
		task(i)
	}
}

const (
	// splitFrom is the number of shapes from which on there are parts: fewer are done before
	// another worker has come.
	splitFrom = 2048

	// partShapes is the number of shapes of a part where it can be chosen, a multiple of 64.
	partShapes = 1024

	// maxParts bounds the number of parts by rows, and by shapes.
	maxParts = 32
)

// cut returns how many of n shapes make a part.
func (b *builder) cut(n int) int {
	switch {
	case b.grain > 0:
		return b.grain
	case n >= splitFrom && b.share != nil:
		return partShapes
	}
	return max(n, 1)
}

// split reports whether n shapes make more than one part.
func (b *builder) split(n int) bool { return n > b.cut(n) }

// build sorts the boxes of those shapes whose bit is set in which.
func (b *builder) build(s *sorted, which []uint64, directory bool) {
	b.s, b.which = s, which
	p := &s.plan
	p.boxes = b.boxes
	b.chunks(p, s)
	b.each(len(p.chunks), b.steps.measure)
	p.sumUp()
	s.layers, s.directory = s.store[:0], s.directory[:0]
	if p.sum.N == 0 {
		return
	}
	s.reserve(int(p.sum.N))
	if !p.even() {
		b.each(len(p.chunks), b.steps.sizes)
	}
	s.layers = p.layers(s.store[:])
	b.parts(p)
	b.each(len(p.chunks), b.steps.keys)
	if len(p.parts) > 1 {
		p.lay()
		b.each(len(p.chunks), b.steps.spread)
		s.keys, s.tmp = s.tmp, s.keys
	}
	b.each(len(p.parts), b.steps.sort)
	if sortPasses(p.partShift-shapeBits)%2 != 0 {
		s.keys, s.tmp = s.tmp, s.keys
	}
	s.countRows()
	b.each(len(p.parts), b.steps.place)
	s.join()
	if directory {
		s.direct()
	}
}

// chunks cuts the shapes.
func (b *builder) chunks(p *plan, s *sorted) {
	n := len(b.boxes.MinX)
	size := b.cut(n)
	count := (n + size - 1) / size
	s.ids = resized(s.ids, n+count*padding)
	p.chunks = extended(p.chunks, count)
	for k := range p.chunks {
		from := k * size
		p.chunks[k].ids = s.ids[from+k*padding : min(from+size, n)+(k+1)*padding]
	}
}

// extended is resized for elements that keep room of their own.
func extended[T any](s []T, n int) []T {
	if cap(s) < n {
		s = append(s[:cap(s)], make([]T, n-cap(s))...)
	}
	return s[:n]
}

func (b *builder) measurePart(k int) {
	c, lo := &b.s.plan.chunks[k], k*b.cut(len(b.boxes.MinX))
	measure(b.level, b.boxes, b.which, lo, min(lo+b.cut(len(b.boxes.MinX)), len(b.boxes.MinX)), c.ids, &c.sum)
	c.ids = c.ids[:c.sum.N]
}

// sumUp adds the chunks up.
func (p *plan) sumUp() {
	p.sum = nothing
	s := &p.sum
	for k := range p.chunks {
		c := &p.chunks[k]
		c.at = s.N
		s.N += c.sum.N
		s.MinX, s.MinY = min(c.sum.MinX, s.MinX), min(c.sum.MinY, s.MinY)
		s.MaxX, s.MaxY = max(c.sum.MaxX, s.MaxX), max(c.sum.MaxY, s.MaxY)
		s.Width, s.Height = max(c.sum.Width, s.Width), max(c.sum.Height, s.Height)
		s.SmallestSize, s.LargestSize = min(c.sum.SmallestSize, s.SmallestSize), max(c.sum.LargestSize, s.LargestSize)
	}
}

func (b *builder) sizesPart(k int) {
	c := &b.s.plan.chunks[k]
	c.sizes = sizes{}
	c.sizes.add(b.boxes, c.ids)
}

// parts chooses how many highest bits of the keys make a part.
func (b *builder) parts(p *plan) {
	count := 1
	p.partShift = shapeBits + p.bits
	for b.split(len(b.boxes.MinX)) && count < maxParts && p.partShift > shapeBits {
		count *= 2
		p.partShift--
	}
	p.parts = extended(p.parts, count)
	p.parts[0].from, p.parts[0].to = 0, p.sum.N
}

func (b *builder) keysPart(k int) {
	s := b.s
	p := &s.plan
	c := &p.chunks[k]
	to := s.keys[c.at:][:c.sum.N]
	keys(b.level, p, c.ids, s.layers, to)
	if len(p.parts) > 1 {
		c.next = [maxParts]uint32{}
		countKeys(b.level, to, p.partShift, &c.next)
	}
}

// countKeysGo counts keys by part.
func countKeysGo(keys []uint64, shift uint, counts *[maxParts]uint32) {
	for _, key := range keys {
		counts[key>>shift%maxParts]++
	}
}

// lay finds the places of the parts, and in these of the keys of each chunk.
func (p *plan) lay() {
	at := uint32(0)
	for i := range p.parts {
		p.parts[i].from = at
		for k := range p.chunks {
			next := &p.chunks[k].next[i]
			*next, at = at, at+*next
		}
		p.parts[i].to = at
	}
}

// spreadPart puts the keys of a chunk into their parts.
func (b *builder) spreadPart(k int) {
	s := b.s
	c := &s.plan.chunks[k]
	spread(b.level, s.keys[c.at:][:c.sum.N], s.plan.partShift, &c.next, s.tmp)
}

// spreadGo puts each key where the next one of its part goes.
func spreadGo(keys []uint64, shift uint, next *[maxParts]uint32, to []uint64) {
	for _, key := range keys {
		at := &next[key>>shift%maxParts]
		to[*at] = key
		*at++
	}
}

func (b *builder) sortPart(i int) {
	s := b.s
	p := &s.plan
	part := &p.parts[i]
	sorted := sortKeys(b.level, s.keys[part.from:part.to], s.tmp[part.from:part.to], p.partShift-shapeBits)
	if part.rows = 0; len(p.parts) > 1 {
		part.rows = countRows(b.level, sorted, shapeBits+p.columnBits)
	}
}

// countRowsGo returns the number of rows of keys.
func countRowsGo(keys []uint64, shift uint) (rows int) {
	before := ^uint64(0)
	for _, key := range keys {
		if key >>= shift; key != before {
			rows++
		}
		before = key
	}
	return rows
}

// countRows finds the number of rows before each part. One may end in the part where
// another one begins with it.
func (s *sorted) countRows() {
	shift, rows := shapeBits+s.plan.columnBits, 0
	for i := range s.plan.parts {
		part := &s.plan.parts[i]
		if from := part.from; from > 0 && from < part.to && s.keys[from-1]>>shift == s.keys[from]>>shift {
			part.rows--
		}
		part.rows, rows = rows, rows+part.rows
	}
}

func (b *builder) placePart(i int) {
	s := b.s
	part := &s.plan.parts[i]
	for k := range s.layers {
		part.layers[k] = s.layers[k]
	}
	if part.from < part.to {
		part.rows = place(b.level, b.boxes, &s.plan, s, int(part.from), int(part.to), part.rows, part.layers[:])
	}
}

// join makes the layers of those of the parts.
func (s *sorted) join() {
	parts := s.plan.parts
	for k := range s.layers {
		l := &s.layers[k]
		for i := range parts {
			o := &parts[i].layers[k]
			switch {
			case o.Last == 0:
			case l.Last == 0:
				*l = *o
			default:
				l.Last, l.RowLast = o.Last, o.RowLast
				l.SpanX, l.SpanY = max(l.SpanX, o.SpanX), max(l.SpanY, o.SpanY)
			}
		}
	}
	s.rowStart[parts[len(parts)-1].rows] = s.plan.sum.N
}
