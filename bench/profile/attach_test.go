package profile_test

import (
	"errors"
	"runtime"
	"slices"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/bench/profile"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/internal/sims3"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/physics"
)

// yard is a Sim whose systems take as long as the test says, by a clock that nothing else
// moves.
type yard struct {
	*evertick.Sim
	clock *loop.ManualClock
}

func newYard(t testing.TB, c evertick.Config) *yard {
	t.Helper()
	y := &yard{clock: new(loop.ManualClock)}
	y.clock.Set(5_000)
	c.Capacity, c.Clock = 64, y.clock
	sim, err := evertick.New(c)
	if err != nil {
		t.Fatal(err)
	}
	y.Sim = sim
	return y
}

// system adds one that takes ns(tick).
func (y *yard) system(t testing.TB, name string, ns func(tick uint64) int64) {
	t.Helper()
	if err := y.Add(evertick.BeforePhysics, name, func(tick *evertick.Tick) error {
		y.clock.Add(ns(tick.N))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

func (y *yard) step(t testing.TB, n int) {
	t.Helper()
	for range n {
		if err := y.Step(); err != nil {
			t.Fatal(err)
		}
	}
}

func attach(t testing.TB, sim *evertick.Sim, c profile.Config) *profile.Recorder {
	t.Helper()
	r, err := profile.Attach(sim, c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Every step has the times that its systems took, and began when it did.
func TestAttach(t *testing.T) {
	y := newYard(t, evertick.Config{Seed: 3})
	y.system(t, "act", func(tick uint64) int64 { return 100 + int64(tick) })
	y.system(t, "think", func(tick uint64) int64 { return 1000 * int64(tick) })
	y.AddHooks(evertick.Hooks{BeforeTick: func(*evertick.Tick) error { y.clock.Add(7); return nil }}) // part of the step, in no phase
	r := attach(t, y.Sim, profile.Config{Name: "yard", Steps: 100})
	for i := range 10 {
		y.clock.Add(50) // between the steps
		y.step(t, 1)
		if r.Len() != i+1 {
			t.Fatalf("%d steps recorded of %d", r.Len(), i+1)
		}
	}
	run := r.Run()
	s := &run.Steps
	if want := []string{"act", "think", "physics.step", "physics.sync", "spatial.build", "commands", "state.hash"}; !slices.Equal(s.Phases, want) {
		t.Fatalf("phases %q", s.Phases)
	}
	if err := run.Validate(); err != nil {
		t.Error(err)
	}
	start := int64(0)
	for i := range s.Len() {
		act, think := 100+int64(i), 1000*int64(i)
		if s.Tick[i] != uint64(i) || s.StartNs[i] != start || s.DueNs[i] != start || s.Ns[i] != 7+act+think ||
			s.PhaseNs[0][i] != act || s.PhaseNs[1][i] != think || s.PhaseNs[2][i] != 0 {
			t.Errorf("step %d: tick %d, began %d, was due %d, took %d, act %d, think %d",
				i, s.Tick[i], s.StartNs[i], s.DueNs[i], s.Ns[i], s.PhaseNs[0][i], s.PhaseNs[1][i])
		}
		start += 57 + act + think
	}
	if run.Scene != "yard" || run.Seed != 3 || run.Workers != 1 || run.Level != y.Level().String() || run.Started == "" ||
		run.Hash == "" || run.BudgetNs != 16_666_666 || run.RateHz != 0 || run.Env.Go != runtime.Version() {
		t.Errorf("%+v", run)
	}
}

// A full ring keeps the last steps, and a warm-up is not recorded.
func TestRing(t *testing.T) {
	for _, c := range []struct{ steps, warmup, run, first, kept int }{
		{10, 0, 3, 0, 3}, {10, 0, 10, 0, 10}, {10, 0, 11, 1, 10}, {10, 0, 37, 27, 10}, {1, 0, 5, 4, 1},
		{10, 4, 3, 0, 0}, {10, 4, 4, 0, 0}, {10, 4, 5, 4, 1}, {10, 4, 30, 20, 10},
	} {
		y := newYard(t, evertick.Config{})
		y.system(t, "act", func(tick uint64) int64 { return int64(tick) })
		r := attach(t, y.Sim, profile.Config{Steps: c.steps, Warmup: c.warmup})
		y.step(t, c.run)
		s := r.Run().Steps
		if s.Len() != c.kept || r.Len() != c.kept {
			t.Errorf("%+v: %d steps", c, s.Len())
		}
		for i, tick := range s.Tick {
			if want := c.first + i; tick != uint64(want) || s.Ns[i] != int64(want) || s.PhaseNs[0][i] != int64(want) {
				t.Errorf("%+v: step %d is tick %d of %d ns", c, i, tick, s.Ns[i])
			}
		}
		r.Reset()
		if r.Len() != 0 || r.Run().Steps.Len() != 0 {
			t.Errorf("%+v: %d steps after Reset", c, r.Len())
		}
		y.step(t, 1)
		if s := r.Run().Steps; c.run >= c.warmup && (s.Len() != 1 || s.Tick[0] != uint64(c.run) || s.StartNs[0] != 0) {
			t.Errorf("%+v: after Reset and a step %v", c, s.Tick)
		}
	}
}

// A system that is added later has 0 ns before, wherever it is in the tick.
func TestSystemAddedLater(t *testing.T) {
	y := newYard(t, evertick.Config{})
	y.system(t, "act", func(tick uint64) int64 { return 10 + int64(tick) })
	r := attach(t, y.Sim, profile.Config{Steps: 4})
	y.step(t, 6) // the ring is full, and its oldest row in the middle
	if err := y.AddSystem(evertick.System{Name: "early", Before: []string{"act"}, Run: func(*evertick.Tick) error {
		y.clock.Add(1000)
		return nil
	}}); err != nil {
		t.Fatal(err)
	}
	y.step(t, 2)
	s := r.Run().Steps
	if s.Phases[0] != "early" || s.Phases[1] != "act" || len(s.Phases) != 7 {
		t.Fatalf("phases %q", s.Phases)
	}
	if want := []int64{0, 0, 1000, 1000}; !slices.Equal(s.PhaseNs[0], want) {
		t.Errorf("the new system took %d, want %d", s.PhaseNs[0], want)
	}
	if want := []int64{14, 15, 16, 17}; !slices.Equal(s.PhaseNs[1], want) {
		t.Errorf("the old one took %d, want %d", s.PhaseNs[1], want)
	}
}

// A step that fails is not recorded.
func TestFailedStepIsNotRecorded(t *testing.T) {
	y := newYard(t, evertick.Config{})
	broken := errors.New("broken")
	fail := false
	if err := y.Add(evertick.AfterIndex, "fragile", func(*evertick.Tick) error {
		y.clock.Add(10)
		if fail {
			return broken
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	r := attach(t, y.Sim, profile.Config{})
	y.step(t, 2)
	saved, err := y.Snapshot(nil)
	if err != nil {
		t.Fatal(err)
	}
	fail = true
	if err := y.Step(); !errors.Is(err, broken) {
		t.Fatal(err)
	}
	if err := y.Restore(saved); err != nil {
		t.Fatal(err)
	}
	fail = false
	y.step(t, 1)
	if s := r.Run().Steps; !slices.Equal(s.Tick, []uint64{0, 1, 2}) || !slices.Equal(s.Ns, []int64{10, 10, 10}) {
		t.Errorf("ticks %d took %d", s.Tick, s.Ns)
	}
}

// Asked from within a step, a Recorder knows of those before it; and a second one sees the
// same steps.
func TestRunWithinAStep(t *testing.T) {
	y := newYard(t, evertick.Config{})
	var r *profile.Recorder
	var seen []int
	if err := y.Add(evertick.BeforePhysics, "ask", func(*evertick.Tick) error {
		seen = append(seen, r.Run().Steps.Len())
		y.clock.Add(5)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	r = attach(t, y.Sim, profile.Config{})
	other := attach(t, y.Sim, profile.Config{})
	y.step(t, 3)
	if !slices.Equal(seen, []int{0, 1, 2}) {
		t.Errorf("%d steps known", seen)
	}
	a, b := r.Run().Steps, other.Run().Steps
	if !slices.Equal(a.Ns, []int64{5, 5, 5}) || !slices.Equal(b.Ns, a.Ns) || !slices.Equal(b.StartNs, a.StartNs) {
		t.Errorf("%d and %d", a.Ns, b.Ns)
	}
}

// Steps that are repeated to go back are recorded like others.
func TestStepsRepeated(t *testing.T) {
	y := newYard(t, evertick.Config{History: evertick.HistoryConfig{Keep: 8, Every: 4}})
	y.system(t, "work", func(tick uint64) int64 { return 10 * int64(tick) })
	r := attach(t, y.Sim, profile.Config{})
	y.step(t, 7)
	if err := y.StepBack(1); err != nil { // from the snapshot at tick 4, by steps 4 and 5
		t.Fatal(err)
	}
	s := r.Run().Steps
	if !slices.Equal(s.Tick, []uint64{0, 1, 2, 3, 4, 5, 6, 4, 5}) || s.Ns[7] != 40 || s.Ns[8] != 50 {
		t.Errorf("ticks %d took %d", s.Tick, s.Ns)
	}
}

func TestContactsAreCounted(t *testing.T) {
	y := newYard(t, evertick.Config{})
	for range 2 {
		def := physics.DefaultBodyDef()
		def.Type = physics.DynamicBody
		b, err := y.Physics.CreateBody(def)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := y.Physics.CreateCircle(b, physics.DefaultShapeDef(), physics.Circle{Radius: 1}); err != nil {
			t.Fatal(err)
		}
	}
	r := attach(t, y.Sim, profile.Config{})
	y.step(t, 1)
	s := r.Run().Steps
	if i := slices.Index(s.Counters, "contacts"); i < 0 || s.Counts[i][0] != 1 {
		t.Errorf("%v of %v", s.Counts, s.Counters)
	}
}

// The counter of contacts counts those of a space, too.
func TestContactsOfASpace(t *testing.T) {
	l, err := sims3.NewLife(4, evertick.Config{})
	if err != nil {
		t.Fatal(err)
	}
	r := attach(t, l.Sim, profile.Config{})
	var want []int64
	for range 120 {
		if err := l.Sim.Step(); err != nil {
			t.Fatal(err)
		}
		want = append(want, int64(l.Bodies.World().ContactCount()+l.Sim.Physics.ContactCount()))
	}
	s := r.Run().Steps
	if got := s.Counts[slices.Index(s.Counters, "contacts")]; !slices.Equal(got, want) || slices.Max(want) < 5 {
		t.Errorf("contacts %v, want %v", got, want)
	}
}

func TestCounters(t *testing.T) {
	y := newYard(t, evertick.Config{})
	hits := int64(0)
	if err := y.Add(evertick.BeforePhysics, "spawn", func(tick *evertick.Tick) error {
		hits = int64(tick.N * tick.N)
		_, err := y.World.Spawn()
		return err
	}); err != nil {
		t.Fatal(err)
	}
	r := attach(t, y.Sim, profile.Config{Counters: []profile.Counter{{"hits", func() int64 { return hits }}}})
	y.step(t, 4)
	s := r.Run().Steps
	for name, want := range map[string][]int64{"hits": {0, 1, 4, 9}, "live": {1, 2, 3, 4}} {
		if i := slices.Index(s.Counters, name); i < 0 || !slices.Equal(s.Counts[i], want) {
			t.Errorf("%s: %v of %v, want %v", name, s.Counts, s.Counters, want)
		}
	}
	y = newYard(t, evertick.Config{})
	r = attach(t, y.Sim, profile.Config{Counters: []profile.Counter{{"live", func() int64 { return -7 }}}})
	y.step(t, 1)
	s = r.Run().Steps
	if i := slices.Index(s.Counters, "live"); i < 0 || s.Counts[i][0] != -7 || slices.Contains(s.Counters[i+1:], "live") {
		t.Errorf("a counter of the user's gave way: %v of %v", s.Counts, s.Counters)
	}
}

// Collections are those that ended within the step.
func TestCollections(t *testing.T) {
	y := newYard(t, evertick.Config{})
	if err := y.Add(evertick.BeforePhysics, "collect", func(tick *evertick.Tick) error {
		for range tick.N {
			runtime.GC()
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	r := attach(t, y.Sim, profile.Config{})
	for range 3 {
		runtime.GC()
		y.step(t, 1)
		runtime.GC()
	}
	s := r.Run().Steps
	for i, n := range s.GCs {
		// Others of this process may add to them.
		if n < int64(i) || i > 0 && s.GCPauseNs[i] <= 0 || s.GCPauseNs[i] < 0 || s.GCAssistNs[i] < 0 {
			t.Errorf("step %d: %d collections, paused for %d ns, assisted for %d ns", i, n, s.GCPauseNs[i], s.GCAssistNs[i])
		}
	}
}

func TestStepsDoNotAllocate(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("not run: instrumented builds allocate")
	}
	y := newYard(t, evertick.Config{})
	y.system(t, "act", func(uint64) int64 { return 1000 })
	attach(t, y.Sim, profile.Config{Steps: 16, Warmup: 4, RateHz: 60,
		Counters: []profile.Counter{{"one", func() int64 { return 1 }}}})
	y.step(t, 5)
	if n := testing.AllocsPerRun(200, func() { y.step(t, 1) }); n != 0 {
		t.Errorf("a recorded step allocates %g times", n)
	}
	if n := testing.AllocsPerRun(200, func() {
		if _, err := y.Advance(20e6); err != nil {
			t.Error(err)
		}
	}); n != 0 {
		t.Errorf("a recorded frame allocates %g times", n)
	}
}

func TestAttachRefusesAndChangesNothing(t *testing.T) {
	y := newYard(t, evertick.Config{})
	read := func() int64 { return 0 }
	nan := 0.0
	nan /= nan
	for _, c := range []struct {
		config profile.Config
		names  []string
	}{
		{profile.Config{Steps: -1, Warmup: -2, BudgetNs: -3, RateHz: -4}, []string{"Steps = -1", "Warmup = -2", "BudgetNs = -3", "RateHz = -4"}},
		{profile.Config{Steps: 1<<24 + 1, RateHz: nan}, []string{"Steps = 16777217", "RateHz = NaN"}},
		{profile.Config{Counters: []profile.Counter{{"a", read}, {"", read}, {"a", nil}}},
			[]string{`Counters[1].Name = ""`, `Counters[2].Name = "a"`, "Counters[2].Read = nil"}},
	} {
		r, err := profile.Attach(y.Sim, c.config)
		if r != nil || !errors.Is(err, evertick.ErrRange) {
			t.Fatalf("%+v: %v", c.config, err)
		}
		for _, name := range c.names {
			if !contains(err, "profile: Config."+name) {
				t.Errorf("%q does not name %q", err, name)
			}
		}
	}
	if err := y.AddSystem(evertick.System{Name: "lost", After: []string{"nobody"}, Run: func(*evertick.Tick) error { return nil }}); err != nil {
		t.Fatal(err)
	}
	if _, err := profile.Attach(y.Sim, profile.Config{}); !errors.Is(err, evertick.ErrRange) {
		t.Errorf("a Sim that cannot step: %v", err)
	}
	if _, err := profile.Attach(newYard(t, evertick.Config{Untimed: true}).Sim, profile.Config{}); !errors.Is(err, evertick.ErrUnsupported) {
		t.Errorf("a Sim that is not timed: %v", err)
	}
}

func TestBytes(t *testing.T) {
	if got, want := (profile.Config{Steps: 100}).Bytes(5, 2), int64(100*8*(7+5+2)); got != want {
		t.Errorf("%d bytes, want %d", got, want)
	}
	if got, want := (profile.Config{}).Bytes(0, 0), int64(profile.DefaultSteps*56); got != want {
		t.Errorf("%d bytes, want %d", got, want)
	}
}
