package rigid

import (
	"math"

	"github.com/evertick/evertick/internal/trig"
	"github.com/evertick/evertick/native"
)

// MaxAngle is the largest angle in radians, either way, that SinCos takes.
const MaxAngle = trig.MaxAngle

// SinCos is trig.SinCos.
func SinCos(angle float32) (sin, cos float32) { return trig.SinCos(angle) }

// Atan2 returns the angle of the vector (x, y) in radians, from -π to π, within 3e-7. The
// axes and the diagonals give the float32 nearest to the multiple of π/4. Zeros count as
// positive: Atan2(-0, -1) is π, and Atan2(0, 0) is 0. It is NaN if x or y is NaN, or both are
// infinite. Vectors longer than 2^126 give wrong angles, shorter than 2^-120 inexact ones.
func Atan2(y, x float32) float32 { return trig.Atan2(y, x) }

// Angles computes out[i] = Atan2(sin[i], cos[i]). It panics on unequal lengths.
func Angles(level native.Level, cos, sin, out []float32) {
	if len(sin) != len(cos) || len(out) != len(cos) {
		panic("rigid: Angles: cos, sin and out differ in length")
	}
	kernelsOf(level).angles(cos, sin, out)
}

func anglesGo(cos, sin, out []float32) {
	for i := range out {
		out[i] = Atan2(sin[i], cos[i])
	}
}

func abs(a float32) float32 { return math.Float32frombits(math.Float32bits(a) &^ (1 << 31)) }

// minFloat is a < b ? a : b, and maxFloat a > b ? a : b: b where either is NaN.
func minFloat(a, b float32) float32 {
	if a < b {
		return a
	}
	return b
}

func maxFloat(a, b float32) float32 {
	if a > b {
		return a
	}
	return b
}
