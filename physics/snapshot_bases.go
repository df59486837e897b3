package physics

import (
	"github.com/evertick/evertick/internal/buffer"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/frame"
	"github.com/evertick/evertick/internal/rigid"
	"github.com/evertick/evertick/internal/wire"
)

// The frame of bases holds the rigid.BaseManifold of each contact with rigid.FlagBase, in their order: sixteen float32.

const (
	baseFloats = 16
	baseBytes  = 4 * baseFloats
)

// keptBases returns the bases of contacts that have one. The slice is valid until the next call.
func (s *solver) keptBases() []rigid.BaseManifold {
	if cap(s.spareBases) < len(s.contacts) {
		s.spareBases = make([]rigid.BaseManifold, 0, cap(s.contacts))
	}
	s.spareBases = s.spareBases[:0]
	for i := range s.contacts {
		if s.contacts[i].Flags&rigid.FlagBase != 0 {
			s.spareBases = append(s.spareBases, s.bases[i])
		}
	}
	return s.spareBases
}

func (w *World) encodeBases(e *frame.Encoder) { e.Rows(buffer.Bytes(w.solver.keptBases()), 4) }

// readBases must come after the contacts were checked.
func (im *snapshotImage) readBases(b []byte) error {
	n := 0
	for i := range im.contacts {
		n += int(wire.U32At(im.contactFrame[contactBytes*i:], 3) & rigid.FlagBase)
	}
	if len(b) != baseBytes*n {
		return im.Corrupt("length of the bases", len(b))
	}
	for i := range baseFloats * n {
		if v := wire.F32At(b, i); !fault.Finite(v) {
			return im.CorruptElement("base of contact", i/baseFloats, v)
		}
	}
	im.baseFrame = b
	return nil
}

func (w *World) restoreBases(im *snapshotImage) {
	s := w.solver
	s.bases = buffer.Resized(s.bases, im.contacts)
	s.spareBases = buffer.Resized(s.spareBases, len(im.baseFrame)/baseBytes)
	frame.ReadRows(s.spareBases, im.baseFrame, 4)
	n := 0
	for i := range s.contacts {
		if s.contacts[i].Flags&rigid.FlagBase != 0 {
			s.bases[i] = s.spareBases[n]
			n++
		}
	}
}
