package physics

import (
	"slices"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/frame"
	"github.com/evertick/evertick/internal/wire"
)

// IgnorePair lets the shapes of two bodies pass through each other, whatever their filters
// say, until UnignorePair, or until one of the bodies is destroyed: sensors of the one do not see the
// other either. What touches then ends to touch in the next step, with its End events. It does nothing
// to a pair that is ignored. Errors: ErrStale; ErrRange if the two are one; and ErrUnsupported
// from another engine.
func (w *World) IgnorePair(a, b Body) error {
	key, err := w.pairOf("physics: IgnorePair: b", a, b)
	if err == nil {
		w.solver.pairTable.ignore(key)
		w.solver.equipBoth(a, b)
	}
	return err
}

// UnignorePair ends what IgnorePair began. It does nothing to a pair that is not ignored. Errors are
// those of IgnorePair.
func (w *World) UnignorePair(a, b Body) error {
	key, err := w.pairOf("physics: UnignorePair: b", a, b)
	if err == nil {
		w.solver.pairTable.unignore(key)
		w.solver.equipBoth(a, b)
	}
	return err
}

// PairIgnored reports whether IgnorePair was called for two bodies, in either order. Errors are those
// of IgnorePair.
func (w *World) PairIgnored(a, b Body) (bool, error) {
	key, err := w.pairOf("physics: PairIgnored: b", a, b)
	if err != nil {
		return false, err
	}
	_, ok := slices.BinarySearch(w.solver.pairTable.keys, key)
	return ok, nil
}

func (w *World) pairOf(field string, a, b Body) (uint64, error) {
	i, err := w.solved(a)
	if err != nil {
		return 0, err
	}
	k, err := w.solved(b)
	if err != nil {
		return 0, err
	}
	if i == k {
		return 0, because(fault.Field(ErrRange, field, b), "equals a")
	}
	return pairKey(i, k), nil
}

// pairKey orders pairs of bodies by the lower one, then by the other one.
func pairKey(a, b int) uint64 { return uint64(min(a, b))<<32 | uint64(max(a, b)) }

// pairTable holds the pairs of bodies that pass through each other.
type pairTable struct {
	keys []uint64 // keys, ascending
	of   []uint32 // by body: in how many of them it is; nil before there is one
	room int      // bodies
}

func (t *pairTable) empty() bool { return len(t.keys) == 0 }

// ignored reports whether two shapes pass through each other as their bodies do.
func (s *solver) ignored(a, b uint32) bool {
	t := &s.pairTable
	if t.empty() {
		return false
	}
	x, y := s.shapes.filters.Body[a], s.shapes.filters.Body[b]
	if t.of[x] == 0 || t.of[y] == 0 {
		return false
	}
	_, ok := slices.BinarySearch(t.keys, pairKey(int(x), int(y)))
	return ok
}

func (t *pairTable) count(key uint64, by uint32) {
	if t.of == nil {
		t.of = make([]uint32, t.room)
	}
	t.of[key>>32] += by
	t.of[uint32(key)] += by
}

func (t *pairTable) ignore(key uint64) {
	if at, ok := slices.BinarySearch(t.keys, key); !ok {
		t.keys = slices.Insert(t.keys, at, key)
		t.count(key, 1)
	}
}

func (t *pairTable) unignore(key uint64) {
	if at, ok := slices.BinarySearch(t.keys, key); ok {
		t.keys = slices.Delete(t.keys, at, at+1)
		t.count(key, ^uint32(0))
	}
}

// drop forgets a body.
func (t *pairTable) drop(body int) {
	if t.of == nil || t.of[body] == 0 {
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

// become replaces the table.
func (t *pairTable) become(keys []uint64) {
	t.keys = t.keys[:0]
	clear(t.of)
	for _, key := range keys {
		t.keys = append(t.keys, key)
		t.count(key, 1)
	}
}

// The frame "pairs": a uint64 for each pair of IgnorePair, the lower body in the upper half,
// ascending.

func (t *pairTable) encode(e *frame.Encoder) {
	e.Open(t.bytes())
	e.Rows(raw(t.keys), 8)
	e.Seal()
}

func (t *pairTable) bytes() int { return 8 * len(t.keys) }

func (im *image) readPairs(b []byte) error {
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

// alive reports whether a body of the snapshot lives.
func (im *image) alive(body uint64) bool {
	return body < uint64(im.rows) && im.flags()[body]&aliveFlag != 0
}
