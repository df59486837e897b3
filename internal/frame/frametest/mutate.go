package frametest

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"slices"

	"github.com/evertick/evertick/internal/fault"
)

// Documented reports whether err is one of those that a Restore promises for bytes that it
// refuses, so that a program knows what to do: throw them away, keep them for another
// version, or make more room.
func Documented(err error) bool {
	return errors.Is(err, fault.ErrCorrupt) || errors.Is(err, fault.ErrUnsupported) || errors.Is(err, fault.ErrCapacity)
}

// words are those that checks have to fear: limits, small numbers, floats that are none.
var words = []uint32{0, 1, 2, 3, 0x7f, 0x80, 0xff, 0x10000, 0xffffff, 0x1000000, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff,
	0x3f800000, 0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc00000}

// Mutate changes the frames of a snapshot in one to four places, as rng says, and keeps what
// they are: bits, words, words that stand elsewhere in the frame, runs of bytes taken out,
// doubled or copied.
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
