package physics3

import (
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/handle"
)

// CreateJoint records the creation of a joint, as World.CreateJoint. It reads def at once.
func (c *Commands) CreateJoint(def AnyJointDef) Joint {
	c.add(command{kind: createJoint})
	c.joints = append(c.joints, fieldsOf(def).joint())
	index, generation := c.recording.New(len(c.joints) - 1)
	return Joint{index, generation}
}

// DestroyJoint records the destruction of a joint.
func (c *Commands) DestroyJoint(j Joint) { c.add(command{kind: destroyJoint, joint: j}) }

// SetJointDef records a new definition of a joint, as World.SetJointDef. It reads def at once.
func (c *Commands) SetJointDef(j Joint, def AnyJointDef) {
	c.add(command{kind: setJoint, joint: j})
	c.rows = append(c.rows, fieldsOf(def).joint().row)
}

// Joint is Body for joints.
func (c *Commands) Joint(j Joint) Joint {
	if j.index < handle.Provisional {
		return j
	}
	return created("Joint", c, c.createdJoints, j.index, j.generation)
}

func (r *dryRun) createJoint(n *newJoint) error {
	for i, b := range n.bodies {
		if !r.lives(b) {
			return fault.Field(ErrStale, jointBodyFields[i], b)
		}
	}
	if err := n.validate(); err != nil {
		return err
	}
	if r.joints.Full() {
		return fault.Field(ErrCapacity, "physics3: JointCount", r.w.JointCount())
	}
	a, b := n.bodies[0], n.bodies[1]
	r.joints.Create([2][2]uint32{{a.index, a.generation}, {b.index, b.generation}})
	return nil
}

// changeJoint checks a command on a joint.
func (r *dryRun) changeJoint(o *command) error {
	if !r.joints.Lives(o.joint.index, o.joint.generation) {
		return fault.Field(ErrStale, "physics3: Joint", o.joint)
	}
	if o.kind == destroyJoint {
		r.joints.Destroy(o.joint.index)
		return nil
	}
	r.nextRow++
	_, err := r.jointRow(o.joint).redefined(&r.now.rows[r.nextRow-1])
	return err
}

// jointRow returns the definition of a joint that lives at this point of the list. Its kind is right; its numbers may be older.
func (r *dryRun) jointRow(j Joint) *jointRow {
	if j.index >= handle.Provisional {
		return &r.now.joints[j.index&^handle.Provisional].row
	}
	return &r.w.solver.joints.rows[j.index]
}

// createNewJoint creates a joint of a checked list.
func (w *World) createNewJoint(c *Commands, n *newJoint) Joint {
	w.newJoint = newJoint{n.row, [2]Body{c.Body(n.bodies[0]), c.Body(n.bodies[1])}}
	j, err := w.addJoint(&w.newJoint)
	if err != nil {
		panic("physics3: Apply: a joint was miscounted")
	}
	return j
}

// redefineJoint executes a checked command that gives a joint a new definition.
func (s *solver) redefineJoint(i int, to *jointRow) {
	row, _ := s.joints.rows[i].redefined(to)
	s.setJoint(i, &row)
}
