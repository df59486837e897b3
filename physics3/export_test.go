package physics3

// CreateForm attaches a form to b.
func (w *World) CreateForm(b Body, def ShapeDef, f Form) (Shape, error) {
	shape, _ := w.shapes.IDs.Next()
	if err := w.solver.createShape(shape, b.Index(), &def, f.geometry); err != nil {
		return Shape{}, err
	}
	return Shape{uint32(shape), w.shapes.Add(shape, b.Index(), f.geometry.digest(&def))}, nil
}
