package physics3_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/physics3"
)

// queryFixture is a world without gravity, and helpers.
type queryFixture struct {
	testing.TB
	w *physics3.World
}

func newQueryFixture(t testing.TB, c physics3.Config) queryFixture {
	w, err := physics3.New(c)
	r := queryFixture{t, w}
	r.no(err)
	return r
}

func (r queryFixture) no(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

var plainDef = physics3.DefaultShapeDef()

func (r queryFixture) body(x, y, z float32) physics3.Body {
	r.Helper()
	b, err := r.w.CreateBody(dynamicAt(x, y, z))
	r.no(err)
	return b
}

func (r queryFixture) sphere(b physics3.Body, radius float32) physics3.Shape {
	r.Helper()
	s, err := r.w.CreateSphere(b, plainDef, physics3.Sphere{Radius: radius})
	r.no(err)
	return s
}

func (r queryFixture) box(b physics3.Body, half [3]float32, radius float32) physics3.Shape {
	r.Helper()
	s, err := r.w.CreateBox(b, plainDef, physics3.Box{Half: half, Radius: radius})
	r.no(err)
	return s
}

func (r queryFixture) capsule(b physics3.Body, p1, p2 [3]float32, radius float32) physics3.Shape {
	r.Helper()
	s, err := r.w.CreateCapsule(b, plainDef, physics3.Capsule{P1: p1, P2: p2, Radius: radius})
	r.no(err)
	return s
}

func newRock(t testing.TB, seed uint64, radius float32) *physics3.Hull {
	rng := rand.New(rand.NewPCG(seed, 1))
	var points [][3]float32
	for range 24 {
		points = append(points, [3]float32{float32(rng.NormFloat64()) / 3, float32(rng.NormFloat64()) / 3, float32(rng.NormFloat64()) / 3})
	}
	h, err := physics3.NewHull(points, physics3.HullOptions{Radius: radius})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// rayAt is a batch of one ray.
func rayAt(x, y, z, dx, dy, dz float32) *physics3.Rays {
	return &physics3.Rays{X: []float32{x}, Y: []float32{y}, Z: []float32{z}, DX: []float32{dx}, DY: []float32{dy}, DZ: []float32{dz}}
}

func (r queryFixture) closest(q *physics3.Rays) *physics3.RayHits {
	r.Helper()
	var out, all physics3.RayHits
	hit := make([]bool, len(q.X))
	r.no(r.w.RayClosest(q, &out))
	r.no(r.w.RayAny(q, hit))
	r.no(r.w.RayAll(q, &all))
	for i, h := range hit {
		if found := out.Shapes[i] != (physics3.Shape{}); h != found || found != (all.Offsets[i+1] > all.Offsets[i]) {
			r.Errorf("ray %d: RayAny %v, RayClosest %v, RayAll %v", i, h, out.Shapes[i], all.Offsets)
		} else if first := all.Offsets[i]; found && (all.Shapes[first] != out.Shapes[i] || all.Fractions[first] != out.Fractions[i] || all.X[first] != out.X[i]) {
			r.Errorf("ray %d: RayClosest %v, RayAll %v", i, out, all)
		}
	}
	return &out
}

// meets fails unless the ray of a batch hits a shape at a fraction, with a normal.
func (r queryFixture) meets(what string, q *physics3.Rays, s physics3.Shape, fraction float64, normal [3]float64) *physics3.RayHits {
	r.Helper()
	h := r.closest(q)
	n := [3]float64{float64(h.NormalX[0]), float64(h.NormalY[0]), float64(h.NormalZ[0])}
	apart := math.Abs(n[0]-normal[0]) + math.Abs(n[1]-normal[1]) + math.Abs(n[2]-normal[2])
	if f := float64(h.Fractions[0]); h.Shapes[0] != s || math.Abs(f-fraction) > 1e-6 || apart > 1e-5 {
		r.Errorf("%s: %v at %g, normal %v; want %v at %g, normal %v", what, h.Shapes[0], f, n, s, fraction, normal)
	}
	return h
}

func TestRayClosest(t *testing.T) {
	r := newQueryFixture(t, physics3.Config{})
	ball := r.sphere(r.body(5, 0, 0), 1)
	d := dynamicAt(10, 0, 0)
	d.Rotation = [4]float32{0, 0, float32(math.Sin(math.Pi / 8)), float32(math.Cos(math.Pi / 8))}
	b, err := r.w.CreateBody(d)
	r.no(err)
	def := plainDef
	def.UserMaterial = 77
	box, err := r.w.CreateBox(b, def, physics3.Box{Half: [3]float32{1, 1, 1}})
	r.no(err)
	pill := r.capsule(r.body(0, 10, 0), [3]float32{-1, 0, 0}, [3]float32{1, 0, 0}, 0.5)
	brick := r.box(r.body(0, 0, 20), [3]float32{1, 1, 1}, 0.25)
	sqrt2 := math.Sqrt2
	r.meets("ball", rayAt(0, 0, 0, 10, 0, 0), ball, 0.4, [3]float64{-1, 0, 0})
	h := r.meets("box", rayAt(10, 4, 0.5, 0, -8, 0), box, (4-sqrt2)/8, [3]float64{sqrt2 / 2, sqrt2 / 2, 0})
	if h.UserMaterials[0] != 77 || math.Abs(float64(h.Y[0])-sqrt2) > 1e-6 || h.X[0] != 10 || h.Z[0] != 0.5 {
		t.Errorf("box: %+v", h)
	}
	r.meets("box, backwards", rayAt(20, 0.5, 0, -20, 0, 0), box, (10-(sqrt2-0.5))/20, [3]float64{sqrt2 / 2, sqrt2 / 2, 0})
	r.meets("pill, side", rayAt(0.5, 0, 0, 0, 20, 0), pill, 9.5/20, [3]float64{0, -1, 0})
	r.meets("pill, end", rayAt(-11, 10, 0, 20, 0, 0), pill, 9.5/20, [3]float64{-1, 0, 0})
	r.meets("brick, face", rayAt(0.5, 0.5, 10, 0, 0, 10), brick, 0.875, [3]float64{0, 0, -1})
	r.meets("brick, edge", rayAt(11.25, 0, 31.25, -20, 0, -20), brick, (11.25-(1+0.25/sqrt2))/20, [3]float64{sqrt2 / 2, 0, sqrt2 / 2})
	corner := 1 / math.Sqrt(3)
	r.meets("brick, corner", rayAt(6, 6, 26, -10, -10, -10), brick, (6-(1+0.25*corner))/10, [3]float64{corner, corner, corner})
	r.meets("brick, past its corner", rayAt(1.2, -3, 21.2, 0, 6, 0), physics3.Shape{}, 1, [3]float64{})
	h = r.meets("inside", rayAt(5, 0.5, 0, 1, 0, 0), ball, 0, [3]float64{})
	if h.X[0] != 5 || h.Y[0] != 0.5 {
		t.Errorf("inside: %+v", h)
	}
	r.meets("nothing", rayAt(0, 2, 0, 20, 0, 0), physics3.Shape{}, 1, [3]float64{})
	q := rayAt(5, 0.5, 0, 10, 0, 0)
	q.SkipInside = true
	r.meets("from inside", q, box, (5-(sqrt2-0.5))/10, [3]float64{-sqrt2 / 2, sqrt2 / 2, 0})
	for _, c := range []struct {
		max  float32
		want physics3.Shape
	}{{3.9999, physics3.Shape{}}, {4, ball}, {4.0001, ball}, {1e18, ball}} {
		q = rayAt(0, 0, 0, 1, 0, 0)
		q.MaxFraction = []float32{c.max}
		if h := r.closest(q); h.Shapes[0] != c.want || c.want == (physics3.Shape{}) && (h.Fractions[0] != c.max || h.X[0] != c.max) {
			t.Errorf("up to %g: %+v", c.max, h)
		}
	}
}

// Of shapes at the same fraction the one with the lowest index is the hit.
func TestRayTies(t *testing.T) {
	r := newQueryFixture(t, physics3.Config{})
	var shapes []physics3.Shape
	for range 40 {
		shapes = append(shapes, r.box(r.body(5, 0, 0), [3]float32{1, 1, 1}, 0))
	}
	r.no(r.w.DestroyShape(shapes[0]))
	var out physics3.RayHits
	q := rayAt(0, 0, 0, 10, 0, 0)
	r.meets("tie", q, shapes[1], 0.4, [3]float64{-1, 0, 0})
	r.no(r.w.RayAll(q, &out))
	if !reflect.DeepEqual(out.Shapes, shapes[1:]) || !reflect.DeepEqual(out.Offsets, []uint32{0, 39}) {
		t.Errorf("%v %v", out.Offsets, out.Shapes)
	}
}

func TestQueryFilters(t *testing.T) {
	r := newQueryFixture(t, physics3.Config{})
	def := plainDef
	def.Filter = physics3.Filter{Category: 2, Mask: 4, Group: -1}
	first := r.body(5, 0, 0)
	a, err := r.w.CreateSphere(first, def, physics3.Sphere{Radius: 1})
	r.no(err)
	def.Filter, def.Sensor = physics3.Filter{Category: 8, Mask: ^uint64(0)}, true
	b, err := r.w.CreateSphere(r.body(10, 0, 0), def, physics3.Sphere{Radius: 1})
	r.no(err)
	c := r.sphere(r.body(15, 0, 0), 1)
	for _, test := range []struct {
		what   string
		change func(q *physics3.QueryFilter)
		want   physics3.Shape
	}{
		{"all", func(*physics3.QueryFilter) {}, a},
		{"mask", func(q *physics3.QueryFilter) { q.Mask = 1 }, c},
		{"masks", func(q *physics3.QueryFilter) { q.Mask, q.Masks = 2, []uint64{1} }, c},
		{"category", func(q *physics3.QueryFilter) { q.Category = 8 }, c},
		{"categories", func(q *physics3.QueryFilter) { q.Category, q.Categories = 8, []uint64{4} }, a},
		{"excluded", func(q *physics3.QueryFilter) { q.Exclude = []physics3.Body{first} }, c},
		{"sensors", func(q *physics3.QueryFilter) { q.Exclude, q.Sensors = []physics3.Body{first}, true }, b},
		{"none", func(q *physics3.QueryFilter) { q.Mask = 16 }, physics3.Shape{}},
	} {
		q := rayAt(0, 0, 0, 100, 0, 0)
		test.change(&q.QueryFilter)
		if h := r.closest(q); h.Shapes[0] != test.want {
			t.Errorf("%s: ray meets %v, want %v", test.what, h.Shapes[0], test.want)
		}
		p := physics3.Probes{Forms: []physics3.Form{must[physics3.Form](t)(physics3.SphereForm(physics3.Sphere{Radius: 1}))}, X: q.X, Y: q.Y, Z: q.Z, QueryFilter: q.QueryFilter}
		var near physics3.Distances
		r.no(r.w.Nearest(&p, []float32{100}, &near))
		var hits physics3.RayHits
		r.no(r.w.CastClosest(&physics3.Casts{Probes: p, DX: q.DX, DY: q.DY, DZ: q.DZ}, &hits))
		var over physics3.Overlapping
		p.Forms[0] = must[physics3.Form](t)(physics3.SphereForm(physics3.Sphere{Radius: 50}))
		r.no(r.w.Overlaps(&p, &over))
		found := physics3.Shape{}
		if len(over.Shapes) > 0 {
			found = over.Shapes[0]
		}
		if near.Shapes[0] != test.want || hits.Shapes[0] != test.want || found != test.want {
			t.Errorf("%s: Nearest %v, CastClosest %v, Overlaps %v, want %v", test.what, near.Shapes, hits.Shapes, over.Shapes, test.want)
		}
	}
}

// Queries see all changes since the last batch: by creation, motion, writes or Restore.
func TestQueriesSeeTheWorldAsItIs(t *testing.T) {
	r := newQueryFixture(t, physics3.Config{})
	expect := func(what string, fraction float64) {
		t.Helper()
		h := r.closest(rayAt(0, 0, 0, 100, 0, 0))
		if math.Abs(float64(h.Fractions[0])-fraction) > 1e-6 {
			t.Errorf("%s: %g, want %g", what, h.Fractions[0], fraction)
		}
		many := &physics3.Rays{}
		for range 20 {
			many.X, many.Y, many.Z = append(many.X, 0), append(many.Y, 0), append(many.Z, 0)
			many.DX, many.DY, many.DZ = append(many.DX, 100), append(many.DY, 0), append(many.DZ, 0)
		}
		if h := r.closest(many); math.Abs(float64(h.Fractions[19])-fraction) > 1e-6 {
			t.Errorf("%s, of many: %g, want %g", what, h.Fractions[19], fraction)
		}
	}
	expect("empty", 1)
	b := r.body(50, 0, 0)
	expect("no shape", 1)
	r.sphere(b, 1)
	expect("a shape", 0.49)
	r.no(r.w.SetTransform(b, [3]float32{30, 0, 0}, [4]float32{3: 1}))
	expect("moved", 0.29)
	c := r.w.Columns()
	c.X[b.Index()] = 20
	expect("written", 0.19)
	snapshot, err := r.w.Snapshot(nil)
	r.no(err)
	box := r.box(b, [3]float32{5, 1, 2}, 0)
	expect("another", 0.15)
	c.QZ[b.Index()], c.QW[b.Index()] = 3, 3 // a quarter turn, of another length
	expect("turned", 0.19)
	c.QZ[b.Index()], c.QW[b.Index()] = 0, 1
	r.no(r.w.DestroyShape(box))
	expect("destroyed", 0.19)
	r.no(r.w.DestroyBody(b))
	expect("gone", 1)
	r.no(r.w.Restore(snapshot))
	expect("restored", 0.19)
	clone, err := r.w.Clone()
	r.no(err)
	r.w = clone
	expect("cloned", 0.19)
	r.no(r.w.Disable(b))
	expect("disabled", 1)
	r.no(r.w.Enable(b))
	expect("enabled", 0.19)
	r.no(r.w.SetVelocity(b, [3]float32{60, 0, 0}, [3]float32{}))
	r.no(r.w.Step(1. / 60))
	expect("stepped", 0.2)
	r.no(r.w.ShiftOrigin([3]float32{-physics3.OriginUnit, 0, 0}))
	expect("shifted", 1)
	r.no(r.w.ShiftOrigin([3]float32{physics3.OriginUnit, 0, 0}))
	expect("shifted back", 0.2)
	r.w.Columns().X[b.Index()] = float32(math.NaN())
	expect("not finite", 1)
}

func TestBadQueries(t *testing.T) {
	r := newQueryFixture(t, physics3.Config{})
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	gone := r.body(0, 0, 0)
	dead := r.sphere(gone, 1)
	r.no(r.w.DestroyBody(gone))
	far := r.sphere(r.body(0x1p61, 0, 0), 1)
	ball := must[physics3.Form](t)(physics3.SphereForm(physics3.Sphere{Radius: 1}))
	hits := physics3.RayHits{Shapes: make([]physics3.Shape, 3), Fractions: []float32{7}}
	near := physics3.Distances{Shapes: make([]physics3.Shape, 3)}
	refused := func(what string, err, want error, says string) {
		t.Helper()
		if !errors.Is(err, want) || err.Error() != says {
			t.Errorf("%s: %v, want %s", what, err, says)
		}
	}
	for _, c := range []struct {
		change func(q *physics3.Casts)
		want   error
		says   string // after the name of the type
	}{
		{func(q *physics3.Casts) { q.X[1] = nan }, physics3.ErrNotFinite, ".X[1] = NaN: not finite"},
		{func(q *physics3.Casts) { q.Z[0] = inf }, physics3.ErrNotFinite, ".Z[0] = +Inf: not finite"},
		{func(q *physics3.Casts) { q.DX[1] = -inf }, physics3.ErrNotFinite, ".DX[1] = -Inf: not finite"},
		{func(q *physics3.Casts) { q.DZ[1] = nan }, physics3.ErrNotFinite, ".DZ[1] = NaN: not finite"},
		{func(q *physics3.Casts) { q.Y[1] = 1e19 }, physics3.ErrRange, ".Y[1] = 1e+19: out of range: more than 2^60"},
		{func(q *physics3.Casts) { q.DX[1] = 0 }, physics3.ErrRange, ": translation[1] = [0 0 0]: out of range: no length"},
		{func(q *physics3.Casts) { q.DX[1] = 1e-30 }, physics3.ErrRange, ": translation[1] = [1e-30 0 0]: out of range: no length"},
		{func(q *physics3.Casts) { q.MaxFraction = []float32{1, inf} }, physics3.ErrNotFinite, ".MaxFraction[1] = +Inf: not finite"},
		{func(q *physics3.Casts) { q.MaxFraction = []float32{1, -1} }, physics3.ErrRange, ".MaxFraction[1] = -1: out of range"},
		{func(q *physics3.Casts) { q.MaxFraction = []float32{1, 1e30} }, physics3.ErrRange, ".MaxFraction[1] = 1e+30: out of range: goes beyond 2^60"},
	} {
		q := &physics3.Casts{DX: []float32{1, 1}, DY: []float32{0, 0}, DZ: []float32{0, 0}}
		q.Forms, q.X, q.Y, q.Z = []physics3.Form{ball}, []float32{0, 0}, []float32{0, 0}, []float32{0, 0}
		c.change(q)
		ray := &physics3.Rays{X: q.X, Y: q.Y, Z: q.Z, DX: q.DX, DY: q.DY, DZ: q.DZ, MaxFraction: q.MaxFraction}
		refused("RayClosest", r.w.RayClosest(ray, &hits), c.want, "physics3: Rays"+c.says)
		refused("RayAll", r.w.RayAll(ray, &hits), c.want, "physics3: Rays"+c.says)
		refused("RayAny", r.w.RayAny(ray, make([]bool, 2)), c.want, "physics3: Rays"+c.says)
		says := "physics3: Casts" + c.says
		if c.says[0] == '.' && (c.says[1] == 'X' || c.says[1] == 'Y' || c.says[1] == 'Z') {
			says = "physics3: Probes" + c.says
		}
		refused("CastClosest", r.w.CastClosest(q, &hits), c.want, says)
		refused("CastAll", r.w.CastAll(q, &hits), c.want, says)
	}
	for _, c := range []struct {
		change func(q *physics3.Probes)
		want   error
		says   string
	}{
		{func(q *physics3.Probes) { q.Rotations = [][4]float32{{3: 1}, {}} }, physics3.ErrRange, "physics3: Probes.Rotations[1] = [0 0 0 0]: out of range: the length is zero"},
		{func(q *physics3.Probes) { q.Rotations = [][4]float32{{nan}, {}} }, physics3.ErrNotFinite, "physics3: Probes.Rotations[0] = [NaN 0 0 0]: not finite"},
		{func(q *physics3.Probes) { q.Forms = make([]physics3.Form, 1) }, physics3.ErrRange, "physics3: Probes.Forms[0] = no form: out of range"},
		{func(q *physics3.Probes) { q.Exclude = []physics3.Body{{}, gone} }, physics3.ErrStale, "physics3: QueryFilter.Exclude[1] = body_0.1: stale"},
	} {
		q := &physics3.Probes{Forms: []physics3.Form{ball}, X: []float32{0, 0}, Y: []float32{0, 0}, Z: []float32{0, 0}}
		c.change(q)
		refused("Overlaps", r.w.Overlaps(q, &physics3.Overlapping{}), c.want, c.says)
		refused("Nearest", r.w.Nearest(q, []float32{1, 1}, &near), c.want, c.says)
	}
	q := &physics3.Probes{Forms: []physics3.Form{ball}, X: []float32{0}, Y: []float32{0}, Z: []float32{0}}
	refused("Nearest", r.w.Nearest(q, []float32{-1}, &near), physics3.ErrRange, "physics3: Nearest: within[0] = -1: out of range")
	refused("Nearest", r.w.Nearest(q, []float32{inf}, &near), physics3.ErrNotFinite, "physics3: Nearest: within[0] = +Inf: not finite")
	refused("Distances", r.w.Distances([]physics3.Shape{far}, []physics3.Shape{dead}, &near), physics3.ErrRange,
		"physics3: Distances: a[0] = "+far.String()+": out of range: the pose of its body is out of range")
	refused("Distances", r.w.Distances([]physics3.Shape{dead}, []physics3.Shape{far}, &near), physics3.ErrStale, "physics3: Distances: a[0] = "+dead.String()+": stale")
	if len(hits.Shapes) != 3 || len(hits.Fractions) != 1 || hits.Fractions[0] != 7 || len(near.Shapes) != 3 {
		t.Error("a refused batch changed the result")
	}
	if _, err := physics3.HullForm(nil, physics3.Placement{}); !errors.Is(err, physics3.ErrRange) {
		t.Errorf("HullForm: %v", err)
	}
	if _, err := physics3.SphereForm(physics3.Sphere{Radius: -1}); !errors.Is(err, physics3.ErrRange) {
		t.Errorf("SphereForm: %v", err)
	}
}

// crowd is a world of n bodies of all kinds in a cube, some with two shapes, and a batch of casts through it.
func crowd(t testing.TB, n, queries int, c physics3.Config) (queryFixture, []physics3.Shape, *physics3.Casts, *physics3.Rays) {
	c.Capacity = n + n/8
	r := newQueryFixture(t, c)
	rng := rand.New(rand.NewPCG(5, uint64(n)))
	half := 1.5 * math.Cbrt(float64(n)) / 2
	within := func() float32 { return float32((2*rng.Float64() - 1) * half) }
	turn := func() (q [4]float32) {
		for k := range q {
			q[k] = float32(rng.NormFloat64())
		}
		return q
	}
	rocks := [2]*physics3.Hull{newRock(t, 1, 0), newRock(t, 2, 0.1)}
	var shapes []physics3.Shape
	for i := range n {
		d := dynamicAt(within(), within(), within())
		d.Rotation = turn()
		b, err := r.w.CreateBody(d)
		r.no(err)
		switch i % 5 {
		case 0:
			shapes = append(shapes, r.sphere(b, 0.5))
		case 1:
			shapes = append(shapes, r.box(b, [3]float32{0.5, 0.3, 0.2}, 0))
		case 2:
			shapes = append(shapes, r.capsule(b, [3]float32{-0.4, 0, 0}, [3]float32{0.5, 0.2, 0.1}, 0.2), r.box(b, [3]float32{0.1, 0.5, 0.1}, 0.1))
		default:
			s, err := r.w.CreateHull(b, plainDef, rocks[i%2], physics3.Placement{Position: [3]float32{0.1, 0, 0}})
			r.no(err)
			shapes = append(shapes, s)
		}
	}
	q := &physics3.Casts{}
	for range queries {
		q.X, q.Y, q.Z, q.DX, q.DY, q.DZ = append(q.X, within()), append(q.Y, within()), append(q.Z, within()),
			append(q.DX, within()), append(q.DY, within()), append(q.DZ, within())
		q.Rotations = append(q.Rotations, turn())
		switch f := must[physics3.Form](t); rng.IntN(4) {
		case 0:
			q.Forms = append(q.Forms, f(physics3.SphereForm(physics3.Sphere{Radius: 0.3})))
		case 1:
			q.Forms = append(q.Forms, f(physics3.CapsuleForm(physics3.Capsule{P2: [3]float32{0.5, 0.2, 0}, Radius: 0.2})))
		case 2:
			q.Forms = append(q.Forms, f(physics3.BoxForm(physics3.Box{Half: [3]float32{0.2, 0.3, 0.4}, Center: [3]float32{1, 0, 0}})))
		default:
			q.Forms = append(q.Forms, f(physics3.HullForm(rocks[1], physics3.Placement{})))
		}
	}
	return r, shapes, q, &physics3.Rays{X: q.X, Y: q.Y, Z: q.Z, DX: q.DX, DY: q.DY, DZ: q.DZ}
}

// What queries find is what a loop over all shapes finds.
func TestQueriesAgainstAllShapes(t *testing.T) {
	const n = 40
	r, shapes, q, _ := crowd(t, 100, n, physics3.Config{})
	within := make([]float32, n)
	for i := range within {
		within[i] = 1.5
	}
	var over physics3.Overlapping
	var near, all physics3.Distances
	var hits physics3.RayHits
	r.no(r.w.Overlaps(&q.Probes, &over))
	r.no(r.w.Nearest(&q.Probes, within, &near))
	r.no(r.w.CastClosest(q, &hits))
	for i := range n {
		// A body with the shape of the form.
		d := physics3.DefaultBodyDef()
		d.Position, d.Rotation = [3]float32{q.X[i], q.Y[i], q.Z[i]}, q.Rotations[i]
		b, err := r.w.CreateBody(d)
		r.no(err)
		form, err := r.w.CreateForm(b, plainDef, q.Forms[i])
		r.no(err)
		r.no(r.w.Distances(shapes, repeat(form, len(shapes)), &all))
		best, overlapping := -1, 0
		for k, distance := range all.Distance {
			if distance <= 0 {
				if row := over.Row(i); overlapping >= len(row) || row[overlapping] != shapes[k] {
					t.Errorf("query %d overlaps %v, not %v", i, over.Row(i), shapes[k])
				}
				overlapping++
			}
			if distance <= 1.5 && (best < 0 || distance < all.Distance[best]) {
				best = k
			}
		}
		if overlapping != len(over.Row(i)) {
			t.Errorf("query %d overlaps %v, %d too many", i, over.Row(i), len(over.Row(i))-overlapping)
		}
		if best >= 0 && (near.Shapes[i] != shapes[best] || math.Abs(float64(near.Distance[i]-all.Distance[best])) > 1e-6) || best < 0 && near.Shapes[i] != (physics3.Shape{}) {
			t.Errorf("query %d: nearest is %v at %g", i, near.Shapes[i], near.Distance[i])
		}
		// At the hit it touches one shape and overlaps none.
		if hits.Fractions[i] > 0 {
			f := hits.Fractions[i]
			r.no(r.w.SetTransform(b, [3]float32{q.X[i] + f*q.DX[i], q.Y[i] + f*q.DY[i], q.Z[i] + f*q.DZ[i]}, q.Rotations[i]))
			r.no(r.w.Distances(shapes, repeat(form, len(shapes)), &all))
			for k, distance := range all.Distance {
				if distance < -1e-5 || shapes[k] == hits.Shapes[i] && distance > 1e-5 {
					t.Errorf("cast %d ends at %g, %g from %v; it hits %v", i, f, distance, shapes[k], hits.Shapes[i])
				}
			}
		}
		r.no(r.w.DestroyBody(b))
	}
}

func repeat(s physics3.Shape, n int) (all []physics3.Shape) {
	for range n {
		all = append(all, s)
	}
	return all
}

// Every level and any number of workers give the same result.
func TestQueriesLevelsAndWorkers(t *testing.T) {
	type results struct {
		closest, all, cast, casts physics3.RayHits
		over                      physics3.Overlapping
		near                      physics3.Distances
		any                       []bool
	}
	var want *results
	for _, level := range native.Levels() {
		for _, workers := range []int{1, 2, 7} {
			r, _, casts, rays := crowd(t, 150, 200, physics3.Config{Level: level, Workers: workers})
			got := &results{any: make([]bool, 200)}
			for range 2 {
				r.no(r.w.RayClosest(rays, &got.closest))
				r.no(r.w.RayAll(rays, &got.all))
				r.no(r.w.RayAny(rays, got.any))
				r.no(r.w.CastClosest(casts, &got.cast))
				r.no(r.w.CastAll(casts, &got.casts))
				r.no(r.w.Overlaps(&casts.Probes, &got.over))
				r.no(r.w.Nearest(&casts.Probes, make([]float32, 200), &got.near))
			}
			if want == nil {
				want = got
				t.Logf("%d hits of rays, %d of casts, %d overlaps", len(got.all.Shapes), len(got.casts.Shapes), len(got.over.Shapes))
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("level %s, %d workers: another result", level, workers)
			}
		}
	}
}

func TestQueriesAllocateNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("instrumented builds allocate")
	}
	for _, workers := range []int{1, 2} {
		r, shapes, casts, rays := crowd(t, 200, 100, physics3.Config{Workers: workers})
		var hits physics3.RayHits
		var over physics3.Overlapping
		var near physics3.Distances
		x, any, within := r.w.Columns().X, make([]bool, 100), make([]float32, 100)
		batch := func() {
			x[0]++
			r.no(r.w.RayClosest(rays, &hits))
			r.no(r.w.RayAny(rays, any))
			r.no(r.w.RayAll(rays, &hits))
			r.no(r.w.CastClosest(casts, &hits))
			r.no(r.w.CastAll(casts, &hits))
			r.no(r.w.Overlaps(&casts.Probes, &over))
			r.no(r.w.Nearest(&casts.Probes, within, &near))
			r.no(r.w.Distances(shapes[:100], shapes[100:200], &near))
		}
		batch()
		if n := testing.AllocsPerRun(20, batch); n > 0 && workers == 1 || n > 5 {
			t.Errorf("%d workers: %g allocations", workers, n)
		}
	}
}

// 10,000 rays over 4,096 bodies.
func BenchmarkRays(b *testing.B) {
	for _, kind := range []string{"closest", "any", "all", "rebuild"} {
		b.Run(kind, func(b *testing.B) {
			r, _, _, rays := crowd(b, 4096, 10_000, physics3.Config{})
			var hits physics3.RayHits
			any := make([]bool, len(rays.X))
			r.no(r.w.RayClosest(rays, &hits))
			for b.Loop() {
				switch kind {
				case "rebuild":
					r.w.Columns().X[0]++
					r.no(r.w.RayClosest(rays, &hits))
				case "closest":
					r.no(r.w.RayClosest(rays, &hits))
				case "any":
					r.no(r.w.RayAny(rays, any))
				case "all":
					r.no(r.w.RayAll(rays, &hits))
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/10_000, "ns/ray")
		})
	}
}

func BenchmarkProbes(b *testing.B) {
	for _, kind := range []string{"cast", "overlaps", "nearest"} {
		b.Run(kind, func(b *testing.B) {
			r, _, casts, _ := crowd(b, 4096, 1000, physics3.Config{})
			var hits physics3.RayHits
			var over physics3.Overlapping
			var near physics3.Distances
			within := make([]float32, len(casts.X))
			for i := range within {
				within[i] = 5
			}
			for b.Loop() {
				switch kind {
				case "cast":
					r.no(r.w.CastClosest(casts, &hits))
				case "overlaps":
					r.no(r.w.Overlaps(&casts.Probes, &over))
				case "nearest":
					r.no(r.w.Nearest(&casts.Probes, within, &near))
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/query")
		})
	}
}
