package command

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"time"
)

// linePing returns how long a line of the caches takes from one CPU to another and back, in nanoseconds, at this time: some hosts move their virtual CPUs
// between near cores and far ones. 0: there is one CPU.
func linePing() float64 {
	if runtime.GOMAXPROCS(0) < 2 {
		return 0
	}
	var ball struct {
		_    [128]byte
		at   atomic.Int64 // odd: the other goroutine has it
		_    [128]byte
		stop atomic.Bool
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for !ball.stop.Load() {
			if at := ball.at.Load(); at%2 != 0 {
				ball.at.Store(at + 1)
			}
		}
	}()
	// The system may begin with both on one CPU, and then needs some milliseconds to move one.
	const trips, most = 1000, 60 * time.Millisecond
	least := most
	for began := time.Now(); time.Since(began) < most; {
		from, done := time.Now(), 0
		for ; done < trips && time.Since(from) < most/10; done++ {
			at := ball.at.Load() + 1
			for ball.at.Store(at); ball.at.Load() == at && time.Since(began) < most; {
			}
			if ball.at.Load() == at {
				break // the other one has no CPU
			}
		}
		if done == trips {
			least = min(least, time.Since(from))
		}
	}
	ball.stop.Store(true)
	<-done
	return float64(least) / trips
}

// farPing is the ping above which helpers can hardly gain anything, in nanoseconds: near cores have 60 to 130.
const farPing = 250

func pingText(ns float64) string {
	switch {
	case ns == 0:
		return ""
	case ns > 5000:
		return "Other programs had a CPU of this process: no line of the caches came back from it in time.\n"
	}
	return fmt.Sprintf("A line of the caches took %.0f ns from one CPU to the other and back.\n", ns)
}
