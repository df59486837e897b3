package physics_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/physics"
	"github.com/evertick/evertick/physics/box2d"
)

// distance64 is the distance of a point from a geometry in body coordinates, negative inside, in float64.
func distance64(g any, x, y float64) float64 {
	var points [][2]float32
	radius := 0.0
	switch g := g.(type) {
	case physics.Circle:
		points, radius = [][2]float32{g.Center}, float64(g.Radius)
	case physics.Capsule:
		points, radius = [][2]float32{g.P1, g.P2}, float64(g.Radius)
	case physics.Segment:
		points = [][2]float32{g.P1, g.P2}
	case physics.Polygon:
		points, radius = g.Vertices[:g.Count], float64(g.Radius)
	}
	nearest, inside := math.Inf(1), math.Inf(-1)
	for i, p := range points {
		q := points[(i+1)%len(points)]
		px, py := float64(p[0]), float64(p[1])
		ex, ey := float64(q[0])-px, float64(q[1])-py
		along, length := 0.0, math.Hypot(ex, ey)
		if length > 0 {
			along = max(0, min(1, ((x-px)*ex+(y-py)*ey)/(length*length)))
			inside = max(inside, ((x-px)*ey-(y-py)*ex)/length)
		}
		nearest = min(nearest, math.Hypot(x-px-along*ex, y-py-along*ey))
	}
	if len(points) > 2 && inside < 0 {
		return inside - radius
	}
	return nearest - radius
}

// ClosestPoint and TestPoint agree with float64 arithmetic in body coordinates.
func TestClosestPoint(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	inside, outside := 0, 0
	r := newFixture(t, 0)
	for range 1500 {
		g := anyShape(rng)
		f := func(size float64) float32 { return float32((2*rng.Float64() - 1) * size) }
		b := r.body(physics.BodyType(rng.IntN(3)), f(30), f(30), turned(float64(f(3))))
		s := must[physics.Shape](t)(g.create(r.w, b, plain))
		if rng.IntN(4) == 0 {
			r.no(r.w.Disable(b))
		}
		at := must[[2]float32](t)(r.w.WorldPoint(b, [2]float32{f(1.3), f(1.3)}))
		local := func(p [2]float32) float64 {
			c, i := r.w.Columns(), b.Index()
			dx, dy := float64(p[0])-float64(c.X[i]), float64(p[1])-float64(c.Y[i])
			cos, sin := float64(c.Cos[i]), float64(c.Sin[i])
			return distance64(g.want, cos*dx+sin*dy, cos*dy-sin*dx)
		}
		want := local(at)
		closest, distance, err := r.w.ClosestPoint(s, at)
		r.no(err)
		r.near("distance", float64(distance), want, 3e-5)
		r.near("distance of the closest point", local(closest), 0, 3e-5)
		r.near("way to it", math.Hypot(float64(closest[0])-float64(at[0]), float64(closest[1])-float64(at[1])), math.Abs(want), 5e-5)
		in, err := r.w.TestPoint(s, at)
		r.no(err)
		if math.Abs(want) > 1e-4 && in != (want < 0) {
			t.Errorf("%v at a distance of %g: %v", g.want, want, in)
		}
		if in {
			inside++
		} else {
			outside++
		}
		if t.Failed() {
			t.Fatalf("%v, point %v", g.want, at)
		}
		r.no(r.w.DestroyBody(b))
	}
	if inside < 200 || outside < 200 {
		t.Errorf("%d inside, %d outside", inside, outside)
	}
}

// Rays on one shape hit it as they do in RayAll, bit for bit, whatever the filters say.
func TestRayShape(t *testing.T) {
	r, bodies := pile(t)
	r.steps(60)
	rng := rand.New(rand.NewPCG(6, 2))
	q := &physics.Rays{MaxFraction: []float32{}}
	for range 300 {
		x := float32(rng.Float64()*60 - 15)
		q.X, q.Y = append(q.X, x), append(q.Y, float32(rng.Float64()*8-1))
		q.DX, q.DY = append(q.DX, float32(rng.Float64()*20-10)), append(q.DY, float32(rng.Float64()*6-3))
		q.MaxFraction = append(q.MaxFraction, float32(rng.Float64()*1.5))
	}
	hits := 0
	for _, skip := range []bool{false, true} {
		q.QueryFilter, q.SkipInside = physics.QueryFilter{Sensors: true}, skip
		var all, one physics.RayHits
		r.no(r.w.RayAll(q, &all))
		q.QueryFilter = physics.QueryFilter{Category: 2, Mask: 4}
		for _, b := range bodies {
			for _, s := range must[[]physics.Shape](t)(r.w.AppendShapes(nil, b)) {
				r.no(r.w.RayShape(s, q, &one))
				for i := range q.X {
					found := false
					for k := all.Offsets[i]; k < all.Offsets[i+1]; k++ {
						if all.Shapes[k] != s {
							continue
						}
						found = true
						hits++
						if one.Shapes[i] != s || one.Fractions[i] != all.Fractions[k] || one.X[i] != all.X[k] || one.Y[i] != all.Y[k] ||
							one.NormalX[i] != all.NormalX[k] || one.NormalY[i] != all.NormalY[k] {
							t.Fatalf("ray %d on %v: %v at %g, want %g", i, s, one.Shapes[i], one.Fractions[i], all.Fractions[k])
						}
					}
					if !found && (one.Shapes[i] != physics.Shape{} || one.Fractions[i] != q.MaxFraction[i]) {
						t.Fatalf("ray %d hits %v at %g, which it does not", i, s, one.Fractions[i])
					}
				}
			}
		}
	}
	if hits < 300 {
		t.Errorf("only %d hits", hits)
	}
	var before, after, one physics.RayHits
	q.QueryFilter = physics.QueryFilter{}
	r.no(r.w.RayClosest(q, &before))
	r.no(r.w.Disable(bodies[1]))
	r.no(r.w.RayShape(must[[]physics.Shape](t)(r.w.AppendShapes(nil, bodies[1]))[0], q, &one))
	r.no(r.w.Enable(bodies[1]))
	r.no(r.w.RayClosest(q, &after))
	if !reflect.DeepEqual(before, after) {
		t.Error("rays on one shape have changed those on all")
	}
}

// The masses of the shapes of a body add up to that of the body.
func TestShapeMassData(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 2))
	r := newFixture(t, 0)
	for range 100 {
		b := r.dynamic(0, 0)
		must[physics.Shape](t)(circleOf(0, 0, 0.2).create(r.w, b, plain))
		for range rng.IntN(5) {
			d := plain
			d.Density = float32(rng.Float64() * 5)
			must[physics.Shape](t)(anyShape(rng).create(r.w, b, d))
		}
		var mass, inertia, x, y float64
		var parts []physics.MassData
		for _, s := range must[[]physics.Shape](t)(r.w.AppendShapes(nil, b)) {
			m := must[physics.MassData](t)(r.w.ShapeMassData(s))
			parts = append(parts, m)
			mass += float64(m.Mass)
			x, y = x+float64(m.Mass)*float64(m.Center[0]), y+float64(m.Mass)*float64(m.Center[1])
		}
		x, y = x/mass, y/mass
		for _, m := range parts {
			dx, dy := float64(m.Center[0])-x, float64(m.Center[1])-y
			inertia += float64(m.Inertia) + float64(m.Mass)*(dx*dx+dy*dy)
		}
		want := must[physics.MassData](t)(r.w.MassData(b))
		r.near("mass", mass, float64(want.Mass), 1e-5*mass)
		r.near("inertia", inertia, float64(want.Inertia), 1e-5*inertia)
		r.near("x", x, float64(want.Center[0]), 1e-5)
		r.near("y", y, float64(want.Center[1]), 1e-5)
	}
	s := r.segment(r.dynamic(0, 0), plain, 0, 0, 1, 0)
	if m := must[physics.MassData](t)(r.w.ShapeMassData(s)); m.Mass != 0 || m.Inertia != 0 {
		t.Errorf("mass of a segment: %v", m)
	}
}

func TestShapeQueriesRefused(t *testing.T) {
	r := newFixture(t, 0)
	b := r.dynamic(0, 0)
	s, gone := r.circle(b, plain, 1), r.circle(b, plain, 1)
	r.no(r.w.DestroyShape(gone))
	ray := &physics.Rays{X: []float32{-3}, Y: []float32{0}, DX: []float32{6}, DY: []float32{0}}
	bad := &physics.Rays{X: []float32{nan}, Y: []float32{0}, DX: []float32{6}, DY: []float32{0}}
	out := physics.RayHits{Fractions: []float32{7}}
	is := func(what string, want, err error) {
		t.Helper()
		if !errors.Is(err, want) {
			t.Errorf("%s: %v", what, err)
		}
	}
	queries := func(w *physics.World, s physics.Shape, want error) {
		t.Helper()
		_, err := w.TestPoint(s, [2]float32{})
		is("TestPoint", want, err)
		_, _, err = w.ClosestPoint(s, [2]float32{})
		is("ClosestPoint", want, err)
		_, err = w.ShapeMassData(s)
		is("ShapeMassData", want, err)
		is("RayShape", want, w.RayShape(s, ray, &out))
		_, err = w.AppendSensorOverlaps(nil, s)
		is("AppendSensorOverlaps", want, err)
		_, err = w.ShapeBounds(s)
		is("ShapeBounds", want, err)
	}
	queries(r.w, gone, physics.ErrStale)
	other := newFixture(t, 0, box2d.NewEngine(box2d.Options{}))
	foreign := other.dynamic(0, 0)
	queries(other.w, other.circle(foreign, plain, 1), physics.ErrUnsupported)
	_, err := other.w.BodyBounds(foreign)
	is("BodyBounds", physics.ErrUnsupported, err)
	is("RayShape", physics.ErrNotFinite, r.w.RayShape(s, bad, &out))
	if len(out.Fractions) != 1 || out.Fractions[0] != 7 {
		t.Errorf("a refused query has changed its output: %v", out)
	}
	_, err = r.w.TestPoint(s, [2]float32{0, nan})
	is("NaN", physics.ErrNotFinite, err)
	_, err = r.w.TestPoint(s, [2]float32{1e30, 0})
	is("far", physics.ErrRange, err)
	r.w.Columns().X[b.Index()] = nan
	_, err = r.w.TestPoint(s, [2]float32{})
	is("nowhere", physics.ErrRange, err)
	r.no(r.w.RayShape(s, ray, &out))
	if out.Shapes[0] != (physics.Shape{}) {
		t.Error("a ray hits a body that is nowhere")
	}
	_, err = r.w.BodyBounds(physics.Body{})
	is("no body", physics.ErrStale, err)
}

func TestShapeQueriesAllocateNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("not run: an instrumented build allocates")
	}
	r, bodies := pile(t)
	r.steps(60)
	ray := &physics.Rays{X: []float32{-3}, Y: []float32{0}, DX: []float32{6}, DY: []float32{0}}
	var out physics.RayHits
	var shapes, inside []physics.Shape
	read := func() {
		for _, b := range bodies {
			_, err := r.w.BodyBounds(b)
			r.no(err)
			shapes, err = r.w.AppendShapes(shapes[:0], b)
			r.no(err)
			for _, s := range shapes {
				_, err := r.w.TestPoint(s, [2]float32{1, 2})
				r.no(err)
				r.no(r.w.RayShape(s, ray, &out))
				_, err = r.w.ShapeKind(s)
				r.no(err)
				if def, err := r.w.ShapeDef(s); err == nil && def.Sensor {
					inside, err = r.w.AppendSensorOverlaps(inside[:0], s)
					r.no(err)
				}
			}
		}
	}
	read()
	if n := testing.AllocsPerRun(10, read); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
