package evertick

import (
	"context"
	"errors"
	"fmt"
	"runtime/pprof"
	"runtime/trace"
	"slices"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/native"
)

var (
	// errInterrupted is the state of a Sim while a step runs, and afterwards if a panic ended it.
	errInterrupted = errors.New("evertick: a step was entered from within a step, or broken off by a panic")
	// errGoexit is the error of a system that has ended its goroutine, as runtime.Goexit does.
	errGoexit = errors.New("the system ended its goroutine")
	// errInFrame is the error of calls that the function of RunFrames must not make.
	errInFrame = errors.New("evertick: Advance, Run or RunFrames was called from the function of RunFrames")
)

// Hooks are functions that a Sim calls at fixed places of each tick and frame: for logs, checks and
// measurements. Any of them may be nil. All run on the goroutine of Step.
//
// A change that a hook of a tick makes is part of the run, as if a system had made it, but it belongs to no
// phase. To keep hashes equal, only read; Config.CheckRender finds hooks that do more.
type Hooks struct {
	// BeforeTick is called at the start of the tick, when only its inputs are known: the state is
	// that at the end of the tick before. An error ends the Sim as one of a system does.
	BeforeTick func(*Tick) error
	// AfterTick is called when the tick is complete: Sim.Hash is that of the present state,
	// Sim.Ticks counts the tick, and Tick.N is still its number. Its error ends the Sim too, but
	// the tick has happened, and counts.
	AfterTick func(*Tick) error
	// BeforeSystem and AfterSystem are called around each phase that runs, including those that are
	// no systems, with its name as Timings lists it. AfterSystem is not called for a phase that has
	// failed. For systems that run side by side, BeforeSystem is called for all of them, in their
	// order, before the first begins; AfterSystem is called, in the same order, after the last has
	// ended.
	BeforeSystem, AfterSystem func(t *Tick, system string)
	// AfterFrame is called at the end of each frame of Advance, Run and RunFrames, with Sim.Frame: after
	// its ticks, or without any while time is paused, and before the function of RunFrames. It is
	// not called for a frame that an error ended early, nor, in Run and RunFrames, loop.ErrStop. It may
	// pause by Loop and push inputs. If it calls Advance, Run or RunFrames, they return an error. Steps
	// have no frame. A change that it makes to the state is in no log, so a replay lacks it.
	AfterFrame func(loop.Frame)
}

// AddHooks adds hooks, and returns a function that removes them again. They are called after the
// hooks that were added before. A second call of remove does nothing. A step calls the hooks that
// existed at its beginning, so that each BeforeSystem has its AfterSystem: a hook that is added or
// removed within a step is called, or no longer called, from the next step on.
func (s *Sim) AddHooks(h Hooks) (remove func()) {
	s.hooks = append(slices.Clip(s.hooks), &h)
	return func() {
		if i := slices.Index(s.hooks, &h); i >= 0 {
			s.hooks = slices.Delete(slices.Clone(s.hooks), i, i+1)
		}
	}
}

// Step runs one tick. An error names the tick and the phase. A tick that fails does not count.
// Since it stopped half-way the Sim cannot go on: every later Step returns the same error, until a
// Restore. Three kinds of error occur before anything has run and leave the Sim as it was:
// ErrFloatEnv, an error of SetInputs, and those of Check. An error that wraps loop.ErrStop, and no
// panic (see Config.Recover), means that a system asks to stop after this tick, which counts.
func (s *Sim) Step() (err error) {
	if s.failed != nil {
		return s.failed
	}
	if err := native.CheckFloatEnv(); err != nil {
		return fmt.Errorf("evertick: tick %d: %w", s.ticks, err)
	}
	if err := s.Check(); err != nil {
		return err
	}
	if err := s.prepareHistory(); err != nil {
		return fmt.Errorf("evertick: tick %d: history: %w", s.ticks, err)
	}
	tick := s.ticks
	defer func() { // also if an AfterTick hook panics: the tick has happened
		if s.ticks == tick {
			return
		}
		if e := s.recordTick(); e != nil {
			err = fmt.Errorf("evertick: tick %d: history: %w", tick, e)
		}
	}()
	return s.stepUnrecorded()
}

// StepN runs n ticks, and stops at the first error of Step.
func (s *Sim) StepN(n uint64) error {
	for range n {
		if err := s.Step(); err != nil {
			return err
		}
	}
	return nil
}

// RunUntil runs ticks until done returns true, but at most limit of them. It calls done before each
// tick and after the last one. It reports whether done returned true. An error is that of Step.
func (s *Sim) RunUntil(done func(*Sim) bool, limit uint64) (bool, error) {
	for ; ; limit-- {
		if done(s) {
			return true, nil
		}
		if limit == 0 {
			return false, nil
		}
		if err := s.Step(); err != nil {
			return false, err
		}
	}
}

// stepUnrecorded runs one tick without recording it in the history.
func (s *Sim) stepUnrecorded() (err error) {
	s.failed, s.stopErr, s.stepping, s.begun = errInterrupted, nil, true, true
	defer func() { // also if there is a panic
		s.stepping = false
		s.publishMetrics()
	}()
	if s.config.Recover {
		defer func() {
			if v := recover(); v != nil {
				err = fmt.Errorf("evertick: %w", loop.NewPanicError(s.tickN, s.running, v))
				s.failed = err
			}
		}()
	}
	s.tickN, s.tickMode, s.running = s.ticks, s.mode, "inputs"
	if err := s.inputs.take(s.ticks); err != nil {
		s.failed = nil
		return fmt.Errorf("evertick: tick %d: inputs: %w", s.ticks, err)
	}
	if s.failed = s.runTick(); s.failed != nil {
		return s.failed
	}
	return s.stopErr
}

// runTick runs the plan between the hooks, with the labels and the trace that Config asks for.
func (s *Sim) runTick() error {
	if s.config.Labels {
		defer pprof.SetGoroutineLabels(context.Background())
	}
	s.traceCtx = nil
	if s.config.Trace && trace.IsEnabled() {
		ctx, task := trace.NewTask(context.Background(), "tick")
		s.traceCtx = ctx
		defer task.End()
	}
	s.tickHooks = s.hooks // those that are added or removed meanwhile make another slice
	s.systemHooks = slices.ContainsFunc(s.tickHooks, func(h *Hooks) bool { return h.BeforeSystem != nil || h.AfterSystem != nil })
	start := s.now()
	s.lap = start
	if len(s.publishers) > 0 && s.frameSteps == 0 {
		s.frameAt = s.clock.Now()
	}
	s.World.KeepPrevious()
	if err := s.callTickHooks("BeforeTick", func(h *Hooks) func(*Tick) error { return h.BeforeTick }); err != nil {
		return err
	}
	if len(s.tickHooks) > 0 { // the time of hooks does not count for the first phase
		s.lap = s.now()
	}
	s.drainTimers()
	if s.planMode != int(s.tickMode) {
		s.selectActive()
	}
	for _, g := range s.plan {
		var err error
		switch {
		case len(g.active) == 0:
			g.skip()
		case len(g.members) == 1:
			err = s.runPhase(g)
		default: // also if only one member is active: a system keeps its list of commands in all modes
			err = s.runGroup(g)
		}
		if err != nil {
			return err
		}
	}
	s.jumpWritten()
	s.recordStep(s.lap - start)
	s.ticks++
	s.inAfterTick = true
	defer func() { s.inAfterTick = false }()
	return s.callTickHooks("AfterTick", func(h *Hooks) func(*Tick) error { return h.AfterTick })
}

// callTickHooks calls the hook of that name.
func (s *Sim) callTickHooks(name string, hook func(*Hooks) func(*Tick) error) error {
	s.running = name
	s.hashBeforeHooks()
	for _, h := range s.tickHooks {
		if f := hook(h); f != nil {
			if err := s.phaseError(name, f(s.newTick())); err != nil {
				return err
			}
			if err := s.phaseError(name, s.checkHook(f)); err != nil {
				return err
			}
		}
	}
	return nil
}

// callSystemHooks calls BeforeSystem or AfterSystem for each phase of a group that runs.
func (s *Sim) callSystemHooks(g *group, after bool) error {
	s.hashBeforeHooks()
	for _, p := range g.active {
		s.running = p.Name
		for _, h := range s.tickHooks {
			name, f := "BeforeSystem", h.BeforeSystem
			if after {
				name, f = "AfterSystem", h.AfterSystem
			}
			if f == nil {
				continue
			}
			f(s.newTick(), p.Name)
			if err := s.checkHook(f); err != nil {
				return s.phaseError(name+" of "+p.Name, err)
			}
		}
	}
	return nil
}

// runPhase runs a group of one phase between its hooks, and measures its time without theirs.
func (s *Sim) runPhase(g *group) error {
	p := g.members[0]
	if s.systemHooks {
		if err := s.callSystemHooks(g, false); err != nil {
			return err
		}
		s.lap = s.now()
	}
	err := s.callPhase(p)
	now := s.now()
	if err := s.phaseError(p.Name, err); err != nil {
		return err
	}
	s.recordTime(p, now-s.lap)
	s.lap = now
	if !s.systemHooks {
		return nil
	}
	err = s.callSystemHooks(g, true)
	s.lap = s.now()
	return err
}

// callPhase calls a phase on the goroutine of Step.
func (s *Sim) callPhase(p *phase) error {
	s.running = p.Name
	if p.labels != nil {
		pprof.SetGoroutineLabels(p.labels)
	}
	if s.traceCtx != nil {
		defer trace.StartRegion(s.traceCtx, p.Name).End()
	}
	if !s.config.CheckAccess {
		return p.run(s.newTick())
	}
	s.hashBefore(p)
	if err := p.run(s.newTick()); err != nil {
		return err
	}
	return s.checkWrites(p)
}

// phaseError returns the error that ends the Sim, with the name of the phase that returned it. An
// error that asks to stop does not end the Sim: the first such error of a tick is kept until the
// end of the tick.
func (s *Sim) phaseError(name string, err error) error {
	if err == nil {
		return nil
	}
	err = fmt.Errorf("evertick: tick %d: %s: %w", s.tickN, name, err)
	if !errors.Is(err, loop.ErrStop) {
		return err
	}
	if s.stopErr == nil {
		s.stopErr = err
	}
	return nil
}

// newTick returns the Tick for the next call. It fills it in again for each call, since a system
// may have written to the last one.
func (s *Sim) newTick() *Tick {
	s.tick = Tick{Sim: s, N: s.tickN, Dt: s.dt}
	return &s.tick
}

// group is a set of phases that run side by side. It implements native.Task.
type group struct {
	sim     *Sim
	members []*phase
	active  []*phase // the members that run in the mode of the tick
}

// runGroup runs systems side by side. All of them run to their end even if one fails, so that the
// error is always that of the first in their order.
func (s *Sim) runGroup(g *group) error {
	defer g.resetCommands()
	if s.systemHooks {
		if err := s.callSystemHooks(g, false); err != nil {
			return err
		}
	}
	if err := s.runMembers(g); err != nil {
		return fmt.Errorf("evertick: tick %d: %s: %w", s.tickN, namesOf(g.active), err)
	}
	for _, p := range g.active {
		if err := s.finishMember(p); err != nil {
			return err
		}
	}
	var err error
	if s.systemHooks {
		err = s.callSystemHooks(g, true)
	}
	s.lap = s.now()
	return err
}

// runMembers returns an error only if the results must not be used.
func (s *Sim) runMembers(g *group) error {
	s.World.HoldTouches()
	defer s.World.ReleaseTouches()
	if !s.config.CheckAccess {
		return s.groupPool.Run(len(g.active), g)
	}
	for i, p := range g.active { // one by one, to find out which of them wrote
		s.hashBefore(p)
		g.Do(0, i)
		if err := s.checkWrites(p); p.err == nil {
			p.err = err
		}
	}
	return nil
}

// resetCommands empties the lists of a group that has failed, so that none of its commands are left
// when the Sim is restored.
func (g *group) resetCommands() {
	for _, p := range g.active {
		if p.commands.Len() > 0 {
			p.commands.Reset()
		}
	}
}

// Do runs system i of the group on any goroutine and leaves the outcome in its phase.
func (g *group) Do(_, i int) {
	s, p := g.sim, g.active[i]
	p.err, p.panicked = errGoexit, nil
	defer func() {
		if v := recover(); v != nil {
			p.panicked = loop.NewPanicError(s.tickN, p.Name, v)
		}
	}()
	if p.labels != nil {
		pprof.SetGoroutineLabels(p.labels)
	}
	if s.traceCtx != nil {
		defer trace.StartRegion(s.traceCtx, p.Name).End()
	}
	start := s.now()
	p.tick = Tick{Sim: s, N: s.tickN, Dt: s.dt, commands: p.commands}
	p.err = p.run(&p.tick)
	p.ns = s.now() - start
}

// finishMember collects the outcome of a system of a group.
func (s *Sim) finishMember(p *phase) error {
	if p.panicked != nil {
		panic(p.panicked)
	}
	if err := s.phaseError(p.Name, p.err); err != nil {
		return err
	}
	s.recordTime(p, p.ns)
	if p.commands.Len() > 0 {
		s.commands.Append(p.commands)
	}
	return nil
}

// maxRounds bounds how often the commands of one tick are applied.
const maxRounds = 64

// applyCommands applies the recorded commands, and then those that observers have recorded
// meanwhile, until none is left.
func (s *Sim) applyCommands(*Tick) error {
	for range maxRounds {
		if s.commands.Len() == 0 {
			return nil
		}
		if _, err := s.World.Apply(s.commands); err != nil {
			return err
		}
	}
	if s.commands.Len() == 0 {
		return nil
	}
	return fault.Field(ErrRange, "evertick: rounds of commands that observers record", maxRounds)
}

// selectActive lists the phases that run in the mode of the tick.
func (s *Sim) selectActive() {
	for _, g := range s.plan {
		g.active = g.active[:0]
		for _, p := range g.members {
			if p.RunsIn(s.tickMode) {
				g.active = append(g.active, p)
			} else {
				p.ns = 0
			}
		}
	}
	s.planMode = int(s.tickMode)
}

// skip is called in place of a group in a tick in which no member runs.
func (g *group) skip() {
	if onSkip := g.members[0].onSkip; onSkip != nil { // only the module's own phases have one, and they are alone
		onSkip()
	}
}
