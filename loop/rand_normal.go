package loop

import "math"

// Normal returns a number of the normal distribution with mean 0 and standard
// deviation 1, always of two words. It is computed with + - × / and square roots
// alone, none of them fused, so it has the same bits on every machine.
//
// Of the 64 bits that it draws, the first decides the sign and the next 52 are an
// integer k. The result is the number that is exceeded with a probability of
// (2k+1)/2^54, by the approximation PPND16 of Wichura, "Algorithm AS 241: the
// percentage points of the normal distribution" (1988). Its relative error is
// below 2^-50, its magnitude from 2^-53 to 8.3.
//
// Wrap a product with a standard deviation other than 1, so that it is not fused
// either: mean + float64(sd*r.Normal()).
func (r *Rand) Normal() float64 {
	word := r.Uint64()
	z := normalQuantile(word << 1 >> 12)
	if word>>63 != 0 {
		return -z
	}
	return z
}

// Normal32 returns Normal rounded to float32.
func (r *Rand) Normal32() float32 { return float32(r.Normal()) }

// Exponential returns a number of the exponential distribution with mean 1, of
// two words: -ln((2k+1)/2^53), where k is their top 52 bits. It lies between
// 2^-53 and 37, and has the same bits on every machine.
func (r *Rand) Exponential() float64 {
	k := r.Uint64() >> 12
	return -ln(float64(int64(2*k+1)) * 0x1p-53)
}

// The polynomials of AS 241, lowest coefficient first.
var (
	centralAbove = [8]float64{
		3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3, 1.3731693765509461125e4,
		4.5921953931549871457e4, 6.7265770927008700853e4, 3.3430575583588128105e4, 2.5090809287301226727e3,
	}
	centralBelow = [8]float64{
		1, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3,
		2.1213794301586595867e4, 3.9307895800092710610e4, 2.8729085735721942674e4, 5.2264952788528545610e3,
	}
	tailAbove = [8]float64{
		1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0, 3.64784832476320460504e0,
		1.27045825245236838258e0, 2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4,
	}
	tailBelow = [8]float64{
		1, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
		1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4, 1.05075007164441684324e-9,
	}
	farAbove = [8]float64{
		6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0, 2.96560571828504891230e-1,
		2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7,
	}
	farBelow = [8]float64{
		1, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
		7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7, 2.04426310338993978564e-15,
	}
)

// normalQuantile returns the z > 0 that a normal variable exceeds with
// probability (2k+1)/2^54, for k < 2^52.
func normalQuantile(k uint64) float64 {
	p := float64(float64(int64(2*k+1)) * 0x1p-54) // exact, and so is 0.5 - p
	if q := 0.5 - p; q <= 0.425 {
		x := 0.180625 - float64(q*q) // 0.425² - q²
		// Wrapped, since a caller that inlines this may add to it.
		return float64(q * (poly(x, &centralAbove) / poly(x, &centralBelow)))
	}
	x := math.Sqrt(-ln(p))
	if x <= 5 {
		x -= 1.6
		return poly(x, &tailAbove) / poly(x, &tailBelow)
	}
	x -= 5
	return poly(x, &farAbove) / poly(x, &farBelow)
}

// poly returns c[0] + c[1]·x + … + c[7]·x^7 by Horner's scheme.
func poly(x float64, c *[8]float64) float64 {
	y := c[7]
	for i := 6; i >= 0; i-- {
		y = float64(y*x) + c[i]
	}
	return y
}

// ln returns the natural logarithm of a positive normal number, less than one
// unit in the last place from the exact value. math.Log differs between machines.
//
// x is split into 2^e·(1+f) with 1+f between √½ and √2. With s = f/(2+f)
//
//	ln(1+f) = 2s + s·t = f - s·(f-t),  t = 2s²/3 + 2s⁴/5 + 2s⁶/7 + …
//
// where s² < 0.0295, so that the terms after s^20 are below 2^-60 of the result.
// The sum starts from f, which is exact, so the rounding of s matters little.
func ln(x float64) float64 {
	const (
		ln2High = 0xB17217F7p-32 // 32 bits: its product with an exponent is exact
		ln2Low  = math.Ln2 - ln2High
	)
	b := math.Float64bits(x)
	e := int(b>>52) - 1023
	m := math.Float64frombits(b&(1<<52-1) | 1023<<52)
	if m > math.Sqrt2 {
		m *= 0.5
		e++
	}
	f := m - 1
	s := f / (2 + f)
	ss := s * s
	t := 2.0 / 21
	for _, c := range [9]float64{2.0 / 19, 2.0 / 17, 2.0 / 15, 2.0 / 13, 2.0 / 11, 2.0 / 9, 2.0 / 7, 2.0 / 5, 2.0 / 3} {
		t = float64(t*ss) + c
	}
	t = float64(t * ss)
	k := float64(e)
	return float64(k*ln2High) + (f - (float64(s*(f-t)) - float64(k*ln2Low)))
}
