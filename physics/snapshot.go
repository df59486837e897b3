package physics

import (
	"math"
	"slices"

	"github.com/evertick/evertick/internal/buffer"
	"github.com/evertick/evertick/internal/check"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/frame"
	"github.com/evertick/evertick/internal/sleep"
)

// A snapshot is, all little-endian:
//
//	"evtk.rig"  uint32 version
//	frame: the rules, float32 gravity (2), uint32 rows, shapes, seen, vertices, contacts, uint64 steps
//	frame of the bodies: the float32 columns, what Sync has written (4), uint32 slots and
//		generations, uint8 types, and uint8 flags with aliveFlag
//	frame of the shapes: uint32 generations and bodies, uint8 numbers of vertices with
//		sensorFlag, float32 radius, density, friction, restitution, rolling resistance and
//		tangent speed, uint64 category and mask, int32 group; uint32 generations in
//		the last step, as many as seen
//	frame: the vertices of all shapes, two float32 each
//	frame: the contacts, with the fields of rigid.Contact
//	frames that are described in their own files: the others of parts
//
// Each column is contiguous. A snapshot omits what follows from the rest: the free
// indices, normals, masses and digests of shapes, and their positions relative to centres of mass.
const (
	snapshotMagic   = "evtk.rig"
	snapshotVersion = 3

	rulesBytes   = 11 * 4
	headerBytes  = rulesBytes + 2*4 + 5*4 + 8
	bodyBytes    = 4*(18+4) + 4 + 4 + 1 + 1
	shapeBytes   = 4 + 4 + 1 + 6*4 + 2*8 + 4
	vertexBytes  = 2 * 4
	contactBytes = 11 * 4

	aliveFlag  = 1 << 7
	sensorFlag = 1 << 7
)

// Snapshot appends the state to dst, like the Append functions of strconv, and returns the
// extended slice: bodies, shapes, contacts and joints with their impulses, handles, gravity, the number
// of steps, and what Sync has written, bit for bit. A world restored from it continues exactly like this
// one. Events are not part of it. It takes 106 bytes per body, 44 per contact and 64 more for one that the next step may
// recycle, 57 per shape, 8 per vertex, 152 per joint, 8 per point of a chain and 4 per segment of it, 12 per shape with a
// user material and per shape with a span, 24 per material pair, and some 300 more. Pass the previous result cut to [:0]
// to allocate nothing. Another engine is ErrUnsupported.
func (w *World) Snapshot(dst []byte) ([]byte, error) {
	if err := w.engine.require(); err != nil {
		return dst, err
	}
	if w.failed != nil {
		return dst, w.failed
	}
	w.encoder = frame.Begin(slices.Grow(dst, w.snapshotBytes()), snapshotMagic, snapshotVersion)
	parts.Encode(w, &w.encoder)
	out := w.encoder.Buf
	w.encoder = frame.Encoder{}
	return out, nil
}

// snapshotBytes is the size of a snapshot but for what few bodies or shapes have. Snapshots may be kept, so it is not much
// more; if it is less, the snapshot grows.
func (w *World) snapshotBytes() int {
	s, rows, shapes := w.solver, w.Rows(), w.shapes.IDs.Used()
	rest := 4
	if s.sleep.On {
		rest = sleep.RowBytes
	}
	n := 512 + (bodyBytes+rest)*rows + shapeBytes*shapes + 4*len(s.lastGenerations) + vertexBytes*s.shapes.vertices() +
		contactBytes*(len(s.contacts)+len(s.sleepers.resting)) + baseBytes*len(s.keptBases()) + jointBytes*w.joints.IDs.Used()
	for i := range w.chains.rows {
		n += 8*len(w.chains.rows[i].points) + 4*len(w.chains.rows[i].shapes)
	}
	return n
}

func (w *World) encodeHeader(e *frame.Encoder) {
	s := w.solver
	e.Buf = w.config.appendRules(e.Buf)
	e.F32(w.config.Gravity[0])
	e.F32(w.config.Gravity[1])
	for _, n := range [...]int{w.Rows(), w.shapes.IDs.Used(), len(s.lastGenerations), s.shapes.vertices(), len(s.contacts)} {
		e.U32(n)
	}
	e.U64(s.steps)
}

func (w *World) encodeBodies(e *frame.Encoder) {
	c, rows := &w.cols, w.Rows()
	for _, nc := range c.floatColumns() {
		e.Rows(buffer.Bytes((*nc.column)[:rows]), 4)
	}
	for _, column := range w.lastSync.columns() {
		e.Rows(buffer.Bytes((*column)[:rows]), 4)
	}
	e.Rows(buffer.Bytes(c.Slot[:rows]), 4)
	e.Rows(buffer.Bytes(w.bodies.Generation), 4)
	e.Rows(buffer.Bytes(c.Type[:rows]), 1)
	at := len(e.Buf)
	e.Rows(c.Flags[:rows], 1)
	for i := range rows {
		if w.bodies.Occupied(i) {
			e.Buf[at+i] |= aliveFlag
		}
	}
}

func (w *World) encodeShapes(e *frame.Encoder) {
	t, n := &w.solver.shapes, w.shapes.IDs.Used()
	e.Rows(buffer.Bytes(w.shapes.IDs.Generation), 4)
	e.Rows(buffer.Bytes(w.shapes.Owner), 4)
	for i := range n {
		kind := byte(t.local[i].Count)
		if t.sensor[i] {
			kind |= sensorFlag
		}
		e.U8(kind)
	}
	for i := range n {
		e.F32(t.local[i].Radius)
	}
	for _, column := range t.coefficients() {
		e.Rows(buffer.Bytes((*column)[:n]), 4)
	}
	e.Rows(buffer.Bytes(t.filters.Category[:n]), 8)
	e.Rows(buffer.Bytes(t.filters.Mask[:n]), 8)
	e.Rows(buffer.Bytes(t.filters.Group[:n]), 4)
	e.Rows(buffer.Bytes(w.solver.lastGenerations), 4)
}

func (w *World) encodeVertices(e *frame.Encoder) {
	t := &w.solver.shapes
	for i := range t.local {
		r := &t.local[i]
		e.Rows(buffer.Bytes(r.Vertices[:r.Count]), 4)
	}
}

func (w *World) encodeContacts(e *frame.Encoder) { e.Rows(buffer.Bytes(w.solver.contacts), 4) }

// coefficients returns the columns of the numbers of ShapeDef, in the order of a snapshot.
func (t *shapeColumns) coefficients() [5]*[]float32 {
	return [...]*[]float32{&t.density, &t.Friction, &t.Restitution, &t.rolling, &t.TangentSpeed}
}

func (t *shapeColumns) vertices() int {
	n := 0
	for i := range t.local {
		n += int(t.local[i].Count)
	}
	return n
}

// rules returns the fields of a configuration that affect the result of a step, except gravity.
func (c *Config) rules() [rulesBytes / 4]namedBits {
	return [...]namedBits{
		{"Plane", uint32(c.Plane)}, {"SubSteps", uint32(c.SubSteps)},
		{"ContactHertz", math.Float32bits(c.ContactHertz)}, {"ContactDamping", math.Float32bits(c.ContactDamping)},
		{"PushSpeed", math.Float32bits(c.PushSpeed)},
		{"RestitutionThreshold", math.Float32bits(c.RestitutionThreshold)},
		{"MaxSpeed", math.Float32bits(c.MaxSpeed)},
		{"FrictionMix", uint32(c.FrictionMix)}, {"RestitutionMix", uint32(c.RestitutionMix)},
		{"JointHertz", math.Float32bits(c.JointHertz)}, {"JointDamping", math.Float32bits(c.JointDamping)},
	}
}

func bit(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

type namedBits struct {
	name string
	bits uint32
}

func (c *Config) appendRules(dst []byte) []byte {
	for _, r := range c.rules() {
		dst = append(dst, byte(r.bits), byte(r.bits>>8), byte(r.bits>>16), byte(r.bits>>24))
	}
	return dst
}

// checkRules returns an error unless the rules equal those of another world.
func (c *Config) checkRules(prefix string, rules func(i int) uint32) error {
	for i, r := range c.rules() {
		if got := rules(i); got != r.bits {
			return check.Because(fault.Field(ErrUnsupported, prefix+"Config."+r.name, got), "in bits, not that of this world")
		}
	}
	return nil
}
