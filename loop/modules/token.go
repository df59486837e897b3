package modules

import (
	"fmt"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/loop"
)

// StepToken is the right to run ticks. There is one, with the engine or with
// the module that took it by [StartContext.TakeStep].
//
// While it is held the engine's Loop is paused, so its wall and UI time go on
// and it grants nothing; whether it is paused is the holder's business then.
type StepToken struct {
	engine *Engine
	holder *entry
	alpha  float64
	steps  int  // since the last frame
	paused bool // whether the Loop was before
}

// Step runs one tick: the Update of every module, in order. An error is that of
// [Engine.Advance], and ErrStale after Release; with loop.ErrStop the tick has
// run, and this frame's Advance will return that as well. It panics if it is called from
// Start, Update, Render or Stop of a module; the place for it is Coordinate, or
// outside of the engine's calls.
func (t *StepToken) Step() error {
	e := t.engine
	if e.token != t {
		return fmt.Errorf("modules: StepToken of %q: %w", t.holder.name, ErrStale)
	}
	if e.state != stateIdle && e.state != stateCoordinate {
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

// SetAlpha says how far between the last two ticks the next frames are to be
// rendered, in [0, 1). It is 0 at first. Another value is ErrRange or
// ErrNotFinite, and nothing changes.
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

// Release gives the right back to the engine, whose Loop goes on where it was,
// paused if it was. A token that was released before is left alone.
func (t *StepToken) Release() {
	if t.engine.token == t {
		t.engine.token = nil
		t.engine.loop.SetPaused(t.paused)
	}
}

func (e *Engine) takeStep(m *entry) (*StepToken, error) {
	switch {
	case e.state == stateUpdate:
		panic("modules: TakeStep called from Update")
	case e.stopped:
		return nil, fmt.Errorf("modules: TakeStep: %w", ErrNotRunning)
	case e.token == nil:
		e.token = &StepToken{engine: e, holder: m, paused: e.loop.Paused()}
		e.loop.SetPaused(true)
	case e.token.holder != m:
		return nil, fmt.Errorf("modules: TakeStep: %w: %q holds it", ErrStepTaken, e.token.holder.name)
	}
	return e.token, nil
}
