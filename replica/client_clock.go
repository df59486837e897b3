package replica

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

const pings = 16 // of which the one with the least round trip counts

// clockSync relates the clock of the client to the server's. A Ping measures the difference with an
// error of at most half its round trip, so the one with the least round trip of the last 16 counts.
// Before the first answer it assumes that, of the last 64 messages, the one that came soonest after its tick
// took no time.
//
// A clock can jump, or stand still while its machine sleeps. An answer says between which two numbers the difference is. If an
// earlier answer excludes all that the newest one allows, a clock has jumped in between, and the earlier one no longer counts. A jump that
// is too small for that is within what the answers leave open: so the estimate is moved into what the last two answers
// allow, if these agree, and its error is measured by that.
type clockSync struct {
	num   float64 // ticks in den ns
	den   float64
	tick  uint64 // reference: completed at a time of the client
	local int64  // that time, if at is 0
	at    int64  // that time in ns of the server
	timed bool   // at is valid: a message has come

	sent    [pings]int64 // times of Pings without an answer; -1: none
	pinged  int          // number of Pings that were sent
	answers []answer     // that count, oldest first
	offset  int64        // the estimate, in ns, once there is an answer
	trip    int64        // twice the greatest error of the estimate, at least the least round trip
}

// answer is what a Pong has measured, in ns.
type answer struct{ trip, offset int64 }

// bounds returns the least and the greatest difference that an answer allows.
func (a answer) bounds() (least, most int64) { return a.offset - a.trip/2, a.offset + (a.trip+1)/2 }

// answered takes an answer. It returns by how many ns the estimate has changed if a clock has jumped, and otherwise 0.
func (s *clockSync) answered(a answer) (jump int64) {
	least, most := a.bounds()
	kept := s.answers[:0]
	last := false // the last answer agrees
	for _, b := range s.answers {
		low, high := b.bounds()
		if last = low <= most && high >= least; last {
			kept = append(kept, b)
		}
	}
	jumped := len(kept) < len(s.answers)
	if len(kept) == pings {
		kept = append(kept[:0], kept[1:]...)
	}
	if last {
		low, high := kept[len(kept)-1].bounds()
		least, most = max(least, low), min(most, high)
	}
	s.answers = append(kept, a)
	fastest := slices.MinFunc(s.answers, func(a, b answer) int { return cmp.Compare(a.trip, b.trip) })
	before := s.offset
	s.offset = max(least, min(fastest.offset, most))
	s.trip = max(fastest.trip, 2*max(s.offset-least, most-s.offset))
	if jumped {
		return s.offset - before
	}
	return 0
}

// welcome begins anew: the server may be another one.
func (s *clockSync) welcome(w *welcome, now int64) {
	*s = clockSync{num: float64(w.rateNum), den: float64(w.rateDen) * 1e9, tick: w.tick, local: now, answers: s.answers[:0]}
	for i := range s.sent {
		s.sent[i] = -1
	}
}

// ended is for a message of a tick that ended at a time of the server, in µs.
func (s *clockSync) ended(tick, at uint64) {
	s.tick, s.at, s.timed = tick, int64(at)*1000, true
}

// now returns the number of ticks that the server has completed at a time of the client, with the part of the
// next one that has passed. soonest is the least time of arrival, less the time of the server, of the last messages.
func (s *clockSync) now(local, soonest int64) float64 {
	from := s.local
	if len(s.answers) > 0 && s.timed {
		from = s.at - s.offset
	} else if s.timed {
		from = s.at + soonest
	}
	ticks := s.ticks(float64(local - from))
	if !(ticks > 0) || ticks > 1<<52 {
		return float64(s.tick)
	}
	return float64(s.tick) + ticks
}

// latency returns the time since a time of the server, in µs, if a Ping was answered.
func (s *clockSync) latency(at uint64, now int64) (int64, bool) {
	return now + s.offset - int64(at)*1000, len(s.answers) > 0
}

// ticks returns the ticks in a time, 0 before the Welcome.
func (s *clockSync) ticks(ns float64) float64 {
	if s.den == 0 {
		return 0
	}
	return ns * s.num / s.den // in this order, so that a second is a whole number of ticks
}

// tickNs returns the length of a tick in ns, 0 before the Welcome.
func (s *clockSync) tickNs() float64 {
	if s.num == 0 {
		return 0
	}
	return s.den / s.num
}

// firstLead returns the lead in ticks before there is a better one.
func (s *clockSync) firstLead() float64 {
	least := int64(0)
	for i, a := range s.answers {
		if i == 0 || a.trip < least {
			least = a.trip
		}
	}
	return s.ticks(float64(least) / 2)
}

// Ping sends a Ping. Its answer improves Client.Offset; one a second is enough. The error wraps
// ErrNoSession or evertick.ErrCapacity.
func (c *Client) Ping() error {
	if !c.live {
		return fmt.Errorf("replica: Ping: %w", ErrNoSession)
	}
	now := c.clock.Now()
	c.out = appendPing(c.out[:0], uint64(now))
	if err := c.send("Ping"); err != nil {
		return err
	}
	c.sync.sent[c.sync.pinged%pings] = now
	c.sync.pinged++
	return nil
}

// receivePong takes the answer to one of the last 16 Pings. Others are ignored.
func (c *Client) receivePong(message []byte, now int64) error {
	t, err := parsePong(message)
	if err != nil {
		return err
	}
	s := &c.sync
	for i, sent := range s.sent {
		if sent < 0 || uint64(sent) != t[0] || t[2] < t[1] || t[2] > math.MaxInt64/2 {
			continue
		}
		s.sent[i] = -1
		t1, t2 := int64(t[1]), int64(t[2])
		jump := s.answered(answer{max(now-sent-(t2-t1), 0), (t1-sent)/2 + (t2-now)/2})
		if s.ticks(math.Abs(float64(jump))) >= 1 {
			c.queue.jumped()
		}
		break
	}
	return nil
}

// Offset returns what to add to a time of ClientConfig.Clock to get the time of the server, in ns since
// it began, and the round trip with which it was measured: the error is at most half of it. It is false
// before the first answer to a Ping on this connection.
//
// The fastest of the last 16 Pings counts. If a clock has jumped or stood still, the bound holds again after the answers to two
// Pings that were sent after that. For this the round trip is that of slower Pings, and at most twice as long, if only such were answered lately.
func (c *Client) Offset() (offset, roundTrip int64, ok bool) {
	return c.sync.offset, c.sync.trip, len(c.sync.answers) > 0
}

// ServerTick estimates the number of ticks that the server has completed now. Before the first answer to
// a Ping it is too low by the time that a message takes. While no messages come, it advances at the rate of the
// server.
func (c *Client) ServerTick() uint64 { return uint64(c.serverTime()) }

// serverTime is ServerTick with the part of the next tick that has passed.
func (c *Client) serverTime() float64 { return c.sync.now(c.clock.Now(), c.play.soonest()) }
