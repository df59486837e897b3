package ecs

import (
	"math/bits"
	"slices"
	"unsafe"

	"github.com/evertick/evertick/internal/statehash"
)

// recordWords returns the length in words of a record of n bytes.
func recordWords(n int) int { return 1 + (n+7)/8 }

// record returns the bytes of the record that begins at a word of the arena.
func (b *Blobs) record(at uint32) []byte {
	n := int(uint32(b.arena[at]))
	return bytesOf(b.arena[at+1:])[:n:n]
}

// find returns a pointer to the index of the record of a slot, or nil if the slot has no blob.
func (b *Blobs) find(slot Slot) *uint32 {
	if uint(slot>>6) >= uint(len(b.groups)) {
		return nil
	}
	g, bit := &b.groups[slot>>6], uint64(1)<<(slot&63)
	if g.has&bit == 0 {
		return nil
	}
	return &g.at[g.rank(bit)]
}

// rank returns the number of blobs in lower slots of the group.
func (g *blobGroup) rank(bit uint64) int { return bits.OnesCount64(g.has & (bit - 1)) }

// put makes data the blob of a slot. The caller has checked the limits.
func (b *Blobs) put(slot Slot, data []byte) {
	at, have, need := b.find(slot), 0, recordWords(len(data))
	if at == nil {
		at = b.insert(slot)
	} else {
		have = b.free(*at)
	}
	if have < need {
		b.reserve(need, data)
		*at = uint32(len(b.arena))
		b.arena, have = b.arena[:len(b.arena)+need], need
	}
	copy(bytesOf(b.arena[*at+1:]), data)
	b.arena[*at] = uint64(slot)<<32 | uint64(len(data))
	if rest := have - need; rest > 0 {
		b.arena[int(*at)+need] = uint64(freeRecord)<<32 | uint64(8*(rest-1))
	}
	b.used += need
	b.bytes += len(data)
	b.sum += blobHash(slot, b.record(*at))
}

// insert adds a blob of a slot, whose record the caller appends, and returns a pointer to the index of
// the record, which the caller sets.
func (b *Blobs) insert(slot Slot) *uint32 {
	if n := int(slot>>6) + 1 - len(b.groups); n > 0 {
		b.groups = append(b.groups, make([]blobGroup, n)...)
	}
	g, bit := &b.groups[slot>>6], uint64(1)<<(slot&63)
	i := g.rank(bit)
	g.at = slices.Insert(g.at, i, 0)
	g.has |= bit
	b.count++
	return &g.at[i]
}

// remove removes the blob of a slot.
func (b *Blobs) remove(slot Slot) {
	g, bit := &b.groups[slot>>6], uint64(1)<<(slot&63)
	i := g.rank(bit)
	b.free(g.at[i])
	g.at = slices.Delete(g.at, i, i+1)
	g.has &^= bit
	b.count--
}

// removeSlots removes the blobs of the slots of a mask in word i.
func (b *Blobs) removeSlots(i int, mask uint64) {
	if i < len(b.groups) {
		eachBit(i, b.groups[i].has&mask, b.remove)
	}
}

// free marks a record as free, and returns its length in words. Its bytes stay until its room is used
// again.
func (b *Blobs) free(at uint32) (words int) {
	header := &b.arena[at]
	slot, data := Slot(*header>>32), b.record(at)
	b.sum -= blobHash(slot, data)
	b.bytes -= len(data)
	words = recordWords(len(data))
	b.used -= words
	*header = uint64(freeRecord)<<32 | uint64(len(data))
	return words
}

// reserve makes room for a record at the end of the arena. It closes the gaps of free records in
// place if a sixteenth of the arena is then free. Otherwise, or if data is in the arena, it moves the
// records to a new arena, because it must not write to data.
func (b *Blobs) reserve(words int, data []byte) {
	if len(b.arena)+words <= cap(b.arena) {
		return
	}
	to, n := b.arena[:0], b.used+words
	if n > cap(to)-cap(to)/16 || overlap(bytesOf(b.arena), data) {
		to = make([]uint64, 0, n+n/8)
	}
	b.moveTo(to)
}

// moveTo moves the records that hold blobs to the end of another arena, or to the front of this
// one.
func (b *Blobs) moveTo(to []uint64) {
	for from := b.arena; len(from) > 0; {
		n := recordWords(int(uint32(from[0])))
		if slot := Slot(from[0] >> 32); slot != freeRecord {
			*b.find(slot) = uint32(len(to))
			to = append(to, from[:n]...)
		}
		from = from[n:]
	}
	b.arena = to
}

// overlap reports whether two slices share memory.
func overlap(a, b []byte) bool {
	p, q := uintptr(unsafe.Pointer(unsafe.SliceData(a))), uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	return p < q+uintptr(len(b)) && q < p+uintptr(len(a))
}

// clear removes all blobs, and keeps the memory.
func (b *Blobs) clear() {
	for i := range b.groups {
		b.groups[i].has, b.groups[i].at = 0, b.groups[i].at[:0]
	}
	b.arena, b.used, b.bytes, b.count, b.sum = b.arena[:0], 0, 0, 0, 0
}

// copyFrom copies the blobs of another world. b must have none before.
func (b *Blobs) copyFrom(src *Blobs) {
	b.reserve(len(src.arena), nil)
	b.arena = append(b.arena, src.arena...)
	if n := len(src.groups) - len(b.groups); n > 0 {
		b.groups = append(b.groups, make([]blobGroup, n)...)
	}
	for i := range src.groups {
		b.groups[i].has, b.groups[i].at = src.groups[i].has, append(b.groups[i].at, src.groups[i].at...)
	}
	b.used, b.bytes, b.count, b.sum = src.used, src.bytes, src.count, src.sum
}

// blobHash is XXH3 (64 bits) of a blob, with its slot as the seed.
func blobHash(slot Slot, data []byte) uint64 { return statehash.Seeded(data, uint64(slot)) }

// hash is a function of the set of blobs. It uses the sum of their hashes, so that a change hashes
// one blob, and World.Hash hashes none.
func (b *Blobs) hash() uint64 { return statehash.Add(uint64(b.count), "bytes", b.sum) }

// memory returns the number of bytes that the blobs take.
func (b *Blobs) memory() int {
	n := 8*cap(b.arena) + int(unsafe.Sizeof(blobGroup{}))*cap(b.groups)
	for i := range b.groups {
		n += 4 * cap(b.groups[i].at)
	}
	return n
}
