package physics

import (
	"cmp"
	"slices"

	"github.com/evertick/evertick/native/rigid"
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
	n, s := len(dst), w.solver
	for _, contacts := range [...][]rigid.Contact{s.contacts, s.sleep.resting} {
		for i := range contacts {
			c := &contacts[i]
			if c.Count > 0 && c.Flags&noPush == 0 && s.shapesLive(c) &&
				(w.shapes.body[c.A] == uint32(body) || w.shapes.body[c.B] == uint32(body)) {
				generation := w.shapes.ids.generation
				dst = append(dst, Touch{Shape{c.A, generation[c.A]}, Shape{c.B, generation[c.B]}})
			}
		}
	}
	slices.SortFunc(dst[n:], func(x, y Touch) int {
		return cmp.Or(cmp.Compare(x.A.index, y.A.index), cmp.Compare(x.B.index, y.B.index))
	})
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
