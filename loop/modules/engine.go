package modules

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/loop"
)

// Config of an Engine. The zero value works.
type Config struct {
	// Loop sets the rate of ticks and the maximum number in a frame. Zero means
	// loop.Modules().
	Loop loop.Config
	// Seed of the random numbers that UpdateContext.Rand draws.
	Seed uint64
	// Clock paces Run and is what RenderContext.Clock returns. nil means a new
	// RealTime.
	Clock TimeService
	// CheckRender makes a frame fail with ErrRange if Render of a module changes the state of a Hasher,
	// which is a module or a service of updates. The *Error names the module that rendered, the column
	// that it wrote, and the Hasher. If there is no Hasher, Start returns ErrUnsupported. For debugging:
	// it hashes the state of all Hashers once a frame, and again after each Render.
	CheckRender bool
}

// Engine owns modules and drives them. See the package comment for its life. It
// is not safe for concurrent use.
type Engine struct {
	loop         *loop.Loop
	seed         uint64
	clock        TimeService
	modules      []*entry
	services     Services
	presentation Services
	checkRender  bool
	hashers      []checkedHasher // nil without Config.CheckRender

	tick   uint64 // of the next update
	offset uint64 // ticks that tokens ran: tick minus that of the Loop
	token  *StepToken
	frame  loop.Frame
	failed error // of the update that has failed
	stop   bool  // a module has returned loop.ErrStop

	calling          bool // a method of a module
	op               Op   // which one
	started, stopped bool
	begun            int // number of started modules, the first ones

	step    func(uint64) error // stepLoop, for the Loop
	updates UpdateContext
	renders RenderContext
}

type entry struct {
	name   string
	module Module
}

// New returns an engine without modules. Its error is that of
// loop.Config.Validate.
func New(c Config) (*Engine, error) {
	if c.Loop == (loop.Config{}) {
		c.Loop = loop.Modules()
	}
	l, err := loop.New(c.Loop)
	if err != nil {
		return nil, err
	}
	if c.Clock == nil {
		c.Clock = new(RealTime)
	}
	e := &Engine{loop: l, seed: c.Seed, clock: c.Clock, checkRender: c.CheckRender}
	e.presentation.clocks = true
	e.step = e.stepLoop
	return e, nil
}

// Add appends a module. A name that is empty or taken is ErrRange; after Start
// it is ErrStarted. It panics if m is nil.
func (e *Engine) Add(name string, m Module) error {
	if m == nil {
		panic("modules: Add: nil module")
	}
	if e.started {
		return fmt.Errorf("modules: Add: %q: %w", name, ErrStarted)
	}
	if name == "" || slices.ContainsFunc(e.modules, func(o *entry) bool { return o.name == name }) {
		return fault.Field(ErrRange, "modules: Add: name", fmt.Sprintf("%q", name))
	}
	e.modules = append(e.modules, &entry{name, m})
	return nil
}

// Services returns the services of updates, which carry no clock.
func (e *Engine) Services() *Services { return &e.services }

// Presentation returns the services of rendering only.
func (e *Engine) Presentation() *Services { return &e.presentation }

// Loop returns the Loop that grants the ticks, for its scales, freezes, pauses,
// menus, phases and timers. Only the engine may call its Advance, Drive, Run and StartNew.
func (e *Engine) Loop() *loop.Loop { return e.loop }

// Tick returns the number of completed ticks.
func (e *Engine) Tick() uint64 { return e.tick }

// Frame returns the last frame.
func (e *Engine) Frame() loop.Frame { return e.frame }

// Start starts the modules in the order in which they were added. If one fails,
// those before it are stopped, in reverse order, and their errors are joined
// to its *Error; the engine is then stopped. A second Start is ErrStarted.
func (e *Engine) Start() error {
	if e.started {
		return fmt.Errorf("modules: Start: %w", ErrStarted)
	}
	e.started = true
	for _, m := range e.modules {
		if s, ok := m.module.(Starter); ok {
			if err := e.call(m, OpStart, e.tick, func() error { return s.Start(&StartContext{e, m}) }); err != nil {
				return errors.Join(err, e.Stop())
			}
		}
		e.begun++
	}
	e.services.started, e.presentation.started = true, true
	if err := e.findHashers(); err != nil {
		return errors.Join(err, e.Stop())
	}
	return nil
}

// Stop stops the started modules, in reverse order, all of them even if some
// fail, and joins their *Errors. The engine cannot be started again.
// A second Stop, or one without Start, does nothing and returns nil. It panics
// if a module calls it.
func (e *Engine) Stop() error {
	e.enter("modules: Stop called from a module")
	e.stopped = true
	var errs []error
	for ; e.begun > 0; e.begun-- {
		m := e.modules[e.begun-1]
		if s, ok := m.module.(Stopper); ok {
			errs = append(errs, e.call(m, OpStop, e.tick, s.Stop))
		}
	}
	return errors.Join(errs...)
}

// Advance runs one frame, elapsedNs nanoseconds of wall time after the last one. It runs the updates that are due,
// or those that the holder of the step token runs, and then renders every module.
//
// An error of an update ends its tick, nothing is rendered, and every
// later Advance returns the same error, with the frame before. An error of rendering
// ends only the frame. Both are an *Error. Before Start and after Stop the error is
// ErrNotRunning.
// A module requests the end by returning loop.ErrStop. The tick is completed and counts, or the frame is rendered
// to its end, and Advance returns loop.ErrStop. Ticks that were due after that tick stay due and are not rendered.
// The engine still runs until Stop.
//
// Advance panics if a module calls it.
func (e *Engine) Advance(elapsedNs int64) (loop.Frame, error) {
	e.enter("modules: Advance called from a module")
	if err := e.ready(); err != nil {
		return e.frame, err
	}
	f, err := e.loop.Drive(elapsedNs, e.step)
	switch {
	case e.failed != nil:
		return e.frame, e.failed // without the tick, which it names itself
	case e.takeStop():
		return e.frame, loop.ErrStop
	case err != nil:
		return e.frame, err
	}
	err = e.present(f)
	return e.frame, err
}

// Run starts the engine, unless it was started, and runs it by its clock until ctx is done, a module fails, or one
// returns loop.ErrStop; then it stops the engine. It returns the error of ctx or of the module, or nil for
// loop.ErrStop, joined with those of Stop. It renders a frame when a tick is due. While time is slowed or paused
// it renders as often.
func (e *Engine) Run(ctx context.Context) error {
	if !e.started {
		if err := e.Start(); err != nil {
			return err
		}
	}
	if err := e.ready(); err != nil {
		return err
	}
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	var presenting error
	err := e.loop.Run(inner, e.clock, e.step, func(f loop.Frame) {
		if e.stop {
			presenting = loop.ErrStop
		} else {
			presenting = e.present(f)
		}
		if presenting != nil {
			cancel()
		}
	})
	switch {
	case e.failed != nil:
		err = e.failed
	case presenting != nil && presenting != loop.ErrStop:
		err = presenting
	case e.takeStop(), presenting == loop.ErrStop:
		err = nil
	}
	return errors.Join(err, e.Stop())
}

// takeStop reports whether a module has requested the end, and clears the request.
func (e *Engine) takeStop() bool {
	asked := e.stop
	e.stop = false
	return asked
}

// enter panics if a method of a module is running, which must have called the caller.
func (e *Engine) enter(message string) {
	if e.calling {
		panic(message)
	}
}

// ready returns why no tick can run, or nil.
func (e *Engine) ready() error {
	if !e.started || e.stopped {
		return fmt.Errorf("modules: %w", ErrNotRunning)
	}
	return e.failed
}

// stepLoop is a step of the Loop.
func (e *Engine) stepLoop(tick uint64) error {
	if e.token != nil {
		e.loop.SetPaused(true)
		return fmt.Errorf("modules: the Loop is not paused: %w by %q", ErrStepTaken, e.token.holder.name)
	}
	if e.stop {
		return errStopping
	}
	return e.update(tick + e.offset)
}

// update runs one tick.
func (e *Engine) update(tick uint64) error {
	for _, m := range e.modules {
		err := e.call(m, OpUpdate, tick, func() error {
			// A new context for each module, as a module could write to it.
			e.updates = UpdateContext{dt: e.loop.Dt(), seed: e.seed, time: e.loop.TimeAt(tick), services: &e.services}
			return m.module.Update(&e.updates, e.updates.dt)
		})
		if err != nil {
			e.failed = err
			return err
		}
	}
	e.tick = tick + 1
	return nil
}

// present renders a frame of the Loop.
func (e *Engine) present(f loop.Frame) error {
	f.Tick += e.offset
	if e.token != nil {
		var err error
		if f, err = e.coordinate(f); err != nil {
			return err
		}
	}
	e.frame = f
	e.hashState()
	for _, m := range e.modules {
		err := e.call(m, OpRender, e.tick, func() error {
			e.renders = RenderContext{frame: e.frame, time: e.loop.TimeAt(e.tick), engine: e}
			return m.module.Render(&e.renders, e.frame.Alpha)
		})
		if err != nil {
			return err
		}
		if err := e.checkState(m); err != nil {
			return err
		}
	}
	if e.takeStop() {
		return loop.ErrStop
	}
	return nil
}

// coordinate calls the holder of the step token, which runs the ticks of a frame, and
// returns the frame with their number.
func (e *Engine) coordinate(f loop.Frame) (loop.Frame, error) {
	t := e.token
	f.Paused = t.paused
	f.Alpha, f.AlphaNum, f.AlphaRest = 0, 0, 0
	if c, ok := t.holder.module.(Coordinator); ok {
		err := e.call(t.holder, OpCoordinate, e.tick, func() error {
			e.renders = RenderContext{frame: f, time: e.loop.TimeAt(e.tick), engine: e}
			return c.Coordinate(&e.renders, e.token)
		})
		if e.failed != nil {
			return f, e.failed // an update failed, even if the holder ignores that
		}
		if err != nil {
			return f, err
		}
	}
	f.Tick, f.Steps, f.Alpha = e.tick, t.steps, t.alpha
	f.SimNs = e.loop.TimeAt(e.tick).Ns() - e.loop.TimeAt(e.tick-uint64(t.steps)).Ns()
	t.steps = 0
	return f, nil
}

// call calls a method of a module. Its error or panic becomes an *Error, except for a loop.ErrStop after Start and
// before Stop, which requests the end.
func (e *Engine) call(m *entry, op Op, tick uint64, method func() error) error {
	err := e.protect(m, op, tick, method)
	switch {
	case err == nil:
		return nil
	case op != OpStart && op != OpStop && stops(err):
		e.stop = true
		return nil
	case op == OpUpdate:
		e.tick = tick
	}
	return &Error{Module: m.name, Op: op, Tick: e.tick, Err: err}
}

// protect calls a method, and turns a panic into an error. A StepToken calls Update within Coordinate.
func (e *Engine) protect(m *entry, op Op, tick uint64, method func() error) (err error) {
	defer func(calling bool, op Op) { e.calling, e.op = calling, op }(e.calling, e.op)
	defer recovered(&err, m.name, tick)
	e.calling, e.op = true, op
	return method()
}
