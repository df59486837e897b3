package sleep

import (
	"github.com/evertick/evertick/internal/buffer"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/frame"
	"github.com/evertick/evertick/internal/statehash"
	"github.com/evertick/evertick/internal/wire"
)

// The encoded state is empty for a world in which sleep has always been off. Otherwise it is
//
//	uint32 numbers of noted rows and of resting contacts
//	float32 times at rest and thresholds, by row
//	the noted rows: uint32 row, uint32 changes, stored pose
//	the contacts of sleeping bodies, which the engine encodes
//
// Rows are noted that were woken or changed since the last step, or whose pose differs from the stored one, so that the next
// step detects this.

// RowBytes is the size of the encoded state for each row that was ever used.
const RowBytes = 2 * 4

// noted reports whether a row is noted.
func (z *State) noted(row int) bool {
	if z.changes[row] != 0 {
		return true
	}
	return !z.Awake(row) && z.bodies.Occupied(row) && z.engine.PoseWritten(row)
}

// Encode appends the state, except for the resting contacts, which the engine appends then.
func (z *State) Encode(e *frame.Encoder, resting int) {
	if !z.On {
		return
	}
	at := len(e.Buf)
	e.U32(0)
	e.U32(resting)
	e.Rows(buffer.Bytes(z.Times[:z.rows()]), 4)
	z.EncodeThresholds(e)
	notes := uint32(0)
	for i := range z.rows() {
		if z.noted(i) {
			notes++
			e.U32(i)
			e.U32(int(z.changes[i]))
			if z.changes[i]&(woken|changed|written) != 0 {
				z.engine.Store(i) // the stored pose has no effect any more; now it is that of a restored world, too
			}
			z.engine.EncodePose(e, i)
		}
	}
	wire.AppendU32s(e.Buf[:at], notes)
}

// EncodeThresholds appends the thresholds alone, by row.
func (z *State) EncodeThresholds(e *frame.Encoder) { e.Rows(buffer.Bytes(z.Threshold[:z.rows()]), 4) }

// Image is a checked encoding of a state.
type Image struct {
	On        bool
	Contacts  []byte // encoded
	times     []byte
	threshold []byte
	notes     []byte
	noteBytes int
}

// Read checks the encoding of a state for bodies with so many bytes of a pose and these flags, by row. A contact has some
// bytes, too. Errors begin with a prefix.
func (im *Image) Read(prefix string, b []byte, poseBytes, contactBytes int, flags []byte) error {
	*im = Image{}
	if len(b) == 0 {
		return nil
	}
	rows, noteBytes, r := len(flags), 2*4+poseBytes, wire.NewReader(b)
	notes, contacts := uint64(r.U32()), uint64(r.U32())
	if uint64(r.Len()) != uint64(RowBytes*rows)+uint64(noteBytes)*notes+uint64(contactBytes)*contacts || r.Err() != nil {
		return fault.Field(fault.ErrCorrupt, prefix+"length of the sleep", len(b))
	}
	im.On, im.noteBytes = true, noteBytes
	im.times = r.Bytes(4 * rows)
	for i := range rows {
		if t := wire.F32At(im.times, i); !fault.Finite(t) || t < 0 {
			return fault.Element(fault.ErrCorrupt, prefix+"time at rest of body", i, t)
		}
	}
	if err := im.ReadThresholds(prefix, r.Bytes(4*rows)); err != nil {
		return err
	}
	im.notes = r.Bytes(noteBytes * int(notes))
	im.Contacts = r.Rest()
	return im.checkNotes(prefix, flags)
}

func (im *Image) checkNotes(prefix string, flags []byte) error {
	last := -1
	for i := range len(im.notes) / im.noteBytes {
		note := im.notes[im.noteBytes*i:]
		row, why := int(wire.U32At(note, 0)), wire.U32At(note, 1)
		if row <= last || row >= len(flags) || why&^(allChanges&^onceActive) != 0 || why&createdAsleep != 0 && why&newAsleep == 0 ||
			why&newAsleep != 0 && flags[row]&Asleep == 0 {
			return fault.Element(fault.ErrCorrupt, prefix+"noted row", i, [2]int{row, int(why)})
		}
		last = row
	}
	return nil
}

// ReadThresholds checks thresholds by row.
func (im *Image) ReadThresholds(prefix string, b []byte) error {
	im.threshold = b
	for i := range len(b) / 4 {
		if v := wire.F32At(b, i); !fault.Finite(v) || v < 0 || v > MaxThreshold {
			return fault.Element(fault.ErrCorrupt, prefix+"sleep threshold of body", i, v)
		}
	}
	return nil
}

// Restore replaces the state by that of an image, after the bodies have been replaced. The engine then replaces the resting
// contacts.
func (z *State) Restore(im *Image) {
	z.setOn(im.On)
	z.clear()
	frame.ReadRows(z.Threshold[:len(im.threshold)/4], im.threshold, 4)
	for i := range z.rows() {
		if !z.bodies.Occupied(i) {
			z.Threshold[i] = 0
		}
	}
	if !z.On {
		return
	}
	frame.ReadRows(z.Times[:z.rows()], im.times, 4)
	for i := range z.rows() {
		z.engine.Store(i)
		if !z.bodies.Occupied(i) {
			z.Times[i] = 0
		}
		if z.flags[i]&Asleep != 0 {
			z.Count++
		}
	}
	for notes := im.notes; len(notes) > 0; notes = notes[im.noteBytes:] {
		row := int(wire.U32At(notes, 0))
		if why := uint8(wire.U32At(notes, 1)); why != 0 {
			z.mark(row, why)
		}
		z.engine.DecodePose(notes[2*4:im.noteBytes], row)
	}
}

// clear resets the state.
func (z *State) clear() {
	clear(z.Times)
	clear(z.Threshold)
	clear(z.changes)
	clear(z.Active)
	z.changed, z.ActiveOnce = z.changed[:0], z.ActiveOnce[:0]
	z.Spans, z.Shapes = z.Spans[:0], z.Shapes[:0]
	z.dirty, z.Count = true, 0
}

// Copy copies the state of another world, after its bodies have been copied. The engine then copies the poses at rest and the
// resting contacts.
func (z *State) Copy(src *State) {
	z.setOn(src.On)
	z.clear()
	n := src.rows()
	copy(z.Threshold, src.Threshold[:n])
	if !z.On {
		return
	}
	copy(z.Times, src.Times[:n])
	copy(z.changes, src.changes[:n])
	z.changed = append(z.changed, src.changed...)
	z.Count = src.Count
}

// Hash appends the hashes of times and thresholds.
func (z *State) Hash(dst []statehash.Column) []statehash.Column {
	return append(dst,
		statehash.Column{Name: "SleepTime", Hash: statehash.Rows(z.Times[:z.rows()])},
		statehash.Column{Name: "SleepThreshold", Hash: statehash.Rows(z.Threshold[:z.rows()])},
	)
}

// Used reports whether a body has been at rest, or has a threshold of its own.
func (z *State) Used() bool {
	if z.Count > 0 {
		return true
	}
	for _, t := range z.Times[:z.rows()] {
		if t != 0 {
			return true
		}
	}
	return z.OwnThresholds()
}

// OwnThresholds reports whether a body has another threshold than the default one.
func (z *State) OwnThresholds() bool {
	for i, v := range z.Threshold[:z.rows()] {
		if v != DefaultThreshold && z.bodies.Occupied(i) {
			return true
		}
	}
	return false
}
