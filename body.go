package evertick

import (
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/physics"
)

// bodies remembers which entity each body moves, so that a body goes when its
// entity does.
type bodies struct {
	ofSlot  []binding // the last body bound to the slot
	bound   []binding // all, in the order in which they were made
	checked liveRows
}

type binding struct {
	id   ecs.ID
	body physics.Body
}

func (b *bodies) init(capacity int) { b.ofSlot = make([]binding, capacity) }

// CreateBody creates a body that moves the entity: after each step its
// transform is written into the entity's Position and Rotation, and it is
// destroyed when the entity is despawned. def.Slot is set by CreateBody. An
// unknown id is ErrStale, an entity that has a body ErrRange; other errors are
// those of physics.World.CreateBody.
func (s *Sim) CreateBody(id ecs.ID, def physics.BodyDef) (physics.Body, error) {
	slot, ok := s.World.Slot(id)
	if !ok {
		return physics.Body{}, fault.Field(ErrStale, "evertick: CreateBody: id", id)
	}
	if _, has := s.Body(id); has {
		return physics.Body{}, fault.Field(ErrRange, "evertick: CreateBody: entity with a body", id)
	}
	def.HasSlot, def.Slot = true, slot
	body, err := s.Physics.CreateBody(def)
	if err != nil {
		return physics.Body{}, err
	}
	s.bodies.ofSlot[slot] = binding{id, body}
	s.bodies.bound = append(s.bodies.bound, binding{id, body})
	return body, nil
}

// Body returns the body that moves the entity.
func (s *Sim) Body(id ecs.ID) (physics.Body, bool) {
	slot, ok := s.World.Slot(id)
	if !ok {
		return physics.Body{}, false
	}
	b := s.bodies.ofSlot[slot]
	if b.id != id || !s.Physics.Valid(b.body) {
		return physics.Body{}, false
	}
	return b.body, true
}

// release destroys the bodies of entities that are gone, in the order in which
// the bodies were made. It costs nothing while no entity has come or gone.
func (b *bodies) release(w *ecs.World, p *physics.World) error {
	now := liveRows{w.Version(), w.Generation()}
	if now == b.checked {
		return nil
	}
	kept := b.bound[:0]
	for _, bound := range b.bound {
		slot, alive := w.Slot(bound.id)
		switch {
		case !p.Valid(bound.body): // destroyed through Physics
		case alive && b.ofSlot[slot] == bound: // else a Restore gave the id another row
			kept = append(kept, bound)
		default:
			if err := p.DestroyBody(bound.body); err != nil {
				return err
			}
		}
	}
	b.bound, b.checked = kept, now
	return nil
}
