package loop

// keyTable maps pairs (source, seq) to values: a hash table with linear probing, at most half full,
// whose length is 0 or a power of two. A Go map would still allocate now and then, even after a long
// time.
type keyTable[V any] struct {
	slots []keyTableSlot[V]
	used  int
}

type keyTableSlot[V any] struct {
	value  V
	seq    uint64
	source uint32
	taken  bool
}

func (s *keyTable[V]) clear() {
	clear(s.slots)
	s.used = 0
}

// home returns the slot at which the search for a pair begins. The table is not empty.
func (s *keyTable[V]) home(source uint32, seq uint64) int {
	return int(mix(seq^mix(uint64(source))) & uint64(len(s.slots)-1))
}

// find returns the slot of a pair, or the free one that it would take.
func (s *keyTable[V]) find(source uint32, seq uint64) int {
	i := s.home(source, seq)
	for s.slots[i].taken && (s.slots[i].seq != seq || s.slots[i].source != source) {
		i = (i + 1) & (len(s.slots) - 1)
	}
	return i
}

func (s *keyTable[V]) has(source uint32, seq uint64) bool {
	return len(s.slots) > 0 && s.slots[s.find(source, seq)].taken
}

// get returns the value of a pair, the zero value if it is not there.
func (s *keyTable[V]) get(source uint32, seq uint64) (v V) {
	if len(s.slots) > 0 { // free slots are zero
		v = s.slots[s.find(source, seq)].value
	}
	return v
}

// add adds a pair with the zero value unless it is there, and returns a pointer to its value, which is
// valid until the next change.
func (s *keyTable[V]) add(source uint32, seq uint64) *V {
	i := -1
	if len(s.slots) > 0 {
		if i = s.find(source, seq); s.slots[i].taken {
			return &s.slots[i].value
		}
	}
	if s.used++; 2*s.used > len(s.slots) {
		s.grow()
		i = s.find(source, seq)
	}
	slot := &s.slots[i]
	slot.seq, slot.source, slot.taken = seq, source, true
	return &slot.value
}

func (s *keyTable[V]) grow() {
	old := s.slots
	s.slots = make([]keyTableSlot[V], max(16, 2*len(old)))
	for _, k := range old {
		if k.taken {
			s.slots[s.find(k.source, k.seq)] = k
		}
	}
}

// remove removes a pair that is there.
func (s *keyTable[V]) remove(source uint32, seq uint64) { s.removeAt(s.find(source, seq)) }

// removeAt removes the pair in a slot, and moves later pairs of its run back so that no search meets
// a gap.
func (s *keyTable[V]) removeAt(gap int) {
	mask := len(s.slots) - 1
	for i := (gap + 1) & mask; s.slots[i].taken; i = (i + 1) & mask {
		home := s.home(s.slots[i].source, s.slots[i].seq)
		if (i-home)&mask >= (i-gap)&mask {
			s.slots[gap] = s.slots[i]
			gap = i
		}
	}
	s.slots[gap] = keyTableSlot[V]{}
	s.used--
}
