package physics

import "github.com/evertick/evertick/internal/check"

// The least and the greatest length of a step in seconds for the solver of this package: the inverse of a sub-step,
// and its square, must be finite.
const (
	MinStep = 1e-6
	MaxStep = 1e3
)

// Step advances the world by dt seconds, MinStep to MaxStep. ErrNotFinite and ErrRange leave
// the world unchanged, and so does ErrFloatEnv, unless another goroutine than the caller's
// has detected it. Any other error comes from another engine and means that the state is
// lost: the engine stopped, or a column is not finite; then the error names the column and the
// index of the body. All later steps and changes then return the same error.
//
// Step applies commands first; after an error of Apply there is no step.
func (w *World) Step(dt float32, commands ...*Commands) error {
	if w.failed != nil {
		return w.failed
	}
	if err := w.checkStep("physics: Step: dt", dt); err != nil {
		return err
	}
	if err := w.engine.checkFloatEnv(); err != nil {
		return err
	}
	if err := w.Apply(commands...); err != nil {
		return err
	}
	w.failed = w.engine.Step(dt)
	return w.failed
}

func (w *World) checkStep(field string, dt float32) error {
	if err := check.Positive(field, dt); err != nil {
		return err
	}
	return w.engine.checkStep(field, dt)
}

// Trace makes Step call f at the end of each of its stages, with the name of the stage;
// nil ends tracing. f must not use the world. Another engine has no stages.
func (w *World) Trace(f func(stage string)) { w.solver.stages.Trace = f }
