package rigid

import (
	"math/bits"
	"unsafe"
)

const (
	// NumColours is the number of colours of contacts.
	NumColours = 64

	// Contacts between two dynamic bodies get the first colours, those with a body that is not dynamic the
	// next. The latter are solved last, so that bodies which cannot move prevail.
	firstFixed = 32

	// Overflow is the colour of the contacts for which no other is free. Its blocks may share bodies and are solved
	// one after the other; see overflowRounds.
	Overflow = NumColours - 1

	// Bits of a set of colours: those of contacts between dynamic bodies, the others but Overflow, and the mark
	// of a body that is not dynamic.
	movingColours uint64 = 1<<firstFixed - 1
	fixedColours  uint64 = 1<<Overflow - 1 - movingColours
	notDynamic    uint64 = 1 << Overflow
)

// Colours assigns contacts to the lanes of blocks by graph colouring: no two contacts of one colour, other than
// Overflow, share a dynamic body. So blocks of one colour can be solved in any order and at the same time. The
// zero Colours is ready for use, and keeps its buffers from one Assign to the next.
type Colours struct {
	// Start has the first block of each colour: colour c has blocks Start[c] to Start[c+1]-1.
	Start [NumColours + 1]int

	// Contact has the contact of each lane, Lanes per block, or NoContact after the last one.
	Contact []uint32

	bodyColours bodyColours
	entries     []uint32 // by chunk, from its first contact on: the contacts that have a run, with the run
	chunks      []colourChunk
	overflow    overflowRounds
}

// colourChunk is the result of AssignColours for ColourChunk contacts.
type colourChunk struct {
	entries int             // of Colours.entries
	count   [numRuns]uint32 // contacts by run; layOut replaces it by the lane of the first
}

// ColourChunk is the number of contacts that FillBlocks places together.
const ColourChunk = 1024

// An entry holds the index of a contact in its chunk and, from this bit on, its run.
const runBit = 16

// Blocks is the number of blocks of all colours.
func (c *Colours) Blocks() int { return c.Start[NumColours] }

// A run is the contacts of a colour with two points, or with one. Each run begins a new block, so that contacts
// with one point are not solved as if they had two.
const numRuns = 2 * NumColours

// noRun is the run of a contact without a dynamic body.
const noRun = numRuns

// Assign gives a colour to each contact whose manifold has points and which has a dynamic body: the lowest colour
// that neither dynamic body has yet, in the order of the contacts. Its time is proportional to the number of contacts
// and bodies.
//
// manifolds are those of the contacts, body has the body of each shape, and invMass the inverse mass of each
// body, 0 for bodies that are not dynamic.
func (c *Colours) Assign(contacts []Contact, manifolds []Manifold, body []uint32, invMass []float32) {
	if len(manifolds) != len(contacts) {
		panic("rigid: Colours.Assign: contacts and manifolds differ in length")
	}
	c.reset(len(contacts), invMass)
	c.assign(0, len(contacts), contacts, manifolds, body)
	c.layOut(contacts, body, invMass)
	c.fill(0, len(contacts))
}

// reset removes all colours.
func (c *Colours) reset(contacts int, invMass []float32) {
	c.bodyColours.reset(invMass)
	c.entries = resized(c.entries, contacts)
	c.chunks = resized(c.chunks, (contacts+ColourChunk-1)/ColourChunk)
}

// assign chooses the runs of contacts [lo, hi), after those before lo. lo is a multiple of ColourChunk, and hi
// one or the number of contacts.
func (c *Colours) assign(lo, hi int, contacts []Contact, manifolds []Manifold, body []uint32) {
	for ; lo < hi; lo += ColourChunk {
		end := min(lo+ColourChunk, hi)
		c.assignChunk(&c.chunks[lo/ColourChunk], c.entries[lo:end], contacts[lo:end], manifolds[lo:end], body)
	}
}

func (c *Colours) assignChunk(k *colourChunk, dealt []uint32, contacts []Contact, manifolds []Manifold, body []uint32) {
	k.count = [numRuns]uint32{}
	touching := 0
	for i := range manifolds {
		dealt[touching] = uint32(i)
		if manifolds[i].Count > 0 {
			touching++
		}
	}
	k.entries = 0
	for _, i := range dealt[:touching] {
		contact := &contacts[i]
		run := c.assignRun(body[contact.A], body[contact.B], manifolds[i].Count)
		if run != noRun {
			dealt[k.entries] = i | run<<runBit
			k.entries++
			k.count[run]++
		}
	}
}

// fill puts contacts [lo, hi), with bounds as those of assign, into their lanes. Chunks can be filled in any
// order.
func (c *Colours) fill(lo, hi int) {
	for ; lo < hi; lo += ColourChunk {
		k := &c.chunks[lo/ColourChunk]
		for _, entry := range c.entries[lo : lo+k.entries] {
			if run := entry >> runBit; run < 2*Overflow {
				c.Contact[k.count[run]] = uint32(lo) + entry&(1<<runBit-1)
				k.count[run]++
			}
		}
	}
}

// assignRun chooses the run of a contact.
func (c *Colours) assignRun(a, b, points uint32) uint32 {
	colour, ok := c.bodyColours.assign(a, b)
	if !ok {
		return noRun
	}
	return uint32(2*colour) + points&1
}

// layOut sets Start, makes room for the lanes, and fills those of Overflow.
func (c *Colours) layOut(contacts []Contact, body []uint32, invMass []float32) {
	var count [numRuns]uint32
	for k := range c.chunks {
		for run, n := range &c.chunks[k].count {
			c.chunks[k].count[run] = count[run]
			count[run] += n
		}
	}
	c.overflow.clear()
	if count[2*Overflow]+count[2*Overflow+1] > 0 {
		c.overflow.add(c, contacts, body, invMass)
	}
	var first [numRuns]uint32
	blocks := 0
	for run, n := range count {
		if run%2 == 0 {
			c.Start[run/2] = blocks
		}
		first[run] = uint32(blocks * Lanes)
		if run < 2*Overflow {
			blocks += (int(n) + Lanes - 1) / Lanes
		}
	}
	blocks += c.overflow.blocks()
	c.Start[NumColours] = blocks
	c.Contact = resized(c.Contact, blocks*Lanes)
	for run, n := range count[:2*Overflow] {
		c.clearLanes(first[run]+n, first[run+1])
	}
	c.clearLanes(first[2*Overflow], uint32(len(c.Contact)))
	c.overflow.fill(c.Contact[first[2*Overflow]:])
	for k := range c.chunks {
		for run := range &c.chunks[k].count {
			c.chunks[k].count[run] += first[run]
		}
	}
}

// clearLanes empties lanes.
func (c *Colours) clearLanes(lo, hi uint32) {
	for i := range c.Contact[lo:hi] {
		c.Contact[int(lo)+i] = NoContact
	}
}

// bodyColours holds for each body the set of colours that it can no longer get.
type bodyColours []uint64

// reset makes all colours free for each body.
func (p *bodyColours) reset(invMass []float32) {
	*p = resized(*p, len(invMass))
	for i, m := range invMass {
		(*p)[i] = 0
		if !(m > 0) {
			(*p)[i] = notDynamic | movingColours
		}
	}
}

// matches reports whether the bodies with mass are those of the last reset.
func (p bodyColours) matches(invMass []float32) bool {
	if len(p) != len(invMass) {
		return false
	}
	for i, m := range invMass {
		if (m > 0) != (p[i]&notDynamic == 0) {
			return false
		}
	}
	return true
}

// assign returns the lowest colour that neither dynamic body has yet, and gives it to both; Overflow if there
// is none. It returns false if neither body is dynamic.
func (p bodyColours) assign(a, b uint32) (colour int, ok bool) {
	usedA, usedB := p[a], p[b]
	if usedA&usedB&notDynamic != 0 {
		return 0, false
	}
	used := usedA | usedB
	if used&notDynamic == 0 {
		used |= fixedColours | notDynamic
	}
	colour = bits.TrailingZeros64(^used | notDynamic)
	if colour < Overflow {
		mark := uint64(1) << colour
		if usedA&notDynamic == 0 {
			p[a] = usedA | mark
		}
		if usedB&notDynamic == 0 {
			p[b] = usedB | mark
		}
	}
	return colour, true
}

// resized returns a slice of n elements of unspecified values, in the memory of s if it has room. Otherwise it
// allocates half as many again and a kilobyte, so that small slices do not grow many times.
func resized[T any](s []T, n int) []T {
	if cap(s) < n {
		var one T
		return make([]T, n, n+n/2+1024/int(max(1, unsafe.Sizeof(one))))
	}
	return s[:n]
}
