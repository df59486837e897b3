package ecs

import "math/bits"

// full is a word with all bits set.
const full = ^uint64(0)

// words is the number of 64-bit words that hold n bits.
func words(n int) int { return (n + 63) / 64 }

// zeroed returns n words of zero, in the memory of s if they fit.
func zeroed(s []uint64, n int) []uint64 {
	if cap(s) < n {
		return make([]uint64, n)
	}
	s = s[:n]
	clear(s)
	return s
}

// eachBit calls f for the slots of a mask in word i, ascending.
func eachBit(i int, mask uint64, f func(Slot)) {
	for ; mask != 0; mask &= mask - 1 {
		f(Slot(i<<6 | bits.TrailingZeros64(mask)))
	}
}

// slotSet is the set of live slots as a tree of bitmaps: bit s of level 0 is
// slot s, and bit i of a higher level is set if word i of the level below is
// full. Finding the lowest free slot takes one step per level: three at 16,384
// slots and four at the largest capacity.
type slotSet struct {
	levels [][]uint64 // the last has one word
}

func newSlotSet(capacity int) slotSet {
	var s slotSet
	for n := capacity; ; {
		n = words(n)
		s.levels = append(s.levels, make([]uint64, n))
		if n == 1 {
			return s
		}
	}
}

// word returns the members among slots 64i to 64i+63.
func (s *slotSet) word(i int) uint64 { return s.levels[0][i] }

// lowestFree returns the lowest free slot. At least one must be free: then the search never reaches
// the unused bits of the last word.
func (s *slotSet) lowestFree() int {
	i := 0
	for l := len(s.levels) - 1; l >= 0; l-- {
		i = i<<6 | bits.TrailingZeros64(^s.levels[l][i])
	}
	return i
}

// allocate adds the lowest free slot and returns it.
func (s *slotSet) allocate() Slot {
	i := s.lowestFree()
	s.add(i>>6, 1<<(i&63))
	return Slot(i)
}

// allocateRun adds the lowest free slot and the free slots that directly follow it in
// the same word, n at most. It returns the first and their number. At least n must be free.
func (s *slotSet) allocateRun(n int) (Slot, int) {
	i := s.lowestFree()
	shift := i & 63
	run := min(n, bits.TrailingZeros64(s.levels[0][i>>6]>>shift), 64-shift)
	s.add(i>>6, full>>(64-run)<<shift)
	return Slot(i), run
}

// add adds the slots of a mask to word i.
func (s *slotSet) add(i int, mask uint64) {
	s.levels[0][i] |= mask
	for l := 0; s.levels[l][i] == full && l+1 < len(s.levels); l++ {
		s.levels[l+1][i>>6] |= 1 << (i & 63)
		i >>= 6
	}
}

// remove removes the slots of a mask, which is not zero, from word i.
func (s *slotSet) remove(i int, mask uint64) {
	for l := range s.levels {
		w := &s.levels[l][i]
		was := *w
		*w &^= mask
		if was != full {
			return
		}
		i, mask = i>>6, 1<<(i&63)
	}
}

// clear removes all slots, which are below high.
func (s *slotSet) clear(high int) {
	for _, l := range s.levels {
		high = words(high)
		clear(l[:high])
	}
}

// slotBatch is a set of slots that are processed together. Words outside
// [from, to) are zero, so that a small batch in a large world is cheap.
type slotBatch struct {
	words    []uint64
	from, to int
}

// add adds the slots of a mask in word i, and reports false if all of them were members.
func (b *slotBatch) add(i int, mask uint64) bool {
	if b.from == b.to {
		b.from, b.to = i, i+1
	}
	b.from, b.to = min(b.from, i), max(b.to, i+1)
	before := b.words[i]
	b.words[i] |= mask
	return b.words[i] != before
}

// each calls f for the slots of the batch, ascending.
func (b *slotBatch) each(f func(Slot)) {
	for i := b.from; i < b.to; i++ {
		eachBit(i, b.words[i], f)
	}
}

func (b *slotBatch) clear() {
	clear(b.words[b.from:b.to])
	b.from, b.to = 0, 0
}
