package trig

import "math"

// MaxAngle is the largest angle in radians, either way, that SinCos takes.
const MaxAngle = 65536

// A quarter turn in three parts: the first two have eight significant bits, so that
// their products with a number of quarter turns up to 2^16 are exact.
const (
	quarter1 = 0x1.92p0      // 201 / 2^7
	quarter2 = 0x1.fap-12    // 253 / 2^19
	quarter3 = 1.26759085e-6 // what remains of π/2

	// rounding is 1.5·2^23: floats from there on are whole, and the lowest bits of
	// their significand count.
	rounding = 12582912
)

// Polynomials with the least maximum error on [-π/4, π/4], by the exchange algorithm of Remez. The errors are 1.8e-9
// and 1e-10, below the rounding errors.
const (
	sin3, sin5, sin7 = -0.166666508, 0.00833197869, -0.000194956359
	cos4, cos6, cos8 = 0.0416666456, -0.00138873677, 2.44384519e-5
)

// SinCos returns the sine and the cosine of an angle in radians, within 1e-7. For angles as near to a multiple of a
// quarter turn as a float32 can be, up to 8, the results are exactly 0 and ±1. No zero is negative; except for that,
// sin(-a) is -sin(a) and cos(-a) is cos(a). Both are NaN for NaN and for angles beyond ±MaxAngle.
func SinCos(angle float32) (sin, cos float32) {
	size := abs(angle)
	if size <= smallAngle && size > 0 { // no turn to remove, and nothing to round to 0
		return polynomials(angle)
	}
	return sinCos(angle, size)
}

// sinCos is SinCos for angles of any size.
func sinCos(angle, size float32) (sin, cos float32) {
	if !(size <= MaxAngle) {
		nan := float32(math.NaN())
		return nan, nan
	}
	whole := float32(angle*(2/math.Pi)) + rounding
	turns := whole - rounding
	r := ((angle - float32(turns*quarter1)) - float32(turns*quarter2)) - float32(turns*quarter3)
	// The float32 nearest to a multiple of a quarter turn is off by at most half a unit in its last place.
	if abs(r) <= float32(min(size, 8)*0x1p-25) {
		r = 0
	}
	s, c := polynomials(r)
	quadrant := math.Float32bits(whole)
	if quadrant&1 != 0 {
		s, c = c, s
	}
	if quadrant&2 != 0 {
		s = 0 - s
	}
	if (quadrant+1)&2 != 0 {
		c = 0 - c
	}
	return s, c
}

// smallAngle is below the angle, π/4, from which on SinCos removes quarter turns.
const smallAngle = 0.75

// polynomials returns sine and cosine of an angle from -π/4 to π/4.
func polynomials(r float32) (s, c float32) {
	u := r * r
	s = r + float32(float32(r*u)*(sin3+float32(u*(sin5+float32(u*sin7)))))
	c = (1 - float32(0.5*u)) + float32(float32(u*u)*(cos4+float32(u*(cos6+float32(u*cos8)))))
	return s, c
}
