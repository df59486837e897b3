package native

import (
	"fmt"
	"math"

	"github.com/evertick/evertick/internal/floatenv"
)

// CheckFloatEnv probes the calling thread: denormals must survive and rounding
// must be to nearest, ties to even. A library linked or loaded with -ffast-math
// can break that for the whole process, and results would differ silently from
// those of other machines. The error wraps ErrFloatEnv.
//
// A step calls it once, and a Pool once per worker and run; it costs a few
// nanoseconds.
func CheckFloatEnv() error { return floatenv.Check() }

// fusing is a factor whose square, 1 + 2^-11 + 2^-24, loses its last term when it is rounded. Adding the negated
// rounded square gives zero, but 2^-24 if product and sum were fused.
const fusing = 1 + 0x1p-12

// selfCheck runs the kernel of a level on values that reveal fused multiply-add, or a process that flushes denormals.
// Flags and libraries that this module does not control can cause both, and either would change results silently. If
// the environment of the thread is already altered it returns ErrFloatEnv: then the level is not at fault.
func selfCheck(l Level) error {
	if l == Go {
		return nil
	}
	const n = 37 // two of the widest vectors, and a tail
	var pos, vel [n]float32
	for i := range pos {
		pos[i], vel[i] = -(1 + 0x1p-11), fusing
	}
	integrateC(l, pos[:], vel[:], fusing, nil)
	for i, got := range pos {
		if got != 0 {
			return fmt.Errorf("level %s fuses multiply and add (lane %d: %g): %w", l, i, got, ErrUnsupported)
		}
	}
	if err := CheckFloatEnv(); err != nil {
		return err
	}
	for i := range pos {
		pos[i], vel[i] = 0, math.Float32frombits(0x00800000) // smallest normal
	}
	integrateC(l, pos[:], vel[:], 0.5, nil)
	for i, got := range pos {
		if math.Float32bits(got) != 0x00400000 {
			return fmt.Errorf("level %s flushes denormals (lane %d: %g): %w", l, i, got, ErrUnsupported)
		}
	}
	return nil
}
