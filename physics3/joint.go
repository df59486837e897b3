package physics3

import (
	"cmp"
	"slices"

	"github.com/evertick/evertick/internal/enum"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/handle"
)

// Joint is a handle to a joint of one world. The zero value is no joint. Destroying either of its bodies destroys the joint.
type Joint struct{ index, generation uint32 }

// Index returns the number of the joint; Events.Broken is in the order of these numbers. It is meaningful while the joint lives.
func (j Joint) Index() int { return int(j.index) }

// Bits returns the handle as a number, for storage: see JointOfBits.
func (j Joint) Bits() uint64 { return uint64(j.generation)<<32 | uint64(j.index) }

// JointOfBits returns the handle whose Bits are b. Its joint need not live, nor ever have lived.
func JointOfBits(b uint64) Joint { return Joint{uint32(b), uint32(b >> 32)} }

// String returns "joint_<index>.<generation>", or "new joint <n>" for a joint that Commands will create.
func (j Joint) String() string { return handle.Name("joint", j.index, j.generation) }

// JointKind is the kind of a joint: what it lets two bodies do.
type JointKind uint8

const (
	// DistanceJoint keeps two points at a distance: a rod, a rope, or a spring.
	DistanceJoint JointKind = 1 + iota
	// SphericalJoint lets two bodies turn about a common point in all directions: a shoulder.
	SphericalJoint
	// RevoluteJoint lets them turn about a common axis: a hinge.
	RevoluteJoint
	// PrismaticJoint lets them slide along an axis, and not turn.
	PrismaticJoint
	// WeldJoint holds them together, stiff or as springs do.
	WeldJoint
	// WheelJoint lets one turn, and slide along an axis of the other: a wheel and its suspension. It can steer.
	WheelJoint
	// MotorJoint moves one body relative to the other, with limited force.
	MotorJoint
	// GenericJoint treats each of six axes in its own way.
	GenericJoint
	// MouseJoint drags a body to a point of the world.
	MouseJoint
	// FilterJoint keeps two bodies from colliding.
	FilterJoint
)

// String returns "distance", "spherical", and so on.
func (k JointKind) String() string {
	return enum.Name([]string{"", "distance", "spherical", "revolute", "prismatic", "weld", "wheel", "motor", "generic", "mouse", "filter"}, k, "JointKind")
}

// CreateJoint makes a joint of the kind of def. It reads def at once. Errors: ErrStale for bodies that are gone, those of ValidateJointDef,
// ErrUnsupported for a *JointDef, which has no kind, and ErrCapacity.
func (w *World) CreateJoint(def AnyJointDef) (Joint, error) {
	w.newJoint = fieldsOf(def).joint()
	return w.addJoint(&w.newJoint)
}

func (w *World) addJoint(n *newJoint) (Joint, error) {
	if w.failed != nil {
		return Joint{}, w.failed
	}
	for i, b := range n.bodies {
		if !w.Valid(b) {
			return Joint{}, fault.Field(ErrStale, jointBodyFields[i], b)
		}
	}
	if err := n.validate(); err != nil {
		return Joint{}, err
	}
	t := &w.joints
	i, ok := t.IDs.Next()
	if !ok {
		return Joint{}, fault.Field(ErrCapacity, "physics3: JointCount", w.JointCount())
	}
	j := Joint{uint32(i), t.Add(i, n.bodies[0].Index(), n.bodies[1].Index(), w.Cap())}
	w.solver.joints.put(i, &n.row)
	w.solver.updateJoint(i)
	w.solver.wakeJointUnlessNew(i)
	return j, nil
}

var jointBodyFields = [...]string{"physics3: JointDef.BodyA", "physics3: JointDef.BodyB"}

// DestroyJoint destroys a joint. Errors: ErrStale.
func (w *World) DestroyJoint(j Joint) error {
	i, err := w.jointIndex(j)
	if err == nil {
		w.solver.destroyJoint(i)
	}
	return err
}

// jointIndex returns the number of a live joint, unless the world has failed.
func (w *World) jointIndex(j Joint) (int, error) {
	if w.failed != nil {
		return 0, w.failed
	}
	if !w.ValidJoint(j) {
		return 0, fault.Field(ErrStale, "physics3: Joint", j)
	}
	return int(j.index), nil
}

// ValidJoint reports whether j is a live joint of this world.
func (w *World) ValidJoint(j Joint) bool { return w.joints.IDs.Holds(j.index, j.generation) }

// JointCount returns the number of live joints.
func (w *World) JointCount() int { return w.joints.IDs.Live() }

// JointAt returns the handle of the live joint with the given index. A new joint gets the lowest free index.
func (w *World) JointAt(index int) (Joint, bool) {
	p := &w.joints.IDs
	if !p.Occupied(index) {
		return Joint{}, false
	}
	return Joint{uint32(index), p.Generation[index]}, true
}

// AppendJoints appends the joints of a body to dst, in the order of their indices. ErrStale.
func (w *World) AppendJoints(dst []Joint, b Body) ([]Joint, error) {
	body, err := w.row(b)
	if err != nil {
		return dst, err
	}
	n := len(dst)
	for end := range w.joints.Of(body) {
		j, _ := w.JointAt(end / 2)
		dst = append(dst, j)
	}
	slices.SortFunc(dst[n:], func(a, b Joint) int { return cmp.Compare(a.index, b.index) })
	return dst, nil
}

// JointKind returns the kind of j. ErrStale.
func (w *World) JointKind(j Joint) (JointKind, error) {
	i, err := w.jointIndex(j)
	if err != nil {
		return 0, err
	}
	return JointKind(w.solver.joints.rows[i].kind), nil
}

// JointBodies returns the bodies of j. ErrStale.
func (w *World) JointBodies(j Joint) (a, b Body, err error) {
	i, err := w.jointIndex(j)
	if err != nil {
		return Body{}, Body{}, err
	}
	rowA, rowB := w.joints.Bodies(i)
	a, _ = w.BodyAt(int(rowA))
	b, _ = w.BodyAt(int(rowB))
	return a, b, nil
}

// JointDef sets def to the present definition of j. Errors: ErrStale, and ErrUnsupported for a joint of another kind.
func (w *World) JointDef(j Joint, def AnyJointDef) error {
	a, b, err := w.JointBodies(j)
	if err != nil {
		return err
	}
	r, to := &w.solver.joints.rows[j.index], fieldsOf(def)
	if to.kind != 0 {
		if err := r.mustBe(to.kind); err != nil {
			return err
		}
	}
	to.set(r, [2]Body{a, b})
	return nil
}

// SetJointDef replaces the definition of j from the next step on, except for its bodies: it ignores those of def. A *JointDef replaces the
// fields that all kinds have in common, for a joint of any kind. If anything changes, it wakes the bodies. Errors: ErrStale, ErrUnsupported
// for a joint of another kind, and those of ValidateJointDef.
func (w *World) SetJointDef(j Joint, def AnyJointDef) error {
	i, err := w.jointIndex(j)
	if err != nil {
		return err
	}
	w.newJoint = fieldsOf(def).joint()
	next, err := w.solver.joints.rows[i].redefined(&w.newJoint.row)
	if err == nil {
		w.solver.setJoint(i, &next)
	}
	return err
}
