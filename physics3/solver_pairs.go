package physics3

import (
	"bytes"
	"unsafe"

	"github.com/evertick/evertick/internal/broad"
	"github.com/evertick/evertick/internal/buffer"
)

// pairFilter removes pairs of the broad phase, in parts that workers share.
type pairFilter struct {
	classes []pairClass // by shape
	version uint64      // of the shapes that the classes belong to, plus one
	ignores bool        // some bodies pass through each other
	parts   []pairPart
}

// pairClass is what decides whether a pair of shapes has a contact, as bits: one byte, since each pair reads those of two shapes anywhere.
type pairClass uint8

const (
	classDynamic pairClass = 1 << iota // of a dynamic body
	classMoves                         // of a body that is not static
	classSensor
	classSurface
	classSeam // can be joined to others
)

// pairPart is the results of a part.
type pairPart struct {
	kept     int // the pairs that stay are the first of the part
	surfaces broad.Pairs
	seams    broad.Pairs // pairs that stay, and of which one shape can be joined to others
}

// filterPart is the number of pairs of a part.
const filterPart = 2048

// filterPairs removes the pairs without effect: two sensors, two solid shapes of which neither belongs to a dynamic body, and two shapes of
// static bodies, of which one was changed. It also removes the pairs of bodies that ignore each other, or whose joint prevents collision. Pairs with a
// surface go to their own list. Those that stay, and may have seams, are listed for these.
func (s *solver) filterPairs() {
	f, t, n := &s.filter, &s.shapes, len(s.pairs.A)
	s.surfaces.pairs.Reset()
	joins := s.beginSeams()
	f.ignores = s.ignoresPairs()
	if n == 0 || !joins && t.surfaces == 0 && t.sensors == 0 && len(s.sleep.ActiveOnce) == 0 && !f.ignores && !s.anyKinematic() {
		return // one body of each pair is dynamic
	}
	s.updateClasses()
	parts := (n + filterPart - 1) / filterPart
	for f.parts = f.parts[:min(parts, cap(f.parts))]; len(f.parts) < parts; {
		f.parts = append(f.parts, pairPart{})
	}
	s.stages.ForParts(parts, (*solver).filterParts)
	kept := 0
	for i := range f.parts {
		p, lo := &f.parts[i], i*filterPart
		if kept < lo {
			copy(s.pairs.A[kept:], s.pairs.A[lo:lo+p.kept])
			copy(s.pairs.B[kept:], s.pairs.B[lo:lo+p.kept])
		}
		kept += p.kept
		s.surfaces.pairs.A, s.surfaces.pairs.B = append(s.surfaces.pairs.A, p.surfaces.A...), append(s.surfaces.pairs.B, p.surfaces.B...)
		for k, a := range p.seams.A {
			s.seams.scene.AddPair(a, p.seams.B[k])
		}
	}
	s.pairs.A, s.pairs.B = s.pairs.A[:kept], s.pairs.B[:kept]
}

func (s *solver) filterParts(lo, hi int) {
	for part := lo; part < hi; part++ {
		from := part * filterPart
		s.filterPart(&s.filter.parts[part], from, min(from+filterPart, len(s.pairs.A)))
	}
}

// filterPart filters pairs [lo, hi). Those that stay move to the front.
func (s *solver) filterPart(p *pairPart, lo, hi int) {
	classes, ignores, n := s.filter.classes, s.filter.ignores, 0
	p.surfaces.Reset()
	p.seams.Reset()
	as, bs := s.pairs.A[lo:hi], s.pairs.B[lo:hi]
	for i, a := range as {
		b := bs[i]
		x, y := classes[a], classes[b]
		either := x | y
		if either&classSensor != 0 {
			if (x^y)&classSensor == 0 || either&classMoves == 0 {
				continue
			}
		} else if either&classDynamic == 0 {
			continue
		}
		if ignores && s.pairIgnored(a, b) {
			continue
		}
		if either&classSurface != 0 {
			if x&y&classSurface == 0 {
				p.surfaces.Add(a, b)
			}
			continue
		}
		if either&classSeam != 0 {
			p.seams.Add(a, b)
		}
		as[n], bs[n] = a, b
		n++
	}
	p.kept = n
}

// updateClasses computes the classes of shapes that have changed. Those of seams must be known.
func (s *solver) updateClasses() {
	f, t := &s.filter, &s.shapes
	if f.version == t.version+1 {
		return
	}
	f.version = t.version + 1
	f.classes = buffer.Resized(f.classes, len(t.shape))
	for i := range f.classes {
		class := pairClass(0)
		switch s.cols.Type[t.filters.Body[i]] {
		case DynamicBody:
			class = classDynamic | classMoves
		case KinematicBody:
			class = classMoves
		}
		if t.sensor[i] {
			class |= classSensor
		}
		if t.surface[i] != nil {
			class |= classSurface
		}
		if s.seams.scene.Kinds[i] != 0 {
			class |= classSeam
		}
		f.classes[i] = class
	}
}

func (s *solver) anyKinematic() bool {
	types := s.cols.Type[:s.rows()]
	return bytes.IndexByte(unsafe.Slice((*byte)(unsafe.SliceData(types)), len(types)), byte(KinematicBody)) >= 0
}
