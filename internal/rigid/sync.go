package rigid

import (
	"math"

	"github.com/evertick/evertick/native"
)

// NoSlot marks a body that drives no entity.
const NoSlot = native.NoSlot

// Entities are columns with an element per entity: its position in the plane, and the quaternion of its rotation. For
// a rotation in the plane two components of the quaternion are zero.
type Entities struct {
	X, Y, QuatAxis, QuatW []float32
	QuatZero              [2][]float32
	Flip                  bool // a rotation in the plane has the opposite sign in the quaternion
}

// Written are columns with an element per body: the values that Write has written last. X is NaN for bodies that it
// has not written.
type Written struct {
	X, Y, HalfSin, HalfCos []float32
}

// Write writes the origins and rotations of bodies [lo, hi) to the entities of their slots, and to kept. A slot is
// the number of an entity, or NoSlot: such a body is skipped. If bodies share a slot, the last one wins.
func (e *Entities) Write(level native.Level, o *Origins, p *Poses, slots []uint32, kept *Written, lo, hi int) {
	e.check(slots, kept)
	n := len(slots)
	if len(o.X) < n || len(o.Y) < n || len(p.Cos) < n || len(p.Sin) < n {
		panic("rigid: Entities.Write: fewer bodies than slots")
	}
	_ = slots[lo:hi]
	e.checkSlots(slots[lo:hi])
	kernelsFor(level, hi-lo).writeEntities(*e, *o, *p, slots, *kept, lo, hi)
}

func (e Entities) writeGo(o Origins, p Poses, slots []uint32, kept Written, lo, hi int) {
	for i := lo; i < hi; i++ {
		slot := slots[i]
		if slot == NoSlot {
			continue
		}
		sin, cos := halfAngle(p.Sin[i], p.Cos[i])
		if e.Flip {
			sin = 0 - sin // not -sin: no rotation gives +0
		}
		kept.X[i], kept.Y[i], kept.HalfSin[i], kept.HalfCos[i] = o.X[i], o.Y[i], sin, cos
		e.X[slot], e.Y[slot], e.QuatAxis[slot], e.QuatW[slot] = o.X[i], o.Y[i], sin, cos
		e.QuatZero[0][slot], e.QuatZero[1][slot] = 0, 0
	}
}

// halfAngle returns sine and cosine of half the angle in [-π, π] with the given sine and cosine.
func halfAngle(s, c float32) (sin, cos float32) {
	root := sqrt(float32(0.5 * (1 + abs(c))))
	half := s / (root + root)
	if !(c < 0) {
		return half, root
	}
	return float32(math.Copysign(float64(root), float64(s))), abs(half)
}

// FirstChanged returns the first body of [lo, hi) whose entity differs by any bit from what Write has written, or hi:
// X, Y, QuatAxis and QuatW differ from those kept, or one of QuatZero is not +0. It skips bodies without a slot, and
// bodies that Write has not written. It panics as Write does.
func (e *Entities) FirstChanged(level native.Level, slots []uint32, kept *Written, lo, hi int) int {
	e.check(slots, kept)
	_ = slots[lo:hi]
	e.checkSlots(slots[lo:hi])
	return kernelsFor(level, hi-lo).firstChanged(*e, slots, *kept, lo, hi)
}

func (e Entities) firstChangedGo(slots []uint32, kept Written, lo, hi int) int {
	for i := lo; i < hi; i++ {
		if e.changed(slots[i], &kept, i) {
			return i
		}
	}
	return hi
}

func (e *Entities) changed(slot uint32, kept *Written, i int) bool {
	bits := math.Float32bits
	if slot == NoSlot || kept.X[i] != kept.X[i] {
		return false
	}
	return (bits(e.X[slot])^bits(kept.X[i]))|(bits(e.Y[slot])^bits(kept.Y[i]))|
		(bits(e.QuatAxis[slot])^bits(kept.HalfSin[i]))|(bits(e.QuatW[slot])^bits(kept.HalfCos[i]))|
		bits(e.QuatZero[0][slot])|bits(e.QuatZero[1][slot]) != 0
}

func (e *Entities) check(slots []uint32, kept *Written) {
	for _, c := range [...][]float32{e.Y, e.QuatAxis, e.QuatW, e.QuatZero[0], e.QuatZero[1]} {
		if len(c) != len(e.X) {
			panic("rigid: Entities: columns differ in length")
		}
	}
	for _, c := range [...][]float32{kept.X, kept.Y, kept.HalfSin, kept.HalfCos} {
		if len(c) < len(slots) {
			panic("rigid: Entities: fewer bodies than slots")
		}
	}
}

func (e *Entities) checkSlots(slots []uint32) {
	if FirstOutOfRange(slots, len(e.X)) < len(slots) {
		panic("rigid: Entities: a slot is beyond the entities")
	}
}

// FirstOutOfRange returns the first index of a slot, other than NoSlot, that is n or more; or the number of
// slots.
func FirstOutOfRange(slots []uint32, n int) int {
	most := uint32(0) // of slots plus one; NoSlot is 0
	for _, slot := range slots {
		most = max(most, slot+1)
	}
	if uint64(most) <= uint64(n) {
		return len(slots)
	}
	for i, slot := range slots {
		if slot != NoSlot && uint64(slot) >= uint64(n) {
			return i
		}
	}
	return len(slots)
}
