package graph

import (
	"math/bits"
	"sync/atomic"

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

	shared  []uint64 // a bit for each body
	bounds  []int32  // by region, then by colour: see Segments
	classes int
	counts  []uint32 // by chunk, then by run, then by region, then whether in the border: edges, then the lane of the next one
	links   []uint64 // by chunk, then by region
}

const (
	// An entry of a region has it from this bit on, twice, and one more if it is in the border.
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

// ReserveRegions makes room for MarkRegions and CountRegions.
func (c *Colours) ReserveRegions(r *Regions) {
	chunks := len(c.kept)
	r.classes = c.classes
	r.counts = buffer.Resized(r.counts, chunks*int(c.overflowRun())*2*r.Count)
	r.links = buffer.Resized(r.links, chunks*r.Count)
	r.shared = buffer.Resized(r.shared, (len(c.bodyColours)+63)/64)
	clear(r.shared)
	r.bounds = buffer.Resized(r.bounds, r.Count*NumColours*(c.classes+2))
}

// MarkRegions finds the regions of edges [lo, hi), with bounds as those of AssignRange, which comes before it, and which bodies are shared. Chunks
// can be marked in any order, and at the same time.
func (c *Colours) MarkRegions(r *Regions, lo, hi int) {
	bodies, e := c.bodyColours, &c.Edges
	for ; lo < hi; lo += Chunk {
		k := lo / Chunk
		links := r.links[k*r.Count:][:r.Count]
		clear(links)
		entries := c.entries[lo : lo+c.kept[k]]
		for at, entry := range entries {
			i := lo + int(entry&(1<<runBit-1))
			a, b := e.A[i], e.B[i]
			of, ofB := r.Of[a], r.Of[b]
			if of != ofB {
				links[of] |= 1 << ofB
				links[ofB] |= 1 << of
				if !bodies.isDynamic(a) {
					of = ofB
				} else if bodies.isDynamic(b) {
					atomic.OrUint64(&r.shared[b/64], 1<<(b%64))
				}
			}
			entries[at] = entry&(1<<regionBit-1) | uint32(of)<<(regionBit+1)
		}
	}
}

// UnmarkRegions undoes MarkRegions of all edges, for LayOut and Fill.
func (c *Colours) UnmarkRegions() {
	for k, kept := range c.kept {
		entries := c.entries[k*Chunk:][:kept]
		for at := range entries {
			entries[at] &= 1<<regionBit - 1
		}
	}
}

// CountRegions counts edges [lo, hi) by region, after MarkRegions of all edges. Chunks can be counted in any order.
func (c *Colours) CountRegions(r *Regions, lo, hi int) {
	runs, e, shared := int(c.overflowRun()), &c.Edges, r.shared
	for ; lo < hi; lo += Chunk {
		k := lo / Chunk
		counts := r.counts[k*runs*2*r.Count:][:runs*2*r.Count]
		clear(counts)
		entries := c.entries[lo : lo+c.kept[k]]
		for at, entry := range entries {
			i := lo + int(entry&(1<<runBit-1))
			a, b := e.A[i], e.B[i]
			entry |= uint32((shared[a/64]>>(a%64)|shared[b/64]>>(b%64))&1) << regionBit
			entries[at] = entry
			counts[runOf(entry)*2*r.Count+int(entry>>regionBit)]++
		}
	}
}

// runOf returns the run of an entry that has a region.
func runOf(entry uint32) int { return int(entry >> runBit & (1<<(regionBit-runBit) - 1)) }

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
		for colour := range Overflow {
			start[colour] = block
			block = c.layOutRegion(r, region, colour, block)
		}
		start[Overflow], start[NumColours] = block, block
		block += regionGap
	}
	c.Start = [NumColours + 1]int{}
	c.Start[NumColours] = block - regionGap
	c.Edge = c.Edge[:c.Blocks()*Lanes]
	r.link(len(c.kept))
}

// layOutRegion lays out the blocks of a colour in a region from a block on, and returns the block after them.
func (c *Colours) layOutRegion(r *Regions, region, colour, block int) int {
	bounds := r.Segments(region, colour)
	bounds[0] = int32(block)
	for class := range c.classes {
		run := colour*c.classes + class
		first := uint32(block * Lanes)
		last, between := first, first
		if c.count[run] > 0 {
			between = c.assignLanes(r, run, 2*region+class%2, first)
			last = c.assignLanes(r, run, 2*region+1-class%2, between)
			block = int(last+Lanes-1) / Lanes
			c.clearLanes(last, uint32(block*Lanes))
		}
		if class%2 == 1 { // the border comes first
			between += Lanes - 1
		} else if between == last {
			between = uint32(block * Lanes)
		}
		bounds[class+1] = int32(between / Lanes)
	}
	bounds[c.classes+1] = int32(block)
	return block
}

// assignLanes gives the edges of a run, in a region and in its border or not, the lanes from one on, and returns the lane after them.
func (c *Colours) assignLanes(r *Regions, run, where int, lane uint32) uint32 {
	for k := range c.kept {
		n := &r.counts[(k*int(c.overflowRun())+run)*2*r.Count+where]
		lane, *n = lane+*n, lane
	}
	return lane
}

// Segments returns bounds of the blocks of a colour in a region: those from the first bound to the second have no edge of the border, those from
// the second to the third may have some, and so on by turns.
func (r *Regions) Segments(region, colour int) []int32 {
	n := r.classes + 2
	return r.bounds[(region*NumColours+colour)*n:][:n]
}

// FillRegions puts edges [lo, hi), with bounds as those of AssignRange, into their lanes. Chunks can be filled in any order.
func (c *Colours) FillRegions(r *Regions, lo, hi int) {
	runs := int(c.overflowRun())
	for ; lo < hi; lo += Chunk {
		k := lo / Chunk
		next := r.counts[k*runs*2*r.Count:][:runs*2*r.Count]
		for _, entry := range c.entries[lo : lo+c.kept[k]] {
			at := &next[runOf(entry)*2*r.Count+int(entry>>regionBit)]
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
