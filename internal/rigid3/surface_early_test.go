package rigid3

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
)

// The early tests, which take no root, leave out nothing that the exact ones keep: for triangles from centimetres to kilometres.
func TestEarlyTestsOfTriangles(t *testing.T) {
	seed := paritytest.Seed()
	rng := rand.New(rand.NewPCG(seed, 0))
	apart, beside, sides := 0, 0, 0
	for i := range 3000 {
		shape, pose := randomTouching(rng), Pose{Q: randomQuat(rng)}
		size := math.Pow(10, 5*rng.Float64()-2)
		spread := func(by float64) Vec {
			return Vec{float32(rng.NormFloat64() * by), float32(rng.NormFloat64() * by), float32(rng.NormFloat64() * by)}
		}
		var v [3][3]float32
		pose.P = spread(10)
		for j := range v {
			p := pose.P.Add(spread(size))
			v[j] = [3]float32{p.X, p.Y, p.Z}
		}
		if rng.IntN(2) == 0 { // near the plane of the triangle, and near an edge as often as not
			a, b, c := vecOf(v[0]), vecOf(v[1]), vecOf(v[2])
			pose.P = a.Add(b.Sub(a).Times(rng.Float32())).Add(c.Sub(a).Times(float32(rng.IntN(2)) * rng.Float32())).Add(spread(.3))
		}
		s := surfaceScene{surface: cookMesh(t, v[:], [][3]uint32{{0, 1, 2}}), twoSided: rng.IntN(2) == 0}
		s.collide(shape, &pose)
		k, face := &s.k, s.surface.Face(0)
		a, b, c := wideArray(face.Vertices[0]), wideArray(face.Vertices[1]), wideArray(face.Vertices[2])
		n := b.Sub(a).Cross(c.Sub(a))
		a = a.Sub(k.at.p)
		if k.isApart(n, n.Dot(n), a) {
			apart++
			unit := n.unit(vec64{})
			offset, height := unit.Dot(a), unit.Dot(k.middle)-unit.Dot(a)
			if s.twoSided && height < 0 {
				unit, offset = unit.neg(), -offset
			} else if height < -frontTolerance {
				continue
			}
			if reach := k.reach(k.toAxes(unit)); !(-offset-reach > float64(k.margin)) {
				t.Fatalf("seed %d, case %d: a triangle at %g, with a reach of %g, is apart", seed, i, -offset, reach)
			}
			continue
		}
		var f surfaceFace
		if !k.place(&face, &f) {
			continue
		}
		if k.isBeside(&f) {
			beside++
			both := surfaceScene{surface: s.surface, twoSided: true}
			if d, meets := both.distanceTo(shape, &pose); meets || d+float64(shape.Radius) < float64(k.margin) {
				t.Fatalf("seed %d, case %d: kind %d at %g, with a margin of %g, is beside", seed, i, shape.Kind, d+float64(shape.Radius), k.margin)
			}
		}
		for j := range 3 {
			f.setSide(j)
			on := f.corners[j].addTimes(f.corners[(j+1)%3].Sub(f.corners[j]), rng.Float64())
			for range 4 {
				p := on.addTimes(f.side[j], sideTolerance*(1+rng.NormFloat64()*math.Pow(10, -4*rng.Float64())))
				exact := f.side[j].Dot(p)-f.beside[j] > sideTolerance
				if where := f.outside(j, p); where != 0 && where > 0 != exact {
					t.Fatalf("seed %d, case %d: outside %d, but %g beyond the side", seed, i, where, f.side[j].Dot(p)-f.beside[j])
				} else if where != 0 {
					sides++
				}
			}
		}
	}
	if apart < 300 || beside < 30 || sides < 300 {
		t.Errorf("seed %d: %d apart, %d beside, %d sides", seed, apart, beside, sides)
	}
}
