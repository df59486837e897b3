package physics_test

import (
	"math"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/physics"
)

// row lays n boxes of 2 m side by side, with tops on the x axis of a frame that is turned by an angle about the origin.
func (r fixture) row(n int, angle float64, each bool) {
	r.Helper()
	d := material(0, 0)
	b := r.body(physics.StaticBody, 0, 0, turned(angle))
	for k := range n {
		x := float32(2 * k)
		if each {
			b = r.body(physics.StaticBody, 0, 0, turned(angle))
		}
		r.polygon(b, d, physics.Polygon{Count: 4, Vertices: [8][2]float32{{x - 1, -0.5}, {x + 1, -0.5}, {x + 1, 0}, {x - 1, 0}}})
	}
}

// Nothing bumps over seams: not a millimetre per second across the floor.
func TestNoBumpsOverSeams(t *testing.T) {
	for _, each := range []bool{false, true} {
		for _, angle := range []float64{0, 0.7, -2} {
			for _, speed := range []float64{1, 5, 20, 50} {
				sin, cos := math.Sincos(angle)
				r := newFixture(t, 0)
				r.no(r.w.SetGravity([2]float32{float32(10 * sin), float32(-10 * cos)}))
				ticks := min(int(20*60/speed), 120)
				r.row(8+int(float64(ticks)/60*speed), angle, each)
				d := material(0, 0)
				d.Filter.Group = -1
				var bodies []physics.Body
				for kind := range 4 {
					at := func(x, y float64) physics.Body {
						return r.dynamic(float32(cos*x-sin*y), float32(sin*x+cos*y), turned(angle))
					}
					b := at(1.3, []float64{0.3, 0.25, 0.3, 0.4}[kind])
					switch kind {
					case 0:
						r.circle(b, d, 0.3)
					case 1:
						r.capsule(b, d, -0.2, 0, 0.2, 0, 0.25)
					case 2:
						r.box(b, d, 0.5, 0.3)
					case 3:
						r.polygon(b, d, physics.Polygon{Count: 3, Vertices: [8][2]float32{{-0.4, -0.4}, {0.4, -0.4}, {0, 0.5}}})
					}
					bodies = append(bodies, b)
				}
				r.steps(60)
				for _, b := range bodies {
					r.no(r.w.SetVelocity(b, [2]float32{float32(cos * speed), float32(sin * speed)}, 0))
				}
				for step := range ticks {
					r.steps(1)
					for kind, b := range bodies {
						vx, vy, _ := r.velocity(b)
						rise, along := cos*vy-sin*vx, cos*vx+sin*vy
						if math.Abs(rise) > 1e-3 || along < 0.9999*speed {
							t.Fatalf("%g m/s, angle %g, step %d: body %d has %g m/s across, %g along", speed, angle, step, kind, rise, along)
						}
					}
				}
			}
		}
	}
}

// At the end of a row bodies fall, and a step that is higher than the slop stops them.
func TestSeamsEndWhereTheRowEnds(t *testing.T) {
	for _, step := range []float32{-1, 0, 0.004, 0.0065, 0.02, 0.3} { // -1: no third box
		r := newFixture(t, -10)
		r.row(2, 0, true)
		d := material(0, 0)
		if step >= 0 {
			r.box(r.body(physics.StaticBody, 4, step-0.5), d, 1, 0.5)
		}
		b := r.dynamic(0, 0.3, func(d *physics.BodyDef) { d.FixedRotation = true })
		r.box(b, d, 0.5, 0.3)
		r.steps(60)
		r.no(r.w.SetVelocity(b, [2]float32{2, 0}, 0))
		r.steps(130)
		x, y := r.at(b)
		switch {
		case step < 0 && y > -0.5, step >= 0 && step < 0.005 && x < 3.9, step > 0.005 && (x > 2.51 || math.Abs(y-0.3) > 0.01):
			t.Errorf("a step of %g m: the box is at %g, %g", step, x, y)
		}
	}
}

// Whatever falls on a seam with a corner stays on the floor.
func TestNothingSinksIntoASeam(t *testing.T) {
	run := paritytest.Start(t, "corners")
	r := newFixture(t, -10)
	r.row(40, 0, true)
	var bodies []physics.Body
	for k := range 36 {
		b := r.dynamic(float32(2*k+3), 1.5+run.Float32(), moving(0, -8*run.Float32(), 0), turned(math.Pi/4))
		r.box(b, material(0.5, 0), 0.3, 0.3)
		bodies = append(bodies, b)
	}
	for range 90 {
		r.steps(1)
		for k, b := range bodies {
			if x, y := r.at(b); y < 0 {
				t.Fatalf("box %d is at %g, %g", k, x, y)
			}
		}
	}
}
