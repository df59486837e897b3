package physics3_test

import (
	"testing"

	"github.com/evertick/evertick/physics3"
)

// Hulls of the tests.
var (
	tetrahedron = newHull(0, vec{0, 0, 0}, vec{1, 0, 0}, vec{0, 1, 0}, vec{0, 0, 1})
	prism       = newHull(0.05, vec{-0.5, -0.4, -0.3}, vec{0.5, -0.4, -0.3}, vec{0, 0.4, -0.3}, vec{-0.5, -0.4, 0.3}, vec{0.5, -0.4, 0.3}, vec{0, 0.4, 0.3})
)

func newHull(radius float32, points ...vec) *physics3.Hull {
	h, err := physics3.NewHull(points, physics3.HullOptions{Radius: radius})
	if err != nil {
		panic(err)
	}
	return h
}

// must returns a function that fails the test where a call has an error.
func must[T any](t testing.TB) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// emptyWorld is a world without gravity and floor, unless c has it.
func emptyWorld(t testing.TB, c physics3.Config) *physics3.World {
	t.Helper()
	return must[*physics3.World](t)(physics3.New(c))
}

func bodyOf(t testing.TB, w *physics3.World, d physics3.BodyDef) physics3.Body {
	t.Helper()
	return must[physics3.Body](t)(w.CreateBody(d))
}

func shapesOf(t testing.TB, w *physics3.World, b physics3.Body) []physics3.Shape {
	t.Helper()
	return must[[]physics3.Shape](t)(w.AppendShapes(nil, b))
}
