package loop

import "github.com/evertick/evertick/internal/fault"

// MaxTimers is the number of timers of a Loop.
const MaxTimers = 16

// TimerID names a timer: 0 to MaxTimers-1, as the program assigns them.
type TimerID uint8

// TimerClock is the time by which a timer runs.
type TimerClock uint8

const (
	// Wall is all elapsed time: pauses, freezes, menus and stalls included.
	Wall TimerClock = iota
	// UI is Frame.UINs: it stands still in menus and stalls, and goes on while
	// the simulation is paused or frozen.
	UI

	timerClocks // number of clocks
)

type timer struct {
	left  int64 // 0: not running
	clock TimerClock
}

// StartTimer starts timer id, again if it runs. Once ns nanoseconds of the
// clock have passed, counted from the last Advance, Frame.Timers has its bit
// set in that one frame. 0 stops the timer. A negative ns, an id from MaxTimers
// on and an unknown clock are ErrRange, and nothing changes.
func (l *Loop) StartTimer(id TimerID, clock TimerClock, ns int64) error {
	switch {
	case id >= MaxTimers:
		return fault.Field(ErrRange, "loop: StartTimer: id", uint8(id))
	case clock >= timerClocks:
		return fault.Field(ErrRange, "loop: StartTimer: clock", uint8(clock))
	case ns < 0:
		return fault.Field(ErrRange, "loop: StartTimer: ns", ns)
	}
	l.record(opStartTimer, uint64(id), uint64(clock), uint64(ns))
	l.timers[id] = timer{ns, clock}
	return nil
}

// TimerLeft returns the nanoseconds until timer id expires, 0 if it does not
// run. An id from MaxTimers on panics.
func (l *Loop) TimerLeft(id TimerID) int64 {
	if id >= MaxTimers {
		panic("loop: TimerLeft: no such timer")
	}
	return l.timers[id].left
}

// runTimers moves the timers of a clock on and returns those that expired.
func (l *Loop) runTimers(clock TimerClock, ns int64) (expired uint16) {
	for i := range l.timers {
		t := &l.timers[i]
		if t.clock != clock || t.left == 0 {
			continue
		}
		if t.left = max(0, t.left-ns); t.left == 0 {
			expired |= 1 << i
		}
	}
	return expired
}
