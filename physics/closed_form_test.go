package physics_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/evertick/evertick/physics"
)

func TestFreeFall(t *testing.T) {
	const g, v0, steps = -9.81, 3, 90
	r := newFixture(t, g)
	falling := r.dynamic(2, 100, moving(1, v0, 0))
	r.circle(falling, plain, 0.5)
	floating := r.dynamic(10, 100, func(d *physics.BodyDef) { d.GravityScale = 0 })
	r.circle(floating, plain, 0.5)
	r.steps(steps)

	// Velocities are advanced before positions, in 4 sub-steps: the sum of these is
	// v0·t + g·h²·n(n+1)/2, and the parabola is half a sub-step of speed away.
	const h, n = 1. / 240, 4 * steps
	x, y := r.at(falling)
	r.near("height", y, 100+v0*h*n+g*h*h*n*(n+1)/2, 1e-3)
	r.near("height against the parabola", y, 100+v0*h*n+g*h*n*h*n/2, math.Abs(g*h*n*h/2)+1e-3)
	r.near("drift", x, 2+h*n, 1e-4)
	_, vy, _ := r.velocity(falling)
	r.near("speed", vy, v0+g*h*n, 1e-4)
	if x, y := r.at(floating); x != 10 || y != 100 {
		t.Errorf("without gravity: moved to %v, %v", x, y)
	}
}

func TestProjectile(t *testing.T) {
	const g, v = -10, 20
	for _, degrees := range []float64{30, 45, 60} {
		sin, cos := math.Sincos(degrees * math.Pi / 180)
		r := newFixture(t, g)
		b := r.dynamic(0, 0, moving(float32(v*cos), float32(v*sin), 1))
		r.box(b, plain, 0.1, 0.1)
		x, y, highest := 0.0, 0.0, 0.0
		for steps := 0; y >= 0 && steps < 600; steps++ {
			lastX, lastY := x, y
			r.steps(1)
			x, y = r.at(b)
			highest = max(highest, y)
			if y < 0 { // between the steps
				x = lastX + (x-lastX)*lastY/(lastY-y)
			}
		}
		r.near(fmt.Sprintf("range at %v°", degrees), x, v*v*2*sin*cos/-g, 0.1)
		r.near(fmt.Sprintf("height at %v°", degrees), highest, v*v*sin*sin/(2*-g), 0.06)
	}
}

func TestDamping(t *testing.T) {
	r := newFixture(t, 0)
	b := r.dynamic(0, 0, moving(10, 0, 4), func(d *physics.BodyDef) { d.LinearDamping, d.AngularDamping = 0.5, 1.5 })
	r.circle(b, plain, 0.5)
	r.seconds(2)
	vx, _, w := r.velocity(b)
	r.near("speed", vx, 10*math.Exp(-1), 0.01)
	r.near("turn", w, 4*math.Exp(-3), 0.004)
}

func TestForces(t *testing.T) {
	r := newFixture(t, 0)
	b := r.dynamic(0, 0)
	r.box(b, plain, 1, 0.5) // 2 kg
	r.no(r.w.ApplyForceToCenter(b, [2]float32{12, -6}))
	r.steps(3) // it acts in one of them
	vx, vy, w := r.velocity(b)
	r.near("vx", vx, 6./60, 1e-6)
	r.near("vy", vy, -3./60, 1e-6)
	r.near("w", w, 0, 0)
	r.no(r.w.ApplyLinearImpulse(b, [2]float32{0, 1}, [2]float32{1 + float32(vx)/30, 0}))
	_, _, w = r.velocity(b)
	r.near("w of an impulse at the end of a box of 2 kg by 5/6 kg·m²", w, 1.2, 0.01)
}

// slope returns a box on a slope that is steeper than its friction holds by a factor.
func slope(r fixture, friction float32, angle float64) physics.Body {
	sin, cos := math.Sincos(angle)
	r.box(r.body(physics.StaticBody, 0, 0, turned(angle)), material(friction, 0), 100, 1)
	b := r.dynamic(float32(-1.5*sin), float32(1.5*cos), turned(angle))
	r.box(b, material(friction, 0), 0.5, 0.5)
	return b
}

// A box on a slope stays below the angle whose tangent is the friction, and slides
// above it.
func TestFrictionAngle(t *testing.T) {
	for _, friction := range []float32{0.1, 0.3, 0.6, 0.9} {
		for _, c := range []struct {
			part   float64
			slides bool
		}{{0.99, false}, {1.01, true}} {
			r := newFixture(t, -10)
			angle := c.part * math.Atan(float64(friction))
			b := slope(r, friction, angle)
			r.seconds(0.5)
			x0, y0 := r.at(b)
			r.seconds(4)
			x, y := r.at(b)
			slid := math.Hypot(x-x0, y-y0)
			// It slides by g(sin - μ·cos)t²/2, faster at the end than since it began.
			expected := 0.0
			if c.slides {
				sin, cos := math.Sincos(angle)
				expected = 10 * (sin - float64(friction)*cos) * (4.5*4.5 - 0.5*0.5) / 2
			}
			r.near(fmt.Sprintf("friction %v, %v of the angle: slid", friction, c.part), slid, expected, 0.004+0.2*expected)
		}
	}
}

func TestSlidingDownASlope(t *testing.T) {
	const friction = 0.3
	r := newFixture(t, -10)
	angle := 35 * math.Pi / 180
	sin, cos := math.Sincos(angle)
	b := slope(r, friction, angle)
	x0, y0 := r.at(b)
	r.seconds(3)
	x, y := r.at(b)
	want := 10 * (sin - friction*cos) * 9 / 2
	r.near("slid", math.Hypot(x-x0, y-y0), want, 0.01*want)
	r.near("angle", r.angle(b), angle, 1e-3)
}

func TestSlidingToAStop(t *testing.T) {
	r := newFixture(t, -10)
	r.floor(material(0.5, 0))
	b := r.dynamic(0, 0.25, moving(8, 0, 0))
	r.box(b, material(0.5, 0), 0.5, 0.25)
	r.seconds(4)
	x, _ := r.at(b)
	r.near("stopped after", x, 64./(2*0.5*10), 0.07)
	vx, _, _ := r.velocity(b)
	r.near("speed", vx, 0, 1e-3)
}

// Friction of two shapes is the root of the product, restitution the greater one.
func TestMixing(t *testing.T) {
	r := newFixture(t, -10)
	r.floor(material(0.9, 0))
	b := r.dynamic(0, 0.25, moving(6, 0, 0))
	r.box(b, material(0.4, 0), 0.5, 0.25)
	r.seconds(4)
	x, _ := r.at(b)
	r.near("stopped after", x, 36./(2*0.6*10), 0.06)
}

func TestRestitution(t *testing.T) {
	for _, e := range []float64{0, 0.25, 0.5, 0.75, 1} {
		for _, height := range []float64{1, 4} {
			r := newFixture(t, -10)
			r.floor(material(0, 0))
			ball := r.dynamic(0, float32(0.5+height))
			r.circle(ball, material(0, float32(e)), 0.5)
			highest, hit := 0.0, false
			for range 150 { // not as long as to its second bounce from 1 m
				r.steps(1)
				_, y := r.at(ball)
				_, vy, _ := r.velocity(ball)
				hit = hit || vy > -0.1
				if hit {
					highest = max(highest, y-0.5)
				}
			}
			want := height * e * e
			r.near(fmt.Sprintf("restitution %v from %v m: rose to", e, height), highest, want, 0.025*height+0.02)
		}
	}
}

// A ball that hits a row of others at rest hands its momentum to the last one.
func TestCradle(t *testing.T) {
	const v = 5
	for _, gap := range []float32{0, 0.001, 0.1} {
		r := newFixture(t, 0)
		var balls []physics.Body
		for i := range 6 {
			x := float32(i) * (1 + gap)
			if i == 0 {
				x = -1
			}
			balls = append(balls, r.dynamic(x, 0))
			r.circle(balls[i], material(0, 1), 0.5)
		}
		r.no(r.w.SetVelocity(balls[0], [2]float32{v, 0}, 0))
		before := r.total()
		r.seconds(1)
		after := r.total()
		name := fmt.Sprintf("gap %v: ", gap)
		r.near(name+"momentum", after.px, before.px, 1e-5*before.px)
		r.near(name+"momentum across", after.py, 0, 1e-6)
		if after.energy > 1.001*before.energy {
			t.Errorf("%senergy from %v to %v", name, before.energy, after.energy)
		}
		last := math.Inf(-1)
		for i, b := range balls {
			vx, _, _ := r.velocity(b)
			if vx < last-1e-4 {
				t.Errorf("%sball %d is at %v m/s, the one behind it at %v", name, i, vx, last)
			}
			last = vx
		}
		if gap == 0.1 { // one after another; else the last ones share
			r.near(name+"speed of the last ball", last, v, 0.01*v)
		}
	}
}

// cloud makes bodies of many shapes that rush to the middle.
func cloud(r fixture, restitution float32) {
	for i := range 100 {
		x, y := float32(i%10)*1.5-6.75, float32(i/10)*1.5-6.75
		b := r.dynamic(x, y, moving(-x+float32(i%3), -0.7*y, float32(i%5)-2), turned(float64(i)))
		d := material(0.1*float32(i%6), restitution)
		d.Density = 0.5 + float32(i%4)
		switch i % 4 {
		case 0:
			r.circle(b, d, 0.4)
		case 1:
			r.box(b, d, 0.5, 0.3)
		case 2:
			r.capsule(b, d, -0.3, 0, 0.3, 0.1, 0.25)
		case 3:
			p := physics.Box(0.3, 0.3)
			p.Radius = 0.1
			r.polygon(b, d, p)
		}
	}
}

// Without gravity and damping collisions keep momentum, but for rounding, and angular
// momentum, but for what bodies move while they collide; and make no energy.
func TestConservation(t *testing.T) {
	for _, restitution := range []float32{0, 0.5, 1} {
		r := newFixture(t, 0)
		cloud(r, restitution)
		before := r.total()
		greatest := 0.0
		for range 600 {
			r.steps(1)
			greatest = max(greatest, r.total().energy)
		}
		after := r.total()
		name := fmt.Sprintf("restitution %v: ", restitution)
		r.near(name+"momentum", math.Hypot(after.px-before.px, after.py-before.py), 0, 1e-5*before.speed)
		r.near(name+"angular momentum", after.spin, before.spin, 0.01*before.speed)
		t.Logf("%sangular momentum %.4f to %.4f, momentum %.2g of %.4g, energy %.4g, at most %.4g, in the end %.4g", name, before.spin, after.spin,
			math.Hypot(after.px-before.px, after.py-before.py), before.speed, before.energy, greatest, after.energy)
		if greatest > 1.01*before.energy {
			t.Errorf("%senergy %v, later %v", name, before.energy, greatest)
		}
		if after.energy > 0.98*before.energy && restitution < 1 {
			t.Errorf("%senergy %v, in the end %v: nothing collided", name, before.energy, after.energy)
		}
	}
}

func TestConveyor(t *testing.T) {
	for _, first := range []bool{true, false} { // which shape is the belt
		for _, speed := range []float64{2, -3} {
			r := newFixture(t, -10)
			belt := func() {
				d := material(0.5, 0)
				d.TangentSpeed = float32(speed)
				r.floor(d)
			}
			if first {
				belt()
			}
			b := r.dynamic(0, 0.25)
			r.box(b, material(0.5, 0), 0.5, 0.25)
			if !first {
				belt()
			}
			r.seconds(0.2)
			vx, _, _ := r.velocity(b)
			r.near("on the way", vx, math.Copysign(10*0.5*0.2, speed), 0.1)
			r.seconds(2)
			vx, _, w := r.velocity(b)
			r.near(fmt.Sprintf("belt of %v m/s", speed), vx, speed, 0.01)
			r.near("turn", w, 0, 1e-3)
		}
	}
}

func TestRolling(t *testing.T) {
	for _, c := range [][2]float64{{1, 5}, {0.5, 0.1}, {4, 0.5}, {8, 0.1}, {8, 5}} {
		rolling(t, c[0], c[1])
	}
}

// rolling checks how rolling resistance slows a disc down: the torque resistance·radius·m·g
// slows one of inertia m·radius²/2 that does not slip by 2/3 resistance·g.
func rolling(t *testing.T, speed, radius float64) {
	const g, seconds = 10, 2
	for _, part := range []float64{0, 0.2, 0.8, 2} { // of what stops it
		resistance := part * speed / (2. / 3 * g * seconds)
		r := newFixture(t, -g)
		r.floor(plain)
		b := r.dynamic(0, float32(radius), moving(float32(speed), 0, float32(-speed/radius)))
		d := plain
		d.RollingResistance = float32(resistance)
		r.circle(b, d, float32(radius))
		r.seconds(seconds)
		vx, _, w := r.velocity(b)
		r.near(fmt.Sprintf("%v m/s, radius %v, rolling resistance %.3g: speed", speed, radius, resistance),
			vx, max(0, 1-part)*speed, 0.01*speed)
		r.near("turn", w, -vx/radius, 0.01*speed/radius)
	}
}

// A ball that slides at first ends up rolling at two thirds of its speed.
func TestSlidingTurnsToRolling(t *testing.T) {
	r := newFixture(t, -10)
	r.floor(material(0.5, 0))
	b := r.dynamic(0, 0.5, moving(6, 0, 0))
	r.circle(b, material(0.5, 0), 0.5)
	r.seconds(2)
	vx, _, w := r.velocity(b)
	r.near("speed", vx, 4, 0.05)
	r.near("turn", w, -8, 0.1)
}
