package evertick

import (
	"errors"

	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/physics"
)

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

// Validate returns an error that wraps ErrRange for each field out of its range.
func (p ReorderPolicy) Validate() error {
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
