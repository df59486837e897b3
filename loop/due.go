package loop

import (
	"math"
	"math/bits"
)

// Due is when a step fell due, and by which frame it runs.
type Due struct {
	// WallNs is Frame.WallNs of the frame that runs the step: it is the same for all
	// steps of a frame.
	WallNs uint64
	// AgoNs is how long before that moment the step fell due, in nanoseconds of wall time,
	// rounded towards zero. Of three steps that one frame runs the first has waited
	// longest, for two steps' time more than the last. It is negative, the time until the
	// step will be due, where Config.JitterFix has it run early.
	//
	// Scaled time is converted at the scale that holds now, at 1 if that is zero, as if it
	// had been so since; pauses, freezes and what was dropped are no waiting. It is the
	// greatest int64 where it is more.
	AgoNs int64
}

// Due tells, within a step that Drive or Run runs, when that step fell due: by it a step
// finds how late it is, Clock.Now less the time of the frame, plus AgoNs. It reports false
// outside of such a step, and under Config.Batch, where steps are never due.
func (l *Loop) Due() (Due, bool) {
	if l.running == 0 || l.driven != l || l.batch {
		return Due{}, false
	}
	d := Due{WallNs: l.wall}
	// The oldest step of the backlog is the one that runs. What ran early before it, or is
	// held back behind it, moves it against the accumulator.
	switch behind := l.backlog - 1; {
	case l.jitter.lead < 0:
		d.AgoNs = l.wallNs(l.ns(behind+1, l.units))
	case l.jitter.lead == 0:
		d.AgoNs = l.wallNs(l.ns(behind, l.units))
	case behind > 0:
		d.AgoNs = l.wallNs(l.ns(behind-1, l.units))
	default:
		d.AgoNs = -l.wallNs(l.ns(0, l.unit-l.units))
	}
	return d, true
}

// wallNs returns the wall time in which simNs >= 0 pass at the present scale.
func (l *Loop) wallNs(simNs int64) int64 {
	if l.scale == one || l.scale == 0 {
		return simNs
	}
	hi, lo := bits.Mul64(uint64(simNs), one)
	if hi >= l.scale {
		return math.MaxInt64
	}
	ns, _ := bits.Div64(hi, lo, l.scale)
	return int64(min(ns, math.MaxInt64))
}
