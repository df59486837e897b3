package profile

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// unit is a unit of time.
type unit struct {
	Name   string `json:"name"`
	Ns     int64  `json:"ns"`
	Digits int    `json:"digits"` // after the point, where all times of a page share a unit
}

// unitFor returns the largest unit in which a duration is at least 1.
func unitFor(ns float64) unit {
	u := unit{Name: "ns", Ns: 1}
	for _, larger := range []unit{{"µs", 1e3, 0}, {"ms", 1e6, 0}, {"s", 1e9, 0}} {
		if math.Abs(ns) >= float64(larger.Ns) {
			u = larger
		}
	}
	return u
}

// unitOf returns the unit for a page, with so many digits that a time of ns has three.
func unitOf(ns int64) unit {
	u := unitFor(float64(max(0, ns)))
	for digits, unitNs := 1, u.Ns*100; u.Ns > 1 && digits <= 3; digits, unitNs = digits+1, unitNs/10 {
		u.Digits = digits
		if ns >= unitNs {
			break
		}
	}
	return u
}

// in formats a time in the unit: three digits at least.
func (u unit) in(ns float64) string { return figure(ns / float64(u.Ns)) }

// bare formats a time in the unit with its digits, and with a comma between each three.
func (u unit) bare(ns float64) string {
	text := strconv.FormatFloat(math.Abs(ns)/float64(u.Ns), 'f', u.Digits, 64)
	whole, rest, _ := strings.Cut(text, ".")
	if n, err := strconv.ParseInt(whole, 10, 64); err == nil {
		whole = grouped(n)
	}
	if rest != "" {
		whole += "." + rest
	}
	if ns < 0 && strings.Trim(whole, "0.,") != "" {
		whole = "−" + whole
	}
	return whole
}

// duration formats a duration with its unit.
func duration(ns float64) string {
	u := unitFor(ns)
	return u.in(ns) + " " + u.Name
}

// durations formats two durations in one unit, that of the longer, and names it after the second.
func durations(from, to float64) (string, string) {
	u := unitFor(max(math.Abs(from), math.Abs(to)))
	return u.in(from), u.in(to) + " " + u.Name
}

// figure formats a number with three digits at least, in nine places at most: 0.042, 1.92, 16.7,
// 12,345, 1.2e+15.
func figure(v float64) string {
	abs := math.Abs(v)
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return fmt.Sprint(v)
	case v == 0:
		return "0"
	case abs < 0.0005:
		return fmt.Sprintf("%.1e", v)
	case abs < 0.1:
		return fmt.Sprintf("%.3f", v)
	case abs < 10:
		return fmt.Sprintf("%.2f", v)
	case abs < 100:
		return fmt.Sprintf("%.1f", v)
	case abs < 1e7:
		return grouped(int64(math.Round(v)))
	default:
		return fmt.Sprintf("%.1e", v)
	}
}

// grouped writes 1234567 as 1,234,567.
func grouped(v int64) string {
	digits := strconv.FormatInt(v, 10)
	sign := ""
	if v < 0 {
		sign, digits = "-", digits[1:]
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}

func count(n int) string { return grouped(int64(n)) }

// plural counts: 1 step, 2,000 steps.
func plural[T int | int64 | uint64](n T, word string) string {
	if n != 1 {
		word += "s"
	}
	return grouped(int64(min(uint64(max(n, 0)), math.MaxInt64))) + " " + word
}

// some is plural, and empty for 0.
func some(n int, word string) string {
	if n == 0 {
		return ""
	}
	return plural(n, word)
}
