package replica

import (
	"fmt"
	"math"
	"slices"

	"github.com/evertick/evertick/internal/fault"
)

const (
	// idleFrames is the number of frames after which inputs that wait are sent again, if the transport may
	// have lost them.
	idleFrames       = 8
	mostWaiting      = 1024           // inputs of a client that were not applied yet
	mostInputBytes   = 32 << 10       // of the data of one input
	inputFrame       = 48 << 10       // bytes of data in an Input frame, below the default of Limits.FrameBytes
	againBytes       = 1 << 10        // bytes of data that an Input frame repeats
	unknownResidence = math.MaxUint32 // µs
	mostLead         = 240            // ticks: the default of Limits.Lead
	leadFall         = 1.0 / 64       // of a tick, for each input that was early
)

// inputQueue keeps the inputs of a client until the server has applied them, and finds the lead that they
// should have.
//
// # The lead
//
// An input for tick T is in time if it arrives before the server begins tick T. Whether it was shows in
// the frames: that of the state after tick T, or a later one, says that the input was applied, or it does
// not. In the first case it also says how long the last input waited in the server. If there are several
// ticks between two frames, an input that waited for less than a tick may have been late, and counts as
// if it was.
//
//   - If an input was late, the lead rises by a tick. Inputs that were sent before that do not raise it
//     again, because they had the lead that was too short.
//   - If an input waited for more than a tick and a half, the lead falls by 1/64 of a tick: an input that
//     is late costs more than a lead that is too long.
//   - It begins with half the least round trip, and a tick and a half. It is from 1 to 240 ticks.
//
// In mode Simulate the frames do not say how long an input waited: each that was in time lets the lead
// fall. Inputs for tick 0, as soon as possible, have no lead.
type inputQueue struct {
	list []intent // ascending by number
	free [][]byte // data of entries that were dropped
	next uint64   // number of the next one
	sent uint64   // the last one that was sent on this connection, or that the server has
	idle int      // frames since an input was sent

	lead   float64 // ticks; 0: no input was judged yet
	raised uint64  // number of the last input that was sent when the lead rose
	judged uint64  // number of the last input that was in time or late
}

// Input sends an input to the server, for a tick or, if tick is 0, as soon as possible: see
// Client.ServerTick and Client.Lead. It copies data. seq is its number: those of a session begin with 1.
// An input that the connection does not take, or that is lost, is sent again: the client keeps it
// until a frame says that it, or a later one, was applied. If a session could not be resumed, its inputs
// are dropped.
//
// The error wraps ErrNoSession before the first Welcome, ErrCapacity for more than 1,024 inputs that wait
// or more than 32 KiB of data, and ErrRange for a tick from 2^63 on.
func (c *Client) Input(kind uint32, data []byte, tick uint64) (seq uint64, err error) {
	q := &c.queue
	switch {
	case !c.joined:
		return 0, fmt.Errorf("replica: Client.Input: %w", ErrNoSession)
	case len(q.list) == mostWaiting:
		return 0, fault.Field(ErrCapacity, "replica: Client.Input: inputs that wait", mostWaiting)
	case len(data) > mostInputBytes:
		return 0, fault.Field(ErrCapacity, "replica: Client.Input: bytes of data", len(data))
	case tick >= 1<<63:
		return 0, fault.Field(ErrRange, "replica: Client.Input: tick", tick)
	}
	in := intent{seq: q.next, tick: tick, kind: kind}
	if err := c.predict(&in, data); err != nil {
		return 0, err
	}
	if n := len(q.free); n > 0 {
		in.data, q.free = q.free[n-1], q.free[:n-1]
	}
	in.data = append(in.data[:0], data...)
	q.list = append(q.list, in)
	q.next++
	c.flush()
	return in.seq, nil
}

// predict passes an input to the prediction.
func (c *Client) predict(in *intent, data []byte) error {
	switch {
	case c.config.Simulator != nil:
		return c.config.Simulator.input(in.kind, data, in.tick, in.seq)
	case c.config.Predictor != nil:
		return c.config.Predictor.input(in.kind, data, in.tick, in.seq)
	}
	return nil
}

// Waiting returns the number of inputs that no frame has said to be applied.
func (c *Client) Waiting() int { return len(c.queue.list) }

// Lead returns the number of ticks, 1 to 240, by which the tick of an input should be after
// Client.ServerTick, so that it arrives in time.
func (c *Client) Lead() uint64 {
	return uint64(math.Ceil(c.queue.leadNow(&c.sync)))
}

// leadNow returns the lead, in ticks.
func (q *inputQueue) leadNow(s *clockSync) float64 {
	if q.lead == 0 {
		return min(s.firstLead(), mostLead)
	}
	return q.lead
}

// flush sends the inputs that were not sent yet, or that may be lost.
func (c *Client) flush() {
	if q := &c.queue; !c.config.Ordered && q.idle >= idleFrames && len(q.list) > 0 {
		q.sent = min(q.sent, q.list[0].seq-1)
	}
	for c.live {
		batch := c.queue.batch(c.config.Ordered)
		if len(batch) == 0 {
			return
		}
		c.out = appendIntents(c.out[:0], batch)
		if !c.config.Send(c.out) {
			return
		}
		c.queue.sent, c.queue.idle = batch[len(batch)-1].seq, 0
	}
}

// batch returns the inputs of the next frame, none if all were sent. If the transport may lose frames,
// the last inputs come again.
func (q *inputQueue) batch(ordered bool) []intent {
	from := q.after(q.sent)
	if from == len(q.list) {
		return nil
	}
	to, bytes := from, 0
	for to < len(q.list) && to-from < mostInputs && (to == from || bytes+len(q.list[to].data) <= inputFrame) {
		bytes += len(q.list[to].data)
		to++
	}
	for again := 0; !ordered && from > 0 && to-from < mostInputs; from-- {
		if again += len(q.list[from-1].data); again > againBytes {
			break
		}
	}
	return q.list[from:to]
}

// after returns the index of the first input with a number above seq.
func (q *inputQueue) after(seq uint64) int {
	i, _ := slices.BinarySearchFunc(q.list, seq+1, func(in intent, seq uint64) int {
		switch {
		case in.seq < seq:
			return -1
		case in.seq > seq:
			return 1
		}
		return 0
	})
	return i
}

// welcome is for a new connection.
func (q *inputQueue) welcome(w *welcome) {
	if !w.resumed {
		q.drop(len(q.list))
		q.next, q.raised, q.judged, q.lead = 1, 0, 0, 0
	}
	q.next = max(q.next, w.received+1)
	q.sent = w.received
}

// applied is for a frame that says up to which number inputs were applied, and how many µs the last one
// of them waited. tick is the number of completed ticks.
func (q *inputQueue) applied(seq, residence, tick, every uint64, s *clockSync) {
	n := q.after(seq)
	if n > 0 && q.list[n-1].seq == seq && q.list[n-1].tick != 0 && seq > q.judged {
		switch waited := s.ticks(float64(residence) * 1000); {
		case waited > 1.5:
			q.lead = max(1, q.leadNow(s)-leadFall)
		case waited < 1 && every > 1:
			q.late(seq, s)
		}
	}
	q.judged = max(q.judged, seq)
	q.drop(n)
	q.notApplied(tick, s)
}

// late raises the lead because an input was late.
func (q *inputQueue) late(seq uint64, s *clockSync) {
	if seq > q.raised {
		q.lead = min(q.leadNow(s)+1, mostLead)
		q.raised = q.sent
	}
}

// notApplied judges the inputs that wait although their tick is completed: they are late.
func (q *inputQueue) notApplied(tick uint64, s *clockSync) {
	for i := range q.list {
		in := &q.list[i]
		if in.seq > q.sent {
			return
		}
		if in.tick == 0 || in.tick >= tick || in.seq <= q.judged {
			continue
		}
		q.judged = in.seq
		q.late(in.seq, s)
	}
}

// drop drops the first n inputs.
func (q *inputQueue) drop(n int) {
	for i := range q.list[:n] {
		q.free = append(q.free, q.list[i].data)
	}
	q.list = append(q.list[:0], q.list[n:]...)
}
