package graph

import (
	"math/bits"

	"github.com/evertick/evertick/internal/buffer"
)

// MaxRegions is the largest number of regions.
const MaxRegions = 32

// Regions lay out the lanes of Colours by region: a region is a set of bodies whose edges one worker solves. All blocks of a region are
// next to each other, by colour, and blocks that nobody uses separate it from the next one, so that what a CPU fetches ahead is not
// what another CPU writes. An edge between two regions belongs to that of its first dynamic body.
//
// The edges of one colour may be solved in any order, so the result is that of the layout of Colours. It is laid out by CountRegions of all
// edges, LayOutRegions, and FillRegions of all edges. Edges of Overflow have no regions: see HasOverflow.
type Regions struct {
	// Of has the region of each body. The owner sets it, and Count.
	Of    []uint8
	Count int

	// Start has for each region the first block of each colour, and the end of the last one.
	Start [MaxRegions][NumColours + 1]int

	// Linked has for each region the set of regions with a body that an edge joins to one of its own, and itself.
	Linked [MaxRegions]uint64

	counts []uint32 // by chunk, then by run, then by region: its edges, then the lane of the next one
	links  []uint64 // by chunk, then by region
}

const (
	// An entry of a region has it from this bit on.
	regionBit = 24

	// regionGap is the number of unused blocks between two regions: some kilobytes.
	regionGap = 4
)

// HasOverflow reports whether an edge has the colour Overflow.
func (c *Colours) HasOverflow() bool {
	first := c.overflowRun()
	for k := range c.kept {
		for _, n := range c.countsOf(k)[first:] {
			if n > 0 {
				return true
			}
		}
	}
	return false
}

// ReserveRegions makes room for CountRegions.
func (c *Colours) ReserveRegions(r *Regions) {
	chunks := len(c.kept)
	r.counts = buffer.Resized(r.counts, chunks*int(c.overflowRun())*r.Count)
	r.links = buffer.Resized(r.links, chunks*r.Count)
}

// CountRegions counts edges [lo, hi), with bounds as those of AssignRange, by region. Chunks can be counted in any order.
func (c *Colours) CountRegions(r *Regions, lo, hi int) {
	runs, bodies, e := int(c.overflowRun()), c.bodyColours, &c.Edges
	for ; lo < hi; lo += Chunk {
		k := lo / Chunk
		counts, links := r.counts[k*runs*r.Count:][:runs*r.Count], r.links[k*r.Count:][:r.Count]
		clear(counts)
		clear(links)
		entries := c.entries[lo : lo+c.kept[k]]
		for at, entry := range entries {
			i := lo + int(entry&(1<<runBit-1))
			a, b := e.A[i], e.B[i]
			ofA, ofB := r.Of[a], r.Of[b]
			of := ofA
			if !bodies.isDynamic(a) {
				of = ofB
			}
			entries[at] = entry | uint32(of)<<regionBit
			counts[int(entry>>runBit)*r.Count+int(of)]++
			links[of] |= 1<<ofA | 1<<ofB
		}
	}
}

// LayOutRegions sets Start and Linked of r, and makes room for the lanes. Of Start of c only the number of all blocks is set.
func (c *Colours) LayOutRegions(r *Regions) {
	c.countRuns()
	runs, block := int(c.overflowRun()), 0
	for _, n := range c.count[:runs] {
		if n > 0 {
			block += int(n)/Lanes + r.Count // at most
		}
	}
	c.Edge, block = buffer.Resized(c.Edge, (block+regionGap*r.Count)*Lanes), 0
	for region := range r.Count {
		start := &r.Start[region]
		for run := range runs {
			if run%c.classes == 0 {
				start[run/c.classes] = block
			}
			if c.count[run] == 0 {
				continue
			}
			lane := uint32(block * Lanes)
			for k := range c.kept {
				n := &r.counts[(k*runs+run)*r.Count+region]
				lane, *n = lane+*n, lane
			}
			block = int(lane+Lanes-1) / Lanes
			c.clearLanes(lane, uint32(block*Lanes))
		}
		start[Overflow], start[NumColours] = block, block
		block += regionGap
	}
	c.Start = [NumColours + 1]int{}
	c.Start[NumColours] = block - regionGap
	c.Edge = c.Edge[:c.Blocks()*Lanes]
	r.link(len(c.kept))
}

// FillRegions puts edges [lo, hi), with bounds as those of AssignRange, into their lanes. Chunks can be filled in any order.
func (c *Colours) FillRegions(r *Regions, lo, hi int) {
	runs := int(c.overflowRun())
	for ; lo < hi; lo += Chunk {
		k := lo / Chunk
		next := r.counts[k*runs*r.Count:][:runs*r.Count]
		for _, entry := range c.entries[lo : lo+c.kept[k]] {
			at := &next[int(entry>>runBit&(1<<(regionBit-runBit)-1))*r.Count+int(entry>>regionBit)]
			c.Edge[*at] = uint32(lo) + entry&(1<<runBit-1)
			*at++
		}
	}
}

// link sets Linked, both ways.
func (r *Regions) link(chunks int) {
	for i := range r.Count {
		r.Linked[i] = 1 << i
	}
	for k := range chunks {
		for i, set := range r.links[k*r.Count:][:r.Count] {
			r.Linked[i] |= set
		}
	}
	for i := range r.Count {
		for set := r.Linked[i]; set != 0; set &= set - 1 {
			r.Linked[bits.TrailingZeros64(set)] |= 1 << i
		}
	}
}
