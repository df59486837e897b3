package physics3_test

import (
	"math"
	"testing"

	"github.com/evertick/evertick/physics3"
)

// Case 125: a body that changes its type keeps what it carries, and gets its mass back.
func TestCase125TypeChanges(t *testing.T) {
	types := []physics3.BodyType{physics3.StaticBody, physics3.DynamicBody, physics3.KinematicBody, physics3.DynamicBody}
	for _, apart := range []bool{false, true} {
		for _, asleep := range []bool{false, true} {
			w := newWorld(t, physics3.Config{DisableSleep: !asleep, Capacity: 16})
			lower := addBox(t, w, dynamicAt(0, 0.5, 0), [3]float32{0.5, 0.5, 0.5})
			upper := addBox(t, w, dynamicAt(0, 1.5, 0), [3]float32{0.5, 0.5, 0.5})
			steps(t, w, 120)
			if asleep != (w.AwakeCount() == 0) {
				t.Fatalf("asleep %v, %d awake", asleep, w.AwakeCount())
			}
			mass := must[physics3.MassData](t)(w.MassData(lower))
			before := [2]vector{positionOf(t, w, lower), positionOf(t, w, upper)}
			begins, ends := 0, 0
			count := func() {
				begins, ends = begins+len(w.Events().Begin), ends+len(w.Events().End)
			}
			for _, kind := range types {
				check(t, w.SetType(lower, kind))
				if kind == physics3.StaticBody {
					if v, spin := velocityOf(t, w, lower); v != (vector{}) || spin != (vector{}) {
						t.Errorf("a static body has the velocity %v, %v", v, spin)
					}
				}
				if apart {
					steps(t, w, 1)
					count()
				}
			}
			for range 60 {
				steps(t, w, 1)
				count()
				for k, b := range [2]physics3.Body{lower, upper} {
					near(t, "the sag", length(minus(positionOf(t, w, b), before[k])), 0, 1e-3)
				}
			}
			if m := must[physics3.MassData](t)(w.MassData(lower)); m != mass {
				t.Errorf("the mass is %v, was %v", m, mass)
			}
			if apart { // two that cannot move each other have no contact: that with the floor ends while the body is not dynamic
				if ends > 2 || begins > 2 {
					t.Errorf("%d contacts began and %d ended", begins, ends)
				}
			} else if begins != 0 || ends != 0 {
				t.Errorf("%d contacts began and %d ended", begins, ends)
			}
		}
	}
}

// Case 126: damping does not depend on the rate of the steps.
func TestCase126Damping(t *testing.T) {
	for _, hertz := range []float32{30, 60, 200} {
		w := weightlessWorld(t, physics3.Config{DisableSleep: true})
		d := dynamicAt(0, 0, 0)
		d.LinearDamping = 1
		b := addBoxOf(t, w, d, [3]float32{0.5, 0.5, 0.5}, density(30))
		for range int(20 * hertz) {
			check(t, w.ApplyForceToCenter(b, [3]float32{800, 0, 0}))
			check(t, w.Step(1/hertz))
		}
		v, _ := velocityOf(t, w, b)
		near(t, "the terminal speed", v[0], 800./30, 0.01*800/30)

		w = weightlessWorld(t, physics3.Config{DisableSleep: true})
		d = dynamicAt(0, 0, 0)
		d.LinearVelocity, d.LinearDamping = [3]float32{10, 0, 0}, 30
		b = addBoxOf(t, w, d, [3]float32{0.5, 0.5, 0.5}, density(1))
		for range int(0.1*hertz + 0.5) {
			check(t, w.Step(1/hertz))
		}
		v, _ = velocityOf(t, w, b)
		if least := 10 * math.Exp(-3); v[0] < 0.99*least || v[0] > 0.75 {
			t.Errorf("%g Hz: after 0.1 s the speed is %g", hertz, v[0])
		}

		w = weightlessWorld(t, physics3.Config{DisableSleep: true})
		d.LinearDamping, d.AngularDamping, d.AngularVelocity = 1000, 1000, [3]float32{1, 2, 3}
		b = addBoxOf(t, w, d, [3]float32{0.5, 0.5, 0.5}, density(1))
		for range 20 {
			check(t, w.Step(1/hertz))
			v, spin := velocityOf(t, w, b)
			if v[0] < 0 || spin[0] < 0 || spin[2] < 0 {
				t.Fatalf("%g Hz: the velocity is %v, the spin %v", hertz, v, spin)
			}
		}
	}
}
