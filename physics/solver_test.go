package physics_test

import (
	"math"
	"testing"

	"github.com/evertick/evertick/physics"
)

func newWorld(t testing.TB, c physics.Config) *physics.World {
	t.Helper()
	w, err := physics.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func body(t testing.TB, w *physics.World, kind physics.BodyType, x, y float32) physics.Body {
	t.Helper()
	d := physics.DefaultBodyDef()
	d.Type, d.Position = kind, [2]float32{x, y}
	b, err := w.CreateBody(d)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func box(t testing.TB, w *physics.World, b physics.Body, hx, hy float32) physics.Shape {
	t.Helper()
	s, err := w.CreatePolygon(b, physics.DefaultShapeDef(), physics.Box(hx, hy))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// pyramid returns a pyramid of boxes of one metre on the ground.
func pyramid(t testing.TB, rows int) *physics.World {
	w := newWorld(t, physics.Config{Gravity: [2]float32{0, -10}})
	box(t, w, body(t, w, physics.StaticBody, 0, -1), 100, 1)
	const half = 0.5
	for row := range rows {
		y := (2*float32(row) + 1) * half * 1.0
		for i := range rows - row {
			x := (float32(row)+1)*half + 2*float32(i)*half*1.0 - half*float32(rows)
			box(t, w, body(t, w, physics.DynamicBody, x*1.1, y), half, half)
		}
	}
	return w
}

func TestPyramidStands(t *testing.T) {
	for _, rows := range []int{1, 10, 30} {
		w := pyramid(t, rows)
		before := append([]float32(nil), w.Columns().Y...)
		for range 600 {
			if err := w.Step(1. / 60); err != nil {
				t.Fatal(err)
			}
		}
		c := w.Columns()
		worst := 0.0
		for i := range w.Rows() {
			worst = max(worst, math.Abs(float64(c.Y[i]-before[i])))
		}
		t.Logf("%d rows: the worst box sank %.3f m", rows, worst)
		if worst > 0.1 {
			t.Errorf("%d rows: a box has moved %g m", rows, worst)
		}
	}
}
