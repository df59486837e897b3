// Package fault holds the sentinel errors that every package of the module wraps, so that errors.Is
// gives one answer whichever package was called. It also holds the two forms of message that name
// the field, the index and the value.
//
// The public packages re-export the sentinels that they return.
package fault

import (
	"errors"
	"fmt"
)

var (
	// ErrCapacity: the fixed capacity is used up; nothing was changed.
	ErrCapacity = errors.New("capacity exceeded")
	// ErrBeyond: a body in a snapshot belongs to an entity beyond the existing ones. It wraps
	// ErrCapacity. Sim.Restore, which knows the entities, turns it into ErrCorrupt.
	ErrBeyond = fmt.Errorf("beyond the entities: %w", ErrCapacity)
	// ErrNotFinite: a NaN or an infinity where a finite number is needed.
	ErrNotFinite = errors.New("not finite")
	// ErrRange: a finite value outside the documented range.
	ErrRange = errors.New("out of range")
	// ErrStale: a handle or an id whose object is gone, or never was; or an index whose
	// points have changed.
	ErrStale = errors.New("stale")
	// ErrCorrupt: encoded data that is truncated, altered or not ours.
	ErrCorrupt = errors.New("corrupt data")
	// ErrUnsupported: a valid request that this build, host or backend lacks.
	ErrUnsupported = errors.New("unsupported")
	// ErrFloatEnv: the thread does not compute as IEEE 754 prescribes
	// (denormals flushed, or another rounding mode).
	ErrFloatEnv = errors.New("floating-point environment altered")
	// ErrDiverged: a run that was to repeat another one has another hash.
	ErrDiverged = errors.New("the run did not repeat itself")
)

// Field wraps err with the name of a field and the value found there:
// "spatial: Config.CellSize = -1: out of range".
func Field(err error, field string, value any) error {
	return fmt.Errorf("%s = %v: %w", field, value, err)
}

// Between returns an ErrRange that names the field unless v is from least to most.
func Between[T ~int | ~int64 | ~uint8](field string, v, least, most T) error {
	if v < least || v > most {
		return Field(ErrRange, field, v)
	}
	return nil
}

// Element wraps err with a field, the index into it and the value found there:
// "spatial: Queries.Radius[7] = NaN: not finite".
func Element(err error, field string, index int, value any) error {
	return fmt.Errorf("%s[%d] = %v: %w", field, index, value, err)
}

// Limit is a limit on the size of one value. Exceeded makes errors of it that cost one small
// allocation each, and no formatting: for refusals that come in floods.
type Limit struct {
	Field string // "loop: QueueConfig.MaxBytes"
	Value string // what is too large: "a value"
	Most  int64  // bytes
	Err   error  // what the errors wrap
}

// Exceeded returns the error for a value of so many bytes:
// "loop: QueueConfig.MaxBytes = 4, a value of 5 bytes never fits: queue full: capacity exceeded".
func (l *Limit) Exceeded(bytes int64) error { return &exceeded{l, bytes} }

type exceeded struct {
	limit *Limit
	bytes int64
}

func (e *exceeded) Error() string {
	return fmt.Sprintf("%s = %d, %s of %d bytes never fits: %v", e.limit.Field, e.limit.Most, e.limit.Value, e.bytes, e.limit.Err)
}

func (e *exceeded) Unwrap() error { return e.limit.Err }

// Finite reports whether v is neither NaN nor infinite. The difference of an
// infinity with itself is NaN, and NaN equals nothing.
func Finite[T float32 | float64](v T) bool {
	v = T(v) // or a product is fused with the difference, which is then its rounding error
	return v-v == 0
}
