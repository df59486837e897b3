package box2d

import (
	"errors"
	"math"
	"testing"

	"github.com/evertick/evertick/physics"
)

// beam is a static body and a ball that hangs from it, 2 m beside it.
func beam(t *testing.T, h Hinge) (*physics.World, physics.Body, physics.Body) {
	t.Helper()
	w := newWorld(t, physics.Config{Gravity: [2]float32{0, -10}})
	h.A = must[physics.Body](t)(w.CreateBody(physics.DefaultBodyDef()))
	h.B = addCircle(t, w, dynamic(2, 0), physics.DefaultShapeDef())
	h.PointB = [2]float32{-2, 0}
	if err := CreateHinge(w, h); err != nil {
		t.Fatal(err)
	}
	return w, h.A, h.B
}

func TestHingeHoldsItsPoint(t *testing.T) {
	w, _, ball := beam(t, Hinge{})
	lowest := float32(0)
	for range 120 {
		step(t, w, 1)
		p := must[[2]float32](t)(w.Position(ball))
		if r := math.Hypot(float64(p[0]), float64(p[1])); math.Abs(r-2) > 0.02 {
			t.Fatalf("the ball is %g m from where it hangs", r)
		}
		lowest = min(lowest, p[1])
	}
	if lowest > -1.9 {
		t.Errorf("the ball has fallen to %g only", lowest)
	}
}

func TestHingeLimits(t *testing.T) {
	w, _, ball := beam(t, Hinge{EnableLimit: true, LowerAngle: -0.5, UpperAngle: 0.25})
	step(t, w, 300)
	if a := must[float32](t)(w.Angle(ball)); math.Abs(float64(a)+0.5) > 0.05 {
		t.Errorf("the ball hangs at an angle of %g", a)
	}
}

func TestHingesEndWithTheirBodies(t *testing.T) {
	w, post, ball := beam(t, Hinge{})
	if err := w.DestroyBody(post); err != nil {
		t.Fatal(err)
	}
	step(t, w, 60)
	if p := must[[2]float32](t)(w.Position(ball)); p[1] > -4 {
		t.Errorf("the ball is at %v", p)
	}
}

func TestBadHinges(t *testing.T) {
	w, post, ball := beam(t, Hinge{})
	gone := addCircle(t, w, dynamic(9, 9), physics.DefaultShapeDef())
	if err := w.DestroyBody(gone); err != nil {
		t.Fatal(err)
	}
	nan := float32(math.NaN())
	for _, c := range []struct {
		h    Hinge
		want error
	}{
		{Hinge{A: post, B: gone}, physics.ErrStale},
		{Hinge{B: ball}, physics.ErrStale},
		{Hinge{A: ball, B: ball}, physics.ErrRange},
		{Hinge{A: post, B: ball, PointA: [2]float32{0, nan}}, physics.ErrNotFinite},
		{Hinge{A: post, B: ball, UpperAngle: nan}, physics.ErrNotFinite},
		{Hinge{A: post, B: ball, LowerAngle: 1}, physics.ErrRange},
		{Hinge{A: post, B: ball, UpperAngle: 1e6}, physics.ErrRange},
	} {
		if err := CreateHinge(w, c.h); !errors.Is(err, c.want) {
			t.Errorf("%+v: %v", c.h, err)
		}
	}
	other, err := physics.New(physics.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if err := CreateHinge(other, Hinge{}); !errors.Is(err, physics.ErrUnsupported) {
		t.Errorf("another engine: %v", err)
	}
}
