package neighbours

import (
	"github.com/evertick/evertick/internal/pace"
	"github.com/evertick/evertick/native"
)

// A Builder builds with several workers: each takes a range of the slots, with its own counts and cursors. So the
// points of a cell end up in the order of the slots, whichever worker takes them. The zero Builder is ready.
type Builder struct {
	level   native.Level
	g       *Grid
	x, y, z []float32
	slots   []uint32
	p       *Points
	cellOf  []uint32

	step   func(b *Builder, part int)
	parts  int
	counts [][]uint32 // by part, one entry per cell; the last part counts in p.Start
	sums   []uint32   // points in the cells of each part, then of the parts before it
	failed []bool
}

// Build does what the function Build does, with the workers of a pool. The error is that of Pool.Run; if it is not
// nil, Points are unspecified.
func (b *Builder) Build(pool *native.Pool, level native.Level, g *Grid, x, y, z []float32, slots []uint32, p *Points, cellOf []uint32) error {
	checkBuild(g, x, y, z, slots, p, cellOf)
	b.level, b.g, b.x, b.y, b.z, b.slots, b.p, b.cellOf = must(level), g, x, y, z, slots, p, cellOf
	defer b.release()
	b.begin(pool.Workers())
	for _, step := range [...]func(*Builder, int){(*Builder).number, (*Builder).sum, (*Builder).accumulate, (*Builder).scatter, (*Builder).transpose} {
		pace.Name(step)
		b.step = step
		if err := pool.Run(b.parts, b); err != nil {
			return err
		}
		for _, failed := range b.failed {
			if failed {
				panic(badSlots)
			}
		}
	}
	p.Start[0] = 0
	return nil
}

func (b *Builder) begin(parts int) {
	b.parts = parts
	if len(b.counts) != parts {
		b.counts, b.sums, b.failed = make([][]uint32, parts), make([]uint32, parts), make([]bool, parts)
	}
	cells := len(b.p.Start) - 1
	for i := range parts - 1 {
		if cap(b.counts[i]) < cells {
			b.counts[i] = make([]uint32, cells+cells/4)
		}
		b.counts[i] = b.counts[i][:cells]
	}
	b.counts[parts-1] = b.p.Start[1:]
	clear(b.failed)
}

// release drops the references to the caller's arrays.
func (b *Builder) release() {
	b.g, b.x, b.y, b.z, b.slots, b.p, b.cellOf, b.step = nil, nil, nil, nil, nil, nil, nil, nil
	b.counts[b.parts-1] = nil
}

// Do runs the current step for a part; it implements Task.
func (b *Builder) Do(_, part int) { b.step(b, part) }

// share returns the range of n that a part takes.
func (b *Builder) share(n, part int) (from, to int) {
	return n * part / b.parts, n * (part + 1) / b.parts
}

func (b *Builder) number(part int) {
	from, to := b.share(len(b.slots), part)
	slots, counts, cellOf := b.slots[from:to], b.counts[part], b.cellOf[from:to]
	ok := from == 0 || from == to || b.slots[from-1] < b.slots[from]
	switch {
	case len(slots) == 0:
		clear(counts)
	case b.level == native.Go:
		clear(counts)
		ok = number(b.g, b.x, b.y, b.z, slots, counts, cellOf) && ok
	default:
		ok = numberC(b.level, b.g, b.x, b.y, b.z, slots, counts, cellOf) && ok
	}
	b.failed[part] = !ok
}

// sum counts the points in a share of the cells.
func (b *Builder) sum(part int) {
	from, to := b.share(len(b.p.Start)-1, part)
	sum := uint32(0)
	for _, counts := range b.counts {
		for _, n := range counts[from:to] {
			sum += n
		}
	}
	b.sums[part] = sum
}

// accumulate turns the counts of a share of the cells into cursors: within a cell the points of a part follow those
// of the parts before it.
func (b *Builder) accumulate(part int) {
	from, to := b.share(len(b.p.Start)-1, part)
	sum := uint32(0)
	for _, n := range b.sums[:part] {
		sum += n
	}
	for c := from; c < to; c++ {
		for _, counts := range b.counts {
			n := counts[c]
			counts[c] = sum
			sum += n
		}
	}
}

func (b *Builder) scatter(part int) {
	from, to := b.share(len(b.slots), part)
	slots, cursors, cellOf := b.slots[from:to], b.counts[part], b.cellOf[from:to]
	switch {
	case len(slots) == 0:
	case b.level == native.Go:
		scatter(b.x, b.y, b.z, slots, cursors, cellOf, b.p.Blocks)
	default:
		scatterC(b.level, b.x, b.y, b.z, slots, cursors, cellOf, b.p.Blocks)
	}
}

func (b *Builder) transpose(part int) {
	from, to := b.share(len(b.p.Blocks), part)
	switch {
	case b.level != native.Go:
		if from < to {
			transposeC(b.level, b.p.Blocks, from, to, len(b.slots))
		}
	case part == b.parts-1:
		b.p.clearRest(len(b.slots))
	}
}
