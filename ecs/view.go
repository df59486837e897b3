package ecs

import (
	"slices"

	"github.com/evertick/evertick/internal/columns"
)

// ColumnView is a column without its type, for code that reads any column: networks, inspectors,
// exporters. It is a handle: it copies nothing, and each method reads the present state. Package
// physics has the same type for the columns of bodies. Its methods are
//
//	Name() string
//	Kind() Kind         // of its numbers
//	Components() int    // numbers in a row
//	RowBytes() int      // Kind().Size() * Components()
//	Version() uint64    // as Column.Version; 0 for the columns of bodies, which have none
//	Len() int           // rows that may be read: World.HighWater, or physics.World.Rows
//	AppendBytes(dst []byte, lo, hi int) []byte               // rows lo to hi-1, little-endian
//	AppendBytesAt(dst []byte, rows []uint32) []byte          // the rows of a list, in its order
//	AppendFloats(dst []float64, lo, hi int) []float64        // rows lo to hi-1, Components each
//	AppendFloatsAt(dst []float64, rows []uint32) []float64
//	Float64(row uint32, i int) float64                       // number i of a row
//	Value(row uint32, i int) any                             // the same in its type: an int8 … float64
//
// Bytes are exact: each number in little-endian order on every machine, bit for bit as in a snapshot.
// So a NaN keeps its payload, which hashes ignore. A float64 is exact as well, except for integers
// beyond 2^53 in magnitude, which are rounded to the nearest float64, ties to even, and for the
// payload of a NaN. Value returns the same NaN for all NaNs.
//
// Rows without an entity, or without a body, may hold anything. The methods panic for a row from Len
// on, or a number from Components on. All but Value allocate nothing if dst has room. Any number of
// goroutines may read at once while nothing writes to the world.
type ColumnView = columns.View

// Columns returns all columns in order of registration, which is also their order in snapshots: the
// built-in ones, those that were added, and those that only a snapshot has (see World.Restore). The
// slice is the world's own: only read it. A column that is added later is not in it. If a Restore
// or CopyFrom drops a column, its Len is 0 from then on. A call allocates nothing.
func (w *World) Columns() []ColumnView { return slices.Clip(w.views) }

// ColumnNamed returns the column of that name among Columns, and false if there is none. FindColumn
// returns a column with its type.
func (w *World) ColumnNamed(name string) (ColumnView, bool) {
	c := find(w.byName, name)
	if c == nil {
		return ColumnView{}, false
	}
	return c.view, true
}
