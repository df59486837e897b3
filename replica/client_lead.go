package replica

import (
	"math"
	"time"
)

const (
	leastLead   = -16      // ticks
	mostLead    = 240      // the default of Limits.Lead
	leadMargin  = 1.0 / 8  // ticks
	leadFall    = 1.0 / 16 // ticks
	leadWindow  = 128      // inputs
	lateMinimum = 1        // ticks by which an input that has not arrived counts as late
)

// leadTime finds how long before the server begins a tick the client must send the inputs for it, so that
// about 99 of 100 arrive in time.
//
// When the client sends an input, the tick of the input is ahead of its estimate of the ticks that the server has
// completed. The messages say in which tick the input was applied, and how long it had waited for that. The difference is
// the lead that the input needed: for its way, and for the error of the estimate.
//
//   - The lead is the second largest that an input needed in one of two windows: the last one of 128 inputs,
//     and the present one. It falls by at most 1/16 tick an input, so that the ticks of a client that acts once a tick ascend.
//   - If a tick is completed, and the input for it is not applied, the lead rises at once, by a tick at most.
//     Inputs that were sent before that do not make it rise again.
//   - It begins with half the least round trip. With a margin of 1/8 tick it is -16 to 240 ticks. It may be
//     negative: tick n begins a little before n+1 ticks are completed, and without an answer to a Ping the estimate
//     is too low.
//
// If a clock has jumped, by a tick or more, the leads were measured with a wrong estimate, and it begins anew, with inputs from then on.
//
// If there are several ticks between two messages, an input that waited for less than a tick may have been late,
// and counts as if it was. In mode Simulate the messages do not say how long an input waited: then each
// that was in time counts as if 1/16 tick less would have sufficed. Inputs for tick 0, as soon as possible, do not
// count.
type leadTime struct {
	last, present leadNeeds
	ticks         float64 // the lead without the margin, once a window has an input
	raised        uint64  // number of the last input that was sent when one was found late
	from          uint64  // number of the first input that counts
}

// leadNeeds are the two largest leads, in ticks, that the inputs of a window needed.
type leadNeeds struct {
	n             int
	first, second float64
}

func (w *leadNeeds) add(needed float64) {
	w.n++
	switch {
	case w.n == 1:
		w.first, w.second = needed, needed
	case needed > w.first:
		w.first, w.second = needed, w.first
	case needed > w.second || w.n == 2:
		w.second = needed
	}
}

// now returns the lead in ticks, with the margin.
func (l *leadTime) now(s *clockSync) float64 {
	ticks := l.ticks
	if l.present.n == 0 {
		ticks = s.firstLead()
	}
	return max(leastLead, min(ticks+leadMargin, mostLead))
}

// add counts what an input needed, in ticks.
func (l *leadTime) add(needed float64, s *clockSync) {
	if l.present.n == 0 {
		l.ticks = s.firstLead()
	}
	if l.present.n == leadWindow {
		l.last, l.present = l.present, leadNeeds{}
	}
	l.present.add(needed)
	most := l.present.second
	if l.last.n > 0 {
		most = max(most, l.last.second)
	}
	l.ticks = max(most, l.ticks-leadFall)
}

// applied is for an input that is applied in the state after a number of ticks.
func (l *leadTime) applied(in *intent, waited float64, tick, every uint64, s *clockSync) {
	if in.seq < l.from {
		return
	}
	late := float64(tick-1) - float64(in.tick) // if there is a message for each tick
	switch {
	case waited < 0 && late > 0:
		waited = 0
	case waited < 0:
		waited = leadMargin + leadFall
	case waited >= 1 || late < 0:
		late = 0 // more than the time between two ticks: it was there before its tick
	}
	l.add(in.ahead+late-waited, s)
}

// late is for an input that is not applied in the state after a number of ticks, although its tick has run.
// sent is the number of the last input that was sent.
func (l *leadTime) late(in *intent, sent, tick uint64, s *clockSync) {
	if in.seq <= l.raised {
		return
	}
	l.raised = sent
	lead := l.now(s) - leadMargin
	needed := in.ahead + float64(tick-1-in.tick) + lateMinimum
	for range 2 { // so that it counts at once
		l.add(min(max(lead, needed), lead+1), s)
	}
}

// Aim returns the tick for the next input, and how long the client may wait before it sends that input, so
// that it still arrives in time. Aim measures how long inputs take, and uses the estimate of the server's
// time: see Client.Ping. To have an input in each tick, with the least delay, wait, read what the player
// does, pass it to Input with that tick, and begin again. An input that is sent at once arrives early.
func (c *Client) Aim() (tick uint64, wait time.Duration) {
	now := c.serverTime() + c.queue.lead.now(&c.sync)
	next := max(1, math.Floor(now)+1)
	return uint64(next), time.Duration((next - now) * c.sync.tickNs())
}
