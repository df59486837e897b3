package replica

import (
	"cmp"
	"time"
)

const (
	defaultSessions        = 4096
	defaultFrameBytes      = 64 << 10
	defaultFramesPerSecond = 240
	defaultBytesPerSecond  = 256 << 10
	defaultLead            = 240
	defaultResume          = 30 * time.Second
	defaultSlowTicks       = 60

	mostSessions   = 1 << 24
	mostFrameBytes = 1 << 30
	mostPerSecond  = 1 << 30
	mostResume     = 1000 * 24 * time.Hour

	second = int64(time.Second)
	// burst is how much of a rate may come at once: that of two seconds, as after a stall of the network.
	burst = 2 * second
	// resyncsPerSecond is how many Resync frames a client may send, on average. Each costs a Keyframe.
	resyncsPerSecond = 8
)

func (l Limits) withDefaults() Limits {
	l.Sessions = cmp.Or(l.Sessions, defaultSessions)
	l.FrameBytes = cmp.Or(l.FrameBytes, defaultFrameBytes)
	l.FramesPerSecond = cmp.Or(l.FramesPerSecond, defaultFramesPerSecond)
	l.BytesPerSecond = cmp.Or(l.BytesPerSecond, defaultBytesPerSecond)
	l.Lead = cmp.Or(l.Lead, defaultLead)
	l.Resume = cmp.Or(l.Resume, defaultResume)
	return l
}

// bucket is a token bucket: it limits a rate to perSecond units, with room for a burst. Times are in ns on
// any axis; one that goes back allows nothing more.
type bucket struct {
	perSecond int
	paid      int64 // when all that was taken will have been paid for
}

// take takes n units, at most mostFrameBytes, or nothing if they are not allowed.
func (b *bucket) take(now int64, n int) bool {
	paid := max(b.paid, now) + int64(n)*second/int64(b.perSecond)
	if paid-now > burst {
		return false
	}
	b.paid = paid
	return true
}

// window remembers which sequence numbers have arrived: the greatest, and which of the 64 up to it.
// All older ones count as arrived.
type window struct {
	greatest uint64
	seen     uint64 // bit i: greatest - i
}

// has reports whether a number has arrived.
func (w *window) has(seq uint64) bool {
	if seq > w.greatest {
		return false
	}
	age := w.greatest - seq
	return age >= 64 || w.seen>>age&1 != 0
}

// add adds a number that has arrived.
func (w *window) add(seq uint64) {
	if seq > w.greatest {
		w.seen = w.seen<<min(seq-w.greatest, 64) | 1
		w.greatest = seq
	} else if age := w.greatest - seq; age < 64 {
		w.seen |= 1 << age
	}
}
