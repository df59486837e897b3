package physics

import "github.com/evertick/evertick/internal/fault"

// Step advances the world by dt seconds. ErrNotFinite or ErrRange (dt not
// positive) leave the world as it was. Any other error means that the state is
// lost: the engine stopped, or a column is not finite, which the error names
// with the index of the body. All later steps and changes then return it.
func (w *World) Step(dt float32) error {
	if w.failed != nil {
		return w.failed
	}
	if err := checkPositive("physics: Step: dt", dt); err != nil {
		return err
	}
	if w.failed = w.engine.Step(dt); w.failed == nil {
		w.failed = w.firstNotFinite()
	}
	return w.failed
}

// Trace makes Step call f at the end of each of its stages, with the name of the stage;
// nil ends it. f must not use the world. An engine other than the default one
// has no stages.
func (w *World) Trace(f func(stage string)) {
	if w.solver != nil {
		w.solver.trace = f
	}
}

// firstNotFinite names the first motion value that is NaN or infinite, by
// column, then by body. Rows without a body are zero.
func (w *World) firstNotFinite() error {
	rows := w.Rows()
	columns := w.cols.floatColumns()
	for _, nc := range columns[:motionColumns] {
		for i, v := range (*nc.column)[:rows] {
			if !fault.Finite(v) {
				return fault.Element(ErrNotFinite, "physics: state after Step: Columns."+nc.name, i, v)
			}
		}
	}
	return nil
}
