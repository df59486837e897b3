package physics

import (
	"cmp"
	"slices"

	"github.com/evertick/evertick/internal/check"
	"github.com/evertick/evertick/internal/fault"
)

// AppendShapes appends the shapes of a body to dst, in the order of their indices, chains included. ErrStale.
func (w *World) AppendShapes(dst []Shape, b Body) ([]Shape, error) {
	body, err := w.row(b)
	if err != nil {
		return dst, err
	}
	n, t := len(dst), &w.shapes
	for shape := range t.Of(body) {
		dst = append(dst, Shape{uint32(shape), t.IDs.Generation[shape]})
	}
	slices.SortFunc(dst[n:], func(a, b Shape) int { return cmp.Compare(a.index, b.index) })
	return dst, nil
}

// AppendContacts appends the pairs of solid shapes that touched in the last step, and of which b has one, to dst, in the
// order of their indices. Contacts of sleeping bodies count. It reads all contacts of the world. Another engine has
// none. ErrStale.
func (w *World) AppendContacts(dst []Touch, b Body) ([]Touch, error) {
	body, err := w.row(b)
	if err != nil {
		return dst, err
	}
	s, of := w.solver, w.shapes.Owner
	all := s.allContacts()
	for c := all.next(); c != nil; c = all.next() {
		if (of[c.A] == uint32(body) || of[c.B] == uint32(body)) && s.touches(c) {
			dst = append(dst, Touch{s.handle(c.A), s.handle(c.B)})
		}
	}
	return dst, nil
}

// AppendSensorOverlaps appends the shapes that overlapped a sensor in the last step to dst, in the order of their
// indices: those for which Events had a SensorBegin and no SensorEnd since, except for destroyed ones. It includes
// shapes of sleeping bodies. It reads all contacts of the world. Errors: ErrStale, and ErrUnsupported for a solid shape and from
// another engine.
func (w *World) AppendSensorOverlaps(dst []Shape, sensor Shape) ([]Shape, error) {
	if err := w.requireSolverShape(sensor); err != nil {
		return dst, err
	}
	s := w.solver
	if !s.shapes.sensor[sensor.index] {
		return dst, check.Because(fault.Field(ErrUnsupported, "physics: AppendSensorOverlaps", sensor), "it is not a sensor")
	}
	all := s.allContacts()
	for c := all.next(); c != nil; c = all.next() {
		switch {
		case c.Count == 0 || !s.shapesLive(c):
		case c.A == sensor.index:
			dst = append(dst, s.handle(c.B))
		case c.B == sensor.index:
			dst = append(dst, s.handle(c.A))
		}
	}
	return dst, nil
}

// ShapeBounds returns the box along the axes around a shape where its body is now, in metres. Errors: ErrStale, and
// ErrUnsupported from another engine.
func (w *World) ShapeBounds(s Shape) (DrawnBox, error) {
	if err := w.requireSolverShape(s); err != nil {
		return DrawnBox{}, err
	}
	return w.solver.shapeBox(int(s.index)), nil
}

// BodyBounds returns the box along the axes around all shapes of b where it is now, in metres, sensors included; that
// of a body without shapes is its position. Errors are those of ShapeBounds.
func (w *World) BodyBounds(b Body) (DrawnBox, error) {
	i, err := w.solverRow(b)
	if err != nil {
		return DrawnBox{}, err
	}
	box, s := emptyBox, w.solver
	for shape := range w.shapes.Of(i) {
		box.join(s.shapeBox(shape))
	}
	if w.shapes.First(i) == 0 {
		box.reach([2]float32{w.cols.X[i], w.cols.Y[i]}, 0)
	}
	return box, nil
}

// shapeBox returns the box around a shape.
func (s *solver) shapeBox(shape int) DrawnBox {
	box, r := emptyBox, &s.shapes.local[shape]
	for _, v := range r.Vertices[:r.Count] {
		box.reach(s.worldPoint(int(s.shapes.filters.Body[shape]), v.X, v.Y), r.Radius)
	}
	return box
}
