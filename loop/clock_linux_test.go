package loop_test

import (
	"context"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/evertick/evertick/loop"
)

// A sleep gives the timer slack of its thread back.
func TestPreciseClockRestoresTheTimerSlack(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	slack := func() int {
		ns, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0)
		if err != nil {
			t.Skip("not run: this system does not report the timer slack:", err)
		}
		return ns
	}
	before := slack()
	if err := unix.Prctl(unix.PR_SET_TIMERSLACK, 77_000, 0, 0, 0); err != nil {
		t.Skip("not run: this system does not set the timer slack:", err)
	}
	defer func() { _ = unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(before), 0, 0, 0) }()
	var clock loop.PreciseClock
	if err := clock.Sleep(t.Context(), clock.Now()+2_000_000); err != nil {
		t.Fatal(err)
	}
	if ns := slack(); ns != 77_000 {
		t.Errorf("slack %d ns after a sleep, it was 77000", ns)
	}
}

// Signals cut sleeps short; the targets stand.
func TestPreciseClockUnderSignals(t *testing.T) {
	done := make(chan struct{})
	var senders sync.WaitGroup
	senders.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
				_ = syscall.Kill(syscall.Getpid(), syscall.SIGURG) // the runtime ignores it if it did not send it
				time.Sleep(200 * time.Microsecond)
			}
		}
	})
	var clock loop.PreciseClock
	for _, ctx := range []context.Context{t.Context(), context.Background()} {
		for range 20 {
			until := clock.Now() + 3_000_000
			if err := clock.Sleep(ctx, until); err != nil || clock.Now() < until {
				t.Errorf("%v, %d ns early", err, until-clock.Now())
			}
		}
	}
	close(done)
	senders.Wait()
	if clock.Method() != "clock_nanosleep and spin" {
		t.Error(clock.Method())
	}
}
