package physics

import (
	"slices"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/frame"
	"github.com/evertick/evertick/internal/statehash"
	"github.com/evertick/evertick/internal/wire"
)

// IgnorePair lets the shapes of two bodies pass through each other, regardless of their filters, until UnignorePair,
// or until one of the bodies is destroyed. Sensors of one do not detect the other either. Contacts between them end
// in the next step, with End events. It has no effect on a pair that is already ignored. Errors: ErrStale; ErrRange
// if a equals b; and ErrUnsupported from another engine.
func (w *World) IgnorePair(a, b Body) error {
	key, err := w.pairOf("physics: IgnorePair: b", a, b)
	if err == nil {
		w.solver.ignoredPairs.ignore(key)
		w.solver.wakeBothUnlessNew(a, b)
	}
	return err
}

// UnignorePair reverses IgnorePair. It has no effect on a pair that is not ignored. Errors are
// those of IgnorePair.
func (w *World) UnignorePair(a, b Body) error {
	key, err := w.pairOf("physics: UnignorePair: b", a, b)
	if err == nil {
		w.solver.ignoredPairs.unignore(key)
		w.solver.wakeBothUnlessNew(a, b)
	}
	return err
}

// PairIgnored reports whether two bodies, in either order, are an ignored pair. Errors are those
// of IgnorePair.
func (w *World) PairIgnored(a, b Body) (bool, error) {
	key, err := w.pairOf("physics: PairIgnored: b", a, b)
	if err != nil {
		return false, err
	}
	_, ok := slices.BinarySearch(w.solver.ignoredPairs.keys, key)
	return ok, nil
}

func (w *World) pairOf(field string, a, b Body) (uint64, error) {
	i, err := w.solverRow(a)
	if err != nil {
		return 0, err
	}
	k, err := w.solverRow(b)
	if err != nil {
		return 0, err
	}
	if i == k {
		return 0, because(fault.Field(ErrRange, field, b), "equals a")
	}
	return pairKey(i, k), nil
}

// pairKey packs a pair of bodies, the lower index in the upper half.
func pairKey(a, b int) uint64 { return uint64(min(a, b))<<32 | uint64(max(a, b)) }

// ignoredPairs is the set of pairs of bodies that pass through each other.
type ignoredPairs struct {
	keys   []uint64 // of pairKey, ascending
	counts []uint32 // by body: number of its pairs; nil until there is a pair
	bodies int      // capacity of the world
}

func (t *ignoredPairs) empty() bool { return len(t.keys) == 0 }

// pairIgnored reports whether the bodies of two shapes are an ignored pair.
func (s *solver) pairIgnored(a, b uint32) bool {
	t := &s.ignoredPairs
	if t.empty() {
		return false
	}
	x, y := s.shapes.filters.Body[a], s.shapes.filters.Body[b]
	if t.counts[x] == 0 || t.counts[y] == 0 {
		return false
	}
	_, ok := slices.BinarySearch(t.keys, pairKey(int(x), int(y)))
	return ok
}

func (t *ignoredPairs) count(key uint64, by uint32) {
	if t.counts == nil {
		t.counts = make([]uint32, t.bodies)
	}
	t.counts[key>>32] += by
	t.counts[uint32(key)] += by
}

func (t *ignoredPairs) ignore(key uint64) {
	if at, ok := slices.BinarySearch(t.keys, key); !ok {
		t.keys = slices.Insert(t.keys, at, key)
		t.count(key, 1)
	}
}

func (t *ignoredPairs) unignore(key uint64) {
	if at, ok := slices.BinarySearch(t.keys, key); ok {
		t.keys = slices.Delete(t.keys, at, at+1)
		t.count(key, ^uint32(0))
	}
}

// removeBody removes the pairs of a body.
func (t *ignoredPairs) removeBody(body int) {
	if t.counts == nil || t.counts[body] == 0 {
		return
	}
	t.keys = slices.DeleteFunc(t.keys, func(key uint64) bool {
		if int(key>>32) != body && int(uint32(key)) != body {
			return false
		}
		t.count(key, ^uint32(0))
		return true
	})
}

// set replaces all pairs.
func (t *ignoredPairs) set(keys []uint64) {
	t.keys = t.keys[:0]
	clear(t.counts)
	for _, key := range keys {
		t.keys = append(t.keys, key)
		t.count(key, 1)
	}
}

// The frame "pairs": a uint64 for each pair of IgnorePair, the lower body in the upper half,
// ascending.

func (w *World) encodePairs(e *frame.Encoder) { e.Rows(raw(w.solver.ignoredPairs.keys), 8) }

func (im *snapshotImage) readPairs(b []byte) error {
	if len(b)%8 != 0 {
		return im.Corrupt("length of the pairs", len(b))
	}
	im.pairs = resized(im.pairs, len(b)/8)
	for i := range im.pairs {
		key := wire.U64At(b, i)
		low, high := key>>32, key&0xffffffff
		if low >= high || !im.alive(high) || !im.alive(low) || i > 0 && key <= im.pairs[i-1] {
			return im.element("pair", i, [2]uint64{low, high})
		}
		im.pairs[i] = key
	}
	return nil
}

func (w *World) restorePairs(im *snapshotImage) { w.solver.ignoredPairs.set(im.pairs) }

func (w *World) copyPairs(src *World) { w.solver.ignoredPairs.set(src.solver.ignoredPairs.keys) }

func (w *World) hashPairs(dst []ColumnHash) []ColumnHash {
	if w.solver.ignoredPairs.empty() {
		return dst
	}
	return append(dst, ColumnHash{Name: "IgnoredPair", Hash: statehash.Rows(w.solver.ignoredPairs.keys)})
}

// alive reports whether a body of the snapshot lives.
func (im *snapshotImage) alive(body uint64) bool {
	return body < uint64(im.rows) && im.flags()[body]&aliveFlag != 0
}
