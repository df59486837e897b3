package physics

import "github.com/evertick/evertick/internal/fault"

// CreateDistanceJoint records the creation of a joint, as World.CreateDistanceJoint.
func (c *Commands) CreateDistanceJoint(def DistanceJointDef) Joint {
	return c.createJoint(def.fields())
}

// CreateRevoluteJoint records the creation of a joint.
func (c *Commands) CreateRevoluteJoint(def RevoluteJointDef) Joint {
	return c.createJoint(def.fields())
}

// CreatePrismaticJoint records the creation of a joint.
func (c *Commands) CreatePrismaticJoint(def PrismaticJointDef) Joint {
	return c.createJoint(def.fields())
}

// CreateWeldJoint records the creation of a joint.
func (c *Commands) CreateWeldJoint(def WeldJointDef) Joint { return c.createJoint(def.fields()) }

// CreateWheelJoint records the creation of a joint.
func (c *Commands) CreateWheelJoint(def WheelJointDef) Joint { return c.createJoint(def.fields()) }

// CreateMotorJoint records the creation of a joint.
func (c *Commands) CreateMotorJoint(def MotorJointDef) Joint { return c.createJoint(def.fields()) }

// CreateMouseJoint records the creation of a joint.
func (c *Commands) CreateMouseJoint(def MouseJointDef) Joint { return c.createJoint(def.fields()) }

// CreateFilterJoint records the creation of a joint.
func (c *Commands) CreateFilterJoint(def FilterJointDef) Joint { return c.createJoint(def.fields()) }

func (c *Commands) createJoint(def jointFields) Joint {
	c.add(command{kind: createJoint})
	c.joints = append(c.joints, def.joint())
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

// SetMotorSpeed records the speed of the motor of a joint, as World.SetMotorSpeed.
func (c *Commands) SetMotorSpeed(j Joint, speed float32) {
	c.add(command{kind: setMotorSpeed, joint: j, numbers: [4]float32{speed}})
}

// SetMouseTarget records the target of a mouse joint, as World.SetMouseTarget.
func (c *Commands) SetMouseTarget(j Joint, target [2]float32) {
	c.add(command{kind: setMouseTarget, joint: j, numbers: [4]float32{target[0], target[1]}})
}

// Joint is Body for joints.
func (c *Commands) Joint(j Joint) Joint {
	if j.index < provisional {
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
		return fault.Field(ErrCapacity, "physics: JointCount", r.w.JointCount())
	}
	a, b := n.bodies[0], n.bodies[1]
	r.joints.Create([2][2]uint32{{a.index, a.generation}, {b.index, b.generation}})
	return nil
}

// changeJoint checks a command on a joint.
func (r *dryRun) changeJoint(o *command) error {
	row := r.joint(o.joint)
	if row == nil {
		return fault.Field(ErrStale, "physics: Joint", o.joint)
	}
	switch o.kind {
	case setJoint:
		r.nextRow++
		_, err := row.redefined(&r.now.rows[r.nextRow-1])
		return err
	case destroyJoint:
		r.joints.Destroy(o.joint.index)
		return nil
	}
	changed := *row
	return changed.apply(o)
}

// apply changes a definition like SetMotorSpeed or SetMouseTarget.
func (r *jointRow) apply(o *command) error {
	if o.kind == setMotorSpeed {
		return r.setMotorSpeed(o.numbers[0])
	}
	return r.setTarget([2]float32(o.numbers[:2]))
}

// joint returns the definition of a joint that lives at this point of the list, or nil. Its kind is right; its
// numbers may be older.
func (r *dryRun) joint(j Joint) *jointRow {
	if !r.joints.Lives(j.index, j.generation) {
		return nil
	}
	i := int(j.index &^ provisional)
	if j.index >= provisional {
		return &r.now.joints[i].row
	}
	return &r.w.solver.joints.rows[i]
}

// createNewJoint creates a joint of a checked list.
func (w *World) createNewJoint(c *Commands, n *newJoint) Joint {
	j, err := w.addJoint(newJoint{n.row, [2]Body{c.Body(n.bodies[0]), c.Body(n.bodies[1])}})
	if err != nil {
		panic("physics: Apply: a joint was miscounted")
	}
	return j
}

// redefineJoint executes a checked command that gives a joint a new definition.
func (s *solver) redefineJoint(i int, to *jointRow) {
	row, _ := s.joints.rows[i].redefined(to)
	s.setJoint(i, &row)
}

// applyJoint executes a checked command on a joint.
func (s *solver) applyJoint(i int, o *command) {
	if o.kind == destroyJoint {
		s.destroyJoint(i)
		return
	}
	row := s.joints.rows[i]
	_ = row.apply(o)
	s.setJoint(i, &row)
}
