package physics

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/evertick/evertick/internal/enum"
	"github.com/evertick/evertick/internal/fault"
)

// Joint is a handle to a joint of one world. The zero value is no joint. A joint dies with
// either of its bodies.
type Joint struct{ index, generation uint32 }

// Index returns the number of the joint, by which Events.Broken is ordered. It is meaningful
// while the joint lives.
func (j Joint) Index() int { return int(j.index) }

// Bits returns the handle as a number, to keep where it must be one: see JointOfBits.
func (j Joint) Bits() uint64 { return uint64(j.generation)<<32 | uint64(j.index) }

// JointOfBits returns the handle of which Bits returned b. What it names need not live, nor
// ever have lived.
func JointOfBits(b uint64) Joint { return Joint{uint32(b), uint32(b >> 32)} }

// String returns "joint_<index>.<generation>", or "new joint <n>" of what Commands will
// create.
func (j Joint) String() string {
	if j.index >= provisional {
		return fmt.Sprintf("new joint %d", j.index&^provisional)
	}
	return fmt.Sprintf("joint_%d.%d", j.index, j.generation)
}

// JointKind says what a joint lets two bodies do.
type JointKind uint8

const (
	// DistanceJoint keeps two points at a distance: a rod, a rope, or a spring.
	DistanceJoint JointKind = 1 + iota
	// RevoluteJoint lets two bodies turn about a common point.
	RevoluteJoint
	// PrismaticJoint lets them slide along an axis, and not turn.
	PrismaticJoint
	// WeldJoint holds them together, stiff or as springs do.
	WeldJoint
	// WheelJoint lets one turn, and slide along an axis of the other: a wheel and its
	// suspension.
	WheelJoint
	// MotorJoint moves one relative to the other, with limited force.
	MotorJoint
	// MouseJoint drags a body to a point of the world.
	MouseJoint
	// FilterJoint keeps two bodies from colliding.
	FilterJoint
)

// String returns "distance", "revolute", and so on.
func (k JointKind) String() string {
	return enum.Name([]string{"", "distance", "revolute", "prismatic", "weld", "wheel", "motor", "mouse", "filter"}, k, "JointKind")
}

// createJoint makes a joint of a definition whose bodies are given beside it.
func (w *World) createJoint(r jointRow, bodies [2]Body) (Joint, error) {
	if err := w.canJoin(bodies); err != nil {
		return Joint{}, err
	}
	if err := r.validate(bodies); err != nil {
		return Joint{}, err
	}
	if err := w.mustSolve(); err != nil {
		return Joint{}, err
	}
	t := &w.joints
	i, ok := t.pool.next()
	if !ok {
		return Joint{}, fault.Field(ErrCapacity, "physics: JointCount", w.JointCount())
	}
	j := t.add(i, bodies[0].Index(), bodies[1].Index(), w.Cap())
	w.solver.joints.put(i, &r)
	w.solver.placeJoint(i)
	w.solver.wakeTied(i)
	return j, nil
}

// canJoin is an error unless there are both bodies.
func (w *World) canJoin(bodies [2]Body) error {
	if w.failed != nil {
		return w.failed
	}
	for i, b := range bodies {
		if !w.Valid(b) {
			return fault.Field(ErrStale, jointBodyFields[i], b)
		}
	}
	return nil
}

var jointBodyFields = [...]string{"physics: JointDef.BodyA", "physics: JointDef.BodyB"}

// DestroyJoint ends a joint. Errors: ErrStale.
func (w *World) DestroyJoint(j Joint) error {
	if w.failed != nil {
		return w.failed
	}
	i, err := w.joint(j)
	if err != nil {
		return err
	}
	w.solver.endJoint(i)
	return nil
}

// joint returns the number of a live joint.
func (w *World) joint(j Joint) (int, error) {
	if !w.ValidJoint(j) {
		return 0, fault.Field(ErrStale, "physics: Joint", j)
	}
	return int(j.index), nil
}

// setJoint replaces the definition of a joint.
func (w *World) setJoint(j Joint, to jointRow) error {
	r, err := w.jointRow(j)
	if err == nil {
		err = r.mayBecome(&to)
	}
	return w.replaceJoint(j, &to, err)
}

// ValidJoint reports whether j is a live joint of this world.
func (w *World) ValidJoint(j Joint) bool { return w.joints.pool.holds(j.index, j.generation) }

// JointCount returns the number of live joints.
func (w *World) JointCount() int { return w.joints.pool.live }

// JointAt returns the handle of the live joint with the given index. Indices of joints
// are given out lowest first.
func (w *World) JointAt(index int) (Joint, bool) {
	p := &w.joints.pool
	if !p.occupied(index) {
		return Joint{}, false
	}
	return Joint{uint32(index), p.generation[index]}, true
}

// AppendJoints appends the joints of a body to dst, in the order of their indices. ErrStale.
func (w *World) AppendJoints(dst []Joint, b Body) ([]Joint, error) {
	body, err := w.row(b)
	if err != nil {
		return dst, err
	}
	n, t := len(dst), &w.joints
	for end := t.first(body); end != 0; end = t.next[end-1] {
		j, _ := w.JointAt(int(end-1) / 2)
		dst = append(dst, j)
	}
	slices.SortFunc(dst[n:], func(a, b Joint) int { return cmp.Compare(a.index, b.index) })
	return dst, nil
}

// JointKind returns the kind of j. ErrStale.
func (w *World) JointKind(j Joint) (JointKind, error) {
	i, err := w.joint(j)
	if err != nil {
		return 0, err
	}
	return JointKind(w.solver.joints.rows[i].kind), nil
}

// JointBodies returns the bodies of j. ErrStale.
func (w *World) JointBodies(j Joint) (a, b Body, err error) {
	i, err := w.joint(j)
	if err != nil {
		return Body{}, Body{}, err
	}
	a, _ = w.BodyAt(int(w.joints.body[2*i]))
	b, _ = w.BodyAt(int(w.joints.body[2*i+1]))
	return a, b, nil
}
