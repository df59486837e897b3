package ecs

import (
	"slices"

	"github.com/evertick/evertick/internal/columns"
	"github.com/evertick/evertick/internal/statehash"
)

// identity names the part of the hash that is no column: ids by slot, the next
// id, and tags. The ids determine the live slots, and these the next free slot.
const identity = "identity"

// ColumnHash is the hash of one column, or of "identity": the ids, the
// allocator and the tags.
type ColumnHash = statehash.Column

// Hash returns the hash of the state: Fold of the ColumnHashes.
func (w *World) Hash() uint64 {
	acc := statehash.Add(0, identity, w.identityHash())
	for _, c := range w.byName {
		acc = statehash.Add(acc, c.name, columns.Hash(&c.view))
	}
	for _, b := range w.blobsByName {
		if b.count > 0 {
			acc = statehash.Add(acc, b.column, b.hash())
		}
	}
	return acc
}

// ColumnHashes returns the hash of "identity", then the hashes of all columns,
// sorted by name, then of all Blobs that are not empty, sorted by name, as "blob.<name>":
// to find the column in which two runs differ. Hash is Fold of the list, so a log of both
// computes it once.
//
// A column is hashed as XXH3 (64 bits, seed 0) of rows [0, HighWater) in little-endian
// order, every NaN replaced by the quiet one with no payload and no sign. -0 and +0 differ.
// Blobs are hashed as their number and the sum of the XXH3 of each blob with its slot as the seed.
// That sum is kept up to date, so they take no time here.
func (w *World) ColumnHashes() []ColumnHash { return w.AppendColumnHashes(nil) }

// AppendColumnHashes appends the ColumnHashes to dst: pass the previous result
// cut to [:0] to allocate nothing.
func (w *World) AppendColumnHashes(dst []ColumnHash) []ColumnHash {
	dst = slices.Grow(dst, 1+len(w.byName)+len(w.blobs))
	dst = append(dst, ColumnHash{Name: identity, Hash: w.identityHash()})
	for _, c := range w.byName {
		dst = append(dst, ColumnHash{Name: c.name, Hash: columns.Hash(&c.view)})
	}
	for _, b := range w.blobsByName {
		if b.count > 0 {
			dst = append(dst, ColumnHash{Name: b.column, Hash: b.hash()})
		}
	}
	return dst
}

// Fold combines the hashes of a list, in its order, into one.
func Fold(parts []ColumnHash) uint64 { return statehash.Fold(parts) }

// identityHash leaves out tags that no entity has, and takes the others in the order of
// their names: neither such tags nor the order of registration affect the simulation.
func (w *World) identityHash() uint64 {
	acc := statehash.Add(w.table.next, "ids", statehash.Rows(w.ids[:w.high]))
	for _, t := range w.tagsByName {
		bits := t.bits[:words(w.high)]
		if slices.ContainsFunc(bits, func(word uint64) bool { return word != 0 }) {
			acc = statehash.Add(acc, t.name, statehash.Rows(bits))
		}
	}
	return acc
}

// FirstNaN finds the first NaN of a live entity: the first such column by name, and the
// entity in the lowest slot. Direct writes to columns are not checked for
// NaN; a tick can call FirstNaN instead. It reads every float column once, below
// HighWater, and allocates nothing.
func (w *World) FirstNaN() (column string, id ID, found bool) {
	for _, c := range w.byName {
		if !c.kind.IsFloat() || !statehash.HasNaN(c.rows(0, w.high), c.kind.Size()) {
			continue
		}
		for slot, id := range w.ids[:w.high] {
			if id != 0 && statehash.HasNaN(c.rows(slot, slot+1), c.kind.Size()) {
				return c.name, id, true
			}
		}
	}
	return "", 0, false
}
