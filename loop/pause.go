package loop

import "github.com/evertick/evertick/internal/fault"

// maxPhases is the number of bits of Config.Phases.
const maxPhases = 64

// SetPaused stops simulated time or lets it go on. While it is stopped the
// accumulator stays, no step is granted, and wall and UI time go on. It cancels
// RunThenPause. From within a step it stops the rest of the frame that Drive or
// Run is running; a host that runs the steps of a Frame itself decides about them.
func (l *Loop) SetPaused(on bool) {
	l.record(opSetPaused, bit(on))
	l.paused, l.armed = on, false
}

// Paused reports whether SetPaused or RunThenPause has stopped time.
func (l *Loop) Paused() bool { return l.paused || l.armed && l.tick == l.pauseAt }

// RunThenPause lets time continue, grants exactly n more steps and then pauses; 0
// pauses at once. A step that Run or Drive put back because it failed does not count
// as granted. Steps of the last frame that were due beyond the n-th stay due. If a
// step that Drive or Run runs calls it, that step is the first of the n, and counts
// also for n = 0.
func (l *Loop) RunThenPause(n uint64) {
	l.record(opRunThenPause, n)
	l.paused, l.armed, l.pauseAt = false, true, l.tick+max(n, min(l.running, 1))
}

// SetMenu opens or closes a menu over everything: while it is open Advance
// moves wall time and the timers of Wall and nothing else. Freezes and the
// expiry of scales wait, too.
func (l *Loop) SetMenu(on bool) {
	l.record(opSetMenu, bit(on))
	l.menu = on
}

// SetPhase enters a phase of the program, 0 to 63; a Loop begins in phase 0. Simulated time stands,
// as in a pause, in phases that Config.Phases does not name. A phase from 64 on is ErrRange, and
// nothing changes. A phase gates whole steps and is no part of the simulation; to gate some systems
// of a step while others run, use Sim.SetMode of package evertick.
func (l *Loop) SetPhase(phase uint8) error {
	if phase >= maxPhases {
		return fault.Field(ErrRange, "loop: SetPhase: phase", phase)
	}
	l.record(opSetPhase, uint64(phase))
	l.phase = phase
	return nil
}

// Phase returns the phase last entered.
func (l *Loop) Phase() uint8 { return l.phase }

// gated reports whether the phase holds the steps back.
func (l *Loop) gated() bool { return l.config.Phases != 0 && l.config.Phases>>l.phase&1 == 0 }

// held reports whether anything but a freeze holds steps back.
func (l *Loop) held() bool { return l.Paused() || l.gated() }

// Freeze stops simulated time for the next ns nanoseconds of wall time, to the
// nanosecond, however they are cut into frames; of two freezes the one that
// ends later counts. Config.FreezeFrames counts whole frames instead. When it ends, or at once if ns is 0, the channel Dilation
// returns to rest, whatever owner holds it. It begins at the end of the last frame, so
// steps that were granted already still run, also if one of them calls it. A
// negative ns is ErrRange, and nothing changes. Under Config.Batch a freeze does
// not hold steps back.
func (l *Loop) Freeze(ns int64) error {
	if ns < 0 {
		return fault.Field(ErrRange, "loop: Freeze: ns", ns)
	}
	l.record(opFreeze, uint64(ns))
	if ns == 0 {
		l.thaw()
		return nil
	}
	l.frozen = max(l.frozen, ns)
	return nil
}

// Frozen returns the nanoseconds that are left of a freeze: of wall time, or with Config.FreezeFrames of what frames count.
func (l *Loop) Frozen() int64 { return l.frozen }

// thaw ends the freeze.
func (l *Loop) thaw() {
	l.frozen = 0
	l.channels[Dilation] = channel{value: l.limits[Dilation].rest}
	l.rescale()
}
