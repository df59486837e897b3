package replica

import (
	"fmt"

	"github.com/evertick/evertick"
)

const (
	chunkMessages = 32       // messages that are made before they are sent, so that the clock is read twice for all of them
	chunkBytes    = 64 << 10 // after which a chunk ends
	retryEvery    = 8        // messages that a connection refuses in a row before it is tried once in so many send ticks
)

// cause is why a client gets a Keyframe.
type cause uint8

const (
	causeLost cause = iota
	causeJoin
	causeResume
	causeResync
)

// delivery is the work of the goroutine that sends: the connections at the beginning of a send tick, and
// scratch. Server.mu is not locked while it works.
type delivery struct {
	sessions  []*session
	viewing   []*Session
	following []*Session
	viewers   []*viewer // of viewing, and those that rest
	lost      []*Session
	messages  []byte // of a chunk
	ends      []int  // of each message
	at        int64  // when the tick ended
	counts    sendCounts
}

// sendCounts are what one send tick adds to Stats.
type sendCounts struct {
	keyframe, update, snapshot, inputs Traffic
	causes                             [4]uint64
	notTaken                           uint64
}

// beforeTick finds out which inputs of sessions the tick is about to apply. Those of a feed are of sessions
// of another run.
func (s *Server) beforeTick(t *evertick.Tick) error {
	inputs := t.Inputs()
	if len(inputs) == 0 || s.stopped || t.Again() || t.Fed() {
		return nil
	}
	now := s.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range inputs {
		in := &inputs[i]
		ses := s.byNumber[in.Source]
		if ses == nil {
			continue
		}
		ns := ses.apply(in, t.N, now)
		s.count(func(st *Stats) { // not around apply: statsMu is locked after the mutex of a session
			if ns >= 0 {
				st.InputToApplied.Add(ns)
			}
			if in.Tick != 0 && in.Tick < t.N {
				st.Intents.Late++
			}
		})
		if !ses.moved {
			ses.moved = true
			s.moved = append(s.moved, ses)
		}
	}
	return nil
}

// afterTick hands the state to the goroutine that sends, if clients are to get it now. If that is still
// busy nothing is captured, and nothing waits.
func (s *Server) afterTick(t *evertick.Tick) error {
	if s.stopped {
		return nil
	}
	ticks := t.Sim.Ticks()
	s.tick.Store(ticks)
	s.seed.Store(s.sim.Seed())
	s.noteOrigin()
	if !t.Again() {
		if ticks <= s.ran {
			s.goneBack(ticks)
		}
		s.ran = ticks
	}
	s.source.observe()
	now := s.now()
	if now >= s.deadline.Load() {
		s.sweep(now)
	}
	if t.Again() || s.connected.Load() == 0 {
		if !s.busy.Load() {
			s.handOver()
		}
		return nil
	}
	s.stream.capture(t, uint64(now)/1000)
	due := ticks%uint64(s.config.Every) == 0
	switch {
	case !due && s.stream.count.Load() == 0:
		return nil
	case s.busy.Load():
		if due {
			s.count(func(st *Stats) { st.Skipped++ })
		}
		return nil
	}
	if due && !s.capture(ticks, now) {
		return nil
	}
	s.sendTick, s.sending.at = due, now
	s.busy.Store(true)
	if s.config.Inline {
		s.broadcast()
	} else {
		s.wake <- struct{}{}
	}
	return nil
}

// noteOrigin keeps the origin of the Sim for other goroutines.
func (s *Server) noteOrigin() {
	o := s.sim.Origin()
	if last := s.simOrigin.Load(); last == nil || *last != o {
		next := o // allocated here alone
		s.simOrigin.Store(&next)
	}
}

// capture copies the state, and which inputs it is the result of.
func (s *Server) capture(ticks uint64, now int64) bool {
	if !s.source.capture(ticks, uint64(now)/1000) {
		s.count(func(st *Stats) { st.Skipped++ })
		return false
	}
	s.rewound = ticks <= s.newest
	s.newest = ticks
	s.handOver()
	took := s.now() - now
	s.count(func(st *Stats) { st.Capture.add(took) })
	return true
}

// handOver passes to the goroutine that sends, which is idle, the input of each session that was applied last.
func (s *Server) handOver() {
	for _, ses := range s.moved {
		ses.captured, ses.moved = ses.reached, false
	}
	clear(s.moved)
	s.moved = s.moved[:0]
}

// run is the goroutine that sends.
func (s *Server) run() {
	defer close(s.done)
	for range s.wake {
		s.broadcast()
	}
}

// broadcast sends the captured state to each client in mode View, and the inputs since the last time to
// each in mode Simulate.
func (s *Server) broadcast() {
	defer s.busy.Store(false)
	d := &s.sending
	d.counts = sendCounts{}
	s.collect()
	if s.sendTick && len(d.viewers) > 0 {
		s.sendViews()
	}
	for _, c := range d.following {
		s.sendStream(c)
	}
	end := s.now()
	s.count(func(st *Stats) {
		d.counts.addTo(st)
		if s.sendTick {
			st.Updates++
			st.TickToSent.Add(end - d.at)
			if end-d.at >= s.period {
				st.Late++
			}
		}
	})
}

func (n *sendCounts) addTo(st *Stats) {
	st.Keyframe.addAll(n.keyframe)
	st.Update.addAll(n.update)
	st.Snapshot.addAll(n.snapshot)
	st.Inputs.addAll(n.inputs)
	st.Keyframes.Lost += n.causes[causeLost]
	st.Keyframes.Join += n.causes[causeJoin]
	st.Keyframes.Resume += n.causes[causeResume]
	st.Keyframes.Resync += n.causes[causeResync]
	st.NotTaken += n.notTaken
}

// collect lists the connections, and passes what their clients asked for to their viewers. If the Sim has
// gone back, it ends the connections that are not ordered: their clients could not distinguish messages of
// earlier ticks from late ones. A client then connects again, and learns the tick from the Welcome.
func (s *Server) collect() {
	d := &s.sending
	s.mu.Lock()
	before := len(d.sessions)
	d.sessions = append(d.sessions[:0], s.sessions...)
	for _, ses := range s.sessions {
		if s.sendTick && s.rewound {
			ses.rewound = ses.count
		}
	}
	s.mu.Unlock()
	clear(d.sessions[len(d.sessions):max(len(d.sessions), before)])
	d.viewing, d.following, d.viewers = d.viewing[:0], d.following[:0], d.viewers[:0]
	for _, ses := range d.sessions {
		ses.mu.Lock()
		c := ses.current
		switch {
		case c == nil:
		case c.mode == Simulate:
			if !c.started {
				c.started = true
				s.stream.resume(&ses.follower, c.held)
			}
			d.following = append(d.following, c)
		case s.sendTick:
			if s.rewound && !c.ordered {
				d.lost = append(d.lost, c)
				break
			}
			ses.updateViewer(c, s.rewound)
			d.viewers = append(d.viewers, ses.viewer) // also if it backs off: its view moves with what it follows
			if s.backsOff(c) {
				c.refusals++
				break
			}
			d.viewing = append(d.viewing, c)
		}
		ses.mu.Unlock()
	}
	for _, c := range d.lost {
		s.hangUp(c, Closing)
	}
	clear(d.lost)
	d.lost = d.lost[:0]
}

// backsOff reports whether no message is made for a connection in this send tick. A connection that has refused
// retryEvery messages in a row will most likely refuse the next one, too, and the messages get larger, in the end
// Keyframes. So it is tried once in retryEvery send ticks, and not all such connections in the same one.
func (s *Server) backsOff(c *Session) bool {
	next := c.refusals + 1
	last := s.config.Slow == Disconnect && next >= s.config.SlowTicks
	return c.refusals >= retryEvery && !last && (next+int(c.session.number%retryEvery))%retryEvery != 0
}

// updateViewer passes what the client of c asked for to the viewer. mu is locked.
func (ses *session) updateViewer(c *Session, rewound bool) {
	if ses.viewer == nil {
		ses.viewer = newViewer(ses.number, c.ordered)
	}
	v := ses.viewer
	v.mask, v.centre = ses.mask, ses.centre
	switch {
	case !c.started:
		c.started, v.away = true, true
		c.cause = causeJoin
		if c.resumed {
			c.cause = causeResume
		}
		if c.held == 0 || rewound || !v.resume(c.held, c.ordered) {
			v.ordered = c.ordered
			v.reset()
		}
	case rewound:
		ses.acked = 0
		v.reset()
	case ses.resync:
		c.cause = causeResync
		c.appliedSent = 0 // the client may have ignored the message that said it
		v.reset()
	case ses.acked > 0:
		v.acked(ses.acked)
	}
	ses.resync = false
}

// sendViews makes and sends the messages of all viewers.
func (s *Server) sendViews() {
	begin := s.now()
	if err := s.source.begin(s.sending.viewers); err != nil {
		s.count(func(st *Stats) { st.Faults, st.Fault = st.Faults+1, err })
		return
	}
	last := s.now()
	views := last - begin
	var encode, send int64
	for from := 0; from < len(s.sending.viewing); {
		n := s.encodeChunk(from)
		encoded := s.now()
		s.sendChunk(from, n)
		from += n
		encode += encoded - last
		last = s.now()
		send += last - encoded
	}
	s.source.end()
	s.count(func(st *Stats) {
		st.Views.add(views)
		st.Encode.add(encode)
		st.Send.add(send)
	})
}

// encodeChunk makes some messages, from the one of a viewer on, and returns how many.
func (s *Server) encodeChunk(from int) (n int) {
	d := &s.sending
	d.messages, d.ends = d.messages[:0], d.ends[:0]
	for _, c := range d.viewing[from:] {
		if n == chunkMessages || len(d.messages) >= chunkBytes {
			break
		}
		applied := c.session.captured
		applied.present = applied.seq > 0 && (!c.ordered || applied.seq != c.appliedSent)
		d.messages = s.source.append(d.messages, c.session.viewer, applied)
		d.ends = append(d.ends, len(d.messages))
		n++
	}
	return n
}

// sendChunk passes the messages of a chunk to their connections.
func (s *Server) sendChunk(from, n int) {
	d := &s.sending
	start := 0
	for i, c := range d.viewing[from : from+n] {
		message := d.messages[start:d.ends[i]]
		start = d.ends[i]
		if len(message) > 0 { // none: the client has to wait
			s.sendView(c, message)
		}
	}
}

func (s *Server) sendView(c *Session, message []byte) {
	n, v := &s.sending.counts, c.session.viewer
	if !c.conn.Send(message) {
		v.refused()
		s.notTaken(c)
		return
	}
	v.sent()
	c.refusals = 0
	c.appliedSent = c.session.captured.seq
	keyframe := message[0] == kindKeyframe
	if keyframe {
		n.keyframe.add(len(message))
		n.causes[c.cause]++
	} else {
		n.update.add(len(message))
	}
	c.cause = causeLost
	c.session.countSent(Traffic{1, uint64(len(message))}, keyframe)
}

// sendStream sends a client in mode Simulate what it lacks.
func (s *Server) sendStream(c *Session) {
	n, err := s.stream.send(&c.session.follower, c.conn)
	inputs := Traffic{uint64(n.inputs), uint64(n.inputBytes)}
	snapshots := Traffic{uint64(n.snapshots), uint64(n.snapshotBytes)}
	s.sending.counts.inputs.addAll(inputs)
	s.sending.counts.snapshot.addAll(snapshots)
	inputs.addAll(snapshots)
	c.session.countSent(inputs, false)
	switch {
	case err != nil:
		s.hangUp(c, fmt.Errorf("%w: %w", InternalFault, err))
	case n.refused:
		s.notTaken(c)
	default:
		c.refusals = 0
	}
}

func (ses *session) countSent(t Traffic, keyframe bool) {
	ses.mu.Lock()
	defer ses.mu.Unlock()
	ses.stats.Sent.addAll(t)
	if keyframe {
		ses.stats.Keyframes++
	}
}

// notTaken is for a connection that has refused a message.
func (s *Server) notTaken(c *Session) {
	s.sending.counts.notTaken++
	c.refusals++
	c.session.mu.Lock()
	c.session.stats.NotTaken++
	c.session.mu.Unlock()
	if s.config.Slow == Disconnect && c.refusals >= s.config.SlowTicks {
		s.count(func(st *Stats) { st.Slow++ })
		s.hangUp(c, TooSlow)
	}
}

// hangUp ends a connection; its session waits.
func (s *Server) hangUp(c *Session, why error) {
	if s.detach(c, why) {
		c.hangUp(codeOf(why, InternalFault), "")
	}
}
