package pace

import (
	"runtime"
	"testing"
	"time"
)

// SleepUntil ends at its time or later, and at once if that has passed.
func TestSleepUntil(t *testing.T) {
	for _, d := range []time.Duration{0, -time.Hour, time.Millisecond, 20 * time.Millisecond} {
		at := Now() + d
		if SleepUntil(at); Now() < at {
			t.Errorf("%v: it ended %v early", d, at-Now())
		}
	}
}

// LeaveCPU leaves a thread with the CPUs that it may use, and where there are several, on another one.
func TestLeaveCPU(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	LeaveCPU(-1)
	LeaveCPU(1 << 20)
	for range 20 {
		cpu := CPU()
		LeaveCPU(cpu)
		if cpu < 0 {
			t.Skip("not run: the system does not say which CPU runs a thread")
		}
	}
	counts := map[int]int{}
	for range 200 {
		LeaveCPU(CPU())
		counts[CPU()]++
	}
	if runtime.NumCPU() > 1 && len(counts) < 2 {
		t.Errorf("it stayed on one CPU: %v", counts)
	}
}
