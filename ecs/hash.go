package ecs

import (
	"encoding/binary"
	"slices"

	"github.com/zeebo/xxh3"
)

// identity names the part of the hash that is no column: ids by slot, the next
// id, and tags. The live slots follow from the ids, the next free slot from the
// live slots.
const identity = "identity"

// ColumnHash is the hash of one column, or of "identity": the ids, the
// allocator and the tags.
type ColumnHash struct {
	Name string
	Hash uint64
}

// Hash returns the hash of the state: Fold of the ColumnHashes.
func (w *World) Hash() uint64 {
	acc := fold(0, identity, w.identityHash())
	for _, c := range w.byName {
		acc = fold(acc, c.name, c.hash(w.high))
	}
	return acc
}

// ColumnHashes returns the hash of "identity" and then that of every column,
// sorted by name. Where two runs differ it says in which column; their Hash is
// Fold of the list, so a log of both pays once.
//
// A column is hashed as XXH3 (64 bits, seed 0) of rows [0, HighWater) in
// little-endian order, every NaN replaced by the quiet one with no payload and
// no sign. -0 and +0 differ.
func (w *World) ColumnHashes() []ColumnHash { return w.AppendColumnHashes(nil) }

// AppendColumnHashes appends the ColumnHashes to dst: pass the previous result
// cut to [:0] to allocate nothing.
func (w *World) AppendColumnHashes(dst []ColumnHash) []ColumnHash {
	dst = slices.Grow(dst, 1+len(w.byName))
	dst = append(dst, ColumnHash{identity, w.identityHash()})
	for _, c := range w.byName {
		dst = append(dst, ColumnHash{c.name, c.hash(w.high)})
	}
	return dst
}

// Fold combines the hashes of a list, in its order, into one.
func Fold(parts []ColumnHash) uint64 {
	var acc uint64
	for _, p := range parts {
		acc = fold(acc, p.Name, p.Hash)
	}
	return acc
}

func fold(acc uint64, name string, hash uint64) uint64 {
	var b [24]byte
	binary.LittleEndian.PutUint64(b[0:], acc)
	binary.LittleEndian.PutUint64(b[8:], xxh3.HashString(name))
	binary.LittleEndian.PutUint64(b[16:], hash)
	return xxh3.Hash(b[:])
}

// identityHash leaves out tags that nobody has, since they decide nothing, and
// takes the others by name, since the order of registration decides nothing.
func (w *World) identityHash() uint64 {
	acc := fold(w.table.next, "ids", hashRows(bytesOf(w.ids[:w.high]), kindUint64))
	for _, t := range w.tagsByName {
		bits := t.bits[:words(w.high)]
		if slices.ContainsFunc(bits, func(word uint64) bool { return word != 0 }) {
			acc = fold(acc, t.name, hashRows(bytesOf(bits), kindUint64))
		}
	}
	return acc
}

func (c *column) hash(rows int) uint64 { return hashRows(c.rows(0, rows), c.kind) }

// hashRows hashes rows given in the order of the machine.
func hashRows(rows []byte, k kind) uint64 {
	if bigEndian || hasNaN(rows, k) {
		return hashCopied(rows, k)
	}
	return xxh3.Hash(rows)
}

// hashCopied is the same function by way of a small buffer, in which bytes are
// swapped and NaNs replaced as needed.
func hashCopied(rows []byte, k kind) uint64 {
	var h xxh3.Hasher
	var buf [4096]byte // a multiple of every row size
	for len(rows) > 0 {
		chunk := buf[:min(len(rows), len(buf))]
		copyLittle(chunk, rows, k.size())
		canonicalise(chunk, k)
		h.Write(chunk)
		rows = rows[len(chunk):]
	}
	return h.Sum64()
}

const (
	abs32 = 0x7fffffff         // all but the sign
	inf32 = 0x7f800000         // of the values without sign, NaNs are those above
	nan32 = 0x7fc00000         // the one that stands for all
	abs64 = 0x7fffffffffffffff // the same in 64 bits
	inf64 = 0x7ff0000000000000
	nan64 = 0x7ff8000000000000
)

// hasNaN adds to each value, as an integer without its sign, what carries into
// the sign bit if and only if the value is above infinity. Two float32 fit in
// one addition, as no carry leaves its lane.
func hasNaN(rows []byte, k kind) bool {
	switch k {
	case kindFloat32:
		const lanes = 1<<32 + 1
		return anyCarry(rows, abs32*lanes, (abs32-inf32)*lanes) & ^uint64(abs32*lanes) != 0
	case kindFloat64:
		return anyCarry(rows, abs64, abs64-inf64) & ^uint64(abs64) != 0
	}
	return false
}

// anyCarry returns the OR of (x & mask) + lift over the 64-bit words of b. Four
// missing bytes at the end count as zeros.
func anyCarry(b []byte, mask, lift uint64) uint64 {
	var a0, a1, a2, a3 uint64
	for len(b) >= 64 {
		a0 |= word(b, 0)&mask + lift
		a1 |= word(b, 1)&mask + lift
		a2 |= word(b, 2)&mask + lift
		a3 |= word(b, 3)&mask + lift
		a0 |= word(b, 4)&mask + lift
		a1 |= word(b, 5)&mask + lift
		a2 |= word(b, 6)&mask + lift
		a3 |= word(b, 7)&mask + lift
		b = b[64:]
	}
	for ; len(b) >= 8; b = b[8:] {
		a0 |= word(b, 0)&mask + lift
	}
	if len(b) >= 4 {
		a0 |= uint64(binary.NativeEndian.Uint32(b))&mask + lift
	}
	return a0 | a1 | a2 | a3
}

// word returns the i-th 64-bit word of b in the order of the machine.
func word(b []byte, i int) uint64 { return binary.NativeEndian.Uint64(b[8*i : 8*i+8]) }

// canonicalise replaces every NaN of rows in little-endian order.
func canonicalise(rows []byte, k kind) {
	switch k {
	case kindFloat32:
		for ; len(rows) >= 4; rows = rows[4:] {
			if binary.LittleEndian.Uint32(rows)&abs32 > inf32 {
				binary.LittleEndian.PutUint32(rows, nan32)
			}
		}
	case kindFloat64:
		for ; len(rows) >= 8; rows = rows[8:] {
			if binary.LittleEndian.Uint64(rows)&abs64 > inf64 {
				binary.LittleEndian.PutUint64(rows, nan64)
			}
		}
	}
}
