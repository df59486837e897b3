package netcode

import "github.com/evertick/evertick/native"

// Flags of entries that Merge reads and writes, beside slots and positions.
const (
	Young uint32 = 1 << 31 // of an entry of known and of stays: Gather takes it from its first source
	Gone  uint32 = 1 << 31 // of an entry of leaves: the entity that had the slot has died
)

// slotBits are the bits of an entry that are its slot.
const slotBits = Young - 1

// Merged receives the lists that Merge writes. It needs a capacity of len(known) for Stays and for Leaves and of
// len(view) for Enters; Reserve makes it. Merge sets the lengths, and may overwrite the lists up to those capacities.
type Merged struct {
	Stays  []uint32 // entries of known, flag included
	Leaves []uint32 // positions in known, plus Gone
	Enters []uint32 // slots
}

// Reserve makes room for lists of those lengths. It allocates only if there is less.
func (m *Merged) Reserve(known, view int) {
	m.Stays = room(m.Stays, known)
	m.Leaves = room(m.Leaves, known)
	m.Enters = room(m.Enters, view)
}

// room returns s, or a new slice if the capacity of s is less than n.
func room[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, 0, n+n/4) // spare room: a list grows a little now and then
	}
	return s
}

// Merge compares the slots that a client knows with those that it is to see, both in ascending order, none twice, all
// below native.MaxSlots. An entry of known may have the flag Young beside its slot. Bit s%64 of gone[s/64] says that the entity
// which had slot s when the list was made has died since: if the slot is in use, another entity has it.
//
// A slot that is known, in view and not gone stays; the other known ones leave, and the other ones in view enter. So a
// slot that is known, in view and gone does both. Each list is in ascending order.
//
// gone has a bit for each slot of known. Merge panics if it does not, if m has too little room, and on a level that
// Resolve refuses. If a list does not ascend, what it writes is not specified. It allocates nothing.
func Merge(level native.Level, known, view []uint32, gone []uint64, m *Merged) {
	if slotsEnd(known) > uint64(len(gone))*64 {
		panic("netcode: Merge: gone has no bit for each slot of known")
	}
	if cap(m.Stays) < len(known) || cap(m.Leaves) < len(known) || cap(m.Enters) < len(view) {
		panic("netcode: Merge: Merged has too little room")
	}
	if level = must(level); level == native.Go || len(known)+len(view) == 0 {
		mergeGo(known, view, gone, m)
	} else {
		mergeC(known, view, gone, m)
	}
}

func mergeGo(known, view []uint32, gone []uint64, m *Merged) {
	m.Stays, m.Leaves, m.Enters = m.Stays[:0], m.Leaves[:0], m.Enters[:0]
	j := 0
	for i, entry := range known {
		slot := entry & slotBits
		for ; j < len(view) && view[j] < slot; j++ {
			m.Enters = append(m.Enters, view[j])
		}
		dead := gone[slot/64]>>(slot%64)&1 != 0
		if !dead && j < len(view) && view[j] == slot {
			m.Stays = append(m.Stays, entry)
			j++
			continue
		}
		leave := uint32(i)
		if dead {
			leave |= Gone
		}
		m.Leaves = append(m.Leaves, leave)
	}
	m.Enters = append(m.Enters, view[j:]...)
}

// Source is what Delta writes: a record for each slot, and two bits.
type Source struct {
	Records       []uint32
	Changed, Wide []uint64
}

// valid reports whether the lengths fit together, and there is a record for each slot below end.
func (s *Source) valid(end uint64) bool {
	words := (len(s.Records) + 63) / 64
	return len(s.Changed) == words && len(s.Wide) == words && end <= uint64(len(s.Records))
}

// slotsEnd returns the highest slot of the entries plus 1, or 0 if there are none. It reads all of them: a list that does
// not ascend must not make a kernel read outside its slices.
func slotsEnd(entries []uint32) uint64 {
	var a, b, c, d uint32 // four maxima do not wait for each other
	for ; len(entries) >= 4; entries = entries[4:] {
		a, b = max(a, entries[0]&slotBits+1), max(b, entries[1]&slotBits+1)
		c, d = max(c, entries[2]&slotBits+1), max(d, entries[3]&slotBits+1)
	}
	for _, entry := range entries {
		a = max(a, entry&slotBits+1)
	}
	return uint64(max(a, b, c, d))
}

// Gathered receives what Gather writes. For n entries and records of width bits it needs a capacity of
// (n+63)/64*8 bytes for Mask, n*width/8 + 8 bytes for Bits and n for Wide; Reserve makes it. Gather sets the lengths, and
// may overwrite up to those capacities: it stores eight bytes at a time.
type Gathered struct {
	Mask []byte   // (n+7)/8 bytes: a bit for each entry, the lowest bit first, set if Bits has its record
	Bits []byte   // the records one after the other, the lowest bit first, in as few bytes as hold them
	Wide []uint32 // the places of entries that changed, but are too wide for a record
}

// Reserve makes room for n entries and records of width bits. It allocates only if there is less.
func (g *Gathered) Reserve(n int, width uint) {
	g.Mask = room(g.Mask, maskRoom(n))
	g.Bits = room(g.Bits, bitsRoom(n, width))
	g.Wide = room(g.Wide, n)
}

func maskRoom(n int) int             { return (n + 63) / 64 * 8 }
func bitsRoom(n int, width uint) int { return n*int(width)/8 + 8 }

// Gather collects the records of the slots in stays, a list as Merge writes it: for entries with the flag Young
// from plain, for the others from predicted. An entry whose slot has a bit in Changed and none in Wide gets a bit
// in out.Mask, and the low width bits of its record go to out.Bits. If its slot has both bits, the place of the entry in
// stays goes to out.Wide. Unused high bits of the last bytes are 0. 0 <= width <= 32.
//
// Gather panics if a source has no record for a slot of stays, or Changed or Wide no bit for a record; if width is out
// of range, or out has too little room; and on a level that Resolve refuses. It allocates nothing.
func Gather(level native.Level, stays []uint32, plain, predicted Source, width uint, out *Gathered) {
	if end := slotsEnd(stays); !plain.valid(end) || !predicted.valid(end) {
		panic("netcode: Gather: a source has no record for each slot")
	}
	if width > 32 {
		panic("netcode: Gather: width is out of range")
	}
	n := len(stays)
	if cap(out.Mask) < maskRoom(n) || cap(out.Bits) < bitsRoom(n, width) || cap(out.Wide) < n {
		panic("netcode: Gather: Gathered has too little room")
	}
	if level = must(level); level == native.Go || n == 0 {
		gatherRecordsGo(stays, plain, predicted, width, out)
	} else {
		gatherRecordsC(stays, &plain, &predicted, width, out)
	}
}

func gatherRecordsGo(stays []uint32, plain, predicted Source, width uint, out *Gathered) {
	out.Mask, out.Bits, out.Wide = out.Mask[:(len(stays)+7)/8], out.Bits[:0], out.Wide[:0]
	clear(out.Mask)
	bits, fill := uint64(0), uint(0) // those that fill no byte yet
	for j, entry := range stays {
		from, slot := &predicted, entry&slotBits
		if entry&Young != 0 {
			from = &plain
		}
		word, bit := slot/64, uint64(1)<<(slot%64)
		switch {
		case from.Changed[word]&bit == 0:
		case from.Wide[word]&bit != 0:
			out.Wide = append(out.Wide, uint32(j))
		default:
			out.Mask[j/8] |= 1 << (j % 8)
			bits |= uint64(from.Records[slot]) & (1<<width - 1) << fill
			for fill += width; fill >= 8; fill -= 8 {
				out.Bits = append(out.Bits, byte(bits))
				bits >>= 8
			}
		}
	}
	if fill > 0 {
		out.Bits = append(out.Bits, byte(bits))
	}
}
