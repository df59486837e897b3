package evertick

import (
	"errors"
	"fmt"

	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/physics"
)

// stepPhysics lets the bodies take over what systems have written to the columns of their
// entities, and moves them.
func (s *Sim) stepPhysics(t *Tick) error {
	s.endRestored()
	if s.Physics.Len() > 0 {
		if err := s.Physics.Pull(s.transforms()); err != nil {
			return err
		}
	}
	return s.Physics.Step(t.Dt)
}

func (s *Sim) syncBodies(*Tick) error {
	if s.Physics.Len() == 0 {
		return nil
	}
	if err := s.Physics.Sync(s.transforms()); err != nil {
		return err
	}
	s.World.Position.Touch()
	s.World.Rotation.Touch()
	s.jumpTeleported()
	return nil
}

// jumpTeleported has those drawn at their new place whose bodies were put there.
func (s *Sim) jumpTeleported() {
	if !s.config.Previous {
		return
	}
	s.slots = s.Physics.TakeTeleported(s.slots[:0])
	for _, slot := range s.slots {
		s.World.JumpAt(slot)
	}
}

// transforms are the columns of the entities that bodies move.
func (s *Sim) transforms() physics.Transforms {
	p, r := &s.World.Position, &s.World.Rotation
	return physics.Transforms{X: p.X, Y: p.Y, Z: p.Z, QX: r.X, QY: r.Y, QZ: r.Z, QW: r.W}
}

// buildIndex does not ask whether anything has moved: systems may write to columns
// without a word.
func (s *Sim) buildIndex(*Tick) error {
	p := s.source.Points()
	err := s.Index.Build(p.X, p.Y, p.Z, p.Slots)
	if errors.Is(err, ErrNotFinite) {
		return s.nameNotFinite(err, p.Slots)
	}
	return err
}

// nameNotFinite says of which entity a coordinate is not finite: the index knows
// slots only.
func (s *Sim) nameNotFinite(err error, slots []ecs.Slot) error {
	p := &s.World.Position
	for _, slot := range slots {
		for axis, column := range [3][]float32{p.X, p.Y, p.Z} {
			if v := column[slot]; !fault.Finite(v) {
				id, _ := s.World.ID(slot)
				return fault.Field(ErrNotFinite, fmt.Sprintf("column position.%c of %s", "xyz"[axis], id), v)
			}
		}
	}
	return err
}

// maxRounds bounds how often the commands of one tick are applied.
const maxRounds = 64

// applyCommands makes what was recorded happen, and then what observers have recorded
// meanwhile, until nothing is left to wait for the next tick.
func (s *Sim) applyCommands(*Tick) error {
	for range maxRounds {
		if s.commands.Len() == 0 {
			return nil
		}
		if _, err := s.World.Apply(s.commands); err != nil {
			return err
		}
	}
	if s.commands.Len() == 0 {
		return nil
	}
	return fault.Field(ErrRange, "evertick: rounds of commands that observers record", maxRounds)
}

// stateHash hashes the state that the tick leaves behind, and looks for NaN on
// the way: a system that lets one in is named at the tick in which it did.
func (s *Sim) stateHash(*Tick) error {
	if column, id, found := s.World.FirstNaN(); found {
		return fault.Field(ErrNotFinite, fmt.Sprintf("column %s of %s", column, id), "NaN")
	}
	s.hashState(s.n + 1)
	return nil
}

func (s *Sim) hashState(ticks uint64) {
	s.hashes = append(s.hashes[:0], ecs.ColumnHash{Name: "seed", Hash: s.seed}, ecs.ColumnHash{Name: "ticks", Hash: ticks})
	s.hashes = s.World.AppendColumnHashes(s.hashes)
	worlds := len(s.hashes)
	s.hashes = s.Physics.AppendColumnHashes(s.hashes)
	for i := range s.hashes[worlds:] {
		c := &s.hashes[worlds+i]
		c.Name = s.bodyName(i, c.Name)
	}
	s.hashes = append(s.hashes, ecs.ColumnHash{Name: "body.Owner", Hash: s.ownerHash()})
	s.hashStates()
	s.hash = ecs.Fold(s.hashes)
}

// bodyName returns the name of column i of the physics, which is not the same in every tick: some
// columns are there only while there is something in them.
func (s *Sim) bodyName(i int, name string) string {
	const prefix = "body."
	if i == len(s.bodyNames) {
		s.bodyNames = append(s.bodyNames, prefix+name)
	} else if s.bodyNames[i][len(prefix):] != name {
		s.bodyNames[i] = prefix + name
	}
	return s.bodyNames[i]
}

// Hash returns the hash of the state after the last step: ecs.Fold of
// ColumnHashes. It covers all that this module keeps between ticks, but not what
// a physics engine caches, nor forces, commands and inputs that wait for the next step, nor
// what systems keep outside the world without AddState.
func (s *Sim) Hash() uint64 { return s.hash }

// ColumnHashes returns the hashes that make up Hash: seed, ticks, then the
// columns of the world, those of the bodies, and those of AddState. Where two runs differ, the
// first pair that differs names the column. The slice is the Sim's own and valid
// until the next step.
func (s *Sim) ColumnHashes() []ecs.ColumnHash { return s.hashes }
