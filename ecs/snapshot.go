package ecs

import (
	"encoding/binary"
	"hash/crc32"
	"slices"
)

// A snapshot is, all little-endian:
//
//	"evtk.ecs"  uint32 version
//	frame: uint32 capacity, rows, live, columns, tags; uint64 next id, touches
//	frame: uint64 id of each row, 0 = free
//	frame, one a column, in order of registration: name, uint8 kind, uint16 numbers
//		in a row, uint64 version, the rows
//	frame, one a tag, in order of registration: name, a bit for each row in uint64 words
//
// A name is a byte that says its length, and its bytes. A frame is the uint32
// length of its content, the content, and a uint32 CRC-32C of all that the
// snapshot has so far, so that each frame is checked by itself and yet none can
// be moved, left out, or come from another snapshot.
//
// Columns that are touched together have the same version, and none is above touches.
// The next free slot and the Version of the world follow from the ids and the
// next id.
const (
	snapshotMagic   = "evtk.ecs"
	snapshotVersion = 2

	preambleBytes = len(snapshotMagic) + 4
	headerBytes   = 5*4 + 2*8
	columnBytes   = 1 + 1 + 2 + 8 // what a column has beside its name and rows
	frameBytes    = 4 + 4         // what a frame adds to its content
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Snapshot appends the state to dst, like the Append functions of strconv, and
// returns the extended slice: rows [0, HighWater) of every column, bit for bit,
// and all that decides which ids and slots come next. Pass the previous result
// cut to [:0] to allocate nothing.
func (w *World) Snapshot(dst []byte) []byte {
	e := encoder{buf: slices.Grow(dst, w.snapshotBytes()), sealed: len(dst)}
	e.buf = append(e.buf, snapshotMagic...)
	e.u32(snapshotVersion)

	e.open(headerBytes)
	e.u32(w.Cap())
	e.u32(w.high)
	e.u32(w.count)
	e.u32(len(w.columns))
	e.u32(len(w.tags))
	e.u64(w.table.next)
	e.u64(w.touches)
	e.seal()

	e.open(8 * w.high)
	e.buf = appendLittle(e.buf, bytesOf(w.ids[:w.high]), 8)
	e.seal()

	for _, c := range w.columns {
		e.open(len(c.name) + columnBytes + c.size()*w.high)
		e.name(c.name)
		e.buf = append(e.buf, byte(c.kind))
		e.buf = binary.LittleEndian.AppendUint16(e.buf, uint16(c.count))
		e.u64(c.mark.version)
		e.buf = appendLittle(e.buf, c.rows(0, w.high), c.kind.size())
		e.seal()
	}
	n := words(w.high)
	for _, t := range w.tags {
		e.open(len(t.name) + 1 + 8*n)
		e.name(t.name)
		e.buf = appendLittle(e.buf, bytesOf(t.bits[:n]), 8)
		e.seal()
	}
	return e.buf
}

func (w *World) snapshotBytes() int {
	n := preambleBytes + frameBytes + headerBytes + frameBytes + 8*w.high
	for _, c := range w.columns {
		n += frameBytes + len(c.name) + columnBytes + c.size()*w.high
	}
	for _, t := range w.tags {
		n += frameBytes + len(t.name) + 1 + 8*words(w.high)
	}
	return n
}

// encoder appends to buf, which has room for everything.
type encoder struct {
	buf    []byte
	sealed int // where the part begins that crc does not cover
	crc    uint32
}

func (e *encoder) u32(v int) { e.buf = binary.LittleEndian.AppendUint32(e.buf, uint32(v)) }

func (e *encoder) u64(v uint64) { e.buf = binary.LittleEndian.AppendUint64(e.buf, v) }

func (e *encoder) name(s string) {
	e.buf = append(e.buf, byte(len(s)))
	e.buf = append(e.buf, s...)
}

// open begins a frame of n bytes.
func (e *encoder) open(n int) { e.u32(n) }

// seal ends it.
func (e *encoder) seal() {
	e.crc = crc32.Update(e.crc, castagnoli, e.buf[e.sealed:])
	e.sealed = len(e.buf)
	e.buf = binary.LittleEndian.AppendUint32(e.buf, e.crc)
}
