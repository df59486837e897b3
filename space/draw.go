package space

import (
	"github.com/evertick/evertick/internal/draw3"
	"github.com/evertick/evertick/physics3"
)

// AppendDrawing implements draw3.Drawer.
func (v view) AppendDrawing(d *draw3.Drawing, o draw3.Options) { draw3.World(v.world, d, o) }

// maxPickDistance is how far a ray of Pick reaches, in lengths of its direction.
const maxPickDistance = 1e6

// Pick implements draw3.Drawer. A ray that begins in a shape hits it only if nothing else is in its way.
func (v view) Pick(origin, direction [3]float32) (slot uint32, distance float32, hit bool) {
	one := func(f float32) []float32 { return []float32{f} }
	rays := physics3.Rays{
		X: one(origin[0]), Y: one(origin[1]), Z: one(origin[2]), DX: one(direction[0]), DY: one(direction[1]), DZ: one(direction[2]),
		MaxFraction: one(maxPickDistance), SkipInside: true,
	}
	rays.Sensors = true
	var hits physics3.RayHits
	if err := v.world.RayClosest(&rays, &hits); err != nil || len(hits.Shapes) == 0 || hits.Shapes[0] == (physics3.Shape{}) {
		return draw3.NoSlot, 0, false
	}
	body, err := v.world.ShapeBody(hits.Shapes[0])
	if err != nil {
		return draw3.NoSlot, 0, false
	}
	return v.slotOf[body.Index()], hits.Fractions[0], true
}
