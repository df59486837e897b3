package ecs

import (
	"iter"
	"sync/atomic"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/native"
)

// The errors of this package wrap one of these; test with errors.Is.
var (
	// ErrCapacity: no free slot, tag, column or name of blobs is left, a blob is too
	// large, or a snapshot has more rows than the world.
	ErrCapacity = fault.ErrCapacity
	// ErrNotFinite: NaN or infinity in a checked write.
	ErrNotFinite = fault.ErrNotFinite
	// ErrRange: a capacity, name or number outside its documented range.
	ErrRange = fault.ErrRange
	// ErrStale: an id whose entity is gone, or never existed.
	ErrStale = fault.ErrStale
	// ErrCorrupt: a snapshot or a textual id that is truncated or altered, or no snapshot or id at all.
	ErrCorrupt = fault.ErrCorrupt
	// ErrUnsupported: a snapshot of another format version, a column that two
	// sides have in different types, or one of a type that no column can have.
	ErrUnsupported = fault.ErrUnsupported
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
	// Previous keeps a second copy of the transforms, 40 bytes a row: see World.Previous.
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
// Position, Rotation and Scale may be read and written at any live slot. Their slices belong to the
// world: never assign other slices to the fields, since the world would still hash and save its own.
type World struct {
	Position Vec3 // metres
	Rotation Quat // (0, 0, 0, 1) is no rotation
	Scale    Vec3 // factors

	ids   []ID // by slot; 0: free
	live  slotSet
	table idTable
	count int // live entities
	high  int // rows ever used

	columns    []*column
	views      []ColumnView // of columns
	byName     []*column
	registered []*column // those that the program has handles to
	kept       []*column // the others, which only a snapshot brought
	resets     resetLists

	tags       []*tagSet
	tagsByName []*tagSet

	blobs       []*Blobs
	blobsByName []*Blobs

	onSpawn         observers
	onDespawn       observers
	onReorder       functions[func([]Slot)]
	bindings        []releaser
	releasing       bool
	despawnWatchers int        // observers and bindings that notifyDespawns calls, and len(blobs)
	despawning      slotBatch  // what despawnMarked works on; empty in between
	setInDespawn    bool       // an entity in despawning was given a tag that is observed
	rounds          int        // of observers, within each other
	selections      [][]uint64 // scratch of changeSelected, one for each that ran within another

	lists     uint16   // Commands made
	applies   uint64   // calls of Apply
	cancelled []uint64 // scratch of Apply: see wouldDespawn

	previous *Transforms // nil without Config.Previous
	jumped   []uint64    // nil without Config.Previous

	// changes counts every change that a query could see, so that a query knows
	// when its matches are out of date.
	changes    uint64
	touches    uint64 // of columns
	holding    bool   // touches are only noted: see HoldTouches
	generation uint64

	pending    pendingState // what Prepare and CopyFrom work on; empty in between
	reordering reorderScratch

	// locks counts the iterations and calls during which no entity may come or go.
	// Several goroutines may iterate at once.
	locks atomic.Int32
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
		ids:        make([]ID, c.Capacity),
		live:       newSlotSet(c.Capacity),
		table:      newIDTable(),
		despawning: slotBatch{words: make([]uint64, words(c.Capacity))},
	}
	w.addBuiltIn()
	if c.Previous {
		w.previous = NewTransforms(c.Capacity)
		w.jumped = make([]uint64, words(c.Capacity))
	}
	return w, nil
}

// Len returns the number of entities alive.
func (w *World) Len() int { return w.count }

// Cap returns the number of rows: the length of every column.
func (w *World) Cap() int { return len(w.ids) }

// HighWater returns the number of rows ever used. Every live slot is below it, so a kernel
// runs over [0, HighWater). It never falls, except by a Restore or a Reorder.
func (w *World) HighWater() int { return w.high }

// Version returns the number of spawns and despawns in the life of the world, including the time before
// its snapshot. Code that keeps something derived from the live slots, such as a spatial index, compares
// both Version and Generation, of which one changes whenever the set of live slots does: a Restore can
// change everything and still result in an equal Version, and a Reorder leaves it. Writes to columns are
// not counted.
func (w *World) Version() uint64 {
	// Each id was spawned once, and despawned once unless it is alive.
	return 2*(w.table.next-1) - uint64(w.count)
}

// LastTouch returns the version of the column that was touched last. Versions are counted over all
// columns and Blobs of a world. So an index, a renderer or any other copy of columns keeps one number: the
// columns with a greater Version were written since. SetPosition and similar calls touch by themselves;
// code that writes to a column directly calls Touch when done. Spawning, which resets a row, changes
// World.Version instead. Versions are state: a Restore restores the saved ones, and changes Generation.
func (w *World) LastTouch() uint64 { return w.touches }

// Generation returns how often Restore or CopyFrom replaced the state of this World, or Reorder moved
// its rows: while it and Version stay the same, each entity is in the same slot. It belongs to the
// process: no snapshot and no hash includes it.
func (w *World) Generation() uint64 { return w.generation }

// Slot returns the row of an entity, which stays the same until it is despawned, or a Reorder moves
// it. It reports false for an id that is stale, or was never issued.
func (w *World) Slot(id ID) (Slot, bool) { return w.table.slot(id) }

// ID returns the entity in a slot. It reports false for a free slot, and for
// one outside the capacity.
func (w *World) ID(slot Slot) (ID, bool) {
	if uint(slot) >= uint(len(w.ids)) {
		return 0, false
	}
	id := w.ids[slot]
	return id, id != 0
}

// LiveSlots returns the slots of all entities, ascending, in the memory of dst
// if they fit: pass the previous result to allocate nothing.
func (w *World) LiveSlots(dst []Slot) []Slot {
	return native.RowsOf(dst, w.live.levels[0][:words(w.high)])
}

// LiveMask returns the set of live slots as a bitmap, for kernels and indexes: bit
// s%64 of word s/64 is slot s, and there is a bit for each row. It is the memory of
// the world itself: only read it. It changes as entities come and go.
func (w *World) LiveMask() []uint64 { return w.live.levels[0] }

// IDs yields the entities in the order of their creation. The body may spawn
// and despawn: an entity is visited if it was there at the beginning and is
// still alive when its turn comes. A Restore or Reorder in the body ends the iteration.
func (w *World) IDs() iter.Seq[ID] {
	return func(yield func(ID) bool) {
		generation := w.generation
		w.table.each(func(id ID) bool { return yield(id) && w.generation == generation })
	}
}
