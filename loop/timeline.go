package loop

import (
	"math"
	"math/bits"
)

// Timeline relates wall time, on the axis of [Frame.WallNs], to ticks. It is a plain value that a
// program can pass to other goroutines. It is a straight line through one frame of a [Loop], into the
// past and the future, with the scale of that frame, or 1 if that is zero. So it assumes that the
// scale never changes, and that nothing pauses, freezes or drops time. At a constant scale of 1 it is
// exact, and the same in every frame.
//
// A tick is in progress for the time of a step, and falls due at the end of that time, as for Loop.
// Under Config.Batch, where steps are never due, the line has no meaning.
//
// All results are rounded once, from exact arithmetic. A result below 0 is 0, and a result above the
// greatest uint64 is the greatest uint64. Methods panic on a Timeline that no Loop has made.
type Timeline struct {
	ratio
	wall  uint64
	at    span   // the ticks that had passed at wall, since tick 0 began, and early more
	early uint64 // ticks in at that ran before their time; without them at could be below 0 after Add
	scale uint64
}

// Timeline returns the line through the last frame. Within a step it is the line through the frame
// that runs the step.
func (l *Loop) Timeline() Timeline {
	if l.unit == 0 {
		panic("loop: Loop not made by New")
	}
	t := Timeline{ratio: l.ratio, wall: l.wall, scale: l.scale, at: span{l.tick + l.backlog, l.units, l.rest}}
	if t.scale == 0 {
		t.scale = one
	}
	switch l.jitter.lead {
	case +1:
		t.early = 1
	case -1: // the Loop counts a step that it holds back after its time
		t.at.steps++
	}
	return t
}

// Add returns the line with n added to the number of each tick, modulo 2^64, for a program that
// numbers ticks in another way than the Loop.
func (t Timeline) Add(n uint64) Timeline {
	t.at.steps += n
	return t
}

// WallNs returns the Frame.WallNs of the frame.
func (t Timeline) WallNs() uint64 { return t.wall }

// TickAt returns the tick that is in progress at a time, and how much of it has passed, in 2^-32 of
// a tick, rounded down. A time before tick 0 gives tick 0 and fraction 0. A time that is more than
// 2^63-1 ns (292 years) from the frame counts as 2^63-1 ns from it.
func (t Timeline) TickAt(wallNs uint64) (tick uint64, fraction uint32) {
	t.mustBeMade()
	if wallNs < t.wall {
		back := t.spanOf(clampNs(t.wall-wallNs), t.scale)
		back.steps += t.early
		if t.at.less(back) {
			return 0, 0
		}
		return t.split(t.sub(t.at, back))
	}
	p := t.add(t.at, t.spanOf(clampNs(wallNs-t.wall), t.scale))
	switch {
	case p.steps < t.at.steps:
		return math.MaxUint64, math.MaxUint32
	case p.steps < t.early:
		return 0, 0
	}
	p.steps -= t.early
	return t.split(p)
}

// DueAt returns the first nanosecond at which a tick is due: from then on TickAt returns a later
// tick, and before then it does not.
func (t Timeline) DueAt(tick uint64) (wallNs uint64) {
	t.mustBeMade()
	if tick >= math.MaxUint64-t.early {
		return math.MaxUint64
	}
	end := span{steps: tick + 1 + t.early}
	if !t.at.less(end) {
		ns, _ := t.nsOf(t.sub(t.at, end))
		return t.wall - min(ns, t.wall)
	}
	ns, exact := t.nsOf(t.sub(end, t.at))
	if !exact {
		ns++
	}
	wallNs, carry := bits.Add64(t.wall, ns, 0)
	if carry > 0 {
		return math.MaxUint64
	}
	return wallNs
}

// Ticks returns the number of ticks in ns nanoseconds, rounded up; 0 for a negative time.
func (t Timeline) Ticks(ns int64) uint64 {
	t.mustBeMade()
	s := t.spanOf(max(ns, 0), t.scale)
	if s.units|s.rest > 0 {
		s.steps++
	}
	return s.steps
}

func (t *Timeline) mustBeMade() {
	if t.unit == 0 {
		panic("loop: Timeline not made by Loop.Timeline")
	}
}

func clampNs(ns uint64) int64 { return int64(min(ns, math.MaxInt64)) }

// split returns the whole steps of s, and its fraction in 2^-32 of a step, rounded down.
func (t *Timeline) split(s span) (tick uint64, fraction uint32) {
	whole, left := bits.Div64(s.units>>32, s.units<<32, t.unit)
	whole += (left + s.rest<<32/one) / t.unit // rest < 2^20
	return s.steps, uint32(whole)
}

// nsOf returns the nanoseconds of wall time that s takes, rounded down, and whether that is exact. If
// they exceed uint64 it returns the greatest uint64 and true.
func (t *Timeline) nsOf(s span) (ns uint64, exact bool) {
	hi, lo := bits.Mul64(s.steps, t.unit)
	lo, carry := bits.Add64(lo, s.units, 0)
	hi += carry
	if hi >= 1<<44 { // at most 1e8 × 1e8 units and millionths pass in a nanosecond: ≥ 2^64 ns
		return math.MaxUint64, true
	}
	over, low := bits.Mul64(lo, one)
	low, carry = bits.Add64(low, s.rest, 0)
	hi = hi*one + over + carry
	perNs := t.num * t.scale
	if hi >= perNs {
		return math.MaxUint64, true
	}
	ns, left := bits.Div64(hi, low, perNs)
	return ns, left == 0
}
