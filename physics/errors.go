package physics

import "github.com/evertick/evertick/internal/fault"

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
