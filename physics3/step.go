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
// unless another goroutine than the caller's has detected it.
func (w *World) Step(dt float32) error {
	if err := checkStep("physics3: Step: dt", dt); err != nil {
		return err
	}
	if err := native.CheckFloatEnv(); err != nil {
		return err
	}
	return w.solver.run(dt)
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
