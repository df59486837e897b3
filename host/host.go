package host

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/loop"
)

// Host runs many worlds with a fixed number of goroutines. Any goroutine may call its methods.
type Host struct {
	config Config

	goroutines sync.WaitGroup

	mu      sync.Mutex
	clock   loop.Clock // of Add
	changed *sync.Cond // a world is out, settled or gone, or stays
	worlds  []*world   // in the order of admission
	byName  map[string]*world
	timers  queue // by the time at which they are due
	ready   queue // those that are due, by their start tags
	// virtual is the virtual time of start-time fair queueing: the greatest start tag of a turn that has begun.
	virtual float64
	number  uint64

	sleeping        context.Context // of the workers that wait
	awake           context.CancelFunc
	closing, closed bool
	failed, refused uint64
	total           counts
}

// New returns a Host without worlds, whose workers wait. Close ends them. Errors are those of Config.Validate.
func New(c Config) (*Host, error) {
	h, clocks, err := newHost(c)
	if err != nil {
		return nil, err
	}
	for i := range clocks {
		h.goroutines.Add(1)
		go h.work(&clocks[i])
	}
	return h, nil
}

// newHost returns a Host whose workers do not run yet, and a clock for each of them.
func newHost(c Config) (*Host, []workerClock, error) {
	if err := c.Validate(); err != nil {
		return nil, nil, err
	}
	h := &Host{config: c.withDefaults(), byName: map[string]*world{}, timers: queue{less: earlier}, ready: queue{less: less}}
	h.changed = sync.NewCond(&h.mu)
	h.sleeping, h.awake = context.WithCancel(context.Background())
	if h.clock = h.config.Clock; h.clock == nil {
		h.clock = new(loop.SystemClock)
	}
	clocks, err := newClocks(h.config, h.clock)
	return h, clocks, err
}

// Add admits a world, and begins to run it: its first tick is due one tick's time later. Unless there is an estimate, it
// first runs a trial of some ticks, back to back, on a twin that Scenario.New builds, on the goroutine of the caller. The
// estimate is then the p95 of the trial, or, if greater, of a running world with the same Scenario.Name.
// The Sim itself is not changed by a trial.
//
// The error wraps ErrCapacity, with all numbers, if p95 × rate of all worlds would exceed Config.Budget, or if the ticks of
// the world would follow each other without a pause; ErrClosed after Drain or Close; ErrRange for a name that is taken and
// for fields out of their range; ErrUnsupported for a Sim with loop.Config.Batch; ErrDiverged if Snapshot is of another
// state than Sim. Otherwise it is what Scenario.New, Restore or a tick of the trial returned. After an error the world is
// not in the Host, the Sim is as it was, and Recorder is open.
func (h *Host) Add(d World) error {
	err := h.add(&world{World: d})
	if err != nil {
		err = fmt.Errorf("host: Add: world %.40q: %w", d.Name, err)
	}
	return err
}

func (h *Host) add(w *world) error {
	if err := w.validate(); err != nil {
		return err
	}
	if err := h.check(w.Name); err != nil { // before the work of a trial
		return err
	}
	clock := h.config.Clock
	if clock == nil {
		clock = new(loop.SystemClock)
	}
	w.Weight, w.shut = max(w.Weight, 1), true
	if err := w.prepare(clock); err != nil {
		return err
	}
	if err := h.reserve(w); err != nil {
		return err
	}
	if w.Snapshot != nil { // prepare has restored it into a twin
		if err := w.Sim.Restore(w.Snapshot); err != nil {
			h.forget(w)
			return err
		}
		w.Snapshot = nil
	}
	w.acceptInputs(true)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.run(w)
	return nil
}

// run begins to run a world, or goes on with one that could not leave. h.mu is held.
func (h *Host) run(w *world) {
	w.last = h.clock.Now()
	w.due = w.last + w.Sim.Loop().UntilFrame()
	h.schedule(w)
	h.wake()
}

// check reports whether a world of this name can be added. h.mu is not held.
func (h *Host) check(name string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.mayAdd(name)
}

// mayAdd is check while h.mu is held.
func (h *Host) mayAdd(name string) error {
	switch {
	case h.closing:
		return ErrClosed
	case h.byName[name] != nil:
		return fmt.Errorf("the name is taken: %w", fault.ErrRange)
	}
	return nil
}

// reserve admits a world, which does not run yet.
func (h *Host) reserve(w *world) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.mayAdd(w.Name); err != nil {
		return err
	}
	var admitted []demand
	for _, other := range h.worlds {
		if other.ended {
			continue
		}
		admitted = append(admitted, other.demand)
		if w.EstimateNs == 0 && other.measured && other.Scenario.Name == w.Scenario.Name {
			w.p95Ns = max(w.p95Ns, other.p95Ns)
		}
	}
	if err := admit(h.config.Budget, admitted, w.demand); err != nil {
		h.refused++
		return err
	}
	w.number = h.number
	h.number++
	h.worlds = append(h.worlds, w)
	h.byName[w.Name] = w
	return nil
}

// forget removes a world that does not run from the list.
func (h *Host) forget(w *world) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.worlds = slices.DeleteFunc(h.worlds, func(other *world) bool { return other == w })
	delete(h.byName, w.Name)
	w.place = gone
	h.changed.Broadcast()
}

// find returns a world by its name.
func (h *Host) find(name string) (*world, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if w := h.byName[name]; w != nil {
		return w, nil
	}
	return nil, fmt.Errorf("host: world %.40q: %w", name, errLeft)
}

// Push hands an input to the Sim of a world, as evertick.Sim.Push does, with its errors. An input that it accepts is
// applied, or is in the snapshot with which the world leaves: nothing is lost between the two. For a world that is leaving
// the error wraps ErrClosed, for one that is not here ErrStale: the sender repeats the input where the world is then.
func (h *Host) Push(name string, in evertick.Input) error {
	w, err := h.find(name)
	if err != nil {
		return err
	}
	w.gate.Lock()
	defer w.gate.Unlock()
	if w.shut {
		return fmt.Errorf("host: world %.40q: Push: %w", name, ErrClosed)
	}
	return w.Sim.Push(in)
}

// acceptInputs says whether Push may.
func (w *world) acceptInputs(may bool) {
	w.gate.Lock()
	defer w.gate.Unlock()
	w.shut = !may
}

// closeRecorder closes the log, once. A second caller waits until it is closed.
func (w *world) closeRecorder() error {
	w.gate.Lock()
	defer w.gate.Unlock()
	if w.Recorder == nil || w.closed {
		return nil
	}
	w.closed = true
	if err := w.Recorder.Close(); err != nil {
		return fmt.Errorf("host: world %q: %w", w.Name, err)
	}
	return nil
}

// Close ends all workers after their turns, and closes the logs of the worlds. It waits for a tick that runs, however long
// that takes. Remove still returns the state of a world afterwards.
func (h *Host) Close() error {
	h.mu.Lock()
	h.closing, h.closed = true, true
	h.wake()
	h.changed.Broadcast()
	h.mu.Unlock()
	h.goroutines.Wait()
	h.mu.Lock()
	defer h.mu.Unlock()
	var errs []error
	for _, w := range h.worlds {
		errs = append(errs, w.closeRecorder())
	}
	return errors.Join(errs...)
}
