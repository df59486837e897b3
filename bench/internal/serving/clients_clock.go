package serving

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/evertick/evertick/bench/internal/command"
	"github.com/evertick/evertick/loop"
)

// sharedTime is the time on a clock that all processes of a machine share, in nanoseconds.
func sharedTime() int64 {
	if at := command.SystemTime(); at >= 0 {
		return int64(at)
	}
	return time.Now().UnixNano()
}

// sharedClock is sharedTime since begin, and 0 before: a Server that is made before has its times since begin. So
// the process of the clients, which knows when that was, can compare them with its own.
type sharedClock struct {
	began atomic.Int64
	sleep loop.SystemClock
}

func (c *sharedClock) begin() int64 {
	at := sharedTime()
	c.began.Store(at)
	return at
}

// Now implements loop.Clock.
func (c *sharedClock) Now() int64 {
	if began := c.began.Load(); began != 0 {
		return sharedTime() - began
	}
	return 0
}

// Sleep implements loop.Clock.
func (c *sharedClock) Sleep(ctx context.Context, untilNs int64) error {
	return c.sleep.Sleep(ctx, c.sleep.Now()+untilNs-c.Now())
}
