package host_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/evertick/evertick/host"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/replay"
)

// leavers counts how often each world has left, and which calls were not as they should be.
type leavers struct {
	*testing.T
	h *host.Host

	mu       sync.Mutex
	left     map[string]int
	stale    int // calls of Remove that came too late
	canceled int
}

func (l *leavers) add(name string, sc replay.Scenario) {
	l.Helper()
	if err := l.h.Add(host.World{Name: name, Scenario: sc, EstimateNs: 1}); err != nil {
		l.Fatal(err)
	}
}

func (l *leavers) note(s host.Saved) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.left[s.Name]++
}

// remove takes a world out, unless another goroutine does or ctx ends. All other errors are faults.
func (l *leavers) remove(ctx context.Context, name string) {
	s, err := l.h.Remove(ctx, name)
	switch {
	case err == nil && s.Name == name && len(s.Snapshot) > 0:
		l.note(s)
	case errors.Is(err, fault.ErrStale):
		l.mu.Lock()
		defer l.mu.Unlock()
		l.stale++
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		l.mu.Lock()
		defer l.mu.Unlock()
		l.canceled++
	default:
		l.Errorf("Remove %q: %q, %v", name, s.Name, err)
	}
}

// drain empties the Host, whatever others remove meanwhile.
func (l *leavers) drain(during func(host.Saved)) {
	err := l.h.Drain(context.Background(), func(s host.Saved) error {
		l.note(s)
		during(s)
		return nil
	})
	var s host.Stats
	if l.h.Stats(&s); err != nil || len(s.Worlds) > 0 {
		l.Errorf("Drain: %v; %d worlds are left", err, len(s.Worlds))
	}
}

func (l *leavers) check(worlds int) {
	l.Helper()
	for name, times := range l.left {
		if times != 1 {
			l.Errorf("world %q has left %d times", name, times)
		}
	}
	if len(l.left) != worlds {
		l.Errorf("%d of %d worlds have left: %v", len(l.left), worlds, l.left)
	}
}

// Worlds are removed before, while and after Drain comes to them, by the goroutine that saves, by others, and by a second
// Drain: each leaves once, and Drain leaves none.
func TestDrainAndRemove(t *testing.T) {
	const worlds = 6
	r := rand.New(rand.NewPCG(paritytest.Seed(), 2))
	for round := range 40 {
		l := &leavers{T: t, h: newHost(t, host.Config{Workers: 1 + r.IntN(3), Budget: 100}), left: map[string]int{}}
		for i := range worlds {
			l.add(fmt.Sprint(i), walkers)
		}
		var others sync.WaitGroup
		var mu sync.Mutex // of r
		act := func(host.Saved) {
			mu.Lock()
			name, what := fmt.Sprint(r.IntN(worlds)), r.IntN(5)
			mu.Unlock()
			ctx, cancel := context.WithCancel(context.Background())
			switch what {
			case 0:
				l.remove(context.Background(), name)
			case 1:
				others.Go(func() { l.remove(context.Background(), name) })
			case 2: // it may give up
				others.Go(func() { l.remove(ctx, name) })
			case 3:
				others.Go(func() { l.drain(func(host.Saved) {}) })
			}
			cancel()
		}
		if round == 0 { // one that is certain to be removed before Drain comes to it
			act = func(s host.Saved) {
				if s.Name == "0" {
					l.remove(context.Background(), "3")
				}
			}
		}
		l.drain(act)
		others.Wait()
		l.check(worlds)
	}
}

// A Drain and two calls of Remove come while a tick of the world runs, which another goroutine already waits to take out. If that
// one gives up, one of the others has the world.
func TestLeavingOnce(t *testing.T) {
	for _, givesUp := range []bool{false, true} {
		l := &leavers{T: t, h: newHost(t, host.Config{Workers: 2, Budget: 100}), left: map[string]int{}}
		running, release := make(chan struct{}), make(chan struct{})
		l.add("slow", failing(func() error { close(running); <-release; return nil }))
		l.add("last", walkers)
		<-running
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		var all sync.WaitGroup
		all.Go(func() { l.remove(ctx, "slow") })
		time.Sleep(5 * time.Millisecond) // for the first to be first, which no result depends on
		all.Go(func() { l.remove(context.Background(), "slow") })
		all.Go(func() { l.remove(context.Background(), "slow") })
		all.Go(func() { l.drain(func(host.Saved) {}) })
		time.Sleep(5 * time.Millisecond)
		if givesUp {
			cancel()
			until(t, "one has given up", func() bool { l.mu.Lock(); defer l.mu.Unlock(); return l.canceled == 1 })
		}
		close(release)
		all.Wait()
		l.check(2)
	}
}

// A world with a log says so also when the Host has closed the log before.
func TestRecordedAfterClose(t *testing.T) {
	h, err := host.New(host.Config{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	sim, err := walkers.New(1)
	if err != nil {
		t.Fatal(err)
	}
	rec, err := replay.Record(t.TempDir(), walkers.Name, sim, replay.Options{})
	if err == nil {
		err = h.Add(host.World{Name: "w", Sim: sim, Recorder: rec, EstimateNs: 1})
	}
	if err = errors.Join(err, h.Close()); err != nil {
		t.Fatal(err)
	}
	if s, err := h.Remove(t.Context(), "w"); err != nil || !s.Recorded {
		t.Errorf("recorded: %t, %v", s.Recorded, err)
	}
}

// What has ended by itself stays an ended world for Drain, also where its error is that of a world that has left.
func TestDrainEndedByStale(t *testing.T) {
	h := newHost(t, host.Config{Workers: 1, Budget: 100})
	act := func() error { _, err := h.Remove(context.Background(), "nobody"); return err }
	for _, name := range []string{"a", "b"} {
		if err := h.Add(host.World{Name: name, Scenario: failing(act), EstimateNs: 1}); err != nil {
			t.Fatal(err)
		}
	}
	until(t, "both have ended", func() bool { return statsOf(t, h, "a").Ended && statsOf(t, h, "b").Ended })
	err := h.Drain(t.Context(), func(host.Saved) error { return nil })
	var s host.Stats
	h.Stats(&s)
	if !errors.Is(err, fault.ErrStale) || len(s.Worlds) > 0 {
		t.Errorf("Drain: %v; %d worlds are left", err, len(s.Worlds))
	}
}
