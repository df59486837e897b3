package graph

import (
	"math/bits"

	"github.com/evertick/evertick/internal/buffer"
)

const (
	// Lanes is the number of edges in a block.
	Lanes = 16

	// NumColours is the number of colours.
	NumColours = 64

	// Edges between two dynamic bodies get the first colours, those with a body that is not dynamic the next. The latter
	// are solved last, so that bodies which cannot move prevail.
	firstFixed = 32

	// Overflow is the colour of the edges for which no other is free. Its blocks may share bodies and are solved
	// one after the other; see overflowRounds.
	Overflow = NumColours - 1

	// NoEdge marks a lane without an edge.
	NoEdge = ^uint32(0)

	// Sets of colours: of edges between dynamic bodies, of other edges, and Overflow.
	movingColours uint64 = 1<<firstFixed - 1
	fixedColours  uint64 = 1<<Overflow - 1 - movingColours
	overflow      uint64 = 1 << Overflow
)

// Edges are columns: edge i joins the bodies A[i] and B[i]. Class[i] is 0 for an edge that needs no colour. Edges of
// different classes get different blocks, such as contacts with two points and with one, which would otherwise be
// solved as if they had two.
type Edges struct {
	A, B  []uint32
	Class []uint8
}

// Colours assigns edges to the lanes of blocks by graph colouring: no two edges of one colour, other than
// Overflow, share a dynamic body. So blocks of one colour can be solved in any order and at the same time. The
// zero Colours is ready for use: Reset, set Edges, and Assign. It keeps its buffers.
//
// Workers can share Assign: it consists of AssignRange of all edges in ascending order, LayOut, and Fill of all edges in
// any order.
type Colours struct {
	// Edges are set by the owner after each Reset, before they are assigned.
	Edges Edges

	// InOrder says that the edges of Overflow are solved in their order, whatever their classes. Otherwise one class
	// follows another, from the highest down, and edges with a body that is not dynamic have blocks of their own.
	InOrder bool

	// Start has the first block of each colour: colour c has blocks Start[c] to Start[c+1]-1.
	Start [NumColours + 1]int

	// Edge has the edge of each lane, Lanes per block, or NoEdge after the last one.
	Edge []uint32

	bodyColours bodyColours
	classes     int
	entries     []uint32 // by chunk, from its first edge on: the edges that have a run, with the run
	counts      []uint32 // by chunk, then by run: its edges in the chunk; LayOut replaces it by the lane of the first
	kept        []int    // by chunk: its number of entries
	count       []uint32 // by run: its edges
	first       []uint32 // by run: its first lane
	overflow    overflowRounds
}

// Chunk is the number of edges that Fill places together.
const Chunk = 1024

// An entry holds the index of an edge in its chunk and, from this bit on, its run: the edges of a colour and a class.
// Each run begins a new block. Higher classes come first. What is above regionBit is the region, where there are any.
const runBit = 10

var _ [1 << runBit]byte = [Chunk]byte{}

// Blocks is the number of blocks of all colours.
func (c *Colours) Blocks() int { return c.Start[NumColours] }

// Reset removes all colours and makes room for a number of edges, of classes 0 to classes, which is less than 256.
// invMass is the inverse mass of each body, 0 for bodies that are not dynamic.
func (c *Colours) Reset(edges, classes int, invMass []float32) {
	chunks, e := (edges+Chunk-1)/Chunk, &c.Edges
	c.classes = classes
	e.A, e.B, e.Class = buffer.Resized(e.A, edges), buffer.Resized(e.B, edges), buffer.Resized(e.Class, edges)
	c.bodyColours.reset(invMass)
	c.entries, c.kept = buffer.Resized(c.entries, edges), buffer.Resized(c.kept, chunks)
	c.counts = buffer.Resized(c.counts, chunks*c.runs())
}

func (c *Colours) runs() int { return NumColours * c.classes }

// overflowRun is the first run of Overflow.
func (c *Colours) overflowRun() uint32 { return uint32(Overflow * c.classes) }

// SameDynamics reports whether the dynamic bodies are those of the last Reset.
func (c *Colours) SameDynamics(invMass []float32) bool { return c.bodyColours.matches(invMass) }

// Assign gives a colour to each edge that has a class and a dynamic body: the lowest colour that neither dynamic body
// has yet, in the order of the edges. Its time is proportional to the number of edges and bodies.
func (c *Colours) Assign() {
	n := len(c.Edges.Class)
	c.AssignRange(0, n)
	c.LayOut()
	c.Fill(0, n)
}

// AssignRange chooses the runs of edges [lo, hi), after those before lo. lo is a multiple of Chunk, and hi one or the
// number of edges.
func (c *Colours) AssignRange(lo, hi int) {
	e := &c.Edges
	for ; lo < hi; lo += Chunk {
		end, k := min(lo+Chunk, hi), lo/Chunk
		part := Edges{e.A[lo:end], e.B[lo:end], e.Class[lo:end]}
		c.kept[k] = c.bodyColours.assignAll(&part, uint32(c.classes), c.entries[lo:end], c.countsOf(k))
	}
}

// countsOf returns the numbers of edges of chunk k by run.
func (c *Colours) countsOf(k int) []uint32 { return c.counts[k*c.runs():][:c.runs()] }

// Fill puts edges [lo, hi), with bounds as those of AssignRange, into their lanes. Chunks can be filled in any order.
func (c *Colours) Fill(lo, hi int) {
	end := c.overflowRun()
	for ; lo < hi; lo += Chunk {
		k := lo / Chunk
		next := c.countsOf(k)
		for _, entry := range c.entries[lo : lo+c.kept[k]] {
			if run := entry >> runBit; run < end {
				c.Edge[next[run]] = uint32(lo) + entry&(1<<runBit-1)
				next[run]++
			}
		}
	}
}

// LayOut sets Start, makes room for the lanes, and fills those of Overflow.
func (c *Colours) LayOut() {
	c.countRuns()
	first, blocks := c.overflowRun(), 0
	c.overflow.clear()
	for _, n := range c.count[first:] {
		if n > 0 {
			c.overflow.add(c)
			break
		}
	}
	for run, n := range c.count[:first] {
		if run%c.classes == 0 {
			c.Start[run/c.classes] = blocks
		}
		c.first[run] = uint32(blocks * Lanes)
		blocks += (int(n) + Lanes - 1) / Lanes
	}
	c.Start[Overflow] = blocks
	c.Start[NumColours] = blocks + c.overflow.blocks()
	c.Edge = buffer.Resized(c.Edge, c.Blocks()*Lanes)
	for run, n := range c.count[:first] {
		c.clearLanes(c.first[run]+n, c.first[run]+(n+Lanes-1)/Lanes*Lanes)
	}
	c.clearLanes(uint32(blocks*Lanes), uint32(len(c.Edge)))
	c.overflow.fill(c.Edge[blocks*Lanes:])
	for k := range c.kept {
		for run, lane := range c.first[:first] {
			c.counts[k*len(c.first)+run] += lane
		}
	}
}

// countRuns counts the edges of each run, in all chunks and before each chunk.
func (c *Colours) countRuns() {
	c.count, c.first = buffer.Resized(c.count, c.runs()), buffer.Resized(c.first, c.runs())
	clear(c.count)
	for k := range c.kept {
		counts := c.countsOf(k)
		for run, n := range counts {
			counts[run] = c.count[run]
			c.count[run] += n
		}
	}
}

// clearLanes empties lanes.
func (c *Colours) clearLanes(lo, hi uint32) {
	for i := range c.Edge[lo:hi] {
		c.Edge[int(lo)+i] = NoEdge
	}
}

// bodyColours holds for each body the set of colours that it can still get. A dynamic body can always get Overflow,
// another never.
type bodyColours []uint64

// reset makes all colours free for each body.
func (p *bodyColours) reset(invMass []float32) {
	*p = buffer.Resized(*p, len(invMass))
	for i, m := range invMass {
		(*p)[i] = fixedColours
		if m > 0 {
			(*p)[i] = movingColours | fixedColours | overflow
		}
	}
}

// matches reports whether the bodies with mass are those of the last reset.
func (p bodyColours) matches(invMass []float32) bool {
	if len(p) != len(invMass) {
		return false
	}
	for i, m := range invMass {
		if (m > 0) != p.isDynamic(uint32(i)) {
			return false
		}
	}
	return true
}

func (p bodyColours) isDynamic(body uint32) bool { return p[body]&overflow != 0 }

// assignAll gives each edge that has a class and a dynamic body the lowest colour that both bodies can still get. It
// writes the entries of these edges, counts them by run, and returns their number.
func (p bodyColours) assignAll(e *Edges, classes uint32, entries, count []uint32) (kept int) {
	clear(count)
	classed := 0
	for i, class := range e.Class {
		entries[classed] = uint32(i)
		if class > 0 {
			classed++
		}
	}
	as, bs := e.A[:len(e.Class)], e.B[:len(e.Class)]
	for _, i := range entries[:classed] {
		a, b := as[i], bs[i]
		freeA, freeB := p[a], p[b]
		colour := freeA & freeB
		if colour&overflow != 0 {
			colour &= movingColours | overflow
			colour &= -colour // the lowest
			p[a], p[b] = freeA&^colour|overflow, freeB&^colour|overflow
		} else if colour = p.assignFixed(a, b); colour == 0 {
			continue
		}
		run := uint32(bits.TrailingZeros64(colour))*classes + classes - uint32(e.Class[i])
		entries[kept] = i | run<<runBit
		kept++
		count[run]++
	}
	return kept
}

// assignFixed gives a colour to the edge between a dynamic body and another one, and returns the set of that colour, or
// 0 if neither is dynamic.
func (p bodyColours) assignFixed(a, b uint32) (colour uint64) {
	moving := a
	if !p.isDynamic(a) {
		moving = b
	}
	if !p.isDynamic(moving) {
		return 0
	}
	colour = p[moving]&fixedColours | overflow
	colour &= -colour
	p[moving] = p[moving]&^colour | overflow
	return colour
}
