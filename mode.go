package evertick

import (
	"math"
	"math/bits"
	"time"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/schedule"
	"github.com/evertick/evertick/internal/wire"
)

const (
	// modes is the number of modes: the bits of System.Modes.
	modes = 64
	// noMode is the value of Sim.planMode before a mode is known.
	noMode = -1
)

// SetMode sets the mode in which the following ticks run, 0 to 63. The program gives the numbers a
// meaning, such as menu, playing, paused. Systems run only in the modes of System.Modes, the physics
// in the modes of Config.PhysicsModes, and timers in the modes of AddTimer; everything else runs in all
// modes. A Sim begins in mode 0. A mode from 64 on is ErrRange, and nothing changes.
//
// The running tick keeps its mode to its end, so all its systems see the same one. The last call in
// a tick decides. The mode is part of the state: Snapshot, Hash, Diff and StepBack include it. If a
// system calls SetMode because of an input, a replay sets the mode as well; a call between ticks is
// in no log. Among systems that run side by side, at most one may call SetMode.
//
// To stop whole ticks use Loop: its SetPaused, SetMenu and SetPhase belong to the host and are not
// part of the state. Then no system runs, no input is taken, and Ticks does not change.
func (s *Sim) SetMode(mode uint8) error {
	if mode >= modes {
		return fault.Field(ErrRange, "evertick: SetMode: mode", mode)
	}
	s.mode = mode
	return nil
}

// Mode returns the mode of the running tick, or of the next one if none runs.
func (s *Sim) Mode() uint8 {
	if s.stepping {
		return s.tickMode
	}
	return s.mode
}

// Timer counts ticks of simulated time down: the time until a mission ends, a wave comes, or a door
// closes. It is part of the state, as column "state.<name>" of the hash.
//
// At the start of each tick, after the BeforeTick hooks and before the first system, a timer that
// runs takes one tick from Left. When Left becomes 0 the timer expires: Expired is true in that tick,
// and only in it. From the next tick on the timer counts Overtime, and Left stays 0. A tick in a mode
// that is not among those of AddTimer changes neither.
//
// So after Set(3) in tick n a timer expires in tick n+3, and after Set(3) between ticks, or in a
// BeforeTick hook, in the third tick that runs. Set(0) has the effect of Set(1). A timer that was
// never set does not expire: it counts Overtime from its Start on, as a stopwatch. Both counts stop at
// math.MaxUint64.
//
// Methods may be called by systems, hooks, and between ticks. Systems that run side by side name the
// timer as "state.<name>" in Reads and Writes. Methods allocate nothing.
type Timer struct {
	modes          uint64
	left, overtime uint64
	running        bool
	armed          bool // it will expire
	expired        bool // in this tick
}

// AddTimer adds a timer that runs in the modes whose bits are set, or in all modes if modes is 0: see
// SetMode. The timer is stopped, and Left is 0. Rules for the name and errors are those of AddState,
// and no timer has the name of a state. Snapshot contains the timer, and Restore needs a Sim with the
// same timers.
func (s *Sim) AddTimer(name string, modes uint64) (*Timer, error) {
	t := &Timer{modes: modes}
	if err := s.addState("evertick: AddTimer", name, timerState{t}); err != nil {
		return nil, err
	}
	s.timers = append(s.timers, t)
	return t, nil
}

// Start makes the timer run, from the next tick on.
func (t *Timer) Start() { t.running = true }

// Stop stops the timer. It keeps Left and Overtime for the next Start.
func (t *Timer) Stop() { t.running = false }

// Running reports whether the timer runs. A timer that has expired runs on until Stop.
func (t *Timer) Running() bool { return t.running }

// Set sets the ticks that are left, and Overtime to 0. It neither starts nor stops the timer.
// Sim.TicksIn converts a duration to ticks.
func (t *Timer) Set(ticks uint64) { t.left, t.overtime, t.armed = ticks, 0, true }

// Add adds ticks to Left, or takes them away if negative; Left stays between 0 and math.MaxUint64. If
// that takes the last one, the timer expires in the next tick in which it runs. A timer that has
// expired, or was never set, and then gets time, will expire, and goes on to count from the same
// Overtime.
func (t *Timer) Add(ticks int64) {
	if ticks <= 0 {
		t.left -= min(t.left, -uint64(ticks))
		return
	}
	t.left += min(math.MaxUint64-t.left, uint64(ticks))
	t.armed = true
}

// Left returns the ticks that are left. Loop.TimeAt converts them to seconds.
func (t *Timer) Left() uint64 { return t.left }

// Overtime returns the number of ticks in which the timer has run since it expired.
func (t *Timer) Overtime() uint64 { return t.overtime }

// Expired reports whether the timer has expired at the start of the running tick. Between ticks, and
// in a BeforeTick hook, it reports whether it had in the last tick.
func (t *Timer) Expired() bool { return t.expired }

// TicksIn returns the number of ticks of simulated time in d: d × rate, computed exactly and then
// rounded to the nearest whole number, halves up. It is 0 if d is negative.
func (s *Sim) TicksIn(d time.Duration) uint64 {
	const nsPerSecond = 1_000_000_000
	num, den := s.loop.TimeAt(0).Rate()
	// Nothing overflows: d < 2^63 ns at no more than 1e6 ticks per second is less than 2^54 ticks,
	// and 2 × 1e9 × den < 2^58.
	hi, lo := bits.Mul64(uint64(max(d, 0)), 2*uint64(num))
	lo, carry := bits.Add64(lo, nsPerSecond*uint64(den), 0)
	ticks, _ := bits.Div64(hi+carry, lo, 2*nsPerSecond*uint64(den))
	return ticks
}

// drainTimers begins a tick for all timers.
func (s *Sim) drainTimers() {
	for _, t := range s.timers {
		t.expired = false
		if t.running && schedule.InModes(t.modes, s.tickMode) {
			t.drain()
		}
	}
}

func (t *Timer) drain() {
	t.left -= min(t.left, 1)
	switch {
	case t.left > 0:
	case t.armed:
		t.armed, t.expired = false, true
	default:
		t.overtime += min(math.MaxUint64-t.overtime, 1)
	}
}

// timerState makes a Timer a State. Its bytes are uint64 left and overtime, and a byte of flags.
type timerState struct{ *Timer }

const (
	timerRunning = 1 << iota
	timerArmed
	timerExpired
	timerFlags

	timerBytes = 2*8 + 1
)

func (s timerState) AppendState(dst []byte) []byte {
	var flags byte
	for _, f := range [...]struct {
		on  bool
		bit byte
	}{{s.running, timerRunning}, {s.armed, timerArmed}, {s.expired, timerExpired}} {
		if f.on {
			flags |= f.bit
		}
	}
	return append(wire.AppendU64s(dst, s.left, s.overtime), flags)
}

func (s timerState) RestoreState(src []byte) error {
	if len(src) != timerBytes {
		return fault.Field(ErrCorrupt, "evertick: timer: length", len(src))
	}
	r := wire.NewReader(src)
	left, overtime, flags := r.U64(), r.U64(), r.U8()
	if flags >= timerFlags {
		return fault.Field(ErrCorrupt, "evertick: timer: flags", flags)
	}
	if left > 0 && flags&timerArmed == 0 {
		return fault.Field(ErrCorrupt, "evertick: timer that never expires: ticks left", left)
	}
	s.left, s.overtime = left, overtime
	s.running, s.armed, s.expired = flags&timerRunning != 0, flags&timerArmed != 0, flags&timerExpired != 0
	return nil
}
