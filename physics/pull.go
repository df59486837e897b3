package physics

import (
	"math"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/native/rigid"
)

// Pull is Sync the other way: where the position or the rotation of an entity is not what
// Sync has written last, bit for bit, somebody has moved the entity, and its body is put
// there. Its velocity stays. What was not written stays as the body has it; a body that Sync
// has not written yet, and the third axis, are left alone. If both the entity and the body
// were moved since, the entity wins.
//
// A rotation is taken as Plane.Angle reads it: its length does not matter, and one that turns out
// of the plane is ErrRange, by the rule of the section "The plane" in the package comment. The
// zero quaternion leaves the angle as it is.
//
// A component that was written and is not finite, or is 2^63 and more, is ErrNotFinite or
// ErrRange. Both errors name body, slot and column, and no body is put anywhere. Slots outside the
// slices are refused as by Sync. Of bodies that share a slot the one that Sync has written
// is put there. Pull allocates nothing; it panics if the slices differ in length.
func (w *World) Pull(t Transforms) error {
	n, ok := t.rows()
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
	p := pulling{w: w, t: t, e: w.entities(&t)}
	if any, err := p.check(slots); err != nil || !any {
		return err
	}
	for i := range w.moved(&p.e, slots) {
		if err := p.take(i, slots[i]); err != nil {
			return err // of an engine that cannot go on
		}
	}
	return nil
}

// pulling is a Pull.
type pulling struct {
	w *World
	t Transforms
	e rigid.Entities
}

func (p *pulling) placed(i int, slot uint32) bool {
	s := &p.w.synced
	return differ(p.e.X[slot], s.X[i]) || differ(p.e.Y[slot], s.Y[i])
}

// turned looks at the two components that Sync leaves zero, too: who writes a quaternion
// writes all four.
func (p *pulling) turned(i int, slot uint32) bool {
	s := &p.w.synced
	return differ(p.e.QuatAxis[slot], s.HalfSin[i]) || differ(p.e.QuatW[slot], s.HalfCos[i]) ||
		differ(p.e.QuatZero[0][slot], 0) || differ(p.e.QuatZero[1][slot], 0)
}

func differ(a, b float32) bool { return math.Float32bits(a) != math.Float32bits(b) }

// check reports whether a body will be put somewhere, and refuses what none can be.
func (p *pulling) check(slots []uint32) (any bool, err error) {
	for i := range p.w.moved(&p.e, slots) {
		any = true
		for _, c := range p.components() {
			if !usable(c.column[slots[i]]) {
				return any, p.refuse(i, slots[i], c)
			}
		}
		if err := p.checkTilt(i, slots[i]); err != nil {
			return any, err
		}
	}
	return any, nil
}

// checkTilt refuses a rotation out of the plane, naming the larger of the components that lead out.
func (p *pulling) checkTilt(i int, slot uint32) error {
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
	return because(p.refuse(i, slot, c), "turns out of the plane "+plane.String())
}

// component is a column of what Pull reads.
type component struct {
	name   string
	column []float32
}

func (p *pulling) components() [6]component {
	t, second := p.t, "Y"
	if p.w.config.Plane == XZ {
		second = "Z"
	}
	return [...]component{{"X", t.X}, {second, p.e.Y}, {"QX", t.QX}, {"QY", t.QY}, {"QZ", t.QZ}, {"QW", t.QW}}
}

func (p *pulling) refuse(i int, slot uint32, c component) error {
	v, err := c.column[slot], ErrRange
	if !fault.Finite(v) {
		err = ErrNotFinite
	}
	b, _ := p.w.BodyAt(i)
	return fault.Element(err, "physics: Pull: "+b.String()+": Transforms."+c.name, int(slot), v)
}

// take puts a body where its entity is.
func (p *pulling) take(i int, slot uint32) error {
	w, c := p.w, &p.w.cols
	x, y := c.X[i], c.Y[i]
	if p.placed(i, slot) {
		x, y = p.e.X[slot], p.e.Y[slot]
	}
	sin, cos := c.Sin[i], c.Cos[i]
	turned := p.turned(i, slot)
	if turned {
		sin, cos = p.angle(slot, sin, cos)
	}
	w.synced.put(i, p.e.X[slot], p.e.Y[slot], p.e.QuatAxis[slot], p.e.QuatW[slot])
	switch {
	case w.solver == nil:
		return w.engine.SetTransform(i, [2]float32{x, y}, rigid.Atan2(sin, cos))
	case turned:
		w.solver.setRotation(i, sin, cos)
	}
	c.X[i], c.Y[i] = x, y
	w.solver.teleported(i)
	return nil
}

// angle returns sine and cosine of the turn that was written, or those given if there is none.
func (p *pulling) angle(slot uint32, sin, cos float32) (float32, float32) {
	z := p.e.QuatAxis[slot]
	if p.e.Flip {
		z = -z
	}
	if s, c, ok := double(z, p.e.QuatW[slot]); ok {
		return s, c
	}
	return sin, cos
}
