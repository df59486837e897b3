//go:build !linux

package profile

import (
	"fmt"
	"runtime"
)

func threadID() int { return 0 }

func openPerf() (eventSource, error) {
	return nil, fmt.Errorf("not on %s: %w", runtime.GOOS, ErrUnsupported)
}
