package loop

import (
	"math"
	"math/bits"
)

// Frame is what one call of Advance decided, and what a host publishes once a
// frame. Frames are comparable.
type Frame struct {
	// Tick is the number of steps granted since New, this frame's included,
	// and so the index of the first step of a later frame. The steps to run
	// now are FirstTick() to Tick-1; the very first step of a Loop is step 0.
	// Under Realtime it counts the steps that were skipped, too.
	Tick uint64
	// Steps is the number of steps to run now, at most Config.MaxSteps, or what
	// Config.CapScales makes of it.
	Steps int
	// SimNs is the simulated time of Steps in nanoseconds: the difference of
	// the whole nanoseconds at the end and at the start, so that sums over
	// frames do not drift.
	SimNs int64
	// ElapsedNs is the argument of Advance, 0 for a negative one.
	ElapsedNs int64
	// RawNs is the part of ElapsedNs, or of what Config.SmoothDelta made of it,
	// that the UI clock moved by: what the clamp left, and 0 in a menu, after a
	// stall and under Config.Batch.
	RawNs int64
	// WallNs is the sum of ElapsedNs since New, UINs the sum of RawNs. They wrap
	// after 584 years.
	WallNs, UINs uint64
	// FPS is the rate of the frames themselves, in frames per second, smoothed over half a second: a
	// sum of frames divided by a sum of their times. Each frame of t = ElapsedNs, at most 1 s,
	// multiplies the weights of all earlier frames by T/(T+t) in both sums, where T is 0.5 s. FPS is 0
	// as long as no time has passed. Scales and stops of simulated time do not change it.
	FPS float64

	// Alpha is the elapsed part of the step in progress, in [0, 1): blend the states after the last
	// two steps by it. It is AlphaNum/AlphaDen in float64 and never decreases as AlphaNum grows.
	// Where it would be rounded up to 1, it is the nearest float64 below 1.
	Alpha float64
	// (AlphaNum + AlphaRest/1e6) / AlphaDen is alpha exactly, not in lowest terms, as long as Lead is
	// 0. AlphaDen is 1e9 × the rate's denominator in lowest terms, the same in every frame. AlphaRest
	// is below 1,000,000, and 0 as long as every scale is 1.
	AlphaNum, AlphaDen, AlphaRest uint64

	// Backlog is the number of whole steps kept for later frames.
	Backlog uint64
	// LagNs is the simulated time that is owed: Backlog + Alpha steps in nanoseconds, rounded down,
	// or the greatest int64 if it is more. A step that is held back adds one. While a step has run
	// early LagNs is negative: the time until that step is due.
	LagNs int64
	// Dropped is the number of whole steps by which DroppedTotal rose since the
	// frame before.
	Dropped uint64
	// DroppedTotal + (DroppedNum + DroppedRest/1e6) / AlphaDen is the number of
	// steps given up since New, exactly, by the clamp, a stall, MaxAccumNs, the
	// policy or ResetTiming.
	DroppedTotal            uint64
	DroppedNum, DroppedRest uint64
	// Backwards is the number of negative elapsed times since New.
	Backwards uint64

	// ScaleMillionths is the product of the channels, and of the pace of SlowMotion, at the end of
	// the frame, in millionths. It does not include pause and freeze.
	ScaleMillionths uint64
	// Timers has bit i set if timer i expired in this frame.
	Timers uint16
	// Lead is the number of steps, -1, 0 or 1, that Config.JitterFix has run ahead of time. With -1 a
	// step that is due is held back, and Alpha is the greatest value below 1; with 1 the step in
	// progress has run, and Alpha is 0.
	Lead int8

	// CapHit reports that more steps were due than the cap allows.
	CapHit bool
	// Clamped reports that the elapsed time exceeded MaxDeltaNs.
	Clamped bool
	// Stalled reports that the elapsed time exceeded StallNs.
	Stalled bool
	// Menu, Paused, Gated and Frozen say what stops simulated time at the end
	// of the frame: the menu, SetPaused or RunThenPause, the phase, a freeze.
	Menu, Paused, Gated, Frozen bool

	// Halted reports that a panic has halted the Loop: see Loop.Fault.
	Halted bool

	// LateNs is for Run to fill in: by how many nanoseconds the frame began too late, because the
	// clock woke late or because the steps before it took longer than there was time. 0 in other
	// frames.
	LateNs int64
	// Overrun is for the host to fill in, as evertick.Sim does.
	Overrun Overrun
}

// Overrun says by how much the steps of a frame exceeded their budget, and
// which system stood out. The zero value: they did not.
type Overrun struct {
	System string
	Ns     int64
}

// FirstTick returns the index of the first step of the frame; if Steps is 0
// it equals Tick.
func (f Frame) FirstTick() uint64 { return f.Tick - uint64(f.Steps) }

// Alpha32 returns Alpha rounded to float32 for float32 columns, and the
// greatest float32 below 1 where the rounding would give 1.
func (f Frame) Alpha32() float32 { return min(float32(f.Alpha), 1-0x1p-24) }

// publish completes f with the state at the end of the frame.
func (l *Loop) publish(f Frame) Frame {
	f.Tick = l.tick
	f.SimNs = l.simNs(uint64(f.Steps))
	f.WallNs, f.UINs = l.wall, l.ui
	f.FPS = l.rate.perSecond()
	f.AlphaNum, f.AlphaRest = l.jitter.alpha(l.units, l.rest, l.unit)
	f.AlphaDen = l.unit
	f.Alpha = alpha(f.AlphaNum, l.unit)
	f.Backlog, f.Lead = l.backlog, l.jitter.lead
	f.LagNs = l.lagNs()
	f.Dropped = l.dropped.steps - l.published
	f.DroppedTotal, f.DroppedNum, f.DroppedRest = l.dropped.steps, l.dropped.units, l.dropped.rest
	f.Backwards = l.backwards
	f.ScaleMillionths = l.scale
	f.Menu, f.Paused, f.Gated, f.Frozen = l.menu, l.Paused(), l.gated(), l.frozen > 0
	f.Halted = l.fault != nil
	l.published = l.dropped.steps
	return f
}

// lagNs returns the simulated time that is owed.
func (l *Loop) lagNs() int64 {
	switch l.jitter.lead {
	case +1: // the backlog is empty, and the step in progress has run
		return -l.ns(0, l.unit-l.units)
	case -1:
		return l.ns(l.backlog+1, l.units)
	}
	return l.ns(l.backlog, l.units)
}

// simNs returns the nanoseconds from the start of the last steps granted to
// their end, each rounded down.
func (l *Loop) simNs(steps uint64) int64 {
	if steps == 0 {
		return 0
	}
	whole := l.ns(steps, 0)
	if whole == math.MaxInt64 {
		return whole
	}
	// The fraction of a nanosecond at the start may add one nanosecond.
	hi, lo := bits.Mul64(l.tick-steps, l.unit)
	over := bits.Rem64(hi, lo, l.num)
	hi, lo = bits.Mul64(steps, l.unit)
	lo, carry := bits.Add64(lo, over, 0)
	ns, _ := bits.Div64(hi+carry, lo, l.num)
	return int64(ns)
}
