package jetstream

import (
	"errors"
	"fmt"

	"github.com/evertick/evertick/internal/fault"
)

var (
	// ErrFenced: another master has begun a higher term. It is wrapped by *FencedError.
	ErrFenced = errors.New("fenced by another master")
	// ErrForeign: the stream is of another run.
	ErrForeign = errors.New("stream of another run")
	// ErrLost: the stream has ticks that the local log lacks, as after a power cut.
	ErrLost = errors.New("the local log lacks ticks of the stream")
	// ErrBranched: the local log has ticks that the stream lacks. It is wrapped by *BranchedError.
	ErrBranched = errors.New("the local log has ticks that the stream lacks")
	// ErrBehind: the stream lacks more ticks than ShipConfig.MaxBehind allows.
	ErrBehind = errors.New("too many ticks are not in the stream")
	// ErrTrimmed: the stream no longer has the messages that are needed.
	ErrTrimmed = errors.New("the stream was trimmed")
	// ErrGap: a message is missing within the stream. It wraps ErrCorrupt.
	ErrGap = fmt.Errorf("gap: %w", fault.ErrCorrupt)
	// ErrForged: a message whose checksum is wrong: damaged, made with another key, or by somebody without it. It
	// wraps ErrCorrupt.
	ErrForged = fmt.Errorf("forged or damaged: %w", fault.ErrCorrupt)
	// ErrClosed: the Shipper or Follower has been closed, or has passed its Sim on.
	ErrClosed = errors.New("closed")

	// ErrCorrupt: a message that breaks the format, or does not follow the one before.
	ErrCorrupt = fault.ErrCorrupt
	// ErrUnsupported: another scenario, SimVersion or format version.
	ErrUnsupported = fault.ErrUnsupported
	// ErrRange: a field of a configuration outside its documented range.
	ErrRange = fault.ErrRange
)

// FencedError says that a master has lost the stream. It wraps ErrFenced.
type FencedError struct {
	Term, By uint64 // its own term, and the term of the master that has the stream now; 0: unknown
	// From and To are the first and the last tick of the local log that are not in the stream; none if To < From.
	From, To uint64
}

// Error implements error.
func (e *FencedError) Error() string {
	text := fmt.Sprintf("jetstream: term %d: the stream has term %d", e.Term, e.By)
	if e.By == 0 {
		text = fmt.Sprintf("jetstream: term %d: another master has written to the stream, which has lost its messages", e.Term)
	}
	if e.To >= e.From {
		text += fmt.Sprintf("; ticks %d to %d of the local log are not in the stream", e.From, e.To)
	}
	return text + ": " + ErrFenced.Error()
}

// Unwrap returns ErrFenced.
func (e *FencedError) Unwrap() error { return ErrFenced }

// BranchedError says where a local log and a stream part. It wraps ErrBranched.
type BranchedError struct {
	Dir    string // of the local log
	Common uint64 // ticks from the first one on that both have
	Local  uint64 // ticks in the local log
	Stream uint64 // ticks in the stream
}

// Error implements error.
func (e *BranchedError) Error() string {
	return fmt.Sprintf("jetstream: log in %s: %d ticks, the stream has %d, of which the first %d are the same; follow into another directory, or set FollowConfig.SetAside: %v",
		e.Dir, e.Local, e.Stream, e.Common, ErrBranched)
}

// Unwrap returns ErrBranched.
func (e *BranchedError) Unwrap() error { return ErrBranched }
