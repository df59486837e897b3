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

// desk takes requests about one Sim from any goroutine, and answers them on the goroutine of the Sim,
// which calls tick and between at its safe points. It also keeps what it saw at these points.
type desk struct {
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
	facts    facts
	waiting  []*job          // in the order of their posts
	byKey    map[string]*job // those of waiting that are shared
	kept     kept
	meanCost float64 // of a safe point in ns, over about the last 64
	ticks    ticks
	frames   frames

	columns atomic.Pointer[columnsCopy] // the last
	events  eventLog
}

// facts are what the last safe point saw.
type facts struct {
	stamp    stamp
	hash     uint64
	entities int
	bodies   int
	contacts int
	paused   bool
}

// state is what pages call the state of a Sim that can go on.
func (f *facts) state() string {
	if f.paused {
		return "paused"
	}
	return "running"
}

// stamp changes with the state of a Sim, as far as that is reported: by a tick, a spawn, a Touch, a
// Restore.
type stamp struct {
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

func newDesk() *desk {
	d := &desk{
		start: time.Now(), wake: make(chan struct{}, 1), closing: make(chan struct{}),
		failure: func() error { return nil }, byKey: map[string]*job{},
	}
	d.kept.bodies = map[string][]byte{}
	d.frames.views = map[frameOptions]*view{}
	d.events.clock = d.now
	d.eachTick = append(d.eachTick, d.events.record)
	return d
}

// now returns the time since the desk was made, in ns.
func (d *desk) now() int64 { return int64(time.Since(d.start)) }

// age returns the time since the last safe point.
func (d *desk) age() time.Duration {
	d.mu.Lock()
	at := d.safeAt
	d.mu.Unlock()
	return time.Duration(d.now() - at)
}

// tick is the safe point after a tick.
func (d *desk) tick(sim *evertick.Sim) {
	for _, f := range d.eachTick {
		f(sim)
	}
	d.inTick = true
	d.between(sim, sim.Loop().Paused())
	d.inTick = false
}

// again records a tick that StepBack or Forward runs again, unless it still has it. It is no safe point: pages have seen the
// tick, and would see the Sim go back farther than it does.
func (d *desk) again(sim *evertick.Sim) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if t := &d.ticks; t.len == 0 || t.at(t.len-1).tick < sim.Ticks() {
		d.record(sim)
	}
}

// record records the tick that has run. The caller holds the lock.
func (d *desk) record(sim *evertick.Sim) {
	_, stepNs := sim.Timings()
	d.ticks.add(sim.Ticks(), sim.Hash(), stepNs)
}

// between is a safe point: it runs what waits. A tick locks the mutex once while nothing waits, since that and reading
// the clock are most of the cost.
func (d *desk) between(sim *evertick.Sim, paused bool) {
	now := d.now()
	w := sim.World
	d.mu.Lock()
	d.safeAt = now
	d.ticks.undo(sim.Ticks() + 1)
	if d.inTick {
		d.record(sim)
	}
	d.facts = facts{
		stamp: stamp{w, sim.Ticks(), w.Version(), w.LastTouch(), w.Generation()}, hash: sim.Hash(),
		entities: w.Len(), bodies: sim.Physics.Len(), contacts: sim.Physics.ContactCount(), paused: paused,
	}
	d.serving, d.waiting = d.waiting, d.serving[:0]
	clear(d.byKey)
	wanted := d.frames.due(d.facts.stamp, now)
	idle := len(d.serving) == 0 && len(wanted) == 0
	if idle {
		d.meanCost -= d.meanCost / 64
	}
	d.mu.Unlock()
	if idle {
		return
	}
	for i, j := range d.serving {
		d.serve(sim, j)
		d.serving[i] = nil
	}
	for _, v := range wanted {
		d.capture(sim, v)
	}
	cost := d.now() - now
	d.mu.Lock()
	d.meanCost += (float64(cost) - d.meanCost) / 64
	if len(wanted) > 0 {
		d.frames.spent(now, cost)
	}
	d.mu.Unlock()
}

// serve runs a job. A fault of the Inspector must not end the Sim, so a panic is an error of the
// request.
func (d *desk) serve(sim *evertick.Sim, j *job) {
	defer func() {
		if v := recover(); v != nil {
			j.body, j.err = nil, fmt.Errorf("inspector: request %q: panic: %v", j.key, v)
		}
		if j.err == nil && j.key != "" {
			d.mu.Lock()
			d.kept.put(j.key, j.body)
			d.mu.Unlock()
		}
		close(j.done)
	}()
	d.scratch, j.err = j.f(sim, d.scratch[:0])
	if j.err == nil {
		j.body = append([]byte(nil), d.scratch...)
	}
}

// do implements subject.
func (d *desk) do(ctx context.Context, key string, f task) (body []byte, stale bool, err error) {
	if d.age() > failureCheck {
		if err := d.failure(); err != nil {
			return d.afterFailure(key, err)
		}
	}
	j := d.post(key, f)
	if j == nil {
		return nil, false, errClosed
	}
	from := d.now()
	timer := time.NewTimer(failureCheck)
	defer timer.Stop()
	for {
		select {
		case <-j.done:
			return j.body, false, j.err
		case <-d.closing:
			return nil, false, errClosed
		case <-ctx.Done():
			d.abandon(j)
			return nil, false, ctx.Err()
		case <-timer.C:
			timer.Reset(failureCheck)
		}
		if err := d.failure(); err != nil && d.abandon(j) {
			return d.afterFailure(key, err)
		}
		if time.Duration(d.now()-from) >= stallAfter && d.abandon(j) {
			return nil, false, &stalledError{d.age()}
		}
	}
}

// post adds a job, or joins the one that waits for the same key. It returns nil after close.
func (d *desk) post(key string, f task) *job {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil
	}
	if j := d.byKey[key]; j != nil {
		j.waiters++
		return j
	}
	j := &job{key: key, f: f, waiters: 1, done: make(chan struct{})}
	d.waiting = append(d.waiting, j)
	if key != "" {
		d.byKey[key] = j
	}
	d.signal()
	return j
}

// signal wakes the goroutine of a subject that has its own.
func (d *desk) signal() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// abandon takes back one wait for a job, and the job with the last one. It reports false if the job
// no longer waits, so that its result will come.
func (d *desk) abandon(j *job) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i, w := range d.waiting {
		if w != j {
			continue
		}
		if j.waiters--; j.waiters == 0 {
			d.waiting = append(d.waiting[:i], d.waiting[i+1:]...)
			if j.key != "" {
				delete(d.byKey, j.key)
			}
		}
		return true
	}
	return false
}

// afterFailure answers with the last result of a key, since no safe point will come.
func (d *desk) afterFailure(key string, failure error) ([]byte, bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if body, ok := d.kept.bodies[key]; ok && !d.closed {
		return body, true, nil
	}
	if d.closed {
		return nil, false, errClosed
	}
	return nil, false, &failedError{failure}
}

func (d *desk) records() *desk { return d }

func (d *desk) close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.closed {
		d.closed = true
		d.waiting = nil
		clear(d.byKey)
		close(d.closing)
	}
	return nil
}

// kept are the last results by key, for pages that look at a Sim that has failed. It drops the oldest
// key when there are more than it may hold.
type kept struct {
	bodies map[string][]byte
	order  []string // by first use
	bytes  int
}

const (
	maxKept      = 64
	maxKeptBytes = 8 << 20
)

func (k *kept) put(key string, body []byte) {
	old, known := k.bodies[key]
	if !known {
		k.order = append(k.order, key)
	}
	k.bodies[key] = body
	k.bytes += len(body) - len(old)
	for len(k.order) > maxKept || k.bytes > maxKeptBytes {
		k.bytes -= len(k.bodies[k.order[0]])
		delete(k.bodies, k.order[0])
		k.order = append(k.order[:0], k.order[1:]...)
	}
}
