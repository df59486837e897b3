package material

import "math"

// Mix is a rule that combines a coefficient a of the shape of lower index with a coefficient b of the other shape.
type Mix uint8

const (
	MixDefault   Mix = iota // MixGeometric for friction, MixMax for restitution
	MixGeometric            // sqrt(a*b)
	MixMax                  // a > b ? a : b
	MixMin                  // a < b ? a : b
	MixAverage              // 0.5*(a+b)
	MixMultiply             // a*b
)

// Or returns the rule, or usual if it is MixDefault.
func (m Mix) Or(usual Mix) Mix {
	if m == MixDefault {
		return usual
	}
	return m
}

// Apply combines two coefficients by a rule that is not MixDefault.
func (m Mix) Apply(a, b float32) float32 {
	switch m {
	case MixGeometric:
		return float32(math.Sqrt(float64(a * b)))
	case MixMax:
		if a > b {
			return a
		}
		return b
	case MixMin:
		if a < b {
			return a
		}
		return b
	case MixAverage:
		return 0.5 * (a + b)
	}
	return a * b
}
