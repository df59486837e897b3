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
	// ErrStale: a handle whose body, shape, chain or joint is gone, or never was.
	ErrStale = fault.ErrStale
	// ErrUnsupported: a valid request that the engine cannot serve, or a snapshot of another
	// format version or other rules.
	ErrUnsupported = fault.ErrUnsupported
	// ErrCorrupt: a snapshot that is truncated, altered, or none.
	ErrCorrupt = fault.ErrCorrupt
	// ErrFloatEnv: the thread does not compute as IEEE 754 prescribes: denormals are flushed, or
	// rounding is another one.
	ErrFloatEnv = fault.ErrFloatEnv
)
