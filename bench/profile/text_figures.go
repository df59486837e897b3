package profile

import (
	"fmt"
	"math"
	"strconv"
)

// unit is one in which durations are told.
type unit struct {
	name string
	ns   float64
}

var units = []unit{{"ns", 1}, {"µs", 1e3}, {"ms", 1e6}, {"s", 1e9}}

// unitFor is the greatest in which a duration is at least 1.
func unitFor(ns float64) unit {
	u := units[0]
	for _, next := range units[1:] {
		if math.Abs(ns) >= next.ns {
			u = next
		}
	}
	return u
}

// duration is one with its unit.
func duration(ns float64) string {
	u := unitFor(ns)
	return figure(ns/u.ns) + " " + u.name
}

// durations are two with one unit, that of the greater, which only the second bears.
func durations(from, to float64) (string, string) {
	u := unitFor(max(math.Abs(from), math.Abs(to)))
	return figure(from / u.ns), figure(to/u.ns) + " " + u.name
}

// figure tells three digits at least, and never takes more than nine places: 0.042, 1.92,
// 16.7, 12,345, 1.2e+15.
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
