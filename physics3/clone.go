package physics3

import "github.com/evertick/evertick/internal/fault"

// Clone returns an independent world in the same state, with the same Config. Errors are those of New.
func (w *World) Clone() (*World, error) {
	c, err := New(w.config)
	if err != nil {
		return nil, err
	}
	return c, c.CopyFrom(w)
}

// CopyFrom replaces the state by that of src. It is like Restore of a snapshot of src, with the same errors, but without encoding. The worlds may differ in
// capacity, level and number of workers. It allocates nothing once w has held a state of that size. A copy from w itself has no effect.
func (w *World) CopyFrom(src *World) error {
	if w == src {
		return nil
	}
	if err := w.PrepareCopy(src); err != nil {
		return err
	}
	w.prepared.hasEvents = false
	w.Commit()
	return nil
}

// PrepareCopy does the part of CopyFrom that can fail, with the same errors, and changes nothing. Commit then does the rest, as it does after Prepare, and also
// copies the events of the last step. Neither world may change before Commit or Discard, and src must be another world than w.
func (w *World) PrepareCopy(src *World) error {
	if w == src {
		panic("physics3: PrepareCopy from the world itself")
	}
	const prefix = "physics3: CopyFrom: "
	if src.failed != nil {
		return src.failed
	}
	rules := src.config.rules()
	if err := w.config.checkRules(prefix, func(i int) uint32 { return rules[i].bits }); err != nil {
		return err
	}
	if rows := src.Rows(); rows > w.Cap() {
		return fault.Field(ErrCapacity, prefix+"rows", rows)
	}
	for i, slot := range src.cols.Slot[:src.Rows()] {
		if w.slotOutOfRange(slot) {
			return fault.Element(fault.ErrBeyond, prefix+"slot of body", i, slot)
		}
	}
	w.Discard()
	im := w.image()
	im.src, im.hasEvents, im.prepared = src, true, true
	return nil
}

func (w *World) copyHeader(src *World) {
	s := w.solver
	w.config.Gravity, w.config.DisableSleep, w.config.DisableContinuous = src.config.Gravity, src.config.DisableSleep, src.config.DisableContinuous
	s.continuous.enabled = src.solver.continuous.enabled
	s.sys.Gravity, s.steps, s.sleep.Enabled = src.solver.sys.Gravity, src.solver.steps, src.solver.sleep.Enabled
}

func (w *World) copyBodies(src *World) {
	before, rows := w.Rows(), src.Rows()
	for i := rows; i < before; i++ {
		w.cols.clear(i)
		w.lastSync.clear(i)
		w.shapes.Head[i] = 0
	}
	c, from := &w.cols, &src.cols
	for k := range floatColumns {
		copy(c.memory[k*c.stride:], from.memory[k*from.stride:][:rows])
	}
	for k := range &w.lastSync.columns {
		copy(w.lastSync.columns[k], src.lastSync.columns[k][:rows])
	}
	copy(c.Slot, from.Slot[:rows])
	copy(c.Type, from.Type[:rows])
	copy(c.Flags, from.Flags[:rows])
	copy(c.Locks, from.Locks[:rows])
	copy(c.Alive, from.Alive[:rows])
	w.bodies.CopyFrom(&src.bodies)
	s := w.solver
	copy(s.principal, src.solver.principal[:rows])
	copy(s.extent, src.solver.extent[:rows])
	copy(s.continuous.minExtent, src.solver.continuous.minExtent[:rows])
	copy(s.continuous.coreExtent, src.solver.continuous.coreExtent[:rows])
	s.derived.Reset(rows)
}

func (w *World) copyShapes(src *World) {
	w.shapes.CopyFrom(&src.shapes, w.Rows())
	s, from := w.solver, src.solver
	s.shapes.copyFrom(&from.shapes)
	s.contents.copyFrom(&from.contents)
	s.lastGenerations = append(s.lastGenerations[:0], from.lastGenerations...)
}

// copyContacts also copies the bases.
func (w *World) copyContacts(src *World) {
	s, from := w.solver, src.solver
	s.contacts, s.bases, s.pairsKnown = append(s.contacts[:0], from.contacts...), append(s.bases[:0], from.bases...), false
	s.convex, s.touches = from.convex, append(s.touches[:0], from.touches...)
	s.omittedPairs = from.omittedPairs
}

func (w *World) copyPairs(src *World) { w.solver.ignoredPairs.Set(src.solver.ignoredPairs.Keys) }

func (w *World) copyTuning(src *World) {
	w.solver.applyTuning(src.solver.tuning)
	w.solver.subStepRate = src.solver.subStepRate
}

func (w *World) copyMasses(src *World) {
	w.solver.massOverrides = append(w.solver.massOverrides[:0], src.solver.massOverrides...)
}

// copySleep must come after the bodies have been copied.
func (w *World) copySleep(src *World) {
	w.solver.sleep.Copy(&src.solver.sleep)
	r, from := &w.solver.sleepers, &src.solver.sleepers
	for k := range r.restPose {
		copy(r.restPose[k], from.restPose[k][:min(src.Rows(), len(from.restPose[k]))])
	}
	r.resting, r.restingConvex = append(r.resting[:0], from.resting...), from.restingConvex
	r.restingTouches = append(r.restingTouches[:0], from.restingTouches...)
}

func (w *World) copyOrigin(src *World) { w.origin = src.origin }
