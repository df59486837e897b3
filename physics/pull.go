package physics

import (
	"math"

	"github.com/evertick/evertick/internal/check"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/rigid"
)

// Pull is the reverse of Sync: where the position or the rotation of an entity differs by any bit from what Sync has
// written last, a program has moved the entity, and Pull teleports its body there. The velocity stays, and so do
// components that were not written. Pull ignores bodies that Sync has not written yet, and the third axis. If both
// the entity and the body have moved since, the entity wins.
//
// Pull reads a rotation like Plane.Angle: its length does not matter, and one that turns out
// of the plane is ErrRange, by the rule of the section "The plane" in the package comment. The
// zero quaternion leaves the angle unchanged.
//
// A written component that is not finite is ErrNotFinite, and one of 2^63 or more is ErrRange. Both errors name body,
// slot and column, and no body moves. Pull refuses slots outside the slices like Sync. Of bodies that share a slot,
// Pull moves the one that Sync has written. Pull allocates nothing; it panics if the slices differ in length.
func (w *World) Pull(t Transforms) error {
	n, ok := t.length()
	if !ok {
		panic("physics: Pull: slices of unequal length")
	}
	if w.failed != nil {
		return w.failed
	}
	slots := w.cols.Slot[:w.Rows()]
	if err := checkSlots("physics: Pull", slots, n); err != nil {
		return err
	}
	p := pull{w: w, t: t, e: w.entities(&t)}
	if any, err := p.check(slots); err != nil || !any {
		return err
	}
	for i := range w.changedEntities(&p.e, slots) {
		if err := p.teleport(i, slots[i]); err != nil {
			return err // of an engine that cannot go on
		}
	}
	return nil
}

// AppendWritten appends the slots of the bodies that Pull would teleport, in the order of the bodies. It appends none if
// Pull would refuse a slot. A program that draws between two steps must not interpolate these entities.
func (w *World) AppendWritten(dst []uint32, t Transforms) []uint32 {
	n, ok := t.length()
	if !ok {
		panic("physics: AppendWritten: slices of unequal length")
	}
	slots := w.cols.Slot[:w.Rows()]
	if w.failed != nil || rigid.FirstOutOfRange(slots, n) < len(slots) {
		return dst
	}
	e := w.entities(&t)
	for i := range w.changedEntities(&e, slots) {
		dst = append(dst, slots[i])
	}
	return dst
}

// pull is the state of one call of Pull.
type pull struct {
	w *World
	t Transforms
	e rigid.Entities
}

func (p *pull) positionWritten(i int, slot uint32) bool {
	s := &p.w.lastSync
	return bitsDiffer(p.e.X[slot], s.X[i]) || bitsDiffer(p.e.Y[slot], s.Y[i])
}

// rotationWritten also compares the two components that Sync sets to zero: a program that writes a quaternion
// writes all four.
func (p *pull) rotationWritten(i int, slot uint32) bool {
	s := &p.w.lastSync
	return bitsDiffer(p.e.QuatAxis[slot], s.HalfSin[i]) || bitsDiffer(p.e.QuatW[slot], s.HalfCos[i]) ||
		bitsDiffer(p.e.QuatZero[0][slot], 0) || bitsDiffer(p.e.QuatZero[1][slot], 0)
}

func bitsDiffer(a, b float32) bool { return math.Float32bits(a) != math.Float32bits(b) }

// check reports whether a body will be moved, and returns the first error.
func (p *pull) check(slots []uint32) (any bool, err error) {
	for i := range p.w.changedEntities(&p.e, slots) {
		any = true
		for _, c := range p.components() {
			if !check.InRange(c.column[slots[i]]) {
				return any, p.columnError(i, slots[i], c)
			}
		}
		if err := p.checkTilt(i, slots[i]); err != nil {
			return any, err
		}
	}
	return any, nil
}

// checkTilt refuses a rotation out of the plane. The error names the larger of the components that lead out of it.
func (p *pull) checkTilt(i int, slot uint32) error {
	t, plane := p.t, p.w.config.Plane
	q := [4]float32{t.QX[slot], t.QY[slot], t.QZ[slot], t.QW[slot]}
	if !plane.Tilts(q) {
		return nil
	}
	tilt, _ := plane.turn(q)
	c, second := component{"QX", t.QX}, component{"QY", t.QY}
	if plane == XZ {
		second = component{"QZ", t.QZ}
	}
	if max(tilt[1], -tilt[1]) > max(tilt[0], -tilt[0]) {
		c = second
	}
	return check.Because(p.columnError(i, slot, c), "turns out of the plane "+plane.String())
}

// component is a column that Pull reads.
type component struct {
	name   string
	column []float32
}

func (p *pull) components() [6]component {
	t, second := p.t, "Y"
	if p.w.config.Plane == XZ {
		second = "Z"
	}
	return [...]component{{"X", t.X}, {second, p.e.Y}, {"QX", t.QX}, {"QY", t.QY}, {"QZ", t.QZ}, {"QW", t.QW}}
}

func (p *pull) columnError(i int, slot uint32, c component) error {
	v, err := c.column[slot], ErrRange
	if !fault.Finite(v) {
		err = ErrNotFinite
	}
	b, _ := p.w.BodyAt(i)
	return fault.Element(err, "physics: Pull: "+b.String()+": Transforms."+c.name, int(slot), v)
}

// teleport moves a body to its entity.
func (p *pull) teleport(i int, slot uint32) error {
	w, c := p.w, &p.w.cols
	x, y := c.X[i], c.Y[i]
	if p.positionWritten(i, slot) {
		x, y = p.e.X[slot], p.e.Y[slot]
	}
	sin, cos := c.Sin[i], c.Cos[i]
	turned := p.rotationWritten(i, slot)
	if turned {
		sin, cos = p.writtenRotation(slot, sin, cos)
	}
	w.lastSync.put(i, p.e.X[slot], p.e.Y[slot], p.e.QuatAxis[slot], p.e.QuatW[slot])
	return w.engine.place(i, x, y, sin, cos, turned)
}

// writtenRotation returns sine and cosine of the written rotation, or the given ones if it is the zero quaternion.
func (p *pull) writtenRotation(slot uint32, sin, cos float32) (float32, float32) {
	z := p.e.QuatAxis[slot]
	if p.e.Flip {
		z = -z
	}
	if s, c, ok := doubleAngle(z, p.e.QuatW[slot]); ok {
		return s, c
	}
	return sin, cos
}
