package physics3

// CreateForm attaches a form to b.
func (w *World) CreateForm(b Body, def ShapeDef, f Form) (Shape, error) {
	shape, _ := w.shapes.IDs.Next()
	if err := w.solver.createShape(shape, b.Index(), &def, f.geometry); err != nil {
		return Shape{}, err
	}
	return Shape{uint32(shape), w.shapes.Add(shape, b.Index(), f.geometry.digest(&def))}, nil
}

// SetGroupBytes makes steps put islands into groups of at most so many bytes, however few there are, and returns w. 0: as always.
func (w *World) SetGroupBytes(bytes int) *World {
	w.solver.groupBytes = bytes
	return w
}

// Groups returns the number of groups of the last step.
func (w *World) Groups() int { return w.solver.sys.Groups() }

// Regions returns the number of regions for which rows were cut last; 0: they were of no use, or not tried.
func (w *World) Regions() int { return w.solver.regions.cut.regions }
