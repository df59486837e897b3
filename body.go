package evertick

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/statehash"
	"github.com/evertick/evertick/physics"
)

// CreateBody creates a body that moves the entity: after each step its transform is written into
// the entity's Position and Rotation. From the second step of the body on, a value that you write
// to these columns between steps moves the body there before the next step; see physics.World.Pull.
// Despawning the entity destroys the body at once, while the row of the entity still exists. A
// snapshot of the Sim holds bodies; a snapshot of World does not: after a World.Restore the
// entities have no bodies, and the next CreateBody or step destroys those that were left.
//
// A body uses two of the entity's three axes, the two of its plane, by the rule of the section "The
// plane" in package physics. Bodies ignore the third component of Position and leave it as it is. A
// Rotation out of the plane is ErrRange, now and when a step finds one that was written later.
//
// CreateBody sets def.HasSlot and def.Slot. An unknown id is ErrStale, an entity that already has a
// body is ErrRange; other errors are those of physics.World.CreateBody.
func (s *Sim) CreateBody(id ecs.ID, def physics.BodyDef) (physics.Body, error) {
	slot, ok := s.World.Slot(id)
	if !ok {
		return physics.Body{}, fault.Field(ErrStale, "evertick: CreateBody: id", id)
	}
	s.releaseStaleBodies() // a later release would destroy the new body, which may reuse the place of an old one
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
	if !ok || s.bodiesStale() || !s.Physics.Valid(body) {
		return physics.Body{}, false
	}
	return body, true
}

// BodyEntity returns the entity that a body moves: the inverse of Body. It is false for a body
// that CreateBody has not created, since it has no entity, and for a stale body.
//
// Events name some bodies by index; Physics.BodyAt returns the body.
func (s *Sim) BodyEntity(b physics.Body) (ecs.ID, bool) {
	if !s.Physics.Valid(b) || s.bodiesStale() {
		return 0, false
	}
	slot := s.bodySlots[b.Index()]
	if owner, ok := s.bodies.At(slot); !ok || owner != b {
		return 0, false
	}
	return s.bodies.Owners()[slot], true
}

// ShapeEntity returns the entity that the body of a shape moves, for the shapes in
// Physics.Events and in the results of queries. It is false for a stale shape, and if BodyEntity is
// false for its body, such as the ground. Events.End also lists touches that ended because a shape
// was destroyed; such a shape is stale, and never resolves to the entity that uses its place now.
func (s *Sim) ShapeEntity(sh physics.Shape) (ecs.ID, bool) {
	if !s.Physics.ValidShape(sh) {
		return 0, false
	}
	b, err := s.Physics.ShapeBody(sh)
	if err != nil {
		return 0, false
	}
	return s.BodyEntity(b)
}

// destroyBody destroys a body that has lost its entity. The body may already have been destroyed
// through Physics. Any other error means that the engine has failed; its next step reports that.
func (s *Sim) destroyBody(_ ecs.ID, body physics.Body) {
	_ = s.Physics.DestroyBody(body)
}

// bodiesStale reports whether the world was restored after the last releaseStaleBodies: the bodies
// then belong to entities of the old state.
func (s *Sim) bodiesStale() bool { return s.generation != s.World.Generation() }

// releaseStaleBodies destroys all bodies, in ascending slots, if the world was restored.
func (s *Sim) releaseStaleBodies() {
	if s.bodiesStale() {
		s.bodies.ReleaseAll()
		s.generation = s.World.Generation()
	}
}

// appendOwnerHash hashes the owners of the bodies: they decide which bodies a despawn destroys.
func (s *Sim) appendOwnerHash(dst []ecs.ColumnHash) []ecs.ColumnHash {
	var hash uint64
	if s.bodies.Len() > 0 {
		hash = statehash.Rows(s.bodies.Owners()[:s.World.HighWater()])
	}
	return append(dst, ecs.ColumnHash{Name: bodyPrefix + "Owner", Hash: hash})
}

// stepPhysics copies what systems have written to the columns of entities into their bodies, and
// moves the bodies.
func (s *Sim) stepPhysics(t *Tick) error {
	s.releaseStaleBodies()
	if s.moveErr != nil {
		return s.moveErr
	}
	s.physicsRan = true
	if s.Physics.Len() > 0 {
		s.jumpPulled()
		if err := s.Physics.Pull(s.transforms()); err != nil {
			return err
		}
	}
	return s.Physics.Step(t.Dt)
}

// skipPhysics is called in place of stepPhysics in modes without physics.
func (s *Sim) skipPhysics() {
	s.physicsRan = false
	s.releaseStaleBodies()
	s.Physics.ClearEvents()
}

// syncBodies writes the transforms of the bodies into the columns of their entities. Entities of
// teleported bodies are drawn at their new position.
func (s *Sim) syncBodies(*Tick) error {
	if s.Physics.Len() == 0 {
		return nil
	}
	if err := s.Physics.Sync(s.transforms()); err != nil {
		return err
	}
	s.World.Position.Touch()
	s.World.Rotation.Touch()
	if s.config.Previous {
		s.slots = s.Physics.TakeTeleported(s.slots[:0])
		for _, slot := range s.slots {
			s.World.JumpAt(slot)
		}
	}
	return nil
}

// jumpWritten marks entities as teleported that were written to since bodies moved them, so that they are drawn at
// their new position. In modes without physics, in which systems may move them step by step, it marks none.
func (s *Sim) jumpWritten() {
	if !s.config.Previous || !s.physicsRan {
		return
	}
	s.written = s.Physics.AppendWritten(s.written[:0], s.transforms())
	for _, slot := range s.written {
		s.World.JumpAt(slot)
	}
	slices.Sort(s.written)
}

// jumpPulled marks the entities as teleported whose bodies Pull will teleport. Those that jumpWritten has marked since
// the last step, and that have stayed there, move on from there.
func (s *Sim) jumpPulled() {
	if !s.config.Previous {
		return
	}
	s.slots = s.Physics.AppendWritten(s.slots[:0], s.transforms())
	previous := s.World.Previous()
	now, before := s.transforms(), bodyTransforms(&previous.Position, &previous.Rotation)
	for _, slot := range s.slots {
		if _, marked := slices.BinarySearch(s.written, slot); !marked || differ(&now, &before, slot) {
			s.World.JumpAt(slot)
		}
	}
	s.written = s.written[:0]
}

// transforms are the columns of the entities that bodies move.
func (s *Sim) transforms() physics.Transforms {
	return bodyTransforms(&s.World.Position, &s.World.Rotation)
}

func bodyTransforms(p *ecs.Vec3, r *ecs.Quat) physics.Transforms {
	return physics.Transforms{X: p.X, Y: p.Y, Z: p.Z, QX: r.X, QY: r.Y, QZ: r.Z, QW: r.W}
}

// differ reports whether a row of two transforms differs.
func differ(a, b *physics.Transforms, slot ecs.Slot) bool {
	return a.X[slot] != b.X[slot] || a.Y[slot] != b.Y[slot] || a.Z[slot] != b.Z[slot] ||
		a.QX[slot] != b.QX[slot] || a.QY[slot] != b.QY[slot] || a.QZ[slot] != b.QZ[slot] || a.QW[slot] != b.QW[slot]
}

// moveBodySlots makes bodies drive the rows to which their entities have moved. It is an observer of World.OnReorder.
func (s *Sim) moveBodySlots(from []ecs.Slot) {
	if s.generation+1 != s.World.Generation() {
		return // the world was restored: the bodies belong to entities of the old state
	}
	s.generation++
	rows := 0
	for _, slot := range from {
		rows = max(rows, int(slot)+1)
	}
	to := s.slots[:0]
	for range rows {
		to = append(to, physics.NoSlot)
	}
	for i, slot := range from {
		to[slot] = ecs.Slot(i)
	}
	s.slots = to
	if s.moveErr == nil { // else the bodies are still in the slots before the first Reorder that they could not follow
		s.moveErr = s.Physics.MoveSlots(to)
	}
}

// ShiftOrigin moves the origin of the plane to the point offset: physics.World.ShiftOrigin for the bodies, and the same
// subtraction for the Position of every entity along the two axes of the plane, with a body or without, also in
// World.Previous, so that Interpolate draws no jump. Physics.Origin is where the origin is. A NaN stays as it is.
//
// A program shifts the coordinates that it keeps elsewhere: in columns, State, resources, Commands that wait, and the
// camera. Index has the old coordinates until a tick updates it. Call ShiftOrigin from a system that decides by the
// state, so that a replay does the same; or between ticks, as any other change. Errors are those of
// physics.World.ShiftOrigin, and nothing has changed then.
func (s *Sim) ShiftOrigin(offset [2]float32) error {
	if err := s.Physics.ShiftOrigin(offset); err != nil {
		return err
	}
	s.shiftColumns(&s.World.Position, offset)
	if p := s.World.Previous(); p != nil {
		s.shiftColumns(&p.Position, offset)
	}
	s.World.Position.Touch()
	s.shifts++
	return nil
}

func (s *Sim) shiftColumns(v *ecs.Vec3, offset [2]float32) {
	second := v.Y
	if s.Physics.Config().Plane == physics.XZ {
		second = v.Z
	}
	s.shiftColumn(v.X, offset[0])
	s.shiftColumn(second, offset[1])
}

// shiftColumn subtracts offset from the rows of entities.
func (s *Sim) shiftColumn(column []float32, offset float32) {
	offset += 0 // -0 would turn a position of -0 into 0
	for i, word := range s.World.LiveMask() {
		for ; word != 0; word &= word - 1 {
			if v := &column[i<<6|bits.TrailingZeros64(word)]; *v == *v {
				*v -= offset
			}
		}
	}
}
