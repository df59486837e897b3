package replica

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/evertick/evertick/internal/netcode"
)

// appendGroup appends a group of as many entities as there are rows of differences.
func (w *scratch) appendGroup(dst []byte, g *group, diffs []int32) []byte {
	n := len(diffs) / g.lanes
	shape := netcode.DeltaLanes{Lanes: g.lanes, Bits: g.bits}
	w.shape(&shape, diffs)
	width := uint(0)
	for _, b := range shape.Width {
		width += uint(b)
	}
	w.mask, w.places = sized(w.mask, (n+7)/8), w.places[:0]
	clear(w.mask)
	b := bitWriter{dst: w.bits[:0]}
	records := 0
	for i := range n {
		record, at, changed, wide := uint32(0), uint8(0), int32(0), int32(0)
		for lane, v := range diffs[i*g.lanes:][:g.lanes] {
			bits := shape.Width[lane]
			changed |= v
			wide |= v ^ sx(bits, v)
			record |= uint32(v) & (1<<bits - 1) << at
			at += bits
		}
		switch {
		case wide != 0:
			w.places = append(w.places, uint32(i))
		case changed != 0:
			records++
			w.mask[i>>3] |= 1 << (i & 7)
			b.put(record, width)
		}
	}
	w.bits = b.done()
	if few := records*(8*2+8*g.lanes) < 8*len(w.mask); few && records > 0 {
		w.places = appendBits(w.places, w.mask)
		slices.Sort(w.places)
		records = 0
	}
	dst = appendGroupHead(dst, &shape, n, records, len(w.places), w.mask)
	if records > 0 {
		dst = append(dst, w.bits...)
	}
	if len(w.places) == 0 {
		return dst
	}
	dst = binary.AppendUvarint(dst, uint64(len(w.places)))
	next := uint32(0)
	for _, place := range w.places {
		dst = appendWide(dst, place-next, diffs[int(place)*g.lanes:][:g.lanes])
		next = place + 1
	}
	return dst
}

// appendBits appends the indices of the bits that are set.
func appendBits(dst []uint32, bitmap []byte) []uint32 {
	for i, b := range bitmap {
		for ; b != 0; b &= b - 1 {
			dst = append(dst, uint32(i<<3|bits.TrailingZeros8(b)))
		}
	}
	return dst
}

// appendGroupHead appends mode, widths and bitmap of a group over n entities, of which some have
// records and some are wide.
func appendGroupHead(dst []byte, shape *netcode.DeltaLanes, n, records, wide int, mask []byte) []byte {
	mode := byte(modeNone)
	switch {
	case records == n:
		mode = modeEach
	case records > 0:
		mode = modeBitmap
	}
	if wide > 0 {
		mode |= modeWide
	}
	dst = append(dst, mode)
	if records > 0 {
		dst = append(dst, shape.Width[:shape.Lanes]...)
	}
	if records > 0 && records < n {
		dst = append(dst, mask...)
	}
	return dst
}

// appendWide appends an entry of the wide part.
func appendWide(dst []byte, gap uint32, diffs []int32) []byte {
	dst = append(binary.AppendUvarint(dst, uint64(gap)), 0)
	at := len(dst) - 1
	for lane, v := range diffs {
		if v != 0 {
			dst[at] |= 1 << lane
			dst = binary.AppendVarint(dst, int64(v))
		}
	}
	return dst
}

// bitWriter appends a bit stream.
type bitWriter struct {
	dst  []byte
	bits uint64 // those that fill no byte yet, and zeros
	fill uint
}

// put appends the low bits of v, at most 32.
func (w *bitWriter) put(v uint32, width uint) {
	w.bits |= uint64(v) & (1<<width - 1) << w.fill
	for w.fill += width; w.fill >= 8; w.fill -= 8 {
		w.dst = append(w.dst, byte(w.bits))
		w.bits >>= 8
	}
}

// done fills the last byte and returns the result.
func (w *bitWriter) done() []byte {
	if w.fill > 0 {
		w.dst = append(w.dst, byte(w.bits))
	}
	return w.dst
}
