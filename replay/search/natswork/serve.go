package natswork

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/wire"
	"github.com/evertick/evertick/replay/search"
	"github.com/nats-io/nats.go"
)

// ServeOptions of Serve. The zero value works.
type ServeOptions struct {
	// Subject before the SimVersion, as in PoolOptions. "": DefaultSubject.
	Subject string
	// Name is what errors call this worker. "": the name of the host and the number of the process.
	Name string
	// Jobs is how many jobs this worker does at a time, 1 to 1024. 0: runtime.GOMAXPROCS(0).
	Jobs int
	// Heartbeat is how often the worker sends a sign of life of each job. 0: 1 s.
	Heartbeat time.Duration
	// MaxShared is the largest size of shared data in bytes that this worker fetches. 0: 1 GiB.
	MaxShared int

	simVersion uint32 // for tests
}

func (o *ServeOptions) fill() error {
	f := fault.List{Package: "natswork"}
	f.Range("ServeOptions.Jobs", o.Jobs, 0, 1024)
	f.Range("ServeOptions.MaxShared", o.MaxShared, 0, 1<<40)
	if o.Heartbeat < 0 {
		f.Add(fault.ErrRange, "ServeOptions.Heartbeat", o.Heartbeat)
	}
	if o.Name == "" {
		host, _ := os.Hostname()
		o.Name = fmt.Sprintf("%s/%d", host, os.Getpid())
	}
	o.Subject, o.Jobs = cmp.Or(o.Subject, DefaultSubject), cmp.Or(o.Jobs, runtime.GOMAXPROCS(0))
	o.Heartbeat, o.MaxShared = cmp.Or(o.Heartbeat, time.Second), cmp.Or(o.MaxShared, 1<<30)
	o.simVersion = cmp.Or(o.simVersion, evertick.SimVersion)
	return f.Err()
}

// Serve does jobs with what a registry has, until ctx ends, which is no error: jobs under way are returned, and others do
// them. Other errors are ErrRange for an option, and those of NATS when the connection is closed: one that
// reconnects is not. It panics if nc or reg is nil.
func Serve(ctx context.Context, nc *nats.Conn, reg *search.Registry, opt ServeOptions) error {
	if nc == nil || reg == nil {
		panic("natswork: Serve without a connection or a registry")
	}
	if err := opt.fill(); err != nil {
		return err
	}
	s := &server{nc: nc, reg: reg, opt: opt, tasks: map[[sha256.Size]byte]*shared{}}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	errs := make([]error, opt.Jobs)
	var slots sync.WaitGroup
	for i := range errs {
		slots.Go(func() {
			if errs[i] = s.slot(ctx); errs[i] != nil {
				cancel()
			}
		})
	}
	slots.Wait()
	return errors.Join(errs...)
}

type server struct {
	nc  *nats.Conn
	reg *search.Registry
	opt ServeOptions

	mu     sync.Mutex
	tasks  map[[sha256.Size]byte]*shared
	recent [][sha256.Size]byte // of the tasks, the oldest first
}

// keptTasks is how many tasks a worker keeps the shared data of.
const keptTasks = 4

// shared is what a worker has fetched for a task.
type shared struct {
	mu   sync.Mutex // held while it is fetched
	done bool
	data []byte
}

// slot does one job after the other. It subscribes for one message at a time, and again before it replies, so that the
// pool that gets the reply finds this slot free.
func (s *server) slot(ctx context.Context) error {
	var opened opened
	sub, err := s.subscribe()
	for err == nil {
		var msg *nats.Msg
		if msg, err = sub.NextMsgWithContext(ctx); err != nil {
			break
		}
		reply := s.do(ctx, msg, &opened)
		if ctx.Err() == nil {
			sub, err = s.subscribe()
		}
		if reply != nil && err == nil {
			err = msg.Respond(reply.encode())
		}
	}
	if sub != nil {
		sub.Unsubscribe() // fails if a message has come, or the connection is closed
	}
	if ctx.Err() != nil {
		s.nc.Flush()
		return nil
	}
	return fmt.Errorf("natswork: %w", err)
}

func (s *server) subscribe() (*nats.Subscription, error) {
	sub, err := s.nc.QueueSubscribeSync(subjectOf(s.opt.Subject, s.opt.simVersion), "workers")
	if err == nil {
		err = sub.AutoUnsubscribe(1)
	}
	return sub, err
}

// opened is the task that a slot has last worked at.
type opened struct {
	id   [sha256.Size]byte
	work search.Work
}

// do does a job, with signs of life. The reply is nil if there is nobody to send it to.
func (s *server) do(ctx context.Context, msg *nats.Msg, o *opened) *message {
	m, err := decode(msg.Data)
	if err == nil && m.kind != request {
		err = fault.Field(evertick.ErrCorrupt, "natswork: kind of a request", m.kind)
	}
	if msg.Reply == "" {
		return nil
	}
	if err != nil {
		return &message{kind: refused, worker: s.opt.Name, body: []byte(err.Error())}
	}
	reply := &message{kind: returned, task: m.task, job: m.job, worker: s.opt.Name}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var life sync.WaitGroup
	defer life.Wait()
	sign := *reply
	sign.kind = alive
	life.Go(func() { s.live(ctx, cancel, msg.Reply, sign.encode()) })
	defer cancel(nil) // before the wait

	body, kind := s.work(ctx, m, o)
	if errors.Is(context.Cause(ctx), errGone) {
		return nil
	}
	if ctx.Err() == nil {
		reply.kind, reply.body = kind, body
	}
	if most := s.nc.MaxPayload() - int64(overhead+len(s.opt.Name)); int64(len(body)) > most {
		reply.kind = failed
		reply.body = fmt.Appendf(nil, "natswork: bytes of a result = %d: a message has at most %d: %v", len(body), most, fault.ErrCapacity)
	}
	return reply
}

var errGone = errors.New("natswork: the pool is gone")

// live sends signs of life until the job ends. If the pool has ended, it cancels the job.
func (s *server) live(ctx context.Context, cancel context.CancelCauseFunc, to string, sign []byte) {
	for ctx.Err() == nil {
		// Nobody answers, but for the server, if there is no subscription.
		beat, end := context.WithTimeout(ctx, s.opt.Heartbeat)
		_, err := s.nc.RequestWithContext(beat, to, sign)
		if errors.Is(err, nats.ErrNoResponders) {
			cancel(errGone)
		} else {
			<-beat.Done() // at once, unless the connection has failed
		}
		end()
	}
}

// chunkTimeout is how long a worker waits for a chunk before it returns the job.
const chunkTimeout = 30 * time.Second

var errLost = errors.New("natswork: no chunk of shared data has come")

// work does a job, whose task it opens first if it is another one.
func (s *server) work(ctx context.Context, m *message, o *opened) ([]byte, kind) {
	if o.work == nil || o.id != m.task {
		data, err := s.fetch(ctx, m)
		if err == nil {
			o.id = m.task
			o.work, err = s.reg.Open(search.Task{Function: m.function, SimVersion: m.simVersion, Shared: data})
		}
		if err != nil {
			o.work = nil
			if err == errLost {
				return nil, returned
			}
			return []byte(err.Error()), refused
		}
	}
	body, err := o.work(ctx, m.body)
	if err != nil {
		return []byte(err.Error()), failed
	}
	return body, result
}

// fetch returns the shared data of a task, which it fetches if this worker does not have them yet.
func (s *server) fetch(ctx context.Context, m *message) ([]byte, error) {
	if m.shared > uint64(s.opt.MaxShared) {
		return nil, fmt.Errorf("%w: ServeOptions.MaxShared is %d", fault.Field(fault.ErrCapacity, "natswork: bytes of shared data", m.shared), s.opt.MaxShared)
	}
	sh := s.shared(m.task)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if sh.done {
		return sh.data, nil
	}
	var data []byte
	for uint64(len(data)) < m.shared {
		wait, end := context.WithTimeout(ctx, chunkTimeout)
		msg, err := s.nc.RequestWithContext(wait, m.source, wire.AppendUvarints(nil, uint64(len(data))))
		end()
		if err != nil {
			return nil, errLost
		}
		if len(msg.Data) == 0 || uint64(len(msg.Data)) > m.shared-uint64(len(data)) {
			return nil, fault.Field(evertick.ErrCorrupt, fmt.Sprintf("natswork: %d bytes of shared data: bytes of a chunk at %d", m.shared, len(data)), len(msg.Data))
		}
		data = append(data, msg.Data...)
	}
	if taskID(m.function, m.simVersion, data) != m.task {
		return nil, fmt.Errorf("natswork: checksum of %d bytes of shared data: %w", len(data), evertick.ErrCorrupt)
	}
	sh.data, sh.done = data, true
	return data, nil
}

// shared returns the entry of a task, and forgets the oldest one.
func (s *server) shared(id [sha256.Size]byte) *shared {
	s.mu.Lock()
	defer s.mu.Unlock()
	sh := s.tasks[id]
	if sh == nil {
		sh = new(shared)
		s.tasks[id] = sh
		if s.recent = append(s.recent, id); len(s.recent) > keptTasks {
			delete(s.tasks, s.recent[0])
			s.recent = s.recent[1:]
		}
	}
	return sh
}
