package evertick_test

import (
	"context"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/native"
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

// drawn returns the drawing of a Sim, and checks that the state has not changed.
func drawn(t testing.TB, s *evertick.Sim, o evertick.DrawOptions) (d physics.Drawing) {
	t.Helper()
	before := s.Hash()
	if err := s.AppendDraw(&d, o); err != nil {
		t.Fatal(err)
	}
	if s.Hash() != before {
		t.Error("drawing has changed the state")
	}
	return d
}

// Bodies are drawn as bodies, other entities as discs: where they are, as large as their scale says, in the colour of
// their first tag.
func TestAppendDraw(t *testing.T) {
	for _, plane := range []physics.Plane{physics.XY, physics.XZ} {
		c := small()
		c.Physics.Plane = plane
		s := newSim(t, c)
		red, errRed := s.World.Tag("red")
		blue, errBlue := s.World.Tag("blue")
		errs := []error{errRed, errBlue}
		for i := range 5 {
			id := spawn(t, s)
			at := plane.Join([2]float32{float32(i), 2}, 9)
			q := plane.Rotation(float32(i) * 0.5)
			errs = append(errs, s.World.SetPosition(id, at[0], at[1], at[2]), s.World.SetRotation(id, q[0], q[1], q[2], q[3]))
			switch i {
			case 1:
				red.Set(id)
				blue.Set(id)
				errs = append(errs, s.World.SetScale(id, -3, 1, 1))
			case 2:
				blue.Set(id)
			case 3:
				b, err := s.CreateBody(id, physics.DefaultBodyDef())
				_, errShape := s.Physics.CreateCircle(b, physics.DefaultShapeDef(), physics.Circle{Radius: 1})
				errs = append(errs, err, errShape)
			case 4:
				slot, _ := s.World.Slot(id)
				s.World.Position.X[slot] = float32(math.Inf(1))
			}
		}
		for _, err := range errs {
			if err != nil {
				t.Fatal(err)
			}
		}
		d := drawn(t, s, evertick.DrawOptions{Radius: 0.5, Tags: []evertick.TagColor{{Tag: red, Color: 0xff0000}, {Tag: blue, Color: 0xff}}})
		if len(d.Circles) != 4 {
			t.Fatalf("%v: %d circles: %+v", plane, len(d.Circles), d.Circles)
		}
		if c := d.Circles[0]; c.Radius != 1 || c.Color != physics.ColorStatic {
			t.Errorf("%v: the body is %+v", plane, c)
		}
		for i, want := range []physics.DrawnCircle{
			{Center: [2]float32{0, 2}, Radius: 0.5, Color: evertick.ColorEntity},
			{Center: [2]float32{1, 2}, Radius: 1.5, Color: 0xff0000},
			{Center: [2]float32{2, 2}, Radius: 0.5, Color: 0xff},
		} {
			got := d.Circles[i+1]
			sin, cos := math.Sincos(float64(i) * 0.5)
			axis := [2]float32{float32(cos), float32(sin)}
			if i == 0 {
				axis = [2]float32{} // not turned
			}
			if math.Abs(float64(got.Axis[0]-axis[0])) > 1e-5 || math.Abs(float64(got.Axis[1]-axis[1])) > 1e-5 {
				t.Errorf("%v: the axis of entity %d is %v, want %v", plane, i, got.Axis, axis)
			}
			if got.Axis = (want.Axis); got != want {
				t.Errorf("%v: entity %d is %+v, want %+v", plane, i, got, want)
			}
		}
		if want := (physics.DrawnBox{Min: [2]float32{-0.5, 0.5}, Max: [2]float32{2.5, 3.5}}); d.Focus != want {
			t.Errorf("%v: the focus is %v, want %v", plane, d.Focus, want)
		}
		if usual := drawn(t, s, evertick.DrawOptions{}); usual.Circles[1].Radius != 0.25 {
			t.Errorf("the usual radius is %v", usual.Circles[1].Radius)
		}
		if n := testing.AllocsPerRun(5, func() {
			d.Reset()
			if err := s.AppendDraw(&d, evertick.DrawOptions{}); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%v allocations", n)
		}
	}
}

func TestAppendDrawRefuses(t *testing.T) {
	s := newSim(t, small())
	spawn(t, s)
	var d physics.Drawing
	wantError(t, s.AppendDraw(&d, evertick.DrawOptions{Radius: -1}), evertick.ErrRange, "DrawOptions.Radius = -1")
	wantError(t, s.AppendDraw(&d, evertick.DrawOptions{Radius: float32(math.NaN())}), evertick.ErrNotFinite, "DrawOptions.Radius = NaN")
	wantError(t, s.AppendDraw(&d, evertick.DrawOptions{Bodies: physics.DrawOptions{Size: -1}}), evertick.ErrRange, "DrawOptions.Size")
	if !reflect.DeepEqual(d, physics.Drawing{}) {
		t.Errorf("after errors: %+v", d)
	}
}
