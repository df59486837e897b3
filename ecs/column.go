package ecs

import (
	"reflect"
	"unsafe"

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

// Column is a user column: one value for each row of the world, part of its
// snapshot and hash, zero in a row that is newly used.
type Column[T Number] struct {
	name   string
	values []T
}

// Name returns the name that the column was added by.
func (c *Column[T]) Name() string { return c.name }

// Values returns the memory of the column itself, indexed by slot; len and cap
// are the capacity of the world. It is the same slice for ever.
func (c *Column[T]) Values() []T { return c.values }

// AddColumn adds a column of zeros to w. Entities may be alive already.
//
// The name has 1 to 255 bytes of UTF-8; one that is not so or is taken, by a
// column of the user or a built-in ("position.x" … "scale.z"; "identity" is
// reserved for the hash), is ErrRange. The 1025th column is ErrCapacity.
func AddColumn[T Number](w *World, name string) (*Column[T], error) {
	if err := checkName("ecs: AddColumn name", name); err != nil {
		return nil, err
	}
	if _, taken := search(w.byName, name); taken || name == identity {
		return nil, fault.Field(ErrRange, "ecs: AddColumn name already used", name)
	}
	if len(w.columns) == maxColumns {
		return nil, fault.Field(ErrCapacity, "ecs: AddColumn columns", maxColumns)
	}
	var zero T
	size := int(unsafe.Sizeof(zero))
	mem := stagger.Bytes(size*w.Cap(), len(w.columns))
	w.addColumn(name, kindOf[T](), mem, 0)
	return &Column[T]{name, stagger.View[T](mem)}, nil
}

// kind is the type of a column's rows; the values are part of the snapshot format.
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

func kindOf[T Number]() kind {
	switch k := reflect.TypeFor[T]().Kind(); k {
	case reflect.Float32:
		return kindFloat32
	case reflect.Float64:
		return kindFloat64
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return kindInt8 + kind(k-reflect.Int8)
	default:
		return kindUint8 + kind(k-reflect.Uint8)
	}
}

// size is the number of bytes in a row, 0 for a kind that does not exist.
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
	name string
	kind kind
	size int
	mem  []byte // all rows, in the order of the machine
	init uint64 // the bits of a row after a reset
}

func (c *column) label() string { return c.name }

// rows returns the bytes of rows lo to hi-1.
func (c *column) rows(lo, hi int) []byte { return c.mem[lo*c.size : hi*c.size] }

// lane is a column of B-wide rows as the reset sees it: bits, and what to set
// them to. Lanes of one width stand together, so that resetting a row is a
// loop without a branch on the type.
type lane[B uint8 | uint16 | uint32 | uint64] struct {
	rows []B
	init B
}

type lanes struct {
	b1 []lane[uint8]
	b2 []lane[uint16]
	b4 []lane[uint32]
	b8 []lane[uint64]
}

func (w *World) addColumn(name string, k kind, mem []byte, init uint64) {
	c := &column{name, k, k.size(), mem, init}
	w.columns = append(w.columns, c)
	w.byName = insertByName(w.byName, c)
	w.lanes.add(c)
}

func (l *lanes) add(c *column) {
	switch c.size {
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
}

// reset does the same for rows lo to hi-1, column by column.
func (l *lanes) reset(lo, hi int) {
	reset(l.b4, lo, hi)
	reset(l.b8, lo, hi)
	reset(l.b2, lo, hi)
	reset(l.b1, lo, hi)
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
	columns := [...]struct {
		name string
		dst  *[]float32
		init uint64
	}{
		{"position.x", &w.Position.X, 0}, {"position.y", &w.Position.Y, 0}, {"position.z", &w.Position.Z, 0},
		{"rotation.x", &w.Rotation.X, 0}, {"rotation.y", &w.Rotation.Y, 0}, {"rotation.z", &w.Rotation.Z, 0},
		{"rotation.w", &w.Rotation.W, float32One},
		{"scale.x", &w.Scale.X, float32One}, {"scale.y", &w.Scale.Y, float32One}, {"scale.z", &w.Scale.Z, float32One},
	}
	n := 4 * w.Cap()
	step := stagger.Stride(n)
	arena := stagger.Bytes(step*len(columns), 0)
	for i, c := range columns {
		mem := arena[i*step : i*step+n : i*step+n]
		w.addColumn(c.name, kindFloat32, mem, c.init)
		*c.dst = stagger.View[float32](mem)
	}
}
