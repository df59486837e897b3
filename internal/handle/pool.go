package handle

import (
	"math"
	"math/bits"

	"github.com/evertick/evertick/internal/bitset"
	"github.com/evertick/evertick/internal/buffer"
)

// None is no number.
const None = ^uint32(0)

// Pool allocates indices, the lowest free one first. Each has a generation,
// which identifies handles to earlier occupants. The next index
// depends on the set of free indices alone, not on the order in which they became free.
type Pool struct {
	// Generation has an element for each index that was ever used: the generation of its present or next occupant; 0 if the
	// index is retired. Only Claim, Release, Reset and CopyFrom change the slice; between Reset and SetLive the caller
	// fills it.
	Generation []uint32

	free    bitset.Set // of the indices below len(Generation)
	hint    int        // no word of free before this one has a bit
	live    int
	retired int // number of indices that are never allocated again
	limit   int
}

// NewPool returns a pool of indices below limit, with memory for some.
func NewPool(limit, reserve int) Pool {
	return Pool{
		Generation: make([]uint32, 0, reserve),
		free:       bitset.Make(reserve)[:0],
		limit:      limit,
	}
}

// Live returns the number of live occupants.
func (p *Pool) Live() int { return p.live }

// Used returns the number of indices ever used.
func (p *Pool) Used() int { return len(p.Generation) }

// Room returns how many indices can be claimed.
func (p *Pool) Room() int { return p.limit - p.live - p.retired }

// Next returns the index that Claim would take, without taking it.
func (p *Pool) Next() (int, bool) {
	for ; p.hint < len(p.free); p.hint++ {
		if word := p.free[p.hint]; word != 0 {
			return p.hint*64 + bits.TrailingZeros64(word), true
		}
	}
	return p.Used(), p.Used() < p.limit
}

// Claim takes the index that Next returned, and returns its generation.
func (p *Pool) Claim(i int) uint32 {
	p.live++
	if i == p.Used() {
		p.Generation = append(p.Generation, 1)
		if i/64 == len(p.free) {
			p.free = append(p.free, 0)
		}
		return 1
	}
	p.free.Remove(i)
	return p.Generation[i]
}

// Release frees index i. An index whose generations are
// Used up is never allocated again: old handles would become valid.
func (p *Pool) Release(i int) {
	p.live--
	p.Generation[i]++
	if p.Generation[i] == 0 {
		p.retired++
		return
	}
	p.free.Add(i)
	p.hint = min(p.hint, i/64)
}

// Holds reports whether a handle refers to the present occupant. It also checks free: no handle of this world has
// the generation of a free index, but one of another world may.
func (p *Pool) Holds(index, generation uint32) bool {
	return generation != 0 && uint64(index) < uint64(p.Used()) && p.Generation[index] == generation &&
		!p.free.Has(int(index))
}

// Occupied reports whether an index has a live occupant.
func (p *Pool) Occupied(i int) bool {
	return i >= 0 && i < p.Used() && p.Generation[i] != 0 && !p.free.Has(i)
}

// Reset makes the first n indices used, with unspecified generations, and none of
// them live. Then call SetLive for each.
func (p *Pool) Reset(n int) {
	p.Generation = buffer.Resized(p.Generation, n)
	p.free.Reset(n)
	p.hint, p.live, p.retired = 0, 0, 0
}

// SetLive sets whether an index is live, after Reset.
func (p *Pool) SetLive(i int, live bool) {
	switch {
	case live:
		p.live++
	case p.Generation[i] == 0:
		p.retired++
	default:
		p.free.Add(i)
	}
}

// CopyFrom copies the indices and generations, but not the limit.
func (p *Pool) CopyFrom(src *Pool) {
	p.Generation = append(p.Generation[:0], src.Generation...)
	p.free = append(p.free[:0], src.free...)
	p.hint, p.live, p.retired = src.hint, src.live, src.retired
}

// lastGeneration reports whether Release retires an index.
func (p *Pool) lastGeneration(i uint32) bool { return p.Generation[i] == math.MaxUint32 }
