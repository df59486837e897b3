package handle

import "slices"

// PairKey packs a pair of bodies, the lower index in the upper half.
func PairKey(a, b int) uint64 { return uint64(min(a, b))<<32 | uint64(max(a, b)) }

// Pairs is a set of pairs of bodies, such as those that pass through each other.
type Pairs struct {
	Keys []uint64 // of PairKey, ascending; only methods change it

	counts []uint32 // by body: number of its pairs; nil until there is a pair
	bodies int
}

// NewPairs returns a set of pairs of so many bodies.
func NewPairs(bodies int) Pairs { return Pairs{bodies: bodies} }

// Empty reports whether there is no pair.
func (p *Pairs) Empty() bool { return len(p.Keys) == 0 }

// Has reports whether two bodies, in either order, are a pair.
func (p *Pairs) Has(a, b int) bool {
	if p.Empty() || p.counts[a] == 0 || p.counts[b] == 0 {
		return false
	}
	_, ok := slices.BinarySearch(p.Keys, PairKey(a, b))
	return ok
}

func (p *Pairs) count(key uint64, by uint32) {
	if p.counts == nil {
		p.counts = make([]uint32, p.bodies)
	}
	p.counts[key>>32] += by
	p.counts[uint32(key)] += by
}

// Add adds a pair, unless it is there.
func (p *Pairs) Add(a, b int) {
	key := PairKey(a, b)
	if at, ok := slices.BinarySearch(p.Keys, key); !ok {
		p.Keys = slices.Insert(p.Keys, at, key)
		p.count(key, 1)
	}
}

// Remove removes a pair, if it is there.
func (p *Pairs) Remove(a, b int) {
	key := PairKey(a, b)
	if at, ok := slices.BinarySearch(p.Keys, key); ok {
		p.Keys = slices.Delete(p.Keys, at, at+1)
		p.count(key, ^uint32(0))
	}
}

// RemoveBody removes the pairs of a body.
func (p *Pairs) RemoveBody(body int) {
	if p.counts == nil || p.counts[body] == 0 {
		return
	}
	p.Keys = slices.DeleteFunc(p.Keys, func(key uint64) bool {
		if int(key>>32) != body && int(uint32(key)) != body {
			return false
		}
		p.count(key, ^uint32(0))
		return true
	})
}

// Set replaces all pairs.
func (p *Pairs) Set(keys []uint64) {
	p.Keys = p.Keys[:0]
	clear(p.counts)
	for _, key := range keys {
		p.Keys = append(p.Keys, key)
		p.count(key, 1)
	}
}
