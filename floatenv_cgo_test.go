//go:build cgo && (amd64 || arm64)

package evertick_test

import (
	"runtime"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/csrc"
)

// stepFlushing steps in a thread that flushes denormals, as a library built
// with -ffast-math would leave it.
func stepFlushing(s *evertick.Sim) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	csrc.FlushDenormals(true)
	defer csrc.FlushDenormals(false)
	return s.Step()
}

// After ErrFloatEnv the state is that of a Sim that never met it.
func TestAlteredFloatEnv(t *testing.T) {
	disturbed, twin := newSim(t, small()), newSim(t, small())
	for _, s := range []*evertick.Sim{disturbed, twin} {
		wander(t, s, 10)
		step(t, s, 5)
	}
	for range 2 {
		wantError(t, stepFlushing(disturbed), evertick.ErrFloatEnv, "tick 5", "denormals")
	}
	if disturbed.Ticks() != 5 || disturbed.Hash() != twin.Hash() {
		t.Errorf("the refused step left tick %d and hash %x, want 5 and %x", disturbed.Ticks(), disturbed.Hash(), twin.Hash())
	}
	step(t, disturbed, 5)
	step(t, twin, 5)
	if disturbed.Ticks() != 10 || disturbed.Hash() != twin.Hash() {
		t.Errorf("tick %d and hash %x, the undisturbed twin has %d and %x",
			disturbed.Ticks(), disturbed.Hash(), twin.Ticks(), twin.Hash())
	}
}
