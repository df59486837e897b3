package loop

import (
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/evertick/evertick/internal/enum"
	"github.com/evertick/evertick/internal/fault"
)

// ErrUnsupported is wrapped by the errors of [Loop.Run] and [NewClock] under
// [External].
var ErrUnsupported = fault.ErrUnsupported

// ErrStop ends [Loop.Run] from within a step: a step that returns it, or an
// error that wraps it, counts, the rest of its frame stays due, and Run returns
// nil. [Loop.Drive] returns what the step returned.
var ErrStop = errors.New("loop: stop")

// FaultPolicy says what Drive and Run do about a step that panics. Under every
// policy neither that step nor the steps after it in the frame count.
type FaultPolicy uint8

const (
	// Propagate lets the panic pass. The Loop is intact: a host that recovers may go
	// on, and the step is due again.
	Propagate FaultPolicy = iota
	// Halt turns the panic into a *PanicError and halts the Loop: it counts no
	// more time and grants no more steps, and Drive and Run return the same
	// error, until Loop.Resume or Loop.StartNew.
	Halt
	// Resume turns the panic into a *PanicError and leaves the step due, so that the
	// next frame tries it again: skipping it would leave a gap in the sequence of
	// ticks. The third panic in a row, with no step that succeeded in between, halts
	// the Loop as Halt does.
	Resume

	faultPolicies // number of policies
)

// panicLimit is the number of panics in a row that halts a Loop under Resume. The
// first may be an accident; the second shows whether it helped what the host did
// after the first.
const panicLimit = 3

// String returns the name of the constant, or "FaultPolicy(n)".
func (p FaultPolicy) String() string { return enum.Name(faultPolicyNames[:], p, "FaultPolicy") }

var faultPolicyNames = [faultPolicies]string{"Propagate", "Halt", "Resume"}

// PanicError is a panic in a step that was turned into an error.
type PanicError struct {
	Tick   uint64 // index of the step, which does not count
	System string // that panicked; empty if that is not known
	Value  any    // of the panic
	Stack  []byte // of the goroutine where it happened, in the format of debug.Stack
}

// Error names the tick, the system if it is known, and the value; not the stack.
func (e *PanicError) Error() string {
	if e.System == "" {
		return fmt.Sprintf("loop: tick %d: panic: %v", e.Tick, e.Value)
	}
	return fmt.Sprintf("loop: tick %d: system %s: panic: %v", e.Tick, e.System, e.Value)
}

// Unwrap returns the value of the panic if that is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// NewPanicError returns the error for a value that was recovered in the step tick,
// with the stack of the calling goroutine: call it in the deferred function that
// recovers. A value that is a *PanicError already, because another goroutine caught
// the panic and passed it on, is returned as it is.
func NewPanicError(tick uint64, system string, value any) *PanicError {
	if e, ok := value.(*PanicError); ok && e != nil {
		return e
	}
	return &PanicError{Tick: tick, System: system, Value: value, Stack: debug.Stack()}
}

// Fault returns the panic that halted the Loop, or nil if it is not halted.
func (l *Loop) Fault() *PanicError { return l.fault }

// Resume ends a halt: the step that panicked is due again. The time since then
// has moved the wall clock and its timers and nothing else.
func (l *Loop) Resume() {
	l.record(opResume)
	l.fault, l.panics = nil, 0
	l.recorded()
}

// runStep runs a step and, unless panics are to pass, turns one into an error.
func (l *Loop) runStep(tick uint64, step func(tick uint64) error) (err error) {
	if l.config.OnFault == Propagate {
		return step(tick)
	}
	defer func() {
		if value := recover(); value != nil { // nil also where the goroutine ends by runtime.Goexit
			err = NewPanicError(tick, "", value)
		}
	}()
	return step(tick)
}

// stepFailed returns what Drive returns for the error of a step. If the error is a
// panic, of the step or of a part of it that recovered, and the last one that the
// policy allows, stepFailed halts l.
func (l *Loop) stepFailed(tick uint64, err error) error {
	var p *PanicError
	if l.config.OnFault == Propagate || !errors.As(err, &p) {
		return fmt.Errorf("loop: tick %d: %w", tick, err)
	}
	l.panics++
	if l.config.OnFault == Halt || l.panics == panicLimit {
		l.fault = p
	}
	return p
}

// isStop reports whether the error of a step is ErrStop, and not a panic with it.
func isStop(err error) bool {
	var p *PanicError
	return errors.Is(err, ErrStop) && !errors.As(err, &p)
}
