package evertick

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/fault"
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
	var body physics.Body
	err := s.solvers[0].create("evertick: CreateBody", id, func(slot ecs.Slot) (_ uint64, err error) {
		q := &s.World.Rotation
		if r, p := [4]float32{q.X[slot], q.Y[slot], q.Z[slot], q.W[slot]}, s.config.Physics.Plane; p.Tilts(r) {
			err := fault.Field(ErrRange, "evertick: CreateBody: Rotation of "+id.String(), r)
			return 0, fmt.Errorf("%w: turns out of the plane %v", err, p)
		}
		def.HasSlot, def.Slot = true, slot
		body, err = s.Physics.CreateBody(def)
		return body.Bits(), err
	})
	return body, err
}

// Body returns the body that moves the entity.
func (s *Sim) Body(id ecs.ID) (physics.Body, bool) {
	bits, ok := s.solvers[0].owners.Get(id)
	body := physics.BodyOfBits(bits)
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
	slot, owners := s.bodySlots[b.Index()], s.solvers[0].owners
	if owner, ok := owners.At(slot); !ok || owner != b.Bits() {
		return 0, false
	}
	return owners.Owners()[slot], true
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

// newPlane returns the solver of Sim.Physics.
func (s *Sim) newPlane() *Solver {
	w := s.Physics
	return &Solver{
		Name: "physics", Modes: s.config.PhysicsModes,
		Step: s.stepPlane, Sync: s.syncPlane, Skip: w.ClearEvents,
		AppendWritten: func(dst []ecs.Slot) []ecs.Slot { return w.AppendWritten(dst, s.transforms()) },
		// The body may already have been destroyed through Physics. Any other error means that the engine has failed; its next
		// step reports that.
		Destroy: func(_ ecs.ID, body uint64) { _ = w.DestroyBody(physics.BodyOfBits(body)) },
		Valid:   func(body uint64) bool { return w.Valid(physics.BodyOfBits(body)) },

		MoveSlots: w.MoveSlots,
		ShiftOrigin: func(offset [3]float32) error {
			inPlane, _ := s.config.Physics.Plane.Split(offset)
			return w.ShiftOrigin(inPlane)
		},
		SetWorkers: s.setPlaneWorkers,

		Snapshot: w.Snapshot, Prepare: w.Prepare, Commit: w.Commit, Discard: w.Discard,
		PrepareCopy:        func(src *Solver) error { return w.PrepareCopy(src.sim.Physics) },
		AppendColumnHashes: w.AppendColumnHashes,
		Diff:               func(other *Solver) (Difference, bool) { return diffBodies(s, other.sim) },
		Counts:             func() (bodies, contacts int) { return w.Len(), w.ContactCount() },
		Awake:              w.AwakeCount,
	}
}

// stepPlane copies what systems have written to the columns of entities into their bodies, and
// moves the bodies.
func (s *Sim) stepPlane(t *Tick) error {
	if s.Physics.Len() > 0 {
		if err := s.Physics.Pull(s.transforms()); err != nil {
			return err
		}
	}
	return s.Physics.Step(t.Dt)
}

// syncPlane writes the transforms of the bodies into the columns of their entities. Entities of
// teleported bodies are drawn at their new position.
func (s *Sim) syncPlane(*Tick) error {
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

// transforms are the columns of the entities that bodies move.
func (s *Sim) transforms() physics.Transforms {
	p, r := &s.World.Position, &s.World.Rotation
	return physics.Transforms{X: p.X, Y: p.Y, Z: p.Z, QX: r.X, QY: r.Y, QZ: r.Z, QW: r.W}
}

// setPlaneWorkers sets the workers of Physics, unless its engine has a number of its own.
func (s *Sim) setPlaneWorkers(workers int) error {
	if s.config.Physics.Engine != nil {
		return nil
	}
	err := s.Physics.SetWorkers(workers)
	if err == nil {
		s.config.Physics.Workers = workers
	}
	return err
}

// ShiftOrigin moves the origin of the world to the point offset, along the two axes of the plane of Physics, and by third along the
// other one: physics.World.ShiftOrigin for the bodies in the plane, the same for the solvers that were attached, and the same
// subtraction for the Position of every entity, with a body or without, also in World.Previous, so that Interpolate draws no jump.
// Physics.Origin is where the origin is in the plane. A NaN stays as it is.
//
// A program shifts the coordinates that it keeps elsewhere: in columns, State, resources, Commands that wait, and the
// camera. Index has the old coordinates until a tick updates it. Call ShiftOrigin from a system that decides by the
// state, so that a replay does the same; or between ticks, as any other change. Errors are those of
// physics.World.ShiftOrigin, and ErrRange for more than one number in third; nothing has changed then. An error of a solver that was
// attached ends the Sim.
func (s *Sim) ShiftOrigin(offset [2]float32, third ...float32) error {
	if len(third) > 1 {
		return fault.Field(ErrRange, "evertick: ShiftOrigin: numbers along the third axis", len(third))
	}
	by, origin := s.config.Physics.Plane.Join(offset, 0), s.third
	for _, v := range third {
		if err := checkShift(v); err != nil {
			return err
		}
		if s.keepsThird() {
			if origin += float64(v); !validThird(origin) {
				return fault.Field(ErrRange, "evertick: ShiftOrigin: Origin along the third axis", origin)
			}
		}
		by = s.config.Physics.Plane.Join(offset, v)
	}
	for i, v := range s.solvers {
		if v.ShiftOrigin == nil {
			continue
		}
		if err := v.ShiftOrigin(by); err != nil {
			if i > 0 { // the bodies in the plane have been shifted
				s.failed = fmt.Errorf("evertick: ShiftOrigin: %s: %w", v.Name, err)
			}
			return err
		}
	}
	s.shiftColumns(&s.World.Position, by)
	if p := s.World.Previous(); p != nil {
		s.shiftColumns(&p.Position, by)
	}
	s.World.Position.Touch()
	s.third = origin
	s.shifts++
	return nil
}

// Origin returns the sum of the offsets of all calls of ShiftOrigin, in metres along x, y and z: Origin and the Position of an entity that stands still have
// the same sum before and after a call. It is a part of the state. If a solver that was attached has Solver.Origin, that is the sum.
func (s *Sim) Origin() [3]float64 {
	for _, v := range s.solvers[1:] {
		if v.Origin != nil {
			return v.Origin()
		}
	}
	o := s.Physics.Origin()
	if s.config.Physics.Plane == physics.XZ {
		return [3]float64{o[0], s.third, o[1]}
	}
	return [3]float64{o[0], o[1], s.third}
}

// keepsThird reports whether no solver knows the origin along the third axis of the plane.
func (s *Sim) keepsThird() bool {
	return !slices.ContainsFunc(s.solvers[1:], func(v *Solver) bool { return v.Origin != nil })
}

// validThird applies the rules of physics.World.Origin.
func validThird(origin float64) bool {
	return math.Abs(origin) <= 1<<62 && math.Trunc(origin/physics.OriginUnit)*physics.OriginUnit == origin
}

// checkShift applies the rules of physics.World.ShiftOrigin to the third axis.
func checkShift(v float32) error {
	const field, most = "evertick: ShiftOrigin: third", 1 << 37
	switch o := float64(v); {
	case !fault.Finite(v):
		return fault.Field(ErrNotFinite, field, v)
	case math.Trunc(o/physics.OriginUnit)*physics.OriginUnit != o || math.Abs(o) > most:
		return fault.Field(ErrRange, field, v)
	}
	return nil
}

func (s *Sim) shiftColumns(v *ecs.Vec3, offset [3]float32) {
	for i, column := range [...][]float32{v.X, v.Y, v.Z} {
		if offset[i] != 0 {
			s.shiftColumn(column, offset[i])
		}
	}
}

// shiftColumn subtracts offset from the rows of entities.
func (s *Sim) shiftColumn(column []float32, offset float32) {
	for i, word := range s.World.LiveMask() {
		for ; word != 0; word &= word - 1 {
			if v := &column[i<<6|bits.TrailingZeros64(word)]; *v == *v {
				*v -= offset
			}
		}
	}
}
