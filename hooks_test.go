package evertick_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/native/paritytest"
)

// scribe writes down which hooks are called, with a mark of its own.
type scribe struct{ log []string }

func (l *scribe) write(format string, args ...any) {
	l.log = append(l.log, fmt.Sprintf(format, args...))
}

func (l *scribe) hooks(mark string) evertick.Hooks {
	return evertick.Hooks{
		BeforeTick:   func(t *evertick.Tick) error { l.write("%s tick %d", mark, t.N); return nil },
		AfterTick:    func(t *evertick.Tick) error { l.write("%s tick %d done", mark, t.N); return nil },
		BeforeSystem: func(t *evertick.Tick, system string) { l.write("%s %s", mark, system) },
		AfterSystem:  func(t *evertick.Tick, system string) { l.write("%s %s done", mark, system) },
	}
}

func TestOrderOfHooks(t *testing.T) {
	s := newSim(t, small())
	var l scribe
	add(t, s, evertick.BeforePhysics, "input", func(*evertick.Tick) error { l.write("input runs"); return nil })
	s.AddHooks(l.hooks("a"))
	s.AddHooks(evertick.Hooks{}) // of which nothing is called
	s.AddHooks(l.hooks("b"))
	step(t, s, 1)
	want := []string{"a tick 0", "b tick 0", "a input", "b input", "input runs", "a input done", "b input done"}
	for _, name := range []string{"physics.step", "physics.sync", "spatial.build", "commands", "state.hash"} {
		want = append(want, "a "+name, "b "+name, "a "+name+" done", "b "+name+" done")
	}
	want = append(want, "a tick 0 done", "b tick 0 done")
	if !slices.Equal(l.log, want) {
		t.Errorf("called\n%s\nwant\n%s", strings.Join(l.log, "\n"), strings.Join(want, "\n"))
	}
}

// AfterTick sees the tick complete, BeforeTick the state of the one before.
func TestHooksSeeTheState(t *testing.T) {
	s := newSim(t, small())
	wander(t, s, 5)
	hash, called := s.Hash(), 0
	s.AddHooks(evertick.Hooks{
		BeforeTick: func(tick *evertick.Tick) error {
			if s.Ticks() != tick.N || s.Hash() != hash {
				t.Errorf("before tick %d: %d ticks, hash %x, want %x", tick.N, s.Ticks(), s.Hash(), hash)
			}
			return nil
		},
		AfterTick: func(tick *evertick.Tick) error {
			called++
			if s.Ticks() != tick.N+1 || s.Hash() == hash || s.Hash() != ecs.Fold(s.ColumnHashes()) || tick.Dt != s.Dt() || tick.Sim != s {
				t.Errorf("after tick %d: %d ticks, hash %x, before %x", tick.N, s.Ticks(), s.Hash(), hash)
			}
			hash = s.Hash()
			return nil
		},
	})
	step(t, s, 3)
	if called != 3 {
		t.Errorf("AfterTick was called %d times", called)
	}
}

// A hook draws from the numbers of its tick, before and after it is counted.
func TestHooksDrawFromTheirTick(t *testing.T) {
	s := newSim(t, small())
	var drawn []uint64
	draw := func(tick *evertick.Tick) error {
		r := tick.Rand(1, 0)
		drawn = append(drawn, r.Uint64())
		return nil
	}
	s.AddHooks(evertick.Hooks{BeforeTick: draw, AfterTick: draw})
	add(t, s, evertick.BeforePhysics, "draw", draw)
	step(t, s, 2)
	if drawn[0] != drawn[1] || drawn[1] != drawn[2] || drawn[3] != drawn[5] || drawn[0] == drawn[3] {
		t.Errorf("drew %x", drawn)
	}
}

func TestErrorOfAHook(t *testing.T) {
	failing := func(tick *evertick.Tick) error {
		if tick.N == 2 {
			return errSystem
		}
		return nil
	}
	for _, c := range []struct {
		name  string
		hooks evertick.Hooks
		ticks uint64
	}{
		{"BeforeTick", evertick.Hooks{BeforeTick: failing}, 2},
		{"AfterTick", evertick.Hooks{AfterTick: failing}, 3},
	} {
		s := newSim(t, small())
		s.AddHooks(c.hooks)
		step(t, s, 2)
		err := s.Step()
		wantError(t, err, errSystem, "tick 2: "+c.name)
		if again := s.Step(); again != err {
			t.Errorf("%s: the next step says %v, not %v", c.name, again, err)
		}
		if s.Ticks() != c.ticks {
			t.Errorf("%s: %d ticks, want %d", c.name, s.Ticks(), c.ticks)
		}
	}
}

// A system that fails is not told done, nor is the tick.
func TestHooksOfAFailedTick(t *testing.T) {
	s := newSim(t, small())
	var l scribe
	add(t, s, evertick.BeforePhysics, "failing", func(*evertick.Tick) error { return errSystem })
	s.AddHooks(l.hooks("a"))
	if err := s.Step(); !errors.Is(err, errSystem) {
		t.Fatal(err)
	}
	if want := []string{"a tick 0", "a failing"}; !slices.Equal(l.log, want) {
		t.Errorf("called %q, want %q", l.log, want)
	}
}

func TestStepWithinAHook(t *testing.T) {
	s := newSim(t, small())
	var inner []error
	nested := func(*evertick.Tick) error { inner = append(inner, s.Step()); return nil }
	s.AddHooks(evertick.Hooks{BeforeTick: nested, AfterTick: nested})
	step(t, s, 1)
	for _, err := range inner {
		if err == nil || !strings.Contains(err.Error(), "within a step") {
			t.Errorf("the inner step says %v", err)
		}
	}
	if s.Ticks() != 1 || len(inner) != 2 {
		t.Errorf("%d ticks, %d hooks", s.Ticks(), len(inner))
	}
}

// Hooks that a system or a hook adds are called from the next tick on.
func TestAddHooksWithinAStep(t *testing.T) {
	s := newSim(t, small())
	var l scribe
	once := func(mark string) func(*evertick.Tick) error {
		return func(tick *evertick.Tick) error {
			if tick.N == 0 {
				s.AddHooks(evertick.Hooks{BeforeTick: func(tick *evertick.Tick) error { l.write("%s %d", mark, tick.N); return nil }})
			}
			return nil
		}
	}
	s.AddHooks(evertick.Hooks{BeforeTick: once("before"), AfterTick: once("after")})
	add(t, s, evertick.BeforePhysics, "adds", once("system"))
	step(t, s, 2)
	if want := []string{"before 1", "system 1", "after 1"}; !slices.Equal(l.log, want) {
		t.Errorf("called %q, want %q", l.log, want)
	}
}

// What hooks take is in no phase, but in the step.
func TestHooksAreNotTimed(t *testing.T) {
	clock := ticking()
	c := small()
	c.Clock = clock
	s := newSim(t, c)
	add(t, s, evertick.BeforePhysics, "slow", func(*evertick.Tick) error { clock.Add(1000); return nil })
	takes := func(*evertick.Tick, string) { clock.Add(7) }
	s.AddHooks(evertick.Hooks{
		BeforeTick:   func(*evertick.Tick) error { clock.Add(50); return nil },
		AfterTick:    func(*evertick.Tick) error { clock.Add(100_000); return nil },
		BeforeSystem: takes, AfterSystem: takes,
	})
	step(t, s, 2)
	timings, total := s.Timings()
	for _, p := range timings {
		if want := map[string]int64{"slow": 1000}[p.Phase]; p.Ns != want {
			t.Errorf("%s took %d ns, want %d", p.Phase, p.Ns, want)
		}
	}
	if want := int64(1000 + 50 + 2*7*6); total != want {
		t.Errorf("the step took %d ns, want %d", total, want)
	}
}

func TestHooksAllocateNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("instrumented builds allocate on their own account")
	}
	s := newSim(t, small())
	wander(t, s, 20)
	ticks, systems := 0, 0
	s.AddHooks(evertick.Hooks{
		BeforeTick:   func(*evertick.Tick) error { ticks++; return nil },
		AfterTick:    func(*evertick.Tick) error { ticks++; return nil },
		BeforeSystem: func(*evertick.Tick, string) { systems++ },
		AfterSystem:  func(*evertick.Tick, string) { systems++ },
	})
	step(t, s, 10)
	if n := testing.AllocsPerRun(100, func() { step(t, s, 1) }); n != 0 {
		t.Errorf("%g allocations a step", n)
	}
	if ticks == 0 || systems == 0 {
		t.Error("no hook was called")
	}
}

// AfterTick may save the Sim: the snapshot is the one that can be taken behind the step,
// and the run from it is the same.
func TestSnapshotInAfterTick(t *testing.T) {
	s := newTown(t, 2, func() {})
	var saved [][]byte
	s.AddHooks(evertick.Hooks{AfterTick: func(*evertick.Tick) error {
		data, err := s.Snapshot(nil)
		saved = append(saved, data)
		return err
	}})
	var hashes []uint64
	for range 8 {
		step(t, s.Sim, 1)
		hashes = append(hashes, s.Hash())
		behind, err := s.Snapshot(nil)
		if err != nil || !slices.Equal(behind, saved[len(saved)-1]) {
			t.Fatalf("tick %d: another snapshot behind the step, %v", s.Ticks(), err)
		}
	}
	again := newTown(t, 1, func() {})
	if err := again.Restore(saved[2]); err != nil {
		t.Fatal(err)
	}
	for i, want := range hashes[3:] {
		if step(t, again.Sim, 1); again.Hash() != want {
			t.Errorf("%d ticks behind the snapshot: another hash", i+1)
		}
	}
}
