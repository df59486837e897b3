package physics_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/physics"
)

// still counts the steps in which a body does not move although its velocity is not zero.
type still struct {
	steps int
	x, y  float32
}

// look counts a step, and returns true when there are too many.
func (s *still) look(c physics.Columns, i int) bool {
	x, y, vx, vy := c.X[i], c.Y[i], c.VX[i], c.VY[i]
	dx, dy := x-s.x, y-s.y
	if s.x, s.y = x, y; vx*vx+vy*vy > 25 && dx*dx+dy*dy < 1e-6 {
		s.steps++
	} else {
		s.steps = 0
	}
	return s.steps >= 20
}

// level is a floor of points from right to left, the first and last of which are ghosts.
var level = [][2]float32{{9, 0}, {5, 0}, {0, 0}, {-5, 0}, {-9, 0}}

func (r fixture) ground(b physics.Body, loop bool, points ...[2]float32) {
	r.Helper()
	r.chain(b, physics.ChainDef{Points: points, Loop: loop, Shape: plain})
}

// A ball that is dropped near the end of an open chain touches it or falls past it: it does not hang in the air.
func TestBallsFallPastTheEndOfAChain(t *testing.T) {
	paritytest.SkipSerialUnderRace(t)
	const places = 41
	for _, radius := range []float32{0.05, 0.1, 0.2, 0.5} {
		for _, height := range []float32{0.5, 3, 30} {
			r := fixture{t, newWorld(t, physics.Config{Gravity: [2]float32{0, -10}, Capacity: places + 1})}
			r.ground(r.body(physics.StaticBody, 0, 0), false, level...)
			d := plain
			d.Filter.Group = -1
			var balls []physics.Body
			for k := range places {
				b := r.dynamic(5+radius*float32(k-places/2)/(places/2), height+radius)
				r.circle(b, d, radius)
				balls = append(balls, b)
			}
			r.seconds(10)
			past := 0
			for k, b := range balls {
				x, y := r.at(b)
				vx, vy, _ := r.velocity(b)
				switch {
				case y < -1:
					past++
				case math.Hypot(vx, vy) > 1:
					t.Errorf("radius %g, height %g, place %d: at %g, %g with the velocity %g, %g", radius, height, k, x, y, vx, vy)
				}
			}
			if past < places/2 || past == places {
				t.Errorf("radius %g, height %g: %d of %d fell past", radius, height, past, places)
			}
		}
	}
}

// outlines make an obstacle around the origin, some 10 m wide, on any type of body.
var outlines = []struct {
	name  string
	build func(r fixture, b physics.Body, rng *rand.Rand)
}{
	{"circle", func(r fixture, b physics.Body, rng *rand.Rand) { r.circle(b, plain, 0.1+5*rng.Float32()) }},
	{"capsule", func(r fixture, b physics.Body, rng *rand.Rand) {
		r.capsule(b, plain, -5, 0, 5, rng.Float32(), 0.3*rng.Float32())
	}},
	{"box", func(r fixture, b physics.Body, rng *rand.Rand) { r.box(b, plain, 5, 0.005+rng.Float32()) }},
	{"polygon", func(r fixture, b physics.Body, _ *rand.Rand) {
		r.polygon(b, plain, physics.Polygon{Count: 3, Radius: 0.1, Vertices: [8][2]float32{{-5, 0}, {5, 0}, {0, 3}}})
	}},
	{"segment", func(r fixture, b physics.Body, _ *rand.Rand) { r.segment(b, plain, -5, 0, 5, 0) }},
	{"open chain", func(r fixture, b physics.Body, _ *rand.Rand) { r.ground(b, false, level...) }},
	{"ramp", func(r fixture, b physics.Body, _ *rand.Rand) {
		r.ground(b, false, [2]float32{9, 3}, [2]float32{5, 0}, [2]float32{0, 0}, [2]float32{-5, 0}, [2]float32{-9, -3})
	}},
	{"dropping ghosts", func(r fixture, b physics.Body, _ *rand.Rand) {
		r.ground(b, false, [2]float32{5, -4}, [2]float32{5, 0}, [2]float32{0, 0}, [2]float32{-5, 0}, [2]float32{-5, -4})
	}},
	{"rough chain", func(r fixture, b physics.Body, rng *rand.Rand) {
		var points [][2]float32
		for k := range 12 {
			points = append(points, [2]float32{6.6 - 1.2*float32(k), 2 * rng.Float32()})
		}
		r.ground(b, false, points...)
	}},
	{"island", func(r fixture, b physics.Body, rng *rand.Rand) { r.ground(b, true, ring(rng, false)...) }},
	{"cave", func(r fixture, b physics.Body, rng *rand.Rand) { r.ground(b, true, ring(rng, true)...) }},
	{"chain from behind", func(r fixture, b physics.Body, _ *rand.Rand) {
		r.ground(b, false, [2]float32{-9, 0}, [2]float32{-5, 0}, [2]float32{5, 0}, [2]float32{9, 0})
	}},
	{"one-way box", func(r fixture, b physics.Body, rng *rand.Rand) {
		d := plain
		d.OneWay = [2]float32{rng.Float32() - 0.5, 1}
		r.box(b, d, 5, 0.05+0.5*rng.Float32())
	}},
	{"one-way segments", func(r fixture, b physics.Body, _ *rand.Rand) {
		for k := range 5 {
			d := plain
			d.OneWay = [2]float32{float32(k) - 2, 1}
			r.segment(b, d, 2*float32(k)-5, 0.3*float32(k), 2*float32(k)-3, 0.3*float32(k))
		}
	}},
	{"compound of boxes", func(r fixture, b physics.Body, rng *rand.Rand) {
		for x := float32(-5); x < 5; {
			wide, y := 0.2+rng.Float32(), 0.1*float32(rng.IntN(3))
			r.polygon(b, plain, physics.Polygon{Count: 4, Vertices: [8][2]float32{{x, y - 0.3}, {x + wide, y - 0.3}, {x + wide, y}, {x, y}}})
			x += wide + 0.2*float32(rng.IntN(2))*rng.Float32()
		}
	}},
	{"compound of all", func(r fixture, b physics.Body, rng *rand.Rand) {
		for k := range 8 {
			x, y := float32(k)-4, rng.Float32()-0.5
			switch rng.IntN(3) {
			case 0:
				r.segment(b, plain, x, y, x+0.9, rng.Float32())
			case 1:
				r.capsule(b, plain, x, y, x+0.9, rng.Float32(), 0.1*rng.Float32())
			default:
				r.polygon(b, plain, physics.Polygon{Count: 3, Vertices: [8][2]float32{{x, y}, {x + 1, y - 0.1}, {x + 0.5, y + 0.5}}})
			}
		}
		r.ground(b, false, [2]float32{9, -1}, [2]float32{6, -1}, [2]float32{-6, -1.2}, [2]float32{-9, -1})
	}},
}

// ring returns the points of an island, or of a cave.
func ring(rng *rand.Rand, cave bool) (points [][2]float32) {
	n := 3 + rng.IntN(9)
	for k := range n {
		if cave {
			k = n - 1 - k
		}
		s, c := math.Sincos(float64(k) * 2 * math.Pi / float64(n))
		far := 1 + 4*rng.Float64()
		points = append(points, [2]float32{float32(far * c), float32(far * s)})
	}
	return points
}

// loose makes shapes for a falling body: a circle, capsule, box, triangle, stick, segment, circle
// beside the centre, dumbbell, platform or loop of a chain, of 2 cm to 1 m.
func (r fixture) loose(kind int, b physics.Body, rng *rand.Rand) {
	r.Helper()
	d := plain
	d.Filter.Group = -1 // they do not meet each other
	d.Friction, d.Restitution = rng.Float32(), float32(rng.IntN(2))*rng.Float32()
	size := 0.02 + 0.5*rng.Float32()*rng.Float32()
	switch kind {
	case 0:
		r.circle(b, d, size)
	case 1:
		r.capsule(b, d, -size, 0, size, 0, 0.3*size)
	case 2:
		r.box(b, d, size, 0.005+0.9*size*rng.Float32())
	case 3:
		r.polygon(b, d, physics.Polygon{Count: 3, Radius: 0.1 * size, Vertices: [8][2]float32{{-size, -size}, {size, -size / 2}, {0, size}}})
	case 4:
		r.box(b, d, 0.2+size, 0.01)
	case 5:
		r.segment(b, d, -size, 0, size, size*rng.Float32())
	case 6:
		d.Density = 0
		r.circle(b, d, size/2)
		_, err := r.w.CreateCircle(b, d, physics.Circle{Center: [2]float32{size, size}, Radius: size / 2})
		r.no(err)
	case 7:
		for _, x := range []float32{-1, 1} {
			_, err := r.w.CreateCircle(b, d, physics.Circle{Center: [2]float32{x * size, 0}, Radius: size / 2})
			r.no(err)
		}
		r.box(b, d, size, 0.005+size/8)
	case 8:
		d.OneWay = [2]float32{rng.Float32() - 0.5, rng.Float32() - 0.5}
		r.box(b, d, size, size/2)
	default:
		r.chain(b, physics.ChainDef{Points: [][2]float32{{-size, -size}, {size, -size}, {0, size}}, Loop: true, Shape: d})
	}
}

const looseKinds = 10

// Bodies of all shapes fall on all outlines, at any speed: none stands still for 20 steps with a velocity of
// 5 m/s or more. With EVERTICK_LONG there are 100,000 shapes, otherwise 1,600.
func TestNothingHangs(t *testing.T) {
	paritytest.SkipSerialUnderRace(t)
	const batch = 100
	shapes := batch * len(outlines)
	switch {
	case paritytest.Long():
		shapes = 100_000
	}
	seed := paritytest.Seed()
	hung := 0
	for n := range shapes / batch {
		rng := rand.New(rand.NewPCG(seed, uint64(n)))
		o := outlines[n%len(outlines)]
		kind := []physics.BodyType{physics.StaticBody, physics.StaticBody, physics.KinematicBody}[rng.IntN(3)]
		r := fixture{t, newWorld(t, physics.Config{Gravity: [2]float32{0, -10}, Capacity: batch + 1, MaxSpeed: 1000})}
		change := []func(*physics.BodyDef){turned(0.3 * float64(rng.IntN(3)) * rng.NormFloat64())}
		if kind == physics.KinematicBody {
			change = append(change, moving(rng.Float32()*4-2, rng.Float32()*4-2, rng.Float32()*4-2))
		}
		obstacle := r.body(kind, 0, 0, change...)
		o.build(r, obstacle, rng)
		name := fmt.Sprintf("seed %d, batch %d: %v %s", seed, n, kind, o.name)
		hung += r.fallOn(name, rng, batch)
	}
	if hung > 0 {
		t.Errorf("%d of %d hang", hung, shapes)
	}
}

// fallOn throws bodies at the obstacle around the origin, half of them at its ends, and returns how many get stuck.
func (r fixture) fallOn(name string, rng *rand.Rand, bodies int) (hung int) {
	r.Helper()
	first := 0
	for k := range bodies {
		x := float32(rng.Float64()*14 - 7)
		if k%2 == 0 {
			x = 5*float32(1-k%4) + float32(rng.Float64()*1.4-0.7)
		}
		y, vx, vy := 1+4*rng.Float32(), float32(0), float32(0)
		if rng.IntN(3) > 0 {
			y, vx, vy = 3+10*rng.Float32(), 20*float32(rng.NormFloat64()), -20-100*rng.Float32()
			x += vx / vy * y
		}
		b := r.dynamic(x, y, turned(rng.Float64()*6), moving(vx, vy, 10*float32(rng.NormFloat64())),
			func(d *physics.BodyDef) { d.Bullet, d.DisableSleep = k%3 > 0, k%2 == 0 })
		r.loose(rng.IntN(looseKinds), b, rng)
		if k == 0 {
			first = b.Index()
		}
	}
	at, c := make([]still, bodies), r.w.Columns()
	for step := range 150 {
		r.steps(1)
		for k := range at {
			if at[k].look(c, first+k) && at[k].steps == 20 {
				hung++
				r.Logf("%s: shape %d stands at %g, %g with the velocity %g, %g in step %d", name, k, at[k].x, at[k].y,
					c.VX[first+k], c.VY[first+k], step)
			}
		}
	}
	return hung
}
