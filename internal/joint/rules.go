// Package joint holds what joints of a plane and of space have in common: the rules for the numbers of their definitions.
package joint

import (
	"github.com/evertick/evertick/internal/check"
	"github.com/evertick/evertick/internal/fault"
)

// Number is the rule for one number of a definition.
type Number struct {
	Name        string
	Least, Most float32 // and less than check.Limit either way
	Upper       bool    // the upper limit: not below the number before it
}

// NonNegative is the rule for a number without an upper bound.
func NonNegative(name string) Number { return Number{name, 0, check.Limit, false} }

// Coefficient is the rule for a frequency or a damping ratio.
func Coefficient(name string) Number { return Number{name, 0, check.MaxCoefficient, false} }

// Unbounded is the rule for any number.
func Unbounded(name string) Number { return Number{name, -check.Limit, check.Limit, false} }

// Within is the rule for a number between two bounds.
func Within(name string, least, most float32) Number { return Number{name, least, most, false} }

// UpperWithin is Within for an upper limit, which follows the lower one.
func UpperWithin(name string, least, most float32) Number { return Number{name, least, most, true} }

// UpperLimit is the rule for an upper limit, which follows the lower one.
func UpperLimit(name string) Number { return Number{name, -check.Limit, check.Limit, true} }

// Check checks number i by its rule. The prefix names the definition, as in "physics: RevoluteJointDef.".
func Check(prefix string, rules []Number, numbers []float32, i int) error {
	rule, v := &rules[i], numbers[i]
	switch {
	case !fault.Finite(v):
		return fault.Field(fault.ErrNotFinite, prefix+rule.Name, v)
	case !check.InRange(v) || v < rule.Least || v > rule.Most:
		return fault.Field(fault.ErrRange, prefix+rule.Name, v)
	case rule.Upper && v < numbers[i-1]:
		return check.Because(fault.Field(fault.ErrRange, prefix+rule.Name, v), "below the lower limit")
	}
	return nil
}
