package physics3_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/physics3"
)

// queriedMesh is a mesh at a place in a body at a place, and its triangles in the world.
type queriedMesh struct {
	w         *physics3.World
	shape     physics3.Shape
	triangles [][3]vector
}

func newQueriedMesh(t testing.TB, c physics3.Config, d physics3.MeshDef, at physics3.Placement, body physics3.BodyDef) *queriedMesh {
	t.Helper()
	c.Capacity = 4
	w := emptyWorld(t, c)
	q := &queriedMesh{w: w, shape: must[physics3.Shape](t)(w.CreateMesh(bodyOf(t, w, body), plain, newMesh(d), at))}
	place := func(v vec) vector {
		p := rotated(unitOf(at.Rotation), wide(v))
		p = vector{p[0] + float64(at.Position[0]), p[1] + float64(at.Position[1]), p[2] + float64(at.Position[2])}
		p = rotated(unitOf(body.Rotation), p)
		return vector{p[0] + float64(body.Position[0]), p[1] + float64(body.Position[1]), p[2] + float64(body.Position[2])}
	}
	for _, v := range d.Triangles {
		q.triangles = append(q.triangles, [3]vector{place(d.Vertices[v[0]]), place(d.Vertices[v[1]]), place(d.Vertices[v[2]])})
	}
	return q
}

// unitOf returns a rotation with length one; zero is none.
func unitOf(q quat) quat {
	if q == (quat{}) {
		return unit
	}
	l := float32(norm(q[:]...))
	return quat{q[0] / l, q[1] / l, q[2] / l, q[3] / l}
}

func bumpyQueried(t testing.TB, r *rand.Rand, twoSided bool, level native.Level) *queriedMesh {
	d := gridMesh(7, 6, func(x, z float32) float32 { return float32(math.Sin(float64(2*x)) * math.Cos(float64(3*z))) })
	d.TwoSided = twoSided
	turned := func() quat {
		return unitOf(quat{r.Float32() - 0.5, r.Float32() - 0.5, r.Float32() - 0.5, r.Float32() - 0.5})
	}
	b := physics3.DefaultBodyDef()
	b.Position, b.Rotation = vec{r.Float32() * 5, r.Float32() * 5, r.Float32() * 5}, turned()
	return newQueriedMesh(t, physics3.Config{Level: level}, d, physics3.Placement{Position: vec{r.Float32(), 1, 0}, Rotation: turned()}, b)
}

func add(a, b vector, s float64) vector { return vector{a[0] + s*b[0], a[1] + s*b[1], a[2] + s*b[2]} }

// rayMeets returns where a ray meets a triangle, and how far from its border, as a share.
func rayMeets(o, d vector, v [3]vector, twoSided bool) (at, border float64) {
	n := cross(minus(v[1], v[0]), minus(v[2], v[0]))
	speed := dot(n, d)
	if speed >= 0 && !twoSided || speed == 0 {
		return math.Inf(1), 1
	}
	at = dot(n, minus(v[0], o)) / speed
	p := add(o, d, at)
	border = 1
	if speed*speed < 1e-6*dot(n, n)*dot(d, d) {
		border = 0 // it grazes the triangle: rounding decides where
	}
	for k := range 3 {
		side := dot(n, cross(minus(v[(k+1)%3], v[k]), minus(p, v[k]))) / dot(n, n)
		border = min(border, side)
	}
	if border < 0 || at < 0 || at > 1 {
		return math.Inf(1), min(math.Abs(border), math.Abs(at), math.Abs(at-1))
	}
	return at, min(border, at, 1-at)
}

// Rays hit the triangles that they hit by brute force, on all levels.
func TestRaysAtMeshes(t *testing.T) {
	r := rand.New(rand.NewPCG(paritytest.Seed(), 11))
	hits := 0
	for round := range 6 {
		seed := r.Uint64()
		var worlds []*queriedMesh
		for _, level := range native.Levels() {
			worlds = append(worlds, bumpyQueried(t, rand.New(rand.NewPCG(seed, 1)), round%2 == 1, level))
		}
		m, n := worlds[0], 300
		var rays physics3.Rays
		for range n {
			from, to := m.triangles[r.IntN(len(m.triangles))][0], m.triangles[r.IntN(len(m.triangles))][r.IntN(3)]
			k := 1 + r.Float64()
			o := vector{from[0] + r.NormFloat64()*3, from[1] + r.NormFloat64()*3, from[2] + r.NormFloat64()*3}
			d := minus(add(to, vector{r.NormFloat64(), r.NormFloat64(), r.NormFloat64()}, 0.3), o)
			rays.X, rays.Y, rays.Z = append(rays.X, float32(o[0])), append(rays.Y, float32(o[1])), append(rays.Z, float32(o[2]))
			rays.DX, rays.DY, rays.DZ = append(rays.DX, float32(k*d[0])), append(rays.DY, float32(k*d[1])), append(rays.DZ, float32(k*d[2]))
		}
		var first physics3.RayHits
		for i, w := range worlds {
			var closest, all physics3.RayHits
			hit := make([]bool, n)
			no(t, w.w.RayClosest(&rays, &closest))
			no(t, w.w.RayAll(&rays, &all))
			no(t, w.w.RayAny(&rays, hit))
			if i == 0 {
				first = closest
			}
			for k := range n {
				same := closest.Fractions[k] == first.Fractions[k] && closest.Triangles[k] == first.Triangles[k] && closest.Shapes[k] == first.Shapes[k]
				found := all.Offsets[k+1] - all.Offsets[k]
				if hit[k] != (closest.Shapes[k] != physics3.Shape{}) || hit[k] != (found == 1) || hit[k] && all.Fractions[all.Offsets[k]] != closest.Fractions[k] || !same {
					t.Fatalf("ray %d on level %d: %v, %d hits, fractions %g and %g", k, i, hit[k], found, closest.Fractions[k], first.Fractions[k])
				}
			}
		}
		for k := range n {
			o, d := vector{float64(rays.X[k]), float64(rays.Y[k]), float64(rays.Z[k])}, vector{float64(rays.DX[k]), float64(rays.DY[k]), float64(rays.DZ[k])}
			want, at, margin := math.Inf(1), -1, 1.
			for i, v := range m.triangles {
				f, border := rayMeets(o, d, v, round%2 == 1)
				if margin = min(margin, border); f < want {
					want, at = f, i
				}
			}
			if margin < 1e-4 {
				continue // too close to a border to say
			}
			if at < 0 {
				if first.Shapes[k] != (physics3.Shape{}) || first.Fractions[k] != 1 {
					t.Errorf("ray %d hits triangle %d at %g", k, first.Triangles[k], first.Fractions[k])
				}
				continue
			}
			hits++
			v := m.triangles[at]
			normal := cross(minus(v[1], v[0]), minus(v[2], v[0]))
			side := dot(normal, vector{float64(first.NormalX[k]), float64(first.NormalY[k]), float64(first.NormalZ[k])}) / length(normal)
			// The hit is on the plane but for rounding in float32, of which a ray that grazes makes more of its length.
			off := math.Abs(float64(first.Fractions[k])-want) * math.Abs(dot(normal, d)) / length(normal)
			if first.Shapes[k] != m.shape || int(first.Triangles[k]) != at || off > 4*0x1p-24*(length(o)+length(d)+8) || math.Abs(math.Abs(side)-1) > 1e-5 ||
				(side > 0) != (dot(normal, d) < 0) {
				t.Errorf("ray %d hits triangle %d at %g, normal %g; want %d at %g", k, first.Triangles[k], first.Fractions[k], side, at, want)
			}
		}
	}
	if hits < 300 {
		t.Errorf("%d hits", hits)
	}
}

// pointTriangle returns the distance of a point from a triangle.
func pointTriangle(p vector, v [3]vector) float64 {
	n := cross(minus(v[1], v[0]), minus(v[2], v[0]))
	inside, least := true, math.Inf(1)
	for k := range 3 {
		e, to := minus(v[(k+1)%3], v[k]), minus(p, v[k])
		if dot(cross(e, to), n) < 0 {
			inside = false
		}
		f := min(max(dot(to, e)/dot(e, e), 0), 1)
		least = min(least, length(minus(to, vector{e[0] * f, e[1] * f, e[2] * f})))
	}
	if inside {
		return math.Abs(dot(minus(p, v[0]), n)) / length(n)
	}
	return least
}

func (m *queriedMesh) distanceFrom(p vector) float64 {
	least := math.Inf(1)
	for _, v := range m.triangles {
		least = min(least, pointTriangle(p, v))
	}
	return least
}

// The distance of a ball from a mesh is that from the nearest triangle. Casts, overlaps and the nearest shape agree with that for all forms.
func TestFormsAtMeshes(t *testing.T) {
	r := rand.New(rand.NewPCG(paritytest.Seed(), 12))
	ball, _ := physics3.SphereForm(physics3.Sphere{Radius: 0.3})
	capsule, _ := physics3.CapsuleForm(physics3.Capsule{P1: vec{-0.4, 0, 0}, P2: vec{0.4, 0.1, 0}, Radius: 0.2})
	block, _ := physics3.BoxForm(physics3.Box{Half: vec{0.5, 0.3, 0.2}})
	round, _ := physics3.BoxForm(physics3.Box{Half: vec{0.4, 0.2, 0.2}, Radius: 0.1})
	hull, _ := physics3.HullForm(tetrahedron, physics3.Placement{})
	hits, misses, overlapping := 0, 0, 0
	for range 5 {
		m := bumpyQueried(t, r, true, native.Auto)
		for kind, form := range []physics3.Form{ball, capsule, block, round, hull} {
			const n = 24
			var casts physics3.Casts
			casts.Forms = []physics3.Form{form}
			for range n {
				from := m.triangles[r.IntN(len(m.triangles))][0]
				p, d := add(from, vector{r.NormFloat64(), r.NormFloat64(), r.NormFloat64()}, 1), vector{r.NormFloat64(), r.NormFloat64(), r.NormFloat64()}
				casts.X, casts.Y, casts.Z = append(casts.X, float32(p[0])), append(casts.Y, float32(p[1])), append(casts.Z, float32(p[2]))
				casts.DX, casts.DY, casts.DZ = append(casts.DX, float32(3*d[0])), append(casts.DY, float32(3*d[1])), append(casts.DZ, float32(3*d[2]))
				casts.Rotations = append(casts.Rotations, quat{r.Float32(), r.Float32() - 0.5, r.Float32() - 0.5, r.Float32()})
			}
			far := make([]float32, n)
			for i := range far {
				far[i] = 1e6
			}
			// distanceAt measures the forms at fractions of their ways.
			distanceAt := func(f []float32) (d physics3.Distances) {
				p := casts.Probes
				p.X, p.Y, p.Z = make([]float32, n), make([]float32, n), make([]float32, n)
				for i := range n {
					p.X[i], p.Y[i], p.Z[i] = casts.X[i]+f[i]*casts.DX[i], casts.Y[i]+f[i]*casts.DY[i], casts.Z[i]+f[i]*casts.DZ[i]
				}
				no(t, m.w.Nearest(&p, far, &d))
				var o physics3.Overlapping
				no(t, m.w.Overlaps(&p, &o))
				for i := range n {
					if d.Shapes[i] != m.shape || (d.Distance[i] <= 0) != (len(o.Row(i)) == 1) && math.Abs(float64(d.Distance[i])) > 1e-6 {
						t.Fatalf("form %d: shape %v, distance %g, overlaps %v", kind, d.Shapes[i], d.Distance[i], o.Row(i))
					}
					if want := m.distanceFrom(vector{float64(p.X[i]), float64(p.Y[i]), float64(p.Z[i])}) - 0.3; kind == 0 && math.Abs(float64(d.Distance[i])-want) > 1e-5 {
						t.Fatalf("a ball is %g away, want %g", d.Distance[i], want)
					}
				}
				return d
			}
			start := distanceAt(make([]float32, n))
			var all physics3.RayHits
			no(t, m.w.CastClosest(&casts, &all))
			end := distanceAt(all.Fractions)
			for i := range n {
				hit := all.Shapes[i] == m.shape
				switch {
				case start.Distance[i] <= 0:
					overlapping++
					if !hit || all.Fractions[i] != 0 || all.NormalX[i] != 0 {
						t.Errorf("form %d that begins in overlap: %v at %g", kind, hit, all.Fractions[i])
					}
				case hit:
					hits++
					if d := end.Distance[i]; !(d > -1e-5 && d < 1e-5) {
						t.Errorf("form %d hits at %g, where it is %g away", kind, all.Fractions[i], d)
					}
				default:
					misses++
				}
			}
			for k := range 12 { // nothing is hit on the way
				f := make([]float32, n)
				for i := range f {
					f[i] = all.Fractions[i] * (float32(k) + 0.5) / 12
				}
				d := distanceAt(f)
				for i := range f {
					if start.Distance[i] > 0 && d.Distance[i] < -1e-5 {
						t.Errorf("form %d: overlap %g at %g of %g", kind, d.Distance[i], f[i], all.Fractions[i])
					}
				}
			}
		}
	}
	if hits < 100 || misses < 20 || overlapping < 20 {
		t.Errorf("%d hits, %d misses, %d overlaps", hits, misses, overlapping)
	}
}

// A form passes through the back of a triangle, and is hit by its front.
func TestCastsAtOneSide(t *testing.T) {
	w, ground := meshWorld(t, physics3.Config{Capacity: 4}, plain, pitch)
	ball, _ := physics3.SphereForm(physics3.Sphere{Radius: 0.5})
	q := physics3.Casts{
		Probes: physics3.Probes{Forms: []physics3.Form{ball}, X: []float32{0.3, 0.3, 0.3}, Y: []float32{3, -3, -0.3}, Z: []float32{0.1, 0.1, 0.1}},
		DX:     []float32{0, 0, 0}, DY: []float32{-6, 6, 6}, DZ: []float32{0, 0, 0},
	}
	var out physics3.RayHits
	no(t, w.CastClosest(&q, &out))
	if out.Shapes[0] != ground || math.Abs(float64(out.Fractions[0])-2.5/6) > 1e-6 || out.NormalY[0] != 1 || out.UserMaterials[0] != 7 && out.UserMaterials[0] != 0 ||
		out.Users[0] != out.Triangles[0]+70 {
		t.Errorf("from above: %+v", out)
	}
	if out.Shapes[1] != (physics3.Shape{}) || out.Shapes[2] != (physics3.Shape{}) {
		t.Errorf("from below: %+v", out)
	}
}

// Distances of a mesh are the same from both sides of the call, and there are none between two meshes.
func TestDistancesOfMeshes(t *testing.T) {
	w, ground := meshWorld(t, physics3.Config{Capacity: 4}, plain, pitch)
	block := box(t, w, bodyAt(t, w, physics3.DynamicBody, 0.5, 2, 0.25), plain, 0.5, 0.5, 0.5)
	sunk := box(t, w, bodyAt(t, w, physics3.DynamicBody, 0.5, 0.25, 0.25), plain, 0.5, 0.5, 0.5)
	var d physics3.Distances
	no(t, w.Distances([]physics3.Shape{ground, block, sunk}, []physics3.Shape{block, ground, ground}, &d))
	for i, want := range []float32{1.5, 1.5, -0.25} {
		near(t, "distance", float64(d.Distance[i]), float64(want), 1e-6)
		up := float32(1)
		if i > 0 {
			up = -1
		}
		if d.NormalY[i] != up || d.Triangles[i] != 0 && d.Triangles[i] != 1 {
			t.Errorf("distance %d: %+v", i, d)
		}
	}
	other := must[physics3.Shape](t)(w.CreateMesh(bodyAt(t, w, physics3.StaticBody, 0, 5, 0), plain, pitch, physics3.Placement{}))
	if err := w.Distances([]physics3.Shape{ground}, []physics3.Shape{other}, &d); !errors.Is(err, physics3.ErrUnsupported) {
		t.Errorf("between meshes: %v", err)
	}
}

// No ray leaks through a closed mesh where it passes an edge or a vertex.
func TestNoRayLeaks(t *testing.T) {
	r := rand.New(rand.NewPCG(paritytest.Seed(), 13))
	d := physics3.MeshDef{Vertices: []vec{{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}}}
	for i := range 8 {
		x, y, z := uint32(i&1), uint32(2+i>>1&1), uint32(4+i>>2&1)
		if (i&1+i>>1&1+i>>2&1)%2 == 1 {
			y, z = z, y
		}
		d.Triangles = append(d.Triangles, [3]uint32{x, y, z})
	}
	for i := range d.Vertices { // uneven
		for k := range 3 {
			d.Vertices[i][k] += 0.1 * (r.Float32() - 0.5)
		}
	}
	b := physics3.DefaultBodyDef()
	b.Rotation, b.Position = quat{r.Float32(), r.Float32(), r.Float32(), r.Float32()}, vec{r.Float32() * 900, 3, -50}
	m := newQueriedMesh(t, physics3.Config{}, d, physics3.Placement{}, b)
	w := m.w
	place := func(v vec) vec {
		p := must[vec](t)(w.Position(must[physics3.Body](t)(w.ShapeBody(m.shape))))
		q := must[quat](t)(w.Rotation(must[physics3.Body](t)(w.ShapeBody(m.shape))))
		x := rotated(q, wide(v))
		return vec{p[0] + float32(x[0]), p[1] + float32(x[1]), p[2] + float32(x[2])}
	}
	var rays physics3.Rays
	centre := place(vec{})
	for range 3000 {
		v := d.Triangles[r.IntN(8)]
		i := r.IntN(3)
		a, c, f := d.Vertices[v[i]], d.Vertices[v[(i+1)%3]], r.Float32()
		if r.IntN(3) == 0 {
			f = 0
		}
		on := place(vec{a[0] + f*(c[0]-a[0]), a[1] + f*(c[1]-a[1]), a[2] + f*(c[2]-a[2])})
		o := vec{centre[0] + 4*(on[0]-centre[0]), centre[1] + 4*(on[1]-centre[1]), centre[2] + 4*(on[2]-centre[2])}
		rays.X, rays.Y, rays.Z = append(rays.X, o[0]), append(rays.Y, o[1]), append(rays.Z, o[2])
		rays.DX, rays.DY, rays.DZ = append(rays.DX, centre[0]-o[0]), append(rays.DY, centre[1]-o[1]), append(rays.DZ, centre[2]-o[2])
	}
	hit := make([]bool, len(rays.X))
	no(t, w.RayAny(&rays, hit))
	for i, h := range hit {
		if !h {
			t.Fatalf("ray %d passes", i)
		}
	}
}

// Queries near meshes allocate nothing once they have been asked.
func TestQueriesAtMeshesAllocateNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("instrumented builds allocate")
	}
	m := bumpyQueried(t, rand.New(rand.NewPCG(paritytest.Seed(), 14)), false, native.Auto)
	block, _ := physics3.BoxForm(physics3.Box{Half: vec{0.5, 0.3, 0.2}})
	var q physics3.Casts
	var rays physics3.Rays
	var within []float32
	q.Forms = []physics3.Form{block}
	for _, v := range m.triangles {
		x, y, z := float32(v[0][0]), float32(v[0][1]+0.5), float32(v[0][2])
		q.X, q.Y, q.Z, within = append(q.X, x), append(q.Y, y), append(q.Z, z), append(within, 3)
		q.DX, q.DY, q.DZ = append(q.DX, 1), append(q.DY, -1), append(q.DZ, 1)
	}
	rays.X, rays.Y, rays.Z, rays.DX, rays.DY, rays.DZ = q.X, q.Y, q.Z, q.DX, q.DY, q.DZ
	var hits physics3.RayHits
	var over physics3.Overlapping
	var d physics3.Distances
	batch := func() {
		no(t, m.w.RayClosest(&rays, &hits))
		no(t, m.w.RayAll(&rays, &hits))
		no(t, m.w.CastClosest(&q, &hits))
		no(t, m.w.CastAll(&q, &hits))
		no(t, m.w.Overlaps(&q.Probes, &over))
		no(t, m.w.Nearest(&q.Probes, within, &d))
	}
	batch()
	if n := testing.AllocsPerRun(10, batch); n > 0 {
		t.Errorf("%g allocations", n)
	}
}
