package host

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/evertick/evertick/internal/fault"
)

// errLeft: a world has left, or never came.
var errLeft = fmt.Errorf("not in this Host: %w", fault.ErrStale)

// Saved is a world that has left: all that another Host, in any process, needs to continue it with the same hashes. All of
// it can be sent as JSON.
type Saved struct {
	Name, Scenario string
	Seed           uint64
	Ticks, Hash    uint64 // after the last tick
	Weight         int
	Snapshot       []byte // of the Sim, with the inputs that wait
	Recorded       bool   // it had a Recorder, whose log is closed and has all ticks
}

// Remove takes a world out: it waits until no tick of it runs, refuses inputs from then on, and returns the state, with the
// inputs that wait. The log, if it has one, is then closed. To continue the world elsewhere, pass Saved.Snapshot in World,
// with the Sim of replay.Resume if there is a log. The Sim may be used again.
//
// If ctx is done before the tick that runs has ended, the world stays. So it does if its Sim has no snapshots. The error of
// a log that could not be closed is returned with the state. For a world that has ended by itself Remove returns the
// reason, and only Name, Scenario and Seed.
//
// A world leaves once. While another goroutine takes it out, Remove waits for what comes of that: if the world has left, the
// error wraps ErrStale, and if the other one gives up, Remove goes on.
func (h *Host) Remove(ctx context.Context, name string) (Saved, error) {
	w, err := h.find(name)
	if err != nil {
		return Saved{}, err
	}
	return h.remove(ctx, w)
}

func (h *Host) remove(ctx context.Context, w *world) (Saved, error) {
	if err := h.stop(ctx, w); err != nil {
		return Saved{}, err
	}
	saved := Saved{Name: w.Name, Scenario: w.Scenario.Name, Seed: w.Seed, Weight: w.Weight}
	if w.ended {
		h.forget(w)
		return saved, w.err
	}
	w.acceptInputs(false)
	snapshot, err := w.Sim.Snapshot(nil)
	if err != nil {
		w.acceptInputs(true)
		h.mu.Lock()
		defer h.mu.Unlock()
		h.stay(w)
		h.run(w)
		return Saved{}, fmt.Errorf("host: world %q: %w", w.Name, err)
	}
	saved.Snapshot, saved.Ticks, saved.Hash, saved.Recorded = snapshot, w.Sim.Ticks(), w.Sim.Hash(), w.Recorder != nil
	h.forget(w)
	return saved, w.closeRecorder()
}

// stop waits until a world is out, or has ended and is settled. The caller may then use it, since it stops for one alone:
// forget or stay must follow.
func (h *Host) stop(ctx context.Context, w *world) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	defer context.AfterFunc(ctx, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.changed.Broadcast()
	})()
	mine := false
	for {
		switch {
		case w.place == gone:
			return fmt.Errorf("host: world %.40q: %w", w.Name, errLeft)
		case !mine && !w.leaving:
			mine, w.leaving = true, true
			h.wake() // a worker may sleep for it
		}
		if mine && h.takeOut(w) && (w.settled || !w.ended) {
			return nil
		}
		if err := ctx.Err(); err != nil {
			if mine {
				h.stay(w)
			}
			return fmt.Errorf("host: world %q: %w", w.Name, err)
		}
		h.changed.Wait()
	}
}

// stay gives up taking a world out, so that another one may. h.mu is held.
func (h *Host) stay(w *world) {
	w.leaving = false
	h.changed.Broadcast()
}

// Drain empties the Host, for a move to another process: Add admits nothing more, and one world after another, in the order
// of admission, leaves as by Remove and is passed to save, while the others run on. So a world rests only as long as its
// own save takes. Worlds that have ended by themselves leave without a call of save; the error of Drain has their reasons. A
// world that another goroutine takes out is its alone: Drain waits until it has left, and goes on. So several Drains at the same
// time share the worlds.
//
// An error of ctx, of the snapshot or of the log of a world, or of save ends Drain. The worlds after that run on, and
// another call of Drain continues with them. A world for which save was called has left, whatever save returned.
func (h *Host) Drain(ctx context.Context, save func(Saved) error) error {
	if save == nil {
		panic("host: Drain: nil save")
	}
	h.mu.Lock()
	h.closing = true
	worlds := slices.Clone(h.worlds)
	h.mu.Unlock()
	var reasons []error
	for _, w := range worlds {
		saved, err := h.remove(ctx, w)
		if saved.Name == "" && errors.Is(err, errLeft) {
			continue
		}
		if saved.Snapshot != nil {
			if e := save(saved); e != nil {
				err = errors.Join(err, fmt.Errorf("host: world %q: %w", w.Name, e))
			}
		}
		reasons = append(reasons, err)
		if err != nil && (saved.Name == "" || saved.Snapshot != nil) {
			break // it has not left, or could not be saved
		}
	}
	return errors.Join(reasons...)
}
