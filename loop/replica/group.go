package replica

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/evertick/evertick/native"
)

// appendGroup appends the changes of a public group for the entities that stay.
func (s *source) appendGroup(dst []byte, g int, d *delta, predicted bool) []byte {
	w, group := &s.work, s.groups[g]
	guess := predicted && group.Predicted
	young, others := (*groupDelta)(nil), (*groupDelta)(nil)
	if guess {
		young, others = s.predicted(d)
	} else {
		others = s.plain(d, g)
		young = others
	}
	if !young.any && !others.any {
		return append(dst, modeNone)
	}
	n := len(w.merged.Stays)
	w.gathered.Reserve(n, others.width)
	native.Gather(s.level, w.merged.Stays, young.Source, others.Source, others.width, &w.gathered)
	w.places = append(w.places[:0], w.gathered.Wide...)
	records := count(w.gathered.Mask)
	if few := records*(8*2+int(others.width)+8*group.lanes) < 8*len(w.gathered.Mask)+records*int(others.width); few && records > 0 {
		w.places = appendBits(w.places, w.gathered.Mask)
		slices.Sort(w.places)
		records = 0
	}
	dst = appendGroupHead(dst, &others.shape, n, records, len(w.places), w.gathered.Mask)
	if records > 0 {
		dst = append(dst, w.gathered.Bits...)
	}
	if len(w.places) == 0 {
		return dst
	}
	now, base, before := s.at(g, s.captures), s.at(g, d.base), -1
	if guess {
		before = s.at(g, d.base-1)
	}
	dst = binary.AppendUvarint(dst, uint64(len(w.places)))
	next := uint32(0)
	for _, place := range w.places {
		entry, previous := w.merged.Stays[place], before
		if entry&native.Young != 0 {
			previous = -1
		}
		diffs := s.difference(group, now, base, previous, entry&slotBits, &w.row)
		dst = appendWide(dst, place-next, diffs[:group.lanes])
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
func appendGroupHead(dst []byte, shape *native.DeltaLanes, n, records, wide int, mask []byte) []byte {
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

// appendDiffs appends a group of as many entities as there are rows of differences.
func (w *scratch) appendDiffs(dst []byte, g *group, diffs []int32) []byte {
	n := len(diffs) / g.lanes
	shape := native.DeltaLanes{Lanes: g.lanes, Bits: g.bits}
	w.samples = w.samples[:0]
	for i, most := 0, min(n, mostSamples); i < most; i++ {
		w.addSample(diffs[i*n/most*g.lanes:][:g.lanes])
	}
	w.chooseWidths(&shape)
	out := &w.gathered
	out.Mask, w.places = sized(out.Mask, (n+7)/8), w.places[:0]
	clear(out.Mask)
	b := bitWriter{dst: out.Bits[:0]}
	records := 0
	for i := range n {
		row := diffs[i*g.lanes:][:g.lanes]
		changed, fits := false, true
		for lane, v := range row {
			changed = changed || v != 0
			fits = fits && bitsOf(v) <= shape.Width[lane]
		}
		if changed && !fits {
			w.places = append(w.places, uint32(i))
		}
		if !changed || !fits {
			continue
		}
		records++
		out.Mask[i>>3] |= 1 << (i & 7)
		for lane, v := range row {
			b.put(uint32(v), uint(shape.Width[lane]))
		}
	}
	out.Bits = b.done()
	dst = appendGroupHead(dst, &shape, n, records, len(w.places), out.Mask)
	if records > 0 {
		dst = append(dst, out.Bits...)
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
