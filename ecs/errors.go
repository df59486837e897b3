package ecs

import "github.com/evertick/evertick/internal/fault"

// The errors of this package wrap one of these; test with errors.Is.
var (
	// ErrCapacity: no free slot, tag or column is left, or a snapshot has more
	// rows than the world.
	ErrCapacity = fault.ErrCapacity
	// ErrNotFinite: NaN or infinity in a checked write.
	ErrNotFinite = fault.ErrNotFinite
	// ErrRange: a capacity, name or number outside its documented range.
	ErrRange = fault.ErrRange
	// ErrStale: an id whose entity is gone, or never was.
	ErrStale = fault.ErrStale
	// ErrCorrupt: a snapshot or a textual id that is truncated, altered, or no
	// such thing.
	ErrCorrupt = fault.ErrCorrupt
	// ErrUnsupported: a snapshot of another format version, a column that two
	// sides have in different types, or one of a type that no column can have.
	ErrUnsupported = fault.ErrUnsupported
)
