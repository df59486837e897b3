package replica

import (
	"slices"
	"sync"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/loop"
)

const (
	mostQueueBytes = 1 << 30
	mostDelayNs    = int64(1) << 40 // 18 minutes
)

// PipeConfig of a Pipe. With the zero value no message is lost or reordered in either direction, but
// Conn.Ordered does not promise that: see Ordered.
type PipeConfig struct {
	// Ordered is what Conn.Ordered reports. Then Loss, Duplicate and Reorder have no effect.
	Ordered bool
	// Loss, Duplicate and Reorder are the probabilities, from 0 to 1, that a message is lost, that it comes
	// twice, and that it overtakes messages that are on their way.
	Loss, Duplicate, Reorder float32
	// DelayNs is the time that a message takes, and JitterNs the most by which it takes longer, each at
	// most 2^40 ns. All times between are equally likely.
	DelayNs, JitterNs int64
	// QueueBytes is the most bytes that are on their way in one direction, at most 1 GiB: Send refuses
	// further messages. A message is always taken if no other is on its way. 0: 64 KiB.
	QueueBytes int
	// Seed of all that is random.
	Seed uint64
}

// Validate returns every fault of the configuration.
func (c *PipeConfig) Validate() error {
	faults := fault.List{Package: "replica"}
	for _, p := range [...]struct {
		name string
		v    float32
	}{{"Loss", c.Loss}, {"Duplicate", c.Duplicate}, {"Reorder", c.Reorder}} {
		if !(p.v >= 0 && p.v <= 1) {
			faults.Add(fault.ErrRange, "PipeConfig."+p.name, p.v)
		}
	}
	faults.Join(fault.Between("replica: PipeConfig.DelayNs", c.DelayNs, 0, mostDelayNs),
		fault.Between("replica: PipeConfig.JitterNs", c.JitterNs, 0, mostDelayNs))
	faults.Range("PipeConfig.QueueBytes", c.QueueBytes, 0, mostQueueBytes)
	return faults.Err()
}

// Pipe is a connection between a client and a server in one process: for tests, and for a player that
// hosts the server. It is the Conn of the server; ToServer is ClientConfig.Send. Time passes only in
// Deliver, so the same calls with the same Seed deliver the same messages. Its methods may be called from
// any goroutine, but only one at a time may be in Deliver.
type Pipe struct {
	config PipeConfig
	mu     sync.Mutex
	now    int64
	ways   [2]way // to the client, to the server
	closed bool   // no message is taken any more
	stall  bool
}

// way is one direction.
type way struct {
	rand  loop.Rand
	queue []packet // in the order of delivery
	free  [][]byte
	bytes int
}

type packet struct {
	due  int64
	data []byte
}

// NewPipe returns a Pipe at time 0. The error is that of PipeConfig.Validate.
func NewPipe(c PipeConfig) (*Pipe, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if c.QueueBytes == 0 {
		c.QueueBytes = defaultQueueBytes
	}
	p := &Pipe{config: c}
	for i := range p.ways {
		p.ways[i].rand = loop.NewRand(c.Seed, 0, uint64(i), 0)
	}
	return p, nil
}

// Send implements Conn: it sends a message to the client.
func (p *Pipe) Send(frame []byte) bool { return p.send(&p.ways[0], frame) }

// ToServer sends a message to the server, or returns false if there is no room for it.
func (p *Pipe) ToServer(frame []byte) bool { return p.send(&p.ways[1], frame) }

// Ordered implements Conn.
func (p *Pipe) Ordered() bool { return p.config.Ordered }

// Close implements Conn: messages that were taken still arrive.
func (p *Pipe) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
}

// Cut ends the connection at once: messages that are on their way are lost.
func (p *Pipe) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for i := range p.ways {
		w := &p.ways[i]
		for len(w.queue) > 0 {
			w.release(w.pop())
		}
	}
}

// Stall makes the client stop reading, or go on: messages to it wait.
func (p *Pipe) Stall(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stall = on
}

func (p *Pipe) send(w *way, message []byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || len(w.queue) > 0 && w.bytes+len(message) > p.config.QueueBytes {
		return false
	}
	if !p.config.Ordered && w.chance(p.config.Loss) {
		return true
	}
	p.put(w, message)
	if !p.config.Ordered && w.chance(p.config.Duplicate) {
		p.put(w, message)
	}
	return true
}

// chance returns true with probability p.
func (w *way) chance(p float32) bool { return w.rand.Float32() < p }

// put queues a message where its time puts it, or before another one that it overtakes.
func (p *Pipe) put(w *way, message []byte) {
	k := packet{due: p.now + p.config.DelayNs}
	if p.config.JitterNs > 0 {
		k.due += int64(w.rand.Uint64() % uint64(p.config.JitterNs+1))
	}
	if n := len(w.free); n > 0 {
		k.data, w.free = w.free[n-1], w.free[:n-1]
	}
	k.data = append(k.data[:0], message...)
	at := len(w.queue)
	switch {
	case at == 0:
	case p.config.Ordered:
		k.due = max(k.due, w.queue[at-1].due)
	case w.chance(p.config.Reorder):
		at = int(w.rand.Uint32n(uint32(at)))
		k.due = min(k.due, w.queue[at].due)
	}
	for at > 0 && w.queue[at-1].due > k.due {
		at--
	}
	w.queue = slices.Insert(w.queue, at, k)
	w.bytes += len(message)
}

// pop removes the first message.
func (w *way) pop() []byte {
	data := w.queue[0].data
	w.queue = append(w.queue[:0], w.queue[1:]...)
	w.bytes -= len(data)
	return data
}

func (w *way) release(data []byte) { w.free = append(w.free, data) }

// next takes the first message whose time has come.
func (p *Pipe) next(i int) (data []byte, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	w := &p.ways[i]
	if len(w.queue) == 0 || w.queue[0].due > p.now || i == 0 && p.stall {
		return nil, false
	}
	return w.pop(), true
}

// Deliver sets the time, in ns, and passes all messages whose time has come to client and to server, which
// may send others, and must not keep the slice. It returns false if the connection has ended: it was
// closed, and all messages have been delivered, or it was cut. Time does not go back.
func (p *Pipe) Deliver(now int64, client, server func(frame []byte)) bool {
	p.mu.Lock()
	p.now = max(p.now, now)
	p.mu.Unlock()
	for more := true; more; {
		more = false
		for i, take := range [...]func([]byte){client, server} {
			for data, ok := p.next(i); ok; data, ok = p.next(i) {
				more = true
				take(data)
				p.mu.Lock()
				p.ways[i].release(data)
				p.mu.Unlock()
			}
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.closed || len(p.ways[0].queue)+len(p.ways[1].queue) > 0
}
