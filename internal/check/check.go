// Package check checks the numbers that programs give to an engine. An error names the field and the value, and wraps a sentinel of
// package fault.
package check

import (
	"errors"
	"fmt"
	"math"

	"github.com/evertick/evertick/internal/fault"
)

const (
	// Limit bounds all values of a body: neither the square of a smaller value nor the sum of two such squares overflows.
	Limit = 1 << 63
	// MaxCoefficient bounds coefficients, so that products of a few of them do not overflow.
	MaxCoefficient = 1e6
)

// InRange reports whether v is finite and below Limit either way.
func InRange(v float32) bool { return math.Abs(float64(v)) < Limit }

// CanonicalNaN returns v, and one fixed NaN for every NaN. The sign and the payload of a computed NaN
// differ between machines and levels, so they must not be stored.
func CanonicalNaN(v float32) float32 {
	if v != v {
		return math.Float32frombits(0x7fc00000)
	}
	return v
}

// Finite requires a number.
func Finite(field string, v float32) error {
	if !fault.Finite(v) {
		return fault.Field(fault.ErrNotFinite, field, v)
	}
	return nil
}

// Vector requires numbers, and names the component that is none.
func Vector(field string, v []float32) error {
	for i := range v {
		if !fault.Finite(v[i]) {
			return fault.Element(fault.ErrNotFinite, field, i, v[i])
		}
	}
	return nil
}

// NotNegative requires a number from 0.
func NotNegative(field string, v float32) error {
	if err := Finite(field, v); err != nil {
		return err
	}
	if v < 0 {
		return fault.Field(fault.ErrRange, field, v)
	}
	return nil
}

// Positive requires a number above 0.
func Positive(field string, v float32) error {
	if err := Finite(field, v); err != nil {
		return err
	}
	if v <= 0 {
		return fault.Field(fault.ErrRange, field, v)
	}
	return nil
}

// Between requires a number from low to high, and less than Limit either way.
func Between(field string, v, low, high float32) error {
	if err := Finite(field, v); err != nil {
		return err
	}
	if !InRange(v) || v < low || v > high {
		return fault.Field(fault.ErrRange, field, v)
	}
	return nil
}

// Coefficient requires a number from 0 to MaxCoefficient.
func Coefficient(field string, v float32) error { return Between(field, v, 0, MaxCoefficient) }

// Coefficients requires numbers from 0 to MaxCoefficient, and reports every fault at once. It puts prefix in front of their names.
func Coefficients(prefix string, numbers ...Number) error {
	var faults []error
	for _, n := range numbers {
		if !InRange(n.Value) || n.Value < 0 || n.Value > MaxCoefficient { // to join the name allocates
			faults = append(faults, Coefficient(prefix+n.Name, n.Value))
		}
	}
	return errors.Join(faults...)
}

// Number is a number with its name.
type Number struct {
	Name  string
	Value float32
}

// Magnitude requires a number from 0 that is below Limit.
func Magnitude(field string, v float32) error { return Between(field, v, 0, Limit) }

// Limited requires numbers that are known to be finite to be below Limit either way.
func Limited(field string, values ...float32) error {
	for _, v := range values {
		if !InRange(v) {
			return Because(fault.Field(fault.ErrRange, field, v), "2^63 or more")
		}
	}
	return nil
}

// Inverse returns 1/v, and 0 for 0. A mass is out of range if it or its inverse reaches Limit.
func Inverse(field string, v float32) (float32, error) {
	if v == 0 {
		return 0, nil
	}
	if !(v > 1./Limit && v < Limit) {
		return 0, Because(fault.Field(fault.ErrRange, field, v), "beyond 1e-19 to 1e19")
	}
	return 1 / v, nil
}

// Overflow returns the error for an argument that would make a value of a body out of range.
func Overflow(field string, value any) error {
	return Because(fault.Field(fault.ErrRange, field, value), "the result would overflow")
}

// Because appends the rule that was broken, where the value alone does not explain the error.
func Because(err error, rule string) error { return fmt.Errorf("%w: %s", err, rule) }
