package ecs

import (
	"slices"

	"github.com/evertick/evertick/internal/frame"
)

// A snapshot is, all little-endian:
//
//	"evtk.ecs"  uint32 version
//	frame: uint32 capacity, rows, live, columns, tags; uint64 next id, touches
//	frame: uint64 id of each row, 0 = free
//	frame, one a column, in order of registration: name, uint8 kind, uint16 numbers
//		in a row, uint64 version, the rows
//	frame, one a tag, in order of registration: name, a bit for each row in uint64 words
//	frame, one a name of blobs, in order of names: name, uint64 version; for each blob in
//		ascending slots: uint32 slot, uint32 length, the bytes
//
// Version 3 has the number of names of blobs as a uint32 at the end of the first frame. A world
// without blobs has a snapshot of version 2, which ends after the tags.
//
// A name is its length in one byte, and its bytes. Package frame defines the frames.
//
// Columns that are touched together have the same version, and none is above touches.
// The ids and the next id determine the next free slot and the Version of the world.
const (
	snapshotMagic   = "evtk.ecs"
	snapshotVersion = 2
	blobsVersion    = 3

	headerBytes = 5*4 + 2*8     // without the number of names of blobs
	columnBytes = 1 + 1 + 2 + 8 // of a column without its name and rows
)

// Snapshot appends the state to dst, like the Append functions of strconv, and
// returns the extended slice: rows [0, HighWater) of every column, bit for bit, all
// blobs, and all that decides which ids and slots come next. Pass the previous result
// truncated to [:0] to allocate nothing.
func (w *World) Snapshot(dst []byte) []byte {
	version, header, blobs := uint32(snapshotVersion), headerBytes, w.savedBlobs()
	if blobs > 0 {
		version, header = blobsVersion, headerBytes+4
	}
	e := frame.Begin(slices.Grow(dst, w.snapshotBytes()), snapshotMagic, version)

	e.Open(header)
	e.U32(w.Cap())
	e.U32(w.high)
	e.U32(w.count)
	e.U32(len(w.columns))
	e.U32(len(w.tags))
	e.U64(w.table.next)
	e.U64(w.touches)
	if blobs > 0 {
		e.U32(blobs)
	}
	e.Seal()

	e.Open(8 * w.high)
	e.Rows(bytesOf(w.ids[:w.high]), 8)
	e.Seal()

	for _, c := range w.columns {
		e.Open(len(c.name) + columnBytes + c.size()*w.high)
		e.Name(c.name)
		e.U8(byte(c.kind))
		e.U16(c.count)
		e.U64(c.version.number)
		e.Rows(c.rows(0, w.high), c.kind.Size())
		e.Seal()
	}
	n := words(w.high)
	for _, t := range w.tags {
		e.Open(len(t.name) + 1 + 8*n)
		e.Name(t.name)
		e.Rows(bytesOf(t.bits[:n]), 8)
		e.Seal()
	}
	for _, b := range w.blobsByName {
		if b.saved() {
			b.encode(&e)
		}
	}
	return e.Buf
}

func (w *World) snapshotBytes() int {
	n := frame.Preamble + frame.Overhead + headerBytes + 4 + frame.Overhead + 8*w.high
	for _, c := range w.columns {
		n += frame.Overhead + len(c.name) + columnBytes + c.size()*w.high
	}
	for _, t := range w.tags {
		n += frame.Overhead + len(t.name) + 1 + 8*words(w.high)
	}
	for _, b := range w.blobs {
		n += frame.Overhead + b.snapshotBytes()
	}
	return n
}
