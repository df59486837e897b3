package physics3

import (
	"math"
	"slices"

	"github.com/evertick/evertick/internal/buffer"
	"github.com/evertick/evertick/internal/check"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/frame"
	"github.com/evertick/evertick/internal/sleep"
	"github.com/evertick/evertick/internal/wire"
)

// A snapshot consists of frames, as package frame writes them:
//
//	the header: the rules, float32 gravity, uint32 numbers of rows, shapes, shapes seen by the last step, hulls, contacts and surfaces, uint64 steps,
//		uint8 switches: sleep is on in the configuration, is on now, and has ever been on; continuous collision is on in the configuration, and now
//	the bodies: the float32 columns, what Sync has written, uint32 slots and generations, uint8 types, locks and flags
//	the hulls, by number: uint32 vertices, 0 for a free number; if any, float32 radius and the vertices; then the surfaces, by number: uint8 kind, 0
//		for a free number; if any, uint32 length and that many bytes, see Mesh.encode
//	the shapes: uint32 generations and bodies, the fields of rigid3.Shape; float32 friction and restitution, density, rolling and twist resistance,
//		tangent velocity; uint64 category, mask and user material, int32 group, uint8 sensor; uint32 generations in the last step, as many as seen
//	the contacts, with the fields of rigid3.Contact; and the bases of those with rigid3.FlagBase
//	the ignored pairs: a uint64 each, the lower body in the upper half, ascending
//	the tuning: its float32 numbers, and the float32 rate of the sub-steps in the last step
//	the masses of SetMassData, ascending: uint32 body, float32 mass, inertia and centre
//	sleep, as package sleep encodes it, with a pose of seven float32, and with contacts as above; or the thresholds if it has never been on
//	the origin: three float64
//	of each contact with a surface, and then of each resting one: three float32, the normal, and uint32, the triangle
//	the joints: see encodeJoints
//
// Each column is contiguous. A snapshot omits what follows from the rest: free indices, faces of hulls, digests, principal axes, and positions
// relative to centres of mass.
const (
	snapshotMagic   = "evtk.rg3"
	snapshotVersion = 1

	rulesBytes    = 10 * 4
	headerBytes   = rulesBytes + 3*4 + 6*4 + 8 + 1
	bodyBytes     = 4*(floatColumns+syncedColumns) + 4 + 4 + 3
	geometryBytes = 13 * 4
	shapeBytes    = 4 + 4 + geometryBytes + 8*4 + 3*8 + 4 + 1
	contactBytes  = 19 * 4
	baseFloats    = 40
	baseBytes     = 4 * baseFloats
	massBytes     = 11 * 4
	originBytes   = 3 * 8
	touchBytes    = 4 * 4
	jointBytes    = 4 * (3 + jointCommonWords + 20) // of most

	aliveFlag = 1 << 7
)

// Snapshot appends the state to dst, like the Append functions of strconv, and returns the extended slice: bodies, shapes with their hulls, contacts
// and joints with their impulses, handles, gravity, the number of steps, and what Sync has written, bit for bit. A world restored from it continues exactly like
// this one. Events are not part of it. It takes 155 bytes per body, 76 per contact and 160 more for one that the next step may recycle, 117 per shape,
// 12 per vertex of a hull, about 200 per joint, and some 300 more. Pass the previous result cut to [:0] to allocate nothing.
func (w *World) Snapshot(dst []byte) ([]byte, error) {
	if w.failed != nil {
		return dst, w.failed
	}
	w.encoder = frame.Begin(slices.Grow(dst, w.snapshotBytes()), snapshotMagic, snapshotVersion)
	parts.Encode(w, &w.encoder)
	out := w.encoder.Buf
	w.encoder = frame.Encoder{}
	return out, nil
}

// snapshotBytes is the size of a snapshot but for what few bodies have. Snapshots may be kept, so it is not much more; if it is less, the snapshot
// grows.
func (w *World) snapshotBytes() int {
	s, rows, shapes := w.solver, w.Rows(), w.shapes.IDs.Used()
	n := 512 + (bodyBytes+sleep.RowBytes)*rows + shapeBytes*shapes + 4*len(s.lastGenerations) +
		contactBytes*(len(s.contacts)+len(s.sleepers.resting)) + baseBytes*len(s.keptBases()) +
		touchBytes*(len(s.touches)+len(s.sleepers.restingTouches)) + jointBytes*w.joints.IDs.Used()
	for _, h := range s.contents.hulls.items {
		n += 8
		if h != nil {
			n += 12 * h.NumVertices()
		}
	}
	for _, t := range s.contents.surfaces.items {
		n += 8
		if t != nil {
			n += t.encodedBytes()
		}
	}
	return n
}

// rules returns the fields of a configuration that affect the result of a step, except gravity.
func (c *Config) rules() [rulesBytes / 4]namedBits {
	return [...]namedBits{
		{"SubSteps", uint32(c.SubSteps)},
		{"ContactHertz", math.Float32bits(c.ContactHertz)}, {"ContactDamping", math.Float32bits(c.ContactDamping)},
		{"JointHertz", math.Float32bits(c.JointHertz)}, {"JointDamping", math.Float32bits(c.JointDamping)},
		{"PushSpeed", math.Float32bits(c.PushSpeed)}, {"RestitutionThreshold", math.Float32bits(c.RestitutionThreshold)},
		{"MaxSpeed", math.Float32bits(c.MaxSpeed)},
		{"FrictionMix", uint32(c.FrictionMix)}, {"RestitutionMix", uint32(c.RestitutionMix)},
	}
}

type namedBits struct {
	name string
	bits uint32
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

func (w *World) encodeHeader(e *frame.Encoder) {
	s := w.solver
	for _, r := range w.config.rules() {
		e.U32(int(r.bits))
	}
	for _, v := range w.config.Gravity {
		e.F32(v)
	}
	for _, n := range [...]int{w.Rows(), w.shapes.IDs.Used(), len(s.lastGenerations), len(s.contents.hulls.items), len(s.contacts), len(s.contents.surfaces.items)} {
		e.U32(n)
	}
	e.U64(s.steps)
	e.U8(bits(!w.config.DisableSleep, s.sleep.Enabled, s.sleep.On, !w.config.DisableContinuous, s.continuous.enabled))
}

func (w *World) encodeBodies(e *frame.Encoder) {
	c, rows := &w.cols, w.Rows()
	for k := range floatColumns {
		e.Rows(buffer.Bytes(c.memory[k*c.stride:][:rows]), 4)
	}
	for _, column := range &w.lastSync.columns {
		e.Rows(buffer.Bytes(column[:rows]), 4)
	}
	e.Rows(buffer.Bytes(c.Slot[:rows]), 4)
	e.Rows(buffer.Bytes(w.bodies.Generation), 4)
	e.Rows(buffer.Bytes(c.Type[:rows]), 1)
	e.Rows(c.Locks[:rows], 1)
	at := len(e.Buf)
	e.Rows(c.Flags[:rows], 1)
	for i := range rows {
		if w.bodies.Occupied(i) {
			e.Buf[at+i] |= aliveFlag
		}
	}
}

func (w *World) encodeContents(e *frame.Encoder) {
	for _, h := range w.solver.contents.hulls.items {
		if h == nil {
			e.U32(0)
			continue
		}
		e.U32(h.NumVertices())
		e.F32(h.radius)
		e.Rows(buffer.Bytes(h.shape.Vertices), 4)
	}
	for _, t := range w.solver.contents.surfaces.items {
		if t == nil {
			e.U8(surfaceFree)
			continue
		}
		e.U8(t.kind())
		at := len(e.Buf)
		e.U32(0)
		t.encode(e)
		wire.AppendU32s(e.Buf[:at], uint32(len(e.Buf)-at-4))
	}
}

func (w *World) encodeShapes(e *frame.Encoder) {
	t, n := &w.solver.shapes, w.shapes.IDs.Used()
	e.Rows(buffer.Bytes(w.shapes.IDs.Generation), 4)
	e.Rows(buffer.Bytes(w.shapes.Owner), 4)
	e.Rows(buffer.Bytes(t.local[:n]), 4)
	for _, m := range t.materials[:n] {
		e.F32(m.Friction)
		e.F32(m.Restitution)
	}
	e.Rows(buffer.Bytes(t.density[:n]), 4)
	e.Rows(buffer.Bytes(t.rolling[:n]), 4)
	e.Rows(buffer.Bytes(t.belt[:n]), 4)
	e.Rows(buffer.Bytes(t.filters.Category[:n]), 8)
	e.Rows(buffer.Bytes(t.filters.Mask[:n]), 8)
	e.Rows(buffer.Bytes(t.user[:n]), 8)
	e.Rows(buffer.Bytes(t.filters.Group[:n]), 4)
	e.Rows(buffer.Bytes(t.sensor[:n]), 1)
	e.Rows(buffer.Bytes(w.solver.lastGenerations), 4)
}

func (w *World) encodeContacts(e *frame.Encoder) { e.Rows(buffer.Bytes(w.solver.contacts), 4) }

func (w *World) encodeBases(e *frame.Encoder) { e.Rows(buffer.Bytes(w.solver.keptBases()), 4) }

func (w *World) encodePairs(e *frame.Encoder) { e.Rows(buffer.Bytes(w.solver.ignoredPairs.Keys), 8) }

func (w *World) encodeTuning(e *frame.Encoder) {
	w.solver.tuning.Encode(e)
	e.F32(w.solver.subStepRate)
}

func (w *World) encodeMasses(e *frame.Encoder) { e.Rows(buffer.Bytes(w.solver.massOverrides), 4) }

func (w *World) encodeSleep(e *frame.Encoder) {
	s := w.solver
	if !s.sleep.On {
		s.sleep.EncodeThresholds(e)
		return
	}
	s.sleep.Encode(e, len(s.sleepers.resting))
	e.Rows(buffer.Bytes(s.sleepers.resting), 4)
}

func (w *World) encodeOrigin(e *frame.Encoder) {
	for _, v := range w.origin {
		e.U64(math.Float64bits(v))
	}
}

func (w *World) encodeTouches(e *frame.Encoder) {
	e.Rows(buffer.Bytes(w.solver.touches), 4)
	e.Rows(buffer.Bytes(w.solver.sleepers.restingTouches), 4)
}
