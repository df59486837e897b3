// Package trig computes the arc tangent for native/rigid, which needs angles of bodies, and for native, which needs
// codes of angles. native/rigid imports native, so the function is in a package below both. csrc/atan.h computes the
// same bits.
package trig

import "math"

// The arc tangent on [-tan π/8, tan π/8]: the polynomial with the least maximum error, by the exchange algorithm of
// Remez. The error is 4.9e-9, below the rounding errors.
const atan3, atan5, atan7, atan9 = -0.333327562, 0.199718788, -0.138244495, 0.0790258795

const (
	tanEighth = 0.41421356 // of π/4
	smallest  = math.SmallestNonzeroFloat32
)

// Atan2 is Atan2 of package native/rigid; the comment there says what it promises.
func Atan2(y, x float32) float32 {
	ax, ay := abs(x), abs(y)
	long, short := ay, ax
	if ax > ay {
		long, short = ax, ay
	}
	num, den, base := short, long, float32(0)
	if short > float32(long*tanEighth) {
		num, den, base = short-long, short+long, math.Pi/4 // tan(a - π/4) = (t - 1) / (t + 1)
	}
	if smallest > den {
		den = smallest // of the zero vector; a NaN stays
	}
	q := num / den
	u := q * q
	a := base + (q + float32(float32(q*u)*(atan3+float32(u*(atan5+float32(u*(atan7+float32(u*atan9))))))))
	if ay > ax {
		a = math.Pi/2 - a
	}
	if x < 0 {
		a = math.Pi - a
	}
	if y < 0 {
		a = -a
	}
	return a
}

func abs(a float32) float32 { return math.Float32frombits(math.Float32bits(a) &^ (1 << 31)) }
