// Package statehash hashes columns of numbers to the same value on every
// machine: XXH3 (64 bits, seed 0) of the rows in little-endian order, every NaN
// replaced by the quiet one with no payload and no sign. -0 and +0 differ.
package statehash

import (
	"encoding/binary"
	"iter"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/evertick/evertick/native"
	"github.com/zeebo/xxh3"
)

// Column is the hash of one named column.
type Column struct {
	Name string
	Hash uint64
}

// Fold combines the hashes of a list, in its order, into one.
func Fold(parts []Column) uint64 {
	var acc uint64
	for _, p := range parts {
		acc = Add(acc, p.Name, p.Hash)
	}
	return acc
}

// Add is one step of Fold.
func Add(acc uint64, name string, hash uint64) uint64 {
	var b [24]byte
	binary.LittleEndian.PutUint64(b[0:], acc)
	binary.LittleEndian.PutUint64(b[8:], xxh3.HashString(name))
	binary.LittleEndian.PutUint64(b[16:], hash)
	return xxh3.Hash(b[:])
}

// Changes yields the names of the columns that differ between two lists of hashes of one state: those
// with another hash, those that only now has (added is true), and those that only before has.
func Changes(before, now []Column) iter.Seq2[string, bool] {
	return func(yield func(name string, added bool) bool) {
		for i, c := range now {
			j := at(before, i, c.Name)
			if (j < 0 || before[j].Hash != c.Hash) && !yield(c.Name, j < 0) {
				return
			}
		}
		for i, c := range before {
			if at(now, i, c.Name) < 0 && !yield(c.Name, false) {
				return
			}
		}
	}
}

// at returns the index of a name in a list: i if it is there.
func at(list []Column, i int, name string) int {
	if i < len(list) && list[i].Name == name {
		return i
	}
	return slices.IndexFunc(list, func(c Column) bool { return c.Name == name })
}

// Number is what a column can hold: numbers of one size on every machine.
type Number interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64
}

// Rows hashes a column.
func Rows[T Number](rows []T) uint64 {
	var zero T
	return Bytes(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(rows))), len(rows)*int(unsafe.Sizeof(zero))),
		int(unsafe.Sizeof(zero)), isFloat(zero))
}

// isFloat decides by arithmetic: half of one is zero for an integer.
func isFloat[T Number](zero T) bool { return (zero+1)/2 != 0 }

// Seeded hashes bytes with another function for each seed.
func Seeded(b []byte, seed uint64) uint64 { return xxh3.HashSeed(b, seed) }

// bigEndian says that rows must be reversed to be little-endian.
var bigEndian = binary.NativeEndian.Uint16([]byte{0, 1}) == 1

// Bytes hashes rows of size bytes each, given in the order of the machine;
// float says that they are IEEE 754 numbers (of 4 or 8 bytes).
func Bytes(rows []byte, size int, float bool) uint64 {
	if bigEndian || float && HasNaN(rows, size) {
		return copied(rows, size, float)
	}
	return xxh3.Hash(rows)
}

// Memo hashes a column of floats again and again. It remembers the last hash of rows that had no NaN, and
// does not search rows of that hash. The zero value is ready. Several goroutines may use it at once.
type Memo struct {
	clean atomic.Uint64 // the hash of rows without a NaN; 0: none
	nan   atomic.Bool   // in the last rows
}

// Floats is Bytes of floats of size 4 or 8.
func (m *Memo) Floats(rows []byte, size int) uint64 {
	hash := uint64(0)
	if !bigEndian {
		if hash = xxh3.Hash(rows); hash != 0 && hash == m.clean.Load() {
			m.nan.Store(false)
			return hash
		}
	}
	nan := HasNaN(rows, size)
	m.nan.Store(nan)
	switch {
	case nan || bigEndian:
		return copied(rows, size, true)
	default:
		m.clean.Store(hash)
		return hash
	}
}

// HadNaN reports whether there was a NaN in the last rows of Floats.
func (m *Memo) HadNaN() bool { return m.nan.Load() }

// copied is the same function through a small buffer, in which bytes are
// swapped and NaNs replaced as needed.
func copied(rows []byte, size int, float bool) uint64 {
	var h xxh3.Hasher
	var buf [4096]byte // a multiple of every row size
	for len(rows) > 0 {
		chunk := buf[:copy(buf[:], rows)]
		Little(chunk, size)
		if float {
			canonicalise(chunk, size)
		}
		h.Write(chunk)
		rows = rows[len(chunk):]
	}
	return h.Sum64()
}

// Little turns rows of size bytes each from the order of the machine into
// little-endian order, in place, or back: both are the same.
func Little(rows []byte, size int) {
	if bigEndian {
		reverseRows(rows, size)
	}
}

func reverseRows(b []byte, size int) {
	for ; len(b) >= size && size > 1; b = b[size:] {
		slices.Reverse(b[:size])
	}
}

const (
	abs32 = 0x7fffffff         // all but the sign
	inf32 = 0x7f800000         // of the values without sign, NaNs are those above
	nan32 = 0x7fc00000         // the NaN that replaces all others
	abs64 = 0x7fffffffffffffff // the same in 64 bits
	inf64 = 0x7ff0000000000000
	nan64 = 0x7ff8000000000000
)

// HasNaN reports whether there is a NaN among floats of 4 or 8 bytes, given in
// the order of the machine.
func HasNaN(rows []byte, size int) bool {
	p := unsafe.Pointer(unsafe.SliceData(rows))
	if size == 4 && len(rows) <= 4*fewFloats {
		return anyNaN(unsafe.Slice((*float32)(p), len(rows)/4))
	}
	if size == 4 {
		return native.HasNaN(level(), unsafe.Slice((*float32)(p), len(rows)/4))
	}
	return native.HasNaN64(level(), unsafe.Slice((*float64)(p), len(rows)/8))
}

// fewFloats are so few that a plain loop takes less time than finding the level.
const fewFloats = 16

func anyNaN(x []float32) bool {
	for _, v := range x {
		if v != v {
			return true
		}
	}
	return false
}

// level is the best one, or plain Go if the environment names a level that does not
// exist: a caller that asks for that level reports the error.
var level = sync.OnceValue(func() native.Level {
	l, err := native.Resolve(native.Auto)
	if err != nil {
		return native.Go
	}
	return l
})

// canonicalise replaces every NaN of rows in little-endian order.
func canonicalise(rows []byte, size int) {
	if size == 4 {
		for ; len(rows) >= 4; rows = rows[4:] {
			if binary.LittleEndian.Uint32(rows)&abs32 > inf32 {
				binary.LittleEndian.PutUint32(rows, nan32)
			}
		}
		return
	}
	for ; len(rows) >= 8; rows = rows[8:] {
		if binary.LittleEndian.Uint64(rows)&abs64 > inf64 {
			binary.LittleEndian.PutUint64(rows, nan64)
		}
	}
}
