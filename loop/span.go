package loop

import (
	"math"
	"math/bits"
)

// span is an amount of simulated time: steps + (units + rest/1e6)/unit steps,
// with units < unit, the units of one step, and rest < 1e6. One nanosecond at
// scale 1 is num units, and at a scale of s millionths num × s millionths of a
// unit, so both are exact.
type span struct{ steps, units, rest uint64 }

// ratio relates wall time to steps.
type ratio struct {
	num  uint64 // units per nanosecond, rate in lowest terms
	unit uint64 // units per step: 1e9 × den
}

// spanOf returns the simulated time of ns >= 0 nanoseconds at a scale in
// millionths.
//
// Nothing overflows: ns < 2^63, num <= 1e8 < 2^27 and scale <= 1e8 < 2^27 make
// a product below 2^117; and since num/den <= 1e6 per second, the whole steps
// are fewer than 2^63 × 1e6/1e9 × 100 < 2^60, so the quotient of the last
// division fits.
func (r *ratio) spanOf(ns int64, scale uint64) span {
	hi, lo := bits.Mul64(uint64(ns), r.num)
	var rest uint64
	if scale != one {
		carry, low := bits.Mul64(lo, scale)
		hi = hi*scale + carry
		lo, rest = bits.Div64(hi%one, low, one)
		hi /= one
	}
	steps, units := bits.Div64(hi, lo, r.unit)
	return span{steps, units, rest}
}

// add returns a + b. Sums of units stay below 2^58.
func (r *ratio) add(a, b span) span {
	s := span{a.steps + b.steps, a.units + b.units, a.rest + b.rest}
	if s.rest >= one {
		s.rest -= one
		s.units++
	}
	if s.units >= r.unit {
		s.units -= r.unit
		s.steps++
	}
	return s
}

// sub returns a - b for a >= b.
func (r *ratio) sub(a, b span) span {
	if a.rest < b.rest {
		a.rest += one
		b.units++
	}
	if a.units < b.units {
		a.units += r.unit
		b.steps++
	}
	return span{a.steps - b.steps, a.units - b.units, a.rest - b.rest}
}

// less reports a < b.
func (a span) less(b span) bool {
	if a.steps != b.steps {
		return a.steps < b.steps
	}
	return a.units < b.units || a.units == b.units && a.rest < b.rest
}

// accumulator returns what is due and not granted: the backlog and the step in
// progress.
func (l *Loop) accumulator() span { return span{l.backlog, l.units, l.rest} }

func (l *Loop) setAccumulator(s span) { l.backlog, l.units, l.rest = s.steps, s.units, s.rest }

// drop counts s as given up.
func (l *Loop) drop(s span) { l.dropped = l.add(l.dropped, s) }

// ns returns steps + units/unit steps of simulated time in nanoseconds, rounded
// down; the greatest int64 where it is more.
func (l *Loop) ns(steps, units uint64) int64 { return mulDiv(steps, l.unit, units, l.num) }

// mulDiv returns (a × b + add) / divisor, rounded down; the greatest int64 where it is more.
func mulDiv(a, b, add, divisor uint64) int64 {
	hi, lo := bits.Mul64(a, b)
	lo, carry := bits.Add64(lo, add, 0)
	hi += carry
	if hi >= divisor {
		return math.MaxInt64
	}
	q, _ := bits.Div64(hi, lo, divisor)
	return int64(min(q, math.MaxInt64))
}

// alpha returns num/den for num < den <= 1e17. Above 2^53 the quotient can
// round to 1, hence the bound; 1-2^-53 is the float64 next to 1.
func alpha(num, den uint64) float64 {
	return min(float64(int64(num))/float64(int64(den)), 1-0x1p-53)
}

// gcd returns the greatest common divisor of two positive numbers.
func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
