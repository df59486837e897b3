// Package trig computes angles with the same bits everywhere, for the engines and for native, which needs codes of angles. They
// import native, so the functions are in a package below all. csrc/atan.h computes the same arc tangent.
package trig

import "math"

// The arc tangent on [-tan π/8, tan π/8]: the polynomial with the least maximum error, by the exchange algorithm of
// Remez. The error is 4.9e-9, below the rounding errors.
const atan3, atan5, atan7, atan9 = -0.333327562, 0.199718788, -0.138244495, 0.0790258795

const (
	tanEighth = 0.41421356 // of π/4
	smallest  = math.SmallestNonzeroFloat32
)

// Bits of numbers.
const (
	sign     = 1 << 31
	infinity = 0x7f800000
	quarter  = 0x3f490fdb // π/4
)

// Atan2 is Atan2 of package internal/rigid; the comment there says what it promises. The angles of many bodies are
// random, so it selects between results by integers, for which the compiler uses conditional moves.
func Atan2(y, x float32) float32 {
	bitsX, bitsY := math.Float32bits(x), math.Float32bits(y)
	absX, absY := bitsX&^sign, bitsY&^sign
	if max(absX, absY) >= infinity {
		return atan2(y, x)
	}
	long, short := math.Float32frombits(max(absX, absY)), math.Float32frombits(min(absX, absY))
	num, den, base := math.Float32bits(short), math.Float32bits(long), uint32(0)
	difference, sum := math.Float32bits(short-long), math.Float32bits(short+long)
	steep := math.Float32bits(short) > math.Float32bits(float32(long*tanEighth))
	if steep {
		num = difference
	}
	if steep { // one move each: the compiler makes no conditional moves of three
		den = sum
	}
	if steep {
		base = quarter
	}
	a := polynomial(math.Float32frombits(num), math.Float32frombits(max(den, 1)), math.Float32frombits(base))
	angle, other := math.Float32bits(a), math.Float32bits(math.Pi/2-a)
	if absY > absX {
		angle = other
	}
	other = math.Float32bits(math.Pi - math.Float32frombits(angle))
	if bitsX > sign {
		angle = other
	}
	flip := bitsY & sign
	if absY == 0 {
		flip = 0
	}
	return math.Float32frombits(angle ^ flip)
}

// polynomial returns base plus the arc tangent of num/den.
func polynomial(num, den, base float32) float32 {
	q := num / den
	u := q * q
	return base + (q + float32(float32(q*u)*(atan3+float32(u*(atan5+float32(u*(atan7+float32(u*atan9))))))))
}

// atan2 is Atan2 in plain steps, for any numbers.
func atan2(y, x float32) float32 {
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
	a := polynomial(num, den, base)
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
