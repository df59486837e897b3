package physics

import "math/bits"

// idPool allocates indices, the lowest free one first. Each has a generation,
// which identifies handles to earlier occupants. The next index
// depends on the set of free indices alone, not on the order in which they became free.
type idPool struct {
	generation []uint32 // of the present or the next occupant; 0 if the index is retired
	free       []uint64 // bitset of the free indices below len(generation)
	hint       int      // no word of free before this one has a bit
	live       int
	retired    int // number of indices that are never allocated again
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

// claim takes the index that next returned, and returns its generation.
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

// release frees index i. An index whose generations are
// used up is never allocated again: old handles would become valid.
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

// holds reports whether a handle refers to the present occupant. It also checks free: no handle of this world has
// the generation of a free index, but one of another world may.
func (p *idPool) holds(index, generation uint32) bool {
	return generation != 0 && uint64(index) < uint64(p.used()) && p.generation[index] == generation &&
		p.free[index/64]&(1<<(index%64)) == 0
}

func (p *idPool) occupied(i int) bool {
	return i >= 0 && i < p.used() && p.generation[i] != 0 && p.free[i/64]&(1<<(i%64)) == 0
}

// reset makes the first n indices used, with unspecified generations, and none of
// them live. Then call setLive for each.
func (p *idPool) reset(n int) {
	p.generation = resized(p.generation, n)
	p.free = resized(p.free, (n+63)/64)
	clear(p.free)
	p.hint, p.live, p.retired = 0, 0, 0
}

// setLive sets whether an index is live, after reset.
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
