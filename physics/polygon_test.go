package physics

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/internal/rigid"
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

// The error of a polygon with a point that is no corner names that point, wherever it is in the list.
func TestPolygonNamesTheWrongCorner(t *testing.T) {
	square := [][2]float32{{0, 0}, {1, 0}, {1, 1}, {0, 1}}
	for _, extra := range [][2]float32{{0.5, 0}, {1, 0.25}, {0.5, 1}, {0, 0.75}, {0.5, 0.001}, {0.9, 0.5}} {
		for at := range len(square) + 1 {
			_, err := NewPolygon(slices.Insert(slices.Clone(square), at, extra)...)
			if want := fmt.Sprintf("Vertices[%d]", at); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v at %d: %v", extra, at, err)
			}
		}
	}
}

// The error of a polygon with corners that are too close to each other names both as they were given, in any order.
func TestPolygonNamesCloseCorners(t *testing.T) {
	rng := rand.New(rand.NewPCG(paritytest.Seed(), 2))
	w := must[*World](t)(New(Config{}))
	b := must[Body](t)(w.CreateBody(DefaultBodyDef()))
	corners := [][2]float32{{0, 0}, {1, 0}, {1.002, 0.002}, {1, 1}, {0, 1}}
	for range 50 {
		rng.Shuffle(len(corners), func(i, j int) { corners[i], corners[j] = corners[j], corners[i] })
		p := must[Polygon](t)(NewPolygon(corners...))
		copy(p.Vertices[:], corners)
		_, err := w.CreatePolygon(b, DefaultShapeDef(), p)
		for _, v := range [][2]float32{{1, 0}, {1.002, 0.002}} {
			if want := fmt.Sprintf("Vertices[%d] = %v", slices.Index(corners, v), v); !errors.Is(err, ErrRange) || !strings.Contains(err.Error(), want) {
				t.Fatalf("%v: %v, want %s", corners, err, want)
			}
		}
	}
	if w.ShapeCount() != 0 {
		t.Errorf("%d shapes", w.ShapeCount())
	}
}

// A hull is a polygon that holds all points, and whose corners are points, in the order from the first of them.
func TestHull(t *testing.T) {
	rng := rand.New(rand.NewPCG(paritytest.Seed(), 1))
	for range paritytest.Rounds(2000) {
		size, grid := math.Exp(rng.Float64()*4-1), 2+rng.IntN(4)
		points := make([][2]float32, 3+rng.IntN(12))
		for i := range points { // of a grid, so that many are on one line, or equal
			points[i] = [2]float32{float32(size * float64(rng.IntN(grid))), float32(size * float64(rng.IntN(grid)))}
			if rng.IntN(4) == 0 {
				points[i][0] += 0.004 * rng.Float32()
			}
		}
		p, err := Hull(points...)
		if err != nil {
			if !errors.Is(err, ErrRange) {
				t.Fatalf("%v: %v", points, err)
			}
			continue
		}
		if q, err := NewPolygon(p.Vertices[:p.Count]...); err != nil || q != p {
			t.Fatalf("hull %v of %v is made into %v, %v", p, points, q, err)
		}
		corners := make([]rigid.Vec, p.Count)
		for i, v := range p.Vertices[:p.Count] {
			if corners[i] = vecOf(v); !slices.Contains(points, v) {
				t.Fatalf("%v is a corner of the hull of %v", v, points)
			}
		}
		if _, err := rigid.MakePolygon(corners, 0); err != nil {
			t.Fatalf("hull %v of %v: %v", p, points, err)
		}
		for _, v := range points {
			for i := range p.Count {
				from, to := widen(p.Vertices[i]), widen(p.Vertices[(i+1)%p.Count])
				side := to.sub(from)
				if out := -side.cross(widen(v).sub(from)) / side.length(); out > 3*rigid.LinearSlop {
					t.Fatalf("%v is %g m outside the hull %v of %v", v, out, p, points)
				}
			}
		}
	}
	for _, c := range []struct {
		points [][2]float32
		want   int
	}{
		{[][2]float32{{0, 0}, {0.5, 0}, {1, 0}, {1, 1}, {0.25, 0.25}, {0, 1}, {0, 0.5}}, 4},
		{[][2]float32{{0, 0}, {1, 0}, {1, 0.002}, {0, 1}}, 3},
		{[][2]float32{{0, 0}, {1, 0}, {2, 0}}, 0},
		{[][2]float32{{0, 0}, {0, 0}}, 0},
		{nil, 0},
		{regular(9, 1, [2]float32{}), 0},
	} {
		p, err := Hull(c.points...)
		if (err == nil) != (c.want > 0) || err == nil && p.Count != c.want {
			t.Errorf("hull of %v: %v, %v, want %d corners", c.points, p, err, c.want)
		}
	}
	if _, err := Hull([2]float32{0, float32(math.NaN())}); !errors.Is(err, ErrNotFinite) {
		t.Error(err)
	}
}
