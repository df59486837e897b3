package inspector

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
)

const (
	// stallAfter is how long a request waits for a safe point, and the time without one after
	// which a Sim that is not paused is stalled.
	stallAfter = time.Second
	// failureCheck is how often a request that waits looks whether the Sim has failed.
	failureCheck = 100 * time.Millisecond
	// busyAfter is how long a request waits for its turn. It is less than a page, or a server, waits for an answer.
	busyAfter = 8 * time.Second
)

// hub takes requests about one Sim from any goroutine, and answers them on the goroutine of the Sim,
// which calls tick and between at its safe points. It also keeps what it saw at these points.
type hub struct {
	start   time.Time
	wake    chan struct{} // gets a value when a request begins to wait; for subjects with their own goroutine
	closing chan struct{}
	// failure returns the error that ended the Sim, nil if it can go on. Any goroutine may call it.
	failure func() error

	// Of the goroutine of the Sim:
	eachTick  []func(*evertick.Sim) // called after each tick
	inTick    bool                  // the safe point is that after a tick, within Step
	scratch   []byte
	unbounded bool  // nobody waits for the Sim but those that look: there is no budget
	credit    int64 // bytes that may be read now; negative after work that took more
	creditAt  int64 // when it was brought up to date, in ns since start
	turn      int   // of the kinds of work
	going     *job  // that copies at several safe points

	mu        sync.Mutex
	closed    bool
	safeAt    int64 // the last safe point, in ns since start
	summary   summary
	waiting   [2]turns[*job]  // for a safe point: those that read little, and those that copy
	byKey     map[string]*job // the jobs in waiting that are shared
	copied    turns[*job]     // for the reader, with what they have copied
	reading   bool            // the reader runs
	copies    int             // that are made or read
	answers   lastAnswers
	meanCost  float64 // of a safe point in ns, over about the last 64
	inspected uint64  // bytes, as the budget counts them
	ticks     ticks
	pictures  pictures

	events eventLog
}

// summary is what the last safe point saw.
type summary struct {
	at       stateVersion
	hash     uint64
	entities int
	bodies   int
	contacts int
	inPlane  int // bodies
	paused   bool
}

// state is what pages call the state of a Sim that can go on.
func (s *summary) state() string {
	if s.paused {
		return "paused"
	}
	return "running"
}

// stateVersion identifies the state of a Sim as far as that is reported: a tick, a spawn, a Touch or a Restore
// changes it.
type stateVersion struct {
	world                      *ecs.World
	tick, version, touch, copy uint64
}

// job is a task for a safe point, and those that wait for its result.
type job struct {
	key     string
	clients []string // that ask
	f       task     // one of f and copy
	copy    copying
	waiters int
	taken   bool                   // by a safe point
	finish  func() ([]byte, error) // of copy
	release func()                 // what finish reads; nil: nothing
	done    chan struct{}          // closed when body and err are set
	body    []byte
	err     error
}

// kind is the index in hub.waiting.
func (j *job) kind() int {
	if j.copy != nil {
		return 1
	}
	return 0
}

func newHub() *hub {
	h := &hub{
		start: time.Now(), wake: make(chan struct{}, 1), closing: make(chan struct{}),
		failure: func() error { return nil }, byKey: map[string]*job{},
	}
	h.answers.bodies = map[string][]byte{}
	h.pictures.views = map[pictureOptions]*view{}
	h.credit = copyBurst
	h.events.clock = h.now
	h.eachTick = append(h.eachTick, h.events.record)
	return h
}

// now returns the time since the hub was made, in ns.
func (h *hub) now() int64 { return int64(time.Since(h.start)) }

// age returns the time since the last safe point.
func (h *hub) age() time.Duration {
	h.mu.Lock()
	at := h.safeAt
	h.mu.Unlock()
	return time.Duration(h.now() - at)
}

// waits reports whether a request waits for its first safe point. The caller holds the lock.
func (h *hub) waits() bool { return !h.waiting[0].empty() || !h.waiting[1].empty() }

// tick is the safe point after a tick.
func (h *hub) tick(sim *evertick.Sim) {
	for _, f := range h.eachTick {
		f(sim)
	}
	h.inTick = true
	h.between(sim, sim.Loop().Paused())
	h.inTick = false
}

// again records a tick that StepBack or Forward runs again, unless it still has it. It is no safe point: pages have seen the
// tick, and would see the Sim go back farther than it does.
func (h *hub) again(sim *evertick.Sim) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if t := &h.ticks; t.len == 0 || t.at(t.len-1).tick < sim.Ticks() {
		h.record(sim)
	}
}

// record records the tick that has run. The caller holds the lock.
func (h *hub) record(sim *evertick.Sim) {
	_, stepNs := sim.Timings()
	h.ticks.add(sim.Ticks(), sim.Hash(), stepNs)
}

// between is a safe point: it runs what waits. A tick locks the mutex once while nothing waits, since that and reading
// the clock are most of the cost.
func (h *hub) between(sim *evertick.Sim, paused bool) {
	now := h.now()
	w := sim.World
	bodies, contacts := bodyCounts(sim)
	h.mu.Lock()
	h.safeAt = now
	h.ticks.undo(sim.Ticks() + 1)
	if h.inTick {
		h.record(sim)
	}
	h.summary = summary{
		at: stateVersion{w, sim.Ticks(), w.Version(), w.LastTouch(), w.Generation()}, hash: sim.Hash(),
		inPlane: sim.Physics.Len(), entities: w.Len(), bodies: bodies, contacts: contacts, paused: paused,
	}
	idle := !h.waits() && h.going == nil && !h.pictures.due(h.summary.at, now)
	if idle {
		h.meanCost -= h.meanCost / 64
	}
	h.mu.Unlock()
	if idle {
		return
	}
	captured := h.work(sim, now)
	cost := h.now() - now
	h.mu.Lock()
	h.meanCost += (float64(cost) - h.meanCost) / 64
	if captured {
		h.pictures.spent(now, cost)
	}
	h.mu.Unlock()
}

// do implements subject.
func (h *hub) do(ctx context.Context, key string, f task) (body []byte, stale bool, err error) {
	return h.wait(ctx, &job{key: key, f: f})
}

// doCopy implements subject.
func (h *hub) doCopy(ctx context.Context, key string, c copying) (body []byte, stale bool, err error) {
	return h.wait(ctx, &job{key: key, copy: c})
}

// wait posts a job and waits for its result.
func (h *hub) wait(ctx context.Context, j *job) (body []byte, stale bool, err error) {
	key := j.key
	if h.age() > failureCheck {
		if err := h.failure(); err != nil {
			return h.afterFailure(key, err)
		}
	}
	if j = h.post(clientOf(ctx), j); j == nil {
		return nil, false, errClosed
	}
	from := h.now()
	timer := time.NewTimer(failureCheck)
	defer timer.Stop()
	for {
		select {
		case <-j.done:
			return j.body, false, j.err
		case <-h.closing:
			return nil, false, errClosed
		case <-ctx.Done():
			h.abandon(j, false)
			return nil, false, ctx.Err()
		case <-timer.C:
			timer.Reset(failureCheck)
		}
		if err := h.failure(); err != nil && h.abandon(j, true) {
			return h.afterFailure(key, err)
		}
		waited := time.Duration(h.now() - from)
		if age := h.age(); waited >= stallAfter && age >= stallAfter && h.abandon(j, true) {
			return nil, false, &stalledError{age}
		}
		if waited >= busyAfter {
			h.abandon(j, false)
			return nil, false, errBusy
		}
	}
}

// post adds a job, or joins the one that waits for the same key, and returns which. It returns nil after close.
func (h *hub) post(client string, j *job) *job {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil
	}
	if same := h.byKey[j.key]; same != nil {
		same.waiters++
		if !slices.Contains(same.clients, client) { // the others may wait for much else
			same.clients = append(same.clients, client)
			h.waiting[same.kind()].add(client, same)
		}
		return same
	}
	j.clients, j.waiters, j.done = []string{client}, 1, make(chan struct{})
	h.waiting[j.kind()].add(client, j)
	if j.key != "" {
		h.byKey[j.key] = j
	}
	h.signal()
	return j
}

// signal wakes the goroutine of a subject that has its own.
func (h *hub) signal() {
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

// abandon takes back one wait for a job, and the job with the last one: nobody reads what it has copied. It reports whether the job
// still waits for a safe point. With waiting it does nothing to another one, whose result will come.
func (h *hub) abandon(j *job, waiting bool) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if waiting && j.taken {
		return false
	}
	if j.waiters--; j.waiters == 0 && !j.taken {
		h.waiting[j.kind()].remove(j)
		if h.byKey[j.key] == j {
			delete(h.byKey, j.key)
		}
	}
	return !j.taken
}

// afterFailure answers with the last result of a key, since no safe point will come.
func (h *hub) afterFailure(key string, failure error) ([]byte, bool, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if body, ok := h.answers.bodies[key]; ok && !h.closed {
		return body, true, nil
	}
	if h.closed {
		return nil, false, errClosed
	}
	return nil, false, &failedError{failure}
}

func (h *hub) records() *hub { return h }

func (h *hub) close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.closed {
		h.closed = true
		h.waiting = [2]turns[*job]{}
		clear(h.byKey)
		close(h.closing)
	}
	return nil
}

// lastAnswers are the last results by key, for pages that look at a Sim that has failed. It drops the oldest
// key when there are more than it may hold.
type lastAnswers struct {
	bodies map[string][]byte
	order  []string // by first use
	bytes  int
}

const (
	maxAnswers     = 64
	maxAnswerBytes = 8 << 20
)

func (k *lastAnswers) put(key string, body []byte) {
	old, known := k.bodies[key]
	if !known {
		k.order = append(k.order, key)
	}
	k.bodies[key] = body
	k.bytes += len(body) - len(old)
	for len(k.order) > maxAnswers || k.bytes > maxAnswerBytes {
		k.bytes -= len(k.bodies[k.order[0]])
		delete(k.bodies, k.order[0])
		k.order = append(k.order[:0], k.order[1:]...)
	}
}
