package native

import "fmt"

// Variables, so that the compiler leaves the arithmetic to the CPU.
var (
	probeMinNormal = float32(0x1p-126)
	probeHalf      = float32(0.5)
	probeOne       = float32(1)
	probeTie       = float32(0x1p-24)  // half a unit in the last place of one
	probeAbove     = float32(0x3p-25)  // three quarters of it
	probeDenormal  = float32(0x1p-127) // half of the smallest normal number
)

// CheckFloatEnv probes the calling thread: denormals must survive and rounding
// must be to nearest, ties to even. A library linked or loaded with -ffast-math
// can break that for the whole process, and results would differ silently from
// those of other machines. The error wraps ErrFloatEnv.
//
// A step calls it once, and a Pool once per worker and run; it costs a few
// nanoseconds.
func CheckFloatEnv() error {
	switch {
	case probeMinNormal*probeHalf != probeDenormal || probeDenormal == 0:
		return fmt.Errorf("native: denormals are flushed to zero in this thread: %w", ErrFloatEnv)
	case probeOne+probeTie != probeOne, -probeOne-probeTie != -probeOne, probeOne+probeAbove == probeOne:
		return fmt.Errorf("native: rounding is not to nearest even in this thread: %w", ErrFloatEnv)
	}
	return nil
}
