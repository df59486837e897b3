package evertick_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/loop"
)

// wander fills a Sim with entities that a system moves at random.
func wander(t testing.TB, s *evertick.Sim, entities int) {
	t.Helper()
	ids := make([]ecs.ID, entities)
	if err := s.World.SpawnN(ids); err != nil {
		t.Fatal(err)
	}
	x := s.World.Position.X
	add(t, s, evertick.BeforePhysics, "wander", func(tick *evertick.Tick) error {
		for i, id := range ids {
			r := tick.Rand(id, 0)
			x[i] += float32(r.Range(-1, 1) * tick.Dt)
		}
		return nil
	})
}

func columnNames(s *evertick.Sim) []string {
	var names []string
	for _, c := range s.ColumnHashes() {
		names = append(names, c.Name)
	}
	return names
}

func TestHashIsTheFoldOfColumnHashes(t *testing.T) {
	c := small()
	c.Seed = 42
	s := newSim(t, c)
	column(t, s, "heat")
	movingBody(t, s, spawn(t, s), 1)
	wander(t, s, 5)
	seen := map[uint64]bool{}
	for n := range uint64(4) {
		step(t, s, 1)
		parts := s.ColumnHashes()
		if got := ecs.Fold(parts); got != s.Hash() {
			t.Errorf("tick %d: hash %x, the columns fold to %x", n, s.Hash(), got)
		}
		if parts[0] != (ecs.ColumnHash{Name: "seed", Hash: 42}) || parts[1] != (ecs.ColumnHash{Name: "ticks", Hash: n + 1}) {
			t.Errorf("tick %d: the list begins with %v", n, parts[:2])
		}
		if want := s.World.ColumnHashes(); !slices.Equal(parts[2:2+len(want)], want) {
			t.Errorf("tick %d: world columns %v, want %v", n, parts[2:2+len(want)], want)
		}
		if seen[s.Hash()] {
			t.Errorf("tick %d: hash %x again", n, s.Hash())
		}
		seen[s.Hash()] = true
	}
	world := len(s.World.ColumnHashes())
	bodies := s.Physics.AppendColumnHashes(nil)
	for i, c := range s.ColumnHashes()[2+world:][:len(bodies)] {
		if want := (ecs.ColumnHash{Name: "body." + bodies[i].Name, Hash: bodies[i].Hash}); c != want {
			t.Errorf("body column %d is %v, want %v", i, c, want)
		}
	}
	names := columnNames(s)
	if len(names) != 2+world+len(bodies)+1 {
		t.Errorf("%d columns, want seed, ticks, %d, %d and the owners", len(names), world, len(bodies))
	}
	for _, name := range []string{"identity", "heat", "position.x", "rotation.w", "scale.z", "body.X", "body.Slot", "body.Generation", "body.Owner"} {
		if !slices.Contains(names, name) {
			t.Errorf("no column %s in %v", name, names)
		}
	}
}

func TestEqualRunsHaveEqualHashes(t *testing.T) {
	run := func(seed uint64, workers int) (hashes []uint64) {
		c := small()
		c.Seed, c.Workers = seed, workers
		s := newSim(t, c)
		wander(t, s, 20)
		movingBody(t, s, spawn(t, s), 1)
		for range 30 {
			step(t, s, 1)
			hashes = append(hashes, s.Hash())
		}
		return hashes
	}
	first := run(1, 1)
	for _, workers := range []int{1, 2} {
		if again := run(1, workers); !slices.Equal(first, again) {
			t.Errorf("%d workers: another run of the same seed has other hashes:\n%x\n%x", workers, first, again)
		}
	}
	for i, h := range run(2, 1) {
		if h == first[i] {
			t.Errorf("tick %d: seeds 1 and 2 have the same hash %x", i, h)
		}
	}
}

// The hash covers everything that decides the next tick, bodies included.
func TestHashSeesEveryPart(t *testing.T) {
	build := func(change func(s *evertick.Sim, heat []float32, id ecs.ID)) uint64 {
		s := newSim(t, small())
		heat := column(t, s, "heat")
		id := spawn(t, s)
		movingBody(t, s, id, 1)
		change(s, heat, id)
		step(t, s, 1)
		return s.Hash()
	}
	hashes := map[uint64]string{}
	for name, change := range map[string]func(s *evertick.Sim, heat []float32, id ecs.ID){
		"nothing":     func(*evertick.Sim, []float32, ecs.ID) {},
		"position":    func(s *evertick.Sim, _ []float32, _ ecs.ID) { s.World.Position.Z[0] = 1 },
		"user column": func(_ *evertick.Sim, heat []float32, _ ecs.ID) { heat[0] = 1 },
		"tag": func(s *evertick.Sim, _ []float32, id ecs.ID) {
			tag, err := s.World.Tag("hot")
			if err != nil || !tag.Set(id) {
				t.Fatal(err)
			}
		},
		"entity": func(s *evertick.Sim, _ []float32, _ ecs.ID) { spawn(t, s) },
		"body velocity": func(s *evertick.Sim, _ []float32, id ecs.ID) {
			b, _ := s.Body(id)
			if err := s.Physics.SetVelocity(b, [2]float32{0, 1}, 0); err != nil {
				t.Fatal(err)
			}
		},
	} {
		h := build(change)
		if other, dup := hashes[h]; dup {
			t.Errorf("%s and %s have the same hash", name, other)
		}
		hashes[h] = name
	}
}

// Equal simulations have no difference; otherwise Diff names the first one.
func TestDiff(t *testing.T) {
	build := func() *park {
		p := newPark(t, parkConfig())
		step(t, p.sim, 20)
		return p
	}
	if d, found := evertick.Diff(build().sim, build().sim); found {
		t.Fatalf("equal, but %v", d)
	}
	for _, c := range []struct {
		what   string
		change func(p *park)
		says   []string
	}{
		{"ticks", func(p *park) { step(t, p.sim, 1) }, []string{"ticks", "20 (0x14)", "21 (0x15)"}},
		{"entity", func(p *park) { spawn(t, p.sim) }, []string{"entities"}},
		{"column", func(p *park) { p.heat[3] += 1 }, []string{"entities", "heat"}},
		{"body", func(p *park) {
			id, _ := p.sim.World.ID(0)
			b, ok := p.sim.Body(id)
			if !ok {
				t.Fatal("no body")
			}
			if err := p.sim.Physics.SetVelocity(b, [2]float32{7, 0}, 0); err != nil {
				t.Fatal(err)
			}
		}, []string{"body.", "7 (0x40e00000)", "of body "}},
	} {
		a, b := build(), build()
		c.change(b)
		d, found := evertick.Diff(a.sim, b.sim)
		if !found {
			t.Errorf("%s: no difference", c.what)
		}
		for _, s := range c.says {
			if !strings.Contains(d.String(), s) {
				t.Errorf("%s: %q does not say %q", c.what, d, s)
			}
		}
	}
	// A state without columns is compared by its hash, as of the last tick.
	a, b := build(), build()
	b.sum++
	step(t, a.sim, 1)
	step(t, b.sim, 1)
	if d, found := evertick.Diff(a.sim, b.sim); !found || d.Column != "state.park" || d.Row != -1 {
		t.Errorf("state: %v", d)
	}
}

// demanded returns a Sim of a few entities whose speed grows, and their column.
func demanded(t *testing.T, onDemand bool, system func(*evertick.Tick) error) (*evertick.Sim, *ecs.Column[float32]) {
	t.Helper()
	s, err := evertick.New(evertick.Config{Capacity: 8, HashOnDemand: onDemand})
	if err != nil {
		t.Fatal(err)
	}
	speed, err := ecs.AddColumn[float32](s.World, "speed")
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := s.World.Spawn(); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Add(evertick.BeforePhysics, "grow", func(tick *evertick.Tick) error {
		for i := range 3 {
			speed.Values()[i] += float32(i + 1)
		}
		if system != nil {
			return system(tick)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return s, speed
}

// Config.HashOnDemand gives the hashes of a Sim without it, whenever they are read: each tick, rarely, in AfterTick hooks,
// from a snapshot and from a copy.
func TestHashOnDemand(t *testing.T) {
	always, _ := demanded(t, false, nil)
	demand, _ := demanded(t, true, nil)
	rare, _ := demanded(t, true, nil)
	var hooked uint64
	demand.AddHooks(evertick.Hooks{AfterTick: func(tick *evertick.Tick) error {
		if tick.N%3 == 0 {
			hooked = tick.Sim.Hash()
		}
		return nil
	}})
	for n := range 10 {
		for _, s := range []*evertick.Sim{always, demand, rare} {
			if err := s.Step(); err != nil {
				t.Fatal(err)
			}
		}
		if n%3 == 0 && hooked != always.Hash() {
			t.Fatalf("tick %d: the hook got %x, want %x", n, hooked, always.Hash())
		}
		if demand.Hash() != always.Hash() || !slices.Equal(demand.ColumnHashes(), always.ColumnHashes()) {
			t.Fatalf("tick %d: hash %x, want %x", n, demand.Hash(), always.Hash())
		}
	}
	data, err := rare.Snapshot(nil)
	if err != nil {
		t.Fatal(err)
	}
	want, _ := always.Snapshot(nil)
	if !slices.Equal(data, want) {
		t.Error("the snapshots differ")
	}
	if err := rare.Step(); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(demand.CopyFrom(rare), always.Step()); err != nil || demand.Hash() != always.Hash() {
		t.Errorf("a copy has hash %x, want %x; %v", demand.Hash(), always.Hash(), err)
	}
	if err := errors.Join(demand.Step(), demand.Restore(data)); err != nil || demand.Hash() == rare.Hash() || demand.Ticks() != 10 {
		t.Errorf("after Restore: tick %d, hash %x, %v", demand.Ticks(), demand.Hash(), err)
	}
	if _, found := evertick.Diff(always, rare); found {
		t.Error("equal Sims differ")
	}
}

// A NaN still ends the tick that has written it.
func TestHashOnDemandNaN(t *testing.T) {
	s, speed := demanded(t, true, nil)
	if err := s.Step(); err != nil {
		t.Fatal(err)
	}
	speed.Values()[1] = float32(math.NaN())
	if err := s.Step(); !errors.Is(err, evertick.ErrNotFinite) {
		t.Errorf("error %v", err)
	}
}

// Within a tick there is no hash of the last one.
func TestHashOnDemandWithinTick(t *testing.T) {
	s, _ := demanded(t, true, func(tick *evertick.Tick) error {
		if tick.N == 2 {
			tick.Sim.Hash()
		}
		return nil
	})
	for range 2 {
		if err := s.Step(); err != nil {
			t.Fatal(err)
		}
	}
	defer func() {
		if v := recover(); v != "evertick: Hash or ColumnHashes within a tick of a Sim with Config.HashOnDemand" {
			t.Errorf("panic %v", v)
		}
	}()
	_ = s.Step()
}

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
		}, []string{"tick 1: BeforeTick: ", "TestCheckRender", "(hash_test.go:"}},
		{"AfterTick", func(s *studio, f func()) func(*studio) error {
			s.AddHooks(evertick.Hooks{AfterTick: func(t *evertick.Tick) error { at(t.N, f); return nil }})
			return run
		}, []string{"tick 1: AfterTick: ", "TestCheckRender", "(hash_test.go:"}},
		{"BeforeSystem", func(s *studio, f func()) func(*studio) error {
			s.AddHooks(evertick.Hooks{BeforeSystem: func(t *evertick.Tick, system string) {
				if system == "work" {
					at(t.N, f)
				}
			}})
			return run
		}, []string{"tick 1: BeforeSystem of work: ", "TestCheckRender", "(hash_test.go:"}},
		{"AfterSystem of a group", func(s *studio, f func()) func(*studio) error {
			s.AddHooks(evertick.Hooks{AfterSystem: func(*evertick.Tick, string) {}}) // an innocent one
			s.AddHooks(evertick.Hooks{AfterSystem: func(t *evertick.Tick, system string) {
				if system == "right" {
					at(t.N, f)
				}
			}})
			return run
		}, []string{"tick 1: AfterSystem of right: ", "TestCheckRender", "(hash_test.go:"}},
		{"AfterFrame", func(s *studio, f func()) func(*studio) error {
			s.AddHooks(evertick.Hooks{AfterFrame: func(frame loop.Frame) { at(frame.Tick-1, f) }})
			return run
		}, []string{"after tick 2: ", "TestCheckRender", "(hash_test.go:"}},
		{"the function of RunFrames", func(s *studio, f func()) func(*studio) error {
			return func(s *studio) error {
				return s.RunFrames(stopAfter(s.Sim, 4), func(frame loop.Frame) { at(frame.Tick-1, f) })
			}
		}, []string{"before tick 2: ", "TestCheckRender", "(hash_test.go:"}},
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

// A write that a system has not declared is named, whether it runs alone or in a
// group.
func TestCheckAccess(t *testing.T) {
	kept := new(keptNumber)
	for _, c := range []struct {
		name   string
		writes []string
		run    func(s *evertick.Sim, id ecs.ID) error
		says   string // "": it may
	}{
		{"declared column", []string{"hp"}, func(s *evertick.Sim, id ecs.ID) error { return bump(s, "hp") }, ""},
		{"column", []string{"hp"}, func(s *evertick.Sim, id ecs.ID) error { return bump(s, "mp") }, "wrote mp,"},
		{"nothing", []string{"hp"}, func(*evertick.Sim, ecs.ID) error { return nil }, ""},
		{"position", []string{"rotation", "scale"}, func(s *evertick.Sim, id ecs.ID) error { return s.World.SetPosition(id, 1, 2, 3) }, "wrote position."},
		{"declared position", []string{"position"}, func(s *evertick.Sim, id ecs.ID) error { return s.World.SetPosition(id, 1, 2, 3) }, ""},
		{"part of position", []string{"position.y"}, func(s *evertick.Sim, id ecs.ID) error { return s.World.SetPosition(id, 1, 2, 3) }, ""},
		{"scale", []string{"position"}, func(s *evertick.Sim, id ecs.ID) error { return s.World.SetScale(id, 1, 2, 3) }, "wrote scale."},
		{"tag", []string{"hp"}, func(s *evertick.Sim, id ecs.ID) error { return tagIt(s, "foe", id) }, "wrote foe,"},
		{"declared tag", []string{"foe"}, func(s *evertick.Sim, id ecs.ID) error { return tagIt(s, "foe", id) }, ""},
		{"entity", []string{"hp"}, func(s *evertick.Sim, id ecs.ID) error { _, err := s.World.Spawn(); return err }, "wrote entities,"},
		{"declared entity", []string{"entities"}, func(s *evertick.Sim, id ecs.ID) error { s.World.Despawn(id); return nil }, ""},
		{"body", []string{"hp"}, func(s *evertick.Sim, id ecs.ID) error {
			b, _ := s.Body(id)
			return s.Physics.SetVelocity(b, [2]float32{7, 7}, 0)
		}, "wrote body.VX,"},
		{"declared body", []string{"bodies"}, func(s *evertick.Sim, id ecs.ID) error {
			b, _ := s.Body(id)
			return s.Physics.SetVelocity(b, [2]float32{7, 7}, 0)
		}, ""},
		{"commands", []string{"hp"}, func(s *evertick.Sim, id ecs.ID) error { s.Commands().Despawn(id); return nil }, ""},
		{"state", []string{"hp"}, func(*evertick.Sim, ecs.ID) error { kept.n++; return nil }, "wrote state.kept,"},
		{"declared state", []string{"state.kept"}, func(*evertick.Sim, ecs.ID) error { kept.n++; return nil }, ""},
		{"a column of its own", []string{"hp"}, func(s *evertick.Sim, id ecs.ID) error { _, err := ecs.AddColumn[int8](s.World, "new"); return err }, ""},
	} {
		for _, check := range []bool{false, true} {
			s := newSim(t, evertick.Config{Capacity: 64, CheckAccess: check, Workers: 2})
			column(t, s, "hp")
			column(t, s, "mp")
			spawn(t, s)
			id := spawn(t, s)
			movingBody(t, s, id, 1)
			if err := s.AddState("kept", kept); err != nil {
				t.Fatal(err)
			}
			if _, err := s.World.Tag("foe"); err != nil {
				t.Fatal(err)
			}
			sys := evertick.System{Name: "culprit", Stage: evertick.AfterIndex, Writes: c.writes, Run: func(tick *evertick.Tick) error {
				if tick.N == 1 {
					return c.run(s, id)
				}
				return nil
			}}
			bystander := evertick.System{Name: "bystander", Stage: evertick.AfterIndex, Reads: []string{"index"}, Run: nothing}
			if err := s.AddSystem(sys); err != nil {
				t.Fatal(err)
			}
			if err := s.AddSystem(bystander); err != nil {
				t.Fatal(err)
			}
			step(t, s, 1)
			err := s.Step()
			if c.says == "" || !check {
				if err != nil {
					t.Errorf("%s, check %t: %v", c.name, check, err)
				}
				continue
			}
			wantError(t, err, evertick.ErrRange, "tick 1: culprit: "+c.says)
		}
	}
}

// keptNumber is a State.
type keptNumber struct{ n byte }

func (k *keptNumber) AppendState(dst []byte) []byte { return append(dst, k.n) }

func (k *keptNumber) RestoreState(src []byte) error { k.n = src[0]; return nil }

func bump(s *evertick.Sim, name string) error {
	c, ok := ecs.FindColumn[float32](s.World, name)
	if !ok {
		return fmt.Errorf("no column %s", name)
	}
	c.Values()[1]++
	return nil
}

func tagIt(s *evertick.Sim, name string, id ecs.ID) error {
	tag, err := s.World.Tag(name)
	tag.Set(id)
	return err
}

// A system that declares only Reads may not write; one that declares nothing may write everything.
func TestCheckAccessOfReaders(t *testing.T) {
	s := newSim(t, evertick.Config{Capacity: 64, CheckAccess: true})
	column(t, s, "hp")
	spawn(t, s)
	spawn(t, s)
	add(t, s, evertick.AfterIndex, "free", func(*evertick.Tick) error { return bump(s, "hp") })
	step(t, s, 2)
	if err := s.AddSystem(evertick.System{Name: "reader", Reads: []string{"hp"}, Run: func(*evertick.Tick) error { return bump(s, "hp") }}); err != nil {
		t.Fatal(err)
	}
	wantError(t, s.Step(), evertick.ErrRange, "tick 2: reader: wrote hp,")
}

// The check changes no result.
func TestCheckAccessChangesNothing(t *testing.T) {
	run := func(check bool) (hashes []uint64) {
		w := newTownOf(t, evertick.Config{Workers: 2, CheckAccess: check}, func() {})
		for range 20 {
			step(t, w.Sim, 1)
			hashes = append(hashes, w.Hash())
		}
		return hashes
	}
	want := run(false)
	for i, h := range run(true) {
		if h != want[i] {
			t.Fatalf("tick %d: another hash with CheckAccess", i)
		}
	}
}
