package physics3

import (
	"fmt"
	"math"
	mathbits "math/bits"
	"unsafe"

	"github.com/evertick/evertick/internal/buffer"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/frame"
	"github.com/evertick/evertick/internal/rigid3"
	"github.com/evertick/evertick/internal/statehash"
	"github.com/evertick/evertick/internal/wire"
)

// The frame of joints is
//
//	uint32 number
//	uint32 generations and bodies (2), each a column; the bodies of free numbers are NoSlot
//	of each joint that is not free, the words of its definition: kind, flags, frames, the other fields of JointDef, and as many numbers as its kind
//		has; then what it keeps: uint64, of which bit k says that word k of rigid3.KeptJoint is not zero, and these words

// keptWords is the number of words of a rigid3.KeptJoint.
const keptWords = rigid3.NumRows + 4*rigid3.NumCoordinates + 2 + 6

// wordsOfKept returns what a joint keeps as words.
func wordsOfKept(k *rigid3.KeptJoint) *[keptWords]uint32 {
	return (*[keptWords]uint32)(buffer.Words[uint32](unsafe.Slice(k, 1)))
}

// wordsOfRow returns a definition as words.
func wordsOfRow(r *jointRow) []uint32 { return buffer.Words[uint32](unsafe.Slice(r, 1)) }

// appendKept appends to dst what a joint keeps.
func appendKept(dst []uint32, k *rigid3.KeptJoint) []uint32 {
	words, at, set := wordsOfKept(k), len(dst), uint64(0)
	dst = append(dst, 0, 0)
	for i, v := range words {
		if v != 0 {
			set |= 1 << i
			dst = append(dst, v)
		}
	}
	dst[at], dst[at+1] = uint32(set), uint32(set>>32)
	return dst
}

// jointWords returns what all joints keep, and before that of each its definition, if defs is true. The slice is valid until the next call.
func (w *World) jointWords(defs bool) []uint32 {
	t := &w.solver.joints
	words := t.words[:0]
	for i := range t.rows {
		r := &t.rows[i]
		if r.kind == 0 {
			continue
		}
		if defs {
			words = append(words, wordsOfRow(r)[:r.used()]...)
		}
		words = appendKept(words, &t.solved[i].Kept)
	}
	t.words = words
	return words
}

func (w *World) encodeJoints(e *frame.Encoder) {
	e.U32(w.joints.IDs.Used())
	e.Rows(buffer.Bytes(w.joints.IDs.Generation), 4)
	e.Rows(buffer.Bytes(w.joints.Owner), 4)
	e.Rows(buffer.Bytes(w.jointWords(true)), 4)
}

// jointImage is a checked frame of joints.
type jointImage struct {
	n           int
	generations []byte
	bodies      []uint32
	rows        []jointRow
	kept        []rigid3.KeptJoint
}

func (im *snapshotImage) readJoints(b []byte) error {
	r, j := wire.NewReader(b), &im.joints
	n := r.U32()
	if n > maxJoints || 3*4*uint64(n) > uint64(r.Len()) {
		return im.Corrupt("joints", n)
	}
	j.n = int(n)
	j.generations = r.Bytes(4 * j.n)
	j.bodies, j.rows, j.kept = buffer.Resized(j.bodies, 2*j.n), buffer.Resized(j.rows, j.n), buffer.Resized(j.kept, j.n)
	frame.ReadRows(j.bodies, r.Bytes(2*4*j.n), 4)
	clear(j.rows)
	clear(j.kept)
	for i := range j.n {
		if j.bodies[2*i] == NoSlot && j.bodies[2*i+1] == NoSlot {
			continue
		}
		if err := im.checkJointBodies(i); err != nil {
			return err
		}
		if err := im.readJoint(&r, i); err != nil {
			return err
		}
	}
	if r.Err() != nil || r.Len() != 0 {
		return im.Corrupt("length of the joints", len(b))
	}
	return nil
}

func (im *snapshotImage) checkJointBodies(i int) error {
	a, b := im.joints.bodies[2*i], im.joints.bodies[2*i+1]
	if a == b || !im.alive(uint64(a)) || !im.alive(uint64(b)) {
		return im.CorruptElement("bodies of joint", i, [2]uint32{a, b})
	}
	if wire.U32At(im.joints.generations, i) == 0 {
		return im.CorruptElement("generation of joint", i, 0)
	}
	return nil
}

// readJoint reads the definition of a joint, and what it keeps.
func (im *snapshotImage) readJoint(r *wire.Reader, i int) error {
	row, kept := &im.joints.rows[i], wordsOfKept(&im.joints.kept[i])
	words := wordsOfRow(row)
	if words[0] = r.U32(); words[0] == 0 || words[0] > uint32(FilterJoint) {
		return im.CorruptElement("kind of joint", i, words[0])
	}
	for k := range words[1:row.used()] {
		words[1+k] = r.U32()
	}
	if err := row.checkStored(); err != nil {
		return fmt.Errorf("%w: %v", im.CorruptElement("joint", i, row.kind), err)
	}
	set := r.U64()
	if set>>keptWords != 0 || uint64(4*mathbits.OnesCount64(set)) > uint64(r.Len()) {
		return im.CorruptElement("what is kept of joint", i, set)
	}
	for k := range kept {
		if set>>k&1 != 0 {
			if kept[k] = r.U32(); kept[k] == 0 {
				return im.CorruptElement("what is kept of joint", i, set)
			}
		}
	}
	if k := &im.joints.kept[i]; k.Known > 1 {
		return im.CorruptElement("what is kept of joint", i, k.Known)
	}
	for _, v := range kept {
		if f := math.Float32frombits(v); !fault.Finite(f) {
			return im.CorruptElement("impulse of joint", i, f)
		}
	}
	return nil
}

// checkStored returns an error unless a definition could have been created.
func (r *jointRow) checkStored() error {
	if err := r.validate(); err != nil {
		return err
	}
	if r.flags&^(jointKinds[r.kind].flags|jointCollides) != 0 {
		return fault.Field(ErrRange, "flags", r.flags)
	}
	return nil
}

// restoreJoints must come after the bodies have been replaced.
func (w *World) restoreJoints(im *snapshotImage) {
	j, s, t := &im.joints, w.solver, &w.joints
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
		s.joints.solved[i].Kept = j.kept[i]
	}
}

func (w *World) copyJoints(src *World) {
	w.joints.CopyFrom(&src.joints, w.Rows(), w.Cap())
	w.solver.joints.copyFrom(&src.solver.joints)
}

func (w *World) hashJoints(dst []ColumnHash) []ColumnHash {
	if !w.joints.Used() {
		return dst
	}
	return append(dst,
		ColumnHash{Name: "JointBody", Hash: statehash.Rows(w.joints.Owner)},
		ColumnHash{Name: "JointGeneration", Hash: statehash.Rows(w.joints.IDs.Generation)},
		ColumnHash{Name: "JointDigest", Hash: statehash.Rows(w.solver.joints.digests)},
		ColumnHash{Name: "JointImpulse", Hash: statehash.Rows(w.jointWords(false))},
	)
}
