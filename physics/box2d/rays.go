package box2d

import (
	b2 "github.com/ByteArena/box2d"

	"github.com/evertick/evertick/physics"
)

// RayClosest returns where a segment from p first meets a shape that p is not in, as a part of
// the translation; false if it meets none. It asks the library for one ray at a time, for
// comparisons with the batches of physics.World, and panics if e is not an engine of this package.
func RayClosest(e physics.Engine, p, translation [2]float32) (fraction float32, ok bool) {
	from := vec(p)
	closest := 1.0
	see := func(_ *b2.B2Fixture, _, _ b2.B2Vec2, at float64) float64 {
		closest, ok = at, true
		return at
	}
	e.(*engine).world.RayCast(see, from, b2.B2Vec2Add(from, vec(translation)))
	return float32(closest), ok
}
