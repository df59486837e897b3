package evertick

import (
	"context"
	"fmt"
	"math/bits"

	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/loop"
)

// Advance runs the ticks that have become due after elapsedNs nanoseconds of the host's time, by
// the rules of Config.Loop. It returns the frame: how many ticks were due, how many were dropped,
// and how far to interpolate. An error is that of Step; the ticks that did not run stay due. Frames
// count the ticks of Advance and Run, not those of Step.
//
// If the ticks of the frame took longer than Config.BudgetNs each, Frame.Overrun holds by how much,
// and which phase exceeded its own median the most.
//
// Ticks is not Frame.Tick: Step, Restore and StepBack change only Ticks. Under loop.Realtime
// Frame.Tick also counts the ticks that were skipped. Ticks, Tick.N and Tick.Time have no gaps, as
// each tick that runs is the next one of the Sim: if only Advance is used, Ticks is Frame.Tick -
// Frame.DroppedTotal.
//
// A call of Advance from within a step, or from the function of RunFrames, returns an error, and no
// time passes.
func (s *Sim) Advance(elapsedNs int64) (loop.Frame, error) {
	if err := s.mayAdvance(); err != nil {
		return s.frame, err
	}
	s.beginFrame()
	f, err := s.loop.Drive(elapsedNs, s.step)
	s.endFrame(f)
	if err == nil {
		s.callFrameHooks()
	}
	s.publishFrame(false)
	return s.frame, err
}

// Run paces the simulation until ctx is done or a step fails, as loop.Loop.Run does. It waits by
// Config.Clock, or else as the Pacing of Config.Loop says. A panic ends it even under loop.Resume:
// the ticks that are then due stay due for the next Run or Advance, after a Restore or StepBack. It
// is an error to call Run from within a step, or from the function of RunFrames.
func (s *Sim) Run(ctx context.Context) error { return s.RunFrames(ctx, nil) }

// RunFrames is Run with a function that draws, or does other work of the host once a frame. RunFrames
// calls frame after the ticks of each frame, on its own goroutine, with Sim.Frame. While time is slow
// or stopped, frames without ticks follow each other in the time of a tick, and frame is called for
// these too. It is not called for a frame that an error or loop.ErrStop ends early.
//
// The function may read the Sim, call Interpolate, push inputs, pause by Loop, and cancel ctx to end
// the run. It must not write to the state, nor call Step: no log has such changes, so a replay lacks
// them; Config.CheckRender finds them. If it calls Advance, Run or RunFrames, they return an error
// and do nothing. The next ticks wait until it returns: a slow renderer should run on another
// goroutine, and read the views of a Publisher.
func (s *Sim) RunFrames(ctx context.Context, frame func(loop.Frame)) error {
	if err := s.mayAdvance(); err != nil {
		return err
	}
	s.beginFrame()
	onlyTicks := false // only ticks have changed the state since the last frame
	err := s.runWith(ctx, loop.Runner{Clock: s.runClock, Step: s.step, Rehearse: s.config.Rehearse, Frame: func(f loop.Frame) {
		s.endFrame(f)
		s.callFrameHooks()
		s.publishFrame(onlyTicks)
		onlyTicks = true
		if frame != nil {
			s.callFrame(frame)
		}
		s.beginFrame()
	}}, frame)
	if s.ticks != s.frameTicks { // loop.ErrStop has ended the last frame early
		s.publishFrame(onlyTicks)
	}
	return err
}

// callFrameHooks calls the AfterFrame hooks. If CheckRender finds that one has changed the state, every
// later step returns the error.
func (s *Sim) callFrameHooks() {
	for _, h := range s.hooks {
		if h.AfterFrame == nil {
			continue
		}
		s.hashBeforeHooks()
		s.callFrame(h.AfterFrame)
		if err := s.checkHook(h.AfterFrame); err != nil && s.failed == nil {
			s.failed = fmt.Errorf("evertick: after tick %d: %w", s.ticks, err)
		}
	}
}

// callFrame calls an AfterFrame hook, or the function of RunFrames.
func (s *Sim) callFrame(frame func(loop.Frame)) {
	s.inFrame = true
	defer func() { s.inFrame = false }() // also if there is a panic
	frame(s.frame)
}

// mayAdvance returns an error within a step and within the function of RunFrames.
func (s *Sim) mayAdvance() error {
	switch {
	case s.stepping:
		return errInterrupted
	case s.inFrame:
		return errInFrame
	}
	return nil
}

// Loop returns the loop that decides how many ticks a frame runs: for time scales, freezes, pauses,
// timers, and Resume after a fault. Advance it only through Advance and Run.
func (s *Sim) Loop() *loop.Loop { return s.loop }

// Frame returns the last frame of Advance or Run, with the total of dropped ticks so far. A system
// that calls it during Run gets the previous frame.
func (s *Sim) Frame() loop.Frame { return s.frame }

// Interpolate computes where to draw the entities in the last frame: between the last two ticks, as
// far as Frame says, by ecs.World.Interpolate, into the rows of out. Entities that teleported are
// drawn at their new position, not on the way: those that were spawned or given a body in the last
// tick, those of World.Jump, and those whose body was moved by Physics.SetTransform, or by a value written to
// their transform in a tick with physics or after it; after a
// Restore, all entities. An entity without a body that is written to moves, unless Jump says that it teleports.
// Interpolate does not change the state. It is ErrUnsupported unless Config.Previous
// is set.
func (s *Sim) Interpolate(out *ecs.Transforms) error {
	s.jumpWritten()
	return s.World.Interpolate(&s.ops, s.frame.Alpha32(), out)
}

// Timing is the duration of a phase in the last step, in nanoseconds.
type Timing struct {
	Phase string
	Ns    int64
}

// PhaseStats summarises the durations of a phase, in nanoseconds, over Count steps. The quantiles
// are off by at most 1/64 of themselves: see loop.Histogram.
type PhaseStats struct {
	Phase              string
	Count              uint64
	Sum                int64
	P50, P95, P99, Max int64
}

// newHistogram returns nil under Config.Untimed.
func (s *Sim) newHistogram() *loop.Histogram {
	if s.config.Untimed {
		return nil
	}
	return new(loop.Histogram)
}

// now reads the clock, or returns 0 under Config.Untimed.
func (s *Sim) now() int64 {
	if s.config.Untimed {
		return 0
	}
	return s.clock.Now()
}

// recordTime records the duration of a phase in this step.
func (s *Sim) recordTime(p *phase, ns int64) {
	p.ns = ns
	p.frameNs += ns
	s.addTime(p.times, ns)
}

// addTime adds a duration to a histogram, which a Monitor may be reading.
func (s *Sim) addTime(h *loop.Histogram, ns int64) {
	if h == nil {
		return
	}
	if m := s.monitor; m != nil {
		m.mu.Lock()
		defer m.mu.Unlock()
	}
	h.Add(ns)
}

// recordStep records the duration of a step.
func (s *Sim) recordStep(ns int64) {
	s.stepNs = ns
	s.addTime(s.stepTimes, ns)
	s.frameNs += ns
	s.frameSteps++
}

// Timings returns the duration of each phase of the last step, in the order in which they ran, and
// of the whole step. The time between phases, for instance in hooks, counts only for the whole.
// A phase that did not run in the mode of the tick took 0 ns. Phases that ran side by side add up to more
// than the time that passed. A system added since then is listed with 0 ns. The slice is the Sim's
// own and valid until the next step or Add. Other goroutines read these times by a Monitor.
func (s *Sim) Timings() (phases []Timing, stepNs int64) {
	_ = s.Check() // for the list of phases: Step reports the error
	for i, p := range s.phases {
		s.timings[i] = Timing{p.name, p.ns}
	}
	return s.timings, s.stepNs
}

// Stats returns the durations of each phase in the steps since New or ResetStats, in the order in
// which they run, and those of the whole step, whose Phase is empty. A step that failed counts for
// the phases that it completed, and a phase has no count of steps whose mode left it out. The slice
// is the Sim's own and valid until the next call of Stats, or the next Add. Other goroutines read
// them by a Monitor.
func (s *Sim) Stats() (phases []PhaseStats, step PhaseStats) {
	_ = s.Check()
	for i, p := range s.phases {
		s.stats[i] = statsOf(p.name, p.times)
	}
	return s.stats, statsOf("", s.stepTimes)
}

func statsOf(name string, h *loop.Histogram) PhaseStats {
	if h == nil {
		return PhaseStats{Phase: name}
	}
	return PhaseStats{
		Phase: name, Count: h.Count(), Sum: h.Sum(),
		P50: h.Quantile(0.5), P95: h.Quantile(0.95), P99: h.Quantile(0.99), Max: h.Max(),
	}
}

// ResetStats makes Stats start anew.
func (s *Sim) ResetStats() {
	if s.config.Untimed {
		return
	}
	_ = s.Check()
	if m := s.monitor; m != nil {
		m.mu.Lock()
		defer m.mu.Unlock()
	}
	for _, p := range s.phases {
		p.times.Reset()
	}
	s.stepTimes.Reset()
}

// beginFrame resets the times of a frame.
func (s *Sim) beginFrame() {
	s.frameNs, s.frameSteps = 0, 0
	for _, p := range s.phases {
		p.frameNs = 0
	}
}

// endFrame stores the frame with the overrun of its steps.
func (s *Sim) endFrame(f loop.Frame) {
	hi, budget := bits.Mul64(uint64(s.config.BudgetNs), s.frameSteps)
	if hi == 0 && uint64(s.frameNs) > budget {
		f.Overrun = loop.Overrun{System: s.slowestPhase(), Ns: s.frameNs - int64(budget)}
	}
	s.frame, s.frameTicks = f, s.ticks
	s.publishMetrics()
	s.updateTimeline()
}

// slowestPhase names the phase that exceeded its median the most in this frame. Of phases that
// exceeded it equally, it names the one that took longest.
func (s *Sim) slowestPhase() string {
	var name string
	var most, took int64
	for _, p := range s.phases {
		excess := p.frameNs - int64(s.frameSteps)*p.times.Quantile(0.5)
		if name == "" || excess > most || excess == most && p.frameNs > took {
			name, most, took = p.name, excess, p.frameNs
		}
	}
	return name
}
