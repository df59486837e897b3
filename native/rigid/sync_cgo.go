//go:build cgo

package rigid

import (
	csrc "github.com/evertick/evertick/csrc/rigid"
	"github.com/evertick/evertick/native"
)

func (e *Entities) synced(slots []uint32, kept *Written) csrc.Synced {
	return csrc.Synced{
		Slot: slots, KeptX: kept.X, KeptY: kept.Y, KeptSin: kept.HalfSin, KeptCos: kept.HalfCos,
		ToX: e.X, ToY: e.Y, ToTurn: e.QuatAxis, ToW: e.QuatW, ToZero1: e.QuatZero[0], ToZero2: e.QuatZero[1], Flip: e.Flip,
	}
}

func putC(l native.Level, e *Entities, o *Origins, p *Poses, slots []uint32, kept *Written, lo, hi int) {
	c := e.synced(slots, kept)
	c.X, c.Y, c.Cos, c.Sin = o.X, o.Y, p.Cos, p.Sin
	csrc.Put(cLevel(l), &c, lo, hi)
}

func differsC(l native.Level, e *Entities, slots []uint32, kept *Written, lo, hi int) int {
	c := e.synced(slots, kept)
	return csrc.Differs(cLevel(l), &c, lo, hi)
}
