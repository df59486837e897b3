package physics

import "github.com/evertick/evertick/internal/fault"

// Clone returns an independent world in the same state, with the same Config. Another engine
// is ErrUnsupported.
func (w *World) Clone() (*World, error) {
	if err := w.engine.require(); err != nil {
		return nil, err
	}
	c, err := New(w.config)
	if err != nil {
		return nil, err
	}
	return c, c.CopyFrom(w)
}

// CopyFrom replaces the state by that of src. It is like Restore of a snapshot of src, with
// the same errors, but without encoding. The worlds may differ in capacity, level
// and number of workers. It allocates nothing once w has held a state of that size. A copy from w
// itself has no effect.
func (w *World) CopyFrom(src *World) error {
	if w == src {
		return w.checkCopy(src)
	}
	if err := w.PrepareCopy(src); err != nil {
		return err
	}
	w.prepared.hasEvents = false
	w.Commit()
	return nil
}

// PrepareCopy does the part of CopyFrom that can fail, with the same errors, and changes nothing.
// Commit then does the rest, as it does after Prepare, and also copies the events of the last step.
// Neither world may change before Commit or Discard, and src must be another world than w.
func (w *World) PrepareCopy(src *World) error {
	if w == src {
		panic("physics: PrepareCopy from the world itself")
	}
	if err := w.checkCopy(src); err != nil {
		return err
	}
	if w.prepared == nil {
		w.prepared = new(snapshotImage)
	}
	w.Discard()
	w.prepared.src, w.prepared.hasEvents, w.prepared.prepared = src, true, true
	return nil
}

// checkCopy returns the error of CopyFrom.
func (w *World) checkCopy(src *World) error {
	const prefix = "physics: CopyFrom: "
	for _, world := range [...]*World{w, src} {
		if err := world.engine.require(); err != nil {
			return err
		}
	}
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
	return nil
}

func (w *World) copyHeader(src *World) {
	w.config.Gravity, w.solver.sys.Gravity, w.solver.steps = src.config.Gravity, src.solver.sys.Gravity, src.solver.steps
}

func (w *World) copyBodies(src *World) {
	before, rows := w.Rows(), src.Rows()
	for i := rows; i < before; i++ {
		w.cols.clear(i)
		w.lastSync.clear(i)
		w.shapes.Head[i] = 0
	}
	c, from := &w.cols, &src.cols
	columns := from.floatColumns()
	for i, nc := range c.floatColumns() {
		copy(*nc.column, (*columns[i].column)[:rows])
	}
	synced := src.lastSync.columns()
	for i, column := range w.lastSync.columns() {
		copy(*column, (*synced[i])[:rows])
	}
	copy(c.Slot, from.Slot[:rows])
	copy(c.Type, from.Type[:rows])
	copy(c.Flags, from.Flags[:rows])
	copy(c.Alive, from.Alive[:rows])
	w.bodies.CopyFrom(&src.bodies)
	w.solver.rows = rows
}

func (w *World) copyShapes(src *World) {
	w.shapes.CopyFrom(&src.shapes, w.Rows())
	s, from := w.solver, src.solver
	s.shapes.copyFrom(&from.shapes)
	s.lastGenerations = append(s.lastGenerations[:0], from.lastGenerations...)
	copy(s.continuous.extents.Min, from.continuous.extents.Min[:from.rows])
	copy(s.continuous.extents.Max, from.continuous.extents.Max[:from.rows])
}

// copyContacts also copies the bases.
func (w *World) copyContacts(src *World) {
	s, from := w.solver, src.solver
	s.contacts, s.pairsKnown = append(s.contacts[:0], from.contacts...), false
	s.bases = append(s.bases[:0], from.bases...)
	s.omittedPairs = from.omittedPairs
}

func (t *shapeColumns) copyFrom(src *shapeColumns) {
	t.version++
	t.shape = append(t.shape[:0], src.shape...)
	t.local = append(t.local[:0], src.local...)
	t.mass = append(t.mass[:0], src.mass...)
	t.sensor = append(t.sensor[:0], src.sensor...)
	t.sensors = src.sensors
	t.smooth, t.chained = append(t.smooth[:0], src.smooth...), src.chained
	t.oneWay, t.oneWays = append(t.oneWay[:0], src.oneWay...), src.oneWays
	t.user = append(t.user[:0], src.user...)
	from := src.floats()
	for i, column := range t.floats() {
		*column = append((*column)[:0], *from[i]...)
	}
	f, g := &t.filters, &src.filters
	f.Body = append(f.Body[:0], g.Body...)
	f.Moves = append(f.Moves[:0], g.Moves...)
	f.Category = append(f.Category[:0], g.Category...)
	f.Mask = append(f.Mask[:0], g.Mask...)
	f.Group = append(f.Group[:0], g.Group...)
	f.SpanMin, f.SpanMax, t.spans = append(f.SpanMin[:0], g.SpanMin...), append(f.SpanMax[:0], g.SpanMax...), src.spans
}

// floats returns the columns with one number per shape.
func (t *shapeColumns) floats() [6]*[]float32 {
	return [...]*[]float32{&t.density, &t.rolling, &t.Friction, &t.Restitution, &t.RollingResistance, &t.TangentSpeed}
}
