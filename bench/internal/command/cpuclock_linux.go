package command

import (
	"syscall"
	"time"
	"unsafe"
)

// CLOCK_MONOTONIC, CLOCK_PROCESS_CPUTIME_ID and CLOCK_THREAD_CPUTIME_ID.
const (
	monotonicClock = 1
	processClock   = 2
	threadClock    = 3
)

// ThreadTime returns the CPU time of the calling thread, and whether the system reports it.
func ThreadTime() (time.Duration, bool) { return readClock(threadClock) }

// ProcessTime returns the CPU time of all threads together.
func ProcessTime() (time.Duration, bool) { return readClock(processClock) }

// SystemTime returns the monotonic time by a system call, which none of the measured clocks uses;
// -1 where there is none.
func SystemTime() time.Duration {
	at, ok := readClock(monotonicClock)
	if !ok {
		return -1
	}
	return at
}

func readClock(clock uintptr) (time.Duration, bool) {
	var at syscall.Timespec
	_, _, errno := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clock, uintptr(unsafe.Pointer(&at)), 0)
	return time.Duration(at.Nano()), errno == 0
}
