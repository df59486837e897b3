package loop

import (
	"math"
	"runtime"

	"golang.org/x/sys/unix"
)

// nativeSleep sleeps by clock_nanosleep. The zero value is ready.
type nativeSleep struct {
	refused    bool  // the system has no such call for us
	calibrated bool  // offset is known
	offset     int64 // of CLOCK_MONOTONIC to the clock, which runs at its pace, ns
}

// slackNs is the timer slack asked for, in nanoseconds. The default of 50 µs lets the
// system delay a wake-up by that much, to handle several together.
const slackNs = 1000

// unavailable reports whether the system lacks the call, as far as is known.
func (s *nativeSleep) unavailable() bool { return s.refused }

// sleep returns true when the clock reads wake or somewhat later; false, at once,
// if the system refuses.
func (s *nativeSleep) sleep(mono *monotonic, wake int64) bool {
	if !s.calibrated && !s.calibrate(mono) {
		s.refused = true
		return false
	}
	until := unix.NsecToTimespec(wake + s.offset)
	// A goroutine that is in system calls for 10 ms without yielding loses its
	// processor. From then on the runtime's monitor checks every 20 µs whether that
	// happens again, which takes more CPU than the spinning.
	runtime.Gosched()
	// The slack belongs to the thread: no other goroutine may run with it, and it
	// must be restored.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	old, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0)
	if err == nil && old > slackNs && unix.Prctl(unix.PR_SET_TIMERSLACK, slackNs, 0, 0, 0) == nil {
		defer func() { _ = unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(old), 0, 0, 0) }()
	}
	for {
		switch err := unix.ClockNanosleep(unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, &until, nil); err {
		case nil:
			return true
		case unix.EINTR: // a signal of the runtime: sleep again, to the same target
		default:
			s.refused = true
			return false
		}
	}
}

// calibrate finds the offset from several pairs of readings, by the pair that lies
// closest together: the thread may be interrupted between any two readings.
func (s *nativeSleep) calibrate(mono *monotonic) bool {
	best := int64(math.MaxInt64)
	for range 8 {
		var ts unix.Timespec
		before := mono.now()
		if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
			return false
		}
		after := mono.now()
		if after-before < best {
			best, s.offset = after-before, ts.Nano()-before-(after-before)/2
		}
	}
	s.calibrated = true
	return true
}
