package evertick_test

import (
	"slices"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/loop"
)

// phaseNames are the phases as Timings lists them.
func phaseNames(s *evertick.Sim) []string {
	var names []string
	timings, _ := s.Timings()
	for _, t := range timings {
		names = append(names, t.Phase)
	}
	return names
}

func nothing(*evertick.Tick) error { return nil }

func TestOrderOfPhases(t *testing.T) {
	s := newSim(t, small())
	var ran []string
	for _, sys := range []struct {
		stage evertick.Stage
		name  string
	}{
		{evertick.AfterIndex, "decide"},
		{evertick.BeforePhysics, "input"},
		{evertick.AfterIndex, "act"},
		{evertick.BeforePhysics, "force"},
	} {
		add(t, s, sys.stage, sys.name, func(tick *evertick.Tick) error {
			if tick.Sim != s || tick.N != s.Ticks() || tick.Dt != s.Dt() {
				t.Errorf("tick %+v of a Sim at tick %d with Dt %g", tick, s.Ticks(), s.Dt())
			}
			ran = append(ran, sys.name)
			return nil
		})
	}
	step(t, s, 2)
	if want := []string{"input", "force", "decide", "act", "input", "force", "decide", "act"}; !slices.Equal(ran, want) {
		t.Errorf("ran %v, want %v", ran, want)
	}
	want := []string{"input", "force", "physics.step", "physics.sync", "spatial.build", "decide", "act", "commands", "state.hash"}
	if got := phaseNames(s); !slices.Equal(got, want) {
		t.Errorf("phases %v, want %v", got, want)
	}
}

// A system sees what the phases before it have done: the body's move after the
// physics, the entity's move in the index.
func TestStagesSeeWhatCameBefore(t *testing.T) {
	c := small()
	c.Physics.Engine = &fakeEngine{}
	s := newSim(t, c)
	id := spawn(t, s)
	body := movingBody(t, s, id, 60)
	add(t, s, evertick.BeforePhysics, "before", func(tick *evertick.Tick) error {
		if x := s.World.Position.X[0]; x != float32(tick.N) {
			t.Errorf("tick %d: x = %g before the physics", tick.N, x)
		}
		return nil
	})
	add(t, s, evertick.AfterIndex, "after", func(tick *evertick.Tick) error {
		at, err := s.Physics.Position(body)
		if x := s.World.Position.X[0]; x != float32(tick.N+1) || at[0] != x {
			t.Errorf("tick %d: x = %g after the physics, body at %v", tick.N, x, at)
		}
		if s.Index.Len() != 1 {
			t.Errorf("%d points in the index", s.Index.Len())
		}
		return err
	})
	step(t, s, 3)
}

func TestAddErrors(t *testing.T) {
	s := newSim(t, small())
	add(t, s, evertick.AfterIndex, "taken", nothing)
	before := phaseNames(s)
	for _, c := range []struct {
		stage evertick.Stage
		name  string
		says  string
	}{
		{evertick.BeforePhysics, "", "name"},
		{evertick.BeforePhysics, "taken", "taken"},
		{evertick.AfterIndex, "taken", "taken"},
		{evertick.BeforePhysics, "physics.step", "physics.step"},
		{evertick.BeforePhysics, "physics.sync", "physics.sync"},
		{evertick.AfterIndex, "spatial.build", "spatial.build"},
		{evertick.AfterIndex, "state.hash", "state.hash"},
		{2, "new", "stage = 2"},
		{255, "new", "stage = 255"},
	} {
		wantError(t, s.Add(c.stage, c.name, nothing), evertick.ErrRange, "evertick: Add", c.says)
	}
	if got := phaseNames(s); !slices.Equal(got, before) {
		t.Errorf("refused systems changed the phases to %v", got)
	}
	defer func() {
		if got := recover(); got != "evertick: Add: nil system" {
			t.Errorf("Add of a nil system panics with %v", got)
		}
	}()
	s.Add(evertick.AfterIndex, "nil", nil)
}

// A step runs the list of phases that it began with, each once, whatever a
// system adds before or behind itself.
func TestAddWithinAStep(t *testing.T) {
	for _, from := range []evertick.Stage{evertick.BeforePhysics, evertick.AfterIndex} {
		for _, to := range []evertick.Stage{evertick.BeforePhysics, evertick.AfterIndex} {
			s := newSim(t, small())
			plain := newSim(t, small())
			adds, added := 0, 0
			add(t, s, from, "adds", func(tick *evertick.Tick) error {
				adds++
				if tick.N != 0 {
					return nil
				}
				return s.Add(to, "added", func(*evertick.Tick) error { added++; return nil })
			})
			step(t, s, 1)
			step(t, plain, 1)
			if adds != 1 || added != 0 || s.Hash() != plain.Hash() {
				t.Errorf("from %d to %d: ran %d times, the new one %d times in the step that added it; hash %x, want %x",
					from, to, adds, added, s.Hash(), plain.Hash())
			}
			step(t, s, 2)
			if adds != 3 || added != 2 {
				t.Errorf("from %d to %d: ran %d times and %d times, want 3 and 2", from, to, adds, added)
			}
		}
	}
}

func TestTimings(t *testing.T) {
	clock := ticking()
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
	clock := ticking()
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

// Random numbers depend on seed, tick, entity and stream alone: not on who drew
// before, nor on how often.
func TestTickRand(t *testing.T) {
	const seed = 7
	c := small()
	c.Seed = seed
	s := newSim(t, c)
	ids := []ecs.ID{spawn(t, s), spawn(t, s), 1 << 40}
	seen := map[uint64]bool{}
	add(t, s, evertick.AfterIndex, "draw", func(tick *evertick.Tick) error {
		if tick.N%2 == 1 {
			slices.Reverse(ids)
		}
		for _, id := range ids {
			for stream := range uint32(3) {
				r, again := tick.Rand(id, stream), tick.Rand(id, stream)
				want := loop.NewRand(seed, tick.N, uint64(id), stream)
				first := r.Uint64()
				if w := want.Uint64(); first != w || again.Uint64() != w {
					t.Errorf("tick %d, %s, stream %d: drew %x, want %x", tick.N, id, stream, first, w)
				}
				if seen[first] {
					t.Errorf("tick %d, %s, stream %d: drew %x, as another did", tick.N, id, stream, first)
				}
				seen[first] = true
			}
		}
		return nil
	})
	step(t, s, 4)
}

// What a system writes into its Tick stays with it.
func TestTickIsACopy(t *testing.T) {
	s := newSim(t, small())
	add(t, s, evertick.BeforePhysics, "vandal", func(tick *evertick.Tick) error {
		tick.N, tick.Dt = 99, -1
		return nil
	})
	add(t, s, evertick.AfterIndex, "witness", func(tick *evertick.Tick) error {
		if tick.N != s.Ticks() || tick.Dt != s.Dt() {
			t.Errorf("tick %d of %g s", tick.N, tick.Dt)
		}
		return nil
	})
	step(t, s, 3)
	if s.Ticks() != 3 || s.Dt() != float32(1)/60 {
		t.Errorf("%d ticks of %g s", s.Ticks(), s.Dt())
	}
}
