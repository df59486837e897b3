// Package floatenv probes whether a thread computes as IEEE 754 prescribes.
package floatenv

import (
	"fmt"
	"math"

	"github.com/evertick/evertick/internal/fault"
)

// They are variables, so that the compiler does not fold the arithmetic.
var (
	probeOne      = float32(1)
	probeTie      = float32(0x1p-24)  // half a unit in the last place of one
	probeAbove    = float32(0x3p-25)  // three quarters of it
	probeDenormal = float32(0x1p-127) // half of the smallest normal number
	probeSmaller  = float32(0x1p-129) // an eighth of it
)

// Check probes the calling thread: denormals must survive and rounding
// must be to nearest, ties to even. A library linked or loaded with -ffast-math
// can break that for the whole process, and results would differ silently from
// those of other machines. The error wraps fault.ErrFloatEnv.
//
// A step calls it once, and a Pool once per worker and run; it costs a few
// nanoseconds.
func Check() error {
	const smaller, next = 0x00300000, 0x3f800001 // the bits of the difference, and of the number after one
	// A difference, as many CPUs take much longer for a product that is denormal.
	denormal := math.Float32bits(probeDenormal-probeSmaller) ^ smaller
	// Upward rounding takes a tie away from one; the directions down and toward zero take what is above it to one.
	rounding := math.Float32bits(probeOne+probeTie) ^ (next - 1) | math.Float32bits(probeOne+probeAbove) ^ next
	if denormal|rounding == 0 {
		return nil
	}
	return floatEnvError(denormal != 0)
}

func floatEnvError(denormals bool) error {
	if denormals {
		return fmt.Errorf("native: denormals are flushed to zero in this thread: %w", fault.ErrFloatEnv)
	}
	return fmt.Errorf("native: rounding is not to nearest even in this thread: %w", fault.ErrFloatEnv)
}
