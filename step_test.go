package evertick_test

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/physics"
	"github.com/evertick/evertick/spatial"
)

var errSystem = errors.New("the system gave up")

func TestErrorEndsTheSim(t *testing.T) {
	for _, stage := range stages[:3] {
		s := newSim(t, small())
		later := 0
		add(t, s, stage, "failing", func(tick *evertick.Tick) error {
			if tick.N == 2 {
				return errSystem
			}
			return nil
		})
		add(t, s, evertick.AfterIndex, "later", func(*evertick.Tick) error { later++; return nil })
		step(t, s, 2)
		hash := s.Hash()
		err := s.Step()
		wantError(t, err, errSystem, "tick 2", "failing")
		if again := s.Step(); again != err {
			t.Errorf("the next step says %v, not %v", again, err)
		}
		if s.Ticks() != 2 || later != 2 || s.Hash() != hash {
			t.Errorf("%d ticks, %d runs of the later system, hash changed: %t; want 2, 2, false", s.Ticks(), later, s.Hash() != hash)
		}
	}
}

// stepPanicking steps and swallows the panic.
func stepPanicking(s *evertick.Sim) (value any) {
	defer func() { value = recover() }()
	return s.Step()
}

func TestPanicEndsTheSim(t *testing.T) {
	s := newSim(t, small())
	add(t, s, evertick.BeforePhysics, "panics", func(*evertick.Tick) error { panic("gone") })
	if got := stepPanicking(s); got != "gone" {
		t.Fatalf("recovered %v", got)
	}
	for range 2 {
		if err := s.Step(); err == nil || !strings.Contains(err.Error(), "broken off by a panic") {
			t.Errorf("the next step says %v", err)
		}
	}
	if s.Ticks() != 0 {
		t.Errorf("%d ticks completed", s.Ticks())
	}
}

// A step within a step is refused; the outer one continues if the system ignores the error.
func TestStepWithinAStep(t *testing.T) {
	s := newSim(t, small())
	var inner error
	add(t, s, evertick.AfterIndex, "nested", func(*evertick.Tick) error {
		inner = s.Step()
		return nil
	})
	step(t, s, 2)
	if inner == nil || !strings.Contains(inner.Error(), "within a step") {
		t.Errorf("the inner step says %v", inner)
	}
	if s.Ticks() != 2 {
		t.Errorf("%d ticks, want 2", s.Ticks())
	}
}

func TestNaNIsNamed(t *testing.T) {
	for _, c := range []struct {
		name  string
		write func(s *evertick.Sim, heat []float32, slot ecs.Slot)
		phase string
		names string
	}{
		{"position.x", func(s *evertick.Sim, _ []float32, i ecs.Slot) { s.World.Position.X[i] = nan }, "spatial.build", "position.x of ent_2"},
		{"position.y", func(s *evertick.Sim, _ []float32, i ecs.Slot) { s.World.Position.Y[i] = nan }, "spatial.build", "position.y of ent_2"},
		{"position.z", func(s *evertick.Sim, _ []float32, i ecs.Slot) { s.World.Position.Z[i] = nan }, "spatial.build", "position.z of ent_2"},
		{"infinite", func(s *evertick.Sim, _ []float32, i ecs.Slot) { s.World.Position.Z[i] = float32(math.Inf(-1)) }, "spatial.build", "position.z of ent_2 = -Inf"},
		{"rotation", func(s *evertick.Sim, _ []float32, i ecs.Slot) { s.World.Rotation.W[i] = nan }, "state.hash", "rotation.w of ent_2"},
		{"scale", func(s *evertick.Sim, _ []float32, i ecs.Slot) { s.World.Scale.Y[i] = nan }, "state.hash", "scale.y of ent_2"},
		{"user column", func(_ *evertick.Sim, heat []float32, i ecs.Slot) { heat[i] = nan }, "state.hash", "heat of ent_2"},
	} {
		t.Run(c.name+"/by hand", func(t *testing.T) {
			s, heat, slot := threeEntities(t)
			step(t, s, 3)
			c.write(s, heat, slot)
			wantError(t, s.Step(), evertick.ErrNotFinite, "tick 3", c.phase, "column "+c.names)
		})
		t.Run(c.name+"/by a system", func(t *testing.T) {
			s, heat, slot := threeEntities(t)
			add(t, s, evertick.BeforePhysics, "poison", func(tick *evertick.Tick) error {
				if tick.N == 5 {
					c.write(s, heat, slot)
				}
				return nil
			})
			step(t, s, 5)
			wantError(t, s.Step(), evertick.ErrNotFinite, "tick 5", c.phase, "column "+c.names)
		})
	}
}

// threeEntities is a Sim with a user column; slot is that of ent_2.
func threeEntities(t *testing.T) (s *evertick.Sim, heat []float32, slot ecs.Slot) {
	s = newSim(t, small())
	heat = column(t, s, "heat")
	spawn(t, s)
	slot = slotOf(t, s, spawn(t, s))
	spawn(t, s)
	return s, heat, slot
}

// A position that becomes NaN after the index was built is found in the same tick.
func TestNaNAfterTheIndex(t *testing.T) {
	s, _, slot := threeEntities(t)
	add(t, s, evertick.AfterIndex, "poison", func(*evertick.Tick) error {
		s.World.Position.X[slot] = nan
		return nil
	})
	wantError(t, s.Step(), evertick.ErrNotFinite, "tick 0", "state.hash", "column position.x of ent_2")
}

// A kernel over whole columns may write NaN into free rows.
func TestNaNInAFreeRowPasses(t *testing.T) {
	s, heat, slot := threeEntities(t)
	s.World.Despawn(2)
	s.World.Position.X[slot], heat[slot] = nan, nan
	step(t, s, 2)
}

// hookLog lists the hooks that are called, with a mark of its own.
type hookLog struct{ log []string }

func (l *hookLog) write(format string, args ...any) {
	l.log = append(l.log, fmt.Sprintf(format, args...))
}

func (l *hookLog) hooks(mark string) evertick.Hooks {
	return evertick.Hooks{
		BeforeTick:   func(t *evertick.Tick) error { l.write("%s tick %d", mark, t.N); return nil },
		AfterTick:    func(t *evertick.Tick) error { l.write("%s tick %d done", mark, t.N); return nil },
		BeforeSystem: func(t *evertick.Tick, system string) { l.write("%s %s", mark, system) },
		AfterSystem:  func(t *evertick.Tick, system string) { l.write("%s %s done", mark, system) },
	}
}

func TestOrderOfHooks(t *testing.T) {
	s := newSim(t, small())
	var l hookLog
	add(t, s, evertick.BeforePhysics, "input", func(*evertick.Tick) error { l.write("input runs"); return nil })
	s.AddHooks(l.hooks("a"))
	s.AddHooks(evertick.Hooks{}) // all nil
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

// AfterTick sees the completed tick, BeforeTick the state of the one before.
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

// A hook draws the random numbers of its tick, before and after it is counted.
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

// AfterSystem is not called for a system that fails, nor AfterTick for its tick.
func TestHooksOfAFailedTick(t *testing.T) {
	s := newSim(t, small())
	var l hookLog
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
	var l hookLog
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

// The time of hooks counts for the step, not for a phase.
func TestHooksAreNotTimed(t *testing.T) {
	clock := manualClock()
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

// Recover covers feeds and hooks, too, and names where they were called.
func TestPanicsAreNamed(t *testing.T) {
	where := ""
	boom := func(at string) {
		if where == at {
			panic("boom")
		}
	}
	for _, c := range [][2]string{{"feed", "inputs"}, {"BeforeTick", "BeforeTick"}, {"before b", "b"}, {"after b", "b"}, {"AfterTick", "AfterTick"}} {
		cfg := small()
		cfg.Recover = true
		cfg.Workers = 2
		s := newSim(t, cfg)
		if err := errors.Join(s.Resource("r"), s.Resource("q")); err != nil {
			t.Fatal(err)
		}
		for i, name := range []string{"a", "b", "c"} {
			sys := evertick.System{Name: name, Run: nothing, Reads: []string{[]string{"r", "q"}[i&1]}}
			if err := s.AddSystem(sys); err != nil {
				t.Fatal(err)
			}
		}
		s.SetInputs(func(_ uint64, dst []evertick.Input) ([]evertick.Input, error) { boom("feed"); return dst, nil })
		s.AddHooks(evertick.Hooks{
			BeforeTick:   func(*evertick.Tick) error { boom("BeforeTick"); return nil },
			AfterTick:    func(*evertick.Tick) error { boom("AfterTick"); return nil },
			BeforeSystem: func(_ *evertick.Tick, name string) { boom("before " + name) },
			AfterSystem:  func(_ *evertick.Tick, name string) { boom("after " + name) },
		})
		where = ""
		step(t, s, 1)
		where = c[0]
		func() {
			defer func() {
				if v := recover(); v != nil {
					t.Errorf("%v: panics", c)
				}
			}()
			err := s.Step()
			var p *loop.PanicError
			if !errors.As(err, &p) || p.System != c[1] || p.Tick != 1 {
				t.Errorf("%v: %v", c, err)
			}
		}()
	}
}

// The OnFault of the loop applies to panics of systems, alone and
// side by side; Restore repairs the Sim, Resume the loop.
func TestOnFaultOfALoop(t *testing.T) {
	for _, recovers := range []bool{false, true} {
		broken := true
		boom := func(tick *evertick.Tick) error {
			if tick.N == 2 && broken {
				panicGone()
			}
			return nil
		}
		s := threeSystems(t, evertick.Config{Workers: 2, Recover: recovers, Loop: loop.Config{OnFault: loop.Halt}}, nothing, boom, nothing)
		const tick = 16_666_667
		for range 2 {
			if _, err := s.Advance(tick); err != nil {
				t.Fatal(err)
			}
		}
		saved, err := s.Snapshot(nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Advance(tick)
		var p *loop.PanicError
		if !errors.As(err, &p) || p.Tick != 2 || p.System != "b" || p.Value != "gone" {
			t.Fatalf("Recover %t: %v", recovers, err)
		}
		if err := s.Restore(saved); err != nil {
			t.Fatal(err)
		}
		broken = false
		if _, err := s.Advance(tick); !errors.As(err, &p) {
			t.Errorf("Recover %t: a halted loop goes on: %v", recovers, err)
		}
		s.Loop().Resume()
		if f, err := s.Advance(0); err != nil || f.Steps != 1 || s.Ticks() != 3 {
			t.Errorf("Recover %t: %+v, %v, %d ticks", recovers, f, err, s.Ticks())
		}
	}
}

// With Recover a panic is an error that names tick and system, wherever it happens.
func TestRecover(t *testing.T) {
	boom := func(tick *evertick.Tick) error {
		if tick.N == 2 {
			panicGone()
		}
		return nil
	}
	for _, c := range []struct {
		system string
		ticks  uint64
		build  func(s *evertick.Sim)
	}{
		{"alone", 2, func(s *evertick.Sim) { add(t, s, evertick.BeforePhysics, "alone", boom) }},
		{"b", 2, func(s *evertick.Sim) {
			for name, run := range map[string]func(*evertick.Tick) error{"a": nothing, "b": boom} {
				if err := errors.Join(s.Resource(name), s.AddSystem(evertick.System{Name: name, Writes: []string{name}, Run: run})); err != nil {
					t.Fatal(err)
				}
			}
		}},
		{"commands", 2, func(s *evertick.Sim) {
			s.World.OnSpawn(func(ecs.ID, ecs.Slot) { boom(&evertick.Tick{N: s.Ticks()}) })
			add(t, s, evertick.BeforePhysics, "breed", func(tick *evertick.Tick) error { tick.Commands().Spawn(); return nil })
		}},
		{"BeforeTick", 2, func(s *evertick.Sim) { s.AddHooks(evertick.Hooks{BeforeTick: boom}) }},
		{"AfterTick", 3, func(s *evertick.Sim) { s.AddHooks(evertick.Hooks{AfterTick: boom}) }},
	} {
		s := newSim(t, evertick.Config{Capacity: 64, Workers: 2, Recover: true})
		c.build(s)
		step(t, s, 2)
		err := s.Step()
		var p *loop.PanicError
		if !errors.As(err, &p) || p.Tick != 2 || p.System != c.system || p.Value != "gone" || !strings.Contains(string(p.Stack), "panicGone") {
			t.Errorf("%s: %v", c.system, err)
			continue
		}
		wantError(t, err, err, "evertick: ", "tick 2", c.system, "gone")
		if again := s.Step(); again != err || s.Ticks() != c.ticks {
			t.Errorf("%s: then %v, after %d ticks", c.system, again, s.Ticks())
		}
	}
}

// A panic with an error unwraps to it.
func TestRecoverUnwraps(t *testing.T) {
	s := newSim(t, evertick.Config{Capacity: 64, Recover: true})
	add(t, s, evertick.AfterIndex, "throws", func(*evertick.Tick) error { panic(errSystem) })
	wantError(t, s.Step(), errSystem, "throws")
}

// A tick in which a system asks to stop runs to its end.
func TestStop(t *testing.T) {
	stopAt := func(n uint64) func(*evertick.Tick) error {
		return func(tick *evertick.Tick) error {
			if tick.N == n {
				return fmt.Errorf("enough: %w", loop.ErrStop)
			}
			return nil
		}
	}
	for name, build := range map[string]func(s *evertick.Sim){
		"alone":      func(s *evertick.Sim) { add(t, s, evertick.BeforePhysics, "alone", stopAt(2)) },
		"BeforeTick": func(s *evertick.Sim) { s.AddHooks(evertick.Hooks{BeforeTick: stopAt(2)}) },
		"AfterTick":  func(s *evertick.Sim) { s.AddHooks(evertick.Hooks{AfterTick: stopAt(2)}) },
		"b": func(s *evertick.Sim) {
			for _, n := range []string{"a", "b"} {
				if err := errors.Join(s.Resource(n), s.AddSystem(evertick.System{Name: n, Writes: []string{n}, Run: stopAt(2)})); err != nil {
					t.Fatal(err)
				}
			}
		},
	} {
		s := newSim(t, small())
		later := 0
		build(s)
		add(t, s, evertick.AfterIndex, "later", func(*evertick.Tick) error { later++; return nil })
		step(t, s, 2)
		hash := s.Hash()
		wantError(t, s.Step(), loop.ErrStop, "tick 2", "enough")
		if s.Ticks() != 3 || later != 3 || s.Hash() == hash {
			t.Errorf("%s: %d ticks, %d runs of the later system", name, s.Ticks(), later)
		}
		step(t, s, 1)
	}
}

func TestRunUntil(t *testing.T) {
	s := newSim(t, small())
	if err := s.StepN(3); err != nil || s.Ticks() != 3 {
		t.Errorf("StepN: %v, tick %d", err, s.Ticks())
	}
	at := func(n uint64) func(*evertick.Sim) bool { return func(s *evertick.Sim) bool { return s.Ticks() == n } }
	for _, c := range []struct {
		tick, limit, end uint64
		found            bool
	}{{3, 0, 3, true}, {5, 2, 5, true}, {9, 3, 8, false}, {100, 0, 8, false}} {
		found, err := s.RunUntil(at(c.tick), c.limit)
		if found != c.found || err != nil || s.Ticks() != c.end {
			t.Errorf("until %d, at most %d: %t, %v, at %d", c.tick, c.limit, found, err, s.Ticks())
		}
	}
	add(t, s, evertick.AfterIndex, "fail", func(*evertick.Tick) error { return errState })
	if found, err := s.RunUntil(at(20), 20); found || !errors.Is(err, errState) {
		t.Errorf("%t, %v", found, err)
	}
	wantError(t, s.StepN(2), errState)
}

// Under loop.Resume the tick that panicked is due again, and runs when the Sim is restored;
// the third panic in a row halts the loop.
func TestResumeOfASim(t *testing.T) {
	const tick = 16_666_667
	c := small()
	c.Recover, c.History = true, evertick.HistoryConfig{Keep: 2}
	c.Loop.OnFault = loop.Resume
	s := newSim(t, c)
	broken := false
	add(t, s, evertick.AfterIndex, "b", func(*evertick.Tick) error {
		if broken {
			panicGone()
		}
		return nil
	})
	advance := func(ticks uint64, fails bool) {
		t.Helper()
		broken = fails
		if _, err := s.Advance(tick); fails != (err != nil) || s.Ticks() != ticks {
			t.Fatalf("%v, %d ticks, want %d", err, s.Ticks(), ticks)
		}
	}
	back := func() {
		t.Helper()
		broken = false
		if err := s.StepBack(0); err != nil {
			t.Fatal(err)
		}
	}
	advance(1, false)
	advance(1, true)
	back()
	advance(3, false) // this tick and the one that failed
	for range 3 {
		advance(3, true)
		back()
	}
	if s.Loop().Fault() == nil {
		t.Error("the loop has not halted")
	}
	s.Loop().Resume()
	advance(7, false)
}

// A panic with ErrStop is a panic, also in a tick that is run again.
func TestPanicWithStop(t *testing.T) {
	c := small()
	c.Recover, c.History = true, evertick.HistoryConfig{Keep: 3, Every: 8}
	s := newSim(t, c)
	broken := false
	add(t, s, evertick.AfterIndex, "b", func(*evertick.Tick) error {
		if broken {
			panic(loop.ErrStop)
		}
		return nil
	})
	step(t, s, 4)
	broken = true
	var p *loop.PanicError
	if err := s.StepBack(2); !errors.As(err, &p) || s.Ticks() != 4 {
		t.Errorf("StepBack: %v, at %d", err, s.Ticks())
	}
	if f, err := s.Advance(17e6); !errors.As(err, &p) || s.Ticks() != 4 || s.Loop().Tick() != 0 {
		t.Errorf("%v, at %d, %+v", err, s.Ticks(), f)
	}
}

// TestRemoveHooks: the order of the others stays; within a step the removed hooks stay to its end; the
// second removal does nothing.
func TestRemoveHooks(t *testing.T) {
	s := newSim(t, small())
	var called []string
	var removes []func()
	addHooks := func(name string, more func()) {
		upper := strings.ToUpper(name)
		removes = append(removes, s.AddHooks(evertick.Hooks{
			BeforeTick: func(*evertick.Tick) error { called = append(called, name); more(); return nil },
			AfterTick:  func(*evertick.Tick) error { called = append(called, upper); return nil },
		}))
	}
	want := func(text string) {
		t.Helper()
		called = called[:0]
		step(t, s, 1)
		if got := strings.Join(called, ""); got != text {
			t.Errorf("called %s, want %s", got, text)
		}
	}
	none := func() {}
	addHooks("a", none)
	addHooks("b", none)
	addHooks("c", none)
	want("abcABC")
	removes[1]()
	want("acAC")
	removes[1]()
	want("acAC")
	addHooks("d", func() { // once
		removes[3]()
		removes[3]()
		removes[0]()
		addHooks("e", none)
	})
	want("acdACD")
	want("ceCE")
	removes[2]()
	removes[4]()
	want("")
	addHooks("f", none)
	want("fF")
	if n := testing.AllocsPerRun(10, func() { step(t, s, 1); called = called[:0] }); n != 0 {
		t.Errorf("%v allocations a step", n)
	}
}

// stepFlushing steps in a thread that flushes denormals, as a library built
// with -ffast-math would leave it.
func stepFlushing(s *evertick.Sim) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	paritytest.FlushDenormals(true)
	defer paritytest.FlushDenormals(false)
	return s.Step()
}

// After ErrFloatEnv the state is that of a Sim that never met it.
func TestAlteredFloatEnv(t *testing.T) {
	if !paritytest.FlushDenormals(false) {
		t.Skip("not run: nothing here flushes denormals")
	}
	disturbed, twin := newSim(t, small()), newSim(t, small())
	for _, s := range []*evertick.Sim{disturbed, twin} {
		wander(t, s, 10)
		step(t, s, 5)
	}
	for range 2 {
		wantError(t, stepFlushing(disturbed), evertick.ErrFloatEnv, "tick 5", "denormals")
	}
	if disturbed.Ticks() != 5 || disturbed.Hash() != twin.Hash() {
		t.Errorf("the refused step left tick %d and hash %x, want 5 and %x", disturbed.Ticks(), disturbed.Hash(), twin.Hash())
	}
	step(t, disturbed, 5)
	step(t, twin, 5)
	if disturbed.Ticks() != 10 || disturbed.Hash() != twin.Hash() {
		t.Errorf("tick %d and hash %x, the undisturbed twin has %d and %x",
			disturbed.Ticks(), disturbed.Hash(), twin.Ticks(), twin.Hash())
	}
}

func TestStepAllocatesNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("instrumented builds allocate on their own account")
	}
	for _, level := range native.Levels() {
		for _, workers := range []int{1, 2} {
			t.Run(fmt.Sprintf("level=%s/workers=%d", level, workers), func(t *testing.T) {
				s := busySim(t, level, workers)
				step(t, s, 200) // until the buffers have their size
				hash := s.Hash()
				n := testing.AllocsPerRun(100, func() { step(t, s, 1) })
				if n != 0 {
					t.Errorf("%g allocations a step", n)
				}
				if s.Hash() == hash {
					t.Error("the steps changed nothing")
				}
			})
		}
	}
}

// busySim has agents with tags and a user column, which move towards
// their neighbours, are spawned and despawned, among bodies that push each other.
func busySim(t *testing.T, level native.Level, workers int) *evertick.Sim {
	s := newSim(t, evertick.Config{
		Capacity: 512, Level: level, Workers: workers, Seed: 3,
		Physics: physics.Config{Plane: physics.XZ},
		Spatial: spatial.Config{CellSize: 4},
	})
	f := &flock{sim: s, speed: column(t, s, "speed")}
	var err error
	if f.agents, err = s.World.Tag("agent"); err != nil {
		t.Fatal(err)
	}
	for i := range 300 {
		f.last = spawn(t, s)
		if i%10 == 0 {
			pushedBody(t, s, f.last, float32(i%20), float32(i/20))
			continue
		}
		if err := s.World.SetPosition(f.last, float32(i%20), 0, float32(i/20)); err != nil {
			t.Fatal(err)
		}
		f.agents.Set(f.last)
	}
	add(t, s, evertick.BeforePhysics, "move", f.move)
	add(t, s, evertick.AfterIndex, "perceive", f.perceive)
	add(t, s, evertick.AfterIndex, "steer", f.steer)
	add(t, s, evertick.AfterIndex, "replace", f.replace)
	add(t, s, evertick.AfterIndex, "succeed", f.succeed)
	return s
}

// pushedBody gives an entity a dynamic body, a disc that rolls towards the middle.
func pushedBody(t *testing.T, s *evertick.Sim, id ecs.ID, x, z float32) {
	t.Helper()
	def := physics.DefaultBodyDef()
	def.Type, def.Position = physics.DynamicBody, [2]float32{x, z}
	def.LinearVelocity = [2]float32{(10 - x) / 4, (7 - z) / 4}
	b, err := s.CreateBody(id, def)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Physics.CreateCircle(b, physics.DefaultShapeDef(), physics.Circle{Radius: 0.7}); err != nil {
		t.Fatal(err)
	}
}

// flock holds what the systems of busySim share.
type flock struct {
	sim    *evertick.Sim
	agents ecs.Tag
	speed  []float32
	q      spatial.Queries
	near   spatial.Result
	last   ecs.ID
}

func (f *flock) move(t *evertick.Tick) error {
	native.Integrate(f.sim.Level(), f.sim.World.Position.X, f.speed, t.Dt)
	return nil
}

func (f *flock) perceive(*evertick.Tick) error {
	q, pos := &f.q, &f.sim.World.Position
	q.X, q.Y, q.Z, q.Radius, q.Exclude = q.X[:0], q.Y[:0], q.Z[:0], q.Radius[:0], q.Exclude[:0]
	for slot := range f.sim.World.Query(ecs.With(f.agents)) {
		q.X, q.Y, q.Z = append(q.X, pos.X[slot]), append(q.Y, 0), append(q.Z, pos.Z[slot])
		q.Radius, q.Exclude = append(q.Radius, 3), append(q.Exclude, slot)
	}
	return f.sim.Index.Radius(q, &f.near)
}

// steer makes each agent follow the mean of its neighbours.
func (f *flock) steer(t *evertick.Tick) error {
	x := f.sim.World.Position.X
	for row, self := range f.q.Exclude {
		r := t.Rand(ecs.ID(self), 0)
		pull := r.Range(-0.1, 0.1)
		for _, other := range f.near.Row(row) {
			pull += float32((x[other] - x[self]) * 0.01)
		}
		f.speed[self] = pull
	}
	return nil
}

// replace despawns the youngest agent and spawns another, so that a slot is
// reused and the list of live ones is made anew.
func (f *flock) replace(*evertick.Tick) error {
	f.sim.World.Despawn(f.last)
	id, err := f.sim.World.Spawn()
	f.agents.Set(id)
	f.last = id
	return err
}

// succeed replaces one agent a tick, while it iterates over them.
func (f *flock) succeed(t *evertick.Tick) error {
	c := t.Commands()
	for slot := range f.sim.World.Query(ecs.With(f.agents)) {
		if uint64(slot) != t.N%300 {
			continue
		}
		id, _ := f.sim.World.ID(slot)
		c.Despawn(id)
		next := c.Spawn()
		c.Set(f.agents, next)
		if err := c.SetPosition(next, float32(slot%20), 0, float32(slot/20)); err != nil {
			return err
		}
	}
	return nil
}
