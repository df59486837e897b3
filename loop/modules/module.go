package modules

import (
	"github.com/evertick/evertick/loop"
)

// Module is a part of a program. It may also be a [Starter], a [Stopper] and a
// [Coordinator].
type Module interface {
	// Update advances the module by one tick of dt seconds. An error ends the
	// run of the engine at once, loop.ErrStop after the tick.
	Update(c *UpdateContext, dt float32) error
	// Render draws the module interpolated by alpha, in [0, 1), from the
	// last tick but one to the last. An error ends the frame;
	// loop.ErrStop, say of a window that was closed, ends Run after the frame.
	Render(c *RenderContext, alpha float64) error
}

// Starter is a module that has something to do before the first tick.
type Starter interface {
	Start(c *StartContext) error
}

// Stopper is a module that has something to do after the last tick. It is
// called if the module was started, also when another one failed.
type Stopper interface {
	Stop() error
}

// Coordinator is a module that may hold the step token. While it does, the engine
// calls Coordinate in each frame, before rendering, to run any number of ticks
// with t.Step.
type Coordinator interface {
	Coordinate(c *RenderContext, t *StepToken) error
}

// UpdateContext describes the running tick. It is valid until Update returns.
// Nothing in it depends on wall time, or on the frame.
type UpdateContext struct {
	dt       float32
	seed     uint64
	time     loop.SimTime
	services *Services
}

// Tick returns the number of the tick that runs, from 0 on.
func (c *UpdateContext) Tick() uint64 { return c.time.Ticks() }

// Dt returns the length of a tick in seconds: the float32 nearest to it.
func (c *UpdateContext) Dt() float32 { return c.dt }

// Time returns the simulated time at which the tick begins, exactly.
func (c *UpdateContext) Time() loop.SimTime { return c.time }

// Rand returns random numbers that depend on the engine's seed, the tick, the
// entity and the stream only.
func (c *UpdateContext) Rand(entity uint64, stream uint32) loop.Rand {
	return loop.NewRand(c.seed, c.time.Ticks(), entity, stream)
}

// Services returns the services of updates: see [Find].
func (c *UpdateContext) Services() *Services { return c.services }

// RenderContext describes a frame. It is valid until Render returns.
type RenderContext struct {
	frame  loop.Frame
	time   loop.SimTime
	engine *Engine
}

// Frame returns the frame, with wall and UI time. Its Tick counts all completed
// ticks, including those of a StepToken. While a token is held, Steps and SimNs
// count the ticks that it ran since the frame before, and
// Alpha is that of SetAlpha; in Coordinate they are not known yet and 0.
func (c *RenderContext) Frame() loop.Frame { return c.frame }

// SimTime returns the simulated time at the end of the last tick.
func (c *RenderContext) SimTime() loop.SimTime { return c.time }

// Clock returns the wall clock of the engine.
func (c *RenderContext) Clock() TimeService { return c.engine.clock }

// Services returns the services of updates.
func (c *RenderContext) Services() *Services { return &c.engine.services }

// Presentation returns the services of rendering only.
func (c *RenderContext) Presentation() *Services { return &c.engine.presentation }

// StartContext is the context of Start. It stays valid until the engine is stopped:
// a module that may need the step token later keeps it.
type StartContext struct {
	engine *Engine
	module *entry
}

// Name returns the name under which the module was added.
func (c *StartContext) Name() string { return c.module.name }

// Services returns the services of updates. A module may provide its own, which
// the modules after it find when they are started.
func (c *StartContext) Services() *Services { return &c.engine.services }

// Presentation returns the services of rendering only.
func (c *StartContext) Presentation() *Services { return &c.engine.presentation }

// TakeStep gives the module the right to run ticks, and takes it from the
// engine. If another module holds the token, the error wraps ErrStepTaken and names
// it; the holder itself gets the same token again. After Stop the error is
// ErrNotRunning. It panics if a tick is running.
func (c *StartContext) TakeStep() (*StepToken, error) { return c.engine.takeStep(c.module) }

// TimeService provides wall time to the engine and to rendering. Every
// [loop.Clock] is one.
type TimeService interface {
	loop.Clock
}

type (
	// RealTime is the real clock.
	RealTime = loop.SystemClock
	// FakeTime is a clock that a test sets, or that jumps.
	FakeTime = loop.ManualClock
)
