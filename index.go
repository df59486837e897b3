package evertick

import (
	"errors"
	"fmt"

	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/spatial"
)

// worldSource is the source of NewWorldSource.
type worldSource struct {
	world *ecs.World
	slots []ecs.Slot
	from  spatial.Stamp // of slots; without Position
}

// NewWorldSource makes the entities of a world the source of a spatial.Gate. The Gate refuses or
// rebuilds an index after entities were spawned, despawned or moved:
//
//	gate := spatial.NewGate(index, evertick.NewWorldSource(world), spatial.Refuse)
//
// It notices the movements for which Position.Touch was called. SetPosition, the synchronisation of
// bodies and World.Apply call it. Code that writes to the columns directly has to call Touch
// afterwards.
func NewWorldSource(w *ecs.World) spatial.Source { return newWorldSource(w) }

func newWorldSource(w *ecs.World) *worldSource {
	if w == nil {
		panic("evertick: NewWorldSource: nil world")
	}
	return &worldSource{world: w, slots: make([]ecs.Slot, 0, w.Cap())}
}

// Stamp identifies the present state of the world. It changes nothing, and may be called from
// several goroutines.
func (s *worldSource) Stamp() spatial.Stamp {
	return spatial.Stamp{
		Structure:  s.world.Version(),
		Position:   s.world.Position.Version(),
		Generation: s.world.Generation(),
	}
}

// Points returns the positions of all entities. The slots are valid until the next call.
func (s *worldSource) Points() spatial.Columns {
	now := s.Stamp()
	now.Position = 0
	if now != s.from {
		s.slots = s.world.LiveSlots(s.slots[:0])
		s.from = now
	}
	p := &s.world.Position
	return spatial.Columns{X: p.X, Y: p.Y, Z: p.Z, Slots: s.slots}
}

// buildIndex rebuilds the index even if no version has changed, because systems may write to
// columns without calling Touch.
func (s *Sim) buildIndex(*Tick) error {
	p := s.source.Points()
	err := s.Index.Build(p.X, p.Y, p.Z, p.Slots)
	if errors.Is(err, ErrNotFinite) {
		return s.nameNotFinite(err, p.Slots)
	}
	return err
}

// nameNotFinite names the entity and the coordinate that is not finite, since the index knows slots
// only.
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

// ReorderKind is the Kind, and also the Source, of the inputs by which Sim.Reorder asks for a reorder. A host that takes
// inputs from clients sets their Source itself, so that none asks for one.
const ReorderKind uint32 = 0x6f726472 // "ordr"

// ReorderPolicy says when a Sim moves its entities to rows in the order of the grid of Index, so that neighbours
// in space are neighbours in memory. The zero value: never.
//
// It pays where most entities look at their neighbours every tick, and there are so many that their columns do not fit into the
// caches: from some 30,000 on. At 100,000 a loop that reads columns by the slots of neighbours takes half the time, at
// 1,000,000 a tenth; the queries take two thirds. BenchmarkReorderedNeighbours measures it. For each entity with three columns
// besides the built-in ones, a reorder takes about 10 ns (20 ns at 1,000,000 entities), and the index is built a second time.
// Package replica begins anew after it: each client gets a Keyframe.
//
// The phase "world.reorder" follows "spatial.build": it calls World.Reorder and builds the index again. So systems up to
// AfterPhysics see the slots of the tick before, and those from AfterIndex on the new ones. Systems must not keep slots,
// Handles, bitmaps or results of queries from one tick to the next: they keep ids, or map slots in an observer of
// World.OnReorder, or look them up anew when World.Generation has changed. In OnReorder they also move the rows of arrays of
// their own. A system that sums floats in the order of slots, or breaks ties by them, gets other results than without the
// policy; the bodies do not.
//
// The decision depends on the state, the tick and the inputs alone, so it is the same in a replay, in a rollback and on
// any number of workers. The policy is no part of a snapshot: like the systems, it belongs to the program.
type ReorderPolicy struct {
	// Every is the number of ticks between two checks, up to 1<<30: there is one in each tick whose number is a
	// multiple. 0: there are none.
	Every int
	// Disorder is what Index.Disorder must exceed for a check to reorder, 0 to 1: it is nearly 0 after a reorder, grows as
	// entities move, and is about 1 for rows at random. Up to 0.1 costs little. 0: each check reorders, unless all are
	// in order.
	Disorder float64
	// Requests allows Reorder.
	Requests bool
}

// validate returns an error that wraps ErrRange for each field out of its range.
func (p ReorderPolicy) validate() error {
	err := fault.Between("evertick: Config.Reorder.Every", p.Every, 0, 1<<30)
	if !(p.Disorder >= 0 && p.Disorder <= 1) {
		err = errors.Join(err, fault.Field(ErrRange, "evertick: Config.Reorder.Disorder", p.Disorder))
	}
	return err
}

// Reorder makes the next tick reorder the entities as ReorderPolicy describes, whatever the order is. It pushes an input, so a
// log has it and a replay reorders in the same tick; systems find the input in Tick.Inputs. Calls before that tick have
// the effect of one. Any goroutine may call it. Without Config.Reorder.Requests it is ErrUnsupported. Other errors are those
// of Push.
//
// World.Reorder does it at once, in any order. No log records that: call it from a system that decides by the state, or
// between ticks, as any other change. Bodies follow their entities; Index has the old slots until it is built.
func (s *Sim) Reorder() error {
	if !s.config.Reorder.Requests {
		return fault.Field(ErrUnsupported, "evertick: Reorder: Config.Reorder.Requests", false)
	}
	err := s.Push(Input{Source: ReorderKind, Kind: ReorderKind})
	if errors.Is(err, loop.ErrDuplicate) { // one waits already
		return nil
	}
	return err
}

// reorder is the phase "world.reorder".
func (s *Sim) reorder(t *Tick) error {
	if !s.reorderDue(t) {
		return nil
	}
	if now := s.source.Stamp(); now.Structure != s.source.from.Structure || now.Generation != s.source.from.Generation {
		if err := s.buildIndex(t); err != nil { // a hook has spawned or despawned since
			return err
		}
	}
	s.order = s.Index.SortPermutation(s.order)
	before := s.World.Generation()
	if err := s.World.Reorder(s.order); err != nil || s.World.Generation() == before {
		return err
	}
	if s.moveErr != nil {
		return s.moveErr
	}
	return s.buildIndex(t)
}

func (s *Sim) reorderDue(t *Tick) bool {
	p := &s.config.Reorder
	if p.Requests {
		for i := range t.Inputs() {
			if in := &t.Inputs()[i]; in.Kind == ReorderKind && in.Source == ReorderKind {
				return true
			}
		}
	}
	return p.Every > 0 && t.N%uint64(p.Every) == 0 && s.Index.Disorder() > p.Disorder
}
