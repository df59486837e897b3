package natswork

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/wire"
	"github.com/evertick/evertick/replay/search"
	"github.com/nats-io/nats.go"
)

// ErrNoWorker is wrapped by the error of a search that no worker works for.
var ErrNoWorker = errors.New("no worker takes a job")

// DefaultSubject is the default of the options of both sides.
const DefaultSubject = "evertick.search"

// PoolOptions of NewPool. The zero value works.
type PoolOptions struct {
	// Subject before the SimVersion, as in ServeOptions. "": DefaultSubject.
	Subject string
	// Jobs is how many jobs are sent at a time, 1 to 65536: at least as many as all workers do. 0: 64.
	Jobs int
	// Silence is how long nothing may be heard of a job before it is sent again: several times the Heartbeat of the
	// workers. 0: 5 s.
	Silence time.Duration
	// NoWorker is how long a search in which no job is under way waits for a worker that takes one.
	// 0: 30 s. Negative: no limit.
	NoWorker time.Duration
}

// Stats count what a pool has done.
type Stats struct {
	Resent     uint64 // jobs that were sent again, after Silence or because their worker has ended
	Duplicates uint64 // second results of such a job, which were equal to the first
	Chunks     uint64 // of shared data that were sent to workers
}

// Pool is a search.Pool of all workers of a subject. It is safe for concurrent use.
type Pool struct {
	nc                         *nats.Conn
	opt                        PoolOptions
	resent, duplicates, chunks atomic.Uint64
	freed                      chan struct{} // a worker has probably become free
}

// NewPool returns a pool. The error is ErrRange for an option. It panics if nc is nil.
func NewPool(nc *nats.Conn, opt PoolOptions) (*Pool, error) {
	if nc == nil {
		panic("natswork: NewPool without a connection")
	}
	f := fault.List{Package: "natswork"}
	f.Range("PoolOptions.Jobs", opt.Jobs, 0, 1<<16)
	if opt.Silence < 0 {
		f.Add(fault.ErrRange, "PoolOptions.Silence", opt.Silence)
	}
	opt.Subject, opt.Jobs = cmp.Or(opt.Subject, DefaultSubject), cmp.Or(opt.Jobs, 64)
	opt.Silence, opt.NoWorker = cmp.Or(opt.Silence, 5*time.Second), cmp.Or(opt.NoWorker, 30*time.Second)
	return &Pool{nc: nc, opt: opt, freed: make(chan struct{}, 1)}, f.Err()
}

// Stats returns the counts so far.
func (p *Pool) Stats() Stats {
	return Stats{Resent: p.resent.Load(), Duplicates: p.duplicates.Load(), Chunks: p.chunks.Load()}
}

func subjectOf(subject string, simVersion uint32) string {
	return fmt.Sprintf("%s.%d", subject, simVersion)
}

// Do implements search.Pool. Besides the errors of every pool it returns ErrNoWorker, ErrCorrupt for a reply that is
// malformed or to a job that was not sent, and those of NATS. The ErrCapacity of a job says that it does not fit into
// a message.
func (p *Pool) Do(ctx context.Context, task search.Task, jobs iter.Seq[[]byte]) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		c := &call{
			pool: p, cancel: cancel, task: task, id: taskID(task.Function, task.Version(), task.Shared),
			subject: subjectOf(p.opt.Subject, task.Version()), inbox: p.nc.NewInbox(),
			open: map[uint64]*job{}, repeated: map[uint64][sha256.Size]byte{}, sign: time.Now(),
		}
		sub, err := p.nc.Subscribe(c.inbox+".*", c.receive)
		if err == nil {
			err = sub.SetPendingLimits(-1, -1)
		}
		if err != nil {
			yield(nil, fmt.Errorf("natswork: %w", err))
			return
		}
		defer sub.Unsubscribe()
		search.InOrder(ctx, p.opt.Jobs, jobs, c.do)(yield)
	}
}

// call is one call of Do.
type call struct {
	pool    *Pool
	cancel  context.CancelCauseFunc
	task    search.Task
	id      [sha256.Size]byte
	subject string
	inbox   string

	mu       sync.Mutex
	open     map[uint64]*job
	repeated map[uint64][sha256.Size]byte // digests of the results of jobs that were sent more than once
	sign     time.Time                    // when something was last heard of any job
}

// job is one that has no result yet.
type job struct {
	news   chan struct{} // something below has changed
	alive  bool          // since the last look, as nobody
	nobody bool          // no worker was free, or the worker has returned the job
	reply  *message
}

// do is the function of search.InOrder: it sends a job until it has a result.
func (c *call) do(ctx context.Context, _ int, n uint64, body []byte) ([]byte, error) {
	m := message{
		kind: request, task: c.id, job: n, body: body, function: c.task.Function, simVersion: c.task.Version(),
		shared: uint64(len(c.task.Shared)), source: c.inbox + ".shared",
	}
	data := m.encode()
	if most := c.pool.nc.MaxPayload(); int64(len(data)) > most {
		return nil, fmt.Errorf("%w: a message has at most %d", fault.Field(fault.ErrCapacity, "natswork: bytes of a job", len(data)), most)
	}
	j := &job{news: make(chan struct{}, 1)}
	c.mu.Lock()
	c.open[n] = j
	c.mu.Unlock()
	reply, sent, err := c.send(ctx, n, j, data)
	c.mu.Lock()
	delete(c.open, n)
	if reply != nil && sent > 1 {
		c.repeated[n] = reply.digest()
	}
	c.mu.Unlock()
	if err != nil {
		c.cancel(err)
		return nil, err
	}
	if reply.kind == failed {
		return nil, errors.New(string(reply.body))
	}
	return reply.body, nil
}

// digest is equal for equal results and errors.
func (m *message) digest() [sha256.Size]byte {
	return sha256.Sum256(append([]byte{byte(m.kind)}, m.body...))
}

// send sends a job again and again. sent is how often a worker can have got it.
func (c *call) send(ctx context.Context, n uint64, j *job, data []byte) (reply *message, sent int, err error) {
	const shortest, longest = 2 * time.Millisecond, 500 * time.Millisecond
	pause := shortest
	for {
		if err := c.pool.nc.PublishRequest(c.subject, c.inbox+"."+strconv.FormatUint(n, 10), data); err != nil {
			return nil, sent, fmt.Errorf("natswork: job %d: %w", n, err)
		}
		sent++
		reply, nobody, err := c.await(ctx, j)
		if reply != nil || err != nil {
			return reply, sent, err
		}
		if !nobody {
			c.pool.resent.Add(1)
			continue
		}
		if err := c.lonely(); err != nil {
			return nil, sent, err
		}
		select {
		case <-ctx.Done():
			return nil, sent, ctx.Err()
		case <-c.pool.freed:
		case <-time.After(pause):
			pause = min(2*pause, longest)
		}
	}
}

// await waits for the reply to a job, for as long as there are signs of life.
func (c *call) await(ctx context.Context, j *job) (reply *message, nobody bool, err error) {
	silence := time.NewTimer(c.pool.opt.Silence)
	defer silence.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil, false, ctx.Err()
		case <-silence.C:
			return nil, false, nil
		case <-j.news:
		}
		c.mu.Lock()
		isAlive := j.alive
		reply, nobody = j.reply, j.nobody
		j.alive, j.nobody = false, false
		c.mu.Unlock()
		if reply != nil || nobody {
			return reply, nobody, nil
		}
		if isAlive {
			silence.Reset(c.pool.opt.Silence)
		}
	}
}

// lonely returns ErrNoWorker if nothing was heard of any job for too long.
func (c *call) lonely() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if limit := c.pool.opt.NoWorker; limit > 0 && time.Since(c.sign) > limit {
		return fmt.Errorf("natswork: subject %s, of SimVersion %d: %w", c.subject, c.task.Version(), ErrNoWorker)
	}
	return nil
}

// receive takes what comes to the inbox of a call.
func (c *call) receive(msg *nats.Msg) {
	name := strings.TrimPrefix(msg.Subject, c.inbox+".")
	if name == "shared" {
		c.sendChunk(msg)
		return
	}
	if err := c.reply(name, msg); err != nil {
		c.cancel(err)
	}
}

// reply takes a reply to the job of a name.
func (c *call) reply(name string, msg *nats.Msg) error {
	n, err := strconv.ParseUint(name, 10, 64)
	if err != nil {
		return fmt.Errorf("natswork: reply to job %.40q: %w", name, evertick.ErrCorrupt)
	}
	if len(msg.Data) == 0 && msg.Header.Get("Status") == "503" { // of the server: there is no subscription
		c.update(n, func(j *job) { j.nobody = true })
		return nil
	}
	m, err := decode(msg.Data)
	if err != nil {
		return fmt.Errorf("natswork: reply to job %d: %w", n, err)
	}
	if m.kind == request || m.task != c.id || m.job != n {
		return fmt.Errorf("natswork: worker %.80q: reply to job %d is of job %d of task %x: %w", m.worker, n, m.job, m.task[:4], evertick.ErrCorrupt)
	}
	switch m.kind {
	case alive:
		c.heard()
		c.update(n, func(j *job) { j.alive = true })
	case returned:
		c.pool.resent.Add(1)
		c.update(n, func(j *job) { j.nobody = true })
	case refused:
		return fmt.Errorf("natswork: worker %.80q: %s: %w", m.worker, m.body, evertick.ErrUnsupported)
	default:
		c.heard()
		select {
		case c.pool.freed <- struct{}{}:
		default:
		}
		return c.take(n, m)
	}
	return nil
}

func (c *call) heard() {
	c.mu.Lock()
	c.sign = time.Now()
	c.mu.Unlock()
}

// update changes a job without a result.
func (c *call) update(n uint64, change func(*job)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if j := c.open[n]; j != nil {
		change(j)
		select {
		case j.news <- struct{}{}:
		default:
		}
	}
}

// take takes a result. A second one must be equal to the first.
func (c *call) take(n uint64, m *message) error {
	var before [sha256.Size]byte
	c.mu.Lock()
	j := c.open[n]
	known, again := c.repeated[n]
	c.mu.Unlock()
	switch {
	case j != nil && j.reply == nil: // only this goroutine sets it
		c.update(n, func(j *job) { j.reply = m })
		return nil
	case j != nil:
		before = j.reply.digest()
	case again:
		before = known
	default:
		return fmt.Errorf("natswork: worker %.80q: a result of job %d, which was not sent: %w", m.worker, n, evertick.ErrCorrupt)
	}
	if d := m.digest(); !bytes.Equal(d[:], before[:]) {
		return fmt.Errorf("natswork: worker %.80q: %w", m.worker, search.Diverged(c.task, n))
	}
	c.pool.duplicates.Add(1)
	return nil
}

// sendChunk answers the request of a worker for shared data: its data is the offset, as an uvarint.
func (c *call) sendChunk(msg *nats.Msg) {
	r := wire.NewReader(msg.Data)
	shared := c.task.Shared
	offset := r.Canonical(0, uint64(len(shared)))
	if r.Done() != nil || msg.Reply == "" {
		return // not one of our workers
	}
	size := min(uint64(len(shared))-offset, uint64(chunkSize(c.pool.nc)))
	c.pool.chunks.Add(1)
	if err := msg.Respond(shared[offset:][:size]); err != nil {
		c.cancel(fmt.Errorf("natswork: %w", err))
	}
}

// chunkSize is the size of a chunk of shared data.
func chunkSize(nc *nats.Conn) int64 { return min(nc.MaxPayload()/2, 256<<10) }
