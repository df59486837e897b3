package physics

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

// regular returns the corners of a regular polygon, counter-clockwise.
func regular(n int, radius float64, center [2]float32) [][2]float32 {
	points := make([][2]float32, n)
	for i := range points {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / float64(n))
		points[i] = [2]float32{center[0] + float32(radius*cos), center[1] + float32(radius*sin)}
	}
	return points
}

func TestPolygonOrderIsFound(t *testing.T) {
	const seed = 3
	rng := rand.New(rand.NewPCG(seed, seed))
	for n := 3; n <= MaxPolygonVertices; n++ {
		for range 100 {
			want := regular(n, math.Exp(rng.Float64()*20-10), [2]float32{rng.Float32(), rng.Float32()})
			order := rng.Perm(n)
			shuffled := make([][2]float32, n)
			for i, from := range order {
				shuffled[i] = want[from]
			}
			got, err := NewPolygon(shuffled...)
			if err != nil {
				t.Fatalf("seed %d: %v: %v", seed, shuffled, err)
			}
			for i := range n {
				if got.Vertices[i] != want[(order[0]+i)%n] {
					t.Fatalf("seed %d: %v sorted to %v", seed, shuffled, got.Vertices[:n])
				}
			}
		}
	}
}

func TestPolygonNeedsConvexCorners(t *testing.T) {
	square := [][2]float32{{0, 0}, {1, 0}, {1, 1}, {0, 1}}
	for name, extra := range map[string][2]float32{
		"inside":       {0.5, 0.4},
		"centre":       {0.5, 0.5},
		"on a side":    {0.5, 0},
		"nearly so":    {0.5, -1e-8},
		"on a corner":  {1, 1},
		"near another": {1, 1 + 1e-7},
	} {
		for at := range len(square) + 1 {
			points := append(append(append([][2]float32{}, square[:at]...), extra), square[at:]...)
			if _, err := NewPolygon(points...); !errors.Is(err, ErrRange) {
				t.Errorf("%s, at %d: got %v", name, at, err)
			}
		}
	}
	if _, err := NewPolygon(append(square, [2]float32{0.5, -0.1})...); err != nil {
		t.Errorf("a corner that stands out: %v", err)
	}
	if _, err := NewPolygon(make([][2]float32, 20)...); !errors.Is(err, ErrRange) {
		t.Errorf("20 points: %v", err)
	}
}

func TestPolygonExtremes(t *testing.T) {
	for _, size := range []float32{1e-30, 1e-3, 1, 1e10, 1e38} {
		if _, err := NewPolygon([2]float32{-size, -size}, [2]float32{size, -size}, [2]float32{0, size}); err != nil {
			t.Errorf("size %g: %v", size, err)
		}
	}
	if p, err := Box(-1, 2).hull(); err != nil || p.Count != 4 {
		t.Errorf("mirrored box: %v, %v", p, err)
	}
	if _, err := Box(1000, 0.01).hull(); err != nil {
		t.Errorf("long thin box: %v", err)
	}
}

func TestEngineGetsCounterClockwisePolygons(t *testing.T) {
	w, f := newFakeWorld(t, Config{})
	b := must[Body](t)(w.CreateBody(DefaultBodyDef()))
	clockwise := Polygon{Count: 3, Vertices: [8][2]float32{{0, 0}, {0, 1}, {1, 0}}}
	must[Shape](t)(w.CreatePolygon(b, DefaultShapeDef(), clockwise))
	if want := (Polygon{Count: 3, Vertices: [8][2]float32{{0, 0}, {1, 0}, {0, 1}}}); f.polygon != want {
		t.Errorf("got %v", f.polygon)
	}
}
