package loop

import (
	"math"
	"math/big"
	"testing"
)

// The functions below are plain series in numbers of 300 bits.
const precision = 300

func bigFloat(x float64) *big.Float { return new(big.Float).SetPrec(precision).SetFloat64(x) }

func bigMul(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(precision).Mul(a, b) }

func bigQuo(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(precision).Quo(a, b) }

func bigAdd(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(precision).Add(a, b) }

func bigSub(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(precision).Sub(a, b) }

// sumSeries adds terms until they are negligible: next gives term n of the term
// before it, for n = 1, 2, …
func sumSeries(first *big.Float, next func(term *big.Float, n int) *big.Float) *big.Float {
	sum := bigAdd(first, bigFloat(0))
	for n, term := 1, first; ; n++ {
		term = next(term, n)
		if term.Sign() == 0 || term.MantExp(nil) < sum.MantExp(nil)-precision {
			return sum
		}
		sum = bigAdd(sum, term)
	}
}

// bigAtanh2 returns 2·atanh(s) = ln((1+s)/(1-s)) for 0 < |s| < 1.
func bigAtanh2(s *big.Float) *big.Float {
	power, ss := bigMul(s, bigFloat(2)), bigMul(s, s)
	return sumSeries(power, func(_ *big.Float, n int) *big.Float {
		power = bigMul(power, ss)
		return bigQuo(power, bigFloat(float64(2*n+1)))
	})
}

// bigLn returns ln x; x is not a power of two.
func bigLn(x float64) *big.Float {
	m, e := math.Frexp(x)
	s := bigQuo(bigSub(bigFloat(m), bigFloat(1)), bigAdd(bigFloat(m), bigFloat(1)))
	return bigAdd(bigAtanh2(s), bigMul(bigLn2, bigFloat(float64(e))))
}

var bigLn2 = bigAtanh2(bigQuo(bigFloat(1), bigFloat(3)))

// bigExpNeg returns e^-x for x >= 0: of x/2^10 by the series, then squared.
func bigExpNeg(x *big.Float) *big.Float {
	small := bigQuo(x, bigFloat(-1024))
	y := sumSeries(bigFloat(1), func(term *big.Float, n int) *big.Float {
		return bigQuo(bigMul(term, small), bigFloat(float64(n)))
	})
	for range 10 {
		y = bigMul(y, y)
	}
	return y
}

// bigNormal returns the density of the normal distribution at z > 0, and the
// probability of exceeding z: ½ - φ(z)·(z + z³/3 + z⁵/(3·5) + …).
func bigNormal(z float64) (density, beyond *big.Float) {
	const twoPi = "6.28318530717958647692528676655900576839433879875021164194988918461563281257241799725606965068423413596429617303"
	square := bigMul(bigFloat(z), bigFloat(z))
	root, _, err := big.ParseFloat(twoPi, 10, precision, big.ToNearestEven)
	if err != nil {
		panic(err)
	}
	root.Sqrt(root)
	density = bigQuo(bigExpNeg(bigQuo(square, bigFloat(2))), root)
	series := sumSeries(bigFloat(z), func(term *big.Float, n int) *big.Float {
		return bigQuo(bigMul(term, square), bigFloat(float64(2*n+1)))
	})
	return density, bigSub(bigFloat(0.5), bigMul(density, series))
}

func toFloat(x *big.Float) float64 {
	f, _ := x.Float64()
	return f
}

func TestLnError(t *testing.T) {
	worst, at := 0.0, 0.0
	check := func(x float64) {
		want := bigLn(x)
		ulp := math.Abs(math.Nextafter(toFloat(want), math.Inf(1)) - toFloat(want))
		if d := math.Abs(toFloat(bigSub(bigFloat(ln(x)), want))) / ulp; d > worst {
			worst, at = d, x
		}
	}
	// All that Normal and Exponential may ask for: odd multiples of 2^-54.
	for k := uint64(0); k < 100; k++ {
		check(float64(2*k+1) * 0x1p-54)
		check(1 - float64(2*k+1)*0x1p-53)
		check(math.Sqrt2/2 + float64(int(k)-50)*0x1p-53)
		check(math.Sqrt2/4 + float64(int(k)-50)*0x1p-54)
	}
	r := NewRand(1, 0, 0, 0)
	for i := range 2000 {
		check(math.Ldexp(r.Float64()/2+0.5, -(i % 54)))
		check(math.Ldexp(r.Float64()/2+0.5, 0))
		check(math.Ldexp(r.Float64()+1, i%2000-1000))
	}
	t.Logf("worst error %.3f units in the last place, at %v", worst, at)
	if worst >= 1 {
		t.Errorf("ln(%v) is %.3f units in the last place off", at, worst)
	}
	if ln(1) != 0 || ln(0.5) != -math.Ln2 || ln(0x1p-54) != -54*math.Ln2 {
		t.Error("powers of two are wrong")
	}
}

func TestNormalQuantileError(t *testing.T) {
	worst, at := 0.0, uint64(0)
	check := func(k uint64) {
		z := normalQuantile(k)
		p := bigMul(bigFloat(float64(2*k+1)), bigFloat(0x1p-54))
		density, beyond := bigNormal(z)
		// A step of Newton's iteration is as good as the exact value: what is
		// left is the square of an error of 1e-15.
		err := toFloat(bigQuo(bigQuo(bigSub(beyond, p), density), bigFloat(z)))
		if math.Abs(err) > worst {
			worst, at = math.Abs(err), k
		}
	}
	// Both ends, and both sides of the borders between the polynomials: p =
	// 0.075, and p = e^-25 where √-ln p = 5.
	p075, e25 := 0.075*0x1p53, math.Floor(1.3887943864964021e-11*0x1p53)
	for i := range uint64(100) {
		check(i)
		check(1<<52 - 1 - i)
		check(uint64(p075) + i - 50)
		check(uint64(e25) + i - 50)
	}
	r := NewRand(2, 0, 0, 0)
	for i := range 1000 {
		check(r.Uint64() >> (12 + i%52))
		check(r.Uint64() >> 12)
		check(1<<52 - 1 - r.Uint64()>>(12+i%52))
	}
	t.Logf("worst relative error %.3g, %.2f × 2^-53, at k = %d", worst, worst*0x1p53, at)
	if worst >= 0x1p-50 {
		t.Errorf("k = %d: relative error %.3g", at, worst)
	}
	if z := normalQuantile(0); z < 8.29 || z > 8.3 {
		t.Errorf("the greatest is %v", z)
	}
	if z := normalQuantile(1<<52 - 1); z < 0x1p-53 || z > 0x1p-52 {
		t.Errorf("the smallest is %v", z)
	}
}
