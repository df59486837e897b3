package physics

import (
	"math"

	"github.com/evertick/evertick/internal/check"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/frame"
	"github.com/evertick/evertick/internal/wire"
)

// Span is a closed interval along the third axis: the one that Config.Plane leaves out, such as the height in a world
// seen from above, or the depth in one seen from the side. Bodies do not move along it. Two shapes touch only if their
// spans overlap or share an end. So shapes that must not touch need a gap between their spans, like the ceiling between
// two storeys.
//
// The zero Span is the whole axis. Min may be -Inf and Max +Inf. Because of this, the interval from 0 to 0 needs a Max
// that is a little greater, such as 1e-30.
type Span struct {
	// Min and Max are its ends, in metres; Min is at most Max.
	Min, Max float32
}

// check returns ErrNotFinite for an end that is NaN, and ErrRange if Min is greater than Max.
func (s Span) check(field string) error {
	switch {
	case s.Min != s.Min:
		return fault.Field(ErrNotFinite, field+".Min", s.Min)
	case s.Max != s.Max:
		return fault.Field(ErrNotFinite, field+".Max", s.Max)
	case s.Min > s.Max:
		return check.Because(fault.Field(ErrRange, field+".Min", s.Min), "greater than Max")
	}
	return nil
}

var (
	minusInf = float32(math.Inf(-1))
	plusInf  = float32(math.Inf(1))
)

// ends returns the ends of a span; those of the zero Span are infinite.
func (s Span) ends() (least, most float32) {
	if s == (Span{}) {
		return minusInf, plusInf
	}
	return s.Min, s.Max
}

// SetSpan sets the span of all shapes that b has now, at once: a lift, or a body on stairs, changes the storey. Queries
// find the shapes there from then on. In the next step, contacts with shapes of the span that they left end, with End
// events, and others begin. SetSpan wakes b and what touches it; if all shapes have this span already, it has no
// effect. If the span of a body follows the third coordinate of its entity, call SetSpan before each step. SetShapeDef
// sets the span of one shape. Errors: ErrStale; ErrNotFinite and ErrRange for a span that ShapeDef.Validate refuses; and
// ErrUnsupported from another engine.
func (w *World) SetSpan(b Body, span Span) error {
	body, err := w.solverRow(b)
	if err == nil {
		err = span.check("physics: SetSpan: span")
	}
	if err != nil {
		return err
	}
	t, change := &w.solver.shapes, false
	for shape := range w.shapes.Of(body) {
		if t.setSpan(shape, span) {
			w.shapes.Digest[shape] = t.digest(shape)
			change = true
		}
	}
	if change {
		w.solver.wakeShifted(body)
	}
	return nil
}

// wakeShifted wakes a body with a new span, and what touches it. A dynamic body that is awake finds its contacts anew
// in each step, and wakes what it touches or leaves then.
func (s *solver) wakeShifted(body int) {
	if s.cols.Type[body] == DynamicBody && s.sleep.Awake(body) {
		s.sleep.Wake(body)
		return
	}
	s.sleep.WakeUnlessNew(body)
}

// setSpan sets the span of a shape, and reports whether that changed it.
func (t *shapeColumns) setSpan(shape int, span Span) bool {
	least, most := span.ends()
	before, f := t.span(shape), &t.filters
	if a, b := before.ends(); a == least && b == most {
		return false
	}
	t.shifted++
	if before != (Span{}) {
		t.spans--
	}
	if least != minusInf || most != plusInf {
		t.spans++
	}
	if t.spans == 0 {
		f.SpanMin, f.SpanMax = f.SpanMin[:0], f.SpanMax[:0]
		return true
	}
	for len(f.SpanMin) < len(f.Body) {
		f.SpanMin, f.SpanMax = append(f.SpanMin, minusInf), append(f.SpanMax, plusInf)
	}
	f.SpanMin[shape], f.SpanMax[shape] = least, most
	return true
}

// span returns the span of a shape: zero for the whole axis.
func (t *shapeColumns) span(shape int) Span {
	if t.spans == 0 {
		return Span{}
	}
	s := Span{t.filters.SpanMin[shape], t.filters.SpanMax[shape]}
	if s.Min == minusInf && s.Max == plusInf {
		return Span{}
	}
	return s
}

// meets reports whether the span of a shape overlaps another span.
func (t *shapeColumns) meets(shape int, span Span) bool {
	if t.spans == 0 {
		return true
	}
	least, most := span.ends()
	return t.filters.SpanMin[shape] <= most && least <= t.filters.SpanMax[shape]
}

// The frame "spans": a uint32 number of a shape and two float32 for each shape with a span, ascending.

const spanBytes = 3 * 4

func (w *World) encodeSpans(e *frame.Encoder) {
	t := &w.solver.shapes
	if t.spans > 0 {
		for i := range t.local {
			if s := t.span(i); s != (Span{}) {
				e.U32(i)
				e.F32(s.Min)
				e.F32(s.Max)
			}
		}
	}
}

func (im *snapshotImage) readSpans(b []byte) error {
	if len(b)%spanBytes != 0 {
		return im.Corrupt("length of the spans", len(b))
	}
	next, r := uint32(0), wire.NewReader(b)
	for i := range len(b) / spanBytes {
		shape, span := r.U32(), Span{r.F32(), r.F32()}
		least, most := span.ends()
		if shape < next || uint64(shape) >= uint64(len(im.made)) || im.made[shape].Count == 0 ||
			span.check("") != nil || least == minusInf && most == plusInf {
			return im.CorruptElement("span", i, shape)
		}
		im.made[shape].def.Span = span
		next = shape + 1
	}
	return nil
}
