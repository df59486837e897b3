package inspector

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
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
	eachTick []func(*evertick.Sim) // called after each tick
	inTick   bool                  // the safe point is that after a tick, within Step
	serving  []*job
	scratch  []byte

	mu       sync.Mutex
	closed   bool
	safeAt   int64 // the last safe point, in ns since start
	summary  summary
	waiting  []*job          // in the order in which they came
	byKey    map[string]*job // those of waiting that are shared
	answers  lastAnswers
	meanCost float64 // of a safe point in ns, over about the last 64
	ticks    ticks
	frames   frames

	columns atomic.Pointer[columnsCopy] // the last
	events  eventLog
}

// summary is what the last safe point saw.
type summary struct {
	at       stateVersion
	hash     uint64
	entities int
	bodies   int
	contacts int
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

// job is a task for the next safe point, and those that wait for its result.
type job struct {
	key     string
	f       task
	waiters int
	done    chan struct{} // closed when body and err are set
	body    []byte
	err     error
}

func newHub() *hub {
	h := &hub{
		start: time.Now(), wake: make(chan struct{}, 1), closing: make(chan struct{}),
		failure: func() error { return nil }, byKey: map[string]*job{},
	}
	h.answers.bodies = map[string][]byte{}
	h.frames.views = map[frameOptions]*view{}
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
	h.mu.Lock()
	h.safeAt = now
	h.ticks.undo(sim.Ticks() + 1)
	if h.inTick {
		h.record(sim)
	}
	h.summary = summary{
		at: stateVersion{w, sim.Ticks(), w.Version(), w.LastTouch(), w.Generation()}, hash: sim.Hash(),
		entities: w.Len(), bodies: sim.Physics.Len(), contacts: sim.Physics.ContactCount(), paused: paused,
	}
	h.serving, h.waiting = h.waiting, h.serving[:0]
	clear(h.byKey)
	wanted := h.frames.due(h.summary.at, now)
	idle := len(h.serving) == 0 && len(wanted) == 0
	if idle {
		h.meanCost -= h.meanCost / 64
	}
	h.mu.Unlock()
	if idle {
		return
	}
	for i, j := range h.serving {
		h.serve(sim, j)
		h.serving[i] = nil
	}
	for _, v := range wanted {
		h.capture(sim, v)
	}
	cost := h.now() - now
	h.mu.Lock()
	h.meanCost += (float64(cost) - h.meanCost) / 64
	if len(wanted) > 0 {
		h.frames.spent(now, cost)
	}
	h.mu.Unlock()
}

// serve runs a job. A fault of the Inspector must not end the Sim, so a panic is an error of the
// request.
func (h *hub) serve(sim *evertick.Sim, j *job) {
	defer func() {
		if v := recover(); v != nil {
			j.body, j.err = nil, fmt.Errorf("inspector: request %q: panic: %v", j.key, v)
		}
		if j.err == nil && j.key != "" {
			h.mu.Lock()
			h.answers.put(j.key, j.body)
			h.mu.Unlock()
		}
		close(j.done)
	}()
	h.scratch, j.err = j.f(sim, h.scratch[:0])
	if j.err == nil {
		j.body = append([]byte(nil), h.scratch...)
	}
}

// do implements subject.
func (h *hub) do(ctx context.Context, key string, f task) (body []byte, stale bool, err error) {
	if h.age() > failureCheck {
		if err := h.failure(); err != nil {
			return h.afterFailure(key, err)
		}
	}
	j := h.post(key, f)
	if j == nil {
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
			h.abandon(j)
			return nil, false, ctx.Err()
		case <-timer.C:
			timer.Reset(failureCheck)
		}
		if err := h.failure(); err != nil && h.abandon(j) {
			return h.afterFailure(key, err)
		}
		if time.Duration(h.now()-from) >= stallAfter && h.abandon(j) {
			return nil, false, &stalledError{h.age()}
		}
	}
}

// post adds a job, or joins the one that waits for the same key. It returns nil after close.
func (h *hub) post(key string, f task) *job {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil
	}
	if j := h.byKey[key]; j != nil {
		j.waiters++
		return j
	}
	j := &job{key: key, f: f, waiters: 1, done: make(chan struct{})}
	h.waiting = append(h.waiting, j)
	if key != "" {
		h.byKey[key] = j
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

// abandon takes back one wait for a job, and the job with the last one. It reports false if the job
// no longer waits, so that its result will come.
func (h *hub) abandon(j *job) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, w := range h.waiting {
		if w != j {
			continue
		}
		if j.waiters--; j.waiters == 0 {
			h.waiting = append(h.waiting[:i], h.waiting[i+1:]...)
			if j.key != "" {
				delete(h.byKey, j.key)
			}
		}
		return true
	}
	return false
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
		h.waiting = nil
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
