package physics_test

import (
	"math"
	"testing"

	"github.com/evertick/evertick/physics"
)

// A fast pendulum is not stopped at the shape of the body that it hangs from.
func TestFastPendulumPassesItsPost(t *testing.T) {
	r := newRig(t, 0)
	a, b := r.body(physics.StaticBody, 0, 0), r.dynamic(2, 0, moving(0, 100, 50))
	r.box(a, plain, 0.02, 5)
	r.circle(b, plain, 0.1)
	r.hinge(a, b, 0, 0)
	turned := 0.0
	for before := r.angle(b); turned < 9; {
		r.steps(1)
		turn := math.Remainder(r.angle(b)-before, 2*math.Pi)
		if turn < 0.2 {
			t.Fatalf("turned by %v after %v", turn, turned)
		}
		turned += turn
		before = r.angle(b)
	}
}
