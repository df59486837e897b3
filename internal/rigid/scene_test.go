package rigid_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/evertick/evertick/internal/broad"
	"github.com/evertick/evertick/internal/rigid"
)

// scene is the input of rigid.Collide.
type scene struct {
	shapes []rigid.Shape
	bodyOf []uint32
	poses  rigid.Poses
	pairs  broad.Pairs
}

func (s *scene) body(x, y, angle float64) uint32 {
	sin, cos := math.Sincos(angle)
	return s.bodyAt(float32(x), float32(y), float32(cos), float32(sin))
}

func (s *scene) bodyAt(x, y, cos, sin float32) uint32 {
	p := &s.poses
	p.X, p.Y, p.Cos, p.Sin = append(p.X, x), append(p.Y, y), append(p.Cos, cos), append(p.Sin, sin)
	return uint32(len(p.X) - 1)
}

// add puts a shape on a body of its own.
func (s *scene) add(shape rigid.Shape, x, y, angle float64) uint32 {
	s.shapes, s.bodyOf = append(s.shapes, shape), append(s.bodyOf, s.body(x, y, angle))
	return uint32(len(s.shapes) - 1)
}

func (s *scene) pair(a, b uint32) {
	s.pairs.A, s.pairs.B = append(s.pairs.A, a), append(s.pairs.B, b)
}

// made is for constructors whose arguments are known to be good.
func made(shape rigid.Shape, err error) rigid.Shape {
	if err != nil {
		panic(err)
	}
	return shape
}

func box(hx, hy, radius float32) rigid.Shape        { return made(rigid.MakeBox(hx, hy, radius)) }
func disc(radius float32) rigid.Shape               { return made(rigid.MakeCircle(rigid.Vec{}, radius)) }
func capsule(p, q rigid.Vec, r float32) rigid.Shape { return made(rigid.MakeCapsule(p, q, r)) }

func within(rng *rand.Rand, lo, hi float64) float64 { return lo + (hi-lo)*rng.Float64() }

// randomHull returns a convex polygon of 3 to 8 corners on an ellipse, about a metre
// across; of many draws, some are thin.
func randomHull(rng *rand.Rand, radius float32) rigid.Shape {
	for {
		angles := make([]float64, 3+rng.IntN(6))
		for i := range angles {
			angles[i] = within(rng, 0, 2*math.Pi)
		}
		slices.Sort(angles)
		a, b, tilt := within(rng, 0.05, 0.7), within(rng, 0.05, 0.7), within(rng, 0, 7)
		corners := make([]rigid.Vec, len(angles))
		for i, angle := range angles {
			x, y := a*math.Cos(angle), b*math.Sin(angle)
			corners[i] = rigid.Vec{X: float32(x*math.Cos(tilt) - y*math.Sin(tilt)), Y: float32(x*math.Sin(tilt) + y*math.Cos(tilt))}
		}
		if s, err := rigid.MakePolygon(corners, radius); err == nil {
			return s
		}
	}
}

// randomShape draws any kind of shape, about a metre across.
func randomShape(rng *rand.Rand) rigid.Shape {
	radius := float32(0)
	if rng.IntN(2) == 0 {
		radius = float32(within(rng, 0.01, 0.3))
	}
	at := func() rigid.Vec {
		return rigid.Vec{X: float32(within(rng, -0.6, 0.6)), Y: float32(within(rng, -0.6, 0.6))}
	}
	var s rigid.Shape
	switch rng.IntN(6) {
	case 0:
		s = disc(float32(within(rng, 0.05, 0.7)))
	case 1, 2:
		s = box(float32(within(rng, 0.1, 0.6)), float32(within(rng, 0.1, 0.6)), radius)
	case 3:
		p := at()
		s = made(rigid.MakeSegment(p, rigid.Vec{X: p.X + 0.1 + rng.Float32(), Y: p.Y + rng.Float32()}))
	case 4:
		p := at()
		s = capsule(p, rigid.Vec{X: p.X + 0.1 + rng.Float32(), Y: p.Y + rng.Float32()}, float32(within(rng, 0.02, 0.4)))
	default:
		s = randomHull(rng, radius)
	}
	if rng.IntN(3) == 0 {
		sin, cos := math.Sincos(within(rng, 0, 7))
		s = s.Transformed(at(), float32(cos), float32(sin))
	}
	return s
}

// randomScene draws pairs of random shapes of which about half touch. Angles are
// often equal, or differ by right angles, so that edges lie on each other.
func randomScene(rng *rand.Rand, pairs int) *scene {
	s := &scene{}
	for range pairs {
		turn := within(rng, 0, 2*math.Pi)
		turns := [2]float64{turn, within(rng, 0, 2*math.Pi)}
		switch rng.IntN(4) {
		case 0:
			turns[1] = turn + math.Pi/2*float64(rng.IntN(4))
		case 1:
			turns[1] = turn + within(rng, -1e-3, 1e-3)
		}
		x, y := within(rng, -50, 50), within(rng, -50, 50)
		far := within(rng, 0, 1.6)
		sin, cos := math.Sincos(within(rng, 0, 7))
		a := s.add(randomShape(rng), x, y, turns[0])
		b := s.add(randomShape(rng), x+far*cos, y+far*sin, turns[1])
		s.pair(a, b)
	}
	return s
}

// collide runs the specification.
func (s *scene) collide(t testing.TB) []rigid.Manifold {
	out := make([]rigid.Manifold, len(s.pairs.A))
	rigid.Collide(goLevel, s.shapes, s.bodyOf, &s.poses, &s.pairs, out)
	return out
}
