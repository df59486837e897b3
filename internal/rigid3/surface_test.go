package rigid3

import (
	"math"
	"testing"

	"github.com/evertick/evertick/internal/mesh"
)

// A ball on a floor of two triangles, at all places on their common edge, touches once, straight up.
func TestBallOnTwoTriangles(t *testing.T) {
	m, _, err := mesh.Cook([][3]float32{{-1, 0, -1}, {1, 0, -1}, {1, 0, 1}, {-1, 0, 1}}, [][3]uint32{{0, 2, 1}, {0, 3, 2}})
	if err != nil {
		t.Fatal(err)
	}
	var k SurfaceCollider
	var out [MaxSurfaceManifolds]SurfaceManifold
	for i := range 100 {
		x := float32(i)/50 - .99
		n := k.Collide(m, false, ball(.5), nil, &origin, at(x, .49, x), &origin, &out)
		if n != 1 || out[0].Count != 1 || out[0].Normal != (Vec{0, 1, 0}) || math.Abs(float64(out[0].Points[0].Separation)+.01) > 1e-6 {
			t.Fatalf("x %g: %d manifolds, %+v", x, n, out[0])
		}
	}
	if n := k.Collide(m, false, ball(.5), nil, &origin, at(0, -.1, 0), &origin, &out); n != 0 {
		t.Errorf("%d manifolds behind the floor", n)
	}
	if n := k.Collide(m, true, ball(.5), nil, &origin, at(0, -.1, 0), &origin, &out); n != 1 || out[0].Normal != (Vec{0, -1, 0}) {
		t.Errorf("two sides: %d manifolds, %+v", n, out[0])
	}
}
