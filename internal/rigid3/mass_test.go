package rigid3

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/evertick/evertick/internal/hull"
)

func near(t *testing.T, what string, got, want []float64, tolerance float64) {
	t.Helper()
	for k := range want {
		if !(math.Abs(got[k]-want[k]) <= tolerance) {
			t.Errorf("%s: %v, want %v", what, got, want)
			return
		}
	}
}

// A compound has the mass of the solid from which it is cut.
func TestMassOfCompound(t *testing.T) {
	one := BoxMass([3]float64{1, 1, 2})
	one = one.Times(6 / one.Mass)
	half := BoxMass([3]float64{1, 1, 1})
	half = half.Times(3 / half.Mass)
	unit := [4]float64{0, 0, 0, 1}
	two := Sum([]Mass{half.Placed([3]float64{0, 0, 1}, unit), half.Placed([3]float64{0, 0, -1}, unit)})
	near(t, "one box", one.Inertia[:], []float64{10, 10, 4, 0, 0, 0}, 1e-5)
	near(t, "two boxes", two.Inertia[:], []float64{10, 10, 4, 0, 0, 0}, 1e-5)
	near(t, "mass", []float64{one.Mass, two.Mass}, []float64{6, 6}, 1e-12)

	cube := BoxMass([3]float64{.5, .5, .5})
	third := 1 / math.Sqrt(3)
	sin, cos := math.Sincos(math.Pi / 12)
	for _, turn := range [][4]float64{unit, {third * sin, third * sin, third * sin, cos}} {
		placed := cube.Placed([3]float64{3, -2, 5}, turn)
		body := Sum([]Mass{placed})
		near(t, "centre", body.Centre[:], []float64{3, -2, 5}, 1e-12)
		near(t, "a cube", body.Inertia[:], []float64{1. / 6, 1. / 6, 1. / 6, 0, 0, 0}, 1e-5/6)
		origin := Sum([]Mass{placed, {Mass: 1e15}}) // so heavy that the centre is the origin
		near(t, "about the origin", origin.Inertia[:], []float64{29.166667, 34.166667, 13.166667, 6, -15, 10}, 1e-5*34)
	}
}

func TestMassOfCapsule(t *testing.T) {
	m := CapsuleMass([3]float64{0, -.75, 0}, [3]float64{0, .75, 0}, .5)
	m = m.Times(1000)
	near(t, "mass", []float64{m.Mass}, []float64{1701.6960}, 1e-5*1700)
	near(t, "inertia", m.Inertia[:], []float64{788.67066, 199.62203, 788.67066, 0, 0, 0}, 1e-5*788)
	// Lying on a diagonal, it has the same principal moments.
	d := .75 / math.Sqrt(3)
	m = CapsuleMass([3]float64{2 - d, 1 - d, -d}, [3]float64{2 + d, 1 + d, d}, .5)
	m = m.Times(1000)
	moments, _ := m.Principal()
	near(t, "moments", []float64{min(moments[0], moments[1], moments[2]), max(moments[0], moments[1], moments[2])}, []float64{199.62203, 788.67066}, 1e-5*788)
	// Of length zero it is a ball.
	ball, point := SphereMass([3]float64{1, 2, 3}, .5), CapsuleMass([3]float64{1, 2, 3}, [3]float64{1, 2, 3}, .5)
	near(t, "a ball", point.Inertia[:], ball.Inertia[:], 1e-15)
	near(t, "a ball", []float64{point.Mass}, []float64{ball.Mass}, 1e-15)
}

// A coin: no skin enters.
func TestMassOfCoin(t *testing.T) {
	var points [][3]float32
	for k := range 32 {
		sin, cos := math.Sincos(2 * math.Pi * float64(k) / 32)
		for _, y := range []float32{-.001, .001} {
			points = append(points, [3]float32{float32(.01 * cos), y, float32(.01 * sin)})
		}
	}
	p, err := hull.Build(points, 64)
	if err != nil {
		t.Fatal(err)
	}
	v, centre, inertia := p.Mass()
	coin := Mass{v, centre, inertia}
	coin = coin.Times(7800)
	near(t, "mass", []float64{coin.Mass}, []float64{4.8694e-3}, 1e-3*4.9e-3)
	near(t, "inertia", coin.Inertia[:], []float64{1.2258e-7, 2.4191e-7, 1.2258e-7}, 1e-3*2.4e-7)
}

// The principal axes make the inertia diagonal.
func TestPrincipalAxes(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 2))
	for range 2000 {
		var parts []Mass
		for range 1 + rng.IntN(4) {
			box := BoxMass([3]float64{math.Exp(2 * rng.NormFloat64()), math.Exp(2 * rng.NormFloat64()), math.Exp(2 * rng.NormFloat64())})
			q := [4]float64{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}
			l := math.Sqrt(q[0]*q[0] + q[1]*q[1] + q[2]*q[2] + q[3]*q[3])
			for k := range q {
				q[k] /= l
			}
			parts = append(parts, box.Placed([3]float64{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}, q))
		}
		m := Sum(parts)
		moments, axes := m.Principal()
		diagonal := Mass{Mass: 1, Inertia: [6]float64{moments[0], moments[1], moments[2]}}
		back := diagonal.Placed([3]float64{}, axes)
		trace := moments[0] + moments[1] + moments[2]
		near(t, "turned back", back.Inertia[:], m.Inertia[:], 1e-7*trace)
		if axes[3] < 0 {
			t.Errorf("axes %v", axes)
		}
	}
	// The axes of a box are its own, also if rounding has left products.
	box := BoxMass([3]float64{1, 2, 3})
	box.Inertia[3], box.Inertia[5] = 1e-9, -1e-9
	if _, axes := box.Principal(); axes != [4]float64{0, 0, 0, 1} {
		t.Errorf("axes %v of a box", axes)
	}
}

func TestRotations(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 2))
	for range 2000 {
		draw := func() Quat {
			return Quat{float32(rng.NormFloat64()), float32(rng.NormFloat64()), float32(rng.NormFloat64()), float32(rng.NormFloat64())}.Normalize()
		}
		q, r := draw(), draw()
		v := Vec{float32(rng.NormFloat64()), float32(rng.NormFloat64()), float32(rng.NormFloat64())}
		m := q.Matrix()
		for _, c := range []struct {
			name      string
			got, want Vec
		}{
			{"the matrix", m.Mul(v), q.Rotate(v)},
			{"back", m.MulTransposed(v), q.Unrotate(v)},
			{"there and back", q.Unrotate(q.Rotate(v)), v},
			{"one after the other", q.Mul(r).Rotate(v), q.Rotate(r.Rotate(v))},
		} {
			if d := c.got.Sub(c.want).length(); !(d < 2e-6*(1+v.length())) {
				t.Fatalf("%s: %v, want %v", c.name, c.got, c.want)
			}
		}
		d := Vec{1, 10, 1000}
		sym := m.RotateDiagonal(d)
		w := m.MulTransposed(v)
		want := m.Mul(Vec{w.X * d.X, w.Y * d.Y, w.Z * d.Z})
		if e := sym.Mul(v).Sub(want).length(); !(e < 2e-3*(1+v.length())) {
			t.Fatalf("a rotated diagonal: %g", e)
		}
		n := v.unit(Vec{1, 0, 0})
		if p := n.perpendicular(); abs(p.Dot(n)) > 1e-6 || abs(p.length()-1) > 1e-6 {
			t.Fatalf("%v is not perpendicular to %v", p, n)
		}
	}
	// A right-handed turn by 90° about z takes x to y.
	h := sqrt(0.5)
	if v := (Quat{0, 0, h, h}).Rotate(Vec{1, 0, 0}); v.Sub(Vec{0, 1, 0}).length() > 1e-6 {
		t.Error(v)
	}
	for _, q := range []Quat{{}, {X: float32(math.NaN())}, {X: 1e30}, {W: float32(math.Inf(1))}} {
		if n := q.Normalize(); n != Identity {
			t.Errorf("%v: %v", q, n)
		}
	}
}
