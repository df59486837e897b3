package space

import (
	"cmp"
	"fmt"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/columns"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/wire"
	"github.com/evertick/evertick/physics3"
)

// name precedes the phases and the columns of hashes.
const name = "physics3"

// Bodies are the bodies in space of a Sim. The rules of the Sim for concurrent use hold for them.
type Bodies struct {
	sim      *evertick.Sim
	world    *physics3.World
	solver   evertick.Solver
	slotOf   []uint32 // Slot of the columns, which are too large to copy for each lookup
	previous bool     // evertick.Config.Previous
	slots    []ecs.Slot
}

// Attach adds bodies in space to a Sim, as a part of its set-up, before the first tick. Capacity, Slots, Level and Workers, if zero, are those of
// the Sim. Errors are those of physics3.Config.Validate, and of Sim.Attach: a Sim has one space.
func Attach(sim *evertick.Sim, c physics3.Config) (*Bodies, error) {
	if sim == nil {
		panic("space: Attach to a nil Sim")
	}
	own := sim.Config()
	c.Capacity, c.Slots = cmp.Or(c.Capacity, own.Capacity), cmp.Or(c.Slots, own.Capacity)
	c.Workers, c.Level = cmp.Or(c.Workers, own.Workers), cmp.Or(c.Level, own.Level)
	w, err := physics3.New(c)
	if err != nil {
		return nil, err
	}
	b := &Bodies{sim: sim, world: w, slotOf: w.Columns().Slot, previous: own.Previous}
	b.solver = evertick.Solver{
		Name: name,
		Step: b.step, Sync: b.sync, Skip: w.ClearEvents,
		AppendWritten: func(dst []ecs.Slot) []ecs.Slot { return w.AppendWritten(dst, b.transforms()) },
		Destroy:       b.destroy,
		Valid:         func(body uint64) bool { return w.Valid(physics3.BodyOfBits(body)) },
		MoveSlots:     w.MoveSlots, ShiftOrigin: w.ShiftOrigin, Origin: w.Origin, SetWorkers: w.SetWorkers,
		Snapshot: b.snapshot, Prepare: b.prepare, PrepareCopy: b.prepareCopy, Commit: w.Commit, Discard: w.Discard,
		AppendColumnHashes: w.AppendColumnHashes,
		Diff:               b.diff,
		Counts:             func() (bodies, contacts int) { return w.Len(), w.ContactCount() },
		Awake:              w.AwakeCount,
		View:               view{b},
		Data:               b,
	}
	if err := sim.Attach(&b.solver); err != nil {
		return nil, err
	}
	return b, nil
}

// World returns the bodies, shapes and contacts, for forces, queries, events and settings. Do not call its Step, Sync, Pull, Restore and CopyFrom, which
// the Sim calls.
func (b *Bodies) World() *physics3.World { return b.world }

// Create makes a body that moves the entity: after each step its transform is written to Position and Rotation of the entity. From the second
// step of the body on, a value that a program writes there puts the body there before the next step. Despawning the entity destroys
// the body at once.
//
// Create sets def.HasSlot and def.Slot. An unknown id is ErrStale, an entity that has a body of any kind ErrRange; other errors are those of
// physics3.World.CreateBody. Nothing has changed then.
func (b *Bodies) Create(id ecs.ID, def physics3.BodyDef) (physics3.Body, error) {
	var body physics3.Body
	err := b.solver.Create(id, func(slot ecs.Slot) (_ uint64, err error) {
		def.HasSlot, def.Slot = true, slot
		body, err = b.world.CreateBody(def)
		return body.Bits(), err
	})
	return body, err
}

// Body returns the body of the entity.
func (b *Bodies) Body(id ecs.ID) (physics3.Body, bool) {
	bits, ok := b.solver.Body(id)
	if !ok {
		return physics3.Body{}, false
	}
	return physics3.BodyOfBits(bits), true
}

// Entity returns the entity of a body: the reverse of Body. It is false for a body that Create has not made, since it has no entity, and for one that is destroyed.
func (b *Bodies) Entity(body physics3.Body) (ecs.ID, bool) {
	if !b.world.Valid(body) {
		return 0, false
	}
	id, ok := b.sim.World.ID(b.slotOf[body.Index()])
	if !ok {
		return 0, false
	}
	if own, has := b.solver.Body(id); !has || own != body.Bits() {
		return 0, false
	}
	return id, true
}

// ShapeEntity returns the entity of the body that has a shape, for shapes in World().Events() and in results of queries. It is false for a shape that is
// destroyed, and where Entity is.
func (b *Bodies) ShapeEntity(s physics3.Shape) (ecs.ID, bool) {
	if !b.world.ValidShape(s) {
		return 0, false
	}
	body, err := b.world.ShapeBody(s)
	if err != nil {
		return 0, false
	}
	return b.Entity(body)
}

// ShiftOrigin moves the origin of everything in the Sim to the point offset: see evertick.Sim.ShiftOrigin. World().Origin and
// evertick.Sim.Origin are where it is.
func (b *Bodies) ShiftOrigin(offset [3]float32) error {
	plane, third := b.sim.Physics.Config().Plane.Split(offset)
	return b.sim.ShiftOrigin(plane, third)
}

// transforms are the columns of the entities that bodies move.
func (b *Bodies) transforms() physics3.Transforms {
	p, r := &b.sim.World.Position, &b.sim.World.Rotation
	return physics3.Transforms{X: p.X, Y: p.Y, Z: p.Z, QX: r.X, QY: r.Y, QZ: r.Z, QW: r.W}
}

// step is the phase "physics3.step".
func (b *Bodies) step(t *evertick.Tick) error {
	if b.world.Len() > 0 {
		if err := b.world.Pull(b.transforms()); err != nil {
			return err
		}
	}
	return b.world.Step(t.Dt)
}

// sync is the phase "physics3.sync".
func (b *Bodies) sync(*evertick.Tick) error {
	if b.world.Len() == 0 {
		return nil
	}
	if err := b.world.Sync(b.transforms()); err != nil {
		return err
	}
	w := b.sim.World
	w.Position.Touch()
	w.Rotation.Touch()
	if b.previous {
		b.slots = b.world.TakeTeleported(b.slots[:0])
		for _, slot := range b.slots {
			w.JumpAt(slot)
		}
	}
	return nil
}

// destroy destroys the body of an entity. It may be destroyed already, by World. Any other error means that the world has failed, which its next step reports.
func (b *Bodies) destroy(_ ecs.ID, body uint64) { _ = b.world.DestroyBody(physics3.BodyOfBits(body)) }

// The state is the uint64 length of a snapshot of the world, the snapshot, and the events of its last step.

const lengthBytes = 8

func (b *Bodies) snapshot(dst []byte) ([]byte, error) {
	at := len(dst)
	dst, err := b.world.Snapshot(wire.AppendU64s(dst, 0))
	if err != nil {
		return dst[:at], err
	}
	wire.AppendU64s(dst[:at], uint64(len(dst)-at-lengthBytes))
	return b.world.AppendEvents(dst), nil
}

func (b *Bodies) prepare(data []byte) error {
	if len(data) < lengthBytes {
		return fault.Field(evertick.ErrCorrupt, "space: length", len(data))
	}
	n, rest := wire.U64At(data, 0), data[lengthBytes:]
	if n > uint64(len(rest)) {
		return fault.Field(evertick.ErrCorrupt, "space: length of the snapshot", n)
	}
	if err := b.world.Prepare(rest[:n]); err != nil {
		return err
	}
	return b.world.PrepareEvents(rest[n:])
}

func (b *Bodies) prepareCopy(src *evertick.Solver) error {
	from, ok := src.Data.(*Bodies)
	if !ok {
		return fault.Field(evertick.ErrUnsupported, "space: CopyFrom a solver of another kind", fmt.Sprintf("%T", src.Data))
	}
	return b.world.PrepareCopy(from.world)
}

// diff compares the columns of bodies.
func (b *Bodies) diff(other *evertick.Solver) (d evertick.Difference, found bool) {
	o, ok := other.Data.(*Bodies)
	if !ok {
		return d, false
	}
	count := func(n int) string { return fmt.Sprintf("%d (%#x)", n, n) }
	if rows := b.world.Rows(); rows != o.world.Rows() {
		return evertick.Difference{Column: name + " rows", Row: -1, A: count(rows), B: count(o.world.Rows())}, true
	}
	others := o.world.BodyColumns()
	for i, c := range b.world.BodyColumns() {
		if row, j, found := columns.FirstDifference(c, others[i]); found {
			id, _ := b.sim.World.ID(b.slotOf[row])
			return evertick.Difference{Column: name + "." + c.Name(), Row: int(row), ID: id,
				A: columns.Text(c.Value(row, j)), B: columns.Text(others[i].Value(row, j))}, true
		}
	}
	return d, false
}
