package physics

import (
	"encoding/binary"
	"math"
	"unsafe"

	"github.com/zeebo/xxh3"
)

// ColumnHash is the hash of one column of the state.
type ColumnHash struct {
	Name string
	Hash uint64
}

// hashedColumns is the number of columns that the state hash covers.
const hashedColumns = 19

// Hash returns the hash of the state: XXH3 over the column hashes that
// AppendColumnHashes returns, in that order, and the number of rows of bodies
// and of shapes. Equal on machines of either byte order. It allocates nothing.
func (w *World) Hash() uint64 {
	var columns [hashedColumns]ColumnHash
	fold := w.hasher.fold[:0]
	for _, c := range w.AppendColumnHashes(columns[:0]) {
		fold = binary.LittleEndian.AppendUint64(fold, c.Hash)
	}
	fold = binary.LittleEndian.AppendUint64(fold, uint64(w.Rows()))
	fold = binary.LittleEndian.AppendUint64(fold, uint64(w.shapes.pool.high()))
	return xxh3.Hash(fold)
}

// AppendColumnHashes appends the hash of each column to dst: XXH3 over the rows
// [0, Rows) as little-endian bytes, so that a divergence names the column. The
// columns of Columns come first, then the generations of the bodies, then the
// shapes. It allocates nothing if dst has room.
func (w *World) AppendColumnHashes(dst []ColumnHash) []ColumnHash {
	h, c, rows := &w.hasher, &w.cols, w.Rows()
	// A NaN has as many bit patterns as machines have habits. The state holds
	// none unless the engine failed; only then is the slow way needed.
	h.portable = w.failed != nil || !littleEndian
	for _, nc := range c.floatColumns() {
		dst = append(dst, ColumnHash{nc.name, h.float32s((*nc.column)[:rows])})
	}
	return append(dst,
		ColumnHash{"Slot", h.uint32s(c.Slot[:rows])},
		ColumnHash{"Type", xxh3.Hash(bytesOf(c.Type[:rows]))},
		ColumnHash{"Flags", xxh3.Hash(c.Flags[:rows])},
		ColumnHash{"Alive", xxh3.Hash(c.Alive[:rows])},
		ColumnHash{"Generation", h.uint32s(w.bodies.generation)},
		ColumnHash{"ShapeBody", h.uint32s(w.shapes.body)},
		ColumnHash{"ShapeDigest", h.uint64s(w.shapes.digest)},
		ColumnHash{"ShapeGeneration", h.uint32s(w.shapes.pool.generation)},
	)
}

// hasher hashes columns as little-endian bytes: in place where memory has that
// order, else through a buffer.
type hasher struct {
	portable bool
	stream   xxh3.Hasher
	buffer   [4096]byte
	fold     [8 * (hashedColumns + 2)]byte
}

// canonicalNaN stands for every NaN in a hash.
const canonicalNaN = 0x7fc00000

func (h *hasher) float32s(column []float32) uint64 {
	if !h.portable {
		return xxh3.Hash(bytesOf(column))
	}
	h.stream.Reset()
	for len(column) > 0 {
		n := min(len(column), len(h.buffer)/4)
		for i, v := range column[:n] {
			bits := math.Float32bits(v)
			if v != v {
				bits = canonicalNaN
			}
			binary.LittleEndian.PutUint32(h.buffer[4*i:], bits)
		}
		h.stream.Write(h.buffer[:4*n])
		column = column[n:]
	}
	return h.stream.Sum64()
}

func (h *hasher) uint32s(column []uint32) uint64 {
	if !h.portable {
		return xxh3.Hash(bytesOf(column))
	}
	h.stream.Reset()
	for len(column) > 0 {
		n := min(len(column), len(h.buffer)/4)
		for i, v := range column[:n] {
			binary.LittleEndian.PutUint32(h.buffer[4*i:], v)
		}
		h.stream.Write(h.buffer[:4*n])
		column = column[n:]
	}
	return h.stream.Sum64()
}

func (h *hasher) uint64s(column []uint64) uint64 {
	if !h.portable {
		return xxh3.Hash(bytesOf(column))
	}
	h.stream.Reset()
	for len(column) > 0 {
		n := min(len(column), len(h.buffer)/8)
		for i, v := range column[:n] {
			binary.LittleEndian.PutUint64(h.buffer[8*i:], v)
		}
		h.stream.Write(h.buffer[:8*n])
		column = column[n:]
	}
	return h.stream.Sum64()
}

var littleEndian = func() bool {
	word := uint16(1)
	return *(*byte)(unsafe.Pointer(&word)) == 1
}()

// bytesOf returns the memory of a column.
func bytesOf[T ~uint8 | ~uint32 | ~uint64 | ~float32](s []T) []byte {
	var zero T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(zero)))
}
