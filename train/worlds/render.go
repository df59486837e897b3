package worlds

import (
	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/rigid"
	"github.com/evertick/evertick/physics"
	"github.com/evertick/evertick/train"
)

// Colours of pictures.
const (
	colorFloor  physics.Color = 0x4a4a4a
	colorLimit  physics.Color = 0xc0504d
	colorCart   physics.Color = 0x30475e
	colorPole   physics.Color = 0xd08a3e
	colorPlayer physics.Color = 0xd62f2f
	colorOther  physics.Color = 0xef8b3a // pursuers
	colorRunner physics.Color = 0x2f80e0
	colorGoal   physics.Color = 0x2e9e5b
)

// Simulations returns the definitions of this package that are simulations, for pictures of their logs.
func Simulations() []train.SimDefinition {
	return []train.SimDefinition{PushBox(), Tag()}
}

// room is the view of a square room around the origin, from wall to wall.
func room(half float32) physics.DrawnBox {
	half += 0.3
	return physics.DrawnBox{Min: [2]float32{-half, -half}, Max: [2]float32{half, half}}
}

// cartView shows the whole track, the pole above it and a bit of ground.
var cartView = physics.DrawnBox{Min: [2]float32{-cartLimit - 0.3, -0.6}, Max: [2]float32{cartLimit + 0.3, 1.5}}

// AppendDraw implements train.Renderer: the track with its ends, the cart, and the pole.
func (c *carts) AppendDraw(i int, dst *physics.Drawing) error {
	const halfWidth, height, wheel = 0.25, 0.24, 0.07
	x := c.x[i]
	sin, cos := rigid.SinCos(c.angle[i])
	tip := [2]float32{x + float32(2*halfLength*sin), height + float32(2*halfLength*cos)}
	dst.AddPolygon([][2]float32{{cartView.Min[0], 0}, {cartView.Max[0], 0}}, 0.015, colorFloor, false)
	for _, end := range [...]float32{-cartLimit, cartLimit} {
		dst.AddPolygon([][2]float32{{end, -0.12}, {end, 0.12}}, 0.02, colorLimit, false)
	}
	dst.AddPolygon([][2]float32{{x - halfWidth, wheel}, {x + halfWidth, wheel}, {x + halfWidth, height}, {x - halfWidth, height}}, 0.02, colorCart, true)
	dst.AddPolygon([][2]float32{{x, height}, tip}, 0.04, colorPole, true)
	for _, at := range [...]float32{x - 0.15, x + 0.15} {
		dst.AddCircle(physics.DrawnCircle{Center: [2]float32{at, wheel + 0.015}, Radius: wheel, Color: colorCart}, true)
	}
	return nil
}

// drawTag draws the player, the other pursuers, the runners, and the edge of the square.
func drawTag(sim *evertick.Sim, dst *physics.Drawing) error {
	corners := [...][2]float32{{-tagHalf, -tagHalf}, {tagHalf, -tagHalf}, {tagHalf, tagHalf}, {-tagHalf, tagHalf}}
	for i, from := range corners {
		dst.AddPolygon([][2]float32{from, corners[(i+1)%4]}, 0.05, colorFloor, false)
	}
	for slot := range ecs.Slot(tagAll) {
		if _, alive := sim.World.ID(slot); !alive {
			continue
		}
		c := physics.DrawnCircle{Center: [2]float32{sim.World.Position.X[slot], sim.World.Position.Y[slot]}, Radius: tagReach / 2, Color: colorRunner}
		if slot < tagPursuers {
			c.Color = colorOther
		}
		if slot == 0 {
			c.Color = colorPlayer
		}
		dst.AddCircle(c, true)
		if slot < tagPursuers { // a second ring: pursuers differ from runners without colours, too
			c.Radius /= 2
			dst.AddCircle(c, true)
		}
	}
	return nil
}

// drawPushBox draws the bodies, and the area that the box must reach.
func drawPushBox(sim *evertick.Sim, dst *physics.Drawing) error {
	if _, alive := sim.World.ID(boxGoal); alive {
		p := &sim.World.Position
		dst.AddCircle(physics.DrawnCircle{Center: [2]float32{p.X[boxGoal], p.Y[boxGoal]}, Radius: boxNear, Color: colorGoal}, true)
	}
	bodies := len(dst.Circles)
	if err := sim.Physics.AppendDraw(dst, physics.DrawOptions{}); err != nil {
		return err
	}
	for i := range dst.Circles[bodies:] { // the only disc
		dst.Circles[bodies+i].Color = colorPlayer
	}
	return nil
}
