package physics

import (
	"github.com/evertick/evertick/internal/buffer"
	"github.com/evertick/evertick/internal/frame"
)

// The frame of sleep is as package sleep encodes it, with a pose of five float32, and with contacts in the format of the frame
// of contacts.

func (w *World) encodeSleep(e *frame.Encoder) {
	s := w.solver
	s.sleep.Encode(e, len(s.sleepers.resting))
	e.Rows(buffer.Bytes(s.sleepers.resting), 4)
}

func (im *snapshotImage) readSleep(b []byte) error {
	if err := im.sleep.Read(snapshotName, b, 4*poseColumns, contactBytes, im.flags()); err != nil {
		return err
	}
	return im.checkEachContact("resting contact", im.sleep.Contacts, 0)
}

// restoreSleep must come after the bodies have been replaced.
func (w *World) restoreSleep(im *snapshotImage) {
	s := w.solver
	s.sleep.Restore(&im.sleep)
	r := &s.sleepers
	r.resting = buffer.Resized(r.resting, len(im.sleep.Contacts)/contactBytes)
	frame.ReadRows(r.resting, im.sleep.Contacts, 4)
}

// copySleep must come after the bodies have been copied.
func (w *World) copySleep(src *World) {
	w.solver.sleep.Copy(&src.solver.sleep)
	r, from := &w.solver.sleepers, &src.solver.sleepers
	for k := range r.restPose {
		copy(r.restPose[k], from.restPose[k][:min(src.Rows(), len(from.restPose[k]))])
	}
	r.resting = append(r.resting[:0], from.resting...)
}

// hashSleep appends the columns of sleep, unless no body has ever been at rest and none has its own threshold.
func (w *World) hashSleep(dst []ColumnHash) []ColumnHash {
	z, resting := &w.solver.sleep, w.solver.sleepers.resting
	if !z.On || len(resting) == 0 && !z.Used() {
		return dst
	}
	return append(z.Hash(dst), ColumnHash{Name: "Resting", Hash: hashContacts(resting)})
}
