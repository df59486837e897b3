package physics

// Least and greatest length of a step in seconds that the solver of this package takes:
// the inverse of a sub-step, its square too, must be a number.
const (
	MinStep = 1e-6
	MaxStep = 1e3
)

// Step advances the world by dt seconds, MinStep to MaxStep. ErrNotFinite or ErrRange leave
// the world as it was, and so does ErrFloatEnv, unless a goroutine beside the caller's
// has found it. Any other error is one of another engine and means that the state is
// lost: the engine stopped, or a column is not finite, which the error names with the
// index of the body. All later steps and changes then return it.
//
// Commands are applied first; with an error of Apply there is no step.
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
	if err := checkPositive(field, dt); err != nil {
		return err
	}
	return w.engine.checkStep(field, dt)
}

// Trace makes Step call f at the end of each of its stages, with the name of the stage;
// nil ends it. f must not use the world. An engine other than the default one
// has no stages.
func (w *World) Trace(f func(stage string)) { w.solver.onStage = f }
