package physics

import (
	"slices"

	"github.com/evertick/evertick/internal/buffer"
	"github.com/evertick/evertick/internal/columns"
)

// ColumnView is a column without its type, for code that reads any column: networks, inspectors,
// exporters. It is the same type as ecs.ColumnView, whose comment lists the methods and their rules.
type ColumnView = columns.View

// BodyColumns returns the columns of Columns without their types: one float32, uint32 or uint8 a
// row, under the names of the fields, in their order, indexed by Body.Index. Rows without a body are
// zero, with Slot = NoSlot. The slice is the world's own, and always the same one: only read it. A
// call allocates nothing.
func (w *World) BodyColumns() []ColumnView { return w.views }

// ColumnNamed returns the column of Columns with that name, as in "VX", and false if there is none.
func (w *World) ColumnNamed(name string) (ColumnView, bool) {
	i := slices.IndexFunc(w.views, func(c ColumnView) bool { return c.Name() == name })
	if i < 0 {
		return ColumnView{}, false
	}
	return w.views[i], true
}

// newViews returns the views of all columns, in the order of the fields of Columns and of hashes.
func (w *World) newViews() []ColumnView {
	c := &w.cols
	var views []ColumnView
	add := func(name string, kind columns.Kind, mem []byte) {
		views = append(views, columns.New(name, kind, 1, &mem, w.Rows, nil))
	}
	for _, nc := range c.floatColumns() {
		add(nc.name, columns.Float32, buffer.Bytes(*nc.column))
	}
	add("Slot", columns.Uint32, buffer.Bytes(c.Slot))
	add("Type", columns.Uint8, buffer.Bytes(c.Type))
	add("Flags", columns.Uint8, c.Flags)
	add("Alive", columns.Uint8, c.Alive)
	return slices.Clip(views)
}
