package rigid_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/internal/rigid"
)

// normalPoints are the inputs of SolveNormals.
type normalPoints struct {
	old, kept, v, mass [2]float32
	coupling           float32
}

func (c *normalPoints) solve() [2]float32 {
	x, y := rigid.SolveNormals(c.old, c.kept, c.v, c.mass, c.coupling)
	return [2]float32{x, y}
}

// bruteForce solves the linear complementarity problem of two points in double precision: it returns the first of
// both, first, second and none whose impulses are not negative and whose velocities are not, either. slack allows for
// rounding in the choice.
func (c *normalPoints) bruteForce(slack float64) (impulse [2]float64, which int) {
	k, m := float64(c.coupling), [2]float64{float64(c.mass[0]), float64(c.mass[1])}
	alone := func(i int) float64 {
		return float64(c.kept[i]) - m[i]*(float64(c.v[i])-k*float64(c.old[1-i]))
	}
	a, b := alone(0), alone(1)
	det := 1 - k*m[0]*k*m[1]
	for i, x := range [][2]float64{{(a - m[0]*k*b) / det, (b - m[1]*k*a) / det}, {a, 0}, {0, b}, {0, 0}} {
		// What a point still wants, in units of its impulse; positive: its velocity is negative.
		wants := [2]float64{a - m[0]*k*x[1] - x[0], b - m[1]*k*x[0] - x[1]}
		if min(x[0], x[1]) >= -slack && max(wants[0], wants[1]) <= slack {
			return x, i
		}
	}
	return [2]float64{math.NaN(), math.NaN()}, -1
}

// randomPoints draws two points of two bodies. In degenerate ones the matrix of the points is singular but for
// TwoPointScale, or close to that.
func randomPoints(rng *rand.Rand, degenerate bool) (c normalPoints) {
	invMass, ia, ib := within(rng, 0.01, 2), within(rng, 0, 2), within(rng, 0, 2)
	ra, rb := [2]float64{within(rng, -2, 2), within(rng, -2, 2)}, [2]float64{within(rng, -2, 2), within(rng, -2, 2)}
	if degenerate {
		switch apart := math.Pow(10, within(rng, -9, -1)); rng.IntN(3) {
		case 0:
			ia, ib = 0, 0
		case 1:
			ra[1], rb[1] = ra[0]+apart, rb[0]+apart
		case 2:
			ra[1], rb[1] = ra[0], rb[0]
		}
	}
	for i := range 2 {
		c.mass[i] = float32(rigid.TwoPointScale / (invMass + ia*ra[i]*ra[i] + ib*rb[i]*rb[i]))
		c.v[i] = float32(within(rng, -3, 3))
		if rng.IntN(4) > 0 {
			c.old[i] = float32(within(rng, 0, 5))
		}
		c.kept[i] = c.old[i]
		if rng.IntN(2) == 0 {
			s := float32(within(rng, 0.8, 1))
			c.kept[i], c.mass[i] = s*c.old[i], s*c.mass[i]
		}
	}
	c.coupling = float32(invMass + ia*ra[0]*ra[1] + ib*rb[0]*rb[1])
	return c
}

// Two points get the impulses of the brute-force solution, whichever of them comes first.
func TestNormalsOfTwoPoints(t *testing.T) {
	for _, fixed := range []bool{true, false} {
		rng := rand.New(rand.NewPCG(5, 6))
		if !fixed {
			rng = paritytest.Start(t, "Normals").Rand
		}
		met := map[int]int{}
		for n := range 40_000 {
			c := randomPoints(rng, n%2 == 1)
			got := c.solve()
			size, det := 0., 1-float64(c.mass[0])*float64(c.mass[1])*float64(c.coupling)*float64(c.coupling)
			for i := range 2 {
				size += math.Abs(float64(c.kept[i])) + float64(c.mass[i])*(math.Abs(float64(c.v[i]))+math.Abs(float64(c.coupling*c.old[1-i])))
			}
			// Some sixty roundings of 2^-24 of the terms, which the inverse of the matrix magnifies. Thirty-four have been seen.
			tolerance := 4e-6 * size / det
			want, which := c.bruteForce(1e-9 * size)
			met[which]++
			for i := range 2 {
				if !(got[i] >= 0) || !(math.Abs(float64(got[i])-want[i]) <= tolerance) {
					t.Fatalf("%+v: impulses %g, want %g ± %g", c, got, want, tolerance)
				}
			}
			swapped := normalPoints{swap(c.old), swap(c.kept), swap(c.v), swap(c.mass), c.coupling}
			if err := paritytest.Bits("impulses of swapped points", []float32{got[1], got[0]}, sliceOf(swapped.solve())); err != nil {
				t.Fatalf("%+v: %v", c, err)
			}
		}
		for which, name := range []string{"both", "first", "second", "none"} {
			if fixed && met[which] < 100 {
				t.Errorf("%s: only %d cases", name, met[which])
			}
		}
	}
}

func swap(a [2]float32) [2]float32   { return [2]float32{a[1], a[0]} }
func sliceOf(a [2]float32) []float32 { return a[:] }

// Two points that act on the bodies alike remove the velocity together, and share the impulse.
func TestNormalsOfSingularPoints(t *testing.T) {
	m := float32(rigid.TwoPointScale * 0.5) // a mass of half a kilogram that does not turn
	c := normalPoints{v: [2]float32{-3, -3}, mass: [2]float32{m, m}, coupling: 2}
	if got := c.solve(); got[0] != got[1] || math.Abs(float64(got[0]+got[1])-1.5) > 1e-3 {
		t.Errorf("impulses %g, want 0.75 each", got)
	}
}

// A velocity that is NaN pushes neither body, and the other point is solved alone. A mass of zero keeps the impulses.
func TestNormalsOfSpecialPoints(t *testing.T) {
	c := normalPoints{old: [2]float32{1, 2}, kept: [2]float32{1, 2}, v: [2]float32{nan32, nan32}, mass: [2]float32{1, 1}, coupling: 0.5}
	if got := c.solve(); got != [2]float32{} {
		t.Errorf("NaN gives the impulses %g", got)
	}
	c.v[1] = 1
	if got := c.solve(); got != [2]float32{0, 1.5} { // 2 - (1 - 0.5·1)
		t.Errorf("one NaN gives the impulses %g", got)
	}
	c.v, c.mass = [2]float32{-1, -1}, [2]float32{}
	if got := c.solve(); got != c.old {
		t.Errorf("without mass the impulses are %g, want %g", got, c.old)
	}
}
