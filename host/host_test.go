package host_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/host"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/replay"
)

// walkers move at random, and by their inputs.
var walkers = replay.Scenario{Name: "walkers", New: func(seed uint64) (*evertick.Sim, error) {
	sim, err := evertick.New(evertick.Config{Capacity: 8, Seed: seed, Loop: loop.Config{RateNum: 480, RateDen: 1}})
	if err != nil {
		return nil, err
	}
	if _, err := sim.World.Spawn(); err != nil {
		return nil, err
	}
	return sim, sim.Add(evertick.BeforePhysics, "walk", func(t *evertick.Tick) error {
		r := t.Rand(0, 0)
		sim.World.Position.X[0] += r.Range(-1, 1)
		for _, in := range t.Inputs() {
			sim.World.Position.Z[0] += float32(in.Data[0])
		}
		return nil
	})
}}

// failing is walkers with a system that calls act in tick 20.
func failing(act func() error) replay.Scenario {
	return replay.Scenario{Name: "failing", New: func(seed uint64) (*evertick.Sim, error) {
		sim, err := walkers.New(seed)
		if err != nil {
			return nil, err
		}
		return sim, sim.Add(evertick.AfterPhysics, "fail", func(t *evertick.Tick) error {
			if t.N != 20 {
				return nil
			}
			return act()
		})
	}}
}

func newHost(t *testing.T, c host.Config) *host.Host {
	t.Helper()
	h, err := host.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

// until waits for a condition.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within a minute: %s", what)
		}
	}
}

func statsOf(t *testing.T, h *host.Host, name string) host.WorldStats {
	t.Helper()
	var s host.Stats
	h.Stats(&s)
	i := slices.IndexFunc(s.Worlds, func(w host.WorldStats) bool { return w.Name == name })
	if i < 0 {
		t.Fatalf("no world %q in %+v", name, s)
	}
	return s.Worlds[i]
}

// A world that fails in any way ends alone, with an error that names it.
func TestFailure(t *testing.T) {
	broken := errors.New("broken")
	h := newHost(t, host.Config{Workers: 2, Budget: 100})
	if err := h.Add(host.World{Name: "good", Scenario: walkers, EstimateNs: 1}); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		act  func() error
		says []string // nil: it ends without an error
	}{
		"error":  {func() error { return broken }, []string{`world "error"`, "tick 20", "fail", "broken"}},
		"panic":  {func() error { panic(broken) }, []string{`world "panic"`, "tick 20", "panic", "broken"}},
		"goexit": {func() error { runtime.Goexit(); return nil }, []string{`world "goexit"`, "ended its goroutine"}},
		"stop":   {func() error { return loop.ErrStop }, nil},
	} {
		ended := make(chan error, 2)
		err := h.Add(host.World{Name: name, Scenario: failing(c.act), EstimateNs: 1, Ended: func(err error) { ended <- err }})
		if err != nil {
			t.Fatal(err)
		}
		err = <-ended
		if (err == nil) != (c.says == nil) || len(ended) > 0 {
			t.Errorf("%s: Ended with %v", name, err)
		}
		for _, part := range c.says {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s: no %q in %q", name, part, err)
			}
		}
		if name == "error" && !errors.Is(err, broken) {
			t.Errorf("%v does not wrap the error of the system", err)
		}
		if s := statsOf(t, h, name); !s.Ended || fmt.Sprint(s.Err) != fmt.Sprint(err) {
			t.Errorf("%s: Stats have %+v", name, s)
		}
		until(t, "Push is refused", func() bool { return errors.Is(h.Push(name, evertick.Input{}), host.ErrClosed) })
		if saved, e := h.Remove(t.Context(), name); fmt.Sprint(e) != fmt.Sprint(err) || saved.Snapshot != nil {
			t.Errorf("%s: Remove returns %v", name, e)
		}
		if _, err := h.Remove(t.Context(), name); !errors.Is(err, fault.ErrStale) {
			t.Errorf("%s: removed again: %v", name, err)
		}
	}
	before := statsOf(t, h, "good").Ticks
	until(t, "the good world runs on", func() bool { return statsOf(t, h, "good").Ticks > before+20 })
}

// Bad descriptions are errors that name the field, and add nothing.
func TestBadWorlds(t *testing.T) {
	h := newHost(t, host.Config{Workers: 1, Budget: 100})
	sim := func(c loop.Config) *evertick.Sim {
		s, err := evertick.New(evertick.Config{Capacity: 1, Loop: c})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	other, err := walkers.New(2)
	if err != nil {
		t.Fatal(err)
	}
	snapshot, err := other.Snapshot(nil)
	if err != nil {
		t.Fatal(err)
	}
	mine, err := walkers.New(1)
	if err != nil {
		t.Fatal(err)
	}
	hash := mine.Hash()
	if err := h.Add(host.World{Name: "taken", Scenario: walkers, EstimateNs: 1}); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	for _, c := range []struct {
		w    host.World
		err  error
		says string
	}{
		{host.World{Scenario: walkers}, fault.ErrRange, "World.Name"},
		{host.World{Name: strings.Repeat("x", 256), Scenario: walkers}, fault.ErrRange, "World.Name"},
		{host.World{Name: "taken", Scenario: walkers}, fault.ErrRange, "taken"},
		{host.World{Name: "w"}, fault.ErrRange, "World.Scenario.New"},
		{host.World{Name: "w", Scenario: walkers, Weight: -1}, fault.ErrRange, "World.Weight = -1"},
		{host.World{Name: "w", Scenario: walkers, Weight: 1<<20 + 1}, fault.ErrRange, "World.Weight"},
		{host.World{Name: "w", Scenario: walkers, EstimateNs: -1}, fault.ErrRange, "World.EstimateNs = -1"},
		{host.World{Name: "w", Sim: sim(loop.Config{})}, fault.ErrRange, "World.EstimateNs"},
		{host.World{Name: "w", Sim: sim(loop.Config{}), EstimateNs: 1, Snapshot: snapshot}, fault.ErrRange, "with a Snapshot"},
		{host.World{Name: "w", Scenario: walkers, Recorder: new(replay.Recorder)}, fault.ErrRange, "World.Sim, with a Recorder"},
		{host.World{Name: "w", Sim: sim(loop.Config{Batch: true}), EstimateNs: 1}, fault.ErrUnsupported, "Batch"},
		{host.World{Name: "w", Scenario: walkers, Snapshot: snapshot[:20]}, fault.ErrCorrupt, "walkers"},
		{host.World{Name: "w", Sim: mine, Scenario: walkers, Snapshot: snapshot}, fault.ErrDiverged, "World.Snapshot is of tick 0"},
		{host.World{Name: "w", Scenario: failing(func() error { return broken })}, broken, "a trial"},
		{host.World{Name: "w", Scenario: failing(func() error { panic(broken) })}, broken, "a trial"},
		{host.World{Name: "w", Scenario: walkers, EstimateNs: 1e9}, fault.ErrCapacity, "p95 of a tick 1s"},
	} {
		if err := h.Add(c.w); !errors.Is(err, c.err) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("Add says %v, want %q", err, c.says)
		}
	}
	var s host.Stats
	if h.Stats(&s); len(s.Worlds) != 1 || mine.Hash() != hash {
		t.Errorf("%d worlds", len(s.Worlds))
	}
	if err := h.Push("nobody", evertick.Input{}); !errors.Is(err, fault.ErrStale) {
		t.Errorf("Push: %v", err)
	}
	for _, c := range []host.Config{{Workers: -1}, {Workers: 1025}, {Budget: -1}, {Budget: math.NaN()}, {Pacing: loop.External}, {Pacing: loop.Uncapped}, {Pacing: 99}} {
		if h, err := host.New(c); err == nil {
			t.Errorf("%+v: no error", c)
			h.Close()
		}
	}
}

// Worlds are added, fed, removed and watched from many goroutines. Each has the hash of a twin that ran alone.
func TestManyGoroutines(t *testing.T) {
	h := newHost(t, host.Config{Workers: 3, Budget: 1000})
	stop := make(chan struct{})
	var watchers, users sync.WaitGroup
	watchers.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			default:
			}
			var s host.Stats
			h.Stats(&s)
			if n%10 == 0 {
				h.ResetStats()
			}
			for _, w := range s.Worlds {
				_ = h.Push(w.Name, evertick.Input{Tick: 1 << 40, Data: []byte{1}}) // its tick never comes
			}
			time.Sleep(time.Millisecond)
		}
	})
	rounds := 4
	var ticks atomic.Uint64
	for user := range 6 {
		users.Go(func() {
			r := rand.New(rand.NewPCG(uint64(user), 3))
			for round := range rounds {
				name, seed := fmt.Sprint(user, ".", round), r.Uint64()
				if err := h.Add(host.World{Name: name, Scenario: walkers, Seed: seed, Weight: 1 + r.IntN(3), EstimateNs: 1}); err != nil {
					t.Error(err)
					return
				}
				time.Sleep(time.Duration(r.IntN(50)) * time.Millisecond)
				saved, err := h.Remove(t.Context(), name)
				if err != nil {
					t.Error(err)
					return
				}
				twin, err := walkers.New(seed)
				if err == nil {
					err = twin.StepN(saved.Ticks)
				}
				if err != nil || twin.Hash() != saved.Hash {
					t.Errorf("world %s after %d ticks: hash %016x, alone %016x, %v", name, saved.Ticks, saved.Hash, twin.Hash(), err)
				}
				ticks.Add(saved.Ticks)
			}
		})
	}
	users.Wait()
	close(stop)
	watchers.Wait()
	if ticks.Load() == 0 {
		t.Error("no world has run a tick")
	}
}

// Remove gives up with its context while a tick runs, and the world runs on.
func TestRemoveGivesUp(t *testing.T) {
	h := newHost(t, host.Config{Workers: 2, Budget: 100})
	running, release := make(chan struct{}), make(chan struct{})
	sc := failing(func() error { close(running); <-release; return nil })
	if err := h.Add(host.World{Name: "w", Scenario: sc, EstimateNs: 1}); err != nil {
		t.Fatal(err)
	}
	<-running
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := h.Remove(ctx, "w"); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), `"w"`) {
		t.Errorf("Remove: %v", err)
	}
	if err := h.Drain(ctx, func(host.Saved) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("Drain: %v", err)
	}
	close(release)
	until(t, "the world runs on", func() bool { return statsOf(t, h, "w").Ticks > 30 })
	if err := h.Add(host.World{Name: "v", Scenario: walkers}); !errors.Is(err, host.ErrClosed) {
		t.Errorf("Add after Drain: %v", err)
	}
	if saved, err := h.Remove(t.Context(), "w"); err != nil || saved.Ticks < 30 {
		t.Errorf("Remove: %d ticks, %v", saved.Ticks, err)
	}
}

// Drain passes the worlds one by one, ends with an error of save, and goes on when it is called again.
func TestDrain(t *testing.T) {
	h := newHost(t, host.Config{Workers: 1, Budget: 100})
	for _, name := range []string{"a", "b", "c", "d"} {
		sc := walkers
		if name == "b" {
			sc = failing(func() error { return errors.New("broken") })
		}
		if err := h.Add(host.World{Name: name, Scenario: sc, EstimateNs: 1}); err != nil {
			t.Fatal(err)
		}
	}
	until(t, "b has ended", func() bool { return statsOf(t, h, "b").Ended })
	full := errors.New("disk full")
	var names []string
	save := func(s host.Saved) error {
		if names = append(names, s.Name); s.Name == "c" {
			return full
		}
		return nil
	}
	if err := h.Drain(t.Context(), save); !errors.Is(err, full) || !strings.Contains(err.Error(), `world "b"`) {
		t.Errorf("Drain: %v", err)
	}
	before := statsOf(t, h, "d").Ticks
	until(t, "d runs on", func() bool { return statsOf(t, h, "d").Ticks > before })
	if err := h.Drain(t.Context(), save); err != nil || !slices.Equal(names, []string{"a", "c", "d"}) {
		t.Errorf("Drain: %v, %v", names, err)
	}
}

// After Close the state of a world can still be had.
func TestClose(t *testing.T) {
	h, err := host.New(host.Config{Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Add(host.World{Name: "w", Scenario: walkers, EstimateNs: 1}); err != nil {
		t.Fatal(err)
	}
	until(t, "it runs", func() bool { return statsOf(t, h, "w").Ticks > 0 })
	if err := errors.Join(h.Close(), h.Close()); err != nil {
		t.Fatal(err)
	}
	if saved, err := h.Remove(t.Context(), "w"); err != nil || saved.Ticks == 0 || len(saved.Snapshot) == 0 {
		t.Errorf("%d ticks, %v", saved.Ticks, err)
	}
}
