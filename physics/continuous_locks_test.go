package physics_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/physics"
)

// lockedRow holds the values of a body with locks that must keep their bits.
type lockedRow struct{ x, y, angle, cos, sin uint32 }

func rowOf(c physics.Columns, i int, l physics.MotionLocks) (h lockedRow) {
	if l.X {
		h.x = math.Float32bits(c.X[i])
	}
	if l.Y {
		h.y = math.Float32bits(c.Y[i])
	}
	if l.Rotation {
		h.angle, h.cos, h.sin = math.Float32bits(c.Angle[i]), math.Float32bits(c.Cos[i]), math.Float32bits(c.Sin[i])
	}
	return h
}

// lockedBullet makes a body a bullet with locks.
func lockedBullet(l physics.MotionLocks) func(d *physics.BodyDef) {
	return func(d *physics.BodyDef) { d.Bullet, d.LockX, d.LockY, d.FixedRotation = true, l.X, l.Y, l.Rotation }
}

// A kinematic bar or plate that sweeps over a bullet at rest moves it in all directions that are not locked.
func TestCarriedBulletsStayHeld(t *testing.T) {
	for k := range 8 {
		l := physics.MotionLocks{X: k&1 != 0, Y: k&2 != 0, Rotation: k&4 != 0}
		for name, sweep := range map[string]func(r fixture){
			"bar": func(r fixture) {
				bar := r.body(physics.KinematicBody, 0, 0, moving(0, 0, 20))
				r.polygon(bar, plain, physics.Polygon{Count: 4, Vertices: [8][2]float32{{0, -thin}, {3, -thin}, {3, thin}, {0, thin}}})
			},
			"plate": func(r fixture) {
				plate := r.body(physics.KinematicBody, -1, 0, moving(150, 100, 0), turned(0.5))
				r.box(plate, plain, thin, 3)
			},
		} {
			r := newFixture(t, 0)
			b := r.dynamic(1.5, 0.15, lockedBullet(l))
			r.box(b, plain, 0.1, 0.05)
			sweep(r)
			c, i := r.w.Columns(), b.Index()
			before := rowOf(c, i, l)
			from := physics.MotionLocks{X: c.X[i] != 1.5, Y: c.Y[i] != 0.15, Rotation: c.Sin[i] != 0}
			for step := range 20 {
				r.steps(1)
				if got := rowOf(c, i, l); got != before {
					t.Fatalf("%s, locks %+v, step %d: at %g, %g, turned by %g", name, l, step, c.X[i], c.Y[i], c.Angle[i])
				}
				if l.X && c.VX[i] != 0 || l.Y && c.VY[i] != 0 || l.Rotation && c.W[i] != 0 {
					t.Fatalf("%s, locks %+v, step %d: velocity %g, %g, %g", name, l, step, c.VX[i], c.VY[i], c.W[i])
				}
				from.X, from.Y, from.Rotation = from.X || c.X[i] != 1.5, from.Y || c.Y[i] != 0.15, from.Rotation || c.Sin[i] != 0
			}
			if !from.X && !l.X || !from.Y && !l.Y || name == "bar" && !from.Rotation && l == (physics.MotionLocks{}) {
				t.Errorf("%s, locks %+v: has moved %+v", name, l, from)
			}
		}
	}
}

// The same holds for many bullets with any locks that meet rods and walls at any angle: a bullet that begins near a
// surface slides, one that begins inside stops there.
func TestHeldBullets(t *testing.T) {
	const bullets = 60
	for round := range paritytest.Rounds(8) {
		rng := rand.New(rand.NewPCG(paritytest.Seed(), uint64(round)))
		r := fixture{t, newWorld(t, physics.Config{Capacity: 256, Gravity: [2]float32{0, -10}})}
		d := plain
		d.Filter.Category, d.Filter.Mask = 1, 2
		of := func(s physics.ShapeDef) physics.ShapeDef { s.Filter.Category, s.Filter.Mask = 2, 1; return s }(plain)
		for range 20 {
			rod := r.body(physics.KinematicBody, float32(within(rng, -5, 5)), float32(within(rng, -5, 5)), turned(within(rng, 0, 6)),
				moving(float32(within(rng, -200, 200)), float32(within(rng, -200, 200)), float32(within(rng, -40, 40))))
			r.box(rod, of, thin, 3)
			wall := r.body(physics.StaticBody, float32(within(rng, -5, 5)), float32(within(rng, -5, 5)), turned(within(rng, 0, 6)))
			r.box(wall, of, 2, float32(within(rng, 0.01, 0.3)))
		}
		var all []physics.Body
		var locks []physics.MotionLocks
		var before []lockedRow
		c := r.w.Columns()
		for range bullets {
			l := physics.MotionLocks{X: rng.IntN(2) == 0, Y: rng.IntN(2) == 0, Rotation: rng.IntN(2) == 0}
			vx, vy, w := within(rng, -300, 300), within(rng, -300, 300), within(rng, -50, 50)
			if l.X {
				vx = 0
			}
			if l.Y {
				vy = 0
			}
			if l.Rotation {
				w = 0
			}
			b := r.dynamic(float32(within(rng, -5, 5)), float32(within(rng, -5, 5)), lockedBullet(l), moving(float32(vx), float32(vy), float32(w)))
			r.box(b, d, float32(within(rng, 0.05, 0.3)), float32(within(rng, 0.05, 0.3)))
			all, locks, before = append(all, b), append(locks, l), append(before, rowOf(c, b.Index(), l))
		}
		for step := range 10 {
			r.steps(1)
			for k, b := range all {
				i, l := b.Index(), locks[k]
				if got := rowOf(c, i, l); got != before[k] || l.X && c.VX[i] != 0 || l.Y && c.VY[i] != 0 || l.Rotation && c.W[i] != 0 {
					t.Fatalf("round %d, step %d, bullet %d, locks %+v: at %g, %g, turned by %g, velocity %g, %g, %g", round, step, k, l,
						c.X[i], c.Y[i], c.Angle[i], c.VX[i], c.VY[i], c.W[i])
				}
			}
		}
	}
}

// Continuous collision never makes a dynamic body faster than MaxSpeed, not even with overlapping kinematic bodies of up
// to 1000 m/s.
func TestStopsHoldMaxSpeed(t *testing.T) {
	for round := range paritytest.Rounds(40) {
		rng := rand.New(rand.NewPCG(paritytest.Seed(), uint64(round)))
		limit := []float32{0, 50, 5}[round%3]
		r := fixture{t, newWorld(t, physics.Config{Capacity: 256, MaxSpeed: limit})}
		for range 10 {
			x, y := float32(within(rng, -50, 50)), float32(within(rng, -50, 50))
			angle := within(rng, 0, 6)
			s, cos := math.Sincos(angle)
			plate := r.body(physics.KinematicBody, x, y, turned(angle), moving(float32(-1000*s), float32(1000*cos), 0))
			r.box(plate, plain, 3, 0.3)
			for range 4 { // their centres are a little outside of its front
				at, out := within(rng, -2.5, 2.5), within(rng, 0.301, 0.35)
				b := r.dynamic(x+float32(cos*at-s*out), y+float32(s*at+cos*out), func(d *physics.BodyDef) { d.Bullet = true })
				if rng.IntN(2) == 0 {
					r.circle(b, plain, 0.2)
				} else {
					r.box(b, plain, 0.2, 0.15)
				}
			}
		}
		for step := range 4 {
			r.steps(1)
			speedLimits(t, fmt.Sprintf("round %d, step %d", round, step), r.w)
		}
	}
}
