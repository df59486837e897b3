// Package frame reads and writes snapshots: a magic of eight bytes, a uint32 version, and frames. A
// frame is the uint32 length of its content, the content, and a uint32 CRC-32C of the whole
// snapshot up to there. So each frame can be checked by itself, but none can be moved, left out, or
// taken from another snapshot. All numbers are little-endian.
package frame

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/evertick/evertick/internal/buffer"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/statehash"
	"github.com/evertick/evertick/internal/wire"
)

const (
	// Preamble is the number of bytes before the first frame.
	Preamble = 8 + 4
	// Overhead is what a frame adds to its content.
	Overhead = 4 + 4
)

// Encoder appends to Buf.
type Encoder struct {
	Buf     []byte
	sealed  int // where the part begins that crc does not cover
	crc     uint32
	tooLong bool
}

// Begin appends the preamble to dst. Grow dst to the size of the whole snapshot first.
func Begin(dst []byte, magic string, version uint32) Encoder {
	e := Encoder{Buf: append(dst, magic...), sealed: len(dst)}
	e.U32(int(version))
	return e
}

func (e *Encoder) U8(v byte) { e.Buf = append(e.Buf, v) }

func (e *Encoder) U16(v int) { e.Buf = binary.LittleEndian.AppendUint16(e.Buf, uint16(v)) }

func (e *Encoder) U32(v int) { e.Buf = wire.AppendU32s(e.Buf, uint32(v)) }

func (e *Encoder) F32(v float32) { e.Buf = wire.AppendF32s(e.Buf, v) }

func (e *Encoder) U64(v uint64) { e.Buf = wire.AppendU64s(e.Buf, v) }

// Name appends the length of s in a byte, and s.
func (e *Encoder) Name(s string) {
	e.Buf = wire.AppendName(e.Buf, s)
}

// Rows appends rows of size bytes each, given in the order of the machine.
func (e *Encoder) Rows(rows []byte, size int) {
	n := len(e.Buf)
	e.Buf = append(e.Buf, rows...)
	statehash.Little(e.Buf[n:], size)
}

// ReadRows copies rows of numbers of size bytes each, which Rows has appended, and returns dst.
func ReadRows[T any](dst []T, src []byte, size int) []T {
	b := buffer.Bytes(dst)
	copy(b, src)
	statehash.Little(b, size)
	return dst
}

// Open begins a frame of n bytes.
func (e *Encoder) Open(n int) { e.U32(n) }

// Start begins a frame whose length Finish fills in, and returns what to pass to it.
func (e *Encoder) Start() int {
	e.U32(0)
	return len(e.Buf)
}

// Finish ends a frame of Start. It reports false if the content of this frame, or of one before it,
// is too long for a frame.
func (e *Encoder) Finish(start int) bool {
	n := uint64(len(e.Buf) - start)
	binary.LittleEndian.PutUint32(e.Buf[start-4:], uint32(n))
	e.Seal()
	e.tooLong = e.tooLong || n > math.MaxUint32
	return !e.tooLong
}

// Append appends a frame whose content the function appends.
func (e *Encoder) Append(content func(dst []byte) []byte) {
	at := e.Start()
	e.Buf = content(e.Buf)
	e.Finish(at)
}

// Seal ends a frame of Open.
func (e *Encoder) Seal() {
	e.crc = wire.CRC(e.crc, e.Buf[e.sealed:])
	e.sealed = len(e.Buf)
	e.Buf = wire.AppendU32s(e.Buf, e.crc)
}

// Decoder reads the frames of a snapshot in their order. Its errors begin with prefix, such as
// "ecs: snapshot: ", and wrap fault.ErrCorrupt unless documented otherwise.
type Decoder struct {
	Version uint32

	data    []byte
	prefix  string
	at      int
	checked int // where the part begins that crc does not cover
	crc     uint32
}

// NewDecoder reads the preamble. A version that is not listed is fault.ErrUnsupported.
func NewDecoder(data []byte, prefix, magic string, versions ...uint32) (Decoder, error) {
	d := Decoder{data: data, prefix: prefix}
	if len(data) < Preamble {
		return d, d.Corrupt("length", len(data))
	}
	if string(data[:len(magic)]) != magic {
		return d, d.Corrupt("magic", fmt.Sprintf("%q", data[:len(magic)]))
	}
	if d.Version = wire.U32At(data[len(magic):], 0); !slices.Contains(versions, d.Version) {
		return d, fault.Field(fault.ErrUnsupported, prefix+"version", d.Version)
	}
	d.at = Preamble
	return d, nil
}

// Next returns the content of the next frame.
func (d *Decoder) Next(what string) ([]byte, error) {
	r := wire.NewReader(d.data[d.at:])
	if r.Len() < Overhead {
		return nil, d.Corrupt("length at the "+what, len(d.data))
	}
	n := r.U32()
	if uint64(n) > uint64(r.Len()-wire.CRCSize) {
		return nil, d.Corrupt("length of the "+what, n)
	}
	content, end := r.Bytes(int(n)), d.at+r.Offset()
	d.crc = wire.CRC(d.crc, d.data[d.checked:end])
	if got := r.U32(); got != d.crc {
		return nil, d.Corrupt("checksum of the "+what, fmt.Sprintf("%#08x", got))
	}
	d.checked = end
	d.at = end + wire.CRCSize
	return content, nil
}

// More reports whether something follows the last frame.
func (d *Decoder) More() bool { return d.at != len(d.data) }

// Done returns an error if something follows the last frame.
func (d *Decoder) Done() error {
	if d.More() {
		return d.Corrupt("length", len(d.data))
	}
	return nil
}

// Corrupt returns the error for content that no snapshot can have.
func (d *Decoder) Corrupt(what string, value any) error {
	return fault.Field(fault.ErrCorrupt, d.prefix+what, value)
}

// CorruptElement is Corrupt for the element at an index of a list.
func (d *Decoder) CorruptElement(what string, index int, value any) error {
	return fault.Element(fault.ErrCorrupt, d.prefix+what, index, value)
}
