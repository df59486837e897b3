package native

import (
	"fmt"
	"math"
)

// fusing is a factor whose square, 1 + 2^-11 + 2^-24, loses its last term when
// it is rounded: adding the negated rounded square gives zero, unless product
// and sum were fused, which gives 2^-24.
const fusing = 1 + 0x1p-12

// selfCheck runs a level's kernel over values that betray a compiler that fused
// multiply and add, or a process that flushes denormals: both happen through
// flags and libraries that this module does not control, and each would change
// results silently. In a thread whose environment is altered already it returns
// ErrFloatEnv: then the level is not at fault.
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
