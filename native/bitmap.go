package native

import (
	"math"
	"math/bits"
	"slices"
)

// The functions below work on bitmaps of rows, as Ops.Live is one: row i is bit i%64 of word i/64. A word holds 64
// rows, so they run in Go at any level.

// And computes to = a AND b: the rows that both name. to may be a or b. It panics if the lengths differ.
func And(to, a, b []uint64) {
	checkWords("native: And: bitmaps differ in length", to, a, b)
	for i := range to {
		to[i] = a[i] & b[i]
	}
}

// Or computes to = a OR b: the rows that at least one names. Otherwise it is like And.
func Or(to, a, b []uint64) {
	checkWords("native: Or: bitmaps differ in length", to, a, b)
	for i := range to {
		to[i] = a[i] | b[i]
	}
}

// AndNot computes to = a AND NOT b: the rows of a that b does not name. Otherwise it is like And.
func AndNot(to, a, b []uint64) {
	checkWords("native: AndNot: bitmaps differ in length", to, a, b)
	for i := range to {
		to[i] = a[i] &^ b[i]
	}
}

func checkWords(message string, to, a, b []uint64) {
	if len(a) != len(to) || len(b) != len(to) {
		panic(message)
	}
}

// CountRows returns the number of rows that a bitmap names.
func CountRows(bitmap []uint64) int {
	n := 0
	for _, word := range bitmap {
		n += bits.OnesCount64(word)
	}
	return n
}

// RowsOf returns the rows that a bitmap names, ascending, in the memory of dst if they fit: pass the previous result to
// allocate nothing. Without rows the result is empty but not nil: for an index, nil slots mean all rows.
func RowsOf(dst []uint32, bitmap []uint64) []uint32 {
	if dst == nil {
		dst = []uint32{}
	}
	n := CountRows(bitmap)
	dst = slices.Grow(dst[:0], n)[:n]
	n = 0
	for i, word := range bitmap {
		if word == math.MaxUint64 { // most words of a world without gaps
			for bit, to := 0, dst[n:n+64]; bit < len(to); bit++ {
				to[bit] = uint32(i<<6 | bit)
			}
			n += 64
			continue
		}
		for ; word != 0; word &= word - 1 {
			dst[n] = uint32(i<<6 | bits.TrailingZeros64(word))
			n++
		}
	}
	return dst
}
