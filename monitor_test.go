package evertick_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"reflect"
	"runtime"
	"runtime/pprof"
	"runtime/trace"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/native"
)

// checkMetrics compares what the Monitor reads with what the Sim itself returns.
func checkMetrics(t *testing.T, s *evertick.Sim) {
	t.Helper()
	var got evertick.Metrics
	s.Monitor().Read(&got)
	want := evertick.Metrics{Ticks: s.Ticks(), Frame: s.Frame(), Level: s.Level(), Err: got.Err, Inputs: s.InputStats(),
		Entities: s.World.Len(), Bodies: s.Physics.Len(), Contacts: s.Physics.ContactCount(), Awake: s.Physics.AwakeCount()}
	want.Timings, want.StepNs = s.Timings()
	want.Phases, want.Step = s.Stats()
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("the Monitor reads\n%+v, want\n%+v", got, want)
	}
}

// TestMonitor: the figures are those of the Sim after each step and frame.
func TestMonitor(t *testing.T) {
	clock := manualClock()
	c := parkConfig()
	c.Clock = clock
	s := newPark(t, c).sim
	checkMetrics(t, s)
	var fails error
	add(t, s, evertick.AfterIndex, "slow", func(tick *evertick.Tick) error {
		clock.Add(int64(tick.N%10) * 1000)
		return fails
	})
	for i := range 30 {
		step(t, s, 1)
		if i%3 == 0 {
			if _, err := s.Advance(40e6); err != nil {
				t.Fatal(err)
			}
		}
		checkMetrics(t, s)
	}
	add(t, s, evertick.AfterIndex, "late", nothing)
	step(t, s, 1)
	checkMetrics(t, s)
	s.ResetStats()
	var m evertick.Metrics
	s.Monitor().Read(&m)
	if m.Step.Count != 0 || m.Err != nil || m.Ticks != s.Ticks() {
		t.Errorf("after ResetStats: %+v", m)
	}
	fails = errors.New("broken")
	err := s.Step()
	s.Monitor().Read(&m)
	if !errors.Is(m.Err, fails) || m.Err != err {
		t.Errorf("after a failed step: %v, want %v", m.Err, err)
	}
	checkMetrics(t, s)
}

func TestMonitorOfUntimed(t *testing.T) {
	c := small()
	c.Untimed = true
	s := newSim(t, c)
	s.Monitor()
	step(t, s, 3)
	checkMetrics(t, s)
}

// TestMonitorFromGoroutines: goroutines read everything that they may while the Sim runs, spawns, adds
// systems and resets its stats. The race detector looks on.
func TestMonitorFromGoroutines(t *testing.T) {
	c := small()
	c.Clock, c.Workers = manualClock(), 2
	s := newSim(t, c)
	monitor := s.Monitor()
	done := make(chan struct{})
	var readers sync.WaitGroup
	var started sync.WaitGroup
	for range 2 {
		started.Add(1)
		readers.Go(func() {
			var m evertick.Metrics
			var last uint64
			for first := true; ; first = false {
				monitor.Read(&m)
				if m.Ticks < last || m.Entities > 64 || len(m.Phases) != len(m.Timings) || m.Level != s.Level() || m.Ticks > 0 && m.Step.P50 > m.Step.Max {
					t.Errorf("after tick %d: %+v", last, m)
				}
				last = m.Ticks
				if s.InputStats().Pushed > 0 || native.Info().Level.String() == "" || s.Config().Capacity != 64 {
					t.Error("InputStats, Info or Config")
				}
				if first {
					started.Done()
				}
				select {
				case <-done:
					return
				default:
					runtime.Gosched() // on one thread the Sim would never step
				}
			}
		})
	}
	started.Wait()
	for i := range 300 {
		if i%10 == 0 {
			movingBody(t, s, spawn(t, s), 1)
		}
		if i == 100 {
			add(t, s, evertick.AfterIndex, "late", nothing)
		}
		if i%50 == 0 {
			s.ResetStats()
		}
		if _, err := s.Advance(17e6); err != nil {
			t.Fatal(err)
		}
	}
	close(done)
	readers.Wait()
	checkMetrics(t, s)
}

func TestMonitorAllocatesNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("not run: instrumented code allocates")
	}
	s := newSim(t, small())
	var m evertick.Metrics
	monitor := s.Monitor()
	step(t, s, 3)
	monitor.Read(&m)
	if n := testing.AllocsPerRun(50, func() {
		if err := s.Step(); err != nil {
			t.Fatal(err)
		}
		monitor.Read(&m)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if m.Ticks != s.Ticks() || m.Frame != (loop.Frame{}) {
		t.Errorf("%+v", m)
	}
}

// BenchmarkMonitor is the cost of a step with a Monitor and without, empty or with systems that do
// nothing, and of Read.
func BenchmarkMonitor(b *testing.B) {
	for _, systems := range []int{0, 100} {
		for _, with := range []string{"no", "yes"} {
			s := newSim(b, small())
			for i := range systems {
				add(b, s, evertick.AfterIndex, strconv.Itoa(i), func(*evertick.Tick) error { return nil })
			}
			if with == "yes" {
				s.Monitor()
			}
			b.Run(fmt.Sprintf("step/systems=%d/monitor=%s", systems, with), func(b *testing.B) {
				for b.Loop() {
					if err := s.Step(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
	b.Run("read", func(b *testing.B) {
		s := newSim(b, small())
		monitor := s.Monitor()
		step(b, s, 100)
		var m evertick.Metrics
		for b.Loop() {
			monitor.Read(&m)
		}
	})
}

// A phase that takes 1, 2, … 100 µs, and one that takes nothing.
func TestStats(t *testing.T) {
	clock := manualClock()
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

// A frame whose ticks exceed their budget reports by how much, and names the phase that
// exceeded its own median the most, not the one that always takes long.
func TestOverrun(t *testing.T) {
	const ms = 1_000_000
	for _, c := range []struct {
		name   string
		budget int64
		want   loop.Overrun
	}{
		// Steps of 6 + 2 ms, and one slow step of 6 + 9.
		{"10 ms", 10 * ms, loop.Overrun{System: "stutters", Ns: 3 * ms}},
		{"a tick's length", 0, loop.Overrun{}}, // 33.3 ms for two
		{"11 ms", 11 * ms, loop.Overrun{System: "stutters", Ns: 1 * ms}},
		{"11.5 ms", 11*ms + ms/2, loop.Overrun{}},
		{"most", math.MaxInt64, loop.Overrun{}},
	} {
		clock := manualClock()
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

// If no phase exceeds its median, the one that takes most is named. A frame without
// steps has no overrun, nor have steps outside frames.
func TestOverrunAsARule(t *testing.T) {
	clock := manualClock()
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
	clock := manualClock()
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

// Untimed changes no result; the clock is not read, and all durations are 0.
func TestUntimed(t *testing.T) {
	cfg := small()
	timed := newSim(t, cfg)
	clock := new(countingClock)
	cfg.Clock, cfg.Untimed, cfg.BudgetNs = clock, true, 1
	untimed := newSim(t, cfg)
	for _, s := range []*evertick.Sim{timed, untimed} {
		wander(t, s, 10)
		step(t, s, 5)
	}
	if timed.Hash() != untimed.Hash() {
		t.Errorf("hash %x, timed %x", untimed.Hash(), timed.Hash())
	}
	if clock.readings != 0 {
		t.Errorf("the clock was read %d times", clock.readings)
	}
	phases, step := untimed.Stats()
	if len(phases) == 0 || step != (evertick.PhaseStats{}) {
		t.Errorf("%d phases, the step %+v", len(phases), step)
	}
	for _, p := range phases {
		if p != (evertick.PhaseStats{Phase: p.Phase}) {
			t.Errorf("%+v", p)
		}
	}
	if _, ns := untimed.Timings(); ns != 0 {
		t.Errorf("a step of %d ns", ns)
	}
	untimed.ResetStats()
	frame, err := untimed.Advance(1e9)
	if err != nil || frame.Steps == 0 || frame.Overrun.Ns != 0 {
		t.Errorf("%+v, %v", frame, err)
	}
}

func TestTimings(t *testing.T) {
	clock := manualClock()
	c := small()
	c.Clock = clock
	s := newSim(t, c)
	takes := func(ns int64) func(*evertick.Tick) error {
		return func(tick *evertick.Tick) error {
			clock.Add(ns * int64(tick.N+1))
			return nil
		}
	}
	add(t, s, evertick.BeforePhysics, "slow", takes(1000))
	add(t, s, evertick.AfterIndex, "slower", takes(30_000))
	for n := range int64(3) {
		step(t, s, 1)
		clock.Add(777) // between steps: nobody's
		timings, total := s.Timings()
		if want := 31_000 * (n + 1); total != want {
			t.Errorf("tick %d took %d ns, want %d", n, total, want)
		}
		want := map[string]int64{"slow": 1000 * (n + 1), "slower": 30_000 * (n + 1)}
		for _, p := range timings {
			if p.Ns != want[p.Phase] {
				t.Errorf("tick %d: %s took %d ns, want %d", n, p.Phase, p.Ns, want[p.Phase])
			}
		}
	}
}

// Timings stay those of the last step when a system is added after it or in it.
func TestTimingsAcrossAdd(t *testing.T) {
	clock := manualClock()
	c := small()
	c.Clock = clock
	s := newSim(t, c)
	add(t, s, evertick.BeforePhysics, "first", func(tick *evertick.Tick) error {
		clock.Add(5)
		if tick.N > 0 {
			return nil
		}
		return s.Add(evertick.BeforePhysics, "second", nothing)
	})
	add(t, s, evertick.AfterIndex, "third", func(*evertick.Tick) error { clock.Add(7); return nil })
	step(t, s, 1)
	add(t, s, evertick.BeforePhysics, "fourth", nothing)
	timings, total := s.Timings()
	want := []evertick.Timing{
		{Phase: "first", Ns: 5}, {Phase: "second"}, {Phase: "fourth"}, {Phase: "physics.step"}, {Phase: "physics.sync"},
		{Phase: "spatial.build"}, {Phase: "third", Ns: 7}, {Phase: "commands"}, {Phase: "state.hash"},
	}
	if total != 12 || !slices.Equal(timings, want) {
		t.Errorf("timings %v, %d ns in all, want %v, 12", timings, total, want)
	}
}

// A trace has a task for each tick and a region for each phase.
func TestTrace(t *testing.T) {
	for _, asked := range []bool{false, true} {
		s := threeSystems(t, evertick.Config{Workers: 2, Trace: asked}, nothing, nothing, nothing)
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

// While a system runs its goroutine has the label, and none afterwards.
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
		s := threeSystems(t, evertick.Config{Workers: 2, Labels: asked}, see("a"), see("b"), see("c"))
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
	s := threeSystems(t, evertick.Config{Workers: 2, Labels: true, Trace: true, Recover: true}, nothing, nothing, nothing)
	step(t, s, 10)
	if n := testing.AllocsPerRun(100, func() { step(t, s, 1) }); n != 0 {
		t.Errorf("%g allocations a step", n)
	}
}

// Hooks around the tick alone do not make every phase read the clock twice more.
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
		t.Errorf("%d readings with a hook after systems, %d without: its time would count as theirs", n, plain)
	}
}

// countingClock stands still and counts its readings.
type countingClock struct {
	loop.ManualClock
	readings int
}

func (c *countingClock) Now() int64 {
	c.readings++
	return c.ManualClock.Now()
}
