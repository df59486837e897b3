package physics

import (
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/frame"
	"github.com/evertick/evertick/internal/handle"
)

// maxShapes and maxJoints bound the shapes and the joints of a world; maxShapes is native.MaxSlots.
const (
	maxShapes = 1 << 24
	maxJoints = 1 << 24
)

// World holds bodies, their shapes, and joints. It is not safe for concurrent use.
type World struct {
	config   Config
	engine   engine
	cols     Columns
	views    []ColumnView // of cols
	bodies   handle.Pool
	shapes   handle.Shapes
	joints   handle.Joints
	chains   chainTable
	lastSync syncedPoses
	slots    handle.Slots
	origin   [2]float64 // the sum of all shifts
	failed   error      // set permanently when the state of the engine is lost
	solver   *solver    // the engine, or one that is never opened and stays empty: see external

	// Copies of the definitions that the engine gets, so that a call does not allocate.
	bodyDef  BodyDef
	shapeDef ShapeDef

	lists, applies uint64 // numbers of NewCommands and of Apply so far
	dryRun         dryRun

	teleports handle.SlotSet // of created and teleported bodies

	prepared *snapshotImage // the result of Prepare, or only its memory
	encoder  frame.Encoder  // of Snapshot
	hashes   []ColumnHash   // scratch of Hash
}

// New returns an empty world. Errors are those of Config.Validate and of
// the engine.
func New(c Config) (*World, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if c.Capacity == 0 {
		c.Capacity = DefaultCapacity
	}
	if c.Workers == 0 {
		c.Workers = 1
	}
	if c.Engine == nil {
		c.fillSolver()
	}
	w := &World{
		config:   c,
		cols:     newColumns(c.Capacity),
		bodies:   handle.NewPool(c.Capacity, c.Capacity),
		shapes:   handle.NewShapes(maxShapes, c.Capacity),
		joints:   handle.NewJoints(maxJoints),
		chains:   newChainTable(),
		lastSync: newSyncedPoses(c.Capacity),
	}
	w.views = w.newViews()
	w.solver = &solver{shapeTable: &w.shapes, jointTable: &w.joints, bodies: &w.bodies}
	if w.engine = w.solver; c.Engine != nil {
		w.engine = &external{Engine: c.Engine}
	}
	if err := w.engine.Open(c, &w.cols); err != nil {
		return nil, err
	}
	return w, nil
}

// Config returns the configuration of the world, with its defaults filled in. SetGravity and SetWorkers change it, and
// Restore and CopyFrom replace Gravity, DisableSleep and DisableContinuous, which belong to the state.
func (w *World) Config() Config { return w.config }

// Len returns the number of live bodies.
func (w *World) Len() int { return w.bodies.Live() }

// Cap returns the largest number of bodies that can live at a time.
func (w *World) Cap() int { return w.config.Capacity }

// Rows returns the number of rows of the columns that were ever used. The index of every
// live body is below it.
func (w *World) Rows() int { return w.bodies.Used() }

// ShapeCount returns the number of live shapes.
func (w *World) ShapeCount() int { return w.shapes.IDs.Live() }

// ContactCount returns the number of contacts in the last step: pairs of shapes whose bounds
// overlap and of which one moves or can be moved, whether they touch or not, without those
// between sleeping bodies. It dominates the time of a step. With another engine it is 0.
func (w *World) ContactCount() int { return len(w.solver.contacts) }

// OmittedContacts returns the number of contacts that the last step left out. Where so many shapes are
// in one place that each meets hundreds of others, each keeps the contacts with the shapes created just before and after
// it; the bodies separate all the same. Contacts with static shapes have their own bound: a body keeps
// those with everything that it lies on, unless these are very many themselves. This bounds the time and the memory
// of a step; broad.Phase.FindPairs of package native has the rule. The number is 0 unless there are more than 65536
// pairs of shapes whose bounds overlap and more than 16 for each shape, or a shape has more than 256; and in a
// restored world until its next step. Pairs count even if a joint or
// IgnorePair prevents their collision; pairs whose filters prevent it do not.
func (w *World) OmittedContacts() int { return w.solver.omittedPairs }

// Columns returns the state of the bodies without copying. The slices stay valid
// and the same for the life of the world. The package comment lists those that a program may write to.
func (w *World) Columns() Columns { return w.cols }

// Valid reports whether b is a live body of this world.
func (w *World) Valid(b Body) bool { return w.bodies.Holds(b.index, b.generation) }

// ValidShape reports whether s is a live shape of this world.
func (w *World) ValidShape(s Shape) bool { return w.shapes.IDs.Holds(s.index, s.generation) }

// BodyAt returns the handle of the live body with the given index.
func (w *World) BodyAt(index int) (Body, bool) {
	if !w.bodies.Occupied(index) {
		return Body{}, false
	}
	return Body{uint32(index), w.bodies.Generation[index]}, true
}

// CreateBody makes a body without shapes. Errors are those of
// BodyDef.Validate, ErrRange for a slot beyond Config.Slots, and ErrCapacity when the
// world is full.
func (w *World) CreateBody(def BodyDef) (Body, error) {
	if w.failed != nil {
		return Body{}, w.failed
	}
	w.bodyDef = def
	if err := w.checkBodyDef(&w.bodyDef); err != nil {
		return Body{}, err
	}
	i, ok := w.bodies.Next()
	if !ok {
		return Body{}, fault.Field(ErrCapacity, "physics: Config.Capacity", w.config.Capacity)
	}
	w.cols.fill(i, &w.bodyDef)
	if err := w.engine.CreateBody(i, &w.bodyDef); err != nil {
		w.cols.clear(i)
		return Body{}, err
	}
	w.slots.Add(w.cols.Slot[i])
	w.markTeleported(i)
	return Body{uint32(i), w.bodies.Claim(i)}, nil
}

func (w *World) checkBodyDef(d *BodyDef) error {
	if err := d.Validate(); err != nil {
		return err
	}
	if d.HasSlot && w.slotOutOfRange(d.Slot) {
		return fault.Field(ErrRange, "physics: BodyDef.Slot", d.Slot)
	}
	return nil
}

// slotOutOfRange reports whether a slot is beyond Config.Slots.
func (w *World) slotOutOfRange(slot uint32) bool {
	return slot != NoSlot && w.config.Slots > 0 && slot >= uint32(w.config.Slots)
}

// DestroyBody removes b, its shapes and its joints. ErrStale if b is already destroyed.
func (w *World) DestroyBody(b Body) error {
	i, err := w.mutableRow(b)
	if err != nil {
		return err
	}
	w.engine.DestroyBody(i)
	w.chains.releaseAll(i)
	w.shapes.ReleaseAll(i)
	w.slots.Remove(w.cols.Slot[i])
	w.cols.clear(i)
	w.lastSync.clear(i)
	w.bodies.Release(i)
	return nil
}

// mutableRow returns the index of b if b may be changed now.
func (w *World) mutableRow(b Body) (int, error) {
	if w.failed != nil {
		return 0, w.failed
	}
	return w.row(b)
}

func (w *World) row(b Body) (int, error) {
	if !w.Valid(b) {
		return 0, fault.Field(ErrStale, "physics: Body", b)
	}
	return int(b.index), nil
}
