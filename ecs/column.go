package ecs

import (
	"reflect"
	"slices"

	"github.com/evertick/evertick/internal/columns"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/stagger"
)

const (
	// maxColumns bounds the columns that a snapshot can make a reader allocate. A world
	// that needs more keeps them in its own arrays, indexed by slot.
	maxColumns = 1024

	// maxColumnBytes bounds a column at full capacity: its length, with name and type,
	// takes 32 bits of a snapshot.
	maxColumnBytes = 1<<32 - 1<<9
)

// Column is a user column: one value of type T for each row of the world, part of
// its snapshot and hash, zero in a row that is newly used.
type Column[T any] struct {
	column *column
	values []T
}

// Name returns the name that the column was added by.
func (c *Column[T]) Name() string { return c.column.name }

// Values returns the memory of the column itself, indexed by slot; len and cap
// are the capacity of the world. It always returns the same slice. It panics for a nil
// Column: the program has ignored an error of Register or AddColumn.
func (c *Column[T]) Values() []T {
	if c == nil {
		panic("ecs: use of a nil Column: Register or AddColumn has returned an error, or was not called")
	}
	return c.values
}

// Touch reports that values were written: it gives the column a new Version.
func (c *Column[T]) Touch() { c.column.version.touch() }

// Version returns the number of the last Touch; see World.LastTouch.
func (c *Column[T]) Version() uint64 { return c.column.version.number }

// AddColumn adds a column of zeros to w. Entities may be alive already. If a snapshot
// brought a column of that name and type (see World.Restore), AddColumn returns that
// column, with its values and its version.
//
// The name has 1 to 255 bytes of UTF-8. Any other name is ErrRange, and so is the name of
// another user column or of a built-in ("position.x" … "scale.z"; "identity" is reserved
// for the hash). If a snapshot brought a column of that name in another type, AddColumn
// returns ErrUnsupported, as Restore does for such a pair. The 1025th column is
// ErrCapacity, and so is one of nearly 4 GiB, which fits into no snapshot.
func AddColumn[T Number](w *World, name string) (*Column[T], error) {
	return newColumn[T](w, "ecs: AddColumn", name)
}

// AddArrayColumn is AddColumn for rows of several numbers: A is [N]T with T a Number and
// N from 1 to 1024, as in AddArrayColumn[[4]float32]. The numbers of a row are next to
// each other in memory. Any other A is ErrUnsupported.
func AddArrayColumn[A any](w *World, name string) (*Column[A], error) {
	if t := reflect.TypeFor[A](); t.Kind() != reflect.Array {
		return nil, fault.Field(ErrUnsupported, "ecs: AddArrayColumn type", t)
	}
	return newColumn[A](w, "ecs: AddArrayColumn", name)
}

func newColumn[T any](w *World, caller, name string) (*Column[T], error) {
	k, count, err := w.checkColumn(caller, name, reflect.TypeFor[T](), 0)
	if err != nil {
		return nil, err
	}
	c := new(Column[T])
	c.attach(w.register(name, k, count))
	return c, nil
}

// attach makes c the handle of a column.
func (c *Column[T]) attach(of *column) { c.column, c.values = of, stagger.View[T](of.mem) }

// checkColumn returns the arguments of register for a column with rows of type t, or an error if
// the column cannot be added after that many more columns.
func (w *World) checkColumn(caller, name string, t reflect.Type, more int) (k Kind, count int, err error) {
	if k, count = kindOf(t); k == 0 {
		return k, count, fault.Field(ErrUnsupported, caller+" type", t)
	}
	if err := checkName(caller+" name", name); err != nil {
		return k, count, err
	}
	old := find(w.byName, name)
	switch {
	case old != nil && old.kept && !old.holds(k, count):
		err = fault.Field(ErrUnsupported, caller+" type of the kept column "+name, old.typeName())
	case old != nil && old.kept:
	case old != nil || name == identity:
		err = fault.Field(ErrRange, caller+" name already used", name)
	case len(w.columns)+more >= maxColumns:
		err = fault.Field(ErrCapacity, caller+" columns", maxColumns)
	case w.tooLong(k, count):
		err = fault.Field(ErrCapacity, caller+" bytes", int64(k.Size()*count)*int64(w.Cap()))
	}
	return k, count, err
}

// register adds a column that the program has a handle to, or adopts the kept column of
// that name. The caller has called checkColumn.
func (w *World) register(name string, k Kind, count int) *column {
	if old := find(w.byName, name); old != nil {
		w.registerKept(old)
		return old
	}
	c := &column{name: name, kind: k, count: count, version: &changeVersion{world: w}}
	c.mem = w.fullRows(c)
	w.addColumn(c)
	return c
}

// tooLong reports whether a column of such rows has more bytes than a snapshot can hold
// once the world is full.
func (w *World) tooLong(k Kind, count int) bool {
	return int64(k.Size()*count)*int64(w.Cap()) > maxColumnBytes
}

// fullRows allocates the memory of the next registered column.
func (w *World) fullRows(c *column) []byte {
	return stagger.Bytes(c.size()*w.Cap(), len(w.registered))
}

// FindColumn returns the column of that name, built-in or added, and false if there
// is none whose rows are of type T: a Number, or an array of them. It does not find a
// column that only a snapshot brought, before AddColumn has added it.
func FindColumn[T any](w *World, name string) (*Column[T], bool) {
	c := find(w.byName, name)
	if k, count := kindOf(reflect.TypeFor[T]()); c == nil || c.kept || !c.holds(k, count) {
		return nil, false
	}
	found := new(Column[T])
	found.attach(c)
	return found, true
}

// changeVersion is the version of a column, or of several that change together.
type changeVersion struct {
	world   *World
	number  uint64
	held    bool // touched since HoldTouches
	written bool // by the Apply that is running
}

func (v *changeVersion) touch() {
	if v.world.holding {
		v.held = true
		return
	}
	v.world.touches++
	v.number = v.world.touches
}

// touchIf touches if a flag is set, and clears it.
func (v *changeVersion) touchIf(flag *bool) {
	if *flag {
		*flag = false
		v.touch()
	}
}

// HoldTouches makes Touch, SetPosition and similar calls only note which columns were
// touched, until ReleaseTouches. In between, several goroutines may touch at once, but no
// two of them the same column; Position, Rotation, Scale and Blobs are one column each here.
// Versions do not change meanwhile.
func (w *World) HoldTouches() { w.holding = true }

// ReleaseTouches gives the columns touched since HoldTouches one new Version each, in the
// order of their registration, however often and in whichever order they were touched. Then
// it does the same for Blobs, in the order of their names.
func (w *World) ReleaseTouches() {
	w.holding = false
	for _, c := range w.registered {
		c.version.touchIf(&c.version.held)
	}
	for _, b := range w.blobsByName {
		b.version.touchIf(&b.version.held)
	}
}

// column is what the world stores about a column, built-in or not.
type column struct {
	name    string
	index   uint16 // in World.registered
	kind    Kind
	count   int    // numbers in a row
	mem     []byte // all rows, in native byte order
	init    uint64 // the bits of a row after a reset; 0 unless it is a float32
	version *changeVersion
	kept    bool // see addKept

	view    ColumnView
	pending *pendingColumn // what replaces the rows, while that is done
}

func (c *column) label() string { return c.name }

// size is the number of bytes in a row.
func (c *column) size() int { return c.kind.Size() * c.count }

// rows returns the bytes of rows lo to hi-1.
func (c *column) rows(lo, hi int) []byte {
	size := c.size()
	return c.mem[lo*size : hi*size]
}

// holds reports whether the rows are of that type.
func (c *column) holds(k Kind, count int) bool { return c.kind == k && c.count == count }

// typeName is the Go type of a row.
func (c *column) typeName() string { return typeName(c.kind, c.count) }

// reset sets rows lo to hi-1 to their initial value.
func (c *column) reset(lo, hi int) {
	rows := c.rows(lo, max(lo, hi))
	if c.init == 0 {
		clear(rows)
		return
	}
	reset([]resetColumn[uint32]{{stagger.View[uint32](rows), uint32(c.init)}}, 0, len(rows)/4)
}

func (w *World) addColumn(c *column) {
	c.view = columns.New(c.name, c.kind, c.count, &c.mem, w.HighWater, &c.version.number)
	w.columns, w.views = append(w.columns, c), append(w.views, c.view)
	w.byName = insertByName(w.byName, c)
	w.activate(c)
}

// activate adds a column to the lists that reset uses, and registers it unless it is
// kept.
func (w *World) activate(c *column) {
	if !c.kept {
		c.index = uint16(len(w.registered))
		w.registered = append(w.registered, c)
	}
	w.resets.add(c)
}

// addKept adds a column that came with a snapshot, or from another world, and that the
// program has not added. It is state like any other, in the hash and in later snapshots.
// There is no handle to it, so only a reset and a new state write to it. It has room for
// the rows below HighWater and some more, not for all: the memory that a snapshot can
// claim for its columns must stay in proportion to the snapshot's length.
func (w *World) addKept(p *pendingColumn) *column {
	c := &column{name: p.name, kind: p.kind, count: p.count, version: &changeVersion{world: w}, kept: true}
	w.addColumn(c)
	w.kept = append(w.kept, c)
	return c
}

// reserve makes room for that many rows of a kept column.
func (c *column) reserve(rows, capacity int) {
	size := c.size()
	have := len(c.mem) / size
	if have >= rows {
		return
	}
	grown := make([]byte, size*min(capacity, max(rows, 2*have)))
	copy(grown, c.mem)
	c.mem = grown
}

// registerKept makes a kept column a registered one.
func (w *World) registerKept(c *column) {
	mem := w.fullRows(c)
	copy(mem, c.rows(0, w.high))
	c.mem = mem
	for _, list := range []*[]*column{&w.resets.wide, &w.kept} {
		*list = slices.DeleteFunc(*list, func(other *column) bool { return other == c })
	}
	c.kept = false
	w.activate(c)
}

// dropKept drops the kept columns that the pending state lacks.
func (w *World) dropKept() {
	lacking := func(c *column) bool { return c.kept && c.pending == nil }
	if !slices.ContainsFunc(w.kept, lacking) {
		return
	}
	for _, c := range w.kept {
		if lacking(c) {
			c.mem = nil // for those that have a view of it
		}
	}
	for _, list := range []*[]*column{&w.columns, &w.byName, &w.resets.wide, &w.kept} {
		*list = slices.DeleteFunc(*list, lacking)
	}
	w.views = nil // callers may have the old list
	for _, c := range w.columns {
		w.views = append(w.views, c.view)
	}
}

// resetColumn is a column of B-wide rows and the bits that a reset sets them to.
type resetColumn[B uint8 | uint16 | uint32 | uint64] struct {
	rows []B
	init B
}

// resetLists are all columns, a list for each width, so that resetting a row
// is a loop without a branch on the type.
type resetLists struct {
	wide []*column // rows of several numbers, and kept columns, whose memory moves
	b1   []resetColumn[uint8]
	b2   []resetColumn[uint16]
	b4   []resetColumn[uint32]
	b8   []resetColumn[uint64]
}

func (l *resetLists) add(c *column) {
	if c.count > 1 || c.kept {
		l.wide = append(l.wide, c)
		return
	}
	switch c.kind.Size() {
	case 1:
		l.b1 = append(l.b1, resetColumn[uint8]{stagger.View[uint8](c.mem), uint8(c.init)})
	case 2:
		l.b2 = append(l.b2, resetColumn[uint16]{stagger.View[uint16](c.mem), uint16(c.init)})
	case 4:
		l.b4 = append(l.b4, resetColumn[uint32]{stagger.View[uint32](c.mem), uint32(c.init)})
	case 8:
		l.b8 = append(l.b8, resetColumn[uint64]{stagger.View[uint64](c.mem), c.init})
	}
}

// resetRow sets one row of every column to its initial value.
func (l *resetLists) resetRow(i int) {
	resetRow(l.b4, i)
	resetRow(l.b8, i)
	resetRow(l.b2, i)
	resetRow(l.b1, i)
	l.resetWide(i, i+1)
}

// reset does the same for rows lo to hi-1, column by column.
func (l *resetLists) reset(lo, hi int) {
	reset(l.b4, lo, hi)
	reset(l.b8, lo, hi)
	reset(l.b2, lo, hi)
	reset(l.b1, lo, hi)
	l.resetWide(lo, hi)
}

func (l *resetLists) resetWide(lo, hi int) {
	for _, c := range l.wide {
		clear(c.rows(lo, hi))
	}
}

func resetRow[B uint8 | uint16 | uint32 | uint64](columns []resetColumn[B], i int) {
	for j := range columns {
		c := &columns[j]
		c.rows[i] = c.init
	}
}

func reset[B uint8 | uint16 | uint32 | uint64](columns []resetColumn[B], lo, hi int) {
	for _, c := range columns {
		rows := c.rows[lo:hi]
		for i := range rows {
			rows[i] = c.init
		}
	}
}

const float32One = 0x3f800000 // math.Float32bits(1)

// The first of the built-in columns that change together.
const (
	positionColumn = 0
	rotationColumn = 3
	scaleColumn    = 7
)

// addBuiltIn adds the columns of Position, Rotation and Scale.
func (w *World) addBuiltIn() {
	t := newTransforms(w.Cap(), 0)
	w.Position, w.Rotation, w.Scale = t.Position, t.Rotation, t.Scale
	w.Position.version, w.Rotation.version, w.Scale.version = &changeVersion{world: w}, &changeVersion{world: w}, &changeVersion{world: w}
	version := w.Position.version
	for i, name := range [...]string{"position.x", "position.y", "position.z",
		"rotation.x", "rotation.y", "rotation.z", "rotation.w", "scale.x", "scale.y", "scale.z"} {
		switch i {
		case rotationColumn:
			version = w.Rotation.version
		case scaleColumn:
			version = w.Scale.version
		}
		c := &column{name: name, kind: KindFloat32, count: 1, mem: bytesOf(*t.columns()[i]), version: version}
		if name == "rotation.w" || i >= scaleColumn {
			c.init = float32One
		}
		w.addColumn(c)
	}
}
