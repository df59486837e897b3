package physics3

import (
	"github.com/evertick/evertick/internal/check"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/native"
)

// The least and the greatest length of a step in seconds: the inverse of a sub-step, and its square, must be finite.
const (
	MinStep = 1e-6
	MaxStep = 1e3
)

// Step advances the world by dt seconds, MinStep to MaxStep. ErrNotFinite and ErrRange leave the world unchanged, and so does ErrFloatEnv,
// unless another goroutine than the caller's has detected it: then the state is lost, and all methods that read or change it return that error, until
// Restore or CopyFrom replaces it.
//
// Step applies commands first; after an error of Apply there is no step.
func (w *World) Step(dt float32, commands ...*Commands) error {
	if w.failed != nil {
		return w.failed
	}
	if err := checkStep("physics3: Step: dt", dt); err != nil {
		return err
	}
	if err := native.CheckFloatEnv(); err != nil {
		return err
	}
	if err := w.Apply(commands...); err != nil {
		return err
	}
	w.failed = w.solver.run(dt)
	return w.failed
}

func checkStep(field string, dt float32) error {
	if err := check.Positive(field, dt); err != nil {
		return err
	}
	if dt < MinStep || dt > MaxStep {
		return fault.Field(ErrRange, field, dt)
	}
	return nil
}

// Trace makes Step call f at the end of each of its stages, with the name of the stage; nil ends tracing. f must not use the world.
func (w *World) Trace(f func(stage string)) { w.solver.stages.Trace = f }
