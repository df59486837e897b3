package replica

import "github.com/evertick/evertick/loop"

// Stats are counts of a Server since New, and what it holds now.
type Stats struct {
	Connected, Waiting int // sessions now, with and without a connection

	Joined  uint64 // sessions that began
	Resumed uint64 // connections that resumed a session
	Refused uint64 // connections that Join refused
	Ended   uint64 // sessions that ended
	Slow    uint64 // connections that ended with TooSlow
	Bad     uint64 // connections that ended with BadFrame
	Fast    uint64 // connections that ended with TooFast

	Updates   uint64 // send ticks
	Skipped   uint64 // send ticks at which nothing was sent, since the messages of an earlier one still were
	Late      uint64 // send ticks whose last message was sent after the next one was due
	Faults    uint64 // send ticks at which messages could not be made
	Fault     error  // of the last of them
	NotTaken  uint64 // messages that connections refused
	Received  Traffic
	Keyframe  Traffic
	Update    Traffic
	Snapshot  Traffic
	Inputs    Traffic // messages of that kind
	Keyframes KeyframeCauses
	Intents   IntentStats

	// InputToApplied is the time between the arrival of an input and the beginning of the tick that
	// applied it.
	InputToApplied loop.Histogram
	// TickToSent is the time between the end of a tick and the end of sending its messages.
	TickToSent loop.Histogram
	// Capture copies the state, on the goroutine of the Sim. Views finds out what each client sees, Encode
	// makes the messages, and Send passes them to the connections.
	Capture, Views, Encode, Send Phase
}

// Traffic counts messages, and bytes without what the transport adds.
type Traffic struct{ Frames, Bytes uint64 }

func (t *Traffic) add(bytes int) {
	t.Frames++
	t.Bytes += uint64(bytes)
}

func (t *Traffic) addAll(o Traffic) {
	t.Frames += o.Frames
	t.Bytes += o.Bytes
}

// KeyframeCauses counts the Keyframes that were sent.
type KeyframeCauses struct {
	Join   uint64 // to new sessions
	Resume uint64 // to resumed sessions whose state was too old for an Update
	Resync uint64 // because the client asked for one
	Lost   uint64 // because the base was too old or is not acknowledged yet, or the Sim went back to an earlier tick
}

// IntentStats counts inputs of clients.
type IntentStats struct {
	Pushed    uint64 // accepted by Sim.Push
	Duplicate uint64 // dropped: the number had arrived, or was more than 63 below the greatest one
	Early     uint64 // dropped: for a tick beyond Limits.Lead
	Refused   uint64 // dropped: Sim.Push refused them, or the session only watches
	Late      uint64 // of those pushed: applied at a tick after their own
	Lost      uint64 // never taken, since they did not arrive or were dropped as Early or Refused: counted when the number is 64 below the greatest one
}

// Phase is the time of a part of a send tick in ns.
type Phase struct {
	Last, Total int64
	Times       loop.Histogram
}

func (p *Phase) add(ns int64) {
	p.Last = ns
	p.Total += ns
	p.Times.Add(ns)
}

// SessionStats are counts of a session since it began.
type SessionStats struct {
	Connected bool
	Received  Traffic
	Sent      Traffic // Keyframes, Updates, Snapshots and Inputs
	NotTaken  uint64  // messages that the connection refused
	Keyframes uint64
	Intents   IntentStats
	// Sequence is the greatest number of its inputs, Applied the greatest that a tick has applied, and
	// ResidenceUs the µs between the arrival of that one and the beginning of the tick.
	Sequence, Applied, ResidenceUs uint64
	// Arrivals says how early and late the inputs arrive, if Config.Inputs.Arrivals of the Sim measures
	// that; otherwise it is empty.
	Arrivals loop.SourceStats
}

// Stats copies the counts to dst, from any goroutine.
func (s *Server) Stats(dst *Stats) {
	s.statsMu.Lock()
	*dst = s.stats
	s.statsMu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	dst.Connected = int(s.connected.Load())
	dst.Waiting = len(s.sessions) - dst.Connected
}

// count changes the counts.
func (s *Server) count(f func(*Stats)) {
	s.statsMu.Lock()
	defer s.statsMu.Unlock()
	f(&s.stats)
}

// Stats returns the counts of the session, from any goroutine.
func (c *Session) Stats() SessionStats {
	ses := c.session
	ses.mu.Lock()
	st := ses.stats
	st.Connected = ses.current != nil
	st.Sequence = ses.window.greatest
	ses.mu.Unlock()
	if a := ses.server.sim.Config().Inputs.Arrivals; a != nil {
		st.Arrivals, _ = a.Source(ses.number)
	}
	return st
}
