package pace

import (
	"runtime"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// longest is for how long SleepUntil is in one system call. From 10 ms on the runtime takes the processor from a thread in a call, and checks every
// 20 µs whether it must do so again.
const longest = 8 * time.Millisecond

// SleepUntil sleeps until Now returns about that. Its timer is one of the CPU that it runs on, where it goes on afterwards: to be woken by another
// thread may put it on the CPU of that one.
func SleepUntil(at time.Duration) {
	for {
		left := at - Now()
		if left <= 0 {
			return
		}
		runtime.Gosched() // it is not in system calls all the time
		t := unix.NsecToTimespec(int64(min(left, longest)))
		_ = unix.Nanosleep(&t, nil) // a signal ends it early
	}
}

// CPU returns the number of the CPU that runs the caller; -1: unknown.
func CPU() int {
	var cpu uint32
	if _, _, err := unix.RawSyscall(unix.SYS_GETCPU, uintptr(unsafe.Pointer(&cpu)), 0, 0); err != 0 {
		return -1
	}
	return int(cpu)
}

// LeaveCPU moves the thread of the caller to another CPU if it is on that one, and may run on others.
func LeaveCPU(cpu int) {
	if cpu < 0 || CPU() != cpu {
		return
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var all unix.CPUSet
	if unix.SchedGetaffinity(0, &all) != nil {
		return
	}
	others := all
	if others.Clear(cpu); others.Count() > 0 && unix.SchedSetaffinity(0, &others) == nil {
		_ = unix.SchedSetaffinity(0, &all) // it may go anywhere again
	}
}
