package broad

import (
	"github.com/evertick/evertick/internal/buffer"
	"github.com/evertick/evertick/native"
)

// shapeChunk is a chunk of the shapes that are sorted into a grid.
type shapeChunk struct {
	ids   []uint32 // of boxes that can overlap others
	sum   summary
	sizes sizes            // unless one layer is enough
	at    uint32           // position of their first key
	next  [maxParts]uint32 // number of keys by part, then the position of the next one
}

// keyPart is a range of keys with equal highest bits, sorted on its own.
type keyPart struct {
	from, to uint32 // positions
	rows     int    // rows that begin in it, then rows before it
	layers   [maxLayers]layer
}

// gridBuilder sorts boxes into a grid, in parts that several workers can share.
type gridBuilder struct {
	share   func(parts int, f func(part int)) // Phase.ParallelFor
	grain   int                               // shapes of a part; 0: see partSize
	kernels *kernels
	boxes   *Boxes
	spans   *Filters // that have the intervals; nil: none

	s       *Grid    // under construction
	members []uint64 // shapes in it
	steps   buildSteps
}

// buildSteps are methods of a gridBuilder that do one part each, bound once.
type buildSteps struct{ measure, sizes, keys, scatter, sort, fill func(part int) }

// begin prepares a call. The intervals of filters, which may be nil, become part of the grids.
func (b *gridBuilder) begin(level native.Level, boxes *Boxes, filters *Filters, share func(parts int, f func(part int))) {
	if b.steps.measure == nil {
		b.steps = buildSteps{b.measurePart, b.sizesPart, b.keysPart, b.scatterPart, b.sortPart, b.fillPart}
	}
	b.kernels, b.boxes, b.spans, b.share = kernelsFor(level, len(boxes.MinX)), boxes, nil, share
	if filters != nil && filters.Spanned() {
		b.spans = filters
	}
}

// each runs a task for all parts.
func (b *gridBuilder) each(parts int, task func(part int)) {
	if b.share != nil && parts > 1 {
		b.share(parts, task)
		return
	}
	for i := range parts {
		task(i)
	}
}

const (
	// splitFrom is the number of shapes from which on the work is split: pairs of fewer are found in the time of some barriers.
	splitFrom = 1024

	// partShapes is the usual number of shapes of a part, a multiple of 64. Few shapes are split into smaller parts,
	// so that two workers do about the same.
	partShapes  = 1024
	smallPart   = 512
	smallPartTo = 8192
	leastPart   = 256
	leastPartTo = 2048

	// maxParts is the largest number of parts, by keys and by shapes.
	maxParts = 32
)

// partSize returns how many of n shapes make a part.
func (b *gridBuilder) partSize(n int) int {
	switch {
	case b.grain > 0:
		return b.grain
	case n < splitFrom || b.share == nil:
		return max(n, 1)
	case n < leastPartTo:
		return leastPart
	case n < smallPartTo:
		return smallPart
	}
	return partShapes
}

// inParts reports whether n shapes make more than one part.
func (b *gridBuilder) inParts(n int) bool { return n > b.partSize(n) }

// build sorts the boxes of the shapes whose bit is set in members into s.
func (b *gridBuilder) build(s *Grid, members []uint64, directory bool) {
	b.s, b.members = s, members
	p := &s.plan
	p.boxes, p.spans, s.spanned = b.boxes, b.spans, b.spans != nil
	b.makeChunks(p, s)
	b.each(len(p.chunks), b.steps.measure)
	p.addUp()
	s.layers, s.directory = s.store[:0], s.directory[:0]
	if p.sum.N == 0 {
		return
	}
	s.reserve(int(p.sum.N))
	if !p.oneLayer() {
		b.each(len(p.chunks), b.steps.sizes)
	}
	s.layers = p.makeLayers(s.store[:])
	b.chooseParts(p)
	b.each(len(p.chunks), b.steps.keys)
	if len(p.parts) > 1 {
		p.partOffsets()
		b.each(len(p.chunks), b.steps.scatter)
		s.keys, s.tmp = s.tmp, s.keys
	}
	b.each(len(p.parts), b.steps.sort)
	if sortPasses(p.partShift-ShapeBits)%2 != 0 {
		s.keys, s.tmp = s.tmp, s.keys
	}
	s.countRows()
	b.each(len(p.parts), b.steps.fill)
	s.mergeLayers()
	if directory {
		s.buildDirectory()
	}
}

// makeChunks splits the shapes into chunks.
func (b *gridBuilder) makeChunks(p *gridPlan, s *Grid) {
	n := len(b.boxes.MinX)
	size := b.partSize(n)
	count := (n + size - 1) / size
	s.ids = buffer.Resized(s.ids, n+count*padding)
	p.chunks = buffer.Extended(p.chunks, count)
	for k := range p.chunks {
		from := k * size
		p.chunks[k].ids = s.ids[from+k*padding : min(from+size, n)+(k+1)*padding]
	}
}

func (b *gridBuilder) measurePart(k int) {
	c, lo := &b.s.plan.chunks[k], k*b.partSize(len(b.boxes.MinX))
	b.kernels.measure(b.boxes, b.members, lo, min(lo+b.partSize(len(b.boxes.MinX)), len(b.boxes.MinX)), c.ids, &c.sum)
	c.ids = c.ids[:c.sum.N]
}

// addUp sums up the chunks.
func (p *gridPlan) addUp() {
	p.sum = noBoxes
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

func (b *gridBuilder) sizesPart(k int) {
	c := &b.s.plan.chunks[k]
	c.sizes = sizes{}
	c.sizes.add(b.boxes, c.ids)
}

// chooseParts chooses how many highest bits of a key number its part.
func (b *gridBuilder) chooseParts(p *gridPlan) {
	count := 1
	p.partShift = ShapeBits + p.bits
	for b.inParts(len(b.boxes.MinX)) && count < maxParts && p.partShift > ShapeBits {
		count *= 2
		p.partShift--
	}
	p.parts = buffer.Extended(p.parts, count)
	p.parts[0].from, p.parts[0].to = 0, p.sum.N
}

func (b *gridBuilder) keysPart(k int) {
	s := b.s
	p := &s.plan
	c := &p.chunks[k]
	to := s.keys[c.at:][:c.sum.N]
	b.kernels.makeKeys(p, c.ids, s.layers, to)
	if len(p.parts) > 1 {
		c.next = [maxParts]uint32{}
		b.kernels.countKeys(to, p.partShift, &c.next)
	}
}

// countKeysGo counts keys by part.
func countKeysGo(keys []uint64, shift uint, counts *[maxParts]uint32) {
	for _, key := range keys {
		counts[key>>shift%maxParts]++
	}
}

// partOffsets computes where each part begins, and in it the keys of each chunk.
func (p *gridPlan) partOffsets() {
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

// scatterPart moves the keys of a chunk into their parts.
func (b *gridBuilder) scatterPart(k int) {
	s := b.s
	c := &s.plan.chunks[k]
	b.kernels.scatterKeys(s.keys[c.at:][:c.sum.N], s.plan.partShift, &c.next, s.tmp)
}

// scatterKeysGo moves each key to the next position of its part.
func scatterKeysGo(keys []uint64, shift uint, next *[maxParts]uint32, to []uint64) {
	for _, key := range keys {
		at := &next[key>>shift%maxParts]
		to[*at] = key
		*at++
	}
}

func (b *gridBuilder) sortPart(i int) {
	s := b.s
	p := &s.plan
	part := &p.parts[i]
	sorted, _ := b.kernels.sortKeys(s.keys[part.from:part.to], s.tmp[part.from:part.to], p.partShift-ShapeBits)
	if part.rows = 0; len(p.parts) > 1 {
		part.rows = b.kernels.countRows(sorted, ShapeBits+p.columnBits)
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

// countRows counts the rows before each part. A row that begins in the part before is not counted again.
func (s *Grid) countRows() {
	shift, rows := ShapeBits+s.plan.columnBits, 0
	for i := range s.plan.parts {
		part := &s.plan.parts[i]
		if from := part.from; from > 0 && from < part.to && s.keys[from-1]>>shift == s.keys[from]>>shift {
			part.rows--
		}
		part.rows, rows = rows, rows+part.rows
	}
}

func (b *gridBuilder) fillPart(i int) {
	s := b.s
	part := &s.plan.parts[i]
	copy(part.layers[:], s.layers)
	if part.from < part.to {
		part.rows = b.kernels.fillRows(b.boxes, &s.plan, s, int(part.from), int(part.to), part.rows, part.layers[:])
	}
}

// mergeLayers merges the layers of the parts.
func (s *Grid) mergeLayers() {
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
				l.Last, l.LastRow = o.Last, o.LastRow
				l.SpanX, l.SpanY = max(l.SpanX, o.SpanX), max(l.SpanY, o.SpanY)
			}
		}
	}
	s.rowStart[parts[len(parts)-1].rows] = s.plan.sum.N
}
