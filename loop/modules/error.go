package modules

import (
	"errors"
	"fmt"

	"github.com/evertick/evertick/internal/enum"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/loop"
)

// Errors that this package wraps: test with errors.Is.
var (
	ErrRange     = fault.ErrRange     // a name that is empty or taken; a value outside its range; a Render that writes
	ErrNotFinite = fault.ErrNotFinite // a NaN or an infinity
	ErrStale     = fault.ErrStale     // a StepToken that was released

	ErrUnsupported = fault.ErrUnsupported // Config.CheckRender without anything to check

	// ErrStepTaken: another module holds the step token.
	ErrStepTaken = errors.New("step token is taken")
	// ErrClock: a service for updates that gives access to wall time.
	ErrClock = errors.New("carries a clock")
	// ErrNotRunning: the engine has not been started, or has been stopped.
	ErrNotRunning = errors.New("engine is not running")
	// ErrStarted: too late, as the engine was started.
	ErrStarted = errors.New("engine was started")

	// errStopping prevents steps after a tick that has ended Run.
	errStopping = errors.New("modules: stopping")
)

// Op is a method of a module.
type Op uint8

const (
	OpStart Op = iota
	OpUpdate
	OpCoordinate
	OpRender
	OpStop
)

var opNames = [...]string{"start", "update", "coordinate", "render", "stop"}

// String returns the name of the method, in lower case.
func (o Op) String() string { return enum.Name(opNames[:], o, "Op") }

// Error is the failure of a module.
type Error struct {
	Module string
	Op     Op
	// Tick is the tick that failed, for OpUpdate; otherwise the number of ticks
	// that were completed.
	Tick uint64
	// Err is what the module returned, or a *loop.PanicError.
	Err error
}

// Error names the module, the method and the tick.
func (e *Error) Error() string {
	if p, ok := e.Err.(*loop.PanicError); ok { // the text of p would repeat tick and module
		return fmt.Sprintf("modules: tick %d: %v of %q: panic: %v", e.Tick, e.Op, e.Module, p.Value)
	}
	return fmt.Sprintf("modules: tick %d: %v of %q: %v", e.Tick, e.Op, e.Module, e.Err)
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// recovered turns a panic of a module into an error. It is deferred around every
// call of one.
func recovered(err *error, module string, tick uint64) {
	if v := recover(); v != nil { // nil also where the goroutine ends by runtime.Goexit
		*err = loop.NewPanicError(tick, module, v)
	}
}

// stops reports whether the error of a module is loop.ErrStop, and not a panic
// with it.
func stops(err error) bool {
	if !errors.Is(err, loop.ErrStop) { // first, because what follows allocates
		return false
	}
	var p *loop.PanicError
	return !errors.As(err, &p)
}
