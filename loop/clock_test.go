package loop_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evertick/evertick/loop"
)

func TestSystemClock(t *testing.T) {
	var clock loop.SystemClock
	start := clock.Now()
	for i := range int64(5) {
		until := start + i*2_000_000
		if err := clock.Sleep(t.Context(), until); err != nil {
			t.Fatal(err)
		}
		if now := clock.Now(); now < until {
			t.Errorf("woke %d ns early", until-now)
		}
	}
}

func TestSystemClockCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var clock loop.SystemClock
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := clock.Sleep(ctx, 1e18); err != context.DeadlineExceeded {
			t.Errorf("err = %v", err)
		}
		// The timer that was stopped must not cut the next sleep short.
		until := clock.Now() + 5e9
		if err := clock.Sleep(t.Context(), until); err != nil || clock.Now() != until {
			t.Errorf("err = %v, at %d, want %d", err, clock.Now(), until)
		}
		// A context that is done wins over a target that is past.
		if err := clock.Sleep(ctx, 0); err != context.DeadlineExceeded {
			t.Errorf("err = %v", err)
		}
	})
}

func TestSystemClockSleepDoesNotAllocate(t *testing.T) {
	var clock loop.SystemClock
	ctx := t.Context()
	n := testing.AllocsPerRun(20, func() { _ = clock.Sleep(ctx, clock.Now()+1000) })
	if n != 0 {
		t.Errorf("%v allocations per sleep", n)
	}
}

func TestManualClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var clock loop.ManualClock
		woken := make(chan int64, 2)
		for _, until := range []int64{10, 20} {
			go func() {
				if err := clock.Sleep(t.Context(), until); err == nil {
					woken <- until
				}
			}()
		}
		for _, move := range []struct {
			to   int64
			want int
		}{{5, 0}, {-5, 0}, {10, 1}, {0, 0}, {25, 1}} {
			clock.Set(move.to)
			synctest.Wait()
			if len(woken) != move.want {
				t.Errorf("at %d: %d woken, want %d", move.to, len(woken), move.want)
			}
			for range len(woken) {
				<-woken
			}
		}
		clock.Add(5)
		if clock.Now() != 30 {
			t.Errorf("Now = %d", clock.Now())
		}
	})
}

func TestManualClockJump(t *testing.T) {
	clock := loop.ManualClock{Jump: true}
	for _, step := range []struct{ until, want int64 }{{100, 100}, {50, 100}, {101, 101}} {
		if err := clock.Sleep(t.Context(), step.until); err != nil || clock.Now() != step.want {
			t.Errorf("Sleep until %d: at %d, %v", step.until, clock.Now(), err)
		}
	}
}
