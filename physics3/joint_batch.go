package physics3

import (
	"fmt"
	"sync/atomic"

	"github.com/evertick/evertick/internal/bitset"
	"github.com/evertick/evertick/internal/buffer"
	"github.com/evertick/evertick/native"
)

// jointBatch is a call of SetJointDefs.
type jointBatch struct {
	w        *World
	joints   []Joint
	defs     []AnyJointDef
	next     []nextJoint
	changed  []uint32 // numbers of the joints that change, each once
	seen     bitset.Set
	deriving bool        // else it reads the definitions
	faulty   atomic.Bool // a definition is bad
	layouts  atomic.Bool // a layout has changed
}

// nextJoint is what a joint of a batch becomes.
type nextJoint struct {
	row    jointRow
	digest uint64
	err    error
}

// jointChunk is the number of joints of a chunk: some tens of microseconds.
const jointChunk = 64

// SetJointDefs is SetJointDef of all of these joints with the definition at the same place, on all workers of the world. If one is bad, nothing
// changes, and the error is the one of the first. Of a joint that is listed twice the last definition counts. It panics if the slices differ in length.
func (w *World) SetJointDefs(joints []Joint, defs []AnyJointDef) error {
	if len(joints) != len(defs) {
		panic("physics3: SetJointDefs: joints and defs differ in length")
	}
	b := &w.jointBatch
	b.w, b.joints, b.defs = w, joints, defs
	defer func() { b.joints, b.defs = nil, nil }()
	b.next = buffer.Resized(b.next, len(joints))
	b.faulty.Store(false)
	if err := b.run(false, len(joints)); err != nil {
		return err
	}
	if b.faulty.Load() {
		for i := range b.next {
			if err := b.next[i].err; err != nil {
				return err
			}
		}
	}
	b.replace()
	b.layouts.Store(false)
	if err := b.run(true, len(b.changed)); err != nil {
		w.failed = err // the joints are not those of their rows
		return err
	}
	if b.layouts.Load() {
		w.solver.joints.version++
	}
	return nil
}

func (b *jointBatch) run(deriving bool, n int) error {
	b.deriving = deriving
	return b.w.solver.pool.Run((n+jointChunk-1)/jointChunk, b)
}

// Do works on one chunk; it implements native.Task.
func (b *jointBatch) Do(_, chunk int) {
	lo := chunk * jointChunk
	if b.deriving {
		for _, i := range b.changed[lo:min(lo+jointChunk, len(b.changed))] {
			if b.w.solver.deriveJoint(int(i)) {
				b.layouts.Store(true)
			}
		}
		return
	}
	for k := lo; k < min(lo+jointChunk, len(b.joints)); k++ {
		if b.read(k); b.next[k].err != nil {
			b.faulty.Store(true)
		}
	}
}

var _ native.Task = (*jointBatch)(nil)

// read makes the row of a joint of the batch.
func (b *jointBatch) read(k int) {
	n := &b.next[k]
	i, err := b.w.jointIndex(b.joints[k])
	if err == nil {
		to := fieldsOf(b.defs[k]).joint()
		n.row, err = b.w.solver.joints.rows[i].redefined(&to.row)
	}
	if n.err = nil; err != nil {
		n.err = fmt.Errorf("physics3: SetJointDefs, joint %d: %w", k, err)
		return
	}
	n.digest = n.row.digest()
}

// replace replaces the rows that change.
func (b *jointBatch) replace() {
	s := b.w.solver
	b.changed = b.changed[:0]
	b.seen.Reset(len(s.joints.rows))
	for k, j := range b.joints {
		i, n := int(j.index), &b.next[k]
		if !s.replaceJoint(i, &n.row, n.digest) || b.seen.Has(i) {
			continue
		}
		b.seen.Add(i)
		b.changed = append(b.changed, j.index)
	}
}
