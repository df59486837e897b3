package native_test

import (
	"math"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
)

// bruteCompose writes out the matrices of Compose, an element by its row and column.
func bruteCompose(out []float32, c [][]float32, rows []int, column, row int) {
	for _, i := range rows {
		q, s := [4]float32{c[3][i], c[4][i], c[5][i], c[6][i]}, [3]float32{c[7][i], c[8][i], c[9][i]}
		at := func(r, c int) *float32 { return &out[16*i+r*column+c*row] }
		twice := func(a, b int) float32 { return float32(q[a] * (q[b] + q[b])) }
		for k := range 3 {
			// The other two axes, in cyclic order.
			l, m := (k+1)%3, (k+2)%3
			lo, hi := min(l, m), max(l, m)
			*at(k, k) = (1 - (twice(lo, lo) + twice(hi, hi))) * s[k]
			*at(hi, lo) = twice(lo, hi)
			*at(lo, hi) = twice(lo, hi)
			// Turning about k takes l towards m.
			*at(m, l) += twice(3, k)
			*at(l, m) -= twice(3, k)
			*at(m, l) *= s[l]
			*at(l, m) *= s[m]
			*at(k, 3) = c[k][i]
			*at(3, k) = 0
		}
		*at(3, 3) = 1
	}
}

// The matrix of a unit quaternion does to a point what the definition says: scale,
// then q * v * conjugate(q), then move.
func TestComposeRotates(t *testing.T) {
	run := paritytest.Start(t, "Compose rotates")
	const n = 200
	c := make([][]float32, 10)
	for k := range c {
		c[k] = make([]float32, n)
		run.Fill(c[k], paritytest.Uniform)
	}
	for i := range n {
		length := math.Hypot(math.Hypot(float64(c[3][i]), float64(c[4][i])), math.Hypot(float64(c[5][i]), float64(c[6][i])))
		for k := 3; k < 7; k++ {
			c[k][i] = float32(float64(c[k][i]) / length)
		}
	}
	for _, level := range native.Levels() {
		out := make([]float32, 16*n)
		if err := (&native.Ops{Level: level}).Compose(out, native.RowMajor, vec3(c), quat(c[3:]), vec3(c[7:])); err != nil {
			t.Fatal(err)
		}
		for i := range n {
			v := [3]float64{run.Float64(), run.Float64(), run.Float64()}
			want := moved(c, i, v)
			for r := range 3 {
				m := out[16*i+4*r : 16*i+4*r+4]
				got := float64(m[0])*v[0] + float64(m[1])*v[1] + float64(m[2])*v[2] + float64(m[3])
				// Scales of up to 1000, each with an error of a few units in the last place.
				if math.Abs(got-want[r]) > 3*1000*0x1p-20 {
					t.Fatalf("level %s, row %d: axis %d of %g is %g, want %g", level, i, r, v, got, want[r])
				}
			}
		}
	}
}

// moved scales, turns and moves a point by the transform of row i.
func moved(c [][]float32, i int, v [3]float64) [3]float64 {
	f := func(k int) float64 { return float64(c[k][i]) }
	q := [4]float64{f(3), f(4), f(5), f(6)}
	p := times(times(q, [4]float64{f(7) * v[0], f(8) * v[1], f(9) * v[2], 0}), [4]float64{-q[0], -q[1], -q[2], q[3]})
	return [3]float64{p[0] + f(0), p[1] + f(1), p[2] + f(2)}
}

// times is the product of quaternions x, y, z, w.
func times(a, b [4]float64) [4]float64 {
	return [4]float64{
		a[3]*b[0] + a[0]*b[3] + a[1]*b[2] - a[2]*b[1],
		a[3]*b[1] + a[1]*b[3] + a[2]*b[0] - a[0]*b[2],
		a[3]*b[2] + a[2]*b[3] + a[0]*b[1] - a[1]*b[0],
		a[3]*b[3] - a[0]*b[0] - a[1]*b[1] - a[2]*b[2],
	}
}

// A quarter turn about z takes x to y, in both layouts.
func TestComposeLayouts(t *testing.T) {
	half := float32(math.Sqrt(0.5))
	one := func(v float32) []float32 { return []float32{v} }
	c := [][]float32{one(5), one(6), one(7), one(0), one(0), one(half), one(half), one(2), one(3), one(4)}
	byRow := [16]float32{0, -3, 0, 5, 2, 0, 0, 6, 0, 0, 4, 7, 0, 0, 0, 1}
	for layout, at := range map[native.Layout]func(r, c int) int{
		native.RowMajor:    func(r, c int) int { return 4*r + c },
		native.ColumnMajor: func(r, c int) int { return 4*c + r },
	} {
		var out [16]float32
		if err := new(native.Ops).Compose(out[:], layout, vec3(c), quat(c[3:]), vec3(c[7:])); err != nil {
			t.Fatal(err)
		}
		for r := range 4 {
			for c := range 4 {
				if got, want := out[at(r, c)], byRow[4*r+c]; math.Abs(float64(got-want)) > 1e-6 {
					t.Errorf("layout %d: row %d, column %d is %g, want %g", layout, r, c, got, want)
				}
			}
		}
	}
}

func TestComposeMisuse(t *testing.T) {
	const n = 3
	compose := func(out int, layout native.Layout, short int) func() {
		return func() {
			c := make([][]float32, 10)
			for k := range c {
				c[k] = make([]float32, n)
			}
			if short >= 0 {
				c[short] = c[short][1:]
			}
			new(native.Ops).Compose(make([]float32, out), layout, vec3(c), quat(c[3:]), vec3(c[7:]))
		}
	}
	for k := range 10 {
		expectPanic(t, "native: Ops.Compose: columns differ in length", compose(16*n, native.RowMajor, k))
	}
	expectPanic(t, "native: Ops.Compose: out has not 16 elements for each row", compose(16*n-1, native.RowMajor, -1))
	expectPanic(t, "native: Ops.Compose: unknown layout", compose(16*n, native.RowMajor+1, -1))
}
