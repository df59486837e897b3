// Package frametest takes snapshots apart and forges them, for tests.
package frametest

import (
	"encoding/binary"
	"slices"

	"github.com/evertick/evertick/internal/frame"
	"github.com/evertick/evertick/internal/wire"
)

// Split returns copies of the contents of the frames of a snapshot.
func Split(snap []byte) (list [][]byte) {
	for at := frame.Preamble; at < len(snap); {
		n := int(binary.LittleEndian.Uint32(snap[at:]))
		list = append(list, slices.Clone(snap[at+4:at+4+n]))
		at += n + frame.Overhead
	}
	return list
}

// Forge makes a snapshot of frames, with checksums that are right.
func Forge(magic string, version uint32, list [][]byte) []byte {
	e := frame.Begin(nil, magic, version)
	for _, f := range list {
		e.Open(len(f))
		e.Buf = append(e.Buf, f...)
		e.Seal()
	}
	return e.Buf
}

// Reseal repairs the checksums of what look like frames, so that fuzzing gets past them.
func Reseal(data []byte) []byte {
	data = slices.Clone(data)
	for at, checked, crc := frame.Preamble, 0, uint32(0); at+frame.Overhead <= len(data); {
		n := binary.LittleEndian.Uint32(data[at:])
		if uint64(n) > uint64(len(data)-at-frame.Overhead) {
			break
		}
		end := at + 4 + int(n)
		crc = wire.CRC(crc, data[checked:end])
		binary.LittleEndian.PutUint32(data[end:], crc)
		checked, at = end, end+4
	}
	return data
}
