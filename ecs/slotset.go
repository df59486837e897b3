package ecs

import "math/bits"

const full = ^uint64(0)

// slotSet is the set of live slots as a tree of bitmaps: bit s of level 0 is
// slot s, and bit i of a higher level says that word i of the level below is
// full. The lowest free slot is found by one step per level, three of them at
// 16,384 slots and four at the largest capacity.
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

// words is the number of 64-bit words that hold n bits.
func words(n int) int { return (n + 63) / 64 }

// word returns the members among slots 64i to 64i+63.
func (s *slotSet) word(i int) uint64 { return s.levels[0][i] }

// lowest returns the lowest free slot. At least one must be free: then the bits
// of the last word that stand for no slot are never reached.
func (s *slotSet) lowest() int {
	i := 0
	for l := len(s.levels) - 1; l >= 0; l-- {
		i = i<<6 | bits.TrailingZeros64(^s.levels[l][i])
	}
	return i
}

// takeOne adds the lowest free slot and returns it.
func (s *slotSet) takeOne() Slot {
	i := s.lowest()
	s.add(i>>6, 1<<(i&63))
	return Slot(i)
}

// take adds the lowest free slot and those that follow it, n at most, all in
// one word, and returns the first and how many. At least n must be free.
func (s *slotSet) take(n int) (Slot, int) {
	i := s.lowest()
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

// clear removes all slots; they are below high.
func (s *slotSet) clear(high int) {
	for _, l := range s.levels {
		high = words(high)
		clear(l[:high])
	}
}
