package physics

import "math/bits"

// idPool hands out indices, the lowest free one first, each with a generation
// that makes a handle to an earlier occupant detectable. Which index comes next
// follows from the set of free ones alone: there is no hidden order.
type idPool struct {
	generation []uint32 // of the present or the next occupant; never 0 while usable
	free       []uint64 // bitset of the free indices below len(generation)
	hint       int      // no word of free before this one has a bit
	live       int
	retired    int // indices that are never handed out again
	limit      int
}

func newIDPool(limit, reserve int) idPool {
	return idPool{
		generation: make([]uint32, 0, reserve),
		free:       make([]uint64, 0, (reserve+63)/64),
		limit:      limit,
	}
}

// used returns the number of indices ever used.
func (p *idPool) used() int { return len(p.generation) }

// room returns how many indices can be claimed.
func (p *idPool) room() int { return p.limit - p.live - p.retired }

// next returns the index that claim would take, without taking it.
func (p *idPool) next() (int, bool) {
	for ; p.hint < len(p.free); p.hint++ {
		if word := p.free[p.hint]; word != 0 {
			return p.hint*64 + bits.TrailingZeros64(word), true
		}
	}
	return p.used(), p.used() < p.limit
}

// claim takes the index that next returned and gives its generation.
func (p *idPool) claim(i int) uint32 {
	p.live++
	if i == p.used() {
		p.generation = append(p.generation, 1)
		if i/64 == len(p.free) {
			p.free = append(p.free, 0)
		}
		return 1
	}
	p.free[i/64] &^= 1 << (i % 64)
	return p.generation[i]
}

// release ends the life of the occupant of i. An index whose generations are
// used up is never handed out again: its handles would come back to life.
func (p *idPool) release(i int) {
	p.live--
	p.generation[i]++
	if p.generation[i] == 0 {
		p.retired++
		return
	}
	p.free[i/64] |= 1 << (i % 64)
	p.hint = min(p.hint, i/64)
}

// holds reports whether a handle refers to the present occupant. The generation
// of a free index is in no handle yet, unless in one of another world: hence the
// look at free.
func (p *idPool) holds(index, generation uint32) bool {
	return generation != 0 && uint64(index) < uint64(p.used()) && p.generation[index] == generation &&
		p.free[index/64]&(1<<(index%64)) == 0
}

func (p *idPool) occupied(i int) bool {
	return i >= 0 && i < p.used() && p.generation[i] != 0 && p.free[i/64]&(1<<(i%64)) == 0
}

// reset makes the first n indices ever used, their generations anything, and none of
// them live: settle says which are.
func (p *idPool) reset(n int) {
	p.generation = resized(p.generation, n)
	p.free = resized(p.free, (n+63)/64)
	clear(p.free)
	p.hint, p.live, p.retired = 0, 0, 0
}

// setLive says after reset whether an index is live.
func (p *idPool) setLive(i int, live bool) {
	switch {
	case live:
		p.live++
	case p.generation[i] == 0:
		p.retired++
	default:
		p.free[i/64] |= 1 << (i % 64)
	}
}
