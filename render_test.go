package evertick_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/loop"
)

// studio is a Sim with a state of every kind, for callbacks that write where they may only read.
type studio struct {
	*evertick.Sim
	id   ecs.ID
	kept *keptNumber
}

func newStudio(t *testing.T, c evertick.Config) *studio {
	t.Helper()
	c.Capacity, c.Workers = 64, 2
	if c.Clock == nil {
		c.Clock = manualClock()
	}
	s := &studio{Sim: newSim(t, c), kept: new(keptNumber)}
	column(t, s.Sim, "hp")
	spawn(t, s.Sim)
	s.id = spawn(t, s.Sim)
	movingBody(t, s.Sim, s.id, 1)
	if err := s.AddState("kept", s.kept); err != nil {
		t.Fatal(err)
	}
	if _, err := s.World.Tag("foe"); err != nil {
		t.Fatal(err)
	}
	add(t, s.Sim, evertick.AfterIndex, "work", func(*evertick.Tick) error { return bump(s.Sim, "hp") })
	for _, name := range []string{"left", "right"} { // a group
		sys := evertick.System{Name: name, Stage: evertick.AfterIndex, Reads: []string{"hp"}, Run: nothing}
		if err := s.AddSystem(sys); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// intruder writes something in the second tick.
type intruder struct {
	writes string // as the error names it; "": nothing that is state
	write  func(s *studio) error
}

var intruders = []intruder{
	{"hp", func(s *studio) error { return bump(s.Sim, "hp") }},
	{"position.y", func(s *studio) error { s.World.Position.Y[1]++; return nil }},
	{"rotation.w", func(s *studio) error { return s.World.SetRotation(s.id, 0, 0, 0, 2) }},
	{"foe", func(s *studio) error { return tagIt(s.Sim, "foe", s.id) }},
	{"entities", func(s *studio) error { s.World.Despawn(s.id); return nil }},
	{"entities", func(s *studio) error { spawned, err := s.World.Spawn(); s.World.Despawn(spawned); return err }},
	{"body.VX", func(s *studio) error { b, _ := s.Body(s.id); return s.Physics.SetVelocity(b, [2]float32{7, 0}, 0) }},
	{"body.ForceY", func(s *studio) error { s.Physics.Columns().ForceY[0]++; return nil }},
	{"body.Gravity", func(s *studio) error { return s.Physics.SetGravity([2]float32{1, 0}) }},
	{"state.kept", func(s *studio) error { s.kept.n++; return nil }},
	{"new", func(s *studio) error { _, err := ecs.AddColumn[int8](s.World, "new"); return err }},
	{"commands", func(s *studio) error { s.Commands().Despawn(s.id); return nil }},
	{"mode", func(s *studio) error { return s.SetMode(3) }},
	{"", func(s *studio) error { s.World.Position.Touch(); return nil }},
	{"", func(s *studio) error { _, err := s.World.Tag("unused"); return err }},
	{"", func(s *studio) error {
		return s.Push(evertick.Input{Tick: 90, Data: []byte{1}})
	}},
	{"", func(s *studio) error { s.Loop().SetPaused(true); s.Loop().SetPaused(false); return nil }},
	{"", func(s *studio) error { s.World.Hash(); s.Timings(); s.World.Snapshot(nil); return nil }},
}

// TestCheckRender: whatever may only read is named, with the column, if it writes.
func TestCheckRender(t *testing.T) {
	at := func(tick uint64, f func()) { // in the second tick
		if tick == 1 {
			f()
		}
	}
	run := func(s *studio) error { return s.Run(stopAfter(s.Sim, 4)) }
	for _, place := range []struct {
		name string
		put  func(s *studio, f func()) (run func(*studio) error)
		says []string
	}{
		{"BeforeTick", func(s *studio, f func()) func(*studio) error {
			s.AddHooks(evertick.Hooks{BeforeTick: func(t *evertick.Tick) error { at(t.N, f); return nil }})
			return run
		}, []string{"tick 1: BeforeTick: ", "TestCheckRender", "(render_test.go:"}},
		{"AfterTick", func(s *studio, f func()) func(*studio) error {
			s.AddHooks(evertick.Hooks{AfterTick: func(t *evertick.Tick) error { at(t.N, f); return nil }})
			return run
		}, []string{"tick 1: AfterTick: ", "TestCheckRender", "(render_test.go:"}},
		{"BeforeSystem", func(s *studio, f func()) func(*studio) error {
			s.AddHooks(evertick.Hooks{BeforeSystem: func(t *evertick.Tick, system string) {
				if system == "work" {
					at(t.N, f)
				}
			}})
			return run
		}, []string{"tick 1: BeforeSystem of work: ", "TestCheckRender", "(render_test.go:"}},
		{"AfterSystem of a group", func(s *studio, f func()) func(*studio) error {
			s.AddHooks(evertick.Hooks{AfterSystem: func(*evertick.Tick, string) {}}) // an innocent one
			s.AddHooks(evertick.Hooks{AfterSystem: func(t *evertick.Tick, system string) {
				if system == "right" {
					at(t.N, f)
				}
			}})
			return run
		}, []string{"tick 1: AfterSystem of right: ", "TestCheckRender", "(render_test.go:"}},
		{"AfterFrame", func(s *studio, f func()) func(*studio) error {
			s.AddHooks(evertick.Hooks{AfterFrame: func(frame loop.Frame) { at(frame.Tick-1, f) }})
			return run
		}, []string{"after tick 2: ", "TestCheckRender", "(render_test.go:"}},
		{"the function of RunFrames", func(s *studio, f func()) func(*studio) error {
			return func(s *studio) error {
				return s.RunFrames(stopAfter(s.Sim, 4), func(frame loop.Frame) { at(frame.Tick-1, f) })
			}
		}, []string{"before tick 2: ", "TestCheckRender", "(render_test.go:"}},
		{"outside", func(s *studio, f func()) func(*studio) error {
			s.Config().Clock.(*watchedClock).sleep = func() { at(s.Ticks(), f) }
			return run
		}, []string{"before tick 1: code outside of steps"}},
	} {
		for _, in := range intruders {
			for _, check := range []bool{false, true} {
				s := newStudio(t, evertick.Config{CheckRender: check, Clock: &watchedClock{ManualClock: manualClock()}})
				done := false
				run := place.put(s, func() {
					if !done {
						done = true
						if err := in.write(s); err != nil {
							t.Fatal(err)
						}
					}
				})
				err := run(s)
				if !done {
					t.Fatalf("%s: not called", place.name)
				}
				if !check || in.writes == "" {
					if err != context.Canceled {
						t.Errorf("%s, %q, check %t: %v", place.name, in.writes, check, err)
					}
					continue
				}
				wantError(t, err, evertick.ErrRange, append(slices.Clone(place.says), " wrote "+in.writes+", but may only read")...)
				if again := s.Step(); again == nil {
					t.Errorf("%s, %q: the Sim goes on", place.name, in.writes)
				}
			}
		}
	}
}

// watchedClock calls a function when it sleeps.
type watchedClock struct {
	*loop.ManualClock
	sleep func()
}

func (c *watchedClock) Sleep(ctx context.Context, until int64) error {
	if c.sleep != nil {
		c.sleep()
	}
	return c.ManualClock.Sleep(ctx, until)
}

// stopAfter returns a context that is done when that many ticks have run.
func stopAfter(s *evertick.Sim, ticks uint64) context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	var remove func()
	remove = s.AddHooks(evertick.Hooks{AfterTick: func(t *evertick.Tick) error {
		if t.N+1 == ticks {
			cancel()
			remove()
		}
		return nil
	}})
	return ctx
}

// TestCheckRenderOfPausedFrames: frames without ticks are checked, too, and so is a write between
// two of them.
func TestCheckRenderOfPausedFrames(t *testing.T) {
	for _, outside := range []bool{false, true} {
		clock := &watchedClock{ManualClock: manualClock()}
		s := newStudio(t, evertick.Config{CheckRender: true, Clock: clock})
		s.Loop().SetPaused(true)
		frames := 0
		if outside {
			clock.sleep = func() {
				if frames == 5 {
					s.World.Scale.X[0] = 5
				}
			}
		}
		err := s.RunFrames(t.Context(), func(loop.Frame) {
			if frames++; frames == 5 && !outside {
				s.World.Scale.X[0] = 5
			}
		})
		wantError(t, err, evertick.ErrRange, "before tick 0: ", " wrote scale.x,")
		if frames != 5 {
			t.Errorf("%d frames", frames)
		}
	}
}

// TestCheckRenderOfRehearse: Rehearse is named.
func TestCheckRenderOfRehearse(t *testing.T) {
	if loop.Precise.Effective() != loop.Precise {
		t.Skip("not run: nothing spins where one thread runs everything")
	}
	var s *evertick.Sim
	c := evertick.Config{Capacity: 64, CheckRender: true, Loop: loop.Config{RateNum: 500, Pacing: loop.Precise, SpinBudget: 1000}}
	c.Rehearse = func() { s.World.Scale.X[0]++ }
	s = newSim(t, c)
	spawn(t, s)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute) // it rehearses when there is time
	defer cancel()
	wantError(t, s.Run(ctx), evertick.ErrRange, "Config.Rehearse wrote scale.x,")
}

// TestCheckRenderChangesNothing: the checks change no result, and find nothing in callbacks that read.
func TestCheckRenderChangesNothing(t *testing.T) {
	run := func(check bool) (hashes []uint64) {
		c := parkConfig()
		c.CheckRender, c.Clock = check, manualClock()
		s := newPark(t, c).sim
		s.AddHooks(evertick.Hooks{
			BeforeTick:   func(*evertick.Tick) error { s.Hash(); return nil },
			BeforeSystem: func(*evertick.Tick, string) { s.World.Dump(new(strings.Builder)) },
			AfterTick:    func(*evertick.Tick) error { hashes = append(hashes, s.Hash()); return nil },
			AfterFrame:   func(loop.Frame) { s.World.Hash() },
		})
		out := ecs.NewTransforms(s.World.Cap())
		if err := s.RunFrames(stopAfter(s, 30), func(loop.Frame) { _ = s.Interpolate(out) }); err != context.Canceled {
			t.Fatal(err)
		}
		return hashes
	}
	if want, got := run(false), run(true); len(want) != 30 || !slices.Equal(got, want) {
		t.Fatal("other hashes with CheckRender")
	}
}

// TestCheckRenderIsRepaired: a Restore brings a Sim back that a callback has changed.
func TestCheckRenderIsRepaired(t *testing.T) {
	s := newStudio(t, evertick.Config{CheckRender: true})
	step(t, s.Sim, 3)
	saved, err := s.Snapshot(nil)
	if err != nil {
		t.Fatal(err)
	}
	remove := s.AddHooks(evertick.Hooks{AfterTick: func(*evertick.Tick) error { return bump(s.Sim, "hp") }})
	wantError(t, s.Step(), evertick.ErrRange, "wrote hp,")
	remove()
	if err := s.Restore(saved); err != nil {
		t.Fatal(err)
	}
	step(t, s.Sim, 3)
}

// AppendColumnHashes are the ColumnHashes of the present state.
func TestAppendColumnHashes(t *testing.T) {
	s := newStudio(t, evertick.Config{})
	step(t, s.Sim, 3)
	now := s.AppendColumnHashes(nil)
	if !slices.Equal(now, s.ColumnHashes()) || ecs.Fold(now) != s.Hash() {
		t.Fatal("other hashes after a step")
	}
	s.World.Position.X[0]++
	var changed []string
	for i, c := range s.AppendColumnHashes(nil) {
		if c != s.ColumnHashes()[i] {
			changed = append(changed, c.Name)
		}
	}
	if fmt.Sprint(changed) != "[position.x]" {
		t.Fatalf("%v have changed", changed)
	}
	if n := testing.AllocsPerRun(20, func() { now = s.AppendColumnHashes(now[:0]) }); n != 0 {
		t.Errorf("%v allocations", n)
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
