package loop

import (
	"math/big"
	"math/bits"
)

// Loop is the state of a fixed-step driver: plain integers, no pointers. Make
// one with New; a copy is an independent fork. It is not safe for concurrent
// use.
type Loop struct {
	num        uint64 // units per nanosecond, rate in lowest terms
	unit       uint64 // units per step: 1e9 × den
	maxSteps   uint64
	maxBacklog uint64 // most steps that Keep keeps
	maxDelta   int64
	keep       bool
	dt         float32

	frac      uint64 // units of the step in progress, < unit
	backlog   uint64 // whole steps due but not yet granted
	tick      uint64
	dropped   uint64
	backwards uint64
}

// Frame is what one call of Advance decided.
type Frame struct {
	// Tick is the number of steps granted since New, this frame's included,
	// and so the index of the first step of a later frame. The steps to run
	// now are FirstTick() to Tick-1; the very first step of a Loop is step 0.
	Tick uint64
	// Steps is the number of steps to run now, at most Config.MaxSteps.
	Steps int

	// Alpha is the elapsed part of the step in progress, in [0, 1): blend the
	// states after the last two steps by it. It is AlphaNum/AlphaDen in float64,
	// non-decreasing in AlphaNum, and never rounded up to 1: the nearest
	// float64 below 1 stands in.
	Alpha float64
	// AlphaNum / AlphaDen is alpha exactly, not in lowest terms. AlphaDen is
	// 1e9 × the rate's denominator in lowest terms, the same in every frame.
	AlphaNum, AlphaDen uint64

	// Backlog is the number of whole steps kept for later frames.
	Backlog uint64
	// Dropped is the number of steps given up in this frame, by the clamp or
	// by the policy.
	Dropped uint64
	// DroppedTotal is the sum of Dropped since New.
	DroppedTotal uint64
	// Backwards is the number of negative elapsed times since New.
	Backwards uint64

	// CapHit reports that more than MaxSteps steps were due.
	CapHit bool
	// Stalled reports that the elapsed time exceeded MaxDeltaNs.
	Stalled bool
}

// FirstTick returns the index of the first step of the frame; if Steps is 0
// it equals Tick.
func (f Frame) FirstTick() uint64 { return f.Tick - uint64(f.Steps) }

// Alpha32 returns Alpha rounded to float32 for float32 columns, and the
// greatest float32 below 1 where the rounding would give 1.
func (f Frame) Alpha32() float32 { return min(float32(f.Alpha), 1-0x1p-24) }

// New returns a Loop at tick 0 with nothing accumulated. Its error is that of
// Config.Validate.
func New(c Config) (*Loop, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c = c.withDefaults()
	g := gcd(c.RateNum, c.RateDen)
	num, den := c.RateNum/g, c.RateDen/g
	// Through big.Rat because a float64 quotient rounded again to float32 is
	// not always the nearest float32.
	dt, _ := big.NewRat(den, num).Float32()
	l := &Loop{
		num:      uint64(num),
		unit:     nsPerSecond * uint64(den),
		maxSteps: uint64(c.MaxSteps),
		maxDelta: c.MaxDeltaNs,
		keep:     c.Policy == Keep,
		dt:       dt,
	}
	l.maxBacklog, _ = l.split(0, c.MaxDeltaNs)
	return l, nil
}

// Dt returns the length of a step in seconds: the float32 nearest to den/num.
func (l *Loop) Dt() float32 { return l.dt }

// Tick returns the index of the next step: Frame.Tick of the last frame. In a
// step that Run calls it is the index of that step.
func (l *Loop) Tick() uint64 { return l.tick }

// Advance accounts for elapsedNs nanoseconds and returns the steps to run now.
// It is defined for every int64: a negative time counts as 0 and raises
// Frame.Backwards. It does not allocate and cannot overflow.
func (l *Loop) Advance(elapsedNs int64) Frame {
	if l.unit == 0 {
		panic("loop: Loop not made by New")
	}
	if elapsedNs < 0 {
		elapsedNs = 0
		l.backwards++
	}
	due, frac := l.split(l.frac, elapsedNs)
	var excess uint64 // <= due, since less time and no fraction went into it
	if elapsedNs > l.maxDelta {
		excess, _ = l.split(0, elapsedNs-l.maxDelta)
	}
	// Below 2^62: due < 2^60, and the backlog is at most maxBacklog < 2^60
	// plus the stepLimit steps that Run may have put back.
	pending := l.backlog + due - excess
	steps := min(pending, l.maxSteps)
	var kept uint64
	if l.keep {
		kept = min(pending-steps, l.maxBacklog)
	}
	dropped := excess + pending - steps - kept

	l.frac = frac
	l.backlog = kept
	l.tick += steps
	l.dropped += dropped
	return Frame{
		Tick:         l.tick,
		Steps:        int(steps),
		Alpha:        alpha(frac, l.unit),
		AlphaNum:     frac,
		AlphaDen:     l.unit,
		Backlog:      kept,
		Dropped:      dropped,
		DroppedTotal: l.dropped,
		Backwards:    l.backwards,
		CapHit:       pending > steps,
		Stalled:      elapsedNs > l.maxDelta,
	}
}

// UntilNext returns the nanoseconds after which, counted from the last
// Advance, another Advance has a step to grant: 0 if there is a backlog,
// otherwise the time left of the step in progress, rounded up.
func (l *Loop) UntilNext() int64 {
	if l.unit == 0 {
		panic("loop: Loop not made by New")
	}
	if l.backlog > 0 {
		return 0
	}
	return int64((l.unit - l.frac + l.num - 1) / l.num)
}

// split returns start + ns × num as whole steps and units left over, for a
// start below one step. The product has 64 + 27 bits and the quotient fits
// (see maxRate), so the 128-bit division cannot overflow.
func (l *Loop) split(start uint64, ns int64) (steps, frac uint64) {
	hi, lo := bits.Mul64(uint64(ns), l.num)
	lo, carry := bits.Add64(lo, start, 0)
	return bits.Div64(hi+carry, lo, l.unit)
}

// alpha returns num/den for num < den <= 1e17. Above 2^53 the quotient can
// round to 1, hence the bound; 1-2^-53 is the float64 next to 1.
func alpha(num, den uint64) float64 {
	return min(float64(int64(num))/float64(int64(den)), 1-0x1p-53)
}

// gcd returns the greatest common divisor of two positive numbers.
func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
