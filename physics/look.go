package physics

import (
	"cmp"
	"slices"
)

// AppendShapes appends the shapes of a body to dst, in the order of their indices, those of chains included. ErrStale.
func (w *World) AppendShapes(dst []Shape, b Body) ([]Shape, error) {
	body, err := w.row(b)
	if err != nil {
		return dst, err
	}
	n, t := len(dst), &w.shapes
	for end := t.first(body); end != 0; end = t.next[end-1] {
		dst = append(dst, Shape{end - 1, t.ids.generation[end-1]})
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
	s, of := w.solver, w.shapes.body
	all := s.allContacts()
	for c := all.next(); c != nil; c = all.next() {
		if (of[c.A] == uint32(body) || of[c.B] == uint32(body)) && s.touches(c) {
			dst = append(dst, Touch{s.handle(c.A), s.handle(c.B)})
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
	box, r := emptyBox, &w.solver.shapes.local[s.index]
	for _, v := range r.Vertices[:r.Count] {
		box.reach(w.solver.worldPoint(int(w.shapes.body[s.index]), v.X, v.Y), r.Radius)
	}
	return box, nil
}
