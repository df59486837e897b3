package loop

// jitterFrames is how many frames must have been steady before a step may run early
// or late. It is a fifth of a second at 60 Hz: short enough to react to another
// rhythm before a user sees it.
const jitterFrames = 12

// jitter makes frames that come nearly in time with the steps run equally many of
// them. Without it, frames of 60 Hz against steps of 60 Hz whose times scatter by
// microseconds would run 0, 2, 1, 0, 2 … steps wherever the moment of a frame lies
// near that of a step.
//
// It never loses or adds time: it moves one step across one frame boundary,
// and lead says which way.
type jitter struct {
	lead    int8  // steps granted ahead of time: -1, 0 or +1
	steady  bool  // the last frames came in time with the steps
	at      uint8 // where the oldest frame of history stands
	filled  uint8
	history [jitterFrames]jitterFrame
}

// jitterFrame is what one frame was due and what it ran.
type jitterFrame struct {
	before   uint64 // units of the step in progress when it began
	due, ran uint32 // whole steps that fell due in it, and steps that it ran
}

// frameTiming is one frame as the accumulator sees it without a jitter fix.
type frameTiming struct {
	before, after uint64 // units of the step in progress at both ends
	unit          uint64 // units per step
	due           uint64 // whole steps that fell due
	pending       uint64 // these and the backlog, below 2^62
	most          uint64 // steps that the frame may run
	slack         uint64 // units by which a step may run early or late, 0 = never
}

// adjust returns how many steps b is to have pending instead of b.pending, and sets
// lead: negative for steps held back, positive for steps ahead of time.
//
// Without a fix the accumulator ends in [0, 1) step. adjust grants the usual number
// of steps instead if the accumulator then ends in [-slack, 1+slack). So it follows
// a clock that drifts with a hysteresis of twice the slack: smaller scatter cannot
// make the count swing back.
func (j *jitter) adjust(b frameTiming) uint64 {
	if b.slack == 0 {
		return b.pending
	}
	plain := int64(b.pending) - int64(j.lead)
	ran := max(plain, 0)
	lead := int8(ran - plain) // a step that ran early is counted already
	if usual, ok := j.usual(b); ok {
		switch plain - usual {
		case -1:
			if b.after >= b.unit-b.slack {
				ran, lead = usual, +1
			}
		case +1:
			if b.after < b.slack {
				ran, lead = usual, -1
			}
		}
	}
	j.lead = lead
	j.observe(b, uint64(ran))
	return uint64(ran)
}

// usual returns the number of steps, at least 1, that frames like b run, if
// they are steady.
func (j *jitter) usual(b frameTiming) (steps int64, ok bool) {
	if j.filled < jitterFrames {
		return 0, false
	}
	var due, ran int64
	for i := range j.history {
		due += int64(j.history[i].due)
		ran += int64(j.history[i].ran)
	}
	steps = (ran + jitterFrames/2) / jitterFrames
	// Equal counts are not enough: frames of 55 Hz run one step eleven times and
	// then two, and have to. So the twelve frames must also take the time of their
	// steps. Once they do, the time may scatter more: a fix that is on and off by
	// turns is less even than none.
	tolerance := b.unit / 16
	if j.steady {
		tolerance = b.unit / 2
	}
	j.steady = 1 <= steps && steps <= int64(b.most) &&
		within(ran-steps*jitterFrames, 1) &&
		spanWithin(due-steps*jitterFrames, j.history[j.at].before, b.before, b.unit, tolerance)
	// A frame that is late by half a step or more is no jitter.
	return steps, j.steady && spanWithin(int64(b.due)-steps, b.before, b.after, b.unit, b.unit/2)
}

// spanWithin reports whether steps whole steps, with the accumulator at from before
// and at to afterwards, are at most tolerance units of time, either way.
func spanWithin(steps int64, from, to, unit, tolerance uint64) bool {
	// unit <= 1e17, so three of them fit.
	return within(steps, 2) && within(steps*int64(unit)+int64(to)-int64(from), int64(tolerance))
}

func within(x, most int64) bool { return -most <= x && x <= most }

// observe enters a frame that ran so many steps into the history.
func (j *jitter) observe(b frameTiming, ran uint64) {
	if ran > b.most || b.due > 1<<20 || b.most > 1<<20 && ran > 1<<20 {
		j.reset() // a frame like no other
		return
	}
	j.history[j.at] = jitterFrame{before: b.before, due: uint32(b.due), ran: uint32(ran)}
	j.at = (j.at + 1) % jitterFrames
	j.filled = min(j.filled+1, jitterFrames)
}

// reset makes the next frames begin a new history. After a stall, a pause or
// another break the old history does not predict them.
func (j *jitter) reset() { j.at, j.filled, j.steady = 0, 0, false }

// release returns 1 if a step is held back, which the caller runs or drops.
func (j *jitter) release() (steps uint64) {
	if j.lead < 0 {
		j.lead, steps = 0, 1
	}
	return steps
}

// alpha returns the units, and millionths of one, of the step in progress that
// count as passed. A step that ran early has its whole length before it: 0. One
// that is held back is almost over.
func (j *jitter) alpha(units, rest, unit uint64) (uint64, uint64) {
	switch j.lead {
	case +1:
		return 0, 0
	case -1:
		return unit - 1, 0
	}
	return units, rest
}
