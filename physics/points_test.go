package physics_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/physics"
	"github.com/evertick/evertick/physics/box2d"
)

// pointMethods are the conversions and velocities, with their formulas in float64: x, y is the pose of the origin,
// cx, cy the centre of mass in body coordinates.
var pointMethods = []struct {
	name string
	call func(w *physics.World, b physics.Body, v [2]float32) ([2]float32, error)
	want func(p pose64, x, y float64) (float64, float64)
	ours bool // needs the solver of this package
}{
	{"WorldPoint", (*physics.World).WorldPoint, func(p pose64, x, y float64) (float64, float64) { return p.world(x, y) }, false},
	{"LocalPoint", (*physics.World).LocalPoint, func(p pose64, x, y float64) (float64, float64) {
		return p.back(x-p.x, y-p.y)
	}, false},
	{"WorldVector", (*physics.World).WorldVector, func(p pose64, x, y float64) (float64, float64) {
		wx, wy := p.world(x, y)
		return wx - p.x, wy - p.y
	}, false},
	{"LocalVector", (*physics.World).LocalVector, func(p pose64, x, y float64) (float64, float64) { return p.back(x, y) }, false},
	{"WorldPointVelocity", (*physics.World).WorldPointVelocity, func(p pose64, x, y float64) (float64, float64) { return p.velocity(x, y) }, true},
	{"LocalPointVelocity", (*physics.World).LocalPointVelocity, func(p pose64, x, y float64) (float64, float64) {
		return p.velocity(p.world(x, y))
	}, true},
}

type pose64 struct{ x, y, angle, cx, cy, vx, vy, w float64 }

func (p pose64) world(x, y float64) (float64, float64) {
	sin, cos := math.Sincos(p.angle)
	return p.x + cos*x - sin*y, p.y + sin*x + cos*y
}

func (p pose64) back(x, y float64) (float64, float64) {
	sin, cos := math.Sincos(p.angle)
	return cos*x + sin*y, cos*y - sin*x
}

func (p pose64) velocity(x, y float64) (float64, float64) {
	cx, cy := p.world(p.cx, p.cy)
	return p.vx - p.w*(y-cy), p.vy + p.w*(x-cx)
}

func TestPointsAndVectors(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 7))
	r := newFixture(t, 0)
	f := func(size float64) float32 { return float32((2*rng.Float64() - 1) * size) }
	for range 300 {
		b := r.dynamic(f(50), f(50), moving(f(9), f(9), f(9)), turned(float64(f(3))))
		cx, cy := f(2), f(2)
		must[physics.Shape](t)(r.w.CreateCircle(b, plain, physics.Circle{Center: [2]float32{cx, cy}, Radius: 1}))
		c, i := r.w.Columns(), b.Index()
		p := pose64{float64(c.X[i]), float64(c.Y[i]), math.Atan2(float64(c.Sin[i]), float64(c.Cos[i])), float64(c.CentreX[i]),
			float64(c.CentreY[i]), float64(c.VX[i]), float64(c.VY[i]), float64(c.W[i])}
		for _, m := range pointMethods {
			v := [2]float32{f(20), f(20)}
			got, err := m.call(r.w, b, v)
			r.no(err)
			x, y := m.want(p, float64(v[0]), float64(v[1]))
			r.near(m.name, float64(got[0]), x, 1e-4)
			r.near(m.name, float64(got[1]), y, 1e-4)
		}
		r.no(r.w.DestroyBody(b))
	}
}

func TestPointsRefused(t *testing.T) {
	r := newFixture(t, 0)
	b, gone := r.dynamic(0, 0), r.dynamic(1, 1)
	r.no(r.w.DestroyBody(gone))
	other := newFixture(t, 0, box2d.NewEngine(box2d.Options{}))
	foreign := other.dynamic(1, 2)
	for _, m := range pointMethods {
		for _, n := range []struct {
			b    physics.Body
			v    [2]float32
			want error
		}{
			{gone, [2]float32{}, physics.ErrStale}, {b, [2]float32{0, nan}, physics.ErrNotFinite}, {b, [2]float32{inf, 0}, physics.ErrNotFinite},
			{b, [2]float32{1e19, 0}, physics.ErrRange}, {b, [2]float32{-1e18, 1e18}, nil},
		} {
			if got, err := m.call(r.w, n.b, n.v); !errors.Is(err, n.want) || err != nil && got != [2]float32{} {
				t.Errorf("%s of %v: %v, %v", m.name, n.v, got, err)
			}
		}
		if _, err := m.call(other.w, foreign, [2]float32{}); errors.Is(err, physics.ErrUnsupported) != m.ours {
			t.Errorf("%s of another engine: %v", m.name, err)
		}
	}
	r.w.Columns().Cos[b.Index()] = float32(math.NaN())
	got, err := r.w.WorldPoint(b, [2]float32{1, 1})
	if err != nil || math.Float32bits(got[0]) != 0x7fc00000 {
		t.Errorf("%v, %v", got, err)
	}
}

func TestPointsAllocateNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("not run: an instrumented build allocates")
	}
	r := newFixture(t, 0)
	b := r.dynamic(0, 0)
	if n := testing.AllocsPerRun(20, func() {
		for _, m := range pointMethods {
			_, err := m.call(r.w, b, [2]float32{1, 2})
			r.no(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
