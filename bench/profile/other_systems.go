//go:build !linux

package profile

import (
	"fmt"
	"runtime"

	"github.com/evertick/evertick/internal/fault"
)

// Pin binds the calling goroutine to its thread, and that thread to a CPU, on Linux. Here it
// returns evertick.ErrUnsupported.
func Pin(cpu int) (undo func(), err error) {
	return nil, fault.Field(fault.ErrUnsupported, "profile: Pin: cpu", cpu)
}

func thisNoise() Noise { return unknownNoise() }

func threadID() int { return 0 }

func openPerf() (eventSource, error) {
	return nil, fmt.Errorf("not on %s: %w", runtime.GOOS, fault.ErrUnsupported)
}
