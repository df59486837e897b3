package physics

import (
	"fmt"

	"github.com/evertick/evertick/internal/fault"
)

// The sentinels that errors of this package wrap; test with errors.Is.
var (
	// ErrCapacity: every index of a body, shape, chain or joint is in use.
	ErrCapacity = fault.ErrCapacity
	// ErrNotFinite: an argument, or the state after a step, is NaN or infinite.
	ErrNotFinite = fault.ErrNotFinite
	// ErrRange: a finite value outside the documented range.
	ErrRange = fault.ErrRange
	// ErrStale: a handle whose body, shape, chain or joint is destroyed, or never existed.
	ErrStale = fault.ErrStale
	// ErrUnsupported: a valid request that the engine does not support, or a snapshot of another
	// format version or other rules.
	ErrUnsupported = fault.ErrUnsupported
	// ErrCorrupt: data that is a truncated or altered snapshot, or no snapshot.
	ErrCorrupt = fault.ErrCorrupt
	// ErrFloatEnv: the thread does not compute as IEEE 754 prescribes: it flushes denormals, or
	// rounds in another mode.
	ErrFloatEnv = fault.ErrFloatEnv
)

func checkFinite(field string, v float32) error {
	if !fault.Finite(v) {
		return fault.Field(ErrNotFinite, field, v)
	}
	return nil
}

func checkFinite2(field string, v [2]float32) error {
	for i := range v {
		if !fault.Finite(v[i]) {
			return fault.Element(ErrNotFinite, field, i, v[i])
		}
	}
	return nil
}

func checkNotNegative(field string, v float32) error {
	if err := checkFinite(field, v); err != nil {
		return err
	}
	if v < 0 {
		return fault.Field(ErrRange, field, v)
	}
	return nil
}

func checkPositive(field string, v float32) error {
	if err := checkFinite(field, v); err != nil {
		return err
	}
	if v <= 0 {
		return fault.Field(ErrRange, field, v)
	}
	return nil
}

// checkBetween requires a finite value from low to high, and less than valueLimit either way.
func checkBetween(field string, v, low, high float32) error {
	if err := checkFinite(field, v); err != nil {
		return err
	}
	if !inRange(v) || v < low || v > high {
		return fault.Field(ErrRange, field, v)
	}
	return nil
}

// maxTuning bounds coefficients, so that products of a few of them do not overflow.
const maxTuning = 1e6

func checkTuning(field string, v float32) error { return checkBetween(field, v, 0, maxTuning) }

func checkMagnitude(field string, v float32) error { return checkBetween(field, v, 0, valueLimit) }

// because appends the rule that was broken, where the value alone does not explain
// the error.
func because(err error, rule string) error {
	return fmt.Errorf("%w: %s", err, rule)
}
