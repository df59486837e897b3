package rigid_test

import (
	"math"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/internal/rigid"
	"github.com/evertick/evertick/native"
)

var nan32, inf32 = float32(math.NaN()), float32(math.Inf(1))

func TestAtan2(t *testing.T) {
	negZero := float32(math.Copysign(0, -1))
	const pi = math.Pi
	for _, c := range []struct{ y, x, want float32 }{
		{0, 0, 0}, {0, 1, 0}, {negZero, 1, 0}, {1, 0, pi / 2}, {-1, 0, -pi / 2}, {0, -1, pi}, {negZero, -1, pi},
		{1, 1, pi / 4}, {-1, 1, -pi / 4}, {2, -2, 3 * pi / 4}, {-3, -3, -3 * pi / 4},
		{1, inf32, 0}, {inf32, 1, pi / 2}, {-inf32, 5, -pi / 2}, {3, -inf32, pi},
		{nan32, 1, nan32}, {1, nan32, nan32}, {nan32, 0, nan32}, {0, nan32, nan32}, {inf32, -inf32, nan32},
	} {
		if got := rigid.Atan2(c.y, c.x); got != c.want && (got == got || c.want == c.want) {
			t.Errorf("Atan2(%g, %g) = %g, want %g", c.y, c.x, got, c.want)
		}
	}
	run := paritytest.Start(t, "Atan2")
	for range paritytest.Rounds(200000) {
		y, x := run.Float32()-0.5, run.Float32()-0.5
		if run.IntN(4) == 0 {
			y *= 0x1p-20
		}
		if got, want := rigid.Atan2(y, x), math.Atan2(float64(y), float64(x)); math.Abs(float64(got)-want) > 3e-7 {
			t.Fatalf("Atan2(%g, %g) = %g, want %g", y, x, got, want)
		}
	}
}

// What goes through a rotation and back is the same angle.
func TestAnglesGoRound(t *testing.T) {
	for i := range 2000 {
		want := float32(i-1000) * (math.Pi / 1000)
		sin, cos := rigid.SinCos(want)
		if got := rigid.Atan2(sin, cos); math.Abs(float64(got-want)) > 4e-7 && i > 0 {
			t.Errorf("angle %g comes back as %g", want, got)
		}
	}
}

func TestParityAngles(t *testing.T) {
	run := paritytest.Start(t, "Angles")
	bufs := [3]*paritytest.Buffer[float32]{}
	for i := range bufs {
		bufs[i] = paritytest.NewBuffer[float32](t, 128)
	}
	classes := [][]paritytest.Class{{paritytest.Uniform}, paritytest.Finite, paritytest.AllClasses}
	for range paritytest.Rounds(4) {
		for n := range 52 {
			in := [2][]float32{make([]float32, n), make([]float32, n)}
			for _, c := range in {
				run.Fill(c, classes[run.IntN(3)]...)
			}
			want := make([]float32, n)
			for i := range want {
				want[i] = rigid.Atan2(in[1][i], in[0][i])
			}
			for _, level := range native.Levels() {
				for _, side := range paritytest.Sides {
					run.Case(level)
					gap := run.IntN(paritytest.MaxGap + 1)
					cos, sin := bufs[0].PlaceCopy(in[0], side, gap), bufs[1].PlaceCopy(in[1], side, gap)
					out := bufs[2].Place(n, side, gap)
					rigid.Angles(level, cos, sin, out)
					run.Check(paritytest.Floats("out", out, want), paritytest.Bits("cos", cos, in[0]), paritytest.Bits("sin", sin, in[1]),
						bufs[0].Check(), bufs[1].Check(), bufs[2].Check())
				}
			}
		}
	}
}
