package physics3

import (
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/frame"
	"github.com/evertick/evertick/internal/handle"
	"github.com/evertick/evertick/native"
)

// maxShapes and maxJoints bound the shapes and the joints of a world; maxShapes is native.MaxSlots.
const (
	maxShapes = 1 << 24
	maxJoints = 1 << 24
)

// World holds bodies, their shapes, and the joints between them. It is not safe for concurrent use.
type World struct {
	config   Config
	cols     Columns
	views    []ColumnView // of cols
	bodies   handle.Pool
	shapes   handle.Shapes
	joints   handle.Joints
	slots    handle.Slots
	lastSync syncedPoses
	origin   [3]float64 // the sum of all shifts
	solver   *solver
	failed   error // of a step whose result is lost

	// Copies of the definitions of a call, so that it does not allocate.
	bodyDef    BodyDef
	newShape   newShape
	newJoint   newJoint
	jointBatch jointBatch

	lists, applies uint64 // numbers of NewCommands and of Apply so far
	dryRun         dryRun // its memory

	teleports handle.SlotSet // of created and teleported bodies

	prepared *snapshotImage // the result of Prepare, or only its memory
	encoder  frame.Encoder  // of Snapshot
	hashes   []ColumnHash   // scratch of Hash
}

// New returns an empty world. Errors are those of Config.Validate.
func New(c Config) (*World, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c = c.filled()
	w := &World{
		config:   c,
		cols:     newColumns(c.Capacity),
		bodies:   handle.NewPool(c.Capacity, c.Capacity),
		shapes:   handle.NewShapes(maxShapes, c.Capacity),
		joints:   handle.NewJoints(maxJoints),
		lastSync: newSyncedPoses(c.Capacity),
	}
	w.views = w.newViews()
	level, err := native.Resolve(c.Level)
	if err != nil {
		return nil, err
	}
	w.solver = newSolver(w, level)
	return w, nil
}

// Config returns the configuration of the world, with its defaults filled in. SetGravity and SetWorkers change it, and Restore and
// CopyFrom replace Gravity, DisableSleep and DisableContinuous, which belong to the state.
func (w *World) Config() Config { return w.config }

// Len returns the number of live bodies.
func (w *World) Len() int { return w.bodies.Live() }

// Cap returns the largest number of bodies that can live at a time.
func (w *World) Cap() int { return w.config.Capacity }

// Rows returns the number of rows of the columns that were ever used. The index of every live body is below it.
func (w *World) Rows() int { return w.bodies.Used() }

// ShapeCount returns the number of live shapes.
func (w *World) ShapeCount() int { return w.shapes.IDs.Live() }

// ContactCount returns the number of contacts in the last step: pairs of shapes whose bounds overlap and of which one moves or can be
// moved, whether they touch or not, without those between sleeping bodies. Pairs with a mesh, a height field or a terrain count once for each direction
// in which they touch. The number dominates the time of a step.
func (w *World) ContactCount() int { return len(w.solver.contacts) }

// OmittedContacts returns the number of contacts that the last step left out. Where so many shapes are in one place that each meets
// hundreds of others, each keeps the contacts with the shapes created just before and after it; the bodies separate all the same. The
// number is 0 unless there are more than 65536 pairs of shapes whose bounds overlap and more than 16 for each shape, or a shape has more
// than 256; and in a restored world until its next step.
func (w *World) OmittedContacts() int { return w.solver.omittedPairs }

// Columns returns the state of the bodies without copying. The slices stay valid and the same for the life of the world.
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

// CreateBody makes a body without shapes. Errors are those of BodyDef.Validate, ErrRange for a slot beyond Config.Slots, and ErrCapacity
// when the world is full.
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
		return Body{}, fault.Field(ErrCapacity, "physics3: Config.Capacity", w.config.Capacity)
	}
	w.cols.fill(i, &w.bodyDef)
	b := Body{uint32(i), w.bodies.Claim(i)}
	w.solver.createBody(i, &w.bodyDef)
	w.slots.Add(w.cols.Slot[i])
	w.markTeleported(i)
	return b, nil
}

func (w *World) checkBodyDef(d *BodyDef) error {
	if err := d.Validate(); err != nil {
		return err
	}
	if d.HasSlot && w.slotOutOfRange(d.Slot) {
		return fault.Field(ErrRange, "physics3: BodyDef.Slot", d.Slot)
	}
	return nil
}

// slotOutOfRange reports whether a slot is beyond Config.Slots.
func (w *World) slotOutOfRange(slot uint32) bool {
	return slot != NoSlot && w.config.Slots > 0 && slot >= uint32(w.config.Slots)
}

// DestroyBody removes b, its shapes and its joints. ErrStale if b is already destroyed.
func (w *World) DestroyBody(b Body) error {
	i, err := w.row(b)
	if err != nil {
		return err
	}
	w.solver.destroyBody(i)
	w.shapes.ReleaseAll(i)
	w.slots.Remove(w.cols.Slot[i])
	w.cols.clear(i)
	w.lastSync.clear(i)
	w.bodies.Release(i)
	return nil
}

// row returns the index of b, unless the world has failed.
func (w *World) row(b Body) (int, error) {
	if w.failed != nil {
		return 0, w.failed
	}
	if !w.Valid(b) {
		return 0, fault.Field(ErrStale, "physics3: Body", b)
	}
	return int(b.index), nil
}

func (w *World) createShape(b Body, n *newShape) (Shape, error) {
	body, err := w.row(b)
	if err != nil {
		return Shape{}, err
	}
	g, err := n.check()
	if err == nil {
		err = n.checkType(w.cols.Type[body])
	}
	if err != nil {
		return Shape{}, err
	}
	shape, ok := w.shapes.IDs.Next()
	if !ok {
		return Shape{}, fault.Field(ErrCapacity, "physics3: ShapeCount", w.ShapeCount())
	}
	if err := w.solver.createShape(shape, body, &n.def, g); err != nil {
		return Shape{}, err
	}
	return Shape{uint32(shape), w.shapes.Add(shape, body, g.digest(&n.def))}, nil
}

// DestroyShape removes s from its body, whose mass changes. Errors: ErrStale; and ErrRange if the velocity of the new centre of mass would
// overflow.
func (w *World) DestroyShape(s Shape) error {
	shape, err := w.shapeRow(s)
	if err != nil {
		return err
	}
	if err := w.solver.destroyShape(shape, int(w.shapes.Owner[shape])); err != nil {
		return err
	}
	w.shapes.Release(shape)
	return nil
}

// shapeRow returns the index of s, unless the world has failed.
func (w *World) shapeRow(s Shape) (int, error) {
	if w.failed != nil {
		return 0, w.failed
	}
	if !w.ValidShape(s) {
		return 0, fault.Field(ErrStale, "physics3: Shape", s)
	}
	return int(s.index), nil
}

// ShapeDef returns the present definition of s. ErrStale if s is destroyed.
func (w *World) ShapeDef(s Shape) (ShapeDef, error) {
	i, err := w.shapeRow(s)
	if err != nil {
		return ShapeDef{}, err
	}
	return w.solver.shapes.def(i), nil
}

// SetShapeDef changes the material and the filter of s from the next step on; another density changes the mass of its body. Errors:
// ErrStale; those of ShapeDef.Validate; ErrRange as when a shape is created; and ErrUnsupported for a change of Sensor.
func (w *World) SetShapeDef(s Shape, def ShapeDef) error {
	i, err := w.shapeRow(s)
	if err != nil {
		return err
	}
	if err := def.Validate(); err != nil {
		return err
	}
	t := &w.solver.shapes
	if t.sensor[i] != def.Sensor {
		return fault.Field(ErrUnsupported, "physics3: SetShapeDef: Sensor", def.Sensor)
	}
	if err := w.solver.setMaterial(i, int(w.shapes.Owner[i]), &def); err != nil {
		return err
	}
	w.shapes.Digest[i] = t.digest(i)
	return nil
}

// ShapeBody returns the body of s. ErrStale if s is destroyed.
func (w *World) ShapeBody(s Shape) (Body, error) {
	i, err := w.shapeRow(s)
	if err != nil {
		return Body{}, err
	}
	b, _ := w.BodyAt(int(w.shapes.Owner[i]))
	return b, nil
}
