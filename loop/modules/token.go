package modules

import (
	"fmt"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/loop"
)

// StepToken is the right to run ticks. There is one: the engine holds it, or the module that took
// it by [StartContext.TakeStep].
//
// While it is held the engine's Loop is paused: its wall and UI time go on,
// and it grants no ticks.
type StepToken struct {
	engine *Engine
	holder *entry
	alpha  float64
	steps  int  // since the last frame
	paused bool // whether the Loop was paused before
}

// Step runs one tick: the Update of every module, in order. Its errors are those of
// [Engine.Advance], and ErrStale after Release. With loop.ErrStop the tick has
// run, and the Advance of this frame returns loop.ErrStop too. Call it in Coordinate, or
// outside of the calls of the engine: it panics in Start, Update, Render and Stop of a module.
func (t *StepToken) Step() error {
	e := t.engine
	if e.token != t {
		return fmt.Errorf("modules: StepToken of %q: %w", t.holder.name, ErrStale)
	}
	if e.calling && e.op != OpCoordinate {
		panic("modules: StepToken.Step called from Start, Update, Render or Stop")
	}
	if err := e.ready(); err != nil {
		return err
	}
	if err := e.update(e.tick); err != nil {
		return err
	}
	t.steps++
	e.offset++
	if e.stop {
		return loop.ErrStop
	}
	return nil
}

// Tick returns the number of the next tick.
func (t *StepToken) Tick() uint64 { return t.engine.tick }

// SetAlpha sets the interpolation of the next frames between the last two ticks,
// in [0, 1), initially 0. Another value is ErrRange or ErrNotFinite, and changes nothing.
func (t *StepToken) SetAlpha(alpha float64) error {
	const field = "modules: StepToken.SetAlpha: alpha"
	switch {
	case t.engine.token != t:
		return fmt.Errorf("modules: StepToken of %q: %w", t.holder.name, ErrStale)
	case !fault.Finite(alpha):
		return fault.Field(ErrNotFinite, field, alpha)
	case alpha < 0 || alpha >= 1:
		return fault.Field(ErrRange, field, alpha)
	}
	t.alpha = alpha
	return nil
}

// Release returns the right to the engine, whose Loop goes on where it was,
// paused if it was paused before. A second Release does nothing.
func (t *StepToken) Release() {
	if t.engine.token == t {
		t.engine.token = nil
		t.engine.loop.SetPaused(t.paused)
	}
}

func (e *Engine) takeStep(m *entry) (*StepToken, error) {
	switch {
	case e.calling && e.op == OpUpdate:
		panic("modules: TakeStep called from Update")
	case e.stopped:
		return nil, fmt.Errorf("modules: TakeStep: %w", ErrNotRunning)
	case e.token == nil:
		e.token = &StepToken{engine: e, holder: m, paused: e.loop.Paused()}
		e.loop.SetPaused(true)
	case e.token.holder != m:
		return nil, fmt.Errorf("modules: TakeStep: %w by %q", ErrStepTaken, e.token.holder.name)
	}
	return e.token, nil
}
