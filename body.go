package evertick

import (
	"errors"

	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/statehash"
	"github.com/evertick/evertick/physics"
)

// bodies remembers which body moves the entity in each row, so that a body goes
// when its entity does. Both slices have a place per row of the world, from the
// first body on.
type bodies struct {
	owner   []ecs.ID // for whom the row's body was made; 0: the row has none
	body    []physics.Body
	bound   int      // owners that are not 0
	checked liveRows // when all owners were last seen alive
}

// CreateBody creates a body that moves the entity: after each step its
// transform is written into the entity's Position and Rotation, and it is
// destroyed by the next step after the entity was despawned, or after the world
// was restored from a snapshot, which does not hold bodies. CreateBody sets
// def.HasSlot and def.Slot. An unknown id is ErrStale, an entity that has a body
// ErrRange; other errors are those of physics.World.CreateBody.
func (s *Sim) CreateBody(id ecs.ID, def physics.BodyDef) (physics.Body, error) {
	slot, ok := s.World.Slot(id)
	if !ok {
		return physics.Body{}, fault.Field(ErrStale, "evertick: CreateBody: id", id)
	}
	if s.bodies.bound > 0 && s.restored() { // the new body must not go with the old
		if err := s.releaseBodies(); err != nil {
			return physics.Body{}, err
		}
	}
	if _, has := s.Body(id); has {
		return physics.Body{}, fault.Field(ErrRange, "evertick: CreateBody: entity with a body", id)
	}
	def.HasSlot, def.Slot = true, slot
	body, err := s.Physics.CreateBody(def)
	if errors.Is(err, ErrCapacity) { // the dead may hold the places
		if err := s.releaseBodies(); err != nil {
			return physics.Body{}, err
		}
		body, err = s.Physics.CreateBody(def)
	}
	if err != nil {
		return physics.Body{}, err
	}
	if s.bodies.owner == nil {
		s.bodies.owner = make([]ecs.ID, s.World.Cap())
		s.bodies.body = make([]physics.Body, s.World.Cap())
	}
	if err := s.vacate(slot); err != nil {
		return physics.Body{}, errors.Join(err, s.Physics.DestroyBody(body))
	}
	if s.bodies.bound == 0 {
		s.bodies.checked = s.liveRows()
	}
	s.bodies.owner[slot], s.bodies.body[slot] = id, body
	s.bodies.bound++
	return body, nil
}

// Body returns the body that moves the entity.
func (s *Sim) Body(id ecs.ID) (physics.Body, bool) {
	slot, ok := s.World.Slot(id)
	if !ok || s.bodies.bound == 0 || s.bodies.owner[slot] != id || s.restored() {
		return physics.Body{}, false
	}
	body := s.bodies.body[slot]
	return body, s.Physics.Valid(body)
}

// restored reports whether the world was restored since bodies were bound: an id
// may then stand for another entity than the one that had the body.
func (s *Sim) restored() bool { return s.bodies.checked.generation != s.World.Generation() }

// releaseBodies destroys the bodies of entities that are gone, by row. It costs
// nothing while no entity has come or gone.
func (s *Sim) releaseBodies() error {
	now := s.liveRows()
	if now == s.bodies.checked || s.bodies.bound == 0 {
		return nil
	}
	rows, restored := s.bodies.owner, s.restored()
	if !restored { // else the world may have had more rows
		rows = rows[:s.World.HighWater()]
	}
	for slot, owner := range rows {
		id, _ := s.World.ID(ecs.Slot(slot))
		if owner == 0 || owner == id && !restored {
			continue
		}
		if err := s.vacate(ecs.Slot(slot)); err != nil {
			return err
		}
	}
	s.bodies.checked = now
	return nil
}

// vacate destroys the body that is bound to a row, if any.
func (s *Sim) vacate(slot ecs.Slot) error {
	b := &s.bodies
	if b.owner[slot] == 0 {
		return nil
	}
	if s.Physics.Valid(b.body[slot]) { // else destroyed through Physics
		if err := s.Physics.DestroyBody(b.body[slot]); err != nil {
			return err
		}
	}
	b.owner[slot], b.body[slot] = 0, physics.Body{}
	b.bound--
	return nil
}

// ownerHash hashes who owns the bodies: it decides which of them go.
func (s *Sim) ownerHash() uint64 {
	if s.bodies.bound == 0 {
		return 0
	}
	return statehash.Rows(s.bodies.owner[:s.World.HighWater()])
}
