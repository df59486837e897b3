package physics

import (
	"fmt"

	"github.com/evertick/evertick/internal/buffer"
	"github.com/evertick/evertick/internal/check"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/frame"
	"github.com/evertick/evertick/internal/handle"
	"github.com/evertick/evertick/internal/material"
	"github.com/evertick/evertick/internal/rigid"
	"github.com/evertick/evertick/internal/sleep"
	"github.com/evertick/evertick/internal/tuning"
	"github.com/evertick/evertick/internal/wire"
)

// Restore replaces the state by that of a snapshot, which may come from a world of another
// capacity, level or number of workers. Handles from before the snapshot
// refer to its bodies, shapes and joints; discard later handles. There are no
// events until the next step. A world that an error of Step has stopped works again.
//
// Data that is truncated, altered or inconsistent is ErrCorrupt. Data of another format version, or of a world with
// other rules (Plane, SubSteps, and the numbers for contacts and joints in Config), is ErrUnsupported; DisableSleep and
// DisableContinuous may differ. Data with more rows than fit, or a slot beyond Config.Slots, is ErrCapacity. The world is
// then unchanged, and Restore has used memory in proportion to len(data) at most. Another engine is ErrUnsupported.
func (w *World) Restore(data []byte) error {
	if err := w.Prepare(data); err != nil {
		return err
	}
	w.Commit()
	return nil
}

// Prepare does the part of Restore that can fail, with the same errors, and changes nothing.
// Commit does the rest; Discard drops it. Use it to restore a world together
// with other things, all or none. The bytes of data must not change before Commit or Discard.
func (w *World) Prepare(data []byte) error {
	if err := w.engine.require(); err != nil {
		return err
	}
	w.Discard()
	if err := w.decode(data); err != nil {
		w.Discard()
		return err
	}
	w.prepared.prepared = true
	return nil
}

// Commit replaces the state by the prepared one, of Prepare or PrepareCopy. It panics if there is none.
func (w *World) Commit() {
	if w.prepared == nil || !w.prepared.prepared {
		panic("physics: Commit without Prepare")
	}
	im := w.prepared
	if im.src != nil {
		parts.Copy(w, im.src)
	} else {
		parts.Restore(w, im)
	}
	w.resetDerived()
	switch {
	case im.hasEvents && im.src != nil:
		eventLists.Copy(&w.solver.events, &im.src.solver.events)
	case im.hasEvents:
		w.solver.events, im.events = im.events, w.solver.events
	}
	w.Discard()
}

// Discard drops the prepared state, if any.
func (w *World) Discard() {
	if w.prepared != nil {
		w.prepared.forget()
	}
}

// snapshotImage is a checked snapshot, or another world.
type snapshotImage struct {
	frame.Decoder
	prepared                               bool
	src                                    *World // nil: a snapshot
	events                                 Events // of a snapshot, if hasEvents
	eventReader                            wire.Reader
	hasEvents                              bool
	gravity                                [2]float32
	rows, shapes, seen, vertices, contacts int
	steps                                  uint64
	w                                      *World // to be replaced

	bodyFrame, shapeFrame, contactFrame, baseFrame []byte
	sleep                                          sleep.Image
	made                                           []madeShape
	digested                                       []byte // scratch
	joints                                         jointImage
	chains                                         []chainRow
	chainGenerations                               []uint32
	pairs                                          []uint64
	tuning                                         tuning.Tuning
	masses                                         handle.Sparse[MassData]
	switches                                       switches
	materialPairs                                  material.Pairs
	origin                                         [2]float64
}

// madeShape is a shape as it was created; Count 0: none.
type madeShape struct {
	rigid.Shape
	def    ShapeDef
	body   uint32
	smooth rigid.ChainSegment
}

const snapshotName = "physics: snapshot: "

// forget drops the snapshot, and keeps the memory for the next one.
func (im *snapshotImage) forget() {
	j := &im.joints
	clear(im.chains) // the points belong to the world now
	*im = snapshotImage{
		events: im.events, made: im.made[:0], digested: im.digested, chains: im.chains[:0], chainGenerations: im.chainGenerations[:0],
		pairs: im.pairs[:0], masses: im.masses[:0], materialPairs: im.materialPairs[:0],
		joints: jointImage{bodies: j.bodies[:0], rows: j.rows[:0], impulses: j.impulses[:0]},
	}
}

// decode checks a snapshot and stores it in w.prepared.
func (w *World) decode(data []byte) error {
	d, err := frame.NewDecoder(data, snapshotName, snapshotMagic, snapshotVersion)
	if w.prepared == nil {
		w.prepared = new(snapshotImage)
	}
	im := w.prepared
	im.Decoder, im.w = d, w
	if err == nil {
		err = parts.Check(im, &im.Decoder)
	}
	return err
}

func (im *snapshotImage) readHeader(b []byte) error {
	w := im.w
	if len(b) != headerBytes {
		return im.Corrupt("length of the header", len(b))
	}
	if err := w.config.checkRules(snapshotName, func(i int) uint32 { return wire.U32At(b, i) }); err != nil {
		return err
	}
	r := wire.NewReader(b[rulesBytes:])
	r.F32s(im.gravity[:])
	if !check.InRange(im.gravity[0]) || !check.InRange(im.gravity[1]) {
		return im.Corrupt("gravity", im.gravity)
	}
	for _, f := range []struct {
		name string
		to   *int
		most int
	}{
		{"rows", &im.rows, MaxCapacity}, {"shapes", &im.shapes, maxShapes}, {"seen", &im.seen, maxShapes},
		{"vertices", &im.vertices, maxShapes * rigid.MaxVertices}, {"contacts", &im.contacts, maxContacts},
	} {
		v := r.U32()
		if v > uint32(f.most) {
			return im.Corrupt(f.name, v)
		}
		*f.to = int(v)
	}
	im.steps = r.U64()
	if im.seen > im.shapes {
		return im.Corrupt("seen", im.seen)
	}
	if im.rows > w.Cap() {
		return fault.Field(ErrCapacity, snapshotName+"rows", im.rows)
	}
	return nil
}

// maxContacts bounds the number that a snapshot may claim: twice broad.MaxPairs for each shape would
// not fit an address space of 32 bits.
const maxContacts = 1<<31/contactBytes - 1

// The columns of the frames, by their offsets in bytes a row.
func (im *snapshotImage) bodyColumn(offset, size int) []byte {
	return im.bodyFrame[offset*im.rows:][:size*im.rows]
}

func (im *snapshotImage) shapeColumn(offset, size int) []byte {
	return im.shapeFrame[offset*im.shapes:][:size*im.shapes]
}

func (im *snapshotImage) slots() []byte       { return im.bodyColumn(4*22, 4) }
func (im *snapshotImage) generations() []byte { return im.bodyColumn(4*23, 4) }
func (im *snapshotImage) types() []byte       { return im.bodyColumn(4*24, 1) }
func (im *snapshotImage) flags() []byte       { return im.bodyColumn(4*24+1, 1) }

func (im *snapshotImage) readBodies(b []byte) error {
	if len(b) != bodyBytes*im.rows {
		return im.Corrupt("length of the bodies", len(b))
	}
	im.bodyFrame = b
	generation, types, slots := im.generations(), im.types(), im.slots()
	for i, f := range im.flags() {
		alive, slot := f&aliveFlag != 0, wire.U32At(slots, i)
		switch {
		case f&FlagAsleep != 0 && (!alive || f&FlagDisabled != 0 || types[i] == byte(StaticBody)):
			return im.CorruptElement("flags of body", i, f)
		case types[i] > byte(DynamicBody):
			return im.CorruptElement("type of body", i, types[i])
		case alive && wire.U32At(generation, i) == 0:
			return im.CorruptElement("generation of body", i, 0)
		case im.w.slotOutOfRange(slot):
			return fault.Element(fault.ErrBeyond, snapshotName+"slot of body", i, slot)
		}
	}
	return nil
}

// readShapes checks which body each shape belongs to.
func (im *snapshotImage) readShapes(b []byte) error {
	if len(b) != shapeBytes*im.shapes+4*im.seen {
		return im.Corrupt("length of the shapes", len(b))
	}
	im.shapeFrame = b
	flags, kinds := im.flags(), im.shapeColumn(8, 1)
	generation, bodies := im.shapeColumn(0, 4), im.shapeColumn(4, 4)
	vertices := 0
	for i, kind := range kinds {
		body, n := wire.U32At(bodies, i), int(kind&^sensorFlag)
		vertices += n
		switch {
		case n > rigid.MaxVertices || kind == sensorFlag:
			return im.CorruptElement("kind of shape", i, kind)
		case n == 0 && body == NoSlot:
			continue
		case n == 0 || uint64(body) >= uint64(im.rows) || flags[body]&aliveFlag == 0:
			return im.CorruptElement("body of shape", i, body)
		case wire.U32At(generation, i) == 0:
			return im.CorruptElement("generation of shape", i, 0)
		}
	}
	if vertices != im.vertices {
		return im.Corrupt("vertices", im.vertices)
	}
	return nil
}

// readVertices makes the shapes from their vertices.
func (im *snapshotImage) readVertices(rest []byte) error {
	if len(rest) != vertexBytes*im.vertices {
		return im.Corrupt("length of the vertices", len(rest))
	}
	im.made = buffer.Resized(im.made, im.shapes)
	clear(im.made)
	for i := range im.made {
		m, n := &im.made[i], int(im.shapeColumn(8, 1)[i]&^sensorFlag)
		if n == 0 {
			continue
		}
		var points [rigid.MaxVertices]rigid.Vec
		for k := range n {
			points[k] = rigid.Vec{X: wire.F32At(rest, 2*k), Y: wire.F32At(rest, 2*k+1)}
		}
		rest = rest[vertexBytes*n:]
		m.body, m.def = wire.U32At(im.shapeColumn(4, 4), i), im.shapeDef(i)
		err := m.def.Validate()
		if err == nil && !im.w.sameShape(i, points[:n], wire.F32At(im.shapeColumn(9, 4), i), &m.Shape) {
			m.Shape, err = makeShape(points[:n], wire.F32At(im.shapeColumn(9, 4), i))
		}
		if err != nil {
			return fmt.Errorf("%w: %v", im.CorruptElement("shape", i, n), err)
		}
	}
	return nil
}

// sameShape reports whether the present shape i of the world has these vertices. If so, it copies the shape
// to to, which saves making it again.
func (w *World) sameShape(i int, points []rigid.Vec, radius float32, to *rigid.Shape) bool {
	t := &w.solver.shapes
	if i >= len(t.local) {
		return false
	}
	r := &t.local[i]
	if int(r.Count) != len(points) || bitsDiffer(r.Radius, radius) {
		return false
	}
	for k, p := range points {
		if bitsDiffer(p.X, r.Vertices[k].X) || bitsDiffer(p.Y, r.Vertices[k].Y) {
			return false
		}
	}
	*to = *r
	return true
}

// makeShape makes a shape of its vertices.
func makeShape(points []rigid.Vec, radius float32) (rigid.Shape, error) {
	switch {
	case len(points) == 1:
		return rigid.MakeCircle(points[0], radius)
	case len(points) > 2:
		return rigid.MakePolygon(points, radius)
	case radius == 0:
		return rigid.MakeSegment(points[0], points[1])
	}
	return rigid.MakeCapsule(points[0], points[1], radius)
}

func (im *snapshotImage) shapeDef(i int) ShapeDef {
	const first = 4 + 4 + 1 + 4 // bytes before density
	coefficient := func(k int) float32 { return wire.F32At(im.shapeColumn(first+4*k, 4), i) }
	const category = first + 5*4
	return ShapeDef{
		Density: coefficient(0), Friction: coefficient(1), Restitution: coefficient(2),
		RollingResistance: coefficient(3), TangentSpeed: coefficient(4),
		Filter: Filter{
			Category: wire.U64At(im.shapeColumn(category, 8), i),
			Mask:     wire.U64At(im.shapeColumn(category+8, 8), i),
			Group:    int32(wire.U32At(im.shapeColumn(category+16, 4), i)),
		},
		Sensor: im.shapeColumn(8, 1)[i]&sensorFlag != 0,
	}
}

func (im *snapshotImage) readContacts(b []byte) error {
	if len(b) != contactBytes*im.contacts {
		return im.Corrupt("length of the contacts", len(b))
	}
	im.contactFrame = b
	return im.checkEachContact("contact", im.contactFrame, rigid.FlagBase)
}

// checkEachContact allows flags to contacts with two points.
func (im *snapshotImage) checkEachContact(what string, contacts []byte, allowed uint32) error {
	lastA, lastB := uint32(0), uint32(0)
	for i := range len(contacts) / contactBytes {
		b := contacts[contactBytes*i:][:contactBytes]
		shapeA, shapeB, points, flags := wire.U32At(b, 0), wire.U32At(b, 1), wire.U32At(b, 2), wire.U32At(b, 3)
		ascends := shapeA > lastA || shapeA == lastA && shapeB > lastB
		lastA, lastB = shapeA, shapeB
		if points > 0 {
			flags &^= faceTurned
		}
		switch {
		case shapeA >= shapeB || uint64(shapeB) >= uint64(im.seen) || i > 0 && !ascends:
			return im.CorruptElement("shapes of "+what, i, [2]uint32{shapeA, shapeB})
		case points > 2 || flags&^(sensorA|sensorB) != 0 && (flags != passThrough || points == 0) && (flags&^allowed != 0 || points < 2):
			return im.CorruptElement("points and flags of "+what, i, [2]uint32{points, flags})
		}
		for _, k := range [...]int{4, 5, 6, 8, 9} {
			if v := wire.F32At(b, k); !fault.Finite(v) {
				return im.CorruptElement("impulse of "+what, i, v)
			}
		}
	}
	return nil
}

func (w *World) restoreHeader(im *snapshotImage) {
	w.config.Gravity = im.gravity
	w.solver.sys.Gravity, w.solver.steps = vecOf(im.gravity), im.steps
}

func (w *World) restoreBodies(im *snapshotImage) {
	c, before := &w.cols, w.Rows()
	for i, nc := range c.floatColumns() {
		frame.ReadRows((*nc.column)[:im.rows], im.bodyColumn(4*i, 4), 4)
	}
	for i, column := range w.lastSync.columns() {
		frame.ReadRows((*column)[:im.rows], im.bodyColumn(4*(18+i), 4), 4)
	}
	frame.ReadRows(c.Slot[:im.rows], im.slots(), 4)
	frame.ReadRows(c.Type[:im.rows], im.types(), 1)
	w.bodies.Reset(im.rows)
	frame.ReadRows(w.bodies.Generation, im.generations(), 4)
	for i, f := range im.flags() {
		c.Flags[i], c.Alive[i] = f&^aliveFlag, f>>7
		w.bodies.SetLive(i, f&aliveFlag != 0)
	}
	for i := range max(im.rows, before) {
		if i >= im.rows || c.Alive[i] == 0 {
			c.clear(i)
			w.lastSync.clear(i)
		}
	}
	w.solver.rows = im.rows
}

func (w *World) restoreShapes(im *snapshotImage) {
	s, t := w.solver, &w.shapes
	s.shapes.reset()
	t.Reset(im.shapes)
	frame.ReadRows(t.IDs.Generation, im.shapeColumn(0, 4), 4)
	s.lastGenerations = buffer.Resized(s.lastGenerations, im.seen)
	frame.ReadRows(s.lastGenerations, im.shapeFrame[shapeBytes*im.shapes:], 4)
	for i := range im.made {
		m := &im.made[i]
		t.IDs.SetLive(i, m.Count > 0)
		s.shapes.reach(i)
		if m.Count == 0 {
			continue
		}
		body := int(m.body)
		s.shapes.put(i, body, &m.def, &m.Shape)
		s.shapes.setSmooth(i, m.smooth)
		s.shapes.filters.Moves[i] = w.cols.Type[body] != StaticBody
		s.addToScene(body, i)
		t.Digest[i] = s.shapes.digest(i)
		t.Link(i, body)
	}
	s.updateAllExtents()
}

func (w *World) restoreContacts(im *snapshotImage) {
	s := w.solver
	s.contacts, s.omittedPairs, s.pairsKnown = buffer.Resized(s.contacts, im.contacts), 0, false
	frame.ReadRows(s.contacts, im.contactFrame, 4)
}

// resetDerived resets what depends on the replaced state.
func (w *World) resetDerived() {
	s := w.solver
	w.slots.Rebuild(w.cols.Slot[:s.rows])
	s.events.clear()
	s.sys.Hits = s.sys.Hits[:0]
	s.kept.Forget()
	s.stages.Hashes.Clear()
	w.teleports.Clear()
	s.countPassing()
	s.disabledBodies, s.lockedBodies = 0, 0
	for _, f := range w.cols.Flags[:s.rows] {
		if f&FlagDisabled != 0 {
			s.disabledBodies++
		}
		s.lockedBodies += hasLock(f)
	}
	w.failed = nil
}
