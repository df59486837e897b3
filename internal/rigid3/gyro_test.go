package rigid3

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// freeBody is a body without forces, in steps of 1/60 s with so many sub-steps.
type freeBody struct {
	moments Vec
	q       Quat
	w       Vec // in the world
	h       float32
}

func (b *freeBody) step() {
	m := b.q.Matrix()
	b.w = m.Mul(Gyroscopic(m.MulTransposed(b.w), b.moments, b.h))
	b.q = b.q.Integrate(b.w, b.h)
}

// momentum returns the angular momentum and the kinetic energy, in float64.
func (b *freeBody) momentum() (l [3]float64, energy float64) {
	w := b.q.Unrotate(b.w)
	i := b.q.Rotate(Vec{b.moments.X * w.X, b.moments.Y * w.Y, b.moments.Z * w.Z})
	energy = (float64(b.moments.X)*float64(w.X)*float64(w.X) + float64(b.moments.Y)*float64(w.Y)*float64(w.Y) + float64(b.moments.Z)*float64(w.Z)*float64(w.Z)) / 2
	return [3]float64{float64(i.X), float64(i.Y), float64(i.Z)}, energy
}

func size(l [3]float64) float64 { return math.Sqrt(l[0]*l[0] + l[1]*l[1] + l[2]*l[2]) }

// A box whose axes are all different turns over.
func TestFreeBox(t *testing.T) {
	b := freeBody{moments: Vec{208, 160, 80}, q: Identity, w: Vec{6, 6, 0}, h: 1. / 240}
	start, energy := b.momentum()
	if math.Abs(size(start)-1574.517) > 0.01 || math.Abs(energy-6624) > 0.01 {
		t.Fatalf("|L| %g, E %g at the start", size(start), energy)
	}
	least := 1.0
	for i := range 5 * 240 {
		b.step()
		cos := float64(b.w.Dot(Vec{6, 6, 0})) / float64(b.w.length()*Vec{6, 6, 0}.length())
		least = min(least, cos)
		if i == 59 { // 0.25 s
			near(t, "w after 0.25 s", []float64{float64(b.w.X), float64(b.w.Y), float64(b.w.Z)}, []float64{8.324, 2.979, -.718}, 0.1*8.8)
		}
	}
	l, e := b.momentum()
	if math.Abs(size(l)/size(start)-1) > 0.01 || math.Abs(e/energy-1) > 0.02 {
		t.Errorf("after 5 s |L| is %g of %g, E %g of %g", size(l), size(start), e, energy)
	}
	if least < .86 || least > .92 {
		t.Errorf("the smallest cosine between w and its start is %.4f, want .8874", least)
	}
	t.Logf("|L| %.5f, E %.5f of the start, cosine %.4f, w %v", size(l)/size(start), e/energy, least, b.w)
}

// Equal moments leave the angular velocity as it is.
func TestGyroscopicOfEqualMoments(t *testing.T) {
	b := freeBody{moments: Vec{.4, .4, .4}, q: Quat{.1, .2, .3, .9}.Normalize(), w: Vec{3, -7, 11}, h: 1. / 240}
	for range 100 * 240 {
		b.step()
	}
	if d := b.w.Sub(Vec{3, -7, 11}).length(); d > 1e-3*13 {
		t.Errorf("w is %v after 100 s", b.w)
	}
	// In the axes of the body the bits stay.
	if w := Gyroscopic(Vec{3, -7, 11}, Vec{.4, .4, .4}, 1./60); w != (Vec{3, -7, 11}) {
		t.Error(w)
	}
}

// Needles that turn fast, beyond any bound of a solver.
func TestGyroscopicNeedles(t *testing.T) {
	mass := BoxMass([3]float64{.05, .05, 2})
	moments := Vec{float32(mass.Inertia[0]), float32(mass.Inertia[1]), float32(mass.Inertia[2])}
	for _, subSteps := range []int{1, 4} {
		for _, c := range []struct {
			w        Vec
			promised bool
		}{{Vec{1, .5, 100}, true}, {Vec{100, 1, .5}, true}, {Vec{1, .5, 470}, false}, {Vec{470, 1, .5}, false}} {
			b := freeBody{moments: moments, q: Identity, w: c.w, h: 1 / (60 * float32(subSteps))}
			start, energy := b.momentum()
			worst, most := 0.0, 0.0
			for range 600 * subSteps {
				b.step()
				l, e := b.momentum()
				if math.IsNaN(size(l)) || math.IsInf(size(l), 0) {
					t.Fatalf("%v, %d sub-steps: not finite", c.w, subSteps)
				}
				worst, most = max(worst, math.Abs(size(l)/size(start)-1)), max(most, e/energy)
			}
			if c.promised && (worst > .02 || most > 1.01) {
				t.Errorf("%v: |L| is off by %g, E up to %g times", c.w, worst, most)
			}
			t.Logf("%v, %d sub-steps: |L| off by %.2g, E up to %.5f", c.w, subSteps, worst, most)
		}
	}
}

// A symmetric top turns its axis about the angular momentum at the rate L/I₁.
func TestPrecession(t *testing.T) {
	b := freeBody{moments: Vec{1, 1, 1.8}, q: Identity, w: Vec{.5, 0, 8}, h: 1. / 240}
	start, energy := b.momentum()
	// In its own axes w turns about z at (I₃ - I₁)/I₁·w₃.
	rate := (1.8 - 1) / 1 * 8.
	turned, last := 0.0, 0.0
	for range 1000 {
		b.step()
		w := b.q.Unrotate(b.w)
		angle := math.Atan2(float64(w.Y), float64(w.X))
		turned += math.Remainder(angle-last, 2*math.Pi)
		last = angle
	}
	if want := rate * 1000 / 240; math.Abs(turned/want-1) > 0.01 {
		t.Errorf("w has turned by %g in the body, want %g", turned, want)
	}
	l, e := b.momentum()
	if math.Abs(size(l)/size(start)-1) > 1e-3 || math.Abs(e/energy-1) > 1e-3 {
		t.Errorf("|L| %g, E %g of the start", size(l)/size(start), e/energy)
	}
}

// Turning about the middle axis, a body flips over and over. By Euler's equations the period of two flips is
// 4·K(m)/√p, with the complete elliptic integral K.
func TestIntermediateAxis(t *testing.T) {
	i1, i2, i3 := 1.0, 2.0, 3.0
	b := freeBody{moments: Vec{1, 2, 3}, q: Identity, w: Vec{.3, 10, .3}, h: 1. / 240}
	l, e := b.momentum()
	l2, e2 := l[0]*l[0]+l[1]*l[1]+l[2]*l[2], 2*e
	// With L² > 2E·I₂ or not, the roles of the first and the third axis change.
	p, m := (i3-i2)*(l2-e2*i1)/(i1*i2*i3), (i2-i1)*(e2*i3-l2)/((i3-i2)*(l2-e2*i1))
	if l2 < e2*i2 {
		p, m = (i2-i1)*(e2*i3-l2)/(i1*i2*i3), (i3-i2)*(l2-e2*i1)/((i2-i1)*(e2*i3-l2))
	}
	period := 4 * ellipticK(m) / math.Sqrt(p)
	var flips []float64
	last := b.q.Unrotate(b.w).Y
	for i := range 240 * 60 {
		b.step()
		y := b.q.Unrotate(b.w).Y
		if (y > 0) != (last > 0) {
			flips = append(flips, float64(i)/240)
		}
		last = y
	}
	if len(flips) < 5 {
		t.Fatalf("%d flips in 60 s, period %g", len(flips), period)
	}
	got := (flips[len(flips)-1] - flips[0]) / float64(len(flips)-1) * 2
	t.Logf("%d flips, period %g, want %g", len(flips), got, period)
	if math.Abs(got/period-1) > 0.02 {
		t.Errorf("period %g, want %g", got, period)
	}
}

// ellipticK is the complete elliptic integral of the first kind of the parameter m, by the arithmetic-geometric mean.
func ellipticK(m float64) float64 {
	a, g := 1.0, math.Sqrt(1-m)
	for range 40 {
		a, g = (a+g)/2, math.Sqrt(a*g)
	}
	return math.Pi / (2 * a)
}

// Whatever the input, the result is finite if w and the moments are in the range of a world.
func TestGyroscopicIsFinite(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	for range 20_000 {
		draw := func(spread float64) float32 { return float32(math.Exp(spread * rng.NormFloat64())) }
		w, moments := Vec{draw(3), -draw(3), draw(3)}, Vec{draw(6), draw(6), draw(6)}
		if rng.IntN(10) == 0 {
			moments.Z = 0
		}
		got := Gyroscopic(w, moments, draw(3)/60)
		if got.Dot(got)-got.Dot(got) != 0 {
			t.Fatal(fmt.Sprint(w, moments, got))
		}
	}
}
