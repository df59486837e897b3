package profile

import (
	"runtime"
	"sync"

	"github.com/evertick/evertick/internal/fault"
	"golang.org/x/sys/unix"
)

// maxCPU is the number of CPUs that a unix.CPUSet has room for.
const maxCPU = 1024

// Pin binds the calling goroutine to its thread, and that thread to a CPU, until the same goroutine
// calls undo. A thread that moves between CPUs finds its caches cold. Other threads, those of the
// garbage collector and of workers among them, are not bound.
//
// It returns evertick.ErrRange for a CPU that this process may not use, and evertick.ErrUnsupported except on Linux.
func Pin(cpu int) (undo func(), err error) {
	if cpu < 0 || cpu >= maxCPU {
		return nil, fault.Field(fault.ErrRange, "profile: Pin: cpu", cpu)
	}
	runtime.LockOSThread()
	var was, only unix.CPUSet
	if err := unix.SchedGetaffinity(0, &was); err != nil {
		runtime.UnlockOSThread()
		return nil, fault.Field(err, "profile: Pin: cpu", cpu)
	}
	if !was.IsSet(cpu) {
		runtime.UnlockOSThread()
		return nil, fault.Field(fault.ErrRange, "profile: Pin: cpu", cpu)
	}
	only.Set(cpu)
	if err := unix.SchedSetaffinity(0, &only); err != nil {
		runtime.UnlockOSThread()
		return nil, fault.Field(err, "profile: Pin: cpu", cpu)
	}
	return sync.OnceFunc(func() {
		// It fails only if these CPUs no longer exist, and then the system chooses.
		_ = unix.SchedSetaffinity(0, &was)
		runtime.UnlockOSThread()
	}), nil
}

// pinnedTo returns the CPU that the calling thread is bound to, or -1.
func pinnedTo() int {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil || set.Count() != 1 {
		return -1
	}
	for cpu := range maxCPU {
		if set.IsSet(cpu) {
			return cpu
		}
	}
	return -1
}
