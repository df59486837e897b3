package main

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

// threadTime returns the time for which the calling thread has run, and whether the
// system tells.
func threadTime() (time.Duration, bool) { return cpuTime(threadClock) }

// processTime returns the time for which all threads together have run.
func processTime() (time.Duration, bool) { return cpuTime(processClock) }

// systemTime returns the monotonic time by a call of the system, which nothing that is measured by it
// reads; -1 where there is none.
func systemTime() time.Duration {
	at, ok := cpuTime(monotonicClock)
	if !ok {
		return -1
	}
	return at
}

func cpuTime(clock uintptr) (time.Duration, bool) {
	var at syscall.Timespec
	_, _, errno := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clock, uintptr(unsafe.Pointer(&at)), 0)
	return time.Duration(at.Nano()), errno == 0
}
