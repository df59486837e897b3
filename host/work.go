package host

import (
	"context"
	"errors"
	"fmt"

	"github.com/evertick/evertick/loop"
)

// errGoexit is the error of a world whose tick has ended its goroutine, as runtime.Goexit does.
var errGoexit = errors.New("a tick has ended its goroutine")

// windowTicks is the number of ticks after which p95 of them replaces the one before.
const windowTicks = 256

// workerClock is the clock of one worker, since a clock that sleeps serves one goroutine. All show the same time.
type workerClock struct {
	clock  loop.Clock
	offset int64
}

func (c *workerClock) now() int64 { return c.clock.Now() + c.offset }

func (c *workerClock) sleep(ctx context.Context, untilNs int64) error {
	return c.clock.Sleep(ctx, untilNs-c.offset)
}

// newClocks returns a clock for each worker, which shows the time of common.
func newClocks(c Config, common loop.Clock) ([]workerClock, error) {
	clocks := make([]workerClock, c.Workers)
	common.Now() // its origin, if that is its first use
	for i := range clocks {
		if c.Clock != nil {
			clocks[i].clock = c.Clock
			continue
		}
		clock, err := loop.NewClock(c.Pacing)
		if err != nil {
			return nil, err
		}
		clock.Now()
		clocks[i] = workerClock{clock, common.Now() - clock.Now()}
	}
	return clocks, nil
}

// work runs worlds until the Host is closed.
func (h *Host) work(clock *workerClock) {
	closed := false
	defer func() {
		if closed {
			h.goroutines.Done()
		} else { // a tick has ended this goroutine
			go h.work(clock)
		}
	}()
	for {
		w := h.next(clock)
		if w == nil {
			closed = true
			return
		}
		h.turn(w, clock)
	}
}

// turn is one turn of a world, and what came of it.
type turn struct {
	begin, end int64
	frame      loop.Frame
	err        error
}

// turn runs one frame of a world: the ticks that are due, as many as its loop allows.
func (h *Host) turn(w *world, clock *workerClock) {
	t := turn{begin: clock.now(), err: errGoexit}
	defer func() {
		if v := recover(); v != nil {
			t.err = loop.NewPanicError(w.Sim.Ticks(), "", v)
		}
		t.end = clock.now()
		h.finish(w, &t)
	}()
	t.frame, t.err = w.Sim.Advance(t.begin - w.last)
}

// finish accounts for a turn, and schedules the next one.
func (h *Host) finish(w *world, t *turn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	w.finish = w.start + float64(max(1, t.end-t.begin))/float64(w.Weight)
	if t.err != nil {
		h.end(w, t.err)
		return
	}
	h.count(w, t)
	w.last, w.due = t.begin, t.begin+w.Sim.Loop().UntilFrame()
	h.schedule(w)
}

// end ends a world by itself. h.mu is held.
func (h *Host) end(w *world, err error) {
	var panicked *loop.PanicError
	if errors.Is(err, loop.ErrStop) && !errors.As(err, &panicked) {
		err = nil
	} else {
		err = fmt.Errorf("host: world %q: %w", w.Name, err)
		h.failed++
	}
	w.place, w.ended, w.err = out, true, err
	h.goroutines.Go(func() {
		w.acceptInputs(false)
		if w.Ended != nil {
			w.Ended(err)
		}
		err := w.closeRecorder()
		h.mu.Lock()
		defer h.mu.Unlock()
		w.err, w.settled = errors.Join(w.err, err), true
		h.changed.Broadcast()
	})
}
