package replica

import (
	"cmp"
	"math/bits"
	"time"
)

const (
	defaultSessions        = 4096
	defaultFrameBytes      = 64 << 10
	defaultFramesPerSecond = 240
	defaultBytesPerSecond  = 256 << 10
	bytesPerTick           = 4 << 10
	defaultLead            = 240
	defaultResume          = 30 * time.Second
	defaultSlowTicks       = 60

	mostSessions     = 1 << 24
	mostMessageBytes = 1 << 30
	mostPerSecond    = 1 << 30
	mostResume       = 1000 * 24 * time.Hour

	second = int64(time.Second)
	// burst is how much of a rate may come at once: as much as in two seconds, as after a stall of the network.
	burst = 2 * second
	// resyncsPerSecond is how many Resync messages a client may send, on average. Each costs a Keyframe.
	resyncsPerSecond = 8
)

// withDefaults sets the limits that are 0. hz is the number of ticks a second: an honest client sends up to an input, an
// acknowledgement and a Look in each, and now and then a Ping.
func (l Limits) withDefaults(hz float64) Limits {
	l.Sessions = cmp.Or(l.Sessions, defaultSessions)
	l.FrameBytes = cmp.Or(l.FrameBytes, defaultFrameBytes)
	l.FramesPerSecond = cmp.Or(l.FramesPerSecond, max(defaultFramesPerSecond, int(min(4*hz, mostPerSecond))))
	l.BytesPerSecond = cmp.Or(l.BytesPerSecond, max(defaultBytesPerSecond, int(min(bytesPerTick*hz, mostPerSecond))))
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

// take takes n units, at most mostMessageBytes, or nothing if they are not allowed.
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

// add adds a number that has arrived. It returns how many of those that are now out of the window have not.
func (w *window) add(seq uint64) (lost uint64) {
	if seq > w.greatest {
		by := seq - w.greatest
		missing := ^w.seen
		if w.greatest < 64 { // numbers begin with 1
			missing &= 1<<w.greatest - 1
		}
		if by < 64 {
			missing >>= 64 - by
		}
		lost = uint64(bits.OnesCount64(missing))
		if by > 64 {
			lost += by - 64
		}
		w.seen = w.seen<<min(seq-w.greatest, 64) | 1
		w.greatest = seq
	} else if age := w.greatest - seq; age < 64 {
		w.seen |= 1 << age
	}
	return lost
}
