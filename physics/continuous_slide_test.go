package physics_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/physics"
)

// both runs a scene with and without continuous collision.
func both(t *testing.T, gravity float32, run func(r fixture)) (on, off fixture) {
	t.Helper()
	for i, to := range []*fixture{&on, &off} {
		*to = fixture{t, newWorld(t, physics.Config{Gravity: [2]float32{0, gravity}, Capacity: 1024, DisableContinuous: i == 1})}
		run(*to)
	}
	return on, off
}

// sameMotion fails unless the bodies of two worlds have the same bits.
func sameMotion(t *testing.T, what string, on, off fixture) {
	t.Helper()
	if a, b := on.w.Hash(), off.w.Hash(); a != b {
		t.Errorf("%s: it changed the outcome", what)
	}
}

// Continuous collision takes no speed from a body that slides along a wall at 100 m/s: on a
// box, along a line of segments, and on the inside of a wide bend of segments.
func TestSlidingIsNotHeldUp(t *testing.T) {
	for name, build := range map[string]func(r fixture) physics.Body{
		"box": func(r fixture) physics.Body {
			r.floor(material(0, 0))
			return r.dynamic(-150, 0.1, moving(100, 0, 0))
		},
		"segments": func(r fixture) physics.Body {
			b := r.body(physics.StaticBody, 0, 0)
			for x := float32(-200); x < 200; x++ {
				r.segment(b, material(0, 0), x, 0, x+1, 0)
			}
			return r.dynamic(-150, 0.1, moving(100, 0, 0))
		},
		"bend": func(r fixture) physics.Body {
			b := r.body(physics.StaticBody, 0, 100)
			for k := range 400 {
				s1, c1 := math.Sincos(float64(k-200) * math.Pi / 400)
				s2, c2 := math.Sincos(float64(k-199) * math.Pi / 400)
				r.segment(b, material(0, 0), float32(100*s1), float32(-100*c1), float32(100*s2), float32(-100*c2))
			}
			return r.dynamic(0, 0.1, moving(60, 0, 0))
		},
	} {
		for kind := range 3 {
			if name == "bend" && kind == 2 {
				continue // a long box catches on a seam, is thrown up, and lands
			}
			on, off := both(t, -10, func(r fixture) {
				puck := build(r)
				switch kind {
				case 0:
					r.circle(puck, material(0, 0), 0.1)
				case 1:
					r.box(puck, material(0, 0), 0.1, 0.1)
				case 2:
					r.box(puck, material(0, 0), 0.3, 0.1)
				}
				r.steps(100)
			})
			sameMotion(t, name, on, off)
		}
	}
}

// slides puts bodies of three kinds on a floor, anywhere within 4 m, with about the given speed.
func (r fixture) slides(rng *rand.Rand, floor string, speed float32) (bodies []physics.Body, speeds []float32) {
	r.Helper()
	d, b, end := material(0, 0), r.body(physics.StaticBody, 0, 0), 1.1*speed+30
	var points [][2]float32
	for x := end; x > -10; x -= 4 {
		points = append(points, [2]float32{x, 0})
		switch floor {
		case "boxes":
			r.polygon(b, d, physics.Polygon{Count: 4, Vertices: [8][2]float32{{x - 4, -1}, {x, -1}, {x, 0}, {x - 4, 0}}})
		case "segments":
			r.segment(b, d, x-4, 0, x, 0)
		}
	}
	switch floor {
	case "box":
		r.polygon(b, d, physics.Polygon{Count: 4, Vertices: [8][2]float32{{-10, -1}, {end, -1}, {end, 0}, {-10, 0}}})
	case "chain":
		r.chain(b, physics.ChainDef{Points: points, Shape: d})
	}
	d.Filter.Group = -1
	for k := range 60 {
		high := []float32{0.5, 0.5, 0.1}[k%3]
		b := r.dynamic(4*rng.Float32(), high)
		if k%3 == 0 {
			r.circle(b, d, high)
		} else {
			r.box(b, d, 0.5, high)
		}
		bodies, speeds = append(bodies, b), append(speeds, min(speed*(0.95+0.1*rng.Float32()), 399))
	}
	r.steps(30)
	for k, b := range bodies {
		r.no(r.w.SetVelocity(b, [2]float32{speeds[k], 0}, 0))
	}
	return bodies, speeds
}

// Up to 399 m/s, a chain, a box, and boxes side by side do not slow sliding bodies down. At the seams of segments ordinary collision slows
// some down, and continuous collision no more.
func TestFastThingsSlide(t *testing.T) {
	paritytest.SkipSerialUnderRace(t)
	for n, floor := range []string{"box", "chain", "boxes", "segments"} {
		for _, speed := range []float32{20, 60, 200, 390} {
			var bodies []physics.Body
			var speeds []float32
			var from []float64
			on, off := both(t, -10, func(r fixture) {
				rng := rand.New(rand.NewPCG(paritytest.Seed(), uint64(n)))
				bodies, speeds = r.slides(rng, floor, speed)
				from = from[:0]
				for _, b := range bodies {
					x, _ := r.at(b)
					from = append(from, x)
				}
				r.steps(60)
			})
			for k, b := range bodies {
				x, y := on.at(b)
				offX, offY := off.at(b)
				vx, _, _ := off.velocity(b)
				want := float64(speeds[k])
				if n < 3 && math.Abs(x-from[k]-want) > 1e-3*want {
					t.Errorf("%s, %g m/s: body %d has come %g m in a second of %g m/s", floor, speed, k, x-from[k], want)
				}
				if vx > 0.9999*want && (x != offX || y != offY) {
					t.Errorf("%s, %g m/s: body %d is at %g, %g, and without continuous collision at %g, %g", floor, speed, k, x, y, offX, offY)
				}
			}
		}
	}
}

// Continuous collision does not affect resting bodies, nor slowly falling ones.
func TestRestIsNotTouched(t *testing.T) {
	on, off := both(t, -10, func(r fixture) {
		r.floor(material(0.6, 0))
		for i := range 10 {
			r.box(r.dynamic(0, 0.5+1.02*float32(i)), material(0.6, 0), 0.5, 0.5)
			r.circle(r.dynamic(5, 0.5+1.02*float32(i)), material(0.6, 0), 0.5)
		}
		r.seconds(5)
	})
	sameMotion(t, "stacks", on, off)
}

// A ball that is shot along the floor at a wall bounces off it as it would if it were slow.
func TestBounceAfterStop(t *testing.T) {
	r := newFixture(t, 0)
	r.floor(material(0, 0))
	wall := r.body(physics.StaticBody, 10, 0)
	r.box(wall, material(0, 0), thin, 5)
	ball := r.dynamic(0, 0.1, moving(200, 0, 0))
	r.circle(ball, material(0, 1), 0.1)
	r.steps(10)
	x, y := r.at(ball)
	vx, vy, _ := r.velocity(ball)
	r.near("velocity along the floor", vx, -200, 2)
	r.near("velocity off the floor", vy, 0, 0.5)
	r.near("height", y, 0.1, 0.02)
	if x > 9.9 {
		t.Errorf("it is at %g", x)
	}
}

// Steps between segments and narrow gaps stop bodies that do not fit, and no others.
func TestSteps(t *testing.T) {
	for _, c := range []struct {
		step  float32
		stops bool
	}{{0.02, false}, {0.3, true}} {
		r := newFixture(t, 0)
		b := r.body(physics.StaticBody, 0, 0)
		r.segment(b, material(0, 0), -50, 0, 10, 0)
		r.segment(b, material(0, 0), 10, 0, 10, c.step)
		r.segment(b, material(0, 0), 10, c.step, 300, c.step)
		box := r.dynamic(0, 0.2, moving(150, 0, 0))
		r.box(box, material(0, 0), 0.2, 0.2)
		r.steps(30)
		if x, _ := r.at(box); c.stops && x > 10 {
			t.Errorf("a step of %g m: the box is at %g", c.step, x)
		}
	}
}

func TestWhatDoesNotStop(t *testing.T) {
	for name, build := range map[string]func(r fixture, wall, ball physics.Body){
		"a sensor": func(r fixture, wall, ball physics.Body) {
			d := plain
			d.Sensor = true
			r.box(wall, d, thin, 5)
			r.circle(ball, plain, 0.1)
		},
		"for a sensor": func(r fixture, wall, ball physics.Body) {
			d := plain
			d.Sensor = true
			r.box(wall, plain, thin, 5)
			r.circle(ball, d, 0.1)
		},
		"of another category": func(r fixture, wall, ball physics.Body) {
			d := plain
			d.Filter.Category, d.Filter.Mask = 2, 2
			r.box(wall, d, thin, 5)
			r.circle(ball, plain, 0.1)
		},
		"of the same group": func(r fixture, wall, ball physics.Body) {
			d := plain
			d.Filter.Group = -3
			r.box(wall, d, thin, 5)
			r.circle(ball, d, 0.1)
		},
		"that is disabled": func(r fixture, wall, ball physics.Body) {
			r.box(wall, plain, thin, 5)
			r.circle(ball, plain, 0.1)
			r.no(r.w.Disable(wall))
		},
		"to the side": func(r fixture, wall, ball physics.Body) {
			r.box(wall, plain, thin, 5)
			r.circle(ball, plain, 0.1)
			r.no(r.w.SetTransform(wall, [2]float32{10, -5.2}, 0))
		},
	} {
		r := newFixture(t, 0)
		wall, ball := r.body(physics.StaticBody, 10, 0), r.dynamic(0, 0, moving(200, 0, 0))
		build(r, wall, ball)
		r.steps(6)
		if x, _ := r.at(ball); math.Abs(x-20) > 0.01 {
			t.Errorf("a wall %s stopped the ball at %g", name, x)
		}
	}
}

// A wall stops a flying one-way platform, slow or fast, if its front hits the wall; otherwise the platform passes.
func TestFlyingPlatforms(t *testing.T) {
	for _, speed := range []float32{3, 200} {
		for _, front := range []float32{-1, 1} {
			r := newFixture(t, 0)
			wall, platform := r.body(physics.StaticBody, 10, 0), r.dynamic(0, 0, moving(speed, 0, 0))
			r.box(wall, plain, thin, 5)
			d := plain
			d.OneWay = [2]float32{front, 0}
			r.box(platform, d, 0.1, 0.2)
			r.seconds(30 / float64(speed))
			x, _ := r.at(platform)
			if stopped := x < 10; stopped != (front > 0) {
				t.Errorf("%g m/s, front %g: it is at %g", speed, front, x)
			}
		}
	}
}

// Bodies that are not bullets stop bullets, from any direction; only static bodies stop other bodies.
func TestBullets(t *testing.T) {
	for name, c := range map[string]struct {
		target, bullet bool // bullets
		kind           physics.BodyType
		passes         bool
	}{
		"dynamic":          {false, true, physics.DynamicBody, false},
		"kinematic":        {false, true, physics.KinematicBody, false},
		"static":           {false, true, physics.StaticBody, false},
		"no bullet":        {false, false, physics.DynamicBody, true},
		"two bullets":      {true, true, physics.DynamicBody, true},
		"only the target":  {true, false, physics.DynamicBody, true},
		"kinematic target": {false, false, physics.KinematicBody, true},
	} {
		for angle := range 20 {
			r := newFixture(t, 0)
			s, cos := math.Sincos(float64(angle) / 20 * 2 * math.Pi)
			vx, vy := float32(200*cos), float32(200*s)
			// 4.12 m behind the start: in the middle of a step, and no contact sees it.
			plate := r.body(c.kind, vx*5.13/200, vy*5.13/200, turned(math.Atan2(s, cos)), func(d *physics.BodyDef) { d.Bullet = c.target })
			d := plain
			d.Density = 1000
			r.box(plate, d, thin, 0.5)
			b := r.dynamic(0, 0, moving(vx, vy, 0))
			r.circle(b, plain, 0.05)
			r.no(r.w.SetBullet(b, c.bullet))
			r.steps(2)
			x, y := r.at(b)
			if far := x*cos + y*s; far > 5.13 != c.passes {
				t.Errorf("%s, angle %d: the bullet is at %.3f", name, angle, far)
			}
			r.steps(8)
			x, y = r.at(b)
			px, py := r.at(plate)
			if far := (x-px)*cos + (y-py)*s; far > 0 != c.passes {
				t.Errorf("%s, angle %d: the bullet is %.3f behind the plate", name, angle, far)
			}
		}
	}
}

// targets are the motions of a thin body of 8 m that bullets hit.
var targets = []struct {
	name string
	kind physics.BodyType
	move func(rng *rand.Rand) []func(d *physics.BodyDef)
}{
	{"dynamic plate", physics.DynamicBody, func(*rand.Rand) []func(d *physics.BodyDef) { return nil }},
	{"sleeping plate", physics.DynamicBody, func(*rand.Rand) []func(d *physics.BodyDef) {
		return []func(d *physics.BodyDef){func(d *physics.BodyDef) { d.DisableSleep = false }}
	}},
	{"kinematic plate", physics.KinematicBody, func(rng *rand.Rand) []func(d *physics.BodyDef) {
		return []func(d *physics.BodyDef){moving(float32(within(rng, -10, 10)), float32(within(rng, -10, 10)), 0)}
	}},
	{"dynamic rod", physics.DynamicBody, func(rng *rand.Rand) []func(d *physics.BodyDef) {
		return []func(d *physics.BodyDef){moving(0, 0, float32(within(rng, -20, 20))), turned(within(rng, 0, 6))}
	}},
	{"kinematic rod", physics.KinematicBody, func(rng *rand.Rand) []func(d *physics.BodyDef) {
		return []func(d *physics.BodyDef){moving(0, 0, float32(within(rng, -20, 20))), turned(within(rng, 0, 6))}
	}},
	{"kinematic rod on its way", physics.KinematicBody, func(rng *rand.Rand) []func(d *physics.BodyDef) {
		return []func(d *physics.BodyDef){turned(within(rng, 0, 6)),
			moving(float32(within(rng, -10, 10)), float32(within(rng, -10, 10)), float32(within(rng, -20, 20)))}
	}},
}

func within(rng *rand.Rand, a, b float64) float64 { return a + (b-a)*rng.Float64() }

// Bullets of any shape at 30 to 10,000 m/s do not pass a plate of 4 cm or a rod that moves and turns, not even after they
// have been stopped and are slow.
func TestBulletsAndWhatMoves(t *testing.T) {
	const lanes = 60 // a bit of the category each, in one world
	for n, target := range targets {
		for round := range paritytest.Sample(5) {
			rng := rand.New(rand.NewPCG(paritytest.Seed(), uint64(100*n+round)))
			r := fixture{t, newWorld(t, physics.Config{Capacity: 2 * lanes, MaxSpeed: 2e4})}
			var plates, bullets []physics.Body
			for lane := range lanes {
				d := plain
				d.Density, d.Filter.Category, d.Filter.Mask = 50, 1<<lane, 1<<lane
				plate := r.body(target.kind, 0, 0, target.move(rng)...)
				r.box(plate, d, 0.02, 4)
				if target.name == "sleeping plate" {
					r.no(r.w.SetAwake(plate, false))
				}
				speed := float32(math.Pow(10, within(rng, 1.5, 4)))
				bullet := r.dynamic(float32(within(rng, -13, -3)), float32(within(rng, -1, 1)), moving(speed, 0, float32(within(rng, -20, 20))),
					func(d *physics.BodyDef) { d.Bullet = true })
				d.Density = 1
				switch rng.IntN(3) {
				case 0:
					r.circle(bullet, d, 0.1)
				case 1:
					r.box(bullet, d, 0.15, 0.05)
				default:
					r.capsule(bullet, d, -0.1, 0, 0.1, 0.05, 0.03)
				}
				plates, bullets = append(plates, plate), append(bullets, bullet)
			}
			for step := range 40 {
				var before [lanes][2]float64
				for lane := range lanes {
					before[lane][0], before[lane][1] = r.seenFrom(plates[lane], bullets[lane])
				}
				r.steps(1)
				for lane := range lanes {
					x, y := r.seenFrom(plates[lane], bullets[lane])
					was := before[lane]
					if x*was[0] < 0 && math.Abs(x) > 0.02 && math.Abs(y) < 3 && math.Abs(was[1]) < 3 {
						t.Errorf("%s, round %d, lane %d, step %d: from %.3f to %.3f, %.3f", target.name, round, lane, step, was, x, y)
					}
				}
			}
		}
	}
}

// seenFrom returns the position of a body in the frame of another one.
func (r fixture) seenFrom(from, b physics.Body) (x, y float64) {
	r.Helper()
	x, y = r.at(b)
	fx, fy := r.at(from)
	s, c := math.Sincos(r.angle(from))
	x, y = x-fx, y-fy
	return c*x + s*y, c*y - s*x
}
