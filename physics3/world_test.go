package physics3_test

import (
	"errors"
	"math"
	"testing"

	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/physics3"
)

// The world of most tests: gravity along -y, and a floor whose top is at 0.
func newWorld(t testing.TB, c physics3.Config) *physics3.World {
	t.Helper()
	c.Gravity = [3]float32{0, -9.81, 0}
	w, err := physics3.New(c)
	if err != nil {
		t.Fatal(err)
	}
	floor := physics3.DefaultBodyDef()
	floor.Position = [3]float32{0, -0.5, 0}
	addBox(t, w, floor, [3]float32{50, 0.5, 50})
	return w
}

func addBox(t testing.TB, w *physics3.World, d physics3.BodyDef, half [3]float32) physics3.Body {
	t.Helper()
	b, err := w.CreateBody(d)
	if err == nil {
		_, err = w.CreateBox(b, physics3.DefaultShapeDef(), physics3.Box{Half: half})
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// dynamicAt returns a dynamic body at a place.
func dynamicAt(x, y, z float32) physics3.BodyDef {
	d := physics3.DefaultBodyDef()
	d.Type, d.Position = physics3.DynamicBody, [3]float32{x, y, z}
	return d
}

func steps(t testing.TB, w *physics3.World, n int) {
	t.Helper()
	for range n {
		if err := w.Step(1. / 60); err != nil {
			t.Fatal(err)
		}
	}
}

func tower(t testing.TB, w *physics3.World, n int) (bodies []physics3.Body) {
	for i := range n {
		bodies = append(bodies, addBox(t, w, dynamicAt(0, 0.5+float32(i), 0), [3]float32{0.5, 0.5, 0.5}))
	}
	return bodies
}

func TestTowerStands(t *testing.T) {
	w := newWorld(t, physics3.Config{DisableSleep: true})
	bodies := tower(t, w, 10)
	steps(t, w, 600)
	for i, b := range bodies {
		p, _ := w.Position(b)
		if math.Abs(float64(p[0])) > 0.01 || math.Abs(float64(p[2])) > 0.01 || math.Abs(float64(p[1])-0.5-float64(i)) > 0.005*float64(i+1) {
			t.Errorf("body %d is at %v", i, p)
		}
	}
}

// Where bodies are of similar mass, contacts are stiff enough that a pyramid hardly sinks in.
func TestPyramidHardlySinksIn(t *testing.T) {
	w := newWorld(t, physics3.Config{})
	const base = 20
	var bodies []physics3.Body
	for row := range base {
		for i := range base - row {
			bodies = append(bodies, addBox(t, w, dynamicAt(float32(i)+float32(row)/2-base/2, 0.5+float32(row), 0), [3]float32{0.5, 0.5, 0.5}))
		}
	}
	steps(t, w, 200)
	overlap, points := 0., 0
	for _, b := range bodies {
		data, err := w.AppendContactData(nil, b)
		if err != nil {
			t.Fatal(err)
		}
		for i := range data {
			for _, p := range data[i].Points[:data[i].Count] {
				overlap -= min(float64(p.Separation), 0)
				points++
			}
		}
	}
	if mean := overlap / float64(points); points < 3000 || mean > 0.0006 {
		t.Errorf("%d points overlap by %.2g m in the mean", points, mean)
	}
}

// NewHull reduces the hull of any number of points, and a body of that shape rests.
func TestHullOfManyPoints(t *testing.T) {
	var points [][3]float32
	for i := range 400 { // on a spiral around a ball
		y := 1 - 2*(float64(i)+0.5)/400
		r, angle := math.Sqrt(1-float64(y*y)), float64(i)*2.4
		points = append(points, [3]float32{float32(r * math.Cos(angle)), float32(y), float32(r * math.Sin(angle))})
	}
	for _, most := range []int{0, 4, 32, physics3.MaxHullVertices} {
		h, err := physics3.NewHull(points, physics3.HullOptions{MaxVertices: most})
		if err != nil {
			t.Fatal(err)
		}
		want := most
		if most == 0 {
			want = physics3.MaxHullVertices
		}
		if n := h.NumVertices(); n != want || h.NumFaces()+n != h.NumEdges()+2 {
			t.Errorf("%d vertices, %d faces and %d edges of at most %d", n, h.NumFaces(), h.NumEdges(), most)
		}
		w := newWorld(t, physics3.Config{})
		b, err := w.CreateBody(dynamicAt(0, 1.2, 0))
		if err == nil {
			_, err = w.CreateHull(b, physics3.DefaultShapeDef(), h, physics3.Placement{})
		}
		if err != nil {
			t.Fatal(err)
		}
		steps(t, w, 180)
		if p, _ := w.Position(b); p[1] < 0 || p[1] > 1.01 {
			t.Errorf("a hull of %d vertices is at %v", h.NumVertices(), p)
		}
	}
	if _, err := physics3.NewHull(points, physics3.HullOptions{MaxVertices: physics3.MaxHullVertices + 1}); !errors.Is(err, physics3.ErrRange) {
		t.Errorf("too many vertices: %v", err)
	}
}

func TestTowerSleeps(t *testing.T) {
	w := newWorld(t, physics3.Config{})
	tower(t, w, 10)
	steps(t, w, 120)
	if n := w.AwakeCount(); n != 0 {
		t.Errorf("%d bodies are awake", n)
	}
}

// A snapshot in the middle of contacts continues with the same bits, on every level and with workers.
func TestRestoreContinues(t *testing.T) {
	w := newWorld(t, physics3.Config{})
	tower(t, w, 10)
	d := dynamicAt(0.2, 12, 0.1)
	d.Rotation = [4]float32{1, 2, 3, 4}
	addBox(t, w, d, [3]float32{0.5, 0.3, 0.2})
	steps(t, w, 20)
	data, err := w.Snapshot(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, level := range native.Levels() {
		for workers := 1; workers <= 2; workers++ {
			o, err := physics3.New(physics3.Config{Capacity: 100, Level: level, Workers: workers})
			if err == nil {
				err = o.Restore(data)
			}
			if err != nil {
				t.Fatal(err)
			}
			original, err := w.Clone()
			if err != nil {
				t.Fatal(err)
			}
			for range 100 {
				steps(t, original, 1)
				steps(t, o, 1)
				if original.Hash() != o.Hash() {
					t.Fatalf("level %v, %d workers: hashes differ", level, workers)
				}
			}
		}
	}
}
