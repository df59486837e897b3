package native

import (
	"encoding/binary"
	"unsafe"
)

// nanBreakEven is the number of bytes from which a kernel call, about 30 ns, is worth
// its while to HasNaN.
const nanBreakEven = 1024

// HasNaN reports whether there is a NaN in x. It reads all of x in any case, and panics
// on a level that Resolve refuses.
func HasNaN(level Level, x []float32) bool {
	if level = must(level); level != Go && 4*len(x) >= nanBreakEven {
		return hasNaNC(level, x)
	}
	const lanes = 1<<32 + 1 // two float32 fit in one addition, as no carry leaves its lane
	return anyCarry(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), 4*len(x)),
		0x7fffffff*lanes, 0x007fffff*lanes)&(1<<31*lanes) != 0
}

// HasNaN64 is HasNaN for float64.
func HasNaN64(level Level, x []float64) bool {
	if level = must(level); level != Go && 8*len(x) >= nanBreakEven {
		return hasNaN64C(level, x)
	}
	return anyCarry(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), 8*len(x)),
		0x7fffffffffffffff, 0x000fffffffffffff)>>63 != 0
}

// anyCarry returns the OR of (x & mask) + lift over the 64-bit words of b. As an
// integer without its sign a NaN, and nothing else, is above infinity: mask takes the
// sign away, and lift carries into its place. Four missing bytes at the end count as
// zeros. It calls Uint64 by its full name each time: through a variable the compiler
// would call it, not inline it. An index costs less than cutting b in each round.
func anyCarry(b []byte, mask, lift uint64) uint64 {
	var a0, a1, a2, a3 uint64
	i := 0
	for ; i+64 <= len(b); i += 64 {
		c := (*[64]byte)(b[i : i+64]) // one bounds check for the eight
		a0 |= binary.NativeEndian.Uint64(c[0:8])&mask + lift
		a1 |= binary.NativeEndian.Uint64(c[8:16])&mask + lift
		a2 |= binary.NativeEndian.Uint64(c[16:24])&mask + lift
		a3 |= binary.NativeEndian.Uint64(c[24:32])&mask + lift
		a0 |= binary.NativeEndian.Uint64(c[32:40])&mask + lift
		a1 |= binary.NativeEndian.Uint64(c[40:48])&mask + lift
		a2 |= binary.NativeEndian.Uint64(c[48:56])&mask + lift
		a3 |= binary.NativeEndian.Uint64(c[56:64])&mask + lift
	}
	for b = b[i:]; len(b) >= 8; b = b[8:] {
		a0 |= binary.NativeEndian.Uint64(b)&mask + lift
	}
	if len(b) >= 4 {
		a0 |= uint64(binary.NativeEndian.Uint32(b))&mask + lift
	}
	return a0 | a1 | a2 | a3
}
