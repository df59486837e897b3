package scenes

import (
	"math"

	"github.com/evertick/evertick/internal/rigid"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/physics"
)

func init() {
	registerBodies(Definition{
		Name: "spinner", N: 6000, Scale: "bodies", Ticks: 300, Warmup: 160, Continuous: true, build: (*Scene).spinner, size: func(n int) int { return n },
		Help: "n discs, capsules and boxes of 0.5 m, by turns, in a round chain in which a paddle turns",
	}, Definition{
		Name: "washer", N: 6000, Scale: "boxes", Ticks: 300, Warmup: 160, Continuous: true, build: (*Scene).washer, size: func(n int) int { return n },
		Help: "n boxes of 0.5 m in a round drum of 48 segments with 12 fins that turns",
	})
}

// direction returns the unit vector that points to the i-th of n equal parts of a circle.
func direction(i, n int) (x, y float32) {
	y, x = rigid.SinCos(2*math.Pi*float32(i)/float32(n) - math.Pi)
	return x, y
}

// scatter calls create for the places of a square grid that lie within a circle, in rows from below, until it has
// done so n times. pitch is as large as it can be.
func scatter(n int, radius float32, create func(i int, x, y float32) error) error {
	inside := func(across int, do func(x, y float32) error) (found int, err error) {
		pitch := 2 * radius / float32(across)
		for i := 0; i < across*across && found < n && err == nil; i++ {
			x := float32((float32(i%across)+0.5)*pitch) - radius
			y := float32((float32(i/across)+0.5)*pitch) - radius
			if float32(x*x)+float32(y*y) <= float32(radius*radius) {
				err = do(x, y)
				found++
			}
		}
		return found, err
	}
	across := columns(n)
	for ; ; across++ {
		if found, _ := inside(across, func(_, _ float32) error { return nil }); found == n {
			break
		}
	}
	i := 0
	_, err := inside(across, func(x, y float32) error {
		i++
		return create(i-1, x, y)
	})
	return err
}

// spinner fills 40 % of the circle. The paddle reaches to 0.8 of its radius, and its ends move at 8 m/s.
func (s *Scene) spinner() error {
	const each, fill, links, reach, speed = 0.22, 0.4, 360, 0.8, 8 // m² of a body, on average; links of the chain
	radius := 2 + float32(math.Sqrt(float64(s.N)*each/fill/math.Pi))
	if err := s.ring(radius, links); err != nil {
		return err
	}
	paddle, err := s.fixture(physics.KinematicBody, speed/(reach*radius))
	if err == nil {
		err = s.polygons(paddle, physics.Box(float32(reach*radius), 0.4))
	}
	if err != nil {
		return err
	}
	return scatter(s.N, radius-1, func(i int, x, y float32) error {
		r := loop.NewRand(s.seed, 0, uint64(i), streamPlace)
		def := physics.DefaultBodyDef()
		def.Position, def.Angle = [2]float32{x, y}, r.Range(-math.Pi, math.Pi)
		b, err := s.add(def)
		if err != nil {
			return err
		}
		return s.small(b, i)
	})
}

// ring is a round chain around a static body, solid outside; with box2d, which has no chains here, it is of segments.
func (s *Scene) ring(radius float32, links int) error {
	b, err := s.fixture(physics.StaticBody, 0)
	if err != nil {
		return err
	}
	chain := physics.ChainDef{Loop: true, Shape: physics.DefaultShapeDef(), Points: make([][2]float32, links)}
	for i := range chain.Points {
		x, y := direction(links-1-i, links)
		chain.Points[i] = [2]float32{x * radius, y * radius}
	}
	if s.World.Config().Engine == nil {
		_, err := s.World.CreateChain(b, chain)
		return err
	}
	for i, p := range chain.Points {
		if _, err := s.World.CreateSegment(b, chain.Shape, physics.Segment{P1: p, P2: chain.Points[(i+1)%links]}); err != nil {
			return err
		}
	}
	return nil
}

// small attaches a shape of about 0.5 m to body i.
func (s *Scene) small(b physics.Body, i int) (err error) {
	shape := physics.DefaultShapeDef()
	shape.Friction, shape.Restitution = 0.1, 0.1
	switch i % 3 {
	case 0:
		_, err = s.World.CreateCircle(b, shape, physics.Circle{Radius: 0.25})
	case 1:
		err = s.capsule(b, shape, 0.2, 0.15)
	default:
		_, err = s.World.CreatePolygon(b, shape, physics.Box(0.3, 0.2))
	}
	return err
}

// capsule attaches a capsule along the first axis; with box2d, which has none, a polygon with eight vertices on its
// outline.
func (s *Scene) capsule(b physics.Body, def physics.ShapeDef, half, radius float32) error {
	if s.World.Config().Engine == nil {
		_, err := s.World.CreateCapsule(b, def, physics.Capsule{P1: [2]float32{-half, 0}, P2: [2]float32{half, 0}, Radius: radius})
		return err
	}
	const near, far = 0.38268343, 0.9238795 // sine and cosine of π/8
	p := physics.Polygon{Count: 8}
	for i, v := range [4][2]float32{{far, -near}, {far, near}, {near, far}, {-near, far}} {
		x := half + float32(v[0]*radius)
		if v[0] < 0 {
			x = float32(v[0]*radius) - half
		}
		p.Vertices[i] = [2]float32{x, v[1] * radius}
		p.Vertices[i+4] = [2]float32{-x, -v[1] * radius}
	}
	_, err := s.World.CreatePolygon(b, def, p)
	return err
}

// washer fills 40 % of the drum. The fins are a sixth of its radius long. It turns at such a rate that the centrifugal
// acceleration is a fifth of gravity, so that the boxes are lifted and fall.
func (s *Scene) washer() error {
	const half, fill, segments, fins = 0.25, 0.4, 48, 12
	radius := 1.5 + float32(math.Sqrt(float64(s.N)*(4*half*half)/fill/math.Pi))
	drum, err := s.fixture(physics.KinematicBody, float32(math.Sqrt(float64(0.2*gravity/radius))))
	if err != nil {
		return err
	}
	outer := radius + 2
	for i := range segments {
		ax, ay := direction(i, segments)
		bx, by := direction(i+1, segments)
		wall, err := physics.NewPolygon([2]float32{ax * radius, ay * radius}, [2]float32{ax * outer, ay * outer},
			[2]float32{bx * outer, by * outer}, [2]float32{bx * radius, by * radius})
		if err == nil {
			err = s.polygons(drum, wall)
		}
		if err == nil && i%(segments/fins) == 0 {
			err = s.fin(drum, ax, ay, radius*5/6, outer-1)
		}
		if err != nil {
			return err
		}
	}
	return scatter(s.N, radius*5/6-0.5, func(_ int, x, y float32) error { return s.addBox(x, y, half) })
}

// fin attaches a box of 0.5 m from one radius of the drum to another.
func (s *Scene) fin(drum physics.Body, x, y, from, to float32) error {
	const half = 0.25
	p := physics.Polygon{Count: 4}
	for i, v := range [4][2]float32{{from, -half}, {to, -half}, {to, half}, {from, half}} {
		p.Vertices[i] = [2]float32{float32(x*v[0]) - float32(y*v[1]), float32(y*v[0]) + float32(x*v[1])}
	}
	return s.polygons(drum, p)
}
