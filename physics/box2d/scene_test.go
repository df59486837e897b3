package box2d

import (
	"math/rand/v2"
	"testing"

	"github.com/evertick/evertick/physics"
)

const dt = float32(1.0 / 60)

func newWorld(t testing.TB, c physics.Config) *physics.World {
	t.Helper()
	w, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func step(t testing.TB, w *physics.World, n int) {
	t.Helper()
	for range n {
		if err := w.Step(dt); err != nil {
			t.Fatal(err)
		}
	}
}

func dynamic(x, y float32) physics.BodyDef {
	d := physics.DefaultBodyDef()
	d.Type = physics.DynamicBody
	d.Position = [2]float32{x, y}
	d.DisableSleep = true
	return d
}

// addCircle makes a body with one circle of radius 0.5.
func addCircle(t testing.TB, w *physics.World, d physics.BodyDef, material physics.ShapeDef) physics.Body {
	t.Helper()
	b := must[physics.Body](t)(w.CreateBody(d))
	must[physics.Shape](t)(w.CreateCircle(b, material, physics.Circle{Radius: 0.5}))
	return b
}

// addFloor makes a static segment along the first axis.
func addFloor(t testing.TB, w *physics.World) physics.Body {
	t.Helper()
	b := must[physics.Body](t)(w.CreateBody(physics.DefaultBodyDef()))
	must[physics.Shape](t)(w.CreateSegment(b, physics.DefaultShapeDef(),
		physics.Segment{P1: [2]float32{-50, 0}, P2: [2]float32{50, 0}}))
	return b
}

// pour drops n circles, boxes and triangles on a floor.
func pour(t testing.TB, w *physics.World, n int, seed uint64) []physics.Body {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, seed))
	addFloor(t, w)
	bodies := make([]physics.Body, n)
	for i := range bodies {
		d := dynamic(rng.Float32()*10-5, 1+float32(i)*0.3)
		d.Angle = rng.Float32()*6 - 3
		d.AngularVelocity = rng.Float32() - 0.5
		d.DisableSleep = i%2 == 0
		bodies[i] = must[physics.Body](t)(w.CreateBody(d))
		material := physics.DefaultShapeDef()
		material.Restitution = rng.Float32() / 2
		var err error
		switch i % 3 {
		case 0:
			_, err = w.CreateCircle(bodies[i], material, physics.Circle{Radius: 0.3})
		case 1:
			_, err = w.CreatePolygon(bodies[i], material, physics.Box(0.4, 0.2))
		case 2:
			triangle := must[physics.Polygon](t)(physics.NewPolygon(
				[2]float32{-0.3, -0.3}, [2]float32{0.3, -0.3}, [2]float32{0, 0.4}))
			_, err = w.CreatePolygon(bodies[i], material, triangle)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return bodies
}
