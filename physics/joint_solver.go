package physics

import "github.com/evertick/evertick/internal/rigid"

// jointColumns holds the data of joints, one element per joint. The elements of an unused number
// are zero.
type jointColumns struct {
	rows    []jointRow
	solved  []rigid.Joint // for the solver, derived from the rows; of kind NoJoint if the joint is idle
	layouts []jointLayout // of solved

	// Number of joints that can break, report their load, prevent collision, have a target in the world.
	breakable, reporting, noCollide, mouseJoints int

	version uint64 // of the layouts; not 0: see rigid.System.JointsVersion

	impulses []jointImpulse // the result of allImpulses
	words    []uint32       // the result of columns
}

// jointLayout holds the properties of a joint that decide which joints the solver can solve together.
type jointLayout struct {
	kind               rigid.JointKind
	parts              rigid.JointParts
	a, b               uint32
	dynamicA, dynamicB bool
}

func (t *jointColumns) put(i int, r *jointRow) {
	t.reach(i)
	t.rows[i] = *r
	t.count(r, 1)
}

// reach extends the columns up to a joint.
func (t *jointColumns) reach(i int) {
	for i >= len(t.rows) {
		t.rows, t.solved, t.layouts = append(t.rows, jointRow{}), append(t.solved, rigid.Joint{}), append(t.layouts, jointLayout{})
	}
}

func (t *jointColumns) clear(i int) {
	t.count(&t.rows[i], -1)
	t.rows[i], t.solved[i] = jointRow{}, rigid.Joint{}
	t.setLayout(i, jointLayout{})
}

// reset removes all joints.
func (t *jointColumns) reset() {
	t.rows, t.solved, t.layouts = t.rows[:0], t.solved[:0], t.layouts[:0]
	t.breakable, t.reporting, t.noCollide, t.mouseJoints = 0, 0, 0, 0
	t.version++
}

func (t *jointColumns) copyFrom(src *jointColumns) {
	t.rows = append(t.rows[:0], src.rows...)
	t.solved = append(t.solved[:0], src.solved...)
	t.layouts = append(t.layouts[:0], src.layouts...)
	t.breakable, t.reporting, t.noCollide, t.mouseJoints = src.breakable, src.reporting, src.noCollide, src.mouseJoints
	t.version++
}

// count adds by to the counts for a joint: 1 when it comes, -1 when it goes.
func (t *jointColumns) count(r *jointRow, by int) {
	if r.breakForce > 0 || r.breakTorque > 0 {
		t.breakable += by
	}
	if r.forceThreshold > 0 || r.torqueThreshold > 0 {
		t.reporting += by
	}
	if r.kind != 0 && !r.has(jointCollides) {
		t.noCollide += by
	}
	if JointKind(r.kind) == MouseJoint {
		t.mouseJoints += by
	}
}

func (t *jointColumns) preventsCollision(i int) bool { return !t.rows[i].has(jointCollides) }

func (t *jointColumns) setLayout(i int, to jointLayout) {
	if t.layouts[i] != to {
		t.layouts[i] = to
		t.version++
	}
}

func (s *solver) destroyJoint(i int) {
	s.wakeJoint(i)
	s.joints.clear(i)
	s.jointTable.Release(i)
}

// destroyJoints destroys the joints of a body.
func (s *solver) destroyJoints(body int) {
	for s.jointTable.First(body) != 0 {
		s.destroyJoint(int(s.jointTable.First(body)-1) / 2)
	}
}

// setJoint replaces the definition of a joint by one of the same kind.
func (s *solver) setJoint(i int, r *jointRow) {
	if s.joints.rows[i] != *r {
		s.wakeJoint(i)
	}
	s.joints.count(&s.joints.rows[i], -1)
	s.joints.rows[i] = *r
	s.joints.count(r, 1)
	s.updateJoint(i)
}

// updateJoints updates the joints of a body whose type, mass or centre of mass has changed.
func (s *solver) updateJoints(body int) {
	for end := range s.jointTable.Of(body) {
		s.updateJoint(end / 2)
	}
}

// updateJoint derives the solver's joint from the definition. Impulses stay, except those of parts
// that the joint no longer has.
func (s *solver) updateJoint(i int) {
	c, j, r := s.cols, &s.joints.solved[i], &s.joints.rows[i]
	was := *j
	*j = rigid.Joint{A: s.jointTable.Owner[2*i], B: s.jointTable.Owner[2*i+1], Hertz: r.hertz, Damping: r.damping}
	j.AnchorA, j.AnchorB = s.anchor(j.A, &r.frameA), s.anchor(j.B, &r.frameB)
	sinA, cosA := rigid.SinCos(r.frameA.Angle)
	sinB, cosB := rigid.SinCos(r.frameB.Angle)
	j.Axis = rigid.Vec{X: cosA, Y: sinA}
	j.ReferenceAngle = rigid.Atan2(float32(sinA*cosB)-float32(cosA*sinB), float32(cosA*cosB)+float32(sinA*sinB))
	r.configure(j)
	j.Parts |= partIf(rigid.PartTuned, r.hertz > 0 || r.damping > 0)
	dynamicA, dynamicB := c.Type[j.A] == DynamicBody, c.Type[j.B] == DynamicBody
	if (c.Flags[j.A]|c.Flags[j.B])&FlagDisabled != 0 || !dynamicA && !dynamicB {
		j.Kind = rigid.NoJoint
	}
	keepImpulses(j, &was)
	s.joints.setLayout(i, jointLayout{j.Kind, j.Parts, j.A, j.B, dynamicA, dynamicB})
}

// anchor returns the point of a frame relative to the centre of mass.
func (s *solver) anchor(body uint32, f *JointFrame) rigid.Vec {
	return rigid.Vec{X: f.Point[0] - s.cols.CentreX[body], Y: f.Point[1] - s.cols.CentreY[body]}
}

// keepImpulses copies the impulses of the parts that both have.
func keepImpulses(j, was *rigid.Joint) {
	if j.Kind == rigid.NoJoint || was.Kind == rigid.NoJoint {
		return
	}
	if j.Kind != rigid.JointDistance {
		j.PointImpulse = was.PointImpulse
	}
	both := j.Parts & was.Parts
	j.LinearImpulse = keepAxisImpulse(&was.LinearImpulse, both&rigid.PartSpring != 0, both&rigid.PartMotor != 0, both&rigid.PartLimits != 0)
	locked := j.Kind == rigid.JointWeld || j.Kind == rigid.JointPrismatic
	j.AngularImpulse = keepAxisImpulse(&was.AngularImpulse,
		both&rigid.PartAngularSpring != 0 || locked && was.Kind == j.Kind, both&rigid.PartAngularMotor != 0, both&rigid.PartAngularLimits != 0)
}

func keepAxisImpulse(d *rigid.AxisImpulse, spring, motor, limits bool) (kept rigid.AxisImpulse) {
	if spring {
		kept.Spring = d.Spring
	}
	if motor {
		kept.Motor = d.Motor
	}
	if limits {
		kept.Lower, kept.Upper = d.Lower, d.Upper
	}
	return kept
}

// configure sets the kind, the parts and the axes of the solver's joint from the definition.
func (r *jointRow) configure(j *rigid.Joint) {
	var none [2]Body
	switch JointKind(r.kind) {
	case DistanceJoint:
		var d DistanceJointDef
		d.fields().set(r, none)
		d.configure(j)
	case RevoluteJoint:
		var d RevoluteJointDef
		d.fields().set(r, none)
		d.configure(j)
	case PrismaticJoint:
		var d PrismaticJointDef
		d.fields().set(r, none)
		d.configure(j)
	case WeldJoint:
		var d WeldJointDef
		d.fields().set(r, none)
		d.configure(j)
	case WheelJoint:
		var d WheelJointDef
		d.fields().set(r, none)
		d.configure(j)
	case MotorJoint:
		var d MotorJointDef
		d.fields().set(r, none)
		d.configure(j)
	case MouseJoint:
		var d MouseJointDef
		d.fields().set(r, none)
		d.configure(j)
	}
}

// partIf returns part if the condition holds.
func partIf(part rigid.JointParts, condition bool) rigid.JointParts {
	if condition {
		return part
	}
	return 0
}

func (d *DistanceJointDef) configure(j *rigid.Joint) {
	j.Kind, j.Parts = rigid.JointDistance, rigid.PartSpring
	j.Linear = rigid.JointAxis{Target: d.Length}
	if d.EnableSpring {
		j.Parts = partIf(rigid.PartSpring, d.Hertz > 0) | partIf(rigid.PartLimits, d.EnableLimit) | partIf(rigid.PartMotor, d.EnableMotor)
		j.Linear = rigid.JointAxis{
			Target: d.Length, Hertz: d.Hertz, Damping: d.Damping, MaxSpringForce: d.MaxSpringForce,
			MotorSpeed: d.MotorSpeed, MaxMotorForce: d.MaxMotorForce, Lower: d.MinLength, Upper: d.MaxLength,
		}
		if d.LowerSpringForce != 0 || d.UpperSpringForce != 0 {
			j.Parts |= rigid.PartSpringRange
			j.MinSpringForce, j.Linear.MaxSpringForce = d.LowerSpringForce, d.UpperSpringForce
		}
	}
}

func (d *RevoluteJointDef) configure(j *rigid.Joint) {
	j.Kind = rigid.JointPoint
	j.Parts = partIf(rigid.PartAngularSpring, d.EnableSpring && d.Hertz > 0) | partIf(rigid.PartAngularLimits, d.EnableLimit) |
		partIf(rigid.PartAngularMotor, d.EnableMotor)
	j.Angular = rigid.JointAxis{
		Target: d.TargetAngle, Hertz: d.Hertz, Damping: d.Damping,
		MotorSpeed: d.MotorSpeed, MaxMotorForce: d.MaxMotorTorque, Lower: d.LowerAngle, Upper: d.UpperAngle,
	}
}

func (d *PrismaticJointDef) configure(j *rigid.Joint) {
	j.Kind = rigid.JointPrismatic
	j.Parts = partIf(rigid.PartSpring, d.EnableSpring && d.Hertz > 0) | partIf(rigid.PartLimits, d.EnableLimit) |
		partIf(rigid.PartMotor, d.EnableMotor)
	j.Linear = rigid.JointAxis{
		Target: d.TargetTranslation, Hertz: d.Hertz, Damping: d.Damping,
		MotorSpeed: d.MotorSpeed, MaxMotorForce: d.MaxMotorForce, Lower: d.LowerTranslation, Upper: d.UpperTranslation,
	}
}

func (d *WeldJointDef) configure(j *rigid.Joint) {
	if d.LinearHertz == 0 && d.AngularHertz == 0 {
		j.Kind = rigid.JointWeld
		return
	}
	j.Kind, j.Parts = rigid.JointPoint, rigid.PartAngularSpring|partIf(rigid.PartSpring, d.LinearHertz > 0)
	j.Linear = rigid.JointAxis{Hertz: d.LinearHertz, Damping: d.LinearDamping}
	j.Angular = rigid.JointAxis{Hertz: d.AngularHertz, Damping: d.AngularDamping}
}

func (d *WheelJointDef) configure(j *rigid.Joint) {
	j.Kind = rigid.JointWheel
	j.Parts = partIf(rigid.PartSpring, d.EnableSpring && d.Hertz > 0) | partIf(rigid.PartLimits, d.EnableLimit) |
		partIf(rigid.PartAngularMotor, d.EnableMotor)
	j.Linear = rigid.JointAxis{Hertz: d.Hertz, Damping: d.Damping, Lower: d.LowerTranslation, Upper: d.UpperTranslation}
	j.Angular = rigid.JointAxis{MotorSpeed: d.MotorSpeed, MaxMotorForce: d.MaxMotorTorque}
}

// minForce is a force that moves nothing; a bound of 0 would mean no bound.
const minForce = 1e-30

func (d *MotorJointDef) configure(j *rigid.Joint) {
	j.Kind = rigid.JointPoint
	if d.MaxSpringForce > 0 {
		j.Parts = rigid.PartSpring
		j.Linear = rigid.JointAxis{Hertz: d.LinearHertz, Damping: d.LinearDamping, MaxSpringForce: d.MaxSpringForce}
	} else {
		j.Parts = rigid.PartFriction
		j.Linear = rigid.JointAxis{MaxSpringForce: max(d.MaxVelocityForce, minForce)}
		if v := d.LinearVelocity; v != [2]float32{} {
			j.Parts |= rigid.PartVelocity
			u := j.Axis // of FrameA
			j.Axis = rigid.Vec{X: float32(u.X*v[0]) - float32(u.Y*v[1]), Y: float32(u.Y*v[0]) + float32(u.X*v[1])}
		}
	}
	j.Parts |= partIf(rigid.PartAngularSpring, d.MaxSpringTorque > 0) | partIf(rigid.PartAngularMotor, d.MaxVelocityTorque > 0)
	j.Angular = rigid.JointAxis{
		Hertz: d.AngularHertz, Damping: d.AngularDamping, MaxSpringForce: d.MaxSpringTorque,
		MotorSpeed: d.AngularVelocity, MaxMotorForce: d.MaxVelocityTorque,
	}
}

func (d *MouseJointDef) configure(j *rigid.Joint) {
	if d.MaxForce > 0 {
		j.Kind, j.Parts = rigid.JointPoint, rigid.PartSpring
		j.Linear = rigid.JointAxis{Hertz: d.Hertz, Damping: d.Damping, MaxSpringForce: d.MaxForce}
	}
}

// updateMouseTargets sets the anchors of mouse joints to their targets, relative to body A.
func (s *solver) updateMouseTargets() {
	if s.joints.mouseJoints == 0 {
		return
	}
	c := s.cols
	for i := range s.joints.rows {
		r, j := &s.joints.rows[i], &s.joints.solved[i]
		if JointKind(r.kind) != MouseJoint || j.Kind == rigid.NoJoint {
			continue
		}
		x, y := r.numbers[0]-s.centre.X[j.A], r.numbers[1]-s.centre.Y[j.A]
		cos, sin := c.Cos[j.A], c.Sin[j.A]
		j.AnchorA = rigid.Vec{X: float32(cos*x) + float32(sin*y), Y: float32(cos*y) - float32(sin*x)}
	}
}

// jointPreventsCollision reports whether a joint keeps two bodies from colliding.
func (s *solver) jointPreventsCollision(a, b uint32) bool {
	return s.jointTable.Between(a, b, s.joints.preventsCollision)
}
