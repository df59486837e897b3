package replica

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/evertick/evertick/internal/fault"
)

const (
	// idleMessages is the number of messages after which inputs that wait are sent again, if the transport may
	// have lost them.
	idleMessages   = 8
	mostWaiting    = 1024     // inputs of a client that were not applied yet
	mostInputBytes = 32 << 10 // of the data of one input
	inputMessage   = 48 << 10 // bytes of data in an Input message, below the default of Limits.FrameBytes
	againBytes     = 1 << 10  // bytes of data that an Input message repeats
)

// inputQueue keeps the inputs of a client until the server has applied them.
type inputQueue struct {
	list []intent // ascending by number
	free [][]byte // data of entries that were dropped
	next uint64   // number of the next one
	sent uint64   // the last one that was sent on this connection, or that the server has
	idle int      // messages since an input was sent
	lead leadTime
}

// Input sends an input to the server, for a tick or, if tick is 0, as soon as possible: see
// Client.Aim. It copies data. seq is its number: a session begins with 1.
// An input that the connection does not take, or that is lost, is sent again: the client keeps it
// until a message says that it, or a later one, was applied. If a session could not be resumed, its inputs
// are dropped.
//
// The error wraps ErrNoSession before the first Welcome, evertick.ErrUnsupported if the session only watches, evertick.ErrCapacity for more than 1,024 inputs that wait
// or more than 32 KiB of data, and evertick.ErrRange for a tick from 2^63 on.
func (c *Client) Input(kind uint32, data []byte, tick uint64) (seq uint64, err error) {
	q := &c.queue
	switch {
	case !c.joined:
		return 0, fmt.Errorf("replica: Client.Input: %w", ErrNoSession)
	case c.welcome.Spectates:
		return 0, fault.Field(fault.ErrUnsupported, "replica: Client.Input: the session only watches: number", c.welcome.Session)
	case len(q.list) == mostWaiting:
		return 0, fault.Field(fault.ErrCapacity, "replica: Client.Input: inputs that wait", mostWaiting)
	case len(data) > mostInputBytes:
		return 0, fault.Field(fault.ErrCapacity, "replica: Client.Input: bytes of data", len(data))
	case tick >= 1<<63:
		return 0, fault.Field(fault.ErrRange, "replica: Client.Input: tick", tick)
	}
	in := intent{seq: q.next, tick: tick, kind: kind, ahead: float64(tick) - c.serverTime()}
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

// Waiting returns the number of inputs that no message has reported as applied.
func (c *Client) Waiting() int { return len(c.queue.list) }

// flush sends the inputs that were not sent yet, or that may be lost.
func (c *Client) flush() {
	if q := &c.queue; !c.config.Ordered && q.idle >= idleMessages && len(q.list) > 0 {
		q.sent = min(q.sent, q.list[0].seq-1)
	}
	for c.live {
		batch := c.queue.batch(c.config.Ordered, c.config.Reliable && !c.config.Ordered)
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

// batch returns the inputs of the next message, none if all were sent. If the transport may lose messages,
// the last inputs come again; all of them with whole, which sends none that could arrive without those before it.
func (q *inputQueue) batch(ordered, whole bool) []intent {
	from := q.after(q.sent)
	if from == len(q.list) {
		return nil
	}
	fresh := q.list[from].seq
	if whole {
		from = 0
	}
	to, bytes := from, 0
	for to < len(q.list) && to-from < mostInputs && (to == from || bytes+len(q.list[to].data) <= inputMessage) {
		bytes += len(q.list[to].data)
		to++
	}
	if q.list[to-1].seq < fresh {
		return nil
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
	i, _ := slices.BinarySearchFunc(q.list, seq+1, func(in intent, seq uint64) int { return cmp.Compare(in.seq, seq) })
	return i
}

// welcome is for a new connection.
func (q *inputQueue) welcome(w *welcome) {
	if !w.resumed {
		q.drop(len(q.list))
		q.next, q.lead = 1, leadTime{}
	}
	q.next = max(q.next, w.received+1)
	q.sent = w.received
}

// applied is for a message that says up to which number inputs were applied, and how many ticks the last one
// of them waited: negative if that is unknown. tick is the number of completed ticks.
func (q *inputQueue) applied(seq uint64, waited float64, tick, every uint64, s *clockSync) {
	n := q.after(seq)
	if n > 0 && q.list[n-1].seq == seq && q.list[n-1].tick != 0 {
		q.lead.applied(&q.list[n-1], waited, tick, every, s)
	}
	q.drop(n)
	q.notApplied(tick, s)
}

// notApplied finds the inputs that wait although their tick is completed: they are late.
func (q *inputQueue) notApplied(tick uint64, s *clockSync) {
	for i := range q.list {
		in := &q.list[i]
		if in.seq > q.sent {
			return
		}
		if in.tick != 0 && in.tick < tick {
			q.lead.late(in, q.sent, tick, s)
		}
	}
}

// jumped is for a new estimate of the server's time, after a clock has jumped.
func (q *inputQueue) jumped() { q.lead = leadTime{raised: q.next - 1, from: q.next} }

// drop drops the first n inputs.
func (q *inputQueue) drop(n int) {
	for i := range q.list[:n] {
		q.free = append(q.free, q.list[i].data)
	}
	q.list = append(q.list[:0], q.list[n:]...)
}
