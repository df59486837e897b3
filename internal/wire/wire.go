// Package wire reads and appends the numbers and strings that all binary formats of the module
// consist of: fixed widths in little-endian order, varints, and bytes after their length. It
// contains what encoding/binary lacks.
package wire

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"

	"github.com/evertick/evertick/internal/fault"
)

// Reader takes values off the front of a byte slice. The first fault ends it: nothing is left
// then, every later read returns zero, and Err says where it was. Lengths and counts are
// checked against what is left, so that hostile ones allocate nothing. The zero Reader is
// empty.
type Reader struct {
	data []byte
	off  int
	err  error
}

// NewReader returns a Reader of data, which must not change while it is used.
func NewReader(data []byte) Reader { return Reader{data: data} }

// Offset returns how many bytes have been read.
func (r *Reader) Offset() int { return r.off }

// Len returns how many bytes are left.
func (r *Reader) Len() int { return len(r.data) - r.off }

// Err returns the first fault. It wraps fault.ErrCorrupt.
func (r *Reader) Err() error { return r.err }

// Done returns the first fault; bytes that are left are one.
func (r *Reader) Done() error {
	if r.Len() > 0 {
		r.Fail("bytes left over", r.Len())
	}
	return r.err
}

// Fail records a fault in what was read, unless there is one already: "at byte 7: what = value".
func (r *Reader) Fail(what string, value any) {
	r.FailWith(fault.Field(fault.ErrCorrupt, what, value))
}

// FailWith is Fail with an error.
func (r *Reader) FailWith(err error) {
	if r.err == nil {
		r.err = fmt.Errorf("at byte %d: %w", r.off, err)
		r.data = r.data[:r.off]
	}
}

// Bytes reads n bytes. The result is part of the data, and clipped.
func (r *Reader) Bytes(n int) []byte {
	if n < 0 || n > r.Len() {
		r.Fail("length", n)
		return nil
	}
	b := r.data[r.off : r.off+n : r.off+n]
	r.off += n
	return b
}

// Rest reads all that is left.
func (r *Reader) Rest() []byte { return r.Bytes(r.Len()) }

// U8 reads a byte.
func (r *Reader) U8() uint8 {
	if b := r.Bytes(1); b != nil {
		return b[0]
	}
	return 0
}

// Bool reads a byte that is 0 or 1.
func (r *Reader) Bool() bool {
	v := r.U8()
	if v > 1 {
		r.Fail("flag", v)
	}
	return v == 1
}

// U16 reads two bytes.
func (r *Reader) U16() uint16 {
	if b := r.Bytes(2); b != nil {
		return binary.LittleEndian.Uint16(b)
	}
	return 0
}

// U32 reads four bytes.
func (r *Reader) U32() uint32 {
	if b := r.Bytes(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

// U64 reads eight bytes.
func (r *Reader) U64() uint64 {
	if b := r.Bytes(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// F32 reads four bytes, of any bits.
func (r *Reader) F32() float32 { return math.Float32frombits(r.U32()) }

// F32s reads into all of dst.
func (r *Reader) F32s(dst []float32) {
	for i := range dst {
		dst[i] = r.F32()
	}
}

// U64s reads into all of dst.
func (r *Reader) U64s(dst []uint64) {
	for i := range dst {
		dst[i] = r.U64()
	}
}

// Uvarint reads what binary.AppendUvarint appends; it also accepts a form that is longer than
// needed.
func (r *Reader) Uvarint() uint64 {
	if r.off < len(r.data) && r.data[r.off] < 0x80 { // most are small
		r.off++
		return uint64(r.data[r.off-1])
	}
	return r.longUvarint()
}

func (r *Reader) longUvarint() uint64 {
	v, n := binary.Uvarint(r.data[r.off:])
	if n <= 0 {
		r.Fail("length of a number", n)
		return 0
	}
	r.off += n
	return v
}

// Varint reads what binary.AppendVarint appends.
func (r *Reader) Varint() int64 {
	u := r.Uvarint()
	return int64(u>>1) ^ -int64(u&1)
}

// Canonical reads an uvarint of low to high in its shortest form, so that what is read has
// one encoding.
func (r *Reader) Canonical(low, high uint64) uint64 {
	from := r.off
	v := r.Uvarint()
	if v >= low && v <= high && (r.off-from <= 1 || r.data[r.off-1] != 0) {
		return v
	}
	if r.err == nil {
		r.off = from
		r.Fail("number", v)
	}
	return 0
}

// Count checks a number of elements that was just read, each of which takes at least size
// bytes: more than most, or than can be left, is a fault, and 0.
func (r *Reader) Count(n uint64, most, size int) int {
	if n > uint64(most) || n > uint64(r.Len()/size) {
		r.Fail("count", n)
		return 0
	}
	return int(n)
}

// Prefixed reads an uvarint of at most most, and as many bytes.
func (r *Reader) Prefixed(most int) []byte { return r.Bytes(r.Count(r.Uvarint(), most, 1)) }

// String is Prefixed as a string.
func (r *Reader) String(most int) string { return string(r.Prefixed(most)) }

// Name reads a byte, and as many bytes.
func (r *Reader) Name() []byte { return r.Bytes(int(r.U8())) }

// U32At returns element i of a column of what U32 reads, which must be long enough.
func U32At(column []byte, i int) uint32 { return binary.LittleEndian.Uint32(column[4*i:]) }

// U64At returns element i of a column of what U64 reads.
func U64At(column []byte, i int) uint64 { return binary.LittleEndian.Uint64(column[8*i:]) }

// F32At returns element i of a column of what F32 reads.
func F32At(column []byte, i int) float32 { return math.Float32frombits(U32At(column, i)) }

// FirstNotFinite returns the index of the first float32 of a column that is NaN or infinite, or -1.
func FirstNotFinite(column []byte) int {
	const exponents, least = 0x7f800000_7f800000, 0x00800000_00800000
	i := 0
	for ; i+8 <= len(column); i += 8 { // a number overflows into the sign if all bits of its exponent are set
		if v := binary.LittleEndian.Uint64(column[i:]) & exponents; (v+least)&(1<<63|1<<31) != 0 {
			break
		}
	}
	for i /= 4; i < len(column)/4; i++ {
		if v := F32At(column, i); v-v != 0 {
			return i
		}
	}
	return -1
}

// AppendU32s appends what U32 reads, for each value.
func AppendU32s(dst []byte, values ...uint32) []byte {
	for _, v := range values {
		dst = binary.LittleEndian.AppendUint32(dst, v)
	}
	return dst
}

// AppendU64s appends what U64 reads, for each value.
func AppendU64s(dst []byte, values ...uint64) []byte {
	for _, v := range values {
		dst = binary.LittleEndian.AppendUint64(dst, v)
	}
	return dst
}

// AppendF32s appends what F32 reads, for each value.
func AppendF32s(dst []byte, values ...float32) []byte {
	for _, v := range values {
		dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(v))
	}
	return dst
}

// AppendUvarints appends what Uvarint reads, for each value.
func AppendUvarints(dst []byte, values ...uint64) []byte {
	for _, v := range values {
		dst = binary.AppendUvarint(dst, v)
	}
	return dst
}

// AppendBool appends what Bool reads.
func AppendBool(dst []byte, v bool) []byte {
	if v {
		return append(dst, 1)
	}
	return append(dst, 0)
}

// AppendPrefixed appends what Prefixed and String read.
func AppendPrefixed[B ~string | ~[]byte](dst []byte, b B) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(b)))
	return append(dst, b...)
}

// AppendName appends what Name reads; name has at most 255 bytes.
func AppendName(dst []byte, name string) []byte {
	dst = append(dst, byte(len(name)))
	return append(dst, name...)
}

// CRCSize is the length of a checksum.
const CRCSize = 4

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// CRC returns the CRC-32C of b, which follows data of the checksum before, or 0 if b is the
// beginning.
func CRC(before uint32, b []byte) uint32 { return crc32.Update(before, castagnoli, b) }

// AppendCRC appends the CRC-32C of dst from start on.
func AppendCRC(dst []byte, start int) []byte {
	return binary.LittleEndian.AppendUint32(dst, CRC(0, dst[start:]))
}

// CutCRC splits off what AppendCRC appended, and reports whether it is the checksum of the
// rest.
func CutCRC(b []byte) (content []byte, crc uint32, ok bool) {
	n := len(b) - CRCSize
	if n < 0 {
		return b, 0, false
	}
	crc = binary.LittleEndian.Uint32(b[n:])
	return b[:n:n], crc, crc == CRC(0, b[:n])
}
