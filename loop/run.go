package loop

import (
	"context"
	"fmt"
	"math"
)

// Run drives l by clock until ctx is done or a step fails: it sleeps until the
// next step becomes due, advances by the time that passed, runs the steps and
// then, if frame is not nil, calls frame with the outcome. A nil clock means a
// new SystemClock.
//
// Time counts from the call of Run. Each target is computed from the exact
// accumulator, not from the moment of waking up, so lateness never adds up. If
// there is a backlog the next frame follows without a pause.
//
// step receives the index of the step, which is also l.Tick() while it runs. If
// it returns an error, Run returns that error wrapped with the index; the step
// and the rest of its frame do not count, frame is not called, and the next
// Advance has them pending again. A step that panics leaves l in the same state.
//
// ctx is looked at between frames, never between the steps of one; Run then
// returns ctx.Err(). After the first frame Run itself does not allocate.
func (l *Loop) Run(ctx context.Context, clock Clock, step func(tick uint64) error, frame func(Frame)) error {
	if step == nil {
		panic("loop: Run: nil step")
	}
	if clock == nil {
		clock = new(SystemClock)
	}
	last := clock.Now()
	for {
		if err := clock.Sleep(ctx, l.dueAt(last)); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		now := clock.Now()
		f, err := l.Drive(now-last, step)
		last = now
		if err != nil {
			return err
		}
		if frame != nil {
			frame(f)
		}
	}
}

// Drive is Run for a host with frames of its own: it advances by elapsedNs and
// runs the steps. An error of step is returned as by Run: that step and the rest
// of the frame, which the Frame still lists, stay due.
func (l *Loop) Drive(elapsedNs int64, step func(tick uint64) error) (Frame, error) {
	f := l.Advance(elapsedNs)
	return f, l.runSteps(f, step)
}

// runSteps puts the steps of f back and counts each one after it has
// succeeded, so that neither an error nor a panic counts a step too many.
func (l *Loop) runSteps(f Frame, step func(tick uint64) error) error {
	l.tick -= uint64(f.Steps)
	l.backlog += uint64(f.Steps)
	for range f.Steps {
		if err := step(l.tick); err != nil {
			return fmt.Errorf("loop: tick %d: %w", l.tick, err)
		}
		l.tick++
		l.backlog--
	}
	return nil
}

// dueAt returns the clock time at which the next step is due, if the last
// Advance was at time last; the end of time if it lies beyond.
func (l *Loop) dueAt(last int64) int64 {
	wait := l.UntilNext()
	if last > math.MaxInt64-wait {
		return math.MaxInt64
	}
	return last + wait
}
