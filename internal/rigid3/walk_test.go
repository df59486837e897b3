package rigid3

import (
	"math"
	"testing"

	"github.com/evertick/evertick/internal/mesh"
	"github.com/evertick/evertick/internal/paritytest"
)

// The distance of a capsule from a triangle, and where it meets one, are those of the casts of queries, which know no triangles but cores of three
// points.
func TestWalkTriangles(t *testing.T) {
	run := paritytest.Start(t, "capsules and triangles")
	draw := func(half float64) vec64 {
		return vec64{within(run.Rand, -half, half), within(run.Rand, -half, half), within(run.Rand, -half, half)}
	}
	apartFrom, met := 0, 0
	for range paritytest.Rounds(20_000) {
		var face mesh.Face
		for i := range face.Vertices {
			v := draw(1).narrow()
			face.Vertices[i] = [3]float32{v.X, v.Y, v.Z}
		}
		g := target{surface: Surface{TwoSided: true}}
		g.pose.set(&Pose{Q: Identity}, &origin)
		var tri nearTriangle
		tri.set(&g, &face)
		c := walkCore{a: draw(2).narrow().wide64(), radius: within(run.Rand, 0.1, 0.5)}
		c.b = c.a.Add(draw(1)).narrow().wide64()
		if run.IntN(4) == 0 {
			c.b = c.a
		}
		pair := func(c *walkCore) corePair {
			var core triangleCore
			core.set(&face)
			half := c.b.Sub(c.a).Times(0.5).narrow()
			v := corePair{a: Polytope{Vertices: append([]Vec(nil), core.vertices[:]...)}, b: Polytope{Vertices: []Vec{half.neg(), half}}}
			v.at = pose64{c.middle(), vec64{x: 1}, vec64{y: 1}, vec64{z: 1}}
			return v
		}
		v := pair(&c)
		near, apart := v.separated()
		side := tri.faces(c.middle())
		f, ok := tri.gap(&c, side)
		if !ok || apart && near.distance > 1e-6 && math.Abs(f.t+c.radius-near.distance) > 1e-6 && f.t > -c.radius {
			t.Fatalf("%v and %v: %g away, want %g", face.Vertices, c, f.t+c.radius, near.distance)
		}
		if !apart && f.t > -c.radius+1e-6 {
			t.Fatalf("%v and %v: %g away, but they cross", face.Vertices, c, f.t+c.radius)
		}
		if !apart || near.distance <= c.radius+1e-3 {
			continue
		}
		apartFrom++
		if math.Abs(f.normal.Dot(near.normal)-1) > 1e-6 {
			t.Fatalf("%v and %v: normal %v, want %v", face.Vertices, c, f.normal, near.normal)
		}
		d := draw(3)
		want, _, hit := v.advance(near, d, c.radius, 1)
		got, ok := tri.cast(&c, d, side, 1)
		if ok != hit {
			end := c.moved(d) // one that only just touches may be missed
			if f, _ := tri.gap(&end, side); math.Abs(f.t) > 1e-3 && !grazes(&tri, &c, d, side) {
				t.Fatalf("%v and %v along %v: hit %v, want %v", face.Vertices, c, d, ok, hit)
			}
			continue
		}
		if ok {
			met++
			if at := c.moved(d.Times(got.t)); math.Abs(got.t-want) > 1e-5 {
				if f, _ := tri.gap(&at, side); math.Abs(f.t) > 2*CastTolerance {
					t.Fatalf("%v and %v along %v: at %g, want %g", face.Vertices, c, d, got.t, want)
				}
			}
		}
	}
	if apartFrom < 100 || met < 20 {
		t.Errorf("%d apart, %d met", apartFrom, met)
	}
}

// grazes reports whether a capsule on its way comes no deeper into a triangle than a tenth of a millimetre, but as near.
func grazes(tri *nearTriangle, c *walkCore, d vec64, side float64) bool {
	least := math.Inf(1)
	for k := range 1001 {
		at := c.moved(d.Times(float64(k) / 1000))
		if f, ok := tri.gap(&at, side); ok {
			least = min(least, f.t)
		}
	}
	return math.Abs(least) < 1e-4
}

// The closest points of two segments, against a search over both.
func TestClosestOfSegments(t *testing.T) {
	run := paritytest.Start(t, "closest points of segments")
	draw := func() vec64 {
		return vec64{within(run.Rand, -1, 1), within(run.Rand, -1, 1), within(run.Rand, -1, 1)}
	}
	for k := range paritytest.Rounds(3000) {
		p, u, a, b := draw(), draw(), draw(), draw()
		switch k % 5 {
		case 1:
			b = a
		case 2:
			b = a.Add(u)
		case 3:
			u = vec64{}
		}
		x, y := closestOfSegments(p, u, a, b)
		got := y.Sub(x).length()
		for i := range 41 {
			for j := range 41 {
				q := p.addTimes(u, float64(i)/40).Sub(a.addTimes(b.Sub(a), float64(j)/40))
				if q.length() < got-1e-9 {
					t.Fatalf("%v along %v, %v to %v: %g apart, and not %g", p, u, a, b, q.length(), got)
				}
			}
		}
	}
}
