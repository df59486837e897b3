package physics3_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/physics3"
)

// Case 4: a hull of a roof and that of a wedge come to rest where they are dropped, and balls that fall on them touch the surface, not what is near it.
func TestCase4RoofAndWedge(t *testing.T) {
	roof := newHull(0, vec{-1, -1, -2}, vec{1, -1, -2}, vec{-1, 1, -2}, vec{1, 1, -2}, vec{-1, -1, 1}, vec{1, -1, 1}, vec{-1, 1, 1}, vec{1, 1, 1}, vec{0, 0, 2})
	wedge := newHull(0, vec{-1, -1, -1}, vec{1, -1, -1}, vec{-1, -1, 1}, vec{1, -1, 1}, vec{1, 1, 1}, vec{-1, 1, 1})
	random := rand.New(rand.NewPCG(paritytest.Seed(), 4))
	for name, hull := range map[string]*physics3.Hull{"roof": roof, "wedge": wedge} {
		attach := func(w *physics3.World, b physics3.Body) physics3.Shape {
			return must[physics3.Shape](t)(w.CreateHull(b, density(1000), hull, physics3.Placement{}))
		}
		w := worldOf(t, material(0.6, 0))
		b := bodyAt(t, w, physics3.DynamicBody, 0, 1.5, 0)
		attach(w, b)
		steps(t, w, 300)
		linear, angular := velocityOf(t, w, b)
		lowest := math.Inf(1)
		for _, v := range hull.AppendVertices(nil) {
			lowest = min(lowest, positionOf(t, w, b)[1]+rotated(rotationOf(t, w, b), wide(v))[1])
		}
		if length(linear) > 0.02 || length(angular) > 0.05 {
			t.Errorf("%s: %g m/s and %g rad/s after 5 s", name, length(linear), length(angular))
		}
		near(t, name+": the lowest vertex", lowest, 0, 0.005)

		w = earth(t)
		still := attach(w, bodyAt(t, w, physics3.StaticBody, 0, 0, 0))
		const radius = 0.1
		ball := must[physics3.Form](t)(physics3.SphereForm(physics3.Sphere{Radius: radius}))
		for range 200 {
			x, z := 2.2*random.Float32()-1.1, 4.2*random.Float32()-2.1
			q := castsAt(ball, vec{x, 3, z}, vec{0, -6, 0})
			var hits physics3.RayHits
			no(t, w.CastClosest(q, &hits))
			if hits.Shapes[0] != still {
				continue
			}
			// From so near that it is slow where it touches.
			b := bodyAt(t, w, physics3.DynamicBody, x, 3-6*hits.Fractions[0]+0.03, z)
			s := sphere(t, w, b, density(1000), radius)
			for range 60 {
				steps(t, w, 1)
				var d physics3.Distances
				no(t, w.Distances([]physics3.Shape{s}, []physics3.Shape{still}, &d))
				touches := len(must[[]physics3.Touch](t)(w.AppendContacts(nil, b))) > 0
				if d.Distance[0] < -0.005 || touches && d.Distance[0] > 0.02 {
					t.Fatalf("%s: a ball from (%g, %g) is at %g from the surface, touches: %v", name, x, z, d.Distance[0], touches)
				}
				if touches {
					break
				}
			}
			no(t, w.DestroyBody(b))
		}
	}
}

// Case 5: thousands of points on a ball, and on a flat one, are reduced to a hull that is as good as its number of vertices allows.
func TestCase5ManyPoints(t *testing.T) {
	for _, c := range []struct{ flat, off, lost float64 }{{1, 0.01, 0.06}, {0.01, 0.02, 0.15}} {
		var points []vec
		for k := range 5000 {
			z := 1 - float64(2*k+1)/5000
			sin, cos := math.Sincos(2.399963 * float64(k))
			r := math.Sqrt(1 - z*z)
			points = append(points, vec{float32(r * cos), float32(c.flat * r * sin), float32(z)})
		}
		h := must[*physics3.Hull](t)(physics3.NewHull(points, physics3.HullOptions{}))
		if v, e, f := h.NumVertices(), h.NumEdges(), h.NumFaces(); v > physics3.MaxHullVertices || v < 100 || v-e+f != 2 {
			t.Errorf("%d vertices, %d edges, %d faces", v, e, f)
		}
		near(t, "the volume", float64(h.Volume())/(4./3*math.Pi*c.flat), 1, c.lost)
		near(t, "the centre", length(wide(h.Center())), 0, c.off)
	}
}
