package sleep

import (
	"encoding/binary"

	"github.com/evertick/evertick/internal/bitset"
	"github.com/evertick/evertick/internal/graph"
)

// Span is a range of rows.
type Span = graph.Span

const (
	// spanRows is the most rows of a span.
	spanRows = 512

	// spanGap is the number of rows at rest that a span may include: skipping fewer rows costs more, as it takes another
	// span.
	spanGap = 256
)

// RowsOf returns the number of rows of spans.
func RowsOf(spans []Span) (rows int) {
	for _, p := range spans {
		rows += p.Hi - p.Lo
	}
	return rows
}

// appendSpans appends the ranges of rows with a bit in set, in pieces of up to spanRows.
func appendSpans(spans []Span, set bitset.Set, rows int) []Span {
	lo, hi := 0, 0
	for w, word := range set {
		if word == 0 || w*64 >= rows {
			continue
		}
		if w*64 > hi+spanGap || hi == 0 {
			spans = appendSpan(spans, lo, hi)
			lo = w * 64
		}
		hi = min(w*64+64, rows)
	}
	return appendSpan(spans, lo, hi)
}

// appendSpan appends a range of rows in pieces of up to spanRows.
func appendSpan(spans []Span, lo, hi int) []Span {
	for ; lo < hi; lo += spanRows {
		spans = append(spans, Span{Lo: lo, Hi: min(lo+spanRows, hi)})
	}
	return spans
}

// spanAll makes spans of all rows and of so many shapes.
func (z *State) spanAll(rows, shapes int) {
	z.allSpans[0] = appendSpan(z.allSpans[0][:0], 0, rows)
	z.allSpans[1] = appendSpan(z.allSpans[1][:0], 0, shapes)
	if !z.On {
		z.Spans, z.Shapes = z.allSpans[0], z.allSpans[1]
	}
}

// BoundsSpans returns the rows, and which of so many shapes, whose bounds a step updates.
func (z *State) BoundsSpans(shapes int) (rows, shapeSpans []Span) {
	if z.All {
		z.spanAll(z.rows(), shapes)
		return z.allSpans[0], z.allSpans[1]
	}
	return z.Spans, z.Shapes
}

// AllActive reports whether the spans cover all rows.
func (z *State) AllActive() bool { return RowsOf(z.Spans) == z.rows() }

// BroadVersion returns the version of what is active for broad.Phase: 0 if that may change without notice.
func (z *State) BroadVersion() uint64 {
	if z.On {
		return z.Version
	}
	return 0
}

// AnyFlag reports whether a row of an active span has a flag. It reads eight rows at a time, for flags that are asked for in each step and that most
// worlds do not have.
func (s *State) AnyFlag(flags []uint8, flag uint8) bool {
	eight := uint64(flag) * 0x0101010101010101
	for _, rows := range s.Spans {
		span, all := flags[rows.Lo:rows.Hi], uint64(0)
		for ; len(span) >= 8; span = span[8:] {
			all |= binary.LittleEndian.Uint64(span)
		}
		for _, f := range span {
			all |= uint64(f)
		}
		if all&eight != 0 {
			return true
		}
	}
	return false
}
