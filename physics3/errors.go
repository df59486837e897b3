package physics3

import (
	"github.com/evertick/evertick/internal/check"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/rigid3"
)

// The sentinels that errors of this package wrap; test with errors.Is.
var (
	// ErrCapacity: every index of a body, shape or joint is in use.
	ErrCapacity = fault.ErrCapacity
	// ErrNotFinite: an argument, or the state after a step, is NaN or infinite.
	ErrNotFinite = fault.ErrNotFinite
	// ErrRange: a finite value outside the documented range.
	ErrRange = fault.ErrRange
	// ErrStale: a handle whose body, shape or joint is destroyed, or never existed.
	ErrStale = fault.ErrStale
	// ErrUnsupported: a valid request that the world does not support, or a snapshot of another format version or other
	// rules.
	ErrUnsupported = fault.ErrUnsupported
	// ErrCorrupt: data that is a truncated or altered snapshot, or no snapshot.
	ErrCorrupt = fault.ErrCorrupt
	// ErrFloatEnv: the thread does not compute as IEEE 754 prescribes: it flushes denormals, or
	// rounds in another mode.
	ErrFloatEnv = fault.ErrFloatEnv
)

// checkVector requires finite numbers.
func checkVector(field string, v [3]float32) error { return check.Vector(field, v[:]) }

// checkPlace requires finite numbers that are in range.
func checkPlace(field string, v [3]float32) error {
	if err := check.Vector(field, v[:]); err != nil {
		return err
	}
	for i := range v {
		if !check.InRange(v[i]) {
			return check.Because(fault.Element(ErrRange, field, i, v[i]), "2^63 or more")
		}
	}
	return nil
}

func inRange(v rigid3.Vec) bool {
	return check.InRange(v.X) && check.InRange(v.Y) && check.InRange(v.Z)
}
