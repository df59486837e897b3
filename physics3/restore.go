package physics3

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"unsafe"

	"github.com/evertick/evertick/internal/buffer"
	"github.com/evertick/evertick/internal/check"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/frame"
	"github.com/evertick/evertick/internal/handle"
	"github.com/evertick/evertick/internal/rigid3"
	"github.com/evertick/evertick/internal/sleep"
	"github.com/evertick/evertick/internal/tuning"
	"github.com/evertick/evertick/internal/wire"
)

// Restore replaces the state by that of a snapshot, which may come from a world of another capacity, level or number of workers. Handles from before
// the snapshot refer to its bodies, shapes and joints; discard later handles. There are no events until the next step.
//
// Data that is truncated, altered or inconsistent is ErrCorrupt. Data of another format version, or of a world with other rules (SubSteps, and the
// numbers for contacts and joints in Config), is ErrUnsupported; DisableSleep and DisableContinuous may differ. Data with more rows than fit, or a slot beyond Config.Slots, is
// ErrCapacity. The world is then unchanged, and Restore has used memory in proportion to len(data) at most.
func (w *World) Restore(data []byte) error {
	if err := w.Prepare(data); err != nil {
		return err
	}
	w.Commit()
	return nil
}

// Prepare does the part of Restore that can fail, with the same errors, and changes nothing. Commit does the rest; Discard drops it. Use it to restore a
// world together with other things, all or none. The bytes of data must not change before Commit or Discard.
func (w *World) Prepare(data []byte) error {
	w.Discard()
	d, err := frame.NewDecoder(data, snapshotName, snapshotMagic, snapshotVersion)
	im := w.image()
	im.Decoder = d
	if err == nil {
		err = parts.Check(im, &im.Decoder)
	}
	if err != nil {
		w.Discard()
		return err
	}
	im.prepared = true
	return nil
}

// image returns the memory of what is prepared.
func (w *World) image() *snapshotImage {
	if w.prepared == nil {
		w.prepared = &snapshotImage{w: w}
	}
	return w.prepared
}

// Commit replaces the state by the prepared one, of Prepare or PrepareCopy. It panics if there is none.
func (w *World) Commit() {
	im := w.prepared
	if im == nil || !im.prepared {
		panic("physics3: Commit without Prepare")
	}
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
	if im := w.prepared; im != nil {
		clear(im.hulls)
		clear(im.surfaces)
		clear(im.made)
		j := &im.joints
		joints := jointImage{bodies: j.bodies[:0], rows: j.rows[:0], kept: j.kept[:0]}
		*im = snapshotImage{w: w, joints: joints, events: im.events, hulls: im.hulls[:0], surfaces: im.surfaces[:0], made: im.made[:0], pairs: im.pairs[:0], masses: im.masses[:0]}
	}
}

// snapshotImage is a checked snapshot, or another world.
type snapshotImage struct {
	frame.Decoder
	w           *World // to be replaced
	prepared    bool
	src         *World // nil: a snapshot
	events      Events // of a snapshot, if hasEvents
	eventReader wire.Reader
	hasEvents   bool

	gravity                                 [3]float32
	rows, shapes, seen, hullCount, contacts int
	surfaceCount                            int
	touching, resting                       int // contacts with surfaces
	steps                                   uint64
	sleepFirst, sleepNow, sleepOn           bool
	continuousFirst, continuousNow          bool
	shapesStay                              bool // they are those of the world
	bodyFrame, shapeFrame, contactFrame     []byte
	baseFrame, touchFrame                   []byte
	hulls                                   []*Hull
	surfaces                                []surface
	made                                    []madeShape
	pairs                                   []uint64
	tuning                                  tuning.Tuning
	subStepRate                             float32
	masses                                  handle.Sparse[MassData]
	thresholds                              sleep.Image
	origin                                  [3]float64
	joints                                  jointImage
}

// madeShape is a shape as it was created; Kind 0: none.
type madeShape struct {
	geometry
	def  ShapeDef
	body uint32
}

const snapshotName = "physics3: snapshot: "

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
	if !inRange(vecOf(im.gravity)) {
		return im.Corrupt("gravity", im.gravity)
	}
	for _, f := range []struct {
		name string
		to   *int
		most int
	}{
		{"rows", &im.rows, MaxCapacity}, {"shapes", &im.shapes, maxShapes}, {"seen", &im.seen, maxShapes}, {"hulls", &im.hullCount, maxShapes},
		{"contacts", &im.contacts, maxContacts}, {"surfaces", &im.surfaceCount, maxShapes},
	} {
		v := r.U32()
		if v > uint32(f.most) {
			return im.Corrupt(f.name, v)
		}
		*f.to = int(v)
	}
	im.steps = r.U64()
	switches := r.U8()
	im.sleepFirst, im.sleepNow, im.sleepOn = switches&1 != 0, switches&2 != 0, switches&4 != 0
	im.continuousFirst, im.continuousNow = switches&8 != 0, switches&16 != 0
	switch {
	case im.seen > im.shapes:
		return im.Corrupt("seen", im.seen)
	case switches > 31 || switches&3 != 0 && !im.sleepOn:
		return im.Corrupt("switches", switches)
	case im.rows > w.Cap():
		return fault.Field(ErrCapacity, snapshotName+"rows", im.rows)
	}
	return nil
}

// maxContacts bounds the number that a snapshot may claim, so that its size fits an address space of 32 bits.
const maxContacts = 1<<31/contactBytes - 1

// The columns of the frames, by their offsets in bytes a row.
func (im *snapshotImage) bodyColumn(offset, size int) []byte {
	return im.bodyFrame[offset*im.rows:][:size*im.rows]
}

func (im *snapshotImage) shapeColumn(offset, size int) []byte {
	return im.shapeFrame[offset*im.shapes:][:size*im.shapes]
}

const afterFloats = 4 * (floatColumns + syncedColumns) // bytes a body

func (im *snapshotImage) slots() []byte       { return im.bodyColumn(afterFloats, 4) }
func (im *snapshotImage) generations() []byte { return im.bodyColumn(afterFloats+4, 4) }
func (im *snapshotImage) types() []byte       { return im.bodyColumn(afterFloats+8, 1) }
func (im *snapshotImage) locks() []byte       { return im.bodyColumn(afterFloats+9, 1) }
func (im *snapshotImage) flags() []byte       { return im.bodyColumn(afterFloats+10, 1) }

func (im *snapshotImage) readBodies(b []byte) error {
	if len(b) != bodyBytes*im.rows {
		return im.Corrupt("length of the bodies", len(b))
	}
	im.bodyFrame = b
	generation, types, slots, locks := im.generations(), im.types(), im.slots(), im.locks()
	for i, f := range im.flags() {
		alive, slot := f&aliveFlag != 0, wire.U32At(slots, i)
		switch {
		case f&FlagAsleep != 0 && (!alive || f&FlagDisabled != 0 || types[i] == byte(StaticBody) || !im.sleepNow):
			return im.CorruptElement("flags of body", i, f)
		case f&^(aliveFlag|2*FlagAsleep-1) != 0:
			return im.CorruptElement("flags of body", i, f)
		case locks[i] >= 2*LockRotationZ:
			return im.CorruptElement("locks of body", i, locks[i])
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

// readContents makes the hulls and the surfaces, except for those that the world has at the same number.
func (im *snapshotImage) readContents(b []byte) error {
	r := wire.NewReader(b)
	err := im.readHulls(&r)
	if err == nil {
		err = im.readSurfaces(&r)
	}
	if err == nil && (r.Err() != nil || r.Len() != 0) {
		err = im.Corrupt("length of the hulls", len(b))
	}
	return err
}

func (im *snapshotImage) readHulls(r *wire.Reader) error {
	if im.hullCount > r.Len()/4 {
		return im.Corrupt("hulls", im.hullCount)
	}
	for i := range im.hullCount {
		n := int(r.U32())
		if n == 0 && r.Err() == nil {
			im.hulls = append(im.hulls, nil)
			continue
		}
		radius := r.F32()
		if n < 0 || n > MaxHullVertices || 12*n > r.Len() { // an int may have 32 bits
			return im.CorruptElement("vertices of hull", i, n)
		}
		known := &im.w.solver.contents
		known.vertices = slices.Grow(known.vertices[:0], n)[:n]
		h, err := known.sameHull(i, frame.ReadRows(known.vertices, r.Bytes(12*n), 4), radius)
		if err == nil && h.NumVertices() != n {
			err = fault.Field(ErrRange, "number of vertices", n)
		}
		if err != nil {
			return fmt.Errorf("%w: %v", im.CorruptElement("hull", i, n), err)
		}
		im.hulls = append(im.hulls, h)
	}
	return nil
}

// sameHull returns the hull of a number if it has this content, or else makes one.
func (t *contents) sameHull(i int, points [][3]float32, radius float32) (*Hull, error) {
	if t.hulls.has(i) && t.hulls.items[i].hasContent(points, radius) {
		return t.hulls.items[i], nil
	}
	return NewHull(points, HullOptions{Radius: radius})
}

func (im *snapshotImage) readSurfaces(r *wire.Reader) error {
	if im.surfaceCount > r.Len() {
		return im.Corrupt("surfaces", im.surfaceCount)
	}
	for i := range im.surfaceCount {
		kind := r.U8()
		if kind == surfaceFree && r.Err() == nil {
			im.surfaces = append(im.surfaces, nil)
			continue
		}
		n := r.U32()
		if uint64(n) > uint64(r.Len()) {
			return im.CorruptElement("length of surface", i, n)
		}
		s, err := im.w.solver.sameSurface(i, kind, r.Bytes(int(n)))
		if err != nil {
			return fmt.Errorf("%w: %v", im.CorruptElement("surface", i, kind), err)
		}
		im.surfaces = append(im.surfaces, s)
	}
	return nil
}

// sameSurface returns the surface of a number if it has this encoding, or else makes one.
func (s *solver) sameSurface(i int, kind uint8, b []byte) (surface, error) {
	if t := &s.contents.surfaces; t.has(i) && t.items[i].kind() == kind && t.items[i].encodedBytes() == len(b) {
		e := frame.Encoder{Buf: slices.Grow(s.encodedShapes[:0], len(b))}
		t.items[i].encode(&e)
		s.encodedShapes = e.Buf
		if bytes.Equal(b, e.Buf) {
			return t.items[i], nil
		}
	}
	return readSurface(kind, b)
}

func (im *snapshotImage) readShapes(b []byte) error {
	if len(b) != shapeBytes*im.shapes+4*im.seen {
		return im.Corrupt("length of the shapes", len(b))
	}
	im.shapeFrame = b
	if im.shapesStay = im.w.hasShapes(b[:shapeBytes*im.shapes], im); im.shapesStay {
		return im.checkOwners()
	}
	flags, generation, bodies := im.flags(), im.shapeColumn(0, 4), im.shapeColumn(4, 4)
	im.made = buffer.Resized(im.made, im.shapes)
	clear(im.made)
	for i := range im.made {
		body, m := wire.U32At(bodies, i), &im.made[i]
		frame.ReadRows(unsafe.Slice(&m.Shape, 1), im.shapeColumn(8, geometryBytes)[geometryBytes*i:][:geometryBytes], 4)
		if m.Shape == (rigid3.Shape{}) && body == NoSlot {
			continue
		}
		switch {
		case uint64(body) >= uint64(im.rows) || flags[body]&aliveFlag == 0:
			return im.CorruptElement("body of shape", i, body)
		case wire.U32At(generation, i) == 0:
			return im.CorruptElement("generation of shape", i, 0)
		}
		m.body = body
		if err := im.makeShape(i); err != nil {
			return fmt.Errorf("%w: %v", im.CorruptElement("shape", i, m.Kind), err)
		}
	}
	hulls, surfaces := make([]bool, len(im.hulls)), make([]bool, len(im.surfaces))
	for i := range im.made {
		switch m := &im.made[i]; {
		case m.hull != nil:
			hulls[m.Hull] = true
		case m.surface != nil:
			surfaces[m.Hull] = true
		}
	}
	for i, h := range im.hulls {
		if h != nil && !hulls[i] {
			return im.CorruptElement("hull", i, "without a shape")
		}
	}
	for i, s := range im.surfaces {
		if s != nil && !surfaces[i] {
			return im.CorruptElement("surface", i, "without a shape")
		}
	}
	return nil
}

// hasShapes reports whether the shapes of the world have that encoding, with the hulls and surfaces of im. Then a restore keeps them, and what follows
// from them.
func (w *World) hasShapes(b []byte, im *snapshotImage) bool {
	s := w.solver
	if len(b) != shapeBytes*w.shapes.IDs.Used() || !slices.Equal(im.hulls, s.contents.hulls.items) || !slices.Equal(im.surfaces, s.contents.surfaces.items) {
		return false
	}
	e := frame.Encoder{Buf: s.encodedShapes[:0]}
	w.encodeShapes(&e)
	s.encodedShapes = e.Buf
	return bytes.Equal(b, e.Buf[:len(b)])
}

// checkOwners checks that the bodies of shapes live.
func (im *snapshotImage) checkOwners() error {
	flags := im.flags()
	for i, body := range im.w.shapes.Owner {
		if body != NoSlot && (uint64(body) >= uint64(im.rows) || flags[body]&aliveFlag == 0) {
			return im.CorruptElement("body of shape", i, body)
		}
	}
	return nil
}

// makeShape reads the rest of shape i.
func (im *snapshotImage) makeShape(i int) error {
	const numbers = 4 + 4 + geometryBytes // bytes a shape before them
	const filter = numbers + 8*4
	m := &im.made[i]
	float := func(offset, floats, k int) float32 {
		return wire.F32At(im.shapeColumn(numbers+4*offset, 4*floats), floats*i+k)
	}
	m.def = ShapeDef{
		Friction: float(0, 2, 0), Restitution: float(0, 2, 1), Density: float(2, 1, 0),
		RollingResistance: float(3, 2, 0), TwistResistance: float(3, 2, 1),
		TangentVelocity: [3]float32{float(5, 3, 0), float(5, 3, 1), float(5, 3, 2)},
		Filter: Filter{
			wire.U64At(im.shapeColumn(filter, 8), i), wire.U64At(im.shapeColumn(filter+8, 8), i),
			int32(wire.U32At(im.shapeColumn(filter+24, 4), i)),
		},
		UserMaterial: wire.U64At(im.shapeColumn(filter+16, 8), i),
	}
	sensor := im.shapeColumn(filter+28, 1)[i]
	if m.def.Sensor = sensor == 1; sensor > 1 {
		return fault.Field(ErrRange, "sensor", sensor)
	}
	switch {
	case m.Kind == rigid3.KindHull && uint64(m.Hull) < uint64(len(im.hulls)) && im.hulls[m.Hull] != nil:
		m.hull = im.hulls[m.Hull]
	case m.Kind == rigid3.KindSurface && uint64(m.Hull) < uint64(len(im.surfaces)) && im.surfaces[m.Hull] != nil:
		m.surface = im.surfaces[m.Hull]
	case m.Kind == rigid3.KindHull || m.Kind == rigid3.KindSurface || m.Hull != 0:
		return fault.Field(ErrRange, "hull", m.Hull)
	}
	if m.surface != nil && im.types()[m.body] == byte(DynamicBody) {
		return fault.Field(ErrRange, "surface of dynamic body", m.body)
	}
	if err := m.def.Validate(); err != nil {
		return err
	}
	return m.geometry.validate()
}

// validate checks a geometry that a snapshot has.
func (g *geometry) validate() error {
	p, q, h := arrayOf(g.Pose.P), g.Pose.Q, arrayOf(g.Half)
	err := checkCoordinates("position", p)
	if err == nil {
		err = check.Between("radius", g.Radius, 0, maxCoordinate)
	}
	if err == nil && unitRotation([4]float32{q.X, q.Y, q.Z, q.W}) != q {
		err = fault.Field(ErrRange, "rotation", q)
	}
	if err != nil {
		return err
	}
	flat := q == rigid3.Identity && g.Radius > 0
	switch g.Kind {
	case rigid3.KindSphere:
		if !flat || h != [3]float32{} {
			return fault.Field(ErrRange, "radius", g.Radius)
		}
	case rigid3.KindCapsule:
		if err := checkCoordinates("half", h); err != nil || !flat || h == [3]float32{} {
			return fault.Field(ErrRange, "half", h)
		}
	case rigid3.KindBox:
		return checkSizes("half", h)
	case rigid3.KindHull:
		if h != [3]float32{} || g.Radius != g.hull.radius {
			return fault.Field(ErrRange, "radius", g.Radius)
		}
	case rigid3.KindSurface:
		if h != [3]float32{} || g.Radius != 0 {
			return fault.Field(ErrRange, "radius", g.Radius)
		}
	default:
		return fault.Field(ErrRange, "kind", g.Kind)
	}
	return nil
}

func (im *snapshotImage) readContacts(b []byte) error {
	if len(b) != contactBytes*im.contacts {
		return im.Corrupt("length of the contacts", len(b))
	}
	im.contactFrame = b
	convex, err := im.checkEachContact("contact", b, rigid3.FlagBase)
	im.touching = im.contacts - convex
	return err
}

// checkEachContact allows flags to contacts with two points or more. It returns the number of those without a surface.
func (im *snapshotImage) checkEachContact(what string, contacts []byte, allowed uint32) (convex int, err error) {
	var last contactOrder
	for i := range len(contacts) / contactBytes {
		b := contacts[contactBytes*i:][:contactBytes]
		shapeA, shapeB, points, flags := wire.U32At(b, 0), wire.U32At(b, 1), wire.U32At(b, 2), wire.U32At(b, 3)
		withSurface := flags&rigid3.FlagSurface != 0
		if flags &^= rigid3.FlagSurface; !withSurface {
			convex++
		}
		switch {
		case shapeA >= shapeB || uint64(shapeB) >= uint64(im.seen) || !last.advance(shapeA, shapeB, withSurface):
			return convex, im.CorruptElement("shapes of "+what, i, [2]uint32{shapeA, shapeB})
		case points > MaxContactPoints || withSurface && points == 0 || flags != 0 && flags != sensorA && flags != sensorB && (flags&^allowed != 0 || points < 2):
			return convex, im.CorruptElement("points and flags of "+what, i, [2]uint32{points, flags})
		}
		for _, k := range [...]int{4, 6, 8, 10} {
			if v := wire.F32At(b, k); !fault.Finite(v) {
				return convex, im.CorruptElement("impulse of "+what, i, v)
			}
		}
		if k := wire.FirstNotFinite(b[12*4:]); k >= 0 {
			return convex, im.CorruptElement("impulse of "+what, i, wire.F32At(b, 12+k))
		}
	}
	return convex, nil
}

// contactOrder is the order of contacts: those without surfaces, each pair once, and then those with surfaces.
type contactOrder struct {
	a, b        uint32
	run         int // number of contacts of the pair so far
	withSurface bool
}

// advance reports whether a contact may follow.
func (o *contactOrder) advance(a, b uint32, withSurface bool) bool {
	last := *o
	*o = contactOrder{a, b, 1, withSurface}
	switch {
	case last.run == 0 || withSurface && !last.withSurface:
		return true
	case last.withSurface && !withSurface:
		return false
	case withSurface && a == last.a && b == last.b:
		o.run = last.run + 1
		return o.run <= rigid3.MaxSurfaceManifolds
	}
	return a > last.a || a == last.a && b > last.b
}

// readBases must come after the contacts were checked.
func (im *snapshotImage) readBases(b []byte) error {
	n := 0
	for i := range im.contacts {
		n += int(wire.U32At(im.contactFrame[contactBytes*i:], 3) & rigid3.FlagBase)
	}
	if len(b) != baseBytes*n {
		return im.Corrupt("length of the bases", len(b))
	}
	if k := wire.FirstNotFinite(b); k >= 0 {
		return im.CorruptElement("base of contact", k/baseFloats, wire.F32At(b, k))
	}
	im.baseFrame = b
	return nil
}

// alive reports whether a body of the snapshot lives.
func (im *snapshotImage) alive(body uint64) bool {
	return body < uint64(im.rows) && im.flags()[body]&aliveFlag != 0
}

func (im *snapshotImage) readPairs(b []byte) error {
	if len(b)%8 != 0 {
		return im.Corrupt("length of the pairs", len(b))
	}
	im.pairs = buffer.Resized(im.pairs, len(b)/8)
	for i := range im.pairs {
		key := wire.U64At(b, i)
		low, high := key>>32, key&0xffffffff
		if low >= high || !im.alive(high) || !im.alive(low) || i > 0 && key <= im.pairs[i-1] {
			return im.CorruptElement("pair", i, [2]uint64{low, high})
		}
		im.pairs[i] = key
	}
	return nil
}

func (im *snapshotImage) readTuning(b []byte) error {
	if len(b) < 4 {
		return im.Corrupt("length of the tuning", len(b))
	}
	b, rate := b[:len(b)-4], b[len(b)-4:]
	if err := im.tuning.Decode(&im.Decoder, b); err != nil {
		return err
	}
	if im.subStepRate = wire.F32At(rate, 0); !(im.subStepRate >= 0 && check.InRange(im.subStepRate)) {
		return im.Corrupt("rate of the sub-steps", im.subStepRate)
	}
	return nil
}

func (im *snapshotImage) readMasses(b []byte) error {
	if len(b)%massBytes != 0 {
		return im.Corrupt("length of the masses", len(b))
	}
	r := wire.NewReader(b)
	for i := range len(b) / massBytes {
		m := handle.SparseValue[MassData]{Number: r.U32(), Value: MassData{Mass: r.F32()}}
		r.F32s(m.Value.Inertia[:])
		r.F32s(m.Value.Center[:])
		if !im.alive(uint64(m.Number)) || i > 0 && m.Number <= im.masses[i-1].Number || m.Value.validate("") != nil {
			return im.CorruptElement("mass", i, m.Number)
		}
		im.masses = append(im.masses, m)
	}
	return nil
}

func (im *snapshotImage) readSleep(b []byte) error {
	if !im.sleepOn {
		if len(b) != 4*im.rows {
			return im.Corrupt("length of the sleep", len(b))
		}
		return im.thresholds.ReadThresholds(snapshotName, b)
	}
	if err := im.thresholds.Read(snapshotName, b, 4*poseColumns, contactBytes, im.flags()); err != nil {
		return err
	}
	if !im.thresholds.On {
		return im.Corrupt("length of the sleep", len(b))
	}
	convex, err := im.checkEachContact("resting contact", im.thresholds.Contacts, 0)
	im.resting = len(im.thresholds.Contacts)/contactBytes - convex
	return err
}

// readTouches must come after all contacts were checked.
func (im *snapshotImage) readTouches(b []byte) error {
	if len(b) != touchBytes*(im.touching+im.resting) {
		return im.Corrupt("length of the touches", len(b))
	}
	for i := range len(b) / touchBytes {
		if touch := b[touchBytes*i:]; wire.FirstNotFinite(touch[:3*4]) >= 0 {
			return im.CorruptElement("normal of touch", i, wire.F32At(touch, wire.FirstNotFinite(touch[:3*4])))
		}
	}
	im.touchFrame = b
	return nil
}

func (im *snapshotImage) readOrigin(b []byte) error {
	if len(b) != originBytes {
		return im.Corrupt("length of the origin", len(b))
	}
	for k := range im.origin {
		v := math.Float64frombits(wire.U64At(b, k))
		if math.Abs(v) > maxOrigin || !isOriginMultiple(v) || v == 0 && math.Signbit(v) {
			return im.CorruptElement("origin", k, v)
		}
		im.origin[k] = v
	}
	return nil
}

func (w *World) restoreHeader(im *snapshotImage) {
	s := w.solver
	w.config.Gravity, w.config.DisableSleep, w.config.DisableContinuous = im.gravity, !im.sleepFirst, !im.continuousFirst
	s.sys.Gravity, s.steps, s.sleep.Enabled = vecOf(im.gravity), im.steps, im.sleepNow
	s.continuous.enabled = im.continuousNow
}

func (w *World) restoreBodies(im *snapshotImage) {
	c, before := &w.cols, w.Rows()
	w.listDerived(im)
	for k := range floatColumns {
		frame.ReadRows(c.memory[k*c.stride:][:im.rows], im.bodyColumn(4*k, 4), 4)
	}
	for k, column := range &w.lastSync.columns {
		frame.ReadRows(column[:im.rows], im.bodyColumn(4*(floatColumns+k), 4), 4)
	}
	frame.ReadRows(c.Slot[:im.rows], im.slots(), 4)
	frame.ReadRows(c.Type[:im.rows], im.types(), 1)
	copy(c.Locks, im.locks())
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
}

// listDerived lists the bodies for which resetDerived must compute what follows from their shapes.
func (w *World) listDerived(im *snapshotImage) {
	s, c, types := w.solver, &w.cols, im.types()
	s.derived.Reset(im.rows)
	stay := im.shapesStay && slices.Equal(s.massOverrides, im.masses)
	for i, flags := range im.flags() {
		const decide = FlagFixedRotation | FlagDisabled
		if !stay || i >= w.Rows() || byte(c.Type[i]) != types[i] || c.Alive[i] != flags>>7 || (c.Flags[i]^flags)&decide != 0 {
			s.derived.Add(i)
		}
	}
}

func (w *World) restoreShapes(im *snapshotImage) {
	s, t := w.solver, &w.shapes
	if im.shapesStay {
		s.lastGenerations = buffer.Resized(s.lastGenerations, im.seen)
		frame.ReadRows(s.lastGenerations, im.shapeFrame[shapeBytes*im.shapes:], 4)
		s.shapes.version++
		return
	}
	s.shapes.reset()
	s.contents.reset()
	t.Reset(im.shapes)
	frame.ReadRows(t.IDs.Generation, im.shapeColumn(0, 4), 4)
	s.lastGenerations = buffer.Resized(s.lastGenerations, im.seen)
	frame.ReadRows(s.lastGenerations, im.shapeFrame[shapeBytes*im.shapes:], 4)
	for i, h := range im.hulls {
		s.contents.putHull(i, h)
	}
	for i, f := range im.surfaces {
		s.contents.putSurface(i, f)
	}
	for i := range im.made {
		m := &im.made[i]
		t.IDs.SetLive(i, m.Kind != 0)
		s.shapes.reach(i)
		if m.Kind == 0 {
			continue
		}
		body := int(m.body)
		switch {
		case m.hull != nil:
			s.contents.hulls.uses[m.Hull]++
		case m.surface != nil:
			s.contents.surfaces.uses[m.Hull]++
		}
		s.shapes.put(i, body, &m.def, &m.geometry, m.Shape.Mass(&s.contents.Hulls))
		t.Digest[i] = s.shapes.digest(i)
		t.Link(i, body)
	}
}

func (w *World) restoreContacts(im *snapshotImage) {
	s := w.solver
	s.contacts, s.omittedPairs, s.pairsKnown = buffer.Resized(s.contacts, im.contacts), 0, false
	frame.ReadRows(s.contacts, im.contactFrame, 4)
}

func (w *World) restoreBases(im *snapshotImage) {
	s := w.solver
	s.bases = buffer.Resized(s.bases, im.contacts)
	s.spareBases = buffer.Resized(s.spareBases, len(im.baseFrame)/baseBytes)
	frame.ReadRows(s.spareBases, im.baseFrame, 4)
	n := 0
	for i := range s.contacts {
		if s.contacts[i].Flags&rigid3.FlagBase != 0 {
			s.bases[i] = s.spareBases[n]
			n++
		}
	}
}

func (w *World) restorePairs(im *snapshotImage) { w.solver.ignoredPairs.Set(im.pairs) }

func (w *World) restoreTuning(im *snapshotImage) {
	w.solver.applyTuning(im.tuning)
	w.solver.subStepRate = im.subStepRate
}

func (w *World) restoreMasses(im *snapshotImage) {
	w.solver.massOverrides = append(w.solver.massOverrides[:0], im.masses...)
}

// restoreSleep must come after the bodies have been replaced.
func (w *World) restoreSleep(im *snapshotImage) {
	s := w.solver
	s.sleep.Restore(&im.thresholds)
	r := &s.sleepers
	r.resting = buffer.Resized(r.resting, len(im.thresholds.Contacts)/contactBytes)
	frame.ReadRows(r.resting, im.thresholds.Contacts, 4)
}

func (w *World) restoreOrigin(im *snapshotImage) { w.origin = im.origin }

// restoreTouches must come after all contacts have been replaced.
func (w *World) restoreTouches(im *snapshotImage) {
	s, r := w.solver, &w.solver.sleepers
	s.convex, r.restingConvex = im.contacts-im.touching, len(r.resting)-im.resting
	s.touches, r.restingTouches = buffer.Resized(s.touches, im.touching), buffer.Resized(r.restingTouches, im.resting)
	frame.ReadRows(s.touches, im.touchFrame[:touchBytes*im.touching], 4)
	frame.ReadRows(r.restingTouches, im.touchFrame[touchBytes*im.touching:], 4)
}

// resetDerived resets what depends on the replaced state.
func (w *World) resetDerived() {
	s := w.solver
	w.slots.Rebuild(w.cols.Slot[:w.Rows()])
	s.events.clear()
	s.sys.Hits = s.sys.Hits[:0]
	s.kept.Forget()
	s.stages.Hashes.List = s.stages.Hashes.List[:0]
	w.teleports.Clear()
	s.disabledBodies, w.failed = 0, nil
	for i := range w.Rows() {
		if w.cols.Flags[i]&FlagDisabled != 0 {
			s.disabledBodies++
		}
		if s.derived.Has(i) {
			s.deriveMass(i)
		}
	}
}
