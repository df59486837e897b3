package physics

import (
	"fmt"

	"github.com/evertick/evertick/internal/fault"
)

func checkFinite(field string, v float32) error {
	if !fault.Finite(v) {
		return fault.Field(ErrNotFinite, field, v)
	}
	return nil
}

func checkFinite2(field string, v [2]float32) error {
	for i := range v {
		if !fault.Finite(v[i]) {
			return fault.Element(ErrNotFinite, field, i, v[i])
		}
	}
	return nil
}

func checkNotNegative(field string, v float32) error {
	if err := checkFinite(field, v); err != nil {
		return err
	}
	if v < 0 {
		return fault.Field(ErrRange, field, v)
	}
	return nil
}

func checkPositive(field string, v float32) error {
	if err := checkFinite(field, v); err != nil {
		return err
	}
	if v <= 0 {
		return fault.Field(ErrRange, field, v)
	}
	return nil
}

func checkWithin(field string, v, low, high int) error {
	if v < low || v > high {
		return fault.Field(ErrRange, field, v)
	}
	return nil
}

// because appends the rule that was broken, where the value alone does not explain
// the error.
func because(err error, rule string) error {
	return fmt.Errorf("%w: %s", err, rule)
}

func checkNumber(field string, v float32) error { return checkBelow(field, v, valueLimit) }

// checkBelow asks for a finite value within ±most, and less than huge.
func checkBelow(field string, v, most float32) error {
	if err := checkFinite(field, v); err != nil {
		return err
	}
	if !inRange(v) || v > most || v < -most {
		return fault.Field(ErrRange, field, v)
	}
	return nil
}

func checkStrength(field string, v float32) error {
	if err := checkNotNegative(field, v); err != nil {
		return err
	}
	return checkNumber(field, v)
}
