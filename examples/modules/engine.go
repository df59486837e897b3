package main

import (
	"context"
	"errors"

	"github.com/evertick/evertick/loop"
)

// A Module is a part of the program.
type Module interface {
	// Update advances the module by one tick. It knows simulated time alone: the same ticks give the same state, however
	// they are spread over frames.
	Update(t Tick) error
	// Render draws the module, interpolated by f.Alpha from the last tick but one to the last. It must not change what
	// Update reads.
	Render(f loop.Frame) error
}

// A Coordinator is a module that may hold the step token. While it does, the engine calls Coordinate once a frame, before
// it renders, to run any number of ticks with t.Step.
type Coordinator interface {
	Module
	Coordinate(f loop.Frame, t *StepToken) error
}

// Tick is all that an Update knows of time.
type Tick struct {
	N    uint64  // from 0 on
	Dt   float32 // seconds
	seed uint64
}

// Rand returns random numbers that depend on the seed of the engine, the tick and the stream only.
func (t Tick) Rand(stream uint32) loop.Rand { return loop.NewRand(t.seed, t.N, 0, stream) }

// Engine drives modules, in the order in which they were added, by one fixed-step loop.
type Engine struct {
	loop    *loop.Loop
	seed    uint64
	modules []Module
	token   *StepToken
	tick    uint64 // of the next update
	ended   bool   // a module has returned loop.ErrStop
}

// NewEngine returns an engine of 60 ticks a second.
func NewEngine(seed uint64, modules ...Module) (*Engine, error) {
	l, err := loop.New(loop.Modules())
	return &Engine{loop: l, seed: seed, modules: modules}, err
}

// Run runs the engine by a clock until a module returns loop.ErrStop, an error of another kind, or ctx is done. A test
// passes a loop.ManualClock that jumps.
func (e *Engine) Run(ctx context.Context, clock loop.Clock) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var failed error
	err := e.loop.Run(ctx, clock, func(uint64) error { return e.update() }, func(f loop.Frame) {
		if failed = e.present(f); failed != nil || e.ended {
			cancel()
		}
	})
	if failed == nil && !e.ended {
		failed = err
	}
	return failed
}

// Advance is one frame of a host with frames of its own: elapsedNs nanoseconds have passed since the last one.
func (e *Engine) Advance(elapsedNs int64) error {
	f, err := e.loop.Drive(elapsedNs, func(uint64) error { return e.update() })
	if err != nil {
		return err
	}
	return e.present(f)
}

// update runs one tick. It is a step of the loop, or one of the token.
func (e *Engine) update() error {
	for _, m := range e.modules {
		err := m.Update(Tick{N: e.tick, Dt: e.loop.Dt(), seed: e.seed})
		if errors.Is(err, loop.ErrStop) {
			e.ended = true // after this tick, which every module completes
		} else if err != nil {
			return err
		}
	}
	e.tick++
	if e.ended {
		return loop.ErrStop
	}
	return nil
}

// present renders a frame. Ticks of the token are not the loop's: the frame gets their number here.
func (e *Engine) present(f loop.Frame) error {
	if t := e.token; t != nil {
		before := e.tick
		f.Tick, f.Alpha = before, 0
		if err := t.holder.Coordinate(f, t); err != nil && !errors.Is(err, loop.ErrStop) {
			return err
		}
		f.Steps = int(e.tick - before)
	}
	f.Tick = e.tick
	for _, m := range e.modules {
		if err := m.Render(f); err != nil {
			return err
		}
	}
	return nil
}

// ErrStepTaken: another module holds the step token.
var ErrStepTaken = errors.New("the step token is taken")

// StepToken is the right to run ticks. Either the engine has it, whose loop grants the ticks that are due, or one module,
// say one that waits for the orders of other machines.
type StepToken struct {
	engine *Engine
	holder Coordinator
}

// TakeStep gives the step token to a module. Wall and UI time go on while it is held, and the loop grants no ticks.
func (e *Engine) TakeStep(c Coordinator) (*StepToken, error) {
	if e.token != nil {
		return nil, ErrStepTaken
	}
	e.token = &StepToken{e, c}
	e.loop.SetPaused(true)
	return e.token, nil
}

// Step runs one tick: the Update of every module, in order.
func (t *StepToken) Step() error { return t.engine.update() }

// Release returns the right to the engine.
func (t *StepToken) Release() {
	t.engine.token = nil
	t.engine.loop.SetPaused(false)
}
