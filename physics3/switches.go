package physics3

// ContinuousEnabled reports whether continuous collision keeps fast bodies from passing through thin shapes.
func (w *World) ContinuousEnabled() bool { return w.solver.continuous.enabled }

// EnableContinuous turns continuous collision on or off, from the next step on. It is on in a new world, unless Config.DisableContinuous is set. The
// switch is part of the state, so Restore and CopyFrom replace it, together with Config.DisableContinuous. The error is that which has stopped the
// world, if any.
func (w *World) EnableContinuous(on bool) error {
	if w.failed == nil {
		w.solver.continuous.enabled = on
	}
	return w.failed
}
