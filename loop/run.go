package loop

import (
	"context"
	"math"
)

// Runner configures RunWith.
type Runner struct {
	// Clock paces the frames. nil means a new one for Config.Pacing.
	Clock Clock
	// Step runs the step with that index, which is also Loop.Tick while it runs.
	Step func(tick uint64) error
	// Frame, if it is not nil, is called with the outcome after the steps of each frame, also of frames without
	// steps.
	Frame func(Frame)
	// Panicked, if it is not nil, is called under Config.OnFault == Resume with each panic but the one that halts
	// the Loop. A host can restore a state from before the step in it. If it returns nil, the next frame tries
	// the step again; otherwise Run returns its error. If it is nil, Run returns the *PanicError, so that no
	// panic goes unnoticed.
	Panicked func(*PanicError) error
	// Rehearse, if it is not nil, is called shortly before each frame is due, if the clock is a PreciseClock and
	// there is time: see PreciseClock.SleepRehearsing. Steps take longer after the CPU has slept, since its
	// caches have lost code and data; Rehearse loads them again. It must not change anything that a step depends
	// on: let it run the same step of a copy, for example. A panic in it is not a panic of a step: Config.OnFault
	// and Panicked do not see it, Run passes it to its caller, and the Loop is as it was before the wait.
	Rehearse func()
	// Lateness, if it is not nil, gets Frame.LateNs of every frame whose steps
	// succeeded, for p50, p95, p99.
	Lateness *Histogram
}

// Run drives l by clock until ctx is done, a step fails or one returns ErrStop:
// it is RunWith for a clock, a step and a frame.
func (l *Loop) Run(ctx context.Context, clock Clock, step func(tick uint64) error, frame func(Frame)) error {
	return l.RunWith(ctx, Runner{Clock: clock, Step: step, Frame: frame})
}

// RunWith sleeps until the next step becomes due, advances by the time that passed, runs the steps as Drive does,
// calls r.Frame, and repeats that. It ends when ctx is done, with ctx.Err(), or when a step returns an error: it
// returns nil for ErrStop, and any other error as Drive does. For a frame that ends early r.Frame is not called.
// Under External it is ErrUnsupported unless there is a clock.
//
// Time counts from the call. Each target is computed from the exact accumulator, not from the moment of waking
// up, so lateness never adds up. If there is a backlog the next frame follows without a pause. If time is slow or
// stopped, as in a pause, frames without steps still follow at intervals of a step's time, so that r.Frame can
// change that.
//
// Run checks ctx between frames, never between the steps of one; a sleep ends
// as soon as the clock notices, which all clocks of this package do within 10 ms.
// A clock that goes backwards raises Frame.Backwards, and time continues from its
// new reading. A clock that jumps ahead makes one long frame, to which the clamp
// and the stall apply. After the first frame Run allocates nothing.
func (l *Loop) RunWith(ctx context.Context, r Runner) error {
	if r.Step == nil {
		panic("loop: Run: nil step")
	}
	if l.fault != nil {
		return l.fault
	}
	if r.Clock == nil {
		clock, err := l.newClock()
		if err != nil {
			return err
		}
		r.Clock = clock
	}
	last := r.Clock.Now()
	for {
		due := l.dueAt(last)
		if err := r.sleep(ctx, due); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		now := r.Clock.Now()
		f, err := l.Drive(elapsed(last, now), r.Step)
		last = now
		if err != nil {
			if again, err := l.recoverStep(err, r.Panicked); !again {
				return err
			}
			continue
		}
		f.LateNs = max(0, elapsed(due, now))
		if r.Lateness != nil {
			r.Lateness.Add(f.LateNs)
		}
		if r.Frame != nil {
			r.Frame(f)
		}
	}
}

// sleep waits for a frame.
func (r *Runner) sleep(ctx context.Context, due int64) error {
	if precise, ok := r.Clock.(*PreciseClock); ok {
		return precise.SleepRehearsing(ctx, due, r.Rehearse)
	}
	return r.Clock.Sleep(ctx, due)
}

// newClock returns the clock of Config.Pacing.
func (l *Loop) newClock() (Clock, error) {
	clock, err := NewClock(l.config.Pacing)
	if precise, ok := clock.(*PreciseClock); ok {
		precise.SpinBudget = l.config.SpinBudget
	}
	return clock, err
}

// Drive is Run for a host with frames of its own: it advances by elapsedNs and
// runs the steps. It does not allocate.
//
// If step returns an error, Drive returns it wrapped with the index of the step. Neither that step nor the rest
// of its frame counts, although the Frame lists them: they are pending again for the next Advance. A step that
// panics leaves l in the same state; FaultPolicy decides about the panic. If the step returns ErrStop it counts,
// the rest of the frame is pending again, and Drive returns what the step returned.
//
// A step may call every method of l but Advance, AdvanceTo, Drive and Run, which panic before anything changes.
// If it stops time, by SetPaused, SetPhase or SetMenu, the rest of the frame stays due as well; a freeze begins
// after the frame. If a step calls RunThenPause, that step is the first of those that it grants. ResetTiming
// drops the rest of the frame. So does StartNew; after it the step itself does not count.
func (l *Loop) Drive(elapsedNs int64, step func(tick uint64) error) (Frame, error) {
	f := l.Advance(elapsedNs)
	if l.fault != nil {
		return f, l.fault
	}
	return f, l.runSteps(f, step)
}

// runSteps puts the steps of f back and counts each one after it has succeeded: so a step that returns an error
// or panics is not counted.
func (l *Loop) runSteps(f Frame, step func(tick uint64) error) error {
	l.running = uint64(f.Steps)
	l.tick -= l.running
	l.backlog += l.running
	l.driven = l
	defer func() { l.running, l.driven = 0, nil }()
	for l.running > 0 && !l.held() && !l.menu {
		tick := l.tick
		err := l.runStep(tick, step)
		if err != nil && !isStop(err) {
			return l.stepFailed(tick, err)
		}
		if l.running > 0 { // 0: StartNew
			l.tick++
			l.backlog--
			l.running--
			l.panics = 0
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// recoverStep reports whether Run goes on after a step returned err, and if not, what
// it returns.
func (l *Loop) recoverStep(err error, panicked func(*PanicError) error) (bool, error) {
	if isStop(err) {
		return false, nil
	}
	p, ok := err.(*PanicError)
	if !ok || l.config.OnFault != Resume || l.fault != nil || panicked == nil {
		return false, err
	}
	err = panicked(p)
	return err == nil, err
}

// dueAt returns the clock time of the next frame, if the last Advance was at
// time last; the end of time if it lies beyond.
func (l *Loop) dueAt(last int64) int64 {
	wait := l.UntilFrame()
	if last > math.MaxInt64-wait {
		return math.MaxInt64
	}
	return last + wait
}

// elapsed returns to - from, or the int64 that is nearest to it.
func elapsed(from, to int64) int64 {
	d := to - from
	switch {
	case from < 0 && to >= 0 && d < 0:
		return math.MaxInt64
	case from > 0 && to < 0 && d > 0:
		return math.MinInt64
	}
	return d
}

// Due says when a step fell due, and which frame runs it.
type Due struct {
	// WallNs is Frame.WallNs of the frame that runs the step: it is the same for all
	// steps of a frame.
	WallNs uint64
	// AgoNs is how long before that moment the step fell due, in nanoseconds of wall time, rounded towards zero.
	// If one frame runs three steps, the first has waited longest: two steps' time more than the last. If
	// Config.JitterFix runs a step early, AgoNs is negative: the time until the step will be due.
	//
	// Scaled time is converted at the present scale, or at 1 if that is zero, as if that had held since then.
	// Pauses, freezes and dropped time do not count. If it is more than the greatest int64, it is that.
	AgoNs int64
}

// Due returns, within a step that Drive or Run runs, when that step fell due. A step is late by Clock.Now minus
// the time of the frame, plus AgoNs. Due returns false outside of such a step, and under Config.Batch, where
// steps are never due.
func (l *Loop) Due() (Due, bool) {
	if l.running == 0 || l.driven != l || l.config.Batch {
		return Due{}, false
	}
	d := Due{WallNs: l.wall}
	// The oldest step of the backlog is the one that runs. A step that ran early before it, or
	// is held back after it, shifts it against the accumulator.
	switch rest := l.backlog - 1; {
	case l.jitter.lead < 0:
		d.AgoNs = l.wallNs(l.ns(rest+1, l.units))
	case l.jitter.lead == 0:
		d.AgoNs = l.wallNs(l.ns(rest, l.units))
	case rest > 0:
		d.AgoNs = l.wallNs(l.ns(rest-1, l.units))
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
	return mulDiv(uint64(simNs), one, 0, l.scale)
}
