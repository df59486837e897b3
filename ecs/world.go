package ecs

import (
	"iter"
	"sync/atomic"

	"github.com/evertick/evertick/internal/fault"
)

const (
	// DefaultCapacity is the capacity of a world whose Config names none.
	DefaultCapacity = 16384

	maxCapacity = 1 << 24
)

// Config describes a world. The zero value is a good one.
type Config struct {
	// Capacity is the number of rows, exactly: 1 to 1<<24, or 0 for
	// DefaultCapacity. It never changes.
	Capacity int
	// Previous keeps a second copy of the transforms, 40 bytes a row: see
	// World.Previous.
	Previous bool
}

// Validate returns ErrRange if a field is out of its range.
func (c Config) Validate() error {
	if c.Capacity < 0 || c.Capacity > maxCapacity {
		return fault.Field(ErrRange, "ecs: Config.Capacity", c.Capacity)
	}
	return nil
}

// World holds entities and their columns. Create it with New.
//
// Position, Rotation and Scale may be read and written at any live slot. Their
// slices belong to the world: never assign others to the fields, since the world
// would go on hashing and saving its own.
type World struct {
	Position Vec3 // metres
	Rotation Quat // (0, 0, 0, 1) is none
	Scale    Vec3 // factors

	ids   []ID // by slot; 0: free
	live  slotSet
	table idTable
	count int // live entities
	high  int // rows ever used

	columns []*column
	byName  []*column
	kept    []*column // those of them that the program has not added
	lanes   lanes

	tags       []*tagSet
	tagsByName []*tagSet

	onSpawn   observers
	onDespawn observers
	bindings  []holder
	releasing bool
	farewells int       // who wants to be told when an entity goes: see sayFarewell
	leaving   slotBatch // what despawnLeaving works on; empty in between

	lists   uint16   // Commands made
	applies uint64   // calls of Apply
	unborn  []uint64 // scratch of Apply

	previous *Transforms // nil: not asked for
	jumped   []uint64    // nil: not asked for

	// edits counts every change that a query could see, so that it knows when
	// the word of matches it works on is out of date.
	edits      uint64
	touches    uint64 // of columns
	holding    bool   // touches are noted only: see HoldTouches
	generation uint64

	incoming image // what Prepare and CopyFrom work on; empty in between

	// walkers counts those who walk over the live slots, and hold the world to
	// its entities meanwhile. Readers may be many at once.
	walkers atomic.Int32
}

// New returns an empty world, or the error of Config.Validate.
func New(c Config) (*World, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if c.Capacity == 0 {
		c.Capacity = DefaultCapacity
	}
	w := &World{
		ids:     make([]ID, c.Capacity),
		live:    newSlotSet(c.Capacity),
		table:   newIDTable(),
		leaving: slotBatch{words: make([]uint64, words(c.Capacity))},
	}
	w.addBuiltIn()
	if c.Previous {
		w.previous = NewTransforms(c.Capacity)
		w.jumped = make([]uint64, words(c.Capacity))
	}
	return w, nil
}

// mustBeStill stops whoever would change the set of entities below the feet of a
// query.
func (w *World) mustBeStill() {
	if w.walkers.Load() != 0 {
		panic("ecs: entities must not come or go while a query iterates, an observer is told or a handle is released: record it in Commands")
	}
}

// Len returns the number of entities alive.
func (w *World) Len() int { return w.count }

// Cap returns the number of rows: the length of every column.
func (w *World) Cap() int { return len(w.ids) }

// HighWater returns the number of rows ever used. Every live slot is below it,
// so [0, HighWater) is the range of a kernel. It never falls, except by a
// Restore.
func (w *World) HighWater() int { return w.high }

// Version returns the number of spawns and despawns in the life of the world,
// the time before its snapshot included: it moves whenever the set of live
// slots does. Whoever keeps something derived from the live slots, such as a
// spatial index, compares both Version and Generation, since a Restore can
// change everything and yet arrive at an equal Version. Writes to columns are
// not counted.
func (w *World) Version() uint64 {
	// Each id was spawned once, and despawned once unless it is alive.
	return 2*(w.table.next-1) - uint64(w.count)
}

// replaced is called when all state has been replaced.
func (w *World) replaced() {
	w.edits++
	w.generation++
	w.jumpAll()
	w.releaseGone()
}

// LastTouch returns the version of the column that was touched last. Versions are
// counted over all columns of a world, so that one number, kept by an index, a
// renderer or whoever else mirrors columns, tells what has been written since: the
// columns with a greater Version. SetPosition and its like touch; who writes to a
// column directly calls Touch when done. Spawning, which resets a row, moves
// World.Version instead. Versions are state: a Restore brings back the saved ones,
// and moves Generation.
func (w *World) LastTouch() uint64 { return w.touches }

// Generation returns how often the state of this World was replaced, by Restore or
// CopyFrom. It belongs to the process: it is in no snapshot and no hash.
func (w *World) Generation() uint64 { return w.generation }

// Spawn creates an entity in the lowest free slot and resets its row. It is
// ErrCapacity in a full world.
func (w *World) Spawn() (ID, error) {
	w.mustBeStill()
	if w.count == len(w.ids) {
		return 0, fault.Field(ErrCapacity, "ecs: Config.Capacity", len(w.ids))
	}
	slot := w.live.takeOne()
	id := w.table.issue(slot)
	w.ids[slot] = id
	if int(slot) == w.high {
		w.raise(w.high + 1)
	}
	w.lanes.resetRow(int(slot))
	if w.jumped != nil {
		w.jumped[slot>>6] |= 1 << (slot & 63)
	}
	w.count++
	w.edits++
	if len(w.onSpawn) != 0 {
		w.tell(w.onSpawn, id, slot)
	}
	return id, nil
}

// SpawnN creates len(dst) entities, as that many calls of Spawn would, and puts
// their ids into dst. If they do not all fit it is ErrCapacity and nothing,
// not even dst, is changed.
func (w *World) SpawnN(dst []ID) error {
	w.mustBeStill()
	if free := len(w.ids) - w.count; len(dst) > free {
		return fault.Field(ErrCapacity, "ecs: SpawnN len(dst)", len(dst))
	}
	for rest := dst; len(rest) > 0; {
		rest = rest[w.spawnRun(rest):]
	}
	if len(w.onSpawn) != 0 {
		for _, id := range dst {
			slot, _ := w.table.slot(id)
			w.tell(w.onSpawn, id, slot)
		}
	}
	return nil
}

// spawnRun fills a prefix of dst, as much as fits into one run of free slots,
// and returns its length.
func (w *World) spawnRun(dst []ID) int {
	slot, n := w.live.take(len(dst))
	lo, hi := int(slot), int(slot)+n
	ids := w.ids[lo:hi]
	for i := range ids {
		ids[i] = w.table.issue(slot + Slot(i))
	}
	copy(dst, ids)
	if hi > w.high {
		w.raise(hi)
	}
	w.lanes.reset(lo, hi)
	if w.jumped != nil {
		w.jumped[lo>>6] |= full >> (64 - n) << (lo & 63)
	}
	w.count += n
	w.edits++
	return n
}

// Despawn ends an entity: its id never resolves again, its tags are gone and
// its slot is free. The values in its row stay until the slot is used again. It
// reports false, and changes nothing, if there is no such entity (any more).
func (w *World) Despawn(id ID) bool {
	w.mustBeStill()
	if w.farewells != 0 {
		slot, ok := w.table.slot(id)
		if ok {
			w.leaving.add(int(slot>>6), 1<<(slot&63))
			w.despawnLeaving()
		}
		return ok
	}
	slot, ok := w.table.remove(id)
	if !ok {
		return false
	}
	w.ids[slot] = 0
	w.live.remove(int(slot>>6), 1<<(slot&63))
	for _, t := range w.tags {
		t.bits[slot>>6] &^= 1 << (slot & 63)
	}
	w.count--
	w.edits++
	return true
}

// Slot returns the row of an entity, which stays the same until it is
// despawned. It reports false for an id that is stale, or was never issued.
func (w *World) Slot(id ID) (Slot, bool) { return w.table.slot(id) }

// ID returns the entity in a slot. It reports false for a free slot, and for
// one outside the capacity.
func (w *World) ID(slot Slot) (ID, bool) {
	if int(slot) >= len(w.ids) {
		return 0, false
	}
	id := w.ids[slot]
	return id, id != 0
}

// LiveSlots returns the slots of all entities, ascending, in the memory of dst
// if they fit: pass the previous result to allocate nothing.
func (w *World) LiveSlots(dst []Slot) []Slot {
	return slotsOf(w.live.levels[0][:words(w.high)], dst)
}

// LiveMask returns the set of live slots as a bitmap, for kernels and indexes: bit
// s%64 of word s/64 is slot s, and there is a bit for each row. It is the memory of
// the world itself: it is to be read only, and changes as entities come and go.
func (w *World) LiveMask() []uint64 { return w.live.levels[0] }

// IDs yields the entities in the order of their creation. The body may spawn
// and despawn: an entity is visited if it was there at the beginning and is
// still alive when its turn comes. A Restore in the body ends the iteration.
func (w *World) IDs() iter.Seq[ID] {
	return func(yield func(ID) bool) {
		generation := w.generation
		w.table.each(func(id ID) bool { return yield(id) && w.generation == generation })
	}
}
