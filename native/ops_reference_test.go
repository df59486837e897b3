package native_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
)

// The Go loops against arithmetic in float64, within the bounds that the comments
// state. What holds for the Go loop holds for every level, by TestParityOps.

const (
	ulp  = 0x1p-23 // of 1
	tiny = math.SmallestNonzeroFloat32
)

var goOps = native.Ops{Level: native.Go}

// near reports whether got is want to within a bound.
func near(got float32, want, bound float64) bool {
	return math.Abs(float64(got)-want) <= bound
}

// drawFinite returns n numbers of ordinary or, in every other call, any size.
func drawFinite(run *paritytest.Run, n int) []float32 {
	s := make([]float32, n)
	if run.IntN(2) == 0 {
		run.Fill(s, paritytest.Uniform)
	} else {
		run.Fill(s, paritytest.Finite...)
	}
	return s
}

func TestColumnOpsAgainstFloat64(t *testing.T) {
	run := paritytest.Start(t, "columns against float64")
	for range paritytest.Rounds(200) {
		x, y, z := drawFinite(run, 1), drawFinite(run, 1), drawFinite(run, 1)
		a := run.Float32()*4 - 2
		x0, y0, z0, a0 := float64(x[0]), float64(y[0]), float64(z[0]), float64(a)
		// size is no less than any intermediate result, one of which overflows
		// where the last does not.
		check := func(op string, got float32, want, ulps, size float64) {
			t.Helper()
			if size < math.MaxFloat32/2 && !near(got, want, ulps*ulp*size+2*tiny) {
				t.Errorf("%s of %g, %g, %g by %g: %g, want %g", op, x0, y0, z0, a, got, want)
			}
		}
		got := slices.Clone(x)
		goOps.Integrate(got, y, a)
		check("Integrate", got[0], x0+y0*a0, 1, math.Abs(x0)+math.Abs(y0*a0))
		goOps.Add(copied(got, x), a)
		check("Add", got[0], x0+a0, 1, math.Abs(x0)+math.Abs(a0))
		goOps.Affine(got, x, a, y[0])
		check("Affine", got[0], x0*a0+y0, 2, math.Abs(x0*a0)+math.Abs(y0))
		goOps.Scale(copied(got, x), a)
		check("Scale", got[0], x0*a0, 1, math.Abs(x0*a0))
		damping := []float32{float32(math.Abs(y0))}
		goOps.Damp(copied(got, x), damping, 1./64)
		check("Damp", got[0], x0/(1+math.Abs(y0)/64), 2, math.Abs(x0/(1+math.Abs(y0)/64)))
		goOps.Lerp(got, x, y, a, nil)
		check("Lerp", got[0], x0+(y0-x0)*a0, 2, math.Abs(x0)+3*math.Abs(y0-x0))
		goOps.Dist2(got, native.Vec3{X: x, Y: y, Z: z}, a, 0, 1)
		want := (x0-a0)*(x0-a0) + y0*y0 + (z0-1)*(z0-1)
		check("Dist2", got[0], want, 3, want)
	}
}

func copied(to, from []float32) []float32 {
	copy(to, from)
	return to
}

// Lerp leaves what rests where it is, whatever alpha.
func TestLerpOfWhatRests(t *testing.T) {
	run := paritytest.Start(t, "Lerp at rest")
	for range paritytest.Rounds(1000) {
		x, got := drawFinite(run, 10), make([]float32, 10)
		goOps.Lerp(got, x, x, run.Float(paritytest.Uniform), nil)
		for i := range x {
			if got[i] != x[i] {
				t.Fatalf("%g becomes %g", x[i], got[i])
			}
		}
	}
}

func TestWrapEndsInsideAndNearby(t *testing.T) {
	run := paritytest.Start(t, "Wrap")
	for range paritytest.Rounds(20000) {
		bounds := drawBounds(run)
		lo, hi := bounds[0], bounds[1]
		width := float64(hi) - float64(lo)
		candidates := []float32{run.Float(paritytest.Uniform), run.Float(paritytest.Finite[run.IntN(5)]), run.Near(lo), run.Near(hi),
			lo + float32(run.IntN(2000)-1000)*(hi-lo), lo - run.Float32()*1e-6*(hi-lo)}
		for _, v := range candidates {
			if v-v != 0 {
				continue
			}
			x := []float32{v}
			if err := goOps.Wrap(x, lo, hi); err != nil {
				t.Fatal(err)
			}
			got := x[0]
			switch {
			case !(lo <= got && got < hi):
				t.Fatalf("Wrap(%g, %g, %g) = %g is outside", v, lo, hi, got)
			case lo <= v && v < hi && math.Float32bits(got) != math.Float32bits(v):
				t.Fatalf("Wrap(%g, %g, %g) = %g was inside", v, lo, hi, got)
			}
			off := math.Abs(math.Remainder(float64(got)-float64(v), width))
			size := math.Abs(float64(v)) + math.Abs(float64(lo)) + math.Abs(float64(hi))
			if bound := 0x1p-22*size + 2*tiny; size < math.MaxFloat32/2 && off > bound {
				t.Fatalf("Wrap(%g, %g, %g) = %g is off by %g, more than %g", v, lo, hi, got, off, bound)
			}
		}
	}
}

func TestClampLengthAgainstFloat64(t *testing.T) {
	run := paritytest.Start(t, "ClampLength against float64")
	for range paritytest.Rounds(20000) {
		v := drawFinite(run, 3)
		if run.IntN(2) == 0 {
			spread := run.Float(paritytest.Finite[run.IntN(5)])
			v = []float32{run.Float32() * spread, run.Float32() * spread, -run.Float32() * spread}
		}
		most := drawLength(run)[0]
		got := slices.Clone(v)
		if err := goOps.ClampLength(native.Vec3{X: got[:1], Y: got[1:2], Z: got[2:]}, most); err != nil {
			t.Fatal(err)
		}
		length, after := length64(v), length64(got)
		bound := float64(most)*4*ulp + 2*tiny
		switch {
		case length <= float64(most)*(1-2*ulp) && slices.Compare(got, v) != 0:
			t.Fatalf("%g is not longer than %g and becomes %g", v, most, got)
		case length > float64(most)*(1+2*ulp) && math.Abs(after-float64(most)) > bound:
			t.Fatalf("%g clamped to %g becomes %g, of length %g", v, most, got, after)
		}
		for k := range v {
			want := float64(v[k]) * min(1, float64(most)/length)
			if length > 0 && !near(got[k], want, bound) || math.Abs(float64(got[k])) > float64(most) && got[k] != v[k] {
				t.Fatalf("%g clamped to %g becomes %g", v, most, got)
			}
		}
	}
}

func length64(v []float32) float64 {
	n2 := 0.
	for _, c := range v {
		n2 += float64(c) * float64(c)
	}
	return math.Sqrt(n2)
}

// A quaternion in float64.
type quat64 [4]float64

func (q quat64) scaled(f float64) quat64 { return quat64{q[0] * f, q[1] * f, q[2] * f, q[3] * f} }
func (q quat64) plus(p quat64) quat64 {
	return quat64{q[0] + p[0], q[1] + p[1], q[2] + p[2], q[3] + p[3]}
}
func (q quat64) dot(p quat64) float64 { return q[0]*p[0] + q[1]*p[1] + q[2]*p[2] + q[3]*p[3] }
func (q quat64) unit() quat64         { return q.scaled(1 / math.Sqrt(q.dot(q))) }

// times is the quaternion product.
func (q quat64) times(p quat64) quat64 {
	return quat64{
		q[3]*p[0] + q[0]*p[3] + q[1]*p[2] - q[2]*p[1],
		q[3]*p[1] + q[1]*p[3] + q[2]*p[0] - q[0]*p[2],
		q[3]*p[2] + q[2]*p[3] + q[0]*p[1] - q[1]*p[0],
		q[3]*p[3] - q[0]*p[0] - q[1]*p[1] - q[2]*p[2],
	}
}

// rotated is a vector, with w zero, rotated by q.
func (q quat64) rotated(v quat64) quat64 {
	return q.times(v).times(quat64{-q[0], -q[1], -q[2], q[3]})
}

func (q quat64) column() (native.Quat, []float32) {
	c := []float32{float32(q[0]), float32(q[1]), float32(q[2]), float32(q[3])}
	return native.Quat{X: c[:1], Y: c[1:2], Z: c[2:3], W: c[3:]}, c
}

func widen(c []float32) quat64 {
	return quat64{float64(c[0]), float64(c[1]), float64(c[2]), float64(c[3])}
}

// drawRotation draws a quaternion of length one, rounded to float32.
func drawRotation(r *rand.Rand) quat64 {
	q := quat64{r.NormFloat64(), r.NormFloat64(), r.NormFloat64(), r.NormFloat64()}.unit()
	_, c := q.column()
	return widen(c)
}

// off is the largest difference of components.
func off(got []float32, want quat64) float64 {
	worst := 0.
	for k, w := range want {
		worst = max(worst, math.Abs(float64(got[k])-w))
	}
	return worst
}

func TestNlerpAgainstFloat64(t *testing.T) {
	run := paritytest.Start(t, "Nlerp against float64")
	worst := 0.
	for range paritytest.Rounds(20000) {
		p, c, alpha := drawRotation(run.Rand), drawRotation(run.Rand), run.Float32()
		if p.dot(c) < 0 {
			p = p.scaled(-1)
		}
		want := p.scaled(1 - float64(alpha)).plus(c.scaled(float64(alpha))).unit()
		prev, _ := p.scaled(float64(1 - 2*run.IntN(2))).column()
		cur, _ := c.column()
		out, got := quat64{}.column()
		if math.Abs(p.dot(c)) < 1e-5 {
			continue // which arc is shorter is decided by rounding
		}
		if err := goOps.Nlerp(out, prev, cur, alpha, nil); err != nil {
			t.Fatal(err)
		}
		if off(got, want) > 5*ulp {
			t.Fatalf("between %v and %v at %g: %g, want %v", p, c, alpha, got, want)
		}
		if apart := math.Acos(min(1, p.dot(c))); apart <= math.Pi/4 {
			along := math.Acos(min(1, math.Abs(p.dot(widen(got).unit()))))
			worst = max(worst, 2*math.Abs(along-float64(alpha)*apart)*180/math.Pi)
		}
	}
	if worst > 1 {
		t.Errorf("off the even turn by %g degrees", worst)
	}
}

func TestNormalizeQuatAgainstFloat64(t *testing.T) {
	run := paritytest.Start(t, "NormalizeQuat against float64")
	for range paritytest.Rounds(20000) {
		v := drawFinite(run, 4)
		want := widen(v).unit()
		q := native.Quat{X: v[:1], Y: v[1:2], Z: v[2:3], W: v[3:]}
		before := slices.Clone(v)
		if err := goOps.NormalizeQuat(q); err != nil {
			t.Fatal(err)
		}
		if length64(before) == 0 {
			want = quat64{0, 0, 0, 1}
		}
		for k := range want {
			if !near(v[k], want[k], 4*ulp*math.Abs(want[k])+0x1p-140) {
				t.Fatalf("%g becomes %g, want %g", before, v, want)
			}
		}
	}
}

func TestIntegrateQuatAgainstFloat64(t *testing.T) {
	run := paritytest.Start(t, "IntegrateQuat against float64")
	for range paritytest.Rounds(20000) {
		q := drawRotation(run.Rand)
		omega := []float32{run.Float32()*20 - 10, run.Float32()*20 - 10, run.Float32()*20 - 10}
		dt := run.Float32() / 10
		rot, got := q.column()
		if err := goOps.IntegrateQuat(rot, native.Vec3{X: omega[:1], Y: omega[1:2], Z: omega[2:]}, dt); err != nil {
			t.Fatal(err)
		}
		spin := quat64{float64(omega[0]), float64(omega[1]), float64(omega[2])}
		want := q.plus(spin.times(q).scaled(float64(dt) / 2)).unit()
		if off(got, want) > 6*ulp {
			t.Fatalf("%v turned by %g for %g s: %g, want %v", q, omega, dt, got, want)
		}
	}
}

// A body that lies on its side and spins about the vertical of the world: a vector
// fixed to it moves as the cross product of the angular velocity and the vector says;
// and after a full turn in small steps it is back.
func TestIntegrateQuatTurnsAboutTheWorld(t *testing.T) {
	rot, got := quat64{math.Sqrt2 / 2, 0, 0, math.Sqrt2 / 2}.column() // a quarter turn about x
	start := widen(got)
	const steps = 10000
	omega := native.Vec3{X: []float32{0}, Y: []float32{2}, Z: []float32{0}}
	v := quat64{1, 2, 3, 0}
	before := start.unit().rotated(v)
	if err := goOps.IntegrateQuat(rot, omega, 0x1p-10); err != nil {
		t.Fatal(err)
	}
	moved := widen(got).unit().rotated(v).plus(before.scaled(-1)).scaled(0x1p10)
	want := quat64{2 * before[2], 0, -2 * before[0], 0} // omega x before
	if d := moved.plus(want.scaled(-1)); d.dot(d) > 1e-4 {
		t.Errorf("moves by %v per second, want %v", moved, want)
	}
	copy(got, []float32{float32(start[0]), float32(start[1]), float32(start[2]), float32(start[3])})
	for range steps {
		goOps.IntegrateQuat(rot, omega, math.Pi/steps)
	}
	if off(got, start.scaled(-1)) > 1e-4 { // the other quaternion of the same rotation
		t.Errorf("after a turn %g, want %v", got, start.scaled(-1))
	}
}

// What is promised for special values, in numbers, on every level.
func TestOpsSpecialValues(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	negZero := float32(math.Copysign(0, -1))
	const large, small = math.MaxFloat32, float32(math.SmallestNonzeroFloat32)
	below := math.Nextafter32(10, 0)
	for _, c := range []struct {
		op              string
		numbers         [4]float32
		out, in, expect []float32 // a row of each column
	}{
		{"Scale", [4]float32{0}, []float32{-1}, nil, []float32{negZero}},
		{"Scale", [4]float32{0}, []float32{inf}, nil, []float32{nan}},
		{"Add", [4]float32{0.5}, []float32{3}, nil, []float32{3.5}},
		{"Add", [4]float32{0}, []float32{negZero}, nil, []float32{0}},
		{"Add", [4]float32{negZero}, []float32{negZero}, nil, []float32{negZero}},
		{"Add", [4]float32{small}, []float32{-3 * small}, nil, []float32{-2 * small}},
		{"Add", [4]float32{-inf}, []float32{inf}, nil, []float32{nan}},
		{"Add", [4]float32{large}, []float32{large}, nil, []float32{inf}},
		{"Affine", [4]float32{-2, 1}, []float32{9}, []float32{3}, []float32{-5}},
		{"Affine", [4]float32{0, 7}, []float32{9}, []float32{inf}, []float32{nan}},
		{"Affine", [4]float32{1 + 0x1p-12, -1 - 0x1p-11}, []float32{9}, []float32{1 + 0x1p-12}, []float32{0}}, // not fused
		{"Damp", [4]float32{0.5}, []float32{3}, []float32{1}, []float32{2}},
		{"Damp", [4]float32{0.5}, []float32{3}, []float32{0}, []float32{3}},
		{"Damp", [4]float32{0.5}, []float32{-3}, []float32{inf}, []float32{negZero}},
		{"Damp", [4]float32{0.5}, []float32{3}, []float32{-1}, []float32{6}},
		{"Damp", [4]float32{1}, []float32{3}, []float32{-1}, []float32{inf}},
		{"Damp", [4]float32{1}, []float32{0}, []float32{-1}, []float32{nan}},
		{"Damp", [4]float32{1}, []float32{3}, []float32{-4}, []float32{-1}},
		{"Damp", [4]float32{1}, []float32{3}, []float32{nan}, []float32{nan}},
		{"Clamp", [4]float32{-1, 2}, []float32{5}, nil, []float32{2}},
		{"Clamp", [4]float32{-1, 2}, []float32{-inf}, nil, []float32{-1}},
		{"Clamp", [4]float32{-1, 2}, []float32{nan}, nil, []float32{nan}},
		{"Clamp", [4]float32{0, 2}, []float32{negZero}, nil, []float32{negZero}},
		{"Clamp", [4]float32{negZero, 2}, []float32{0}, nil, []float32{0}},
		{"Clamp", [4]float32{-inf, 2}, []float32{-inf}, nil, []float32{-inf}},
		{"Clamp", [4]float32{1, 1}, []float32{7}, nil, []float32{1}},
		{"Wrap", [4]float32{0, 10}, []float32{10}, nil, []float32{0}},
		{"Wrap", [4]float32{0, 10}, []float32{below}, nil, []float32{below}},
		{"Wrap", [4]float32{0, 10}, []float32{-1}, nil, []float32{9}},
		{"Wrap", [4]float32{0, 10}, []float32{-small}, nil, []float32{0}},
		{"Wrap", [4]float32{0, 10}, []float32{-1e-9}, nil, []float32{0}},
		{"Wrap", [4]float32{0, 10}, []float32{negZero}, nil, []float32{negZero}},
		{"Wrap", [4]float32{-5, 5}, []float32{27}, nil, []float32{-3}},
		{"Wrap", [4]float32{-5, 5}, []float32{-5}, nil, []float32{-5}},
		{"Wrap", [4]float32{0, 10}, []float32{nan}, nil, []float32{nan}},
		{"Wrap", [4]float32{0, 10}, []float32{inf}, nil, []float32{nan}},
		{"Wrap", [4]float32{0, 10}, []float32{-inf}, nil, []float32{nan}},
		{"Wrap", [4]float32{large / 2, large}, []float32{-large}, nil, []float32{large / 2}},
		{"Wrap", [4]float32{0, small}, []float32{1e10}, nil, []float32{0}},
		{"Lerp", [4]float32{0.25}, []float32{9}, []float32{1, 5}, []float32{2}},
		{"Lerp", [4]float32{0}, []float32{9}, []float32{1, 5}, []float32{1}},
		{"Lerp", [4]float32{1}, []float32{9}, []float32{1, 5}, []float32{5}},
		{"Lerp", [4]float32{0}, []float32{9}, []float32{negZero, 5}, []float32{0}},
		{"Lerp", [4]float32{0}, []float32{9}, []float32{-large, large}, []float32{nan}},
		{"Lerp", [4]float32{0}, []float32{9}, []float32{1, inf}, []float32{nan}},
		{"ClampLength", [4]float32{5}, []float32{3, 0, 4}, nil, []float32{3, 0, 4}},
		{"ClampLength", [4]float32{1}, []float32{0, negZero, 0}, nil, []float32{0, negZero, 0}},
		{"ClampLength", [4]float32{5}, []float32{10, 0, negZero}, nil, []float32{5, 0, negZero}},
		{"ClampLength", [4]float32{0}, []float32{3, -4, 0}, nil, []float32{0, negZero, 0}},
		{"ClampLength", [4]float32{inf}, []float32{large, large, large}, nil, []float32{large, large, large}},
		{"ClampLength", [4]float32{1}, []float32{large, 0, 0}, nil, []float32{1, 0, 0}},
		{"ClampLength", [4]float32{large}, []float32{-large, small, 0}, nil, []float32{-large, small, 0}},
		{"ClampLength", [4]float32{small}, []float32{0, 8 * small, 0}, nil, []float32{0, small, 0}},
		{"ClampLength", [4]float32{1}, []float32{inf, 2, 3}, nil, []float32{inf, 2, 3}},
		{"ClampLength", [4]float32{1}, []float32{9, nan, 3}, nil, []float32{9, nan, 3}},
		{"Dist2", [4]float32{1, 2, 3}, []float32{0}, []float32{2, 4, 5}, []float32{9}},
		{"Dist2", [4]float32{large, 0, 0}, []float32{0}, []float32{-large, 0, 0}, []float32{inf}},
		{"Dist2", [4]float32{inf, 0, 0}, []float32{0}, []float32{inf, 0, 0}, []float32{nan}},
		{"NormalizeQuat", [4]float32{}, []float32{0, 0, 0, negZero}, nil, []float32{0, 0, 0, 1}},
		{"NormalizeQuat", [4]float32{}, []float32{0, 0, 0, -small}, nil, []float32{0, 0, 0, -1}},
		{"NormalizeQuat", [4]float32{}, []float32{0, large, 0, 0}, nil, []float32{0, 1, 0, 0}},
		{"NormalizeQuat", [4]float32{}, []float32{large, -large, large, large}, nil, []float32{0.5, -0.5, 0.5, 0.5}},
		{"NormalizeQuat", [4]float32{}, []float32{0, inf, 0, 1}, nil, []float32{0, 0, 0, 1}},
		{"NormalizeQuat", [4]float32{}, []float32{nan, 0, 0, 1}, nil, []float32{0, 0, 0, 1}},
		{"Nlerp", [4]float32{0}, []float32{0, 0, 0, 0}, []float32{0, 0, 0, 1, 0, 0, 0, -1}, []float32{0, 0, 0, -1}},
		{"Nlerp", [4]float32{1}, []float32{0, 0, 0, 0}, []float32{0, 0, 0, 1, 1, 0, 0, 0}, []float32{1, 0, 0, 0}},
		{"Nlerp", [4]float32{0}, []float32{0, 0, 0, 0}, []float32{0, 0, 0, 0, 2, 0, 0, 3}, []float32{2, 0, 0, 3}},
		{"Nlerp", [4]float32{0.5}, []float32{0, 0, 0, 0}, []float32{0, 0, nan, 1, 2, 0, 0, 3}, []float32{2, 0, 0, 3}},
		{"Nlerp", [4]float32{0}, []float32{0, 0, 0, 0}, []float32{large, 0, 0, 0, 2, 0, 0, 3}, []float32{2, 0, 0, 3}},
		{"IntegrateQuat", [4]float32{1}, []float32{0, 0, 0, 1}, []float32{0, 0, 0}, []float32{0, 0, 0, 1}},
		{"IntegrateQuat", [4]float32{1}, []float32{0, 0, 0, 0}, []float32{1, 2, 3}, []float32{0, 0, 0, 1}},
		{"IntegrateQuat", [4]float32{1}, []float32{0, 0, 0, 1}, []float32{inf, 0, 0}, []float32{0, 0, 0, 1}},
		{"IntegrateQuat", [4]float32{1}, []float32{0, 0, 0, 1}, []float32{0, 1e30, 0}, []float32{0, 0, 0, 1}},
	} {
		op := opCases[slices.IndexFunc(opCases, func(o opCase) bool { return o.name == c.op })]
		const n = 37
		for _, level := range native.Levels() {
			a := &opArgs{out: repeated(c.out, n), in: repeated(c.in, n), numbers: c.numbers}
			o := native.WithKernels(native.Ops{Level: level})
			if err := op.run(&o, a); err != nil {
				t.Fatal(err)
			}
			if err := op.check(a.out, repeated(c.expect, n), nil); err != nil {
				t.Errorf("%s of %g, %g by %g, level %s: %v", c.op, c.out, c.in, c.numbers, level, err)
			}
		}
	}
}

func repeated(row []float32, n int) [][]float32 {
	columns := make([][]float32, len(row))
	for k, v := range row {
		columns[k] = slices.Repeat([]float32{v}, n)
	}
	return columns
}

// Teleported rows are where they are now, whatever their values.
func TestTeleportedRowsTakeCur(t *testing.T) {
	nan := float32(math.NaN())
	out, prev, cur := []float32{9, 9, 9}, []float32{1, nan, 1}, []float32{2, 5, 2}
	if err := goOps.Lerp(out, prev, cur, 0.5, []uint64{2}); err != nil || !slices.Equal(out, []float32{1.5, 5, 1.5}) {
		t.Errorf("Lerp gives %g, %v", out, err)
	}
}

// The columns of out may be those of cur in another order: each row is read before it
// is written, on all levels.
func TestNlerpOfColumnsInAnotherOrder(t *testing.T) {
	for _, level := range native.Levels() {
		c := make([][]float32, 4)
		for k := range c {
			c[k] = slices.Repeat([]float32{float32(k)}, 100)
		}
		ops := native.Ops{Level: level}
		out, cur := native.Quat{X: c[1], Y: c[0], Z: c[3], W: c[2]}, native.Quat{X: c[0], Y: c[1], Z: c[2], W: c[3]}
		if err := ops.Nlerp(out, cur, cur, 0.5, []uint64{^uint64(0), ^uint64(0)}); err != nil {
			t.Fatal(err)
		}
		if got := [4]float32{c[0][70], c[1][70], c[2][70], c[3][70]}; got != [4]float32{1, 0, 3, 2} {
			t.Errorf("level %v: %g", level, got)
		}
	}
}

func TestOpsRefuse(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	x := []float32{1, 200, -3}
	v, q := native.Vec3{X: x, Y: x, Z: x}, native.Quat{X: x, Y: x, Z: x, W: x}
	for _, c := range []struct {
		err  error
		kind error
		text string
	}{
		{goOps.Clamp(x, nan, 1), native.ErrNotFinite, "Clamp.lo = NaN"},
		{goOps.Clamp(x, 1, nan), native.ErrNotFinite, "Clamp.hi = NaN"},
		{goOps.Clamp(x, 2, 1), native.ErrRange, "Clamp.lo above Clamp.hi: lo = 2"},
		{goOps.Wrap(x, nan, 1), native.ErrNotFinite, "Wrap.lo = NaN"},
		{goOps.Wrap(x, 0, inf), native.ErrNotFinite, "Wrap.hi = +Inf"},
		{goOps.Wrap(x, 1, 1), native.ErrRange, "Wrap.lo not below Wrap.hi: lo = 1"},
		{goOps.Wrap(x, -math.MaxFloat32, math.MaxFloat32), native.ErrRange, "Wrap.hi - Wrap.lo = +Inf"},
		{goOps.ClampLength(v, -1), native.ErrRange, "ClampLength.most = -1"},
		{goOps.ClampLength(v, nan), native.ErrRange, "ClampLength.most = NaN"},
		{goOps.Lerp(x, x, x, inf, nil), native.ErrNotFinite, "Lerp.alpha = +Inf"},
		{goOps.Nlerp(q, q, q, nan, nil), native.ErrNotFinite, "Nlerp.alpha = NaN"},
	} {
		if !errors.Is(c.err, c.kind) || !strings.Contains(c.err.Error(), c.text) {
			t.Errorf("error %v, want %v with %q", c.err, c.kind, c.text)
		}
	}
	if !slices.Equal(x, []float32{1, 200, -3}) {
		t.Errorf("refused, and changed to %g", x)
	}
}
