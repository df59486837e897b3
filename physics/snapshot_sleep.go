package physics

import (
	"slices"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/frame"
	"github.com/evertick/evertick/internal/statehash"
	"github.com/evertick/evertick/internal/wire"
)

// The frame of sleep is empty for a world in which sleep has always been off. Otherwise it holds
//
//	uint32 numbers of noted rows and of resting contacts
//	float32 times at rest and thresholds, by row
//	the noted rows: uint32 row, uint32 changes, float32 stored pose (5)
//	the contacts of sleeping bodies, in the format of the frame of contacts
//
// Rows are noted that were woken or changed since the last step, or whose pose differs from the stored
// one, so that the next step detects this.
const (
	restBytes = 2 * 4
	noteBytes = 4 * (2 + poseColumns)
)

// noted reports whether the frame lists a row.
func (s *solver) noted(i int) bool {
	if s.sleep.changes[i] != 0 {
		return true
	}
	if s.isAwake(i) || !s.bodies.Occupied(i) {
		return false
	}
	return s.poseWritten(i)
}

func (s *solver) countNoted() int {
	n := 0
	for i := range s.rows {
		if s.noted(i) {
			n++
		}
	}
	return n
}

func (w *World) encodeSleep(e *frame.Encoder) {
	s := w.solver
	z := &s.sleep
	if !z.on {
		return
	}
	e.U32(s.countNoted())
	e.U32(len(z.resting))
	e.Rows(raw(z.time[:s.rows]), 4)
	e.Rows(raw(z.threshold[:s.rows]), 4)
	for i := range s.rows {
		if s.noted(i) {
			e.U32(i)
			e.U32(int(z.changes[i]))
			for _, kept := range z.restPose {
				e.F32(kept[i])
			}
		}
	}
	e.Rows(raw(z.resting), 4)
}

// sleepImage is a checked frame of sleep.
type sleepImage struct {
	on                    bool
	rest, notes, contacts []byte
	threshold             []byte // of rest, or of the switches
}

func (im *snapshotImage) readSleep(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	r := wire.NewReader(b)
	notes, contacts := uint64(r.U32()), uint64(r.U32())
	if uint64(r.Len()) != uint64(restBytes*im.rows)+noteBytes*notes+contactBytes*contacts || r.Err() != nil {
		return im.Corrupt("length of the sleep", len(b))
	}
	im.sleep = sleepImage{on: true, rest: r.Bytes(restBytes * im.rows), notes: r.Bytes(noteBytes * int(notes)), contacts: r.Rest()}
	im.sleep.threshold = im.sleep.rest[4*im.rows:]
	if err := im.checkRest(); err != nil {
		return err
	}
	return im.checkEachContact("resting contact", im.sleep.contacts, 0)
}

func (im *snapshotImage) checkRest() error {
	for i := range im.rows {
		if t := wire.F32At(im.sleep.rest, i); !fault.Finite(t) || t < 0 {
			return im.element("time at rest of body", i, t)
		}
	}
	if err := im.checkThresholds(); err != nil {
		return err
	}
	last := -1
	for i := range len(im.sleep.notes) / noteBytes {
		note := im.sleep.notes[noteBytes*i:]
		row, why := int(wire.U32At(note, 0)), wire.U32At(note, 1)
		if row <= last || row >= im.rows || why&^(woken|changed|written|newAsleep|createdAsleep) != 0 || why&createdAsleep != 0 && why&newAsleep == 0 ||
			why&newAsleep != 0 && im.flags()[row]&FlagAsleep == 0 {
			return im.element("noted row", i, [2]int{row, int(why)})
		}
		last = row
	}
	return nil
}

func (im *snapshotImage) checkThresholds() error {
	for i := range im.rows {
		if v := wire.F32At(im.sleep.threshold, i); !fault.Finite(v) || v < 0 || v > maxTuning {
			return im.element("sleep threshold of body", i, v)
		}
	}
	return nil
}

// restoreSleep must come after the bodies have been replaced.
func (w *World) restoreSleep(im *snapshotImage) {
	s := w.solver
	z := &s.sleep
	z.setOn(im.sleep.on)
	s.clearSleep()
	copyLittleEndian(z.threshold[:im.rows], im.sleep.threshold, 4)
	for i := range im.rows {
		if s.cols.Alive[i] == 0 {
			z.threshold[i] = 0
		}
	}
	if !z.on {
		return
	}
	copyLittleEndian(z.time[:im.rows], im.sleep.rest[:4*im.rows], 4)
	for i := range im.rows {
		s.storeRestPose(i)
		if s.cols.Alive[i] == 0 {
			z.time[i] = 0
		}
	}
	for r := wire.NewReader(im.sleep.notes); r.Len() > 0; {
		i := int(r.U32())
		if why := uint8(r.U32()); why != 0 {
			s.markChanged(i, why)
		}
		for _, kept := range z.restPose {
			kept[i] = r.F32()
		}
	}
	z.resting = resized(z.resting, len(im.sleep.contacts)/contactBytes)
	copyLittleEndian(z.resting, im.sleep.contacts, 4)
	s.countAsleep()
}

// clearSleep resets the sleep state.
func (s *solver) clearSleep() {
	z := &s.sleep
	clear(z.time)
	clear(z.threshold)
	clear(z.changes)
	clear(z.active)
	for _, kept := range z.restPose {
		clear(kept)
	}
	z.changed, z.activeOnce, z.resting = z.changed[:0], z.activeOnce[:0], z.resting[:0]
	z.spans, z.shapes = z.spans[:0], z.shapes[:0]
	z.dirty, z.asleep = true, 0
}

func (s *solver) countAsleep() {
	s.sleep.asleep = 0
	for _, f := range s.cols.Flags[:s.rows] {
		if f&FlagAsleep != 0 {
			s.sleep.asleep++
		}
	}
}

// copySleep must come after the bodies have been copied.
func (w *World) copySleep(src *World) {
	s := w.solver
	z, from := &s.sleep, &src.solver.sleep
	z.setOn(from.on)
	s.clearSleep()
	n := src.Rows()
	copy(z.threshold, from.threshold[:n])
	if !z.on {
		return
	}
	copy(z.time, from.time[:n])
	copy(z.changes, from.changes[:n])
	for k, kept := range z.restPose {
		copy(kept, from.restPose[k][:n])
	}
	z.changed = append(z.changed, from.changed...)
	z.resting = slices.Grow(z.resting, len(from.resting))
	z.resting = append(z.resting, from.resting...)
	z.asleep = from.asleep
}

// hashSleep appends the columns of sleepState, unless no body has ever been at rest and
// none has its own threshold.
func (w *World) hashSleep(dst []ColumnHash) []ColumnHash {
	s := w.solver
	z := &s.sleep
	if !z.on || len(z.resting) == 0 && z.asleep == 0 && !s.anyRest() {
		return dst
	}
	return append(dst,
		ColumnHash{Name: "SleepTime", Hash: statehash.Rows(z.time[:s.rows])},
		ColumnHash{Name: "SleepThreshold", Hash: statehash.Rows(z.threshold[:s.rows])},
		ColumnHash{Name: "Resting", Hash: hashContacts(z.resting)},
	)
}
