package loop

import (
	"context"
	"sync"
)

// PreciseClock is the monotonic clock of package time with a Sleep that ends
// within about a microsecond of its target: it sleeps until a margin before it,
// by the best timer that the system has, and reads the clock without a pause for
// the rest. Its origin is its first use, and the zero value is ready. It serves
// one goroutine, and does not allocate after its first sleep.
//
// On Linux it sleeps by clock_nanosleep to an absolute time of CLOCK_MONOTONIC, on a thread whose timer
// slack it sets to 1 µs meanwhile. Elsewhere, and where the system refuses that, it sleeps by a timer
// of the runtime, with a wider margin. In a bubble of testing/synctest, where time does not pass for a
// goroutine that spins, and on js and wasip1 (see [Pacing.Effective]), it only sleeps by a timer.
// Method reports which way it uses.
//
// The margin follows how late sleeps end on this host: it covers most of the last 128 of them. Spinning
// for it takes no more of a CPU than SpinBudget. At 60 Hz the default suffices for hosts that wake
// sleepers 0.6 ms late. Sleeping and waking take about half a per cent besides. Where the machine wakes
// sleepers so late that the budget does not suffice, frames are late by the rest: Lateness reports what
// would be needed.
//
// What bounds the precision: reading the clock takes some 50 ns. If a sleep ends
// later than the margin allows, the frame is late by the difference. That happens
// when the machine is so busy that the thread has to wait for a CPU, or when the
// host of a virtual machine gives its CPU to something else. And the goroutine that
// wakes needs one of the GOMAXPROCS processors of the runtime: if other goroutines
// keep all of them busy, it waits until one is free.
type PreciseClock struct {
	// SpinBudget is the part of a CPU that spinning may take, in thousandths, over any few seconds: 1
	// to 1000. Other values count as the nearest of these. 0 means 40. Set it before the first use.
	SpinBudget int

	mono   monotonic
	native nativeSleep
	margin margin

	rehearsal rehearsal

	mu     sync.Mutex
	learnt WakeLateness // at the end of the last wait
}

const (
	// nativeMost is the longest sleep, in nanoseconds, by the system's own call. It bounds the time
	// between two checks of a context. It stays below the 10 ms after which the runtime takes the
	// processor from a thread in a system call: see nativeSleep.sleep. Two of them make a frame of 60
	// Hz.
	nativeMost = 8_500_000
)

// Now returns the nanoseconds since the first use of c.
func (c *PreciseClock) Now() int64 { return c.mono.now() }

// Sleep implements [Clock]. It never wakes early. A context that is done ends it
// within 10 ms, and at once where it sleeps by a timer.
func (c *PreciseClock) Sleep(ctx context.Context, untilNs int64) error {
	return c.SleepRehearsing(ctx, untilNs, nil)
}

// SleepRehearsing is Sleep that calls rehearse, once at most, between the end of the sleep and the
// target, in time that it would spend spinning. rehearse brings into the caches of the CPU what runs at
// the target. SpinBudget covers both. The call is left out where there is no time: when the sleep ended
// late, when rehearse takes longer than the budget affords, and where time does not pass. nil: no call.
func (c *PreciseClock) SleepRehearsing(ctx context.Context, untilNs int64, rehearse func()) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if untilNs <= 0 { // before the origin: subtracting a margin could overflow
		return nil
	}
	if !c.mono.advances() {
		return c.mono.wait(ctx, untilNs)
	}
	c.margin.budget = int64(c.SpinBudget)
	least := int64(0)
	if rehearse != nil && untilNs > c.mono.now() {
		least = c.rehearsal.leadTime(&c.margin)
	}
	for slept := false; ; slept = true {
		now := c.mono.now()
		wake := untilNs - c.margin.lead(untilNs-now, least)
		if wake <= now {
			if least > 0 && c.rehearsal.fits(untilNs-now) {
				rehearse()
				c.rehearsal.observe(c.mono.now() - now)
			}
			if err := c.mono.spin(ctx, untilNs); err != nil {
				return err
			}
			c.margin.endWait(max(now, untilNs), max(0, untilNs-now), slept)
			c.publish()
			return nil
		}
		if err := c.sleep(ctx, now, wake); err != nil {
			return err
		}
	}
}

// sleep sleeps once, until wake or less, and records how late it wakes.
func (c *PreciseClock) sleep(ctx context.Context, now, wake int64) error {
	if c.native.refused {
		if err := c.mono.wait(ctx, wake); err != nil {
			return err
		}
	} else {
		wake = min(wake, now+nativeMost)
		if !c.native.sleep(&c.mono, wake) {
			c.margin = margin{}
			return nil
		}
	}
	c.margin.observe(c.mono.now() - wake)
	return ctx.Err()
}

// WakeLateness says how late the last 128 sleeps of a PreciseClock ended.
type WakeLateness struct {
	// P50Ns and P95Ns are quantiles by which sleeps ended late, in nanoseconds.
	P50Ns, P95Ns int64
	// MarginNs is how long before their targets sleeps are to end, in nanoseconds.
	MarginNs int64
	// NeededCPU is the share of a CPU that spinning has to take at the present rate of waits so that
	// 95 in 100 of them end no more than 20 µs late; 1 or more says that spinning alone cannot do it.
	NeededCPU float64
}

// Lateness returns the figures as of the end of the last wait; zeros before the first sleeps. Any
// goroutine may call it, also while another one sleeps. To read the figures of a Run, make the clock
// and pass it: in Runner.Clock, to Loop.Run, or in Config.Clock of package evertick. A Run without a
// clock from its caller makes its own, with the SpinBudget of Config.
func (c *PreciseClock) Lateness() WakeLateness {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.learnt
}

// publish updates what Lateness returns.
func (c *PreciseClock) publish() {
	w := c.margin.lateness()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.learnt = w
}

// Method implements [PacingClock].
func (c *PreciseClock) Method() string {
	switch {
	case !c.mono.advances():
		return methodTimer
	case c.native.unavailable():
		return methodTimerSpin
	}
	return methodNanosleep
}
