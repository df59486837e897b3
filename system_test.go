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
		{evertick.AfterCommands, "follow"},
		{evertick.AfterIndex, "decide"},
		{evertick.BeforePhysics, "input"},
		{evertick.AfterPhysics, "damage"},
		{evertick.AfterIndex, "act"},
		{evertick.BeforePhysics, "force"},
		{evertick.AfterCommands, "warp"},
		{evertick.AfterPhysics, "score"},
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
	once := []string{"input", "force", "damage", "score", "decide", "act", "follow", "warp"}
	if want := slices.Concat(once, once); !slices.Equal(ran, want) {
		t.Errorf("ran %v, want %v", ran, want)
	}
	want := []string{"input", "force", "physics.step", "physics.sync", "damage", "score", "spatial.build", "decide", "act", "commands",
		"follow", "warp", "state.hash"}
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
		{4, "new", "stage = 4"},
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
// system adds before or after itself.
func TestAddWithinAStep(t *testing.T) {
	for _, from := range stages {
		for _, to := range stages {
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

// Random numbers depend on seed, tick, entity and stream alone: not on earlier
// draws.
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

// What a system writes into its Tick affects no other.
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

// Commands are applied after the last system and before the hash.
func TestCommandsOfATick(t *testing.T) {
	s := newSim(t, small())
	first := spawn(t, s)
	movingBody(t, s, first, 1)
	var born ecs.ID
	add(t, s, evertick.BeforePhysics, "early", func(tick *evertick.Tick) error {
		if tick.N == 1 {
			tick.Commands().Despawn(first)
			born = tick.Commands().Spawn()
		}
		return nil
	})
	add(t, s, evertick.AfterIndex, "late", func(tick *evertick.Tick) error {
		if tick.N != 1 {
			return nil
		}
		if s.World.Len() != 1 || s.Index.Len() != 1 || s.Physics.Len() != 1 || s.Commands().Len() != 2 {
			t.Error("what was recorded has happened within the tick")
		}
		return tick.Commands().SetPosition(born, 5, 0, 0)
	})
	step(t, s, 2)
	second := s.Commands().Resolve(born)
	slot := slotOf(t, s, second)
	if s.World.Len() != 1 || s.World.Position.X[slot] != 5 || s.Physics.Len() != 0 {
		t.Errorf("%d entities, the new one at %g, %d bodies", s.World.Len(), s.World.Position.X[slot], s.Physics.Len())
	}
	for _, c := range s.ColumnHashes() {
		if now := s.World.ColumnHashes()[0]; c.Name == now.Name && c.Hash != now.Hash {
			t.Error("the hash of the tick is older than its commands")
		}
	}
	wantIndexed(t, s, 0) // as it was built, before the spawns
	step(t, s, 1)
	wantIndexed(t, s, slot)
}

// Commands of observers are applied in the same tick, and those recorded between
// ticks in the next.
func TestCommandsOfObservers(t *testing.T) {
	s := newSim(t, small())
	left := 5
	s.World.OnDespawn(func(ecs.ID, ecs.Slot) { s.Commands().Spawn() })
	s.World.OnSpawn(func(id ecs.ID, _ ecs.Slot) {
		if left--; left > 0 {
			s.Commands().Despawn(id)
		}
	})
	spawn(t, s)
	if s.World.Len() != 1 || s.Commands().Len() != 1 {
		t.Error("recorded between the ticks, and done at once")
	}
	step(t, s, 1)
	if s.World.Len() != 1 || s.Commands().Len() != 0 || left != 0 {
		t.Errorf("%d alive, %d recorded, %d left", s.World.Len(), s.Commands().Len(), left)
	}
}

func TestCommandsEndTheSim(t *testing.T) {
	s := newSim(t, evertick.Config{Capacity: 2})
	add(t, s, evertick.AfterIndex, "breed", func(tick *evertick.Tick) error {
		tick.Commands().Spawn()
		return nil
	})
	step(t, s, 2)
	wantError(t, s.Step(), evertick.ErrCapacity, "tick 2: commands", "lists[0]: command[0] = Spawn")

	s = newSim(t, small())
	s.World.OnDespawn(func(ecs.ID, ecs.Slot) { s.Commands().Spawn() })
	s.World.OnSpawn(func(id ecs.ID, _ ecs.Slot) { s.Commands().Despawn(id) })
	spawn(t, s)
	wantError(t, s.Step(), evertick.ErrRange, "tick 0: commands", "rounds", "64")
}
