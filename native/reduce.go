package native

import (
	"encoding/binary"
	"math"
	"slices"
	"sync/atomic"
	"unsafe"

	"github.com/evertick/evertick/internal/fault"
)

// findings are the results of the chunks of a reduction.
type findings struct {
	parts []finding // of each chunk; kept for the next reduction
	first int32     // the lowest chunk that has found a row
}

// finding is the result of one chunk; each reduction uses some of its fields.
type finding struct {
	sum            float64
	least, largest [3]float32
	row            int
}

// Reductions have a kernel that also runs on level Go and reports a finding for each chunk.
var (
	bounding  = rowOp{kernel: boundsRows, worth: 8}
	summing   = rowOp{kernel: sumRows, worth: 96}
	notFinite = rowOp{kernel: notFiniteRows, worth: 384}
	beyond    = rowOp{kernel: beyondRows, worth: 192}
)

// reduce is do for a reduction.
func (o *Ops) reduce(rows int, op *rowOp) ([]finding, error) {
	chunks := (rows + opChunk - 1) / opChunk
	o.found.parts = slices.Grow(o.found.parts[:0], chunks)[:chunks]
	return o.found.parts, o.do(rows, op)
}

// eachPart calls f for the chunks of rows lo to hi-1, the first of which begins at lo.
func eachPart(o *Ops, live []uint64, lo, hi int, f func(part *finding, live []uint64, lo, hi int)) {
	for begin := lo; begin < hi; begin += opChunk {
		words := live
		if live != nil {
			words = live[(begin-lo)/64:]
		}
		f(&o.found.parts[begin/opChunk], words, begin, min(begin+opChunk, hi))
	}
}

// Bounds returns the corners of the smallest axis-aligned box that holds the points (x[i], y[i], z[i]). Each axis is
// separate:
//
//	lo, hi := +Inf, -Inf
//	for i := range x { if x[i] < lo { lo = x[i] }; if x[i] > hi { hi = x[i] } }
//
// NaN does not count; infinities do. An axis without numbers has +Inf, -Inf. A corner that is zero is +0, whatever
// the signs of the zeros in the column.
func (o *Ops) Bounds(x, y, z []float32) (lo, hi [3]float32, err error) {
	checkRows("native: Ops.Bounds: x, y and z differ in length", len(x), y, z)
	o.set(x, y, z)
	parts, err := o.reduce(len(x), &bounding)
	if err != nil {
		return lo, hi, err
	}
	var all finding
	boundsGo(nil, nil, nil, nil, &all)
	for i := range parts {
		all.widen(&parts[i])
	}
	return unsigned(all.least), unsigned(all.largest), nil
}

// widen makes the box hold another one.
func (f *finding) widen(by *finding) {
	for axis := range 3 {
		if by.least[axis] < f.least[axis] {
			f.least[axis] = by.least[axis]
		}
		if by.largest[axis] > f.largest[axis] {
			f.largest[axis] = by.largest[axis]
		}
	}
}

// unsigned replaces -0 by +0.
func unsigned(v [3]float32) [3]float32 {
	for axis := range v {
		if v[axis] == 0 {
			v[axis] = 0
		}
	}
	return v
}

func boundsRows(o *Ops, level Level, live []uint64, lo, hi int) {
	eachPart(o, live, lo, hi, func(part *finding, live []uint64, lo, hi int) {
		x, y, z := o.columns[0][lo:hi], o.columns[1][lo:hi], o.columns[2][lo:hi]
		if level == Go {
			boundsGo(x, y, z, live, part)
		} else {
			boundsC(level, x, y, z, live, part)
		}
	})
}

func boundsGo(x, y, z []float32, live []uint64, part *finding) {
	part.least[0], part.largest[0] = extremes(x, live)
	part.least[1], part.largest[1] = extremes(y, live)
	part.least[2], part.largest[2] = extremes(z, live)
}

func extremes(x []float32, live []uint64) (least, largest float32) {
	least, largest = float32(math.Inf(1)), float32(math.Inf(-1))
	for from, to := named(live, 0, len(x)); from < to; from, to = named(live, to, len(x)) {
		for ; from+2 <= to; from += 2 {
			v := (*[2]float32)(x[from : from+2])
			if v[0] < least {
				least = v[0]
			}
			if v[1] < least {
				least = v[1]
			}
			if v[0] > largest {
				largest = v[0]
			}
			if v[1] > largest {
				largest = v[1]
			}
		}
		for _, v := range x[from:to] {
			if v < least {
				least = v
			}
			if v > largest {
				largest = v
			}
		}
	}
	return least, largest
}

// sums is the number of partial sums of Sum in each chunk.
const sums = 16

// Sum returns the sum of x in double precision. The order of the additions does not depend on the level or the number
// of workers:
//
//	total := 0.0
//	for each 16384 rows c of x, in ascending order {
//		var s [16]float64
//		for i := range c { s[i%16] += float64(c[i]) }
//		for half := 8; half > 0; half /= 2 {
//			for j := range half { s[j] += s[j+half] }
//		}
//		total += s[0]
//	}
//
// Rows that Live does not name count as +0, and the sum of no rows is +0. NaN and infinities behave as in IEEE 754.
// Finite rows have a finite sum. Its error is at most k * 2^-53 times the sum of the magnitudes, where k is 1028 +
// len(x)/16384: no row goes through more additions, and each of them rounds by up to 2^-53.
func (o *Ops) Sum(x []float32) (float64, error) {
	o.set(x)
	parts, err := o.reduce(len(x), &summing)
	if err != nil {
		return 0, err
	}
	total := 0.0
	for i := range parts {
		total += parts[i].sum
	}
	return total, nil
}

func sumRows(o *Ops, level Level, live []uint64, lo, hi int) {
	eachPart(o, live, lo, hi, func(part *finding, live []uint64, lo, hi int) {
		if x := o.columns[0][lo:hi]; level == Go {
			part.sum = sumGo(x, live)
		} else {
			part.sum = sumC(level, x, live)
		}
	})
}

func sumGo(x []float32, live []uint64) float64 {
	var s [sums]float64
	for from, to := named(live, 0, len(x)); from < to; from, to = named(live, to, len(x)) {
		for ; from < to && from%sums != 0; from++ {
			s[from%sums] += float64(x[from])
		}
		for ; from+sums <= to; from += sums {
			for j, v := range (*[sums]float32)(x[from : from+sums]) {
				s[j] += float64(v)
			}
		}
		for i, v := range x[from:to] {
			s[i] += float64(v)
		}
	}
	for half := sums / 2; half > 0; half /= 2 {
		for j := range half {
			s[j] += s[j+half]
		}
	}
	return s[0]
}

// FirstNotFinite returns the first row of x that is NaN or infinite, or -1. It stops soon after that row. With an
// error the row is -1.
func (o *Ops) FirstNotFinite(x []float32) (int, error) {
	o.set(x)
	return o.first(len(x), &notFinite)
}

// first runs a reduction that calls searchRows, and returns the first row that was found.
func (o *Ops) first(rows int, op *rowOp) (int, error) {
	o.found.first = math.MaxInt32
	parts, err := o.reduce(rows, op)
	if err != nil || o.found.first == math.MaxInt32 {
		return -1, err
	}
	return parts[o.found.first].row, nil
}

// searchRows calls f for the chunks of rows lo to hi-1, until one has found a row. f
// returns a row counted from lo, or -1.
func searchRows(o *Ops, live []uint64, lo, hi int, f func(live []uint64, lo, hi int) int) {
	eachPart(o, live, lo, hi, func(part *finding, live []uint64, lo, hi int) {
		chunk := int32(lo / opChunk)
		if atomic.LoadInt32(&o.found.first) < chunk {
			return
		}
		row := f(live, lo, hi)
		if row < 0 {
			return
		}
		part.row = lo + row
		for was := atomic.LoadInt32(&o.found.first); chunk < was; was = atomic.LoadInt32(&o.found.first) {
			if atomic.CompareAndSwapInt32(&o.found.first, was, chunk) {
				return
			}
		}
	})
}

func notFiniteRows(o *Ops, level Level, live []uint64, lo, hi int) {
	searchRows(o, live, lo, hi, func(live []uint64, lo, hi int) int {
		if x := o.columns[0][lo:hi]; level != Go {
			return firstNotFiniteC(level, x, live)
		} else {
			return firstNotFiniteGo(x, live)
		}
	})
}

func firstNotFiniteGo(x []float32, live []uint64) int {
	for from, to := named(live, 0, len(x)); from < to; from, to = named(live, to, len(x)) {
		if anyCarry(bytesOf(x[from:to]), 0x7fffffff*twoFloats, 0x00800000*twoFloats)&(1<<31*twoFloats) == 0 {
			continue
		}
		for i, v := range x[from:to] {
			if !fault.Finite(v) {
				return from + i
			}
		}
	}
	return -1
}

// nanBreakEven is the number of bytes from which HasNaN is faster with a kernel call, which takes about 30 ns.
const nanBreakEven = 1024

// HasNaN reports whether there is a NaN in x. It always reads all of x, and panics on a level that Resolve refuses.
func HasNaN(level Level, x []float32) bool {
	if level = must(level); level != Go && 4*len(x) >= nanBreakEven {
		return hasNaNC(level, x)
	}
	return anyCarry(bytesOf(x), 0x7fffffff*twoFloats, 0x007fffff*twoFloats)&(1<<31*twoFloats) != 0
}

// twoFloats makes masks for two float32 in one word, as no carry leaves its half.
const twoFloats = 1<<32 + 1

func bytesOf(x []float32) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), 4*len(x))
}

// HasNaN64 is HasNaN for float64.
func HasNaN64(level Level, x []float64) bool {
	if level = must(level); level != Go && 8*len(x) >= nanBreakEven {
		return hasNaN64C(level, x)
	}
	return anyCarry(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), 8*len(x)),
		0x7fffffffffffffff, 0x000fffffffffffff)>>63 != 0
}

// anyCarry returns the OR of (x & mask) + lift over the 64-bit words of b. Read as an integer without its sign, a NaN
// is above infinity, and nothing else is: mask removes the sign, and adding lift then carries into the sign bit. If
// the last word lacks four bytes, they count as zeros. It calls Uint64 by its full name each time, because the
// compiler would not inline it through a variable. An index costs less than reslicing b in each round.
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
