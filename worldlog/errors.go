package worldlog

import (
	"errors"
	"fmt"

	"github.com/evertick/evertick/internal/fault"
)

var (
	// ErrCorrupt: a log or a snapshot that is altered, incomplete or not ours.
	ErrCorrupt = fault.ErrCorrupt
	// ErrRange: a value outside its documented range; nothing was changed.
	ErrRange = fault.ErrRange
	// ErrUnsupported: a log of a format version that this package does not know.
	ErrUnsupported = fault.ErrUnsupported
	// ErrCapacity: a record that can never fit into the buffer, or a tick beyond
	// MaxTick or MaxRecords; nothing was changed.
	ErrCapacity = fault.ErrCapacity

	// ErrFull: under the policy Stop, the disk was too slow for the buffer. The
	// log ends with the last committed tick. It wraps ErrCapacity.
	ErrFull = fmt.Errorf("buffer full: %w", fault.ErrCapacity)
	// ErrPoisoned: a write or a sync failed. What the disk holds after DurableTick is
	// unknown, so the log accepts nothing more; Recover finds out. The error also
	// wraps the cause.
	ErrPoisoned = errors.New("log poisoned")
	// ErrTorn: the log ends within a tick, as after a crash; Recover cuts it. It
	// wraps ErrCorrupt.
	ErrTorn = fmt.Errorf("torn tail: %w", fault.ErrCorrupt)
	// ErrClosed: the log has been closed.
	ErrClosed = errors.New("log closed")
	// ErrLocked: another writer has the log open.
	ErrLocked = errors.New("log in use")
	// ErrBusy: earlier snapshots are still being written; this one was not taken.
	ErrBusy = errors.New("snapshots under way")
)

// CorruptError says where a log is damaged. It wraps ErrTorn if a crash while the end
// was being written can explain the damage, and ErrCorrupt otherwise.
type CorruptError struct {
	File   string // name in the directory of the log
	Offset int64  // of the damaged record, in the uncompressed file
	Tick   uint64 // the last whole tick before it, if HasTick
	Reason string

	HasTick bool
	Torn    bool
}

func (e *CorruptError) Error() string {
	after := "before its first whole tick"
	if e.HasTick {
		after = fmt.Sprintf("after tick %d", e.Tick)
	}
	return fmt.Sprintf("worldlog: %s, byte %d, %s: %s: %v", e.File, e.Offset, after, e.Reason, e.Unwrap())
}

// Unwrap returns ErrTorn or ErrCorrupt.
func (e *CorruptError) Unwrap() error {
	if e.Torn {
		return ErrTorn
	}
	return ErrCorrupt
}
