package loop

import (
	"fmt"
	"runtime"
	"strconv"
	"strings"

	"github.com/evertick/evertick/internal/enum"
	"github.com/evertick/evertick/internal/fault"
)

// Pacing says how Run waits for the next frame. It decides when steps run, never
// what they compute.
type Pacing uint8

const (
	// Sleep waits by the runtime's timers: next to no CPU, and late by up to
	// about a millisecond on Linux. See [SystemClock].
	Sleep Pacing = iota
	// Precise sleeps until shortly before the frame is due and reads the clock
	// without a pause for the rest: late by some microseconds, for a few per
	// cent of a CPU, which Config.SpinBudget bounds. See [PreciseClock]. On js and
	// wasip1 it is Sleep: see Effective.
	Precise
	// Spin reads the clock without a pause for the whole time: it takes a whole
	// CPU, and does not depend on the system's timers. See [SpinClock]. On js and
	// wasip1 it is Sleep: see Effective.
	Spin
	// External leaves frames to the host, which calls Advance or Drive; Run is
	// ErrUnsupported unless it is given a clock.
	External
	// Uncapped never waits: time jumps to the moment when the next step is due,
	// so that steps follow each other as fast as they can be computed, one a
	// frame at a scale of 1. Everything that is counted in time, such as timers,
	// uses that time, not wall time. A paused loop makes empty frames as fast.
	Uncapped

	pacings // number of ways
)

var pacingNames = [pacings]string{"Sleep", "Precise", "Spin", "External", "Uncapped"}

// String returns the name of the constant, or "Pacing(n)".
func (p Pacing) String() string { return enum.Name(pacingNames[:], p, "Pacing") }

// oneThread reports that one thread runs all goroutines, and in a browser also the page: on js and
// wasip1. A clock that reads the time without a pause would stop both.
const oneThread = runtime.GOARCH == "wasm"

// Effective returns the Pacing that this system uses for p. That is p itself, except on js and wasip1,
// where Precise and Spin are Sleep: there one thread runs all goroutines and the page, and a clock
// that reads the time without a pause would stop them.
func (p Pacing) Effective() Pacing {
	if oneThread && (p == Precise || p == Spin) {
		return Sleep
	}
	return p
}

// ParsePacing returns the Pacing that String prints as name, whatever the case
// of its ASCII letters. Its error wraps ErrRange.
func ParsePacing(name string) (Pacing, error) {
	for p, known := range pacingNames {
		// EqualFold also takes letters of other alphabets, but these have more bytes.
		if len(name) == len(known) && strings.EqualFold(name, known) {
			return Pacing(p), nil
		}
	}
	return 0, fault.Field(ErrRange, "loop: pacing", strconv.Quote(name))
}

// PacingClock is a Clock that says how it waits.
type PacingClock interface {
	Clock
	// Method names how the clock waits on this host, for reports: "timer",
	// "clock_nanosleep and spin", "timer and spin", "spin" or "jump".
	Method() string
}

// NewClock returns a clock of its own for one Run, for p.Effective. External has none, which is
// ErrUnsupported; an unknown Pacing is ErrRange.
func NewClock(p Pacing) (PacingClock, error) {
	switch p.Effective() {
	case Sleep:
		return new(SystemClock), nil
	case Precise:
		return new(PreciseClock), nil
	case Spin:
		return new(SpinClock), nil
	case Uncapped:
		return &ManualClock{Jump: true}, nil
	case External:
		return nil, fmt.Errorf("loop: pacing External: no clock, since the host calls Advance or Drive: %w", ErrUnsupported)
	}
	return nil, fault.Field(ErrRange, "loop: pacing", p)
}
