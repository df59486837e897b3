package evertick_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime/pprof"
	"runtime/trace"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/native/paritytest"
	"github.com/evertick/evertick/physics"
)

func TestAdvance(t *testing.T) {
	s := newSim(t, small())
	advance := func(ns int64) loop.Frame {
		t.Helper()
		f, err := s.Advance(ns)
		if err != nil {
			t.Fatal(err)
		}
		if f.Tick != s.Ticks() {
			t.Errorf("frame at tick %d, Sim at %d", f.Tick, s.Ticks())
		}
		return f
	}
	if f := advance(10_000_000); f.Steps != 0 || s.Ticks() != 0 || f.Alpha < 0.59 || f.Alpha > 0.61 {
		t.Errorf("10 ms at 60 Hz: %+v", f)
	}
	if f := advance(10_000_000); f.Steps != 1 || s.Ticks() != 1 || f.Dropped != 0 {
		t.Errorf("20 ms at 60 Hz: %+v", f)
	}
	// 0.25 s are 15 steps: 5 run, the cap drops 10, and none runs later.
	if f := advance(250_000_000); f.Steps != 5 || f.Dropped != 10 || !f.CapHit || s.Ticks() != 6 {
		t.Errorf("a stall of 0.25 s: %+v", f)
	}
	if f := advance(0); f.Steps != 0 || f.Backlog != 0 || f.DroppedTotal != 10 || s.Ticks() != 6 {
		t.Errorf("after the stall: %+v", f)
	}
}

func TestAdvanceStopsAtAnError(t *testing.T) {
	s := newSim(t, small())
	add(t, s, evertick.AfterIndex, "failing", func(tick *evertick.Tick) error {
		if tick.N == 2 {
			return errSystem
		}
		return nil
	})
	_, err := s.Advance(70_000_000) // 4 steps
	wantError(t, err, errSystem, "tick 2", "failing")
	if s.Ticks() != 2 {
		t.Errorf("%d ticks completed, want 2", s.Ticks())
	}
	if f, _ := s.Advance(0); f.Tick-uint64(f.Steps) != 2 || f.Steps+int(f.Dropped) != 2 {
		t.Errorf("after the error: %+v; two ticks are still due", f)
	}
}

// The host can see the count of dropped ticks.
func TestFrame(t *testing.T) {
	s := newSim(t, small())
	if _, err := s.Advance(250_000_000); err != nil {
		t.Fatal(err)
	}
	f, err := s.Advance(20_000_000)
	if err != nil || s.Frame() != f || f.DroppedTotal != 10 || f.Tick != s.Ticks() {
		t.Errorf("%+v, %v; Frame gives %+v", f, err, s.Frame())
	}
}

// Run takes exactly one step for each sixtieth of a second on the clock, and
// returns when the context is done.
func TestRun(t *testing.T) {
	clock := manualClock()
	c := small()
	c.Clock = clock
	s := newSim(t, c)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	add(t, s, evertick.AfterIndex, "stop", func(tick *evertick.Tick) error {
		if want := int64((1_000_000_000*(tick.N+1) + 59) / 60); clock.Now() != want {
			t.Errorf("tick %d at %d ns, want %d", tick.N, clock.Now(), want)
		}
		if tick.N == 119 {
			cancel()
		}
		return nil
	})
	if err := s.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Run returns %v", err)
	}
	if s.Ticks() != 120 {
		t.Errorf("%d ticks, want 120", s.Ticks())
	}
}

// RunFrames calls its function after the ticks of each frame, with what Frame returns, and where
// Interpolate draws; also while time is stopped.
func TestRunFrames(t *testing.T) {
	c := small()
	c.Clock, c.Previous, c.Loop.RateNum = manualClock(), true, 50
	s := newSim(t, c)
	slot := slotOf(t, s, spawn(t, s))
	add(t, s, evertick.BeforePhysics, "walk", func(*evertick.Tick) error {
		s.World.Position.X[slot]++
		return nil
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	drawn := ecs.NewTransforms(64)
	var frames, ticks int
	err := s.RunFrames(ctx, func(f loop.Frame) {
		frames++
		ticks += f.Steps
		if f != s.Frame() || s.Ticks() != f.Tick || ticks != int(f.Tick) {
			t.Fatalf("%d ticks, called with %+v, Frame is %+v", s.Ticks(), f, s.Frame())
		}
		if err := s.Interpolate(drawn); err != nil || f.Alpha != 0 || drawn.Position.X[slot] != s.World.Previous().Position.X[slot] {
			t.Fatalf("%v, drawn at %g", err, drawn.Position.X[slot])
		}
		switch frames {
		case 10:
			s.Loop().SetPaused(true)
		case 15:
			s.Loop().SetPaused(false)
		case 20:
			cancel()
		}
	})
	if err != context.Canceled || frames != 20 || ticks != 15 {
		t.Errorf("%v after %d frames, %d ticks", err, frames, ticks)
	}
}

// The function of RunFrames cannot move time, and a panic in it leaves the Sim as it was.
func TestRunFramesRefusesToAdvance(t *testing.T) {
	c := small()
	c.Clock = manualClock()
	s := newSim(t, c)
	func() {
		defer func() {
			if v := recover(); v != "draw" || s.Ticks() != 1 {
				t.Errorf("panic %v after %d ticks", v, s.Ticks())
			}
		}()
		_ = s.RunFrames(t.Context(), func(loop.Frame) {
			_, err := s.Advance(1e9)
			for _, err := range []error{err, s.Run(t.Context()), s.RunFrames(t.Context(), nil)} {
				if err == nil || !strings.HasPrefix(err.Error(), "evertick: Advance, Run or RunFrames was called") {
					t.Error(err)
				}
			}
			panic("draw")
		})
	}()
	if f, err := s.Advance(20e6); err != nil || f.Steps != 1 {
		t.Errorf("after the panic: %v, %+v", err, f)
	}
}

func TestRunReturnsTheError(t *testing.T) {
	c := small()
	c.Clock = manualClock()
	s := newSim(t, c)
	add(t, s, evertick.AfterIndex, "failing", func(*evertick.Tick) error { return errSystem })
	wantError(t, s.Run(t.Context()), errSystem, "tick 0", "failing")
}

// Without a clock Run follows the pacing of the loop, and phases are timed anyway.
func TestRunByPacing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s := newSim(t, evertick.Config{Capacity: 64, Loop: loop.Config{Pacing: loop.Uncapped}})
	add(t, s, evertick.AfterIndex, "end", func(tk *evertick.Tick) error {
		if tk.N == 599 {
			cancel()
		}
		return nil
	})
	if err := s.Run(ctx); err != context.Canceled || s.Ticks() != 600 {
		t.Errorf("%v after %d ticks", err, s.Ticks())
	}
	if f := s.Frame(); f.WallNs != 10e9 || f.Steps != 1 {
		t.Errorf("%+v", f)
	}
	if _, ns := s.Timings(); ns <= 0 {
		t.Errorf("the last step took %d ns", ns)
	}
}

func TestRunExternal(t *testing.T) {
	s := newSim(t, evertick.Config{Capacity: 64, Loop: loop.Config{Pacing: loop.External}})
	if err := s.Run(t.Context()); !errors.Is(err, evertick.ErrUnsupported) {
		t.Error(err)
	}
	if f, err := s.Advance(20e6); err != nil || f.Steps != 1 || s.Ticks() != 1 {
		t.Errorf("%v, %+v", err, f)
	}
}

// Rehearse changes no result, and Run calls it.
func TestRunRehearsesATwin(t *testing.T) {
	if loop.Precise.Effective() != loop.Precise {
		t.Skip("not run: nothing spins where one thread runs everything")
	}
	config := evertick.Config{Capacity: 64, Seed: 5, Loop: loop.Config{RateNum: 500, Pacing: loop.Precise, SpinBudget: 1000}}
	twin := newSim(t, config)
	rehearsals := 0
	config.Rehearse = func() {
		rehearsals++
		if err := twin.Step(); err != nil {
			t.Error(err)
		}
	}
	s := newSim(t, config)
	start := time.Now()
	if err := s.Add(evertick.BeforePhysics, "until", func(tick *evertick.Tick) error {
		if rehearsals > 2 && tick.N > 20 || time.Since(start) > 2*time.Minute {
			return loop.ErrStop
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := s.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if rehearsals == 0 || uint64(rehearsals) != twin.Ticks() {
		t.Errorf("%d rehearsals, %d ticks of the twin, %d of the Sim", rehearsals, twin.Ticks(), s.Ticks())
	}
	for twin.Ticks() < s.Ticks() {
		if err := twin.Step(); err != nil {
			t.Fatal(err)
		}
	}
	for twin.Ticks() > s.Ticks() {
		if err := s.Step(); err != nil && !errors.Is(err, loop.ErrStop) {
			t.Fatal(err)
		}
	}
	if s.Hash() != twin.Hash() {
		t.Errorf("hash %016x, of the twin %016x", s.Hash(), twin.Hash())
	}
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

func TestInterpolate(t *testing.T) {
	for _, previous := range []bool{false, true} {
		sim, err := evertick.New(evertick.Config{Previous: previous, Clock: new(loop.ManualClock)})
		if err != nil {
			t.Fatal(err)
		}
		id, _ := sim.World.Spawn()
		sim.Add(evertick.BeforePhysics, "walk", func(t *evertick.Tick) error {
			return sim.World.SetPosition(id, float32(t.N)*4, 0, 0)
		})
		out := ecs.NewTransforms(sim.World.Cap())
		frame, err := sim.Advance(54_166_667) // three ticks and a quarter
		if err != nil || frame.Steps != 3 {
			t.Fatal(frame, err)
		}
		err = sim.Interpolate(out)
		if !previous {
			if !errors.Is(err, evertick.ErrUnsupported) {
				t.Error(err)
			}
			continue
		}
		if x := out.Position.X[0]; err != nil || x < 4.99 || x > 5.01 {
			t.Errorf("drawn at %v, between 4 and 8: %v", x, err)
		}
	}
}

// An entity with a body that is written to, in whichever stage or between two ticks, is never drawn on its way, and moves
// on from there. In a mode without physics what systems write is a motion.
func TestInterpolateWrittenTeleports(t *testing.T) {
	const between = 9 // ticks, not a stage
	for _, stage := range []evertick.Stage{evertick.BeforePhysics, evertick.AfterPhysics, evertick.AfterIndex, evertick.AfterCommands, between} {
		c := small()
		c.Previous, c.Clock = true, new(loop.ManualClock)
		s := newSim(t, c)
		id := spawn(t, s)
		def := physics.DefaultBodyDef()
		def.Type, def.LinearVelocity = physics.KinematicBody, [2]float32{6, 0}
		if _, err := s.CreateBody(id, def); err != nil {
			t.Fatal(err)
		}
		at, x := slotOf(t, s, id), s.World.Position.X
		if stage != between {
			add(t, s, stage, "write", func(tick *evertick.Tick) error {
				if tick.N == 4 {
					x[at] += 300
				}
				return nil
			})
		}
		p, err := s.Publish(evertick.PublishConfig{})
		if err != nil {
			t.Fatal(err)
		}
		out, viewed := ecs.NewTransforms(s.World.Cap()), ecs.NewTransforms(s.World.Cap())
		const quarter = 4_166_667 // ns, of a tick
		last, jumps := float32(0), 0
		for range 40 {
			if _, err := s.Advance(quarter); err != nil {
				t.Fatal(err)
			}
			if stage == between && s.Ticks() == 5 && x[at] < 300 {
				x[at] += 300
				if err := p.Publish(); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.Interpolate(out); err != nil {
				t.Fatal(err)
			}
			drawn := out.Position.X[at]
			v := p.Acquire()
			if err := v.Interpolate(s.Frame().Alpha32(), viewed); err != nil || viewed.Position.X[at] != drawn {
				t.Fatalf("stage %d: %v; drawn at %g by the Sim, at %g by a view", stage, err, drawn, viewed.Position.X[at])
			}
			if drawn > 2 && drawn < 300 || drawn < last {
				t.Errorf("stage %d, tick %d: drawn at %g after %g", stage, s.Ticks(), drawn, last)
			}
			if drawn-last > 0.051 && s.Ticks() > 1 { // more than half a tick; the first one gives it a body
				jumps++
			}
			last = drawn
		}
		if jumps != 1 || last < 300.5 {
			t.Errorf("stage %d: %d jumps, and at %g in the end", stage, jumps, last)
		}
	}
}

// Entities that teleported are drawn at their new position, others on the way. Drawing
// changes nothing.
func TestInterpolateTeleports(t *testing.T) {
	type scene struct {
		sim  *evertick.Sim
		ids  [6]ecs.ID
		late ecs.ID
	}
	build := func(level native.Level, draws bool) *scene {
		c := small()
		c.Previous, c.Level, c.Clock = draws, level, new(loop.ManualClock)
		s := &scene{sim: newSim(t, c)}
		var bodies [6]physics.Body
		for i := range s.ids {
			s.ids[i] = spawn(t, s.sim)
			if i < 4 {
				def := physics.DefaultBodyDef()
				def.Type, def.LinearVelocity = physics.KinematicBody, [2]float32{6, 0}
				def.Position = [2]float32{float32(i), 0}
				var err error
				if bodies[i], err = s.sim.CreateBody(s.ids[i], def); err != nil {
					t.Fatal(err)
				}
			}
		}
		list := s.sim.Physics.NewCommands()
		add(t, s.sim, evertick.BeforePhysics, "teleport", func(tick *evertick.Tick) error {
			w := s.sim.World
			w.Position.X[slotOf(t, s.sim, s.ids[4])] += 0.1
			w.Position.X[slotOf(t, s.sim, s.ids[5])] += 0.1
			if tick.N != 4 {
				return nil
			}
			list.SetTransform(bodies[2], [2]float32{-200, 0}, 1)
			s.late = spawn(t, s.sim)
			w.Jump(s.ids[5])
			return errors.Join(s.sim.Physics.SetTransform(bodies[1], [2]float32{300, 0}, 2), s.sim.Physics.Apply(list),
				w.SetPosition(s.ids[5], 500, 0, 0), w.SetPosition(s.late, 600, 0, 0))
		})
		add(t, s.sim, evertick.AfterIndex, "teleport after the bodies", func(tick *evertick.Tick) error {
			if tick.N == 3 { // is seen in the next tick
				return s.sim.Physics.SetTransform(bodies[3], [2]float32{400, 0}, 0)
			}
			return nil
		})
		return s
	}
	const half = 8_333_333 // ns, of a tick
	for _, level := range native.Levels() {
		s, blind := build(level, true), build(level, false)
		out := ecs.NewTransforms(s.sim.World.Cap())
		for range 8 {
			for range 2 {
				if _, err := s.sim.Advance(half + 1); err != nil {
					t.Fatal(err)
				}
				hash := s.sim.World.Hash()
				if err := s.sim.Interpolate(out); err != nil || hash != s.sim.World.Hash() {
					t.Fatalf("drawing changes the state, %v", err)
				}
			}
			step(t, blind.sim, 1)
			if s.sim.Hash() != blind.sim.Hash() {
				t.Fatalf("level %s, tick %d: drawing changes the hash", level, s.sim.Ticks())
			}
			at := func(id ecs.ID) (drawn, now float32) {
				slot := slotOf(t, s.sim, id)
				return out.Position.X[slot], s.sim.World.Position.X[slot]
			}
			for i, id := range s.ids {
				drawn, now := at(id)
				jumps := s.sim.Ticks() == 5 && i != 0 && i != 4 || s.sim.Ticks() == 1 && i < 4 // which get a body
				if on := drawn < now && now-drawn < 0.11; jumps != (drawn == now) || !jumps && !on {
					t.Errorf("level %s, tick %d, entity %d: drawn at %g, is at %g", level, s.sim.Ticks(), i, drawn, now)
				}
			}
			if drawn, now := float32(0), float32(0); s.sim.Ticks() == 5 {
				if drawn, now = at(s.late); drawn != now || now != 600 {
					t.Errorf("a spawned entity is drawn at %g, is at %g", drawn, now)
				}
			}
		}
	}
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

// The frames of a Sim are those of its loop's tape, even with a pause by a system, a failed
// tick and a time scale.
func TestTapeOfSim(t *testing.T) {
	c := small()
	c.Loop.JitterFix, c.Loop.SmoothDelta = 50, true
	s := newSim(t, c)
	var tape loop.Tape
	if err := s.Loop().Record(&tape); err != nil {
		t.Fatal(err)
	}
	stop := errors.New("enough")
	if err := s.Add(evertick.AfterIndex, "pause", func(tick *evertick.Tick) error {
		switch tick.N {
		case 40:
			s.Loop().SetPaused(true)
		case 205:
			return loop.ErrStop
		case 210:
			return stop
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	var want []loop.Frame
	for i := range int64(400) {
		switch i {
		case 60:
			s.Loop().SetPaused(false)
		case 100:
			if err := s.Loop().SetScale(loop.Dilation, "test", 0.3, 50e6); err != nil {
				t.Fatal(err)
			}
		}
		f, err := s.Advance(16_666_667 + i%7*10_000 + i%50/49*70e6)
		f.Overrun = loop.Overrun{}
		want = append(want, f)
		if errors.Is(err, stop) {
			break
		}
		if err != nil && !errors.Is(err, loop.ErrStop) {
			t.Fatal(err)
		}
	}
	i := 0
	if err := tape.Replay(func(f loop.Frame) error {
		if i >= len(want) || f != want[i] {
			t.Fatalf("frame %d of %d\n got %+v\nwant %+v", i, len(want), f, want[min(i, len(want)-1)])
		}
		i++
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if i != len(want) || s.Ticks() < 200 || tape.Err() != nil {
		t.Errorf("%d frames replayed of %d, %d ticks, %v", i, len(want), s.Ticks(), tape.Err())
	}
}

// Advance within a step is refused: time does not move, and the running frame is
// unchanged.
func TestAdvanceWithinAStep(t *testing.T) {
	s := newSim(t, small())
	calls := 0
	add(t, s, evertick.AfterIndex, "again", func(*evertick.Tick) error {
		_, err := s.Advance(100e6)
		if runErr := s.Run(t.Context()); err == nil || runErr == nil {
			t.Errorf("Advance %v, Run %v", err, runErr)
		}
		calls++
		return nil
	})
	for i := 1; i <= 2; i++ {
		f, err := s.Advance(50e6)
		if err != nil || f.Steps != 3 || s.Ticks() != uint64(3*i) || f.WallNs != uint64(50e6*i) || calls != 3*i {
			t.Errorf("%v, %d ticks, %d calls, %+v", err, s.Ticks(), calls, f)
		}
	}
}

// When ticks are skipped the ticks of the Sim have no gap, and are fewer than the loop's by those dropped.
func TestRealtimeOfASim(t *testing.T) {
	c := small()
	c.Loop = loop.Config{Policy: loop.Realtime, MaxSteps: 2, MaxDeltaNs: 1e9}
	s := newSim(t, c)
	next := uint64(0)
	add(t, s, evertick.AfterIndex, "count", func(tick *evertick.Tick) error {
		if tick.N != next {
			t.Errorf("tick %d, want %d", tick.N, next)
		}
		next++
		return nil
	})
	for range 5 {
		f, err := s.Advance(100e6)
		if err != nil || f.DroppedTotal == 0 || s.Ticks() != f.Tick-f.DroppedTotal {
			t.Errorf("%v, at %d, %+v", err, s.Ticks(), f)
		}
	}
}

// Run ends, without an error, after the tick in which a system asked for it.
func TestRunStops(t *testing.T) {
	c := small()
	c.Clock = manualClock()
	s := newSim(t, c)
	add(t, s, evertick.BeforePhysics, "stop", func(tick *evertick.Tick) error {
		if tick.N == 6 {
			return loop.ErrStop
		}
		return nil
	})
	if err := s.Run(t.Context()); err != nil {
		t.Errorf("Run returns %v", err)
	}
	if s.Ticks() != 7 {
		t.Errorf("%d ticks, want 7", s.Ticks())
	}
	// The Sim is intact: another Run continues from there.
	ctx, cancel := context.WithCancel(t.Context())
	s.AddHooks(evertick.Hooks{AfterTick: func(tick *evertick.Tick) error {
		if tick.N == 9 {
			cancel()
		}
		return nil
	}})
	if err := s.Run(ctx); !errors.Is(err, context.Canceled) || s.Ticks() != 10 {
		t.Errorf("Run returns %v after %d ticks", err, s.Ticks())
	}
}

// The controls of the loop work on a Sim.
func TestLoopOfASim(t *testing.T) {
	s := newSim(t, small())
	if err := s.Loop().SetScale(loop.Speed, "test", 2, loop.Forever); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Advance(50_000_000); err != nil || s.Ticks() != 5 { // 6 are due, 5 the cap
		t.Errorf("%d ticks in 50 ms at twice the speed, %v", s.Ticks(), err)
	}
	s.Loop().SetPaused(true)
	if f, err := s.Advance(50_000_000); err != nil || s.Ticks() != 5 || !f.Paused {
		t.Errorf("%d ticks, %+v, %v", s.Ticks(), f, err)
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

// A whole frame, with inputs, a history, groups, hooks and interpolation, allocates nothing.
func TestFrameAllocatesNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("instrumented builds allocate on their own account")
	}
	c := evertick.Config{Workers: 2, Previous: true, Recover: true, History: evertick.HistoryConfig{Keep: 3, Every: 4}}
	s := threeSystems(t, c, nothing, nothing, nothing)
	movingBody(t, s, spawn(t, s), 2)
	out := ecs.NewTransforms(s.World.Cap())
	var image []byte
	s.AddHooks(evertick.Hooks{AfterTick: func(tick *evertick.Tick) (err error) {
		image, err = s.Snapshot(image[:0])
		return err
	}})
	seq := uint64(0)
	frame := func() {
		for range 8 {
			seq++
			push(t, s, evertick.Input{Seq: seq, Data: image[:min(len(image), 9)]})
			if _, err := s.Advance(25e6); err != nil {
				t.Fatal(err)
			}
			if err := s.Interpolate(out); err != nil {
				t.Fatal(err)
			}
		}
	}
	for range 6 {
		frame()
	}
	if n := testing.AllocsPerRun(20, frame); n != 0 {
		t.Errorf("%g allocations in 8 frames", n)
	}
}

// As alpha stays below 1, no entity is drawn at its next position.
func TestInterpolateStaysBelowOne(t *testing.T) {
	c := small()
	c.Previous = true
	s := newSim(t, c)
	id := spawn(t, s)
	add(t, s, evertick.BeforePhysics, "leap", func(*evertick.Tick) error {
		return s.World.SetPosition(id, 1<<24, 0, 0)
	})
	if f, err := s.Advance(33_333_333); err != nil || f.Steps != 1 || float32(f.Alpha) != 1 {
		t.Fatalf("%v, %+v: no alpha that float32 rounds to 1", err, f)
	}
	out := ecs.NewTransforms(s.World.Cap())
	if err := s.Interpolate(out); err != nil || out.Position.X[0] >= 1<<24 || out.Position.X[0] < 1<<24-2 {
		t.Errorf("%v, drawn at %g", err, out.Position.X[0])
	}
}

// TestAfterFrame: the hook sees each frame, also those of paused time, with its ticks done; Step has no
// frame, and a failed one is left out.
func TestAfterFrame(t *testing.T) {
	s := newSim(t, small())
	var ticks []uint64
	var inner error
	remove := s.AddHooks(evertick.Hooks{AfterFrame: func(f loop.Frame) {
		ticks = append(ticks, s.Ticks())
		if f != s.Frame() {
			t.Errorf("frame %+v, and Sim.Frame is %+v", f, s.Frame())
		}
		_, inner = s.Advance(1)
		s.Loop().SetPaused(s.Ticks() == 2)
	}})
	dt := int64(time.Second / 60)
	for range 4 {
		if _, err := s.Advance(dt + 1); err != nil {
			t.Fatal(err)
		}
	}
	if want := []uint64{1, 2, 2, 2}; !slices.Equal(ticks, want) {
		t.Errorf("frames after ticks %v, want %v", ticks, want)
	}
	if inner == nil {
		t.Error("Advance within the hook has no error")
	}
	step(t, s, 1)
	s.Loop().SetPaused(false)
	failing := errors.New("broken")
	if err := s.Add(evertick.BeforePhysics, "broken", func(*evertick.Tick) error { return failing }); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Advance(dt); !errors.Is(err, failing) {
		t.Errorf("error %v", err)
	}
	remove()
	if len(ticks) != 4 {
		t.Errorf("%d frames, want those of Advance that did not fail", len(ticks))
	}
}
