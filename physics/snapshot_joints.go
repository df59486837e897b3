package physics

import (
	"fmt"
	"math"

	"github.com/evertick/evertick/internal/buffer"
	"github.com/evertick/evertick/internal/check"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/frame"
	"github.com/evertick/evertick/internal/rigid"
	"github.com/evertick/evertick/internal/statehash"
	"github.com/evertick/evertick/internal/wire"
)

// The frame of joints is
//
//	uint32 number, float32 rate of the sub-steps of the last step
//	uint32 generations, bodies (2), definitions with the fields of jointRow, float32 impulses with those of
//		jointImpulse
//
// Each column is contiguous. The bodies of free numbers are NoSlot.
const (
	jointBytes = 4 + 2*4 + 4*jointWords + 4*jointImpulses
)

// jointImpulse holds the impulses that a joint keeps from step to step.
type jointImpulse [jointImpulses]float32

const jointImpulses = 10

// impulses returns the impulses of a joint.
func impulses(j *rigid.Joint) jointImpulse {
	l, a := &j.LinearImpulse, &j.AngularImpulse
	v := jointImpulse{j.PointImpulse.X, j.PointImpulse.Y, l.Spring, l.Motor, l.Lower, l.Upper, a.Spring, a.Motor, a.Lower, a.Upper}
	for i := range v {
		v[i] += 0 // not -0, which an absent part may have, and which is not restored
	}
	return v
}

// restore sets the impulses. Those of parts that the joint does not have are zero, of
// either sign.
func (v *jointImpulse) restore(j *rigid.Joint) {
	if j.Kind == rigid.NoJoint {
		return
	}
	j.PointImpulse = rigid.Vec{X: v[0], Y: v[1]}
	j.LinearImpulse = rigid.AxisImpulse{Spring: v[2], Motor: v[3], Lower: v[4], Upper: v[5]}
	j.AngularImpulse = rigid.AxisImpulse{Spring: v[6], Motor: v[7], Lower: v[8], Upper: v[9]}
}

// allImpulses returns the impulses of all joints. The slice is valid until the next call.
func (t *jointColumns) allImpulses() []jointImpulse {
	t.impulses = t.impulses[:0]
	for i := range t.solved {
		t.impulses = append(t.impulses, impulses(&t.solved[i]))
	}
	return t.impulses
}

// columns returns words lo to hi-1 of the definitions of all joints. The slice is valid until the next call.
func (t *jointColumns) columns(lo, hi int) []uint32 {
	t.words = t.words[:0]
	for all := buffer.Words[uint32](t.rows); len(all) > 0; all = all[jointWords:] {
		t.words = append(t.words, all[lo:hi]...)
	}
	return t.words
}

func zero(words []uint32) bool {
	for _, v := range words {
		if v != 0 {
			return false
		}
	}
	return true
}

func (w *World) encodeJoints(e *frame.Encoder) {
	e.U32(w.joints.IDs.Used())
	e.F32(w.solver.subStepRate)
	e.Rows(buffer.Bytes(w.joints.IDs.Generation), 4)
	e.Rows(buffer.Bytes(w.joints.Owner), 4)
	e.Rows(buffer.Bytes(w.solver.joints.rows), 4)
	e.Rows(buffer.Bytes(w.solver.joints.allImpulses()), 4)
}

// jointImage is a checked frame of joints.
type jointImage struct {
	n           int
	rate        float32
	generations []byte
	bodies      []uint32
	rows        []jointRow
	impulses    []jointImpulse
}

func (im *snapshotImage) readJoints(b []byte) error {
	r, j := wire.NewReader(b), &im.joints
	n, rate := r.U32(), r.F32()
	if r.Err() != nil {
		return im.Corrupt("length of the joints", len(b))
	}
	if n > maxJoints || uint64(r.Len()) != jointBytes*uint64(n) {
		return im.Corrupt("joints", n)
	}
	j.n, j.rate = int(n), rate
	if !(j.rate >= 0 && check.InRange(j.rate)) {
		return im.Corrupt("rate", j.rate)
	}
	j.generations = r.Bytes(4 * j.n)
	j.bodies, j.rows, j.impulses = buffer.Resized(j.bodies, 2*j.n), buffer.Resized(j.rows, j.n), buffer.Resized(j.impulses, j.n)
	frame.ReadRows(j.bodies, r.Bytes(2*4*j.n), 4)
	frame.ReadRows(j.rows, r.Bytes(4*jointWords*j.n), 4)
	frame.ReadRows(j.impulses, r.Bytes(4*jointImpulses*j.n), 4)
	for i := range j.n {
		if err := im.checkJoint(i); err != nil {
			return err
		}
	}
	return nil
}

func (im *snapshotImage) checkJoint(i int) error {
	j, flags := &im.joints, im.flags()
	a, b := j.bodies[2*i], j.bodies[2*i+1]
	if a == NoSlot && b == NoSlot {
		return nil
	}
	for _, body := range [...]uint32{a, b} {
		if uint64(body) >= uint64(im.rows) || flags[body]&aliveFlag == 0 {
			return im.CorruptElement("bodies of joint", i, [2]uint32{a, b})
		}
	}
	if a == b {
		return im.CorruptElement("bodies of joint", i, [2]uint32{a, b})
	}
	if wire.U32At(j.generations, i) == 0 {
		return im.CorruptElement("generation of joint", i, 0)
	}
	if err := j.rows[i].checkStored(); err != nil {
		return fmt.Errorf("%w: %v", im.CorruptElement("joint", i, j.rows[i].kind), err)
	}
	for _, v := range j.impulses[i] {
		if !fault.Finite(v) {
			return im.CorruptElement("impulse of joint", i, v)
		}
	}
	return nil
}

// checkStored returns an error unless a definition could have been created.
func (r *jointRow) checkStored() error {
	if err := r.validate(); err != nil {
		return err
	}
	used := &jointKinds[r.kind]
	if r.flags&^(used.flags|jointCollides) != 0 {
		return fault.Field(ErrRange, "flags", r.flags)
	}
	for i, v := range r.numbers[len(used.numbers):] {
		if math.Float32bits(v) != 0 {
			return fault.Element(ErrRange, "numbers", len(used.numbers)+i, v)
		}
	}
	return nil
}

// restoreJoints must come after the bodies have been replaced.
func (w *World) restoreJoints(im *snapshotImage) {
	j, s, t := &im.joints, w.solver, &w.joints
	s.subStepRate = j.rate
	s.joints.reset()
	t.Reset(j.n, w.Cap())
	frame.ReadRows(t.IDs.Generation, j.generations, 4)
	for i := range j.n {
		live := j.bodies[2*i] != NoSlot
		t.IDs.SetLive(i, live)
		s.joints.reach(i)
		if !live {
			continue
		}
		t.LinkEnds(i, int(j.bodies[2*i]), int(j.bodies[2*i+1]))
		s.joints.put(i, &j.rows[i])
		s.updateJoint(i)
		j.impulses[i].restore(&s.joints.solved[i])
	}
}

func (w *World) copyJoints(src *World) {
	w.joints.CopyFrom(&src.joints, w.Rows(), w.Cap())
	w.solver.joints.copyFrom(&src.solver.joints)
	w.solver.subStepRate = src.solver.subStepRate
}

func (w *World) hashJoints(dst []ColumnHash) []ColumnHash {
	if !w.joints.Used() {
		return dst
	}
	t := &w.solver.joints
	dst = append(dst,
		ColumnHash{Name: "JointBody", Hash: statehash.Rows(w.joints.Owner)},
		ColumnHash{Name: "JointGeneration", Hash: statehash.Rows(w.joints.IDs.Generation)},
		ColumnHash{Name: "JointDef", Hash: statehash.Rows(t.columns(0, firstJointWords))},
		ColumnHash{Name: "JointImpulse", Hash: statehash.Rows(buffer.Words[float32](t.allImpulses()))},
	)
	if more := t.columns(firstJointWords, jointWords); !zero(more) {
		dst = append(dst, ColumnHash{Name: "JointDefMore", Hash: statehash.Rows(more)})
	}
	return dst
}
