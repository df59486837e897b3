//go:build cgo

package native

import (
	"unsafe"

	"github.com/evertick/evertick/csrc"
)

// The parts of a sieve are passed to C by address.
var (
	_ [csrc.TorusSize]byte    = [unsafe.Sizeof(torus{})]byte{}
	_ [csrc.CentreSize]byte   = [unsafe.Sizeof(centre{})]byte{}
	_ [csrc.CentresSize]byte  = [unsafe.Sizeof(centres{})]byte{}
	_ [csrc.ListSize]byte     = [unsafe.Sizeof(list{})]byte{}
	_ [csrc.ProgressSize]byte = [unsafe.Sizeof(progress{})]byte{}
	_ [csrc.LongList]byte     = [longList]byte{}
	_ [csrc.Sweep]byte        = [sweepRun]byte{}
)

func streamC(l Level, s *Sieve, c *Columns, from, to int, h *Hits) (int, Stop) {
	p := progress{at: int64(from), fill: int64(h.Fill)}
	var lists unsafe.Pointer
	if len(s.lists) > 0 {
		lists = unsafe.Pointer(&s.lists[0])
	}
	how := csrc.Stream(cLevels[l], unsafe.Pointer(&s.torus), s.bits, s.rank, lists,
		s.ids, unsafe.Pointer(unsafe.SliceData(s.blocks)), unsafe.Pointer(unsafe.SliceData(s.centres)),
		c.X, c.Y, c.Z, c.limit(), c.Slots, c.Category, c.Live, to, h.Query, h.Slot, h.Dist2, unsafe.Pointer(&p))
	h.Fill = int(p.fill)
	return int(p.at), Stop(how)
}

func sweepC(l Level, s *Sieve, c *Columns, at *Position, to int, h *Hits) bool {
	p := progress{int64(at.At), int64(at.Wide), int64(h.Fill)}
	how := csrc.SweepWide(cLevels[l], s.wide, unsafe.Pointer(unsafe.SliceData(s.centres)),
		c.X, c.Y, c.Z, c.limit(), c.Slots, c.Category, c.Live, to, h.Query, h.Slot, h.Dist2, unsafe.Pointer(&p))
	if how == 2 {
		panic("native: Sweep: a slot lies beyond the columns")
	}
	at.At, at.Wide, h.Fill = int(p.at), int(p.wide), int(p.fill)
	return how == 0
}
