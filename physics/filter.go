package physics

import (
	"github.com/evertick/evertick/internal/buffer"
	"github.com/evertick/evertick/internal/check"
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
	i, k, err := w.pairOf("physics: IgnorePair: b", a, b)
	if err == nil {
		w.solver.ignoredPairs.Add(i, k)
		w.solver.wakeBothUnlessNew(a, b)
	}
	return err
}

// UnignorePair reverses IgnorePair. It has no effect on a pair that is not ignored. Errors are
// those of IgnorePair.
func (w *World) UnignorePair(a, b Body) error {
	i, k, err := w.pairOf("physics: UnignorePair: b", a, b)
	if err == nil {
		w.solver.ignoredPairs.Remove(i, k)
		w.solver.wakeBothUnlessNew(a, b)
	}
	return err
}

// PairIgnored reports whether two bodies, in either order, are an ignored pair. Errors are those
// of IgnorePair.
func (w *World) PairIgnored(a, b Body) (bool, error) {
	i, k, err := w.pairOf("physics: PairIgnored: b", a, b)
	return err == nil && w.solver.ignoredPairs.Has(i, k), err
}

func (w *World) pairOf(field string, a, b Body) (i, k int, err error) {
	if i, err = w.solverRow(a); err != nil {
		return 0, 0, err
	}
	if k, err = w.solverRow(b); err != nil {
		return 0, 0, err
	}
	if i == k {
		return 0, 0, check.Because(fault.Field(ErrRange, field, b), "equals a")
	}
	return i, k, nil
}

// pairIgnored reports whether the bodies of two shapes are an ignored pair.
func (s *solver) pairIgnored(a, b uint32) bool {
	of := s.shapes.filters.Body
	return !s.ignoredPairs.Empty() && s.ignoredPairs.Has(int(of[a]), int(of[b]))
}

// The frame "pairs": a uint64 for each pair of IgnorePair, the lower body in the upper half,
// ascending.

func (w *World) encodePairs(e *frame.Encoder) { e.Rows(buffer.Bytes(w.solver.ignoredPairs.Keys), 8) }

func (im *snapshotImage) readPairs(b []byte) error {
	if len(b)%8 != 0 {
		return im.Corrupt("length of the pairs", len(b))
	}
	im.pairs = buffer.Resized(im.pairs, len(b)/8)
	for i := range im.pairs {
		key := wire.U64At(b, i)
		low, high := key>>32, key&0xffffffff
		if low >= high || !im.alive(high) || !im.alive(low) || i > 0 && key <= im.pairs[i-1] {
			return im.CorruptElement("pair", i, [2]uint64{low, high})
		}
		im.pairs[i] = key
	}
	return nil
}

func (w *World) restorePairs(im *snapshotImage) { w.solver.ignoredPairs.Set(im.pairs) }

func (w *World) copyPairs(src *World) { w.solver.ignoredPairs.Set(src.solver.ignoredPairs.Keys) }

func (w *World) hashPairs(dst []ColumnHash) []ColumnHash {
	if w.solver.ignoredPairs.Empty() {
		return dst
	}
	return append(dst, ColumnHash{Name: "IgnoredPair", Hash: statehash.Rows(w.solver.ignoredPairs.Keys)})
}

// alive reports whether a body of the snapshot lives.
func (im *snapshotImage) alive(body uint64) bool {
	return body < uint64(im.rows) && im.flags()[body]&aliveFlag != 0
}
