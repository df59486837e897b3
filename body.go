package evertick

import (
	"fmt"

	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/statehash"
	"github.com/evertick/evertick/physics"
)

// CreateBody creates a body that moves the entity: after each step its
// transform is written into the entity's Position and Rotation. From its second step on,
// what is written to these columns in between moves the body there before the
// next step; see physics.World.Pull. It is destroyed when the entity is despawned, at
// once, with its row still there. A snapshot of World, other than one of the Sim, does not hold
// bodies: after a World.Restore the entities have none, and those that were left are destroyed by the next
// CreateBody or step.
//
// Of the entity's three axes the body has the two of its plane, by the rule of the section "The plane" in
// package physics: Position keeps its third component, which no body looks at, and a Rotation out of the
// plane is ErrRange, now and when a step finds one that was written later.
//
// CreateBody sets def.HasSlot and def.Slot. An unknown id is ErrStale, an entity that
// has a body ErrRange; other errors are those of physics.World.CreateBody.
func (s *Sim) CreateBody(id ecs.ID, def physics.BodyDef) (physics.Body, error) {
	slot, ok := s.World.Slot(id)
	if !ok {
		return physics.Body{}, fault.Field(ErrStale, "evertick: CreateBody: id", id)
	}
	s.endRestored() // the new body must not go with the old, which may hold its place
	if _, has := s.Body(id); has {
		return physics.Body{}, fault.Field(ErrRange, "evertick: CreateBody: entity with a body", id)
	}
	q := &s.World.Rotation
	if r, p := [4]float32{q.X[slot], q.Y[slot], q.Z[slot], q.W[slot]}, s.Physics.Config().Plane; p.Tilts(r) {
		err := fault.Field(ErrRange, "evertick: CreateBody: Rotation of "+id.String(), r)
		return physics.Body{}, fmt.Errorf("%w: turns out of the plane %v", err, p)
	}
	def.HasSlot, def.Slot = true, slot
	body, err := s.Physics.CreateBody(def)
	if err != nil {
		return physics.Body{}, err
	}
	return body, s.bodies.Bind(id, body)
}

// Body returns the body that moves the entity.
func (s *Sim) Body(id ecs.ID) (physics.Body, bool) {
	body, ok := s.bodies.Get(id)
	if !ok || s.restored() || !s.Physics.Valid(body) {
		return physics.Body{}, false
	}
	return body, true
}

// destroyBody is told of the bodies that have lost their entities. A body may have
// been destroyed through Physics before; any other error is that of an engine that
// has failed, and its next step says so.
func (s *Sim) destroyBody(_ ecs.ID, body physics.Body) {
	_ = s.Physics.DestroyBody(body)
}

// restored reports whether the world was restored since endRestored: all bodies
// are then those of a former life.
func (s *Sim) restored() bool { return s.generation != s.World.Generation() }

// endRestored destroys all bodies, by slot, if the world was restored.
func (s *Sim) endRestored() {
	if s.restored() {
		s.bodies.ReleaseAll()
		s.generation = s.World.Generation()
	}
}

// ownerHash hashes who owns the bodies: it decides which of them go.
func (s *Sim) ownerHash() uint64 {
	if s.bodies.Len() == 0 {
		return 0
	}
	return statehash.Rows(s.bodies.Owners()[:s.World.HighWater()])
}
