package evertick_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"runtime/pprof"
	"runtime/trace"
	"slices"
	"strings"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/native/paritytest"
)

// A phase that takes 1, 2, … 100 µs, and one that takes nothing.
func TestStats(t *testing.T) {
	clock := ticking()
	c := small()
	c.Clock = clock
	s := newSim(t, c)
	add(t, s, evertick.BeforePhysics, "slow", func(tick *evertick.Tick) error {
		clock.Add(int64(tick.N+1) * 1000)
		return nil
	})
	near := func(what string, got, want int64) {
		t.Helper()
		if off := max(got, want) - min(got, want); off > want/64 {
			t.Errorf("%s is %d, want %d or 1/64 beside it", what, got, want)
		}
	}
	step(t, s, 100)
	phases, total := s.Stats()
	slow := phases[0]
	if slow.Phase != "slow" || slow.Count != 100 || slow.Max != 100_000 {
		t.Errorf("stats of the system: %+v", slow)
	}
	near("p50", slow.P50, 50_000)
	near("p95", slow.P95, 95_000)
	near("p99", slow.P99, 99_000)
	slow.Phase = ""
	if total != slow {
		t.Errorf("stats of the step: %+v, want %+v", total, slow)
	}
	var names []string
	for _, p := range phases {
		names = append(names, p.Phase)
	}
	if !slices.Equal(names, phaseNames(s)) {
		t.Errorf("stats of %q, timings of %q", names, phaseNames(s))
	}
	if rest := phases[1]; rest.Count != 100 || rest.Max != 0 || rest.P99 != 0 {
		t.Errorf("stats of a phase that takes no time: %+v", rest)
	}

	s.ResetStats()
	if phases, total = s.Stats(); phases[0] != (evertick.PhaseStats{Phase: "slow"}) || total != (evertick.PhaseStats{}) {
		t.Errorf("after ResetStats: %+v, %+v", phases[0], total)
	}
	step(t, s, 1)
	if phases, _ = s.Stats(); phases[0].Max != 101_000 || phases[0].Count != 1 {
		t.Errorf("a step later: %+v", phases[0])
	}
	if n := testing.AllocsPerRun(10, func() { s.Stats(); s.ResetStats() }); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

// A frame whose ticks exceed their budget says by how much, and who is to blame: the
// phase that is furthest beyond its own median, not the one that always takes long.
func TestOverrun(t *testing.T) {
	const ms = 1_000_000
	for _, c := range []struct {
		name   string
		budget int64
		want   loop.Overrun
	}{
		// Two steps of 6 + 2 ms as a rule, and of 6 + 9 in the tick that stutters.
		{"10 ms", 10 * ms, loop.Overrun{System: "stutters", Ns: 3 * ms}},
		{"a tick's length", 0, loop.Overrun{}}, // 33.3 ms for two
		{"11 ms", 11 * ms, loop.Overrun{System: "stutters", Ns: 1 * ms}},
		{"11.5 ms", 11*ms + ms/2, loop.Overrun{}},
		{"most", math.MaxInt64, loop.Overrun{}},
	} {
		clock := ticking()
		s := newSim(t, evertick.Config{Capacity: 64, Clock: clock, BudgetNs: c.budget})
		add(t, s, evertick.BeforePhysics, "always slow", func(*evertick.Tick) error { clock.Add(6 * ms); return nil })
		add(t, s, evertick.AfterIndex, "stutters", func(tick *evertick.Tick) error {
			clock.Add(2 * ms)
			if tick.N == 41 {
				clock.Add(7 * ms)
			}
			return nil
		})
		for frame := range 25 {
			f, err := s.Advance(33_333_334)
			if err != nil || f.Steps != 2 {
				t.Fatalf("%+v, %v", f, err)
			}
			want := loop.Overrun{}
			if frame == 20 {
				want = c.want
			}
			if f.Overrun != want || s.Frame() != f {
				t.Errorf("%s: frame %d: %+v, want %+v", c.name, frame, f.Overrun, want)
			}
		}
	}
}

// If all take what they always take, the one that takes most is named; a frame without
// steps, and steps outside frames, overrun nothing.
func TestOverrunAsARule(t *testing.T) {
	clock := ticking()
	s := newSim(t, evertick.Config{Capacity: 64, Clock: clock, BudgetNs: 1})
	add(t, s, evertick.BeforePhysics, "little", func(*evertick.Tick) error { clock.Add(10); return nil })
	add(t, s, evertick.BeforePhysics, "most", func(*evertick.Tick) error { clock.Add(30); return nil })
	for range 5 {
		f, err := s.Advance(17_000_000)
		if want := (loop.Overrun{System: "most", Ns: 39}); err != nil || f.Overrun != want {
			t.Errorf("%+v, %v", f.Overrun, err)
		}
	}
	step(t, s, 3)
	if f, err := s.Advance(0); err != nil || f.Overrun != (loop.Overrun{}) {
		t.Errorf("without a step: %+v, %v", f.Overrun, err)
	}
}

func TestOverrunOfRun(t *testing.T) {
	clock := ticking()
	s := newSim(t, evertick.Config{Capacity: 64, Clock: clock, BudgetNs: 1000})
	add(t, s, evertick.BeforePhysics, "slow", func(tick *evertick.Tick) error {
		want := loop.Overrun{}
		if tick.N == 4 {
			want = loop.Overrun{System: "slow", Ns: 500}
		}
		if got := s.Frame().Overrun; got != want {
			t.Errorf("tick %d sees %+v of the frame before, want %+v", tick.N, got, want)
		}
		if clock.Add(100); tick.N == 3 {
			clock.Add(1400)
		}
		if tick.N == 6 {
			return loop.ErrStop
		}
		return nil
	})
	if err := s.Run(t.Context()); err != nil && !errors.Is(err, loop.ErrStop) {
		t.Error(err)
	}
	if s.Ticks() != 7 {
		t.Errorf("%d ticks", s.Ticks())
	}
}

func TestBudgetErrors(t *testing.T) {
	wantError(t, evertick.Config{BudgetNs: -1}.Validate(), evertick.ErrRange, "evertick: Config.BudgetNs = -1")
}

// Ticks have their exact time.
func TestTickTime(t *testing.T) {
	c := small()
	c.Loop = loop.Config{RateNum: 60000, RateDen: 1001}
	s := newSim(t, c)
	see := func(tick *evertick.Tick) error {
		want, err := loop.NewSimTime(tick.N, 60000, 1001)
		if tick.Time() != want {
			t.Errorf("tick %d at %v, want %v", tick.N, tick.Time(), want)
		}
		return err
	}
	add(t, s, evertick.BeforePhysics, "see", see)
	s.AddHooks(evertick.Hooks{AfterTick: see})
	step(t, s, 3)
}

// A trace has a task for each tick and a region for each phase.
func TestTrace(t *testing.T) {
	for _, asked := range []bool{false, true} {
		s := three(t, evertick.Config{Workers: 2, Trace: asked}, nothing, nothing, nothing)
		add(t, s, evertick.AfterIndex, "alone-in-the-trace", nothing)
		step(t, s, 1) // while nobody traces
		var taken bytes.Buffer
		if err := trace.Start(&taken); err != nil {
			t.Skip("not run: another trace is being taken:", err)
		}
		step(t, s, 2)
		trace.Stop()
		for _, name := range []string{"alone-in-the-trace", "spatial.build"} {
			if got := bytes.Contains(taken.Bytes(), []byte(name)); got != asked {
				t.Errorf("Config.Trace %t: %s in the trace: %t", asked, name, got)
			}
		}
	}
}

// While a system runs its goroutine has the label, and afterwards none.
func TestLabels(t *testing.T) {
	labelled := func(name string) bool {
		var profile bytes.Buffer
		if err := pprof.Lookup("goroutine").WriteTo(&profile, 1); err != nil {
			t.Fatal(err)
		}
		return strings.Contains(profile.String(), fmt.Sprintf(`"system":%q`, name))
	}
	for _, asked := range []bool{false, true} {
		see := func(name string) func(*evertick.Tick) error {
			return func(*evertick.Tick) error {
				if got := labelled(name); got != asked {
					t.Errorf("Config.Labels %t: label %s: %t", asked, name, got)
				}
				return nil
			}
		}
		s := three(t, evertick.Config{Workers: 2, Labels: asked}, see("a"), see("b"), see("c"))
		add(t, s, evertick.AfterIndex, "alone", see("alone"))
		step(t, s, 2)
		if labelled("alone") || labelled("state.hash") {
			t.Error("a label is left behind")
		}
	}
}

func TestLabelsAllocateNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("instrumented builds allocate on their own account")
	}
	s := three(t, evertick.Config{Workers: 2, Labels: true, Trace: true, Recover: true}, nothing, nothing, nothing)
	step(t, s, 10)
	if n := testing.AllocsPerRun(100, func() { step(t, s, 1) }); n != 0 {
		t.Errorf("%g allocations a step", n)
	}
}

// Hooks around the tick alone do not have every phase read the clock twice more.
func TestClockIsReadForHooksAroundSystemsOnly(t *testing.T) {
	readings := func(hooks ...evertick.Hooks) int {
		clock := new(countingClock)
		c := small()
		c.Clock = clock
		s := newSim(t, c)
		for _, h := range hooks {
			s.AddHooks(h)
		}
		step(t, s, 1)
		clock.readings = 0
		step(t, s, 1)
		return clock.readings
	}
	nothing := func(*evertick.Tick) error { return nil }
	plain := readings()
	if n := readings(evertick.Hooks{}, evertick.Hooks{BeforeTick: nothing, AfterTick: nothing}); n != plain+1 {
		t.Errorf("%d readings with hooks around the tick, %d without: want one more", n, plain)
	}
	if n := readings(evertick.Hooks{AfterSystem: func(*evertick.Tick, string) {}}); n <= plain+1 {
		t.Errorf("%d readings with a hook behind systems, %d without: its time would be theirs", n, plain)
	}
}

// countingClock stands still and counts how often it is looked at.
type countingClock struct {
	loop.ManualClock
	readings int
}

func (c *countingClock) Now() int64 {
	c.readings++
	return c.ManualClock.Now()
}
