package rigid

import "math/bits"

const (
	// NumColours is the number of colours of contacts.
	NumColours = 64

	// Contacts between two dynamic bodies have the first colours, and contacts with
	// a body that is not dynamic the next, so that they are solved last and
	// what cannot move has its way.
	firstFixed = 32

	// Overflow is the colour of the contacts that found no other. Its blocks may share bodies
	// and are solved one after the other; see turns.
	Overflow = NumColours - 1

	// In a set of colours: those of contacts between dynamic bodies, the others but
	// Overflow, and a mark of a body that is not dynamic.
	movingColours uint64 = 1<<firstFixed - 1
	fixedColours  uint64 = 1<<Overflow - 1 - movingColours
	notDynamic    uint64 = 1 << Overflow
)

// Colours deals contacts out to the lanes of blocks so that no two contacts of one
// colour, other than Overflow, share a dynamic body: blocks of one colour can be solved in any
// order and at the same time. The zero Colours is ready for use, and keeps its
// buffers from one Deal to the next.
type Colours struct {
	// Start has the blocks of each colour: colour c has blocks Start[c] to
	// Start[c+1]-1.
	Start [NumColours + 1]int

	// Contact has the index of the contact of each lane of each block, Lanes a
	// block, or NoContact behind the last one.
	Contact []uint32

	used  []uint64 // colours that each body has no more use for
	runOf []uint8  // of each contact
	late  turns
}

// Blocks is the number of blocks of all colours.
func (c *Colours) Blocks() int { return c.Start[NumColours] }

// A run is a colour's contacts with two points, or with one; each begins a new
// block, so that contacts with one point need not be solved as if they had two.
const (
	numRuns = 2 * NumColours
	noRun   = numRuns
)

// Deal gives a colour to each contact that has points in its manifold and at least
// one dynamic body: the lowest that neither dynamic body has yet, in the order of the
// contacts. It takes time in proportion to the number of contacts and bodies.
//
// Manifolds are those of the contacts; body is the body of each shape, and invMass has
// the inverse mass of each body, 0 for those that are not dynamic.
func (c *Colours) Deal(contacts []Contact, manifolds []Manifold, body []uint32, invMass []float32) {
	if len(manifolds) != len(contacts) {
		panic("rigid: Colours.Deal: contacts and manifolds differ in length")
	}
	c.used = resized(c.used, len(invMass))
	for i, m := range invMass {
		c.used[i] = 0
		if !(m > 0) {
			c.used[i] = notDynamic | movingColours
		}
	}
	c.runOf = resized(c.runOf, len(contacts))
	var count [numRuns + 1]int
	for i := range contacts {
		run := uint8(noRun)
		if points := manifolds[i].Count; points > 0 {
			run = c.run(body[contacts[i].A], body[contacts[i].B], points)
		}
		c.runOf[i] = run
		count[run]++
	}
	c.late.clear()
	if count[2*Overflow]+count[2*Overflow+1] > 0 {
		c.late.take(c.runOf, contacts, body, invMass)
	}
	next := c.lay(&count)
	for i, run := range c.runOf {
		if run < 2*Overflow {
			c.Contact[next[run]] = uint32(i)
			next[run]++
		}
	}
	c.late.deal(c.Contact[c.Start[Overflow]*Lanes:])
}

// run chooses the run of a contact and marks its colour as used.
func (c *Colours) run(a, b, points uint32) uint8 {
	usedA, usedB := c.used[a], c.used[b]
	if usedA&usedB&notDynamic != 0 {
		return noRun
	}
	used := usedA | usedB
	if used&notDynamic == 0 {
		used |= fixedColours | notDynamic
	}
	colour := bits.TrailingZeros64(^used | notDynamic) // Overflow if there is no other
	if colour < Overflow {
		mark := uint64(1) << colour
		if usedA&notDynamic == 0 {
			c.used[a] = usedA | mark
		}
		if usedB&notDynamic == 0 {
			c.used[b] = usedB | mark
		}
	}
	return uint8(2*colour) + uint8(points&1)
}

// lay sets Start, makes room for the lanes, and returns the first lane of each run.
func (c *Colours) lay(count *[numRuns + 1]int) (next [numRuns]int) {
	blocks := 0
	for run := range numRuns {
		if run%2 == 0 {
			c.Start[run/2] = blocks
		}
		next[run] = blocks * Lanes
		if run < 2*Overflow {
			blocks += (count[run] + Lanes - 1) / Lanes
		}
	}
	blocks += c.late.blocks()
	c.Start[NumColours] = blocks
	c.Contact = resized(c.Contact, blocks*Lanes)
	for i := range c.Contact {
		c.Contact[i] = NoContact
	}
	return next
}

// resized returns a slice of n elements in the memory of s if it has room, and with
// some to spare otherwise. What the elements are is unspecified.
func resized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, n+n/2)
	}
	return s[:n]
}
