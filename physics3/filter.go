package physics3

import (
	"github.com/evertick/evertick/internal/check"
	"github.com/evertick/evertick/internal/fault"
)

// IgnorePair lets the shapes of two bodies pass through each other, regardless of their filters, until UnignorePair, or until one of the bodies
// is destroyed. Sensors of one do not detect the other either. Contacts between them end in the next step, with End events. It has no effect
// on a pair that is already ignored. Errors: ErrStale, and ErrRange if a equals b.
func (w *World) IgnorePair(a, b Body) error {
	i, k, err := w.pairOf("physics3: IgnorePair: b", a, b)
	if err == nil {
		w.solver.ignoredPairs.Add(i, k)
		w.solver.sleep.WakeUnlessNew(i)
		w.solver.sleep.WakeUnlessNew(k)
	}
	return err
}

// UnignorePair reverses IgnorePair. It has no effect on a pair that is not ignored. Errors are those of IgnorePair.
func (w *World) UnignorePair(a, b Body) error {
	i, k, err := w.pairOf("physics3: UnignorePair: b", a, b)
	if err == nil {
		w.solver.ignoredPairs.Remove(i, k)
		w.solver.sleep.WakeUnlessNew(i)
		w.solver.sleep.WakeUnlessNew(k)
	}
	return err
}

// PairIgnored reports whether two bodies, in either order, are an ignored pair. Errors are those of IgnorePair.
func (w *World) PairIgnored(a, b Body) (bool, error) {
	i, k, err := w.pairOf("physics3: PairIgnored: b", a, b)
	return err == nil && w.solver.ignoredPairs.Has(i, k), err
}

func (w *World) pairOf(field string, a, b Body) (i, k int, err error) {
	if i, err = w.row(a); err != nil {
		return 0, 0, err
	}
	if k, err = w.row(b); err != nil {
		return 0, 0, err
	}
	if i == k {
		return 0, 0, check.Because(fault.Field(ErrRange, field, b), "equals a")
	}
	return i, k, nil
}

// pairIgnored reports whether the bodies of two shapes pass through each other: they are an ignored pair, or a joint prevents their collision.
func (s *solver) pairIgnored(a, b uint32) bool {
	of := s.shapes.filters.Body
	return !s.ignoredPairs.Empty() && s.ignoredPairs.Has(int(of[a]), int(of[b])) || s.jointPreventsCollision(of[a], of[b])
}

// ignoresPairs reports whether pairIgnored can be true.
func (s *solver) ignoresPairs() bool { return !s.ignoredPairs.Empty() || s.joints.noCollide > 0 }

// bodiesIgnored is pairIgnored for two bodies.
func (s *solver) bodiesIgnored(a, b uint32) bool {
	return s.ignoredPairs.Has(int(a), int(b)) || s.jointPreventsCollision(a, b)
}
