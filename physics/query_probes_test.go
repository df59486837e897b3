package physics_test

import (
	"errors"
	"math"
	"reflect"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/physics"
)

// form is for constructors whose arguments are known to be good.
func form(f physics.Form, err error) physics.Form {
	if err != nil {
		panic(err)
	}
	return f
}

func circleForm(radius float32) physics.Form {
	return form(physics.CircleForm(physics.Circle{Radius: radius}))
}

func boxForm(hx, hy float32) physics.Form { return form(physics.PolygonForm(physics.Box(hx, hy))) }

func probeAt(f physics.Form, x, y float32) physics.Probes {
	return physics.Probes{Forms: []physics.Form{f}, X: []float32{x}, Y: []float32{y}}
}

func TestOverlaps(t *testing.T) {
	r := newFixture(t, 0)
	var shapes []physics.Shape
	for i := range 5 {
		shapes = append(shapes, r.circle(r.dynamic(float32(i)*2, 0), plain, 0.5))
	}
	wall := r.segment(r.body(physics.StaticBody, 0, 3), plain, -1, 0, 9, 0)
	overlaps := func(q physics.Probes, want ...physics.Shape) {
		t.Helper()
		var out physics.Overlapping
		r.no(r.w.Overlaps(&q, &out))
		if got := out.Row(0); len(got) != len(want) || len(want) > 0 && !reflect.DeepEqual(got, want) {
			t.Errorf("overlaps %v, want %v", got, want)
		}
	}
	overlaps(probeAt(boxForm(2, 1), 4, 0), shapes[1:4]...)
	overlaps(probeAt(boxForm(1, 1), 4, 0), shapes[2])
	overlaps(probeAt(boxForm(1.5, 1), 4, 0), shapes[1], shapes[2], shapes[3]) // touching
	overlaps(probeAt(circleForm(0.5), 5, 0), shapes[2], shapes[3])
	overlaps(probeAt(circleForm(0.4), 5, 0))
	overlaps(probeAt(circleForm(0.4), 5, 3.3), wall)
	pill := form(physics.CapsuleForm(physics.Capsule{P1: [2]float32{-4, 0}, P2: [2]float32{4, 0}, Radius: 0.1}))
	overlaps(probeAt(pill, 4, 0), shapes...)
	q := probeAt(pill, 4, 0)
	q.Angle = []float32{math.Pi / 2}
	overlaps(q, shapes[2], wall)
	tilted := probeAt(boxForm(0.1, 0.6), 5, 0)
	overlaps(tilted)
	tilted.Angle = []float32{math.Pi / 2}
	overlaps(tilted, shapes[2], shapes[3])
}

func TestCastClosest(t *testing.T) {
	r := newFixture(t, 0)
	ball := r.circle(r.dynamic(5, 0), plain, 1)
	floor := r.box(r.body(physics.StaticBody, 0, -3), plain, 20, 1)
	cast := func(what string, q physics.Probes, dx, dy float32, s physics.Shape, fraction, nx, ny, x, y float64) {
		t.Helper()
		var out physics.RayHits
		r.no(r.w.CastClosest(&physics.Casts{Probes: q, DX: []float32{dx}, DY: []float32{dy}}, &out))
		r.meets(what, &out, 0, s, fraction, nx, ny)
		r.near(what+": x", float64(out.X[0]), x, 1e-5)
		r.near(what+": y", float64(out.Y[0]), y, 1e-5)
	}
	cast("circle", probeAt(circleForm(0.5), 0, 0), 10, 0, ball, 0.35, -1, 0, 4, 0)
	cast("box down", probeAt(boxForm(0.5, 0.25), -5, 0), 0, -10, floor, 0.175, 0, 1, -5.5, -2)
	cast("box at the ball", probeAt(boxForm(1, 1), 0, 1.5), 5, 0, ball, (5-1-math.Sqrt(0.75))/5, -math.Sqrt(0.75), 0.5, 5-math.Sqrt(0.75), 0.5)
	cast("nothing", probeAt(circleForm(0.5), 0, 2), 10, 0, physics.Shape{}, 1, 0, 0, 10, 2)
	cast("in overlap", probeAt(circleForm(0.5), 5, 1), 10, 0, ball, 0, 0, 0, 5, 1)
}

func TestNearestAndDistances(t *testing.T) {
	r := newFixture(t, 0)
	ball := r.circle(r.dynamic(5, 0), plain, 1)
	box := r.box(r.dynamic(0, 5), plain, 1, 1)
	var d physics.Distances
	q := physics.Probes{Forms: []physics.Form{circleForm(0.5)}, X: []float32{0, 0, 0, 5}, Y: []float32{0, 2, 0, 0.25}}
	r.no(r.w.Nearest(&q, []float32{10, 10, 3, 0}, &d))
	if want := []physics.Shape{ball, box, {}, ball}; !reflect.DeepEqual(d.Shapes, want) {
		t.Errorf("nearest %v, want %v", d.Shapes, want)
	}
	for i, want := range []float64{3.5, 1.5, 3, -1.25} {
		r.near("distance", float64(d.Distance[i]), want, 1e-6)
	}
	r.near("x", float64(d.AX[0]), 4, 1e-6)
	r.near("x", float64(d.BX[0]), 0.5, 1e-6)
	r.near("y", float64(d.NormalY[1]), -1, 1e-6)
	r.no(r.w.Distances([]physics.Shape{ball, box}, []physics.Shape{box, ball}, &d))
	gap := math.Hypot(4, 4) - 1
	for i, sign := range []float64{1, -1} {
		r.near("gap", float64(d.Distance[i]), gap, 1e-5)
		r.near("normal", float64(d.NormalY[i]), sign*math.Sqrt2/2, 1e-6)
	}
	r.near("corner", float64(d.BX[0]), 1, 1e-5)
	r.near("corner", float64(d.AY[1]), 4, 1e-5)
}

func TestBadProbes(t *testing.T) {
	r := newFixture(t, 0)
	nan := float32(math.NaN())
	good := func() *physics.Casts {
		return &physics.Casts{Probes: physics.Probes{Forms: []physics.Form{circleForm(1)}, X: []float32{0, 0}, Y: []float32{0, 0}},
			DX: []float32{1, 1}, DY: []float32{0, 0}}
	}
	hits, over, near := physics.RayHits{X: make([]float32, 5)}, physics.Overlapping{Offsets: make([]uint32, 7)}, physics.Distances{AX: make([]float32, 9)}
	for _, c := range []struct {
		change func(q *physics.Casts)
		want   error
		says   string
	}{
		{func(q *physics.Casts) { q.X[1] = nan }, physics.ErrNotFinite, "physics: Probes.X[1] = NaN: not finite"},
		{func(q *physics.Casts) { q.Y[0] = 2e19 }, physics.ErrRange, "physics: Probes.Y[0] = 2e+19: out of range: more than 2^60"},
		{func(q *physics.Casts) { q.Angle = []float32{0, nan} }, physics.ErrNotFinite, "physics: Probes.Angle[1] = NaN: not finite"},
		{func(q *physics.Casts) { q.Angle = []float32{-1e5, 0} }, physics.ErrRange, "physics: Probes.Angle[0] = -100000: out of range: more than 65536 rad"},
		{func(q *physics.Casts) { q.Forms = make([]physics.Form, 1) }, physics.ErrRange, "physics: Probes.Forms[0] = no form: out of range"},
	} {
		q := good()
		c.change(q)
		for _, err := range []error{r.w.CastClosest(q, &hits), r.w.CastAll(q, &hits), r.w.Overlaps(&q.Probes, &over), r.w.Nearest(&q.Probes, []float32{1, 1}, &near)} {
			if !errors.Is(err, c.want) || err.Error() != c.says {
				t.Errorf("%v, want %s", err, c.says)
			}
		}
	}
	q := good()
	q.DX[1] = 0
	if err := r.w.CastAll(q, &hits); !errors.Is(err, physics.ErrRange) || err.Error() != "physics: Casts: translation[1] = [0 0]: out of range: no length" {
		t.Error(err)
	}
	if err := r.w.Nearest(&good().Probes, []float32{1, -1}, &near); !errors.Is(err, physics.ErrRange) || err.Error() != "physics: Nearest: within[1] = -1: out of range" {
		t.Error(err)
	}
	if err := r.w.Distances(make([]physics.Shape, 1), make([]physics.Shape, 1), &near); !errors.Is(err, physics.ErrStale) {
		t.Error(err)
	}
	if _, err := physics.PolygonForm(physics.Box(1, nan)); !errors.Is(err, physics.ErrNotFinite) {
		t.Error(err)
	}
	if _, err := physics.CircleForm(physics.Circle{}); !errors.Is(err, physics.ErrRange) {
		t.Error(err)
	}
	if len(hits.X) != 5 || len(over.Offsets) != 7 || len(near.AX) != 9 {
		t.Error("a refused batch changed a result")
	}
}

// crowdOfProbes returns the world of crowdOfRays, with forms in place of rays.
func crowdOfProbes(t testing.TB, n int, c physics.Config) (fixture, *physics.Casts, []float32) {
	r, rays := crowdOfRays(t, n, c)
	forms := []physics.Form{circleForm(0.7), boxForm(0.5, 1), boxForm(2, 0.1), form(physics.CapsuleForm(physics.Capsule{P2: [2]float32{1, 1}, Radius: 0.2}))}
	q := &physics.Casts{DX: rays.DX, DY: rays.DY}
	q.X, q.Y, q.Angle = rays.X, rays.Y, rays.DY
	within := make([]float32, len(q.X))
	for i := range q.X {
		q.Forms = append(q.Forms, forms[i%len(forms)])
		within[i] = float32(i) / 200
	}
	return r, q, within
}

// probed holds the results of all kinds of queries.
type probed struct {
	closest, all physics.RayHits
	over         physics.Overlapping
	near         physics.Distances
}

func (p *probed) ask(r fixture, q *physics.Casts, within []float32) {
	r.no(r.w.CastClosest(q, &p.closest))
	r.no(r.w.CastAll(q, &p.all))
	r.no(r.w.Overlaps(&q.Probes, &p.over))
	r.no(r.w.Nearest(&q.Probes, within, &p.near))
}

func TestProbesLevelsAndWorkers(t *testing.T) {
	var want probed
	for i, level := range native.Levels() {
		for _, workers := range []int{1, 2, 7} {
			r, q, within := crowdOfProbes(t, 300, physics.Config{Level: level, Workers: workers})
			var got probed
			got.ask(r, q, within)
			got.ask(r, q, within)
			if i == 0 && workers == 1 {
				want = got
				t.Logf("%d met, %d overlaps", len(got.all.Shapes), len(got.over.Shapes))
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("level %s, %d workers: another result", level, workers)
			}
		}
	}
}

func TestProbesAllocateNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("instrumented builds allocate")
	}
	r, q, within := crowdOfProbes(t, 200, physics.Config{})
	var out probed
	out.ask(r, q, within)
	if n := testing.AllocsPerRun(5, func() { out.ask(r, q, within) }); n > 0 {
		t.Errorf("%g allocations", n)
	}
}

func BenchmarkProbes(b *testing.B) {
	r, q, within := crowdOfProbes(b, 4096, physics.Config{})
	var out probed
	for name, ask := range map[string]func() error{ // order-free: sub-benchmarks
		"cast": func() error { return r.w.CastClosest(q, &out.closest) },
		"over": func() error { return r.w.Overlaps(&q.Probes, &out.over) },
		"near": func() error { return r.w.Nearest(&q.Probes, within, &out.near) },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				r.no(ask())
			}
		})
	}
}
