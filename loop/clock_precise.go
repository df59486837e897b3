package loop

import "context"

// PreciseClock is the monotonic clock of package time with a Sleep that ends
// within about a microsecond of its target: it sleeps until a margin before it,
// by the best timer that the system has, and reads the clock without a pause for
// the rest. Its origin is its first use, and the zero value is ready. It serves
// one goroutine, and does not allocate after its first sleep.
//
// On Linux it sleeps by clock_nanosleep to an absolute time of CLOCK_MONOTONIC,
// on a thread whose timer slack is 1 µs meanwhile. Elsewhere, and where the system
// refuses that, it sleeps by a timer of the runtime, with a wider margin; in a
// bubble of testing/synctest, where time stands still for who spins, by nothing
// else. Method tells.
//
// The margin follows how late the timer is on this host: it covers all but one of
// the last 64 sleeps and somewhat more, and is at most 300 µs, or 2 ms with the
// runtime's timers. That bounds what spinning takes: 1.8 % of a CPU at 60 Hz, or
// 12 %.
//
// What bounds the precision: reading the clock takes some 50 ns. A timer that is
// later than the margin makes the frame late by the difference; it is when the
// machine is so busy that the thread has to wait for a CPU, or when the host of a
// virtual machine has its CPU do something else. And who wakes needs one of the
// GOMAXPROCS processors of the runtime: if other goroutines keep all of them at
// work, it waits for one to be free.
type PreciseClock struct {
	mono   monotonic
	native nativeSleep
	margin margin
}

const (
	nativeMargin = 300_000   // ns
	timerMargin  = 2_000_000 // ns: timers are late by 1 ms, and somewhat more

	// nativeMost is the longest sleep, in nanoseconds, by the system's own call. It
	// bounds how long a context is not looked at, and stays below the 10 ms after
	// which the runtime takes the processor away from who is in a call: see
	// nativeSleep.sleep. Two of them make a frame of 60 Hz.
	nativeMost = 8_500_000
)

// Now returns the nanoseconds since the first use of c.
func (c *PreciseClock) Now() int64 { return c.mono.now() }

// Sleep implements [Clock]. It never wakes early. A context that is done ends it
// within 10 ms, and at once where it sleeps by a timer.
func (c *PreciseClock) Sleep(ctx context.Context, untilNs int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if untilNs <= 0 { // before the origin: less a margin it could overflow
		return nil
	}
	if !c.mono.moves() {
		return c.mono.wait(ctx, untilNs)
	}
	for slept := false; ; slept = true {
		now := c.mono.now()
		wake := untilNs - c.margin.lead(c.limit(), untilNs-now)
		if wake <= now {
			if !slept {
				c.margin.spun(c.limit())
			}
			return c.mono.spin(ctx, untilNs)
		}
		if err := c.sleep(ctx, now, wake); err != nil {
			return err
		}
	}
}

// sleep sleeps once, until wake or less, and learns from how late it wakes.
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
	c.margin.add(c.mono.now() - wake)
	return ctx.Err()
}

// limit is the longest margin.
func (c *PreciseClock) limit() int64 {
	if c.native.refused {
		return timerMargin
	}
	return nativeMargin
}

// Method implements [PacingClock].
func (c *PreciseClock) Method() string {
	switch {
	case !c.mono.moves():
		return methodTimer
	case c.native.missing():
		return methodTimerSpin
	}
	return methodNanosleep
}

// margin is how long before its target a sleep should end so that it seldom ends
// behind it. The zero value has seen no sleep.
type margin struct {
	late   [64]int64 // by which the last sleeps ended too late, ns
	sleeps int
	need   int64 // what the second greatest of late asks for
}

// marginReserve is what the margin exceeds the lateness seen by, besides a quarter
// of it, in nanoseconds: the way from the system's sleep to the reading of the
// clock.
const marginReserve = 5_000

// lead returns the margin for a wait of left nanoseconds, at most limit. Until
// enough was seen it is limit, but half of a shorter wait, or else at rates whose
// waits are shorter than the limit nothing would ever be seen.
func (m *margin) lead(limit, left int64) int64 {
	if m.sleeps < len(m.late) {
		return min(limit, max(left/2, limit/4))
	}
	return min(m.need, limit)
}

// spun tells that there was no sleep, since the margin took the whole wait. That
// must not last for ever because sleeps ended late once: each time the margin
// shrinks by as much as makes it sleep, and see, again after a few hundred.
func (m *margin) spun(limit int64) {
	m.need = min(m.need, limit)
	m.need -= m.need / 512
}

// add takes in that a sleep ended late by ns.
func (m *margin) add(ns int64) {
	m.late[m.sleeps%len(m.late)] = ns
	m.sleeps++
	var first, second int64 // a single one may be an accident
	for _, ns := range m.late {
		switch {
		case ns > first:
			first, second = ns, first
		case ns > second:
			second = ns
		}
	}
	m.need = second + second/4 + marginReserve
}
