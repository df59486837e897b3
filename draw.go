package evertick

import (
	"errors"

	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/physics"
)

// DrawOptions selects what AppendDraw draws.
type DrawOptions struct {
	// Bodies selects what is drawn of bodies in addition to their shapes.
	Bodies physics.DrawOptions
	// Radius of the discs that entities without a body are drawn as, in metres; the first component of Scale
	// multiplies it. 0: 0.25.
	Radius float32
	// Tags colours entities without a body: the first of these tags that an entity has is that of its colour. Others have
	// ColorEntity.
	Tags []TagColor
}

// TagColor is the colour of entities with a tag.
type TagColor struct {
	Tag   ecs.Tag
	Color physics.Color
}

// ColorEntity is the colour of entities without a body and without a tag of DrawOptions.Tags.
const ColorEntity physics.Color = 0x3a6ea5

// AppendDraw adds a picture of the present state to dst: the bodies, as physics.World.AppendDraw draws them, and a disc for
// each entity that has none, in the order of slots, in the plane of the bodies. A radius of such a disc is along the first
// axis of the entity if it is turned. What is not finite is left out.
//
// It does not change the state, and allocates nothing once dst has enough capacity. A radius that is negative is ErrRange,
// one that is not finite ErrNotFinite; other errors are those of physics.World.AppendDraw. dst is then unchanged.
func (s *Sim) AppendDraw(dst *physics.Drawing, o DrawOptions) error {
	var err error
	switch {
	case !fault.Finite(o.Radius):
		err = fault.Field(ErrNotFinite, "evertick: DrawOptions.Radius", o.Radius)
	case o.Radius < 0:
		err = fault.Field(ErrRange, "evertick: DrawOptions.Radius", o.Radius)
	case o.Radius == 0:
		o.Radius = 0.25
	}
	if err := errors.Join(err, o.Bodies.Validate()); err != nil {
		return err
	}
	if err := s.Physics.AppendDraw(dst, o.Bodies); err != nil {
		return err
	}
	for slot := range ecs.Slot(s.World.HighWater()) {
		if id, alive := s.World.ID(slot); alive {
			if _, has := s.Body(id); !has {
				s.drawEntity(dst, &o, slot)
			}
		}
	}
	return nil
}

func (s *Sim) drawEntity(dst *physics.Drawing, o *DrawOptions, slot ecs.Slot) {
	pos, q, plane := &s.World.Position, &s.World.Rotation, s.Physics.Config().Plane
	at, _ := plane.Split([3]float32{pos.X[slot], pos.Y[slot], pos.Z[slot]})
	c := physics.DrawnCircle{Center: at, Radius: o.Radius * max(s.World.Scale.X[slot], -s.World.Scale.X[slot]), Color: ColorEntity}
	if !fault.Finite(at[0]) || !fault.Finite(at[1]) || !fault.Finite(c.Radius) {
		return
	}
	for _, t := range o.Tags {
		if mask := t.Tag.Mask(); uint(slot>>6) < uint(len(mask)) && mask[slot>>6]>>(slot&63)&1 != 0 {
			c.Color = t.Color
			break
		}
	}
	w, turn := q.W[slot], q.Z[slot] // half the angle, as cosine and sine
	if plane == physics.XZ {
		turn = -q.Y[slot]
	}
	if n2 := float32(w*w) + float32(turn*turn); turn != 0 && n2 > 0 && fault.Finite(n2) {
		c.Axis = [2]float32{(float32(w*w) - float32(turn*turn)) / n2, 2 * float32(w*turn) / n2}
	}
	dst.AddCircle(c, true)
}
