package evertick_test

import (
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
)

// What systems record happens behind the last of them and before the hash.
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
	wantIndexed(t, s, 0) // as it was built: who was there
	step(t, s, 1)
	wantIndexed(t, s, slot)
}

// What observers record follows in the same tick, and what is recorded between the
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
