package physics

import "github.com/evertick/evertick/internal/fault"

// The sentinels that errors of this package wrap; test with errors.Is.
var (
	// ErrCapacity: every body or shape index is in use.
	ErrCapacity = fault.ErrCapacity
	// ErrNotFinite: an argument, or the state after a step, is NaN or infinite.
	ErrNotFinite = fault.ErrNotFinite
	// ErrRange: a finite value outside the documented range.
	ErrRange = fault.ErrRange
	// ErrStale: a handle whose body or shape is gone, or never was.
	ErrStale = fault.ErrStale
	// ErrUnsupported: a valid request that the engine cannot serve, or a snapshot of another
	// format version or other rules.
	ErrUnsupported = fault.ErrUnsupported
	// ErrCorrupt: a snapshot that is truncated, altered, or none.
	ErrCorrupt = fault.ErrCorrupt
)
