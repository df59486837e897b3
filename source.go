package evertick

import (
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/spatial"
)

// WorldSource is the entities of a world as the source of a spatial.Gate, so that an
// index is refused or rebuilt when they have come, gone or moved:
//
//	gate := spatial.NewGate(index, evertick.NewWorldSource(world), spatial.Refuse)
//
// Of movements it knows those that Position.Touch was called for, as SetPosition, the
// synchronisation of bodies and World.Apply do. Who writes to the columns directly has
// to call it when done.
type WorldSource struct {
	world *ecs.World
	slots []ecs.Slot
	from  spatial.Stamp // what slots were taken from; without Position
}

// NewWorldSource returns the source that is this world.
func NewWorldSource(w *ecs.World) *WorldSource {
	if w == nil {
		panic("evertick: NewWorldSource: nil world")
	}
	return &WorldSource{world: w, slots: make([]ecs.Slot, 0, w.Cap())}
}

// Stamp returns the state in which the world is. It changes nothing, and may be called
// from several goroutines.
func (s *WorldSource) Stamp() spatial.Stamp {
	return spatial.Stamp{
		Structure:  s.world.Version(),
		Position:   s.world.Position.Version(),
		Generation: s.world.Generation(),
	}
}

// Points returns the positions of all entities. The slots are good until the next
// call.
func (s *WorldSource) Points() spatial.Columns {
	now := s.Stamp()
	now.Position = 0
	if now != s.from {
		s.slots = s.world.LiveSlots(s.slots[:0])
		s.from = now
	}
	p := &s.world.Position
	return spatial.Columns{X: p.X, Y: p.Y, Z: p.Z, Slots: s.slots}
}
