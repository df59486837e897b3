// Package columns reads columns of numbers without their type.
package columns

import (
	"bytes"
	"encoding/binary"
	"iter"
	"math"
	"slices"

	"github.com/evertick/evertick/internal/statehash"
)

// View is a column of numbers without its type: networks, inspectors and exporters read any column
// with the same code. It is a handle: it copies nothing, and each method reads the present state.
// [View.AppendBytes] and [View.AppendBytesAt] return rows as bytes, [View.AppendFloats],
// [View.AppendFloatsAt] and [View.Float64] as float64, [View.Value] returns one number in its type.
//
// Bytes are exact: each number in little-endian order on every machine, bit for bit as in a
// snapshot. So a NaN keeps its payload, which hashes ignore. A float64 is exact as well, except for
// integers beyond 2^53 in magnitude, which are rounded to the nearest float64, ties to even, and for
// the payload of a NaN.
//
// Rows without an entity, or without a body, may hold anything. The methods panic for a row from Len
// on, or a number from Components on. All but Value allocate nothing if dst has room. Any number of
// goroutines may read at once while nothing writes to the world.
type View struct {
	name    string
	kind    Kind
	count   int
	mem     *[]byte // all rows, in native byte order
	rows    func() int
	version *uint64
	memo    *statehash.Memo // of floats; else nil
}

// New returns the view of a column with count numbers in a row. mem points to the memory of the
// column, in the byte order of the machine; the owner may replace it. rows returns the number of rows
// that are in use. version is nil if the column has no version.
func New(name string, kind Kind, count int, mem *[]byte, rows func() int, version *uint64) View {
	v := View{name: name, kind: kind, count: count, mem: mem, rows: rows, version: version}
	if kind.IsFloat() {
		v.memo = new(statehash.Memo)
	}
	return v
}

// Name returns the name of the column.
func (v View) Name() string { return v.name }

// Kind returns the type of its numbers.
func (v View) Kind() Kind { return v.kind }

// Components returns the numbers in a row: 1, or more in a column of arrays.
func (v View) Components() int { return v.count }

// RowBytes returns the bytes of a row.
func (v View) RowBytes() int { return v.kind.Size() * v.count }

// Version returns the number of the last change that was reported, as ecs.Column.Version does. It is
// 0 for the columns of bodies, which have no versions: each step changes them.
func (v View) Version() uint64 {
	if v.version == nil {
		return 0
	}
	return *v.version
}

// Len returns the number of rows: ecs.World.HighWater or physics.World.Rows. It is 0 for a column
// that only a snapshot had, and that a later Restore has dropped.
func (v View) Len() int { return v.len() }

// AppendBytes appends rows lo to hi-1 as little-endian bytes.
func (v View) AppendBytes(dst []byte, lo, hi int) []byte {
	n := len(dst)
	dst = append(dst, v.bytes(lo, hi)...)
	statehash.Little(dst[n:], v.kind.Size())
	return dst
}

// AppendBytesAt appends the rows with the given indices as little-endian bytes, in the order of the
// list.
func (v View) AppendBytesAt(dst []byte, rows []uint32) []byte {
	n, size, end := len(dst), v.RowBytes(), v.Len()
	dst = slices.Grow(dst, size*len(rows))
	mem := v.bytes(0, end)
	for _, row := range rows {
		checkRow(row < uint32(end))
		dst = append(dst, mem[int(row)*size:][:size]...)
	}
	statehash.Little(dst[n:], v.kind.Size())
	return dst
}

// AppendFloats appends the numbers of rows lo to hi-1, Components of each row.
func (v View) AppendFloats(dst []float64, lo, hi int) []float64 {
	b := v.bytes(lo, hi)
	return v.kind.appendFloats(slices.Grow(dst, (hi-lo)*v.count), b)
}

// AppendFloatsAt appends the numbers of the rows with the given indices, in the order of the list.
func (v View) AppendFloatsAt(dst []float64, rows []uint32) []float64 {
	dst = slices.Grow(dst, v.count*len(rows))
	size, end := v.RowBytes(), v.Len()
	mem := v.bytes(0, end)
	for _, row := range rows {
		checkRow(row < uint32(end))
		dst = v.kind.appendFloats(dst, mem[int(row)*size:][:size])
	}
	return dst
}

// Float64 returns number i of a row.
func (v View) Float64(row uint32, i int) float64 {
	b := v.number(row, i)
	if v.kind == Float32 { // the most common kind
		return float64(math.Float32frombits(binary.NativeEndian.Uint32(b)))
	}
	var one [1]float64
	return v.kind.appendFloats(one[:0], b)[0]
}

// Value returns number i of a row in the type that Kind names: an int8 … float64. Every NaN is
// returned as the same one. It allocates.
func (v View) Value(row uint32, i int) any { return v.kind.value(v.number(row, i), 0) }

// len is Len. It and Hash take a pointer because each tick calls them for each column, and a View is
// large to copy.
func (v *View) len() int {
	if v.mem == nil {
		return 0
	}
	n := v.rows()
	if n*v.kind.Size()*v.count > len(*v.mem) { // a dropped column has none
		return 0
	}
	return n
}

// bytes returns the memory of rows lo to hi-1.
func (v *View) bytes(lo, hi int) []byte {
	checkRow(lo >= 0 && lo <= hi && hi <= v.len())
	if lo == hi {
		return nil
	}
	size := v.kind.Size() * v.count
	return (*v.mem)[lo*size : hi*size]
}

// number returns the memory of number i of a row.
func (v *View) number(row uint32, i int) []byte {
	if i < 0 || i >= v.count {
		panic("columns: a number beyond Components")
	}
	size := v.kind.Size()
	return v.bytes(int(row), int(row)+1)[i*size:][:size]
}

func checkRow(ok bool) {
	if !ok {
		panic("columns: a row beyond Len")
	}
}

// Hash returns the hash of all rows: see package statehash.
func Hash(v *View) uint64 {
	if v.memo != nil {
		return v.memo.Floats(Memory(v), v.kind.Size())
	}
	return statehash.Bytes(Memory(v), v.kind.Size(), false)
}

// HadNaN reports whether the last Hash has seen a NaN, in any row.
func HadNaN(v *View) bool { return v.memo != nil && v.memo.HadNaN() }

// Differences yields the numbers, by row, in which two columns of the same type differ. All NaNs are
// equal. It compares the rows that both have.
func Differences(a, b View) iter.Seq2[uint32, int] {
	return func(yield func(row uint32, i int) bool) {
		n := min(a.Len(), b.Len())
		x, y := a.bytes(0, n), b.bytes(0, n)
		if bytes.Equal(x, y) {
			return
		}
		for j := range n * a.count {
			if a.kind.Bits(x, j) != a.kind.Bits(y, j) && !yield(uint32(j/a.count), j%a.count) {
				return
			}
		}
	}
}

// FirstDifference returns the first of Differences.
func FirstDifference(a, b View) (row uint32, i int, found bool) {
	for row, i := range Differences(a, b) {
		return row, i, true
	}
	return 0, 0, false
}

// Memory returns the memory of the rows of v, in the byte order of the machine: only read it.
func Memory(v *View) []byte {
	n := v.len()
	if n == 0 {
		return nil
	}
	return (*v.mem)[:n*v.kind.Size()*v.count]
}
