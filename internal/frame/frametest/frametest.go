// Package frametest splits and forges snapshots, for tests.
package frametest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"slices"

	"github.com/evertick/evertick/internal/fault"
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

// Forge makes a snapshot of frames, with right checksums.
func Forge(magic string, version uint32, list [][]byte) []byte {
	e := frame.Begin(nil, magic, version)
	for _, f := range list {
		e.Open(len(f))
		e.Buf = append(e.Buf, f...)
		e.Seal()
	}
	return e.Buf
}

// Reseal corrects the checksums of what look like frames, so that fuzzing gets past them.
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

// Within returns the snapshot within a frame, which a solver, or a kind of training world, has put there: of a solver its name, the length of the snapshot
// and the snapshot come first, and its events last. ok is false if there is none.
func Within(f []byte) (from, to int, ok bool) {
	const longest = 1 + 255 + 8 // a name and a length
	from = bytes.Index(f[:min(len(f), longest+8)], []byte("evtk."))
	if from < 0 {
		return 0, 0, false
	}
	to = len(f)
	if from > 8 {
		if n := binary.LittleEndian.Uint64(f[from-8:]); n <= uint64(len(f)-from) {
			to = from + int(n)
		}
	}
	return from, to, true
}

// ResealDeep is Reseal of a snapshot and of all within it, from the inside out.
func ResealDeep(data []byte) []byte {
	data = slices.Clone(data)
	for at := frame.Preamble; at+frame.Overhead <= len(data); {
		n := binary.LittleEndian.Uint32(data[at:])
		if uint64(n) > uint64(len(data)-at-frame.Overhead) {
			break
		}
		part := data[at+4 : at+4+int(n)]
		if from, to, ok := Within(part); ok && to-from > frame.Preamble {
			copy(part[from:to], ResealDeep(part[from:to]))
		}
		at += int(n) + frame.Overhead
	}
	return Reseal(data)
}

// Documented reports whether err is one of those that a Restore documents for bytes that it
// refuses. They show a program what to do: discard the bytes, keep them for another
// version, or make more room.
func Documented(err error) bool {
	return errors.Is(err, fault.ErrCorrupt) || errors.Is(err, fault.ErrUnsupported) || errors.Is(err, fault.ErrCapacity)
}

// words are values that checks can get wrong: limits, small numbers, infinities and NaN.
var words = []uint32{0, 1, 2, 3, 0x7f, 0x80, 0xff, 0x10000, 0xffffff, 0x1000000, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff,
	0x3f800000, 0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc00000}

// Mutate changes the frames of a snapshot in one to four random places, but not their order: bits,
// words, words from elsewhere in the frame, runs of bytes removed, doubled or copied.
func Mutate(rng *rand.Rand, frames [][]byte) [][]byte {
	list := slices.Clone(frames)
	for range 1 + rng.IntN(4) {
		i := rng.IntN(len(list))
		if len(list[i]) >= 8 {
			list[i] = mutate(rng, slices.Clone(list[i]))
		}
	}
	return list
}

func mutate(rng *rand.Rand, f []byte) []byte {
	at, from, n := rng.IntN(len(f)-4), rng.IntN(len(f)-4), 1+rng.IntN(min(len(f)/2, 64))
	if rng.IntN(2) == 0 { // numbers are at multiples of four, more often than not
		at, from, n = at&^3, from&^3, (n+3)&^3
	}
	end := min(from+n, len(f))
	switch rng.IntN(8) {
	case 0:
		f[at] ^= 1 << rng.IntN(8)
	case 1:
		f[at] = byte(rng.Uint32())
	case 2, 3:
		binary.LittleEndian.PutUint32(f[at:], words[rng.IntN(len(words))])
	case 4:
		copy(f[at:at+4], f[from:])
	case 5:
		copy(f[at:], slices.Clone(f[from:end]))
	case 6:
		return slices.Delete(f, from, end)
	case 7:
		return slices.Insert(f, at, slices.Clone(f[from:end])...)
	}
	return f
}
