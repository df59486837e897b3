package profile

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/internal/paritytest"
)

// fakeCPU counts what a test says. It is of thread 7.
type fakeCPU struct {
	now     events
	lacks   int // event that it does not count, -1: it counts all
	fails   error
	reads   int
	running int // thread on which the steps run
	closed  int
}

func (f *fakeCPU) read(e *events) error {
	f.reads++
	*e = f.now
	return f.fails
}

func (f *fakeCPU) has() (has [4]bool) {
	for i := range has {
		has[i] = i != f.lacks
	}
	return has
}

func (f *fakeCPU) thread() int { return 7 }

func (f *fakeCPU) close() error { f.closed++; return nil }

// work is n instructions in 2n cycles with 3n and 4n misses, in n ns.
func (f *fakeCPU) work(n uint64) {
	f.now.counts.add(sums{n, 2 * n, 3 * n, 4 * n})
	f.now.enabled += n
	f.now.running += n
}

func worked(n float64) Count { return Count{n, 2 * n, 3 * n, 4 * n} }

// useCPU has Recorders count on f until the test is over.
func useCPU(t *testing.T, f *fakeCPU) {
	wasOpen, wasThread := openEvents, thread
	t.Cleanup(func() { openEvents, thread = wasOpen, wasThread })
	f.running = 7
	openEvents = func() (eventSource, error) { return f, nil }
	thread = func() int { return f.running }
}

func byHand(t *testing.T, c Config) *Recorder {
	t.Helper()
	c.Hardware = true
	r, err := New(c, []string{"a", "b"})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (f *fakeCPU) step(r *Recorder, n uint64) {
	r.Begin(-1)
	f.work(1) // in no phase
	r.Phase(0)
	f.work(n)
	r.Phase(1)
	f.work(10 * n)
	r.Phase(0)
	f.work(100 * n)
	r.End()
	f.work(1000) // between the steps
}

func TestHardwareByHand(t *testing.T) {
	f := &fakeCPU{lacks: -1}
	useCPU(t, f)
	r := byHand(t, Config{Warmup: 1, Steps: 2})
	f.step(r, 50)
	if f.reads != 0 {
		t.Errorf("%d readings in the warm-up", f.reads)
	}
	if run := r.Run(); run.Hardware != nil || len(run.Unwatched) > 0 {
		t.Errorf("before the first step: %+v, %q", run.Hardware, run.Unwatched)
	}
	for n := range uint64(4) { // more than the ring holds: the means are of all
		f.step(r, n)
	}
	run := r.Run()
	if h := run.Hardware; h == nil || h.Total != worked(111*1.5+1) || h.Phases[0] != worked(101*1.5) || h.Phases[1] != worked(15) {
		t.Errorf("%+v", h)
	}
	if err := run.Validate(); err != nil {
		t.Error(err)
	}
	r.Reset()
	f.step(r, 2)
	if h := r.Run().Hardware; h == nil || h.Total != worked(223) {
		t.Errorf("after Reset: %+v", h)
	}
	for range 2 {
		if err := r.Close(); err != nil || f.closed != 1 {
			t.Errorf("closed %d times, %v", f.closed, err)
		}
	}
	f.step(r, 3)
	if run := r.Run(); run.Hardware == nil || run.Hardware.Total != worked(223) || run.Steps.Len() != 2 {
		t.Errorf("after Close: %+v, %d steps", run.Hardware, run.Steps.Len())
	}
}

// Counters that take turns saw a part; the rest is taken to be like it. What is not counted
// at all is said to be so.
func TestHardwareTakesTurns(t *testing.T) {
	f := &fakeCPU{lacks: 2}
	useCPU(t, f)
	r := byHand(t, Config{})
	r.Begin(-1)
	r.Phase(0)
	f.work(100)
	f.now.enabled += 300
	r.End()
	run := r.Run()
	want := Count{400, 800, -1, 1600}
	if h := run.Hardware; h == nil || h.Total != want || h.Phases[0] != want || h.Phases[1] != (Count{0, 0, -1, 0}) {
		t.Errorf("%+v", h)
	}
	if want := []string{"hardware counters: this CPU does not count cache misses"}; !slices.Equal(run.Unwatched, want) {
		t.Errorf("%q", run.Unwatched)
	}
}

// The run reports what cannot be counted, and everything else is recorded.
func TestHardwareFails(t *testing.T) {
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		spoil func(f *fakeCPU)
		says  string
	}{
		"read":   {func(f *fakeCPU) { f.fails = broken }, "reading them failed: broken"},
		"thread": {func(f *fakeCPU) { f.running = 8 }, "other than the one that attached"},
	} {
		f := &fakeCPU{lacks: -1}
		useCPU(t, f)
		r := byHand(t, Config{})
		f.step(r, 1)
		c.spoil(f)
		f.step(r, 100)
		run := r.Run()
		if run.Steps.Len() != 2 || run.Hardware == nil || run.Hardware.Total != worked(112) {
			t.Errorf("%s: %d steps, %+v", name, run.Steps.Len(), run.Hardware)
		}
		if len(run.Unwatched) != 1 || !strings.Contains(run.Unwatched[0], c.says) {
			t.Errorf("%s: %q", name, run.Unwatched)
		}
	}
	f := &fakeCPU{lacks: -1}
	useCPU(t, f)
	openEvents = func() (eventSource, error) { return nil, broken }
	r := byHand(t, Config{})
	f.step(r, 1)
	if run := r.Run(); run.Steps.Len() != 1 || run.Hardware != nil || !slices.Equal(run.Unwatched, []string{"hardware counters: broken"}) {
		t.Errorf("%+v, %q", run.Hardware, run.Unwatched)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	plain, err := New(Config{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if run := plain.Run(); len(run.Unwatched) > 0 {
		t.Errorf("not asked for, but reported: %q", run.Unwatched)
	}
}

// Each phase of a Sim has its own counters. Those of one thread do not cover parallel phases, whose
// events are in the step alone.
func TestHardwareOfSim(t *testing.T) {
	f := &fakeCPU{lacks: -1}
	useCPU(t, f)
	sim, err := evertick.New(evertick.Config{Capacity: 64})
	if err != nil {
		t.Fatal(err)
	}
	add := func(name string, writes string, n uint64) {
		t.Helper()
		if err := sim.Resource("r" + name); err != nil {
			t.Fatal(err)
		}
		s := evertick.System{Name: name, Run: func(*evertick.Tick) error { f.work(n); return nil }}
		if writes != "" {
			s.Writes = []string{writes}
		}
		if err := sim.AddSystem(s); err != nil {
			t.Fatal(err)
		}
	}
	add("alone", "", 10)
	add("left", "rleft", 100)
	add("right", "rright", 1000)
	add("again", "", 10_000)
	add("one", "rone", 1)
	add("two", "rtwo", 2)
	add("three", "rthree", 3)
	add("last", "", 100_000)
	plan, err := sim.Plan()
	if err != nil || len(plan.Groups[1]) != 2 || len(plan.Groups[3]) != 3 {
		t.Fatal(plan, err)
	}
	r, err := Attach(sim, Config{Hardware: true})
	if err != nil {
		t.Fatal(err)
	}
	step := func() {
		t.Helper()
		if err := sim.Step(); err != nil {
			t.Fatal(err)
		}
		f.work(7_000_000)
	}
	step()
	step()
	check := func(total float64, want map[string]Count) {
		t.Helper()
		run := r.Run()
		if run.Hardware == nil || run.Hardware.Total != worked(total) {
			t.Fatalf("%+v", run.Hardware)
		}
		for i, name := range run.Steps.Phases {
			if c, ok := want[name]; ok && run.Hardware.Phases[i] != c {
				t.Errorf("%s: %v, want %v", name, run.Hardware.Phases[i], c)
			}
		}
		if err := run.Validate(); err != nil {
			t.Error(err)
		}
	}
	none := Count{-1, -1, -1, -1}
	check(111_116, map[string]Count{
		"alone": worked(10), "left": none, "right": none, "again": worked(10_000), "one": none, "two": none, "three": none,
		"last": worked(100_000), "physics.step": worked(0), "state.hash": worked(0),
	})
	if r.Run().Overhead <= 0 {
		t.Error("no overhead")
	}
	// One that is added later is a phase like others.
	if err := sim.AddSystem(evertick.System{Name: "new", Before: []string{"alone"}, Run: func(*evertick.Tick) error { f.work(5_000_000); return nil }}); err != nil {
		t.Fatal(err)
	}
	step()
	step()
	check(111_116+2_500_000, map[string]Count{"new": worked(2_500_000), "alone": worked(10), "last": worked(100_000)})
	if paritytest.Instrumented {
		return
	}
	if n := testing.AllocsPerRun(50, func() { _ = sim.Step() }); n != 0 {
		t.Errorf("a step allocates %g times", n)
	}
}
