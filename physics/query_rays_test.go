package physics_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/physics"
)

// ray is a batch of one.
func ray(x, y, dx, dy float32) *physics.Rays {
	return &physics.Rays{X: []float32{x}, Y: []float32{y}, DX: []float32{dx}, DY: []float32{dy}}
}

func (r fixture) closest(q *physics.Rays) *physics.RayHits {
	r.Helper()
	var out physics.RayHits
	r.no(r.w.RayClosest(q, &out))
	return &out
}

// meets fails unless a ray hits a shape at a fraction, with a normal.
func (r fixture) meets(what string, h *physics.RayHits, i int, s physics.Shape, fraction, nx, ny float64) {
	r.Helper()
	if h.Shapes[i] != s {
		r.Errorf("%s: meets %v, want %v", what, h.Shapes[i], s)
	}
	r.near(what+": fraction", float64(h.Fractions[i]), fraction, 1e-5)
	r.near(what+": normal", math.Hypot(float64(h.NormalX[i])-nx, float64(h.NormalY[i])-ny), 0, 1e-5)
}

func TestRayClosest(t *testing.T) {
	r := newFixture(t, 0)
	ball := r.circle(r.dynamic(5, 0), plain, 1)
	box := r.box(r.dynamic(10, 0, turned(math.Pi/4)), plain, 1, 1)
	pill := r.capsule(r.dynamic(0, 10), plain, -1, 0, 1, 0, 0.5)
	wall := r.segment(r.body(physics.StaticBody, 0, -5), plain, -3, 0, 3, 0)
	sqrt2 := math.Sqrt2
	r.meets("ball", r.closest(ray(0, 0, 10, 0)), 0, ball, 0.4, -1, 0)
	r.meets("ball, backwards", r.closest(ray(20, 0.5, -20, 0)), 0, box, (10-(sqrt2-0.5))/20, sqrt2/2, sqrt2/2)
	r.meets("box", r.closest(ray(10, 4, 0, -8)), 0, box, (4-sqrt2)/8, sqrt2/2, sqrt2/2)
	r.meets("pill, side", r.closest(ray(0.5, 0, 0, 20)), 0, pill, 9.5/20, 0, -1)
	r.meets("pill, end", r.closest(ray(-11, 10, 20, 0)), 0, pill, 9.5/20, -1, 0)
	r.meets("wall", r.closest(ray(1, 0, 0, -10)), 0, wall, 0.5, 0, 1)
	r.meets("wall, from below", r.closest(ray(1, -10, 0, 10)), 0, wall, 0.5, 0, -1)
	r.meets("inside", r.closest(ray(5, 0.5, 1, 0)), 0, ball, 0, 0, 0)
	r.meets("nothing", r.closest(ray(0, 2, 20, 0)), 0, physics.Shape{}, 1, 0, 0)
	q := ray(5, 0.5, 10, 0)
	q.SkipInside = true
	r.meets("from inside", r.closest(q), 0, box, (5-(sqrt2-0.5))/10, -sqrt2/2, sqrt2/2)
	q = ray(0, 0, 1, 0)
	q.MaxFraction = []float32{3.5}
	h := r.closest(q)
	r.meets("too short", h, 0, physics.Shape{}, 3.5, 0, 0)
	r.near("its end", float64(h.X[0]), 3.5, 0)
	q.MaxFraction[0] = 4
	r.meets("touching", r.closest(q), 0, ball, 4, -1, 0)
}

// Of shapes at the same fraction RayClosest returns the lowest; RayAll returns all of them, in order.
func TestRayTies(t *testing.T) {
	r := newFixture(t, 0)
	var shapes []physics.Shape
	for range 40 {
		shapes = append(shapes, r.box(r.dynamic(3, 0), plain, 1, 1))
	}
	r.meets("first", r.closest(ray(0, 0, 4, 0)), 0, shapes[0], 0.5, -1, 0)
	var out physics.RayHits
	r.no(r.w.RayAll(ray(0, 0, 4, 0), &out))
	if !reflect.DeepEqual(out.Shapes, shapes) || !reflect.DeepEqual(out.Offsets, []uint32{0, 40}) {
		t.Errorf("%v", out)
	}
}

func TestRayFilters(t *testing.T) {
	r := newFixture(t, 0)
	d := plain
	d.Filter = physics.Filter{Category: 2, Mask: 4}
	first := r.dynamic(2, 0)
	a := r.circle(first, d, 0.5)
	d.Sensor, d.Filter.Mask = true, ^uint64(0)
	sensor := r.circle(r.dynamic(4, 0), d, 0.5)
	c := r.circle(r.dynamic(6, 0), plain, 0.5)
	meets := func(want physics.Shape, change func(q *physics.Rays)) {
		t.Helper()
		q := ray(0, 0, 10, 0)
		change(q)
		if h := r.closest(q); h.Shapes[0] != want {
			t.Errorf("meets %v, want %v", h.Shapes[0], want)
		}
	}
	meets(a, func(q *physics.Rays) {})
	meets(c, func(q *physics.Rays) { q.Category = 8 })
	meets(a, func(q *physics.Rays) { q.Category = 4 })
	meets(c, func(q *physics.Rays) { q.Mask = 1 })
	meets(c, func(q *physics.Rays) { q.Masks = []uint64{1} })
	meets(physics.Shape{}, func(q *physics.Rays) { q.Mask = 16 })
	meets(c, func(q *physics.Rays) { q.Exclude = []physics.Body{first} })
	meets(sensor, func(q *physics.Rays) { q.Exclude, q.Sensors = []physics.Body{first}, true })
	meets(c, func(q *physics.Rays) { q.Categories = []uint64{8} })
	r.no(r.w.Disable(first))
	meets(c, func(q *physics.Rays) {})
}

// Rays see all changes since the last batch: by creation, motion, writes or Restore.
func TestRaysSeeTheWorldAsItIs(t *testing.T) {
	r := newFixture(t, 0)
	expect := func(what string, fraction float64) {
		t.Helper()
		h := r.closest(ray(0, 0, 100, 0))
		r.near(what, float64(h.Fractions[0]), fraction, 1e-6)
	}
	expect("empty", 1)
	b := r.dynamic(50, 0)
	expect("no shape", 1)
	s := r.circle(b, plain, 1)
	expect("a shape", 0.49)
	r.no(r.w.SetTransform(b, [2]float32{30, 0}, 0))
	expect("moved", 0.29)
	c := r.w.Columns()
	c.X[b.Index()] = 20
	expect("written", 0.19)
	snapshot, err := r.w.Snapshot(nil)
	r.no(err)
	box := r.box(b, plain, 5, 1)
	expect("another", 0.15)
	r.no(r.w.DestroyShape(box))
	expect("destroyed", 0.19)
	d := plain
	d.Filter.Category = 2
	r.no(r.w.SetShapeDef(s, d))
	q := ray(0, 0, 100, 0)
	q.Mask = 1
	r.meets("another category", r.closest(q), 0, physics.Shape{}, 1, 0, 0)
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
	r.no(r.w.SetVelocity(b, [2]float32{60, 0}, 0))
	r.no(r.w.Step(dt))
	expect("stepped", 0.2)
}

func TestBadRays(t *testing.T) {
	r := newFixture(t, 0)
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	gone := r.dynamic(0, 0)
	r.no(r.w.DestroyBody(gone))
	out := physics.RayHits{Shapes: make([]physics.Shape, 3), Fractions: []float32{7}}
	for _, c := range []struct {
		change func(q *physics.Rays)
		want   error
		says   string
	}{
		{func(q *physics.Rays) { q.X[1] = nan }, physics.ErrNotFinite, "physics: Rays.X[1] = NaN: not finite"},
		{func(q *physics.Rays) { q.Y[0] = inf }, physics.ErrNotFinite, "physics: Rays.Y[0] = +Inf: not finite"},
		{func(q *physics.Rays) { q.DX[1] = -inf }, physics.ErrNotFinite, "physics: Rays.DX[1] = -Inf: not finite"},
		{func(q *physics.Rays) { q.DY[1] = nan }, physics.ErrNotFinite, "physics: Rays.DY[1] = NaN: not finite"},
		{func(q *physics.Rays) { q.X[1] = 1e19 }, physics.ErrRange, "physics: Rays.X[1] = 1e+19: out of range: more than 2^60"},
		{func(q *physics.Rays) { q.DX[1], q.DY[1] = 0, 0 }, physics.ErrRange, "physics: Rays: translation[1] = [0 0]: out of range: no length"},
		{func(q *physics.Rays) { q.DX[1], q.DY[1] = 1e-30, 0 }, physics.ErrRange, "physics: Rays: translation[1] = [1e-30 0]: out of range: no length"},
		{func(q *physics.Rays) { q.MaxFraction = []float32{1, nan} }, physics.ErrNotFinite, "physics: Rays.MaxFraction[1] = NaN: not finite"},
		{func(q *physics.Rays) { q.MaxFraction = []float32{1, -1} }, physics.ErrRange, "physics: Rays.MaxFraction[1] = -1: out of range"},
		{func(q *physics.Rays) { q.MaxFraction = []float32{1, 1e30} }, physics.ErrRange, "physics: Rays.MaxFraction[1] = 1e+30: out of range: goes beyond 2^60"},
		{func(q *physics.Rays) { q.Exclude = []physics.Body{{}, gone} }, physics.ErrStale, "physics: QueryFilter.Exclude[1] = body_0.1: stale"},
	} {
		q := &physics.Rays{X: []float32{0, 0}, Y: []float32{0, 0}, DX: []float32{1, 1}, DY: []float32{1, 1}}
		c.change(q)
		for _, err := range []error{r.w.RayClosest(q, &out), r.w.RayAll(q, &out)} {
			if !errors.Is(err, c.want) || err.Error() != c.says {
				t.Errorf("%v, want %s", err, c.says)
			}
		}
	}
	if len(out.Shapes) != 3 || len(out.Fractions) != 1 || out.Fractions[0] != 7 {
		t.Error("a refused batch changed the result")
	}
}

// crowdOfRays is a world of n bodies of all kinds in a square, and rays through it.
func crowdOfRays(t testing.TB, n int, c physics.Config) (fixture, *physics.Rays) {
	c.Capacity = n + n/8
	r := fixture{t, newWorld(t, c)}
	rng := rand.New(rand.NewPCG(5, uint64(n)))
	half := math.Sqrt(float64(n))
	within := func() float32 { return float32((2*rng.Float64() - 1) * half) }
	for i := range n {
		b := r.dynamic(within(), within(), turned(6*rng.Float64()))
		switch i % 4 {
		case 0:
			r.circle(b, plain, 0.5)
		case 1:
			r.box(b, plain, 0.5, 0.3)
		case 2:
			r.capsule(b, plain, -0.4, 0, 0.5, 0.2, 0.2)
		default:
			r.segment(b, plain, -1, 0, 1, 0)
		}
	}
	q := &physics.Rays{}
	for range 1000 {
		q.X, q.Y, q.DX, q.DY = append(q.X, within()), append(q.Y, within()), append(q.DX, within()), append(q.DY, within())
	}
	return r, q
}

// Every level and any number of workers give the same result.
func TestRaysLevelsAndWorkers(t *testing.T) {
	var want [2]physics.RayHits
	for i, level := range native.Levels() {
		for _, workers := range []int{1, 2, 7} {
			r, q := crowdOfRays(t, 500, physics.Config{Level: level, Workers: workers})
			var got [2]physics.RayHits
			for range 2 {
				r.no(r.w.RayClosest(q, &got[0]))
				r.no(r.w.RayAll(q, &got[1]))
			}
			if i == 0 && workers == 1 {
				want = got
				t.Logf("%d hits", len(got[1].Shapes))
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("level %s, %d workers: another result", level, workers)
			}
		}
	}
}

func TestRaysAllocateNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("instrumented builds allocate")
	}
	for _, workers := range []int{1, 2} {
		r, q := crowdOfRays(t, 300, physics.Config{Workers: workers})
		var out physics.RayHits
		x := r.w.Columns().X
		batch := func() {
			x[0]++
			r.no(r.w.RayClosest(q, &out))
			r.no(r.w.RayAll(q, &out))
		}
		batch()
		if n := testing.AllocsPerRun(20, batch); n > 0 && workers == 1 || n > 2 {
			t.Errorf("%d workers: %g allocations", workers, n)
		}
	}
}

func BenchmarkRayClosest(b *testing.B) {
	for _, level := range native.Levels() {
		b.Run("level="+level.String(), func(b *testing.B) {
			r, q := crowdOfRays(b, 4096, physics.Config{Level: level})
			var out physics.RayHits
			for b.Loop() {
				r.no(r.w.RayClosest(q, &out))
			}
		})
	}
}

func BenchmarkRayRebuild(b *testing.B) {
	for _, level := range native.Levels() {
		b.Run("level="+level.String(), func(b *testing.B) {
			r, _ := crowdOfRays(b, 4096, physics.Config{Level: level})
			q, x := ray(0, 0, 1e-3, 0), r.w.Columns().X
			var out physics.RayHits
			for b.Loop() {
				x[7]++
				r.no(r.w.RayClosest(q, &out))
			}
		})
	}
}
