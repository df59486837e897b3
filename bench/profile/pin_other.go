//go:build !linux

package profile

import "github.com/evertick/evertick/internal/fault"

// Pin binds the calling goroutine to its thread, and that thread to a CPU, on Linux. Here it
// is ErrUnsupported.
func Pin(cpu int) (undo func(), err error) {
	return nil, fault.Field(ErrUnsupported, "profile: Pin: cpu", cpu)
}
