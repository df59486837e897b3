package loop

import (
	"math"
	"math/bits"
	"time"
)

// SimTime is simulated time, exactly: a number of ticks at a rate of num/den
// ticks per second, that is ticks × den/num seconds. It is the time at which the
// tick of that number begins. It does not depend on wall time.
//
// It is a plain value. Two of the same rate are equal by == if they are the same
// time; Compare works across rates. The zero value is tick 0 at 60 Hz, and equal
// by Compare to any other tick 0.
type SimTime struct {
	ticks    uint64
	num, den uint64 // the rate in lowest terms, each below 2^27; 0/0 is 60/1
}

// NewSimTime returns the time of a tick at RateNum/RateDen ticks per second. The
// rate has the defaults and limits of Config, and so has the error.
func NewSimTime(tick uint64, rateNum, rateDen int64) (SimTime, error) {
	c := Config{RateNum: rateNum, RateDen: rateDen}
	if err := c.Validate(); err != nil {
		return SimTime{}, err
	}
	c = c.withDefaults()
	g := gcd(c.RateNum, c.RateDen)
	return SimTime{tick, uint64(c.RateNum / g), uint64(c.RateDen / g)}, nil
}

// TimeAt returns the simulated time at which a tick begins: tick × Dt, exactly.
func (l *Loop) TimeAt(tick uint64) SimTime {
	return SimTime{tick, l.num, l.unit / nsPerSecond}
}

func (t SimTime) rate() (num, den uint64) {
	if t.num == 0 {
		return defaultRateNum, defaultRateDen
	}
	return t.num, t.den
}

// Ticks returns the number of ticks.
func (t SimTime) Ticks() uint64 { return t.ticks }

// Rate returns the ticks per second as a fraction in lowest terms.
func (t SimTime) Rate() (num, den int64) {
	n, d := t.rate()
	return int64(n), int64(d)
}

// Add returns the time n ticks later. Ticks count modulo 2^64, as in a Loop.
func (t SimTime) Add(n uint64) SimTime {
	t.ticks += n
	return t
}

// Compare returns -1 if t is before o, 0 if they are the same time, and +1 if t
// is after o, exactly, whatever their rates.
func (t SimTime) Compare(o SimTime) int {
	tNum, tDen := t.rate()
	oNum, oDen := o.rate()
	// ticks × den/num on both sides, times both num: 64 + 27 + 27 bits.
	tHi, tLo := bits.Mul64(t.ticks, tDen*oNum)
	oHi, oLo := bits.Mul64(o.ticks, oDen*tNum)
	switch {
	case tHi != oHi && tHi < oHi, tHi == oHi && tLo < oLo:
		return -1
	case tHi == oHi && tLo == oLo:
		return 0
	}
	return 1
}

// Seconds returns the time in seconds, rounded once to the nearest float64, ties
// to even: the same bits on every machine, and never less for a later time.
func (t SimTime) Seconds() float64 {
	num, den := t.rate()
	hi, lo := bits.Mul64(t.ticks, den)
	if hi|lo == 0 {
		return 0
	}
	// The dividend is shifted until its top bit is set. Then the quotient has
	// 128-27 bits at least, so its upper half is not 0.
	shift := bits.LeadingZeros64(hi)
	if hi == 0 {
		shift = 64 + bits.LeadingZeros64(lo)
		hi, lo = lo<<(shift-64), 0
	} else {
		hi, lo = hi<<shift|lo>>(64-shift), lo<<shift
	}
	upper, rest := bits.Div64(0, hi, num)
	lower, rest := bits.Div64(rest, lo, num)
	zeros := bits.LeadingZeros64(upper)
	upper, lower = upper<<zeros|lower>>(64-zeros), lower<<zeros
	// 62 bits are kept; the last one is set if anything that is not 0 is cut
	// off, so the conversion to 53 bits rounds as if it saw everything.
	kept := upper >> 2
	if upper&3 != 0 || lower != 0 || rest != 0 {
		kept |= 1
	}
	return float64(int64(kept)) * power2(66-zeros-shift)
}

// power2 returns 2^e for an e from -1022 to 1023.
func power2(e int) float64 { return math.Float64frombits(uint64(1023+e) << 52) }

// Ns returns the whole nanoseconds of the time, rounded down, and
// math.MaxInt64, which is 292 years, if there are more.
func (t SimTime) Ns() int64 {
	num, den := t.rate()
	return mulDiv(t.ticks, den*nsPerSecond, 0, num) // 27 + 30 bits
}

// Duration returns Ns as a time.Duration.
func (t SimTime) Duration() time.Duration { return time.Duration(t.Ns()) }

// Fraction returns the time exactly: whole + num/den seconds, the fraction below
// 1 and in lowest terms, 0/1 if there is none. From 2^64 seconds on, which takes
// 2^64 ticks of a second or longer, it returns the greatest whole and 0/1.
func (t SimTime) Fraction() (whole, num, den uint64) {
	n, d := t.rate()
	hi, lo := bits.Mul64(t.ticks, d)
	if hi >= n {
		return math.MaxUint64, 0, 1
	}
	whole, num = bits.Div64(hi, lo, n)
	g := uint64(gcd(int64(num), int64(n)))
	return whole, num / g, n / g
}
