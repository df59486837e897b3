package ecs

import (
	"fmt"
	"reflect"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/stagger"
)

// maxColumns bounds what a snapshot can ask of a reader; a world that needs
// more wants arrays of its own, indexed by slot.
const maxColumns = 1024

// Number is what a column can hold: types without pointers and of the same
// width on every architecture, hence no int, uint or uintptr.
type Number interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64
}

// maxColumnBytes bounds a column at full capacity: its length, with name and type, is
// 32 bits of a snapshot.
const maxColumnBytes = 1<<32 - 1<<9

// tooLong tells whether a column of such rows has more bytes than a snapshot can hold
// once the world is full.
func (w *World) tooLong(k kind, count int) bool {
	return int64(k.size()*count)*int64(w.Cap()) > maxColumnBytes
}

// Column is a user column: one value of type T for each row of the world, part of
// its snapshot and hash, zero in a row that is newly used.
type Column[T any] struct {
	column *column
	values []T
}

// Name returns the name that the column was added by.
func (c *Column[T]) Name() string { return c.column.name }

// Values returns the memory of the column itself, indexed by slot; len and cap
// are the capacity of the world. It is the same slice for ever.
func (c *Column[T]) Values() []T { return c.values }

// Touch says that values were written: it gives the column a new Version.
func (c *Column[T]) Touch() { c.column.mark.touch() }

// Version returns the number of the last Touch; see World.LastTouch.
func (c *Column[T]) Version() uint64 { return c.column.mark.version }

// AddColumn adds a column of zeros to w. Entities may be alive already. If a snapshot
// brought a column of that name and type (see World.Restore), it is that one, with
// its values and its version.
//
// The name has 1 to 255 bytes of UTF-8; one that is not so or is taken, by a
// column of the user or a built-in ("position.x" … "scale.z"; "identity" is
// reserved for the hash), is ErrRange. A column of that name that a snapshot brought
// in another type is ErrUnsupported, as it is when they meet in Restore. The 1025th
// column is ErrCapacity, and so is one of nearly 4 GiB, which fits into no snapshot.
func AddColumn[T Number](w *World, name string) (*Column[T], error) {
	return newColumn[T](w, "ecs: AddColumn", name)
}

// AddArrayColumn is AddColumn for rows of several numbers: A is [N]T with T a
// Number and N from 1 to 1024, as in AddArrayColumn[[4]float32]. The numbers of a
// row stand together. Any other A is ErrUnsupported.
func AddArrayColumn[A any](w *World, name string) (*Column[A], error) {
	if t := reflect.TypeFor[A](); t.Kind() != reflect.Array {
		return nil, fault.Field(ErrUnsupported, "ecs: AddArrayColumn type", t)
	}
	return newColumn[A](w, "ecs: AddArrayColumn", name)
}

func newColumn[T any](w *World, who, name string) (*Column[T], error) {
	k, count := kindOf(reflect.TypeFor[T]())
	if k == 0 {
		return nil, fault.Field(ErrUnsupported, who+" type", reflect.TypeFor[T]())
	}
	if err := checkName(who+" name", name); err != nil {
		return nil, err
	}
	c, err := w.register(who, name, k, count)
	if err != nil {
		return nil, err
	}
	return &Column[T]{c, stagger.View[T](c.mem)}, nil
}

// register adds a column that the program knows.
func (w *World) register(who, name string, k kind, count int) (*column, error) {
	i, taken := search(w.byName, name)
	switch {
	case taken && w.byName[i].kept:
		return w.byName[i], w.adopt(w.byName[i], who, k, count)
	case taken || name == identity:
		return nil, fault.Field(ErrRange, who+" name already used", name)
	case len(w.columns) == maxColumns:
		return nil, fault.Field(ErrCapacity, who+" columns", maxColumns)
	case w.tooLong(k, count):
		return nil, fault.Field(ErrCapacity, who+" bytes", int64(k.size()*count)*int64(w.Cap()))
	}
	c := &column{name: name, kind: k, count: count, mark: &mark{world: w}}
	c.mem = w.fullRows(c)
	w.addColumn(c)
	return c, nil
}

// fullRows is memory for the next column that the program knows.
func (w *World) fullRows(c *column) []byte {
	return stagger.Bytes(c.size()*w.Cap(), len(w.lanes.known))
}

// FindColumn returns the column of that name, built-in or added, and false if there
// is none whose rows are of type T: a Number, or an array of them. A column that only
// a snapshot knows is not found: AddColumn makes it one of the program.
func FindColumn[T any](w *World, name string) (*Column[T], bool) {
	i, ok := search(w.byName, name)
	if !ok {
		return nil, false
	}
	c := w.byName[i]
	if k, count := kindOf(reflect.TypeFor[T]()); c.kept || !c.holds(k, count) {
		return nil, false
	}
	return &Column[T]{c, stagger.View[T](c.mem)}, true
}

// mark is the version of a column, or of several that change together.
type mark struct {
	world   *World
	version uint64
	held    bool // touched since HoldTouches
}

func (m *mark) touch() {
	if m.world.holding {
		m.held = true
		return
	}
	m.world.touches++
	m.version = m.world.touches
}

// kind is the type of a number in a column; the values are part of the snapshot format.
type kind uint8

const (
	kindInt8 kind = 1 + iota
	kindInt16
	kindInt32
	kindInt64
	kindUint8
	kindUint16
	kindUint32
	kindUint64
	kindFloat32
	kindFloat64
)

// maxCount bounds the numbers in a row.
const maxCount = 1024

// kindOf returns what a row of that type holds and how many of it, or 0.
func kindOf(t reflect.Type) (kind, int) {
	count := 1
	if t.Kind() == reflect.Array {
		if count = t.Len(); count < 1 || count > maxCount {
			return 0, 0
		}
		t = t.Elem()
	}
	switch k := t.Kind(); k {
	case reflect.Float32:
		return kindFloat32, count
	case reflect.Float64:
		return kindFloat64, count
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return kindInt8 + kind(k-reflect.Int8), count
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return kindUint8 + kind(k-reflect.Uint8), count
	}
	return 0, 0
}

// size is the number of bytes of a number, 0 for a kind that does not exist.
func (k kind) size() int {
	switch k {
	case kindInt8, kindUint8:
		return 1
	case kindInt16, kindUint16:
		return 2
	case kindInt32, kindUint32, kindFloat32:
		return 4
	case kindInt64, kindUint64, kindFloat64:
		return 8
	}
	return 0
}

func (k kind) isFloat() bool { return k == kindFloat32 || k == kindFloat64 }

// String returns the Go type, or "?" for a kind that does not exist.
func (k kind) String() string {
	names := [...]string{"?", "int8", "int16", "int32", "int64",
		"uint8", "uint16", "uint32", "uint64", "float32", "float64"}
	if int(k) >= len(names) {
		return names[0]
	}
	return names[k]
}

// column is what the world knows of a column, built-in or not.
type column struct {
	name  string
	index uint16 // in lanes.known
	kind  kind
	count int    // numbers in a row
	mem   []byte // all rows, in the order of the machine
	init  uint64 // the bits of a row after a reset; 0 unless it is a float32
	mark  *mark
	kept  bool // see kept.go

	given *columnImage // what replaces the rows, while that is done
}

func (c *column) label() string { return c.name }

// size is the number of bytes in a row.
func (c *column) size() int { return c.kind.size() * c.count }

// rows returns the bytes of rows lo to hi-1.
func (c *column) rows(lo, hi int) []byte {
	size := c.size()
	return c.mem[lo*size : hi*size]
}

// holds tells whether the rows are of that type.
func (c *column) holds(k kind, count int) bool { return c.kind == k && c.count == count }

// typeName is the Go type of a row.
func (c *column) typeName() string { return typeName(c.kind, c.count) }

func typeName(k kind, count int) string {
	if count == 1 {
		return k.String()
	}
	return fmt.Sprintf("[%d]%v", count, k)
}

// reset sets rows lo to hi-1 to their initial value.
func (c *column) reset(lo, hi int) {
	rows := c.rows(lo, max(lo, hi))
	if c.init == 0 {
		clear(rows)
		return
	}
	reset([]lane[uint32]{{stagger.View[uint32](rows), uint32(c.init)}}, 0, len(rows)/4)
}

// lane is a column of B-wide rows as the reset sees it: bits, and what to set
// them to. Lanes of one width stand together, so that resetting a row is a
// loop without a branch on the type.
type lane[B uint8 | uint16 | uint32 | uint64] struct {
	rows []B
	init B
}

type lanes struct {
	known []*column // to which there may be handles, in order of registration
	wide  []*column // rows of several numbers, and columns that move
	b1    []lane[uint8]
	b2    []lane[uint16]
	b4    []lane[uint32]
	b8    []lane[uint64]
}

func (w *World) addColumn(c *column) {
	w.columns = append(w.columns, c)
	w.byName = insertByName(w.byName, c)
	w.lanes.add(c)
}

func (l *lanes) add(c *column) {
	if !c.kept {
		c.index = uint16(len(l.known))
		l.known = append(l.known, c)
	}
	if c.count > 1 || c.kept {
		l.wide = append(l.wide, c)
		return
	}
	switch c.kind.size() {
	case 1:
		l.b1 = append(l.b1, lane[uint8]{stagger.View[uint8](c.mem), uint8(c.init)})
	case 2:
		l.b2 = append(l.b2, lane[uint16]{stagger.View[uint16](c.mem), uint16(c.init)})
	case 4:
		l.b4 = append(l.b4, lane[uint32]{stagger.View[uint32](c.mem), uint32(c.init)})
	case 8:
		l.b8 = append(l.b8, lane[uint64]{stagger.View[uint64](c.mem), c.init})
	}
}

// resetRow sets one row of every column to its initial value.
func (l *lanes) resetRow(i int) {
	resetRow(l.b4, i)
	resetRow(l.b8, i)
	resetRow(l.b2, i)
	resetRow(l.b1, i)
	l.resetWide(i, i+1)
}

// reset does the same for rows lo to hi-1, column by column.
func (l *lanes) reset(lo, hi int) {
	reset(l.b4, lo, hi)
	reset(l.b8, lo, hi)
	reset(l.b2, lo, hi)
	reset(l.b1, lo, hi)
	l.resetWide(lo, hi)
}

func (l *lanes) resetWide(lo, hi int) {
	for _, c := range l.wide {
		clear(c.rows(lo, hi))
	}
}

func resetRow[B uint8 | uint16 | uint32 | uint64](lanes []lane[B], i int) {
	for j := range lanes {
		l := &lanes[j]
		l.rows[i] = l.init
	}
}

func reset[B uint8 | uint16 | uint32 | uint64](lanes []lane[B], lo, hi int) {
	for _, l := range lanes {
		rows := l.rows[lo:hi]
		for i := range rows {
			rows[i] = l.init
		}
	}
}

const float32One = 0x3f800000 // math.Float32bits(1)

// addBuiltIn lays the columns of Position, Rotation and Scale into one arena.
func (w *World) addBuiltIn() {
	position, rotation, scale := &mark{world: w}, &mark{world: w}, &mark{world: w}
	w.Position.mark, w.Rotation.mark, w.Scale.mark = position, rotation, scale
	columns := [...]struct {
		name string
		mark *mark
		dst  *[]float32
		init uint64
	}{
		{"position.x", position, &w.Position.X, 0}, {"position.y", position, &w.Position.Y, 0},
		{"position.z", position, &w.Position.Z, 0},
		{"rotation.x", rotation, &w.Rotation.X, 0}, {"rotation.y", rotation, &w.Rotation.Y, 0},
		{"rotation.z", rotation, &w.Rotation.Z, 0}, {"rotation.w", rotation, &w.Rotation.W, float32One},
		{"scale.x", scale, &w.Scale.X, float32One}, {"scale.y", scale, &w.Scale.Y, float32One},
		{"scale.z", scale, &w.Scale.Z, float32One},
	}
	n := 4 * w.Cap()
	step := stagger.Stride(n)
	arena := stagger.Bytes(step*len(columns), 0)
	for i, c := range columns {
		mem := arena[i*step : i*step+n : i*step+n]
		w.addColumn(&column{name: c.name, kind: kindFloat32, count: 1, mem: mem, init: c.init, mark: c.mark})
		*c.dst = stagger.View[float32](mem)
	}
}
