package physics3

import (
	"cmp"
	"math"
	"slices"

	"github.com/evertick/evertick/internal/rigid3"
	"github.com/evertick/evertick/internal/statehash"
)

// jointColumns holds the data of joints, one element per joint. The elements of an unused number are zero.
type jointColumns struct {
	rows    []jointRow
	digests []uint64       // of the rows, for the state hash
	solved  []rigid3.Joint // for the solver, derived from the rows, and what is kept; zero but for that if the joint is idle
	layouts []jointLayout  // of solved

	// Number of joints that can break, report their load, prevent collision, have a target in the world.
	breakable, reporting, noCollide, mouseJoints int

	version      uint64   // of the layouts: see rigid3.System.JointsVersion
	order        []uint32 // the joints in the order in which they get colours
	orderVersion uint64   // of the layouts that are in order
	words        []uint32 // the result of jointWords
}

// jointLayout holds the properties of a joint that decide which joints the solver can solve together.
type jointLayout struct {
	locked, soft, axes uint32
	a, b               uint32
	dynamicA, dynamicB bool
	frames             uint64 // a number that follows from the kind and the frames
}

// compare is the order in which joints get colours: first by the lower body, then by the other one, and then by kind and frames. So the result
// of a step does not depend on the order in which joints were made, unless two joints are the same in all that.
func (l *jointLayout) compare(k *jointLayout) int {
	return cmp.Or(cmp.Compare(min(l.a, l.b), min(k.a, k.b)), cmp.Compare(max(l.a, l.b), max(k.a, k.b)), cmp.Compare(l.frames, k.frames))
}

// updateOrder sorts the joints that take part in a step.
func (t *jointColumns) updateOrder() {
	if t.orderVersion == t.version {
		return
	}
	t.orderVersion = t.version
	before := func(i, k uint32) int { return cmp.Or(t.layouts[i].compare(&t.layouts[k]), cmp.Compare(i, k)) }
	if !t.sameJoints() {
		t.order = t.order[:0]
		for i := range t.layouts {
			if t.layouts[i].takesPart() {
				t.order = append(t.order, uint32(i))
			}
		}
		slices.SortFunc(t.order, before)
		return
	}
	// Joints whose frames change step by step, such as those of wheels, change places with their neighbours at most.
	moves := orderMoves * len(t.order)
	for k := range t.order {
		at, i := k, t.order[k]
		for ; at > 0 && before(i, t.order[at-1]) < 0; at-- {
			t.order[at] = t.order[at-1]
		}
		t.order[at] = i
		if moves -= k - at; moves < 0 {
			slices.SortFunc(t.order, before)
			return
		}
	}
}

// orderMoves is the number of places that joints move on average in the order before all are sorted anew.
const orderMoves = 4

// sameJoints reports whether the joints in order are those that take part.
func (t *jointColumns) sameJoints() bool {
	taking := 0
	for i := range t.layouts {
		if t.layouts[i].takesPart() {
			taking++
		}
	}
	if taking != len(t.order) {
		return false
	}
	for _, i := range t.order {
		if uint(i) >= uint(len(t.layouts)) || !t.layouts[i].takesPart() {
			return false
		}
	}
	return true
}

func (l *jointLayout) takesPart() bool { return l.locked != 0 || l.axes != 0 }

func (t *jointColumns) put(i int, r *jointRow) {
	t.reach(i)
	t.replace(i, r, r.digest())
}

// replace sets the definition of a joint, whose digest is given.
func (t *jointColumns) replace(i int, r *jointRow, digest uint64) {
	t.count(&t.rows[i], -1)
	t.rows[i], t.digests[i] = *r, digest
	t.count(r, 1)
}

// digest returns the number that represents a definition in the state hash.
func (r *jointRow) digest() uint64 {
	if r.kind == 0 {
		return 0
	}
	return statehash.Rows(wordsOfRow(r)[:r.used()])
}

// framesDigest returns a number that follows from the kind and the frames.
func (r *jointRow) framesDigest() uint64 {
	part := jointRow{kind: r.kind, frameA: r.frameA, frameB: r.frameB}
	return statehash.Rows(wordsOfRow(&part)[:jointCommonWords])
}

// reach extends the columns up to a joint.
func (t *jointColumns) reach(i int) {
	for i >= len(t.rows) {
		t.rows, t.digests = append(t.rows, jointRow{}), append(t.digests, 0)
		t.solved, t.layouts = append(t.solved, rigid3.Joint{}), append(t.layouts, jointLayout{})
	}
}

func (t *jointColumns) clear(i int) {
	t.replace(i, &jointRow{}, 0)
	t.solved[i] = rigid3.Joint{}
	if t.layouts[i] != (jointLayout{}) {
		t.layouts[i] = jointLayout{}
		t.version++
	}
}

// reset removes all joints.
func (t *jointColumns) reset() {
	t.rows, t.digests, t.solved, t.layouts = t.rows[:0], t.digests[:0], t.solved[:0], t.layouts[:0]
	t.breakable, t.reporting, t.noCollide, t.mouseJoints = 0, 0, 0, 0
	t.version++
}

func (t *jointColumns) copyFrom(src *jointColumns) {
	t.rows, t.digests = append(t.rows[:0], src.rows...), append(t.digests[:0], src.digests...)
	t.solved, t.layouts = append(t.solved[:0], src.solved...), append(t.layouts[:0], src.layouts...)
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

// jointPreventsCollision reports whether a joint keeps two bodies from colliding.
func (s *solver) jointPreventsCollision(a, b uint32) bool {
	return s.joints.noCollide > 0 && s.jointTable.Between(a, b, s.joints.preventsCollision)
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
	if s.joints.rows[i] != *r && s.replaceJoint(i, r, r.digest()) {
		s.updateJoint(i)
	}
}

// replaceJoint replaces the definition of a joint by one of the same kind, which has that digest, and wakes its bodies. It reports whether
// anything changed: then updateJoint must follow.
func (s *solver) replaceJoint(i int, r *jointRow, digest uint64) bool {
	before := &s.joints.rows[i]
	if *before == *r {
		return false
	}
	if before.frameA != r.frameA || before.frameB != r.frameB {
		s.joints.solved[i].Kept.Known = 0
	}
	s.wakeJoint(i)
	s.joints.replace(i, r, digest)
	return true
}

// updateJoints updates the joints of a body whose type, mass or centre of mass has changed.
func (s *solver) updateJoints(body int) {
	for end := range s.jointTable.Of(body) {
		s.updateJoint(end / 2)
	}
}

// updateJoint derives the solver's joint from the definition. Impulses stay, except those of parts that the joint no longer has, and so does
// the number of turns.
func (s *solver) updateJoint(i int) {
	if s.deriveJoint(i) {
		s.joints.version++
	}
}

// deriveJoint is updateJoint without a new version of the layouts: it reports whether one is needed. Workers can derive different joints at the
// same time.
func (s *solver) deriveJoint(i int) (layout bool) {
	c, j := s.cols, s.configuredJoint(i)
	kept := &s.joints.solved[i].Kept
	dynamicA, dynamicB := c.Type[j.A] == DynamicBody, c.Type[j.B] == DynamicBody
	if (c.Flags[j.A]|c.Flags[j.B])&FlagDisabled != 0 || !dynamicA && !dynamicB {
		j = rigid3.Joint{}
		dynamicA, dynamicB = false, false
	}
	j.Kept.Twist, j.Kept.Known = kept.Twist, kept.Known
	axes := uint32(0)
	for k := range j.Axes {
		if parts := j.Axes[k].Parts; parts != 0 {
			axes |= 1 << k
			j.Kept.Axes[k] = keptImpulse(&kept.Axes[k], parts)
		}
	}
	if was := &s.joints.layouts[i]; was.locked == j.Locked && was.soft == j.Soft {
		j.Kept.Rows = kept.Rows
	}
	to := jointLayout{j.Locked, j.Soft, axes, j.A, j.B, dynamicA, dynamicB, s.joints.rows[i].framesDigest()}
	if to.takesPart() {
		j.Kept.Impulse, j.Kept.Angular = kept.Impulse, kept.Angular
	}
	s.joints.solved[i] = j
	layout = s.joints.layouts[i] != to
	s.joints.layouts[i] = to
	return layout
}

// keptImpulse returns the impulses of some parts.
func keptImpulse(a *rigid3.AxisImpulse, parts uint32) (kept rigid3.AxisImpulse) {
	if parts&rigid3.PartSpring != 0 {
		kept.Spring = a.Spring
	}
	if parts&rigid3.PartMotor != 0 {
		kept.Motor = a.Motor
	}
	if parts&rigid3.PartLimits != 0 {
		kept.Lower, kept.Upper = a.Lower, a.Upper
	}
	return kept
}

// configuredJoint returns the solver's joint of a definition, as if it were not idle.
func (s *solver) configuredJoint(i int) rigid3.Joint {
	r := &s.joints.rows[i]
	a, b := s.jointTable.Bodies(i)
	j := rigid3.Joint{
		A: a, B: b, Hertz: r.hertz, Damping: r.damping, Target: rigid3.Identity,
		AnchorA: vecOf(r.frameA.Point).Sub(s.centre(int(a))), AnchorB: vecOf(r.frameB.Point).Sub(s.centre(int(b))),
		FrameA: placedRotation(r.frameA.Rotation), FrameB: placedRotation(r.frameB.Rotation),
	}
	s.configureJoint(r, &j)
	if JointKind(r.kind) == MouseJoint {
		j.AnchorA = s.mouseAnchor(i, r)
	}
	return j
}

// Sets of coordinates.
const (
	linearRows  = 1<<rigid3.LinearX | 1<<rigid3.LinearY | 1<<rigid3.LinearZ
	angularRows = 1<<rigid3.Twist | 1<<rigid3.SwingY | 1<<rigid3.SwingZ
)

// configureJoint sets what a joint does, from its definition.
func (s *solver) configureJoint(r *jointRow, j *rigid3.Joint) {
	switch JointKind(r.kind) {
	case DistanceJoint:
		var d DistanceJointDef
		d.fields().set(r, noBodies)
		d.configure(j)
	case SphericalJoint:
		var d SphericalJointDef
		d.fields().set(r, noBodies)
		d.configure(j)
	case RevoluteJoint:
		var d RevoluteJointDef
		d.fields().set(r, noBodies)
		j.Locked = linearRows | angularRows&^(1<<rigid3.Twist)
		j.Axes[rigid3.Twist] = axisOf(d.EnableSpring, d.EnableLimit, d.EnableMotor, rigid3.JointAxis{
			Target: d.TargetAngle, Hertz: d.Hertz, Damping: d.Damping,
			MotorSpeed: d.MotorSpeed, MaxMotorForce: d.MaxMotorTorque, Lower: d.LowerAngle, Upper: d.UpperAngle,
		})
	case PrismaticJoint:
		var d PrismaticJointDef
		d.fields().set(r, noBodies)
		j.Locked = angularRows | linearRows&^(1<<rigid3.LinearX)
		j.Axes[rigid3.LinearX] = axisOf(d.EnableSpring, d.EnableLimit, d.EnableMotor, rigid3.JointAxis{
			Target: d.TargetTranslation, Hertz: d.Hertz, Damping: d.Damping,
			MotorSpeed: d.MotorSpeed, MaxMotorForce: d.MaxMotorForce, Lower: d.LowerTranslation, Upper: d.UpperTranslation,
		})
	case WeldJoint:
		var d WeldJointDef
		d.fields().set(r, noBodies)
		j.Locked = linearRows | angularRows
		if d.LinearHertz > 0 {
			j.Soft, j.Linear = rigid3.SoftLinear, rigid3.Drive{Hertz: d.LinearHertz, Damping: d.LinearDamping}
		}
		if d.AngularHertz > 0 {
			j.Soft, j.Angular = j.Soft|rigid3.SoftAngular, rigid3.Drive{Hertz: d.AngularHertz, Damping: d.AngularDamping}
		}
	case WheelJoint:
		var d WheelJointDef
		d.fields().set(r, noBodies)
		d.configure(j)
	case MotorJoint:
		var d MotorJointDef
		d.fields().set(r, noBodies)
		s.configureMotor(&d, j)
	case GenericJoint:
		var d GenericJointDef
		d.fields().set(r, noBodies)
		d.configure(j)
	case MouseJoint:
		var d MouseJointDef
		d.fields().set(r, noBodies)
		if d.MaxForce > 0 {
			j.Locked, j.Soft, j.Linear = linearRows, rigid3.SoftLinear, s.springDrive(&d.JointDef, d.Hertz, d.Damping, d.MaxForce)
		}
	}
}

var noBodies [2]Body

// axisOf returns an axis with some of its parts.
func axisOf(spring, limit, motor bool, a rigid3.JointAxis) rigid3.JointAxis {
	if spring && a.Hertz > 0 {
		a.Parts |= rigid3.PartSpring
	}
	if limit {
		a.Parts |= rigid3.PartLimits
	}
	if motor {
		a.Parts |= rigid3.PartMotor
	}
	if a.Parts == 0 {
		return rigid3.JointAxis{}
	}
	return a
}

func (d *DistanceJointDef) configure(j *rigid3.Joint) {
	if !d.EnableSpring {
		j.Axes[rigid3.Length] = rigid3.JointAxis{Parts: rigid3.PartLimits, Lower: d.Length, Upper: d.Length}
		return
	}
	j.Axes[rigid3.Length] = axisOf(true, d.EnableLimit, d.EnableMotor, rigid3.JointAxis{
		Target: d.Length, Hertz: d.Hertz, Damping: d.Damping, LowerSpringForce: -d.MaxSpringForce, UpperSpringForce: d.MaxSpringForce,
		MotorSpeed: d.MotorSpeed, MaxMotorForce: d.MaxMotorForce, Lower: d.MinLength, Upper: d.MaxLength,
	})
	if a := &j.Axes[rigid3.Length]; a.Parts&rigid3.PartSpring != 0 && (d.LowerSpringForce != 0 || d.UpperSpringForce != 0) {
		a.LowerSpringForce, a.UpperSpringForce = d.LowerSpringForce, d.UpperSpringForce
	}
}

func (d *SphericalJointDef) configure(j *rigid3.Joint) {
	j.Locked = linearRows
	switch {
	case d.EnableSpring && d.Hertz > 0:
		j.Locked, j.Soft = j.Locked|angularRows, rigid3.SoftAngular
		j.Angular = rigid3.Drive{Hertz: d.Hertz, Damping: d.Damping, MaxForce: d.MaxSpringTorque}
		j.Target = placedRotation(d.TargetRotation)
	case d.EnableMotor && d.MaxMotorTorque > 0:
		j.Locked, j.Soft = j.Locked|angularRows, rigid3.SoftAngular
		j.Angular = rigid3.Drive{MaxForce: d.MaxMotorTorque, Velocity: vecOf(d.MotorVelocity)}
	}
	if d.EnableConeLimit {
		j.Axes[rigid3.Cone] = rigid3.JointAxis{Parts: rigid3.PartLimits, Lower: float32(math.Inf(-1)), Upper: d.ConeAngle}
	}
	if d.EnableSwingLimit {
		j.Axes[rigid3.SwingY] = rigid3.JointAxis{Parts: rigid3.PartLimits, Lower: d.LowerSwing[0], Upper: d.UpperSwing[0]}
		j.Axes[rigid3.SwingZ] = rigid3.JointAxis{Parts: rigid3.PartLimits, Lower: d.LowerSwing[1], Upper: d.UpperSwing[1]}
	}
	if d.EnableTwistLimit {
		j.Axes[rigid3.Twist] = rigid3.JointAxis{Parts: rigid3.PartLimits, Lower: d.LowerTwist, Upper: d.UpperTwist}
	}
}

func (d *WheelJointDef) configure(j *rigid3.Joint) {
	j.Locked = 1<<rigid3.LinearX | 1<<rigid3.LinearZ | 1<<rigid3.SwingZ
	j.Axes[rigid3.LinearY] = axisOf(d.EnableSpring, d.EnableLimit, false, rigid3.JointAxis{
		Hertz: d.Hertz, Damping: d.Damping, Lower: d.LowerTranslation, Upper: d.UpperTranslation,
	})
	j.Axes[rigid3.Twist] = axisOf(false, false, d.EnableMotor, rigid3.JointAxis{MotorSpeed: d.MotorSpeed, MaxMotorForce: d.MaxMotorTorque})
	if !d.EnableSteering {
		j.Locked |= 1 << rigid3.SwingY
		return
	}
	j.Axes[rigid3.SwingY] = axisOf(true, d.EnableSteeringLimit, false, rigid3.JointAxis{
		Target: d.TargetSteeringAngle, Hertz: d.SteeringHertz, Damping: d.SteeringDamping, LowerSpringForce: -d.MaxSteeringTorque, UpperSpringForce: d.MaxSteeringTorque,
		Lower: d.LowerSteeringAngle, Upper: d.UpperSteeringAngle,
	})
}

func (d *GenericJointDef) configure(j *rigid3.Joint) {
	for k := range d.Axes {
		a := &d.Axes[k]
		if a.Motion == AxisLocked {
			j.Locked |= 1 << k
			continue
		}
		j.Axes[k] = axisOf(true, a.Motion == AxisLimited, a.MaxMotorForce > 0, rigid3.JointAxis{
			Target: a.Target, Hertz: a.Hertz, Damping: a.Damping, LowerSpringForce: -a.MaxSpringForce, UpperSpringForce: a.MaxSpringForce,
			MotorSpeed: a.MotorSpeed, MaxMotorForce: a.MaxMotorForce, Lower: a.Lower, Upper: a.Upper,
		})
	}
}

func (s *solver) configureMotor(d *MotorJointDef, j *rigid3.Joint) {
	switch {
	case d.MaxSpringForce > 0:
		j.Linear = s.springDrive(&d.JointDef, d.LinearHertz, d.LinearDamping, d.MaxSpringForce)
	case d.MaxVelocityForce > 0:
		j.Linear = rigid3.Drive{MaxForce: d.MaxVelocityForce, Velocity: vecOf(d.LinearVelocity)}
	}
	switch {
	case d.MaxSpringTorque > 0:
		j.Angular = s.springDrive(&d.JointDef, d.AngularHertz, d.AngularDamping, d.MaxSpringTorque)
	case d.MaxVelocityTorque > 0:
		j.Angular = rigid3.Drive{MaxForce: d.MaxVelocityTorque, Velocity: vecOf(d.AngularVelocity)}
	}
	if j.Linear.MaxForce > 0 {
		j.Locked, j.Soft = linearRows, rigid3.SoftLinear
	}
	if j.Angular.MaxForce > 0 {
		j.Locked, j.Soft = j.Locked|angularRows, j.Soft|rigid3.SoftAngular
	}
}

// springDrive returns a drive with a spring. One of 0 Hz is as stiff as the constraints of the joint.
func (s *solver) springDrive(d *JointDef, hertz, damping, force float32) rigid3.Drive {
	if hertz == 0 {
		if hertz, damping = d.ConstraintHertz, d.ConstraintDamping; hertz == 0 {
			hertz = s.sys.JointHertz
		}
		if damping == 0 {
			damping = s.sys.JointDamping
		}
	}
	return rigid3.Drive{Hertz: hertz, Damping: damping, MaxForce: force}
}

// updateMouseTargets sets the anchors of mouse joints to their targets, relative to body A.
func (s *solver) updateMouseTargets() {
	if s.joints.mouseJoints == 0 {
		return
	}
	for i := range s.joints.rows {
		r, j := &s.joints.rows[i], &s.joints.solved[i]
		if JointKind(r.kind) == MouseJoint && j.Locked != 0 {
			j.AnchorA = s.mouseAnchor(i, r)
		}
	}
}

// mouseAnchor returns the target of a mouse joint as an anchor of body A.
func (s *solver) mouseAnchor(i int, r *jointRow) rigid3.Vec {
	a, _ := s.jointTable.Bodies(i)
	pose := s.pose(int(a))
	return pose.Q.Unrotate(vecOf([3]float32(r.numbers[:3])).Sub(pose.P))
}

// wakeJoint wakes the bodies of a joint that is destroyed or changed.
func (s *solver) wakeJoint(i int) {
	a, b := s.jointTable.Bodies(i)
	s.sleep.Wake(int(a))
	s.sleep.Wake(int(b))
}

// wakeJointUnlessNew wakes the bodies of a new joint, except those that were created asleep since the last step.
func (s *solver) wakeJointUnlessNew(i int) {
	a, b := s.jointTable.Bodies(i)
	for _, body := range [...]int{int(a), int(b)} {
		if !s.sleep.CreatedAsleep(body) {
			s.sleep.Wake(body)
		}
	}
}

// jointAsleep reports whether no body of a joint is awake.
func (s *solver) jointAsleep(i int) bool {
	a, b := s.jointTable.Bodies(i)
	return s.sleep.On && !s.sleep.Awake(int(a)) && !s.sleep.Awake(int(b))
}
