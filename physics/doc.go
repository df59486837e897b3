// Package physics moves 2D rigid bodies in a plane of the 3D world: handles,
// Structure-of-Arrays float32 columns that can be read and written, a solver of contacts and
// joints that works in them, events, queries, snapshots, and the state hash.
//
// # Model
//
// A body is static, kinematic or dynamic and carries any number of shapes: circles, capsules, segments, and convex
// polygons of up to 8 vertices with a radius; and chains of segments, on whose vertices nothing catches. Filters,
// spans, ignored pairs and one-way platforms let shapes pass through each other. The vocabulary is that of Box2D v3. Units
// are metres, kilograms, seconds and radians. Bodies live in the XY or in the XZ plane (Config.Plane, and below); an
// angle is counter-clockwise from the first axis of the plane to the second.
//
//	w, err := physics.New(physics.Config{Gravity: [2]float32{0, -9.81}})
//	def := physics.DefaultBodyDef()
//	def.Type = physics.DynamicBody
//	ball, err := w.CreateBody(def)
//	_, err = w.CreateCircle(ball, physics.DefaultShapeDef(), physics.Circle{Radius: 0.5})
//	err = w.Step(1.0 / 60)
//	for _, touch := range w.Events().Begin {
//		// two shapes began to touch
//	}
//	err = w.Sync(transforms) // into the columns of the entities
//
// A Step finds the pairs of shapes that are near each other and their contact points, and moves the bodies in
// Config.SubSteps sub-steps with soft contacts that are warm-started from those of the last step. Package
// internal/rigid has these stages. Another solver can serve the same handles: physics/box2d wraps ByteArena/box2d,
// which is slower, whose bits depend on the machine, and which lacks the features that return ErrUnsupported there.
// Importing physics alone does not link that library.
//
// # The plane
//
// Entities have three axes, and bodies the two of Config.Plane. One rule defines the treatment of the
// third axis wherever three components reach a body: in Pull, which reads the columns of the entities, in
// evertick.Sim.CreateBody, and in the skills of package skill.
//
//   - A position keeps its third component. It belongs to the entity, as the height at which it is drawn and
//     at which package spatial finds it. Bodies ignore it: two bodies that meet in the plane touch each
//     other at any heights of their entities, unless the spans of their shapes differ: see Span.
//   - A rotation, a velocity, an impulse and the translation of a ray must lie in the plane. If more than a
//     ten-thousandth of its length leads out of it, which is beyond rounding, the call returns ErrRange and
//     changes nothing.
//
// The methods of Plane implement this rule.
//
// # Ranges
//
// The solver is made for shapes of 0.05 m to 100 m, speeds up to some 100 m/s (the speed of dynamic bodies is limited
// to Config.MaxSpeed, 400), rotations of less than a quarter turn in a step, and masses in contact that differ by a
// factor of 10, or 100 if the heavy one is below. Steps of 1/30 s to 1/240 s are usual; 1e-6 s to 1000 s are allowed.
// Contacts rest with an overlap of some millimetres, more under a heavy stack: the top of a column of 40 boxes of 1 m
// is 0.64 m lower, and the column stands. How far it sinks follows from gravity and ContactHertz, not from the size: six boxes of
// any size sink by 11 mm, which is a fifth of a column of boxes of 1 cm, and by 2.8 mm with SubSteps 8 and ContactHertz 60.
// Approaches below Config.RestitutionThreshold do not bounce. Positions are float32: see "Large worlds".
//
// Bodies beyond these ranges do no harm to the others, but the solver handles them less
// well: a body that moves farther in a step than half its own size and half the size of another
// dynamic or kinematic body may pass through it. Two balls of 0.5 m collide at up to 15 m/s
// each at 60 Hz.
// Shapes whose corners are less than 5 mm apart, coordinates of shapes beyond 2^20 m, and
// masses and inertias outside 1e-19 to 1e19 are refused.
//
// # Fast bodies
//
// A dynamic body is fast if it moves in a step by more than half of its least thickness. The core of its shapes never
// passes a static shape, however thin the shape and however fast the body. If it would, the end of the step moves the
// body back to where its surface met that shape. It keeps its velocity, and the next step makes it bounce or slide.
// The core is the shape, thinner on all sides by half of the distance from its centroid to its surface. If the core
// already overlapped the static shape, the area around the centroid does not pass. A body that was moved back has
// moved less than its velocity implies.
//
// A shape stops a fast body where the two would have a contact. So bodies pass a chain beyond its open end or from
// its back, fast or slow, and a one-way platform from its back. A shape that the body touched before the step stops it
// only if the two had a contact. If the body would move back to where it was, it slides along the shape instead and
// loses the velocity into it. So no body hangs in the air.
//
// A bullet (BodyDef.Bullet, SetBullet) does not pass the shapes of moving bodies that are not bullets either, whether
// they are asleep, kinematic or dynamic. The solver follows both from their poses before the step to those after it,
// including rotation. A bullet need not be fast for that: a rotating rod does not pass a slow one. A moving body
// carries a bullet that it met along to the end of the step, and static shapes stop the bullet on that way. A dynamic
// body with less mass than the bullet does not carry it.
//
// Filters apply to continuous collision, and sensors stop nothing. A sensor also detects a fast body of which it is
// not a part and that it overlaps only within a step, before something stops the body: the step reports the begin, and
// the next one the end, unless the two overlap then. All other overlaps, and those with segments of chains, are found
// with the poses at the start of a step. So a sensor that moves across a slow body within a step does not detect it.
//
// Continuous collision does not slow down bodies that lie or slide on a floor.
//
// # Floors of many shapes
//
// A body slides over polygons of static bodies side by side as over one: up to 399 m/s, as far as its speed implies. No contact leads into
// a static polygon that touches the one it belongs to, that the body also meets, and that covers the edge there: the polygon then counts as
// longer, up to the end of the other one. Two polygons touch if they overlap by at most 5 mm, or are at most as far apart; a step that is higher stops
// what lies on an edge. Polygons with a radius, one-way platforms and sensors are not joined.
//
// Other seams hold bodies up: those of segments, and those of polygons that belong to kinematic or dynamic bodies, to one or to several. There
// a body loses speed at any speed, a box can stop, and it can jump up. Chains have no seams. UnionOutlines makes chains of a ground of many
// boxes, such as the tiles of a map, which also takes less time.
//
// Some bodies still pass through each other: a fast body that is not a bullet and another moving body, even a kinematic
// one; two bullets; a bullet and a lighter body that is fast and not a bullet; and a body between
// a moving body and a static one against which that presses. A corner does not stop a shape that it hits outside
// the core. Slow bodies under pressure can be pushed through a
// thin wall, a little in each step. If a body turns by more than half a turn in a step, its rotation within the step
// is a guess. Config.DisableContinuous and World.EnableContinuous turn continuous collision off.
//
// # Large worlds
//
// Neighbouring positions are 0.06 mm apart at 1 km from the origin, 1 mm at 10 km, and 8 mm at 100 km. Only positions
// have this precision: contacts, joints, queries and sweeps compute with differences of positions, and impulses and
// velocities do not depend on the place. So at 10 km towers, pyramids, chains of joints, bouncing, characters and rays
// behave as at the origin, within some millimetres. Bodies at rest fall asleep up to 32 km. At 100 km piles still stand,
// within 4 cm of where they would be, no bullet passes a wall, and rays hit within 8 mm; but each step rounds the motion
// of a body to multiples of 8 mm. So a ball that rolls at 3 m/s gets 6 % less far. A body slower than 0.23 m/s does not
// move; one at rest can keep such a velocity, and then stays awake. TestFarFromTheOrigin measures all of this.
//
// ShiftOrigin keeps what matters near the origin, in a world of any size. It moves the origin by a multiple of
// OriginUnit; World.Origin, in float64, plus a position is the absolute position. Shift when the player, or the camera,
// is some kilometres away:
//
//	if x > 4096 || x < -4096 {
//		err := w.ShiftOrigin([2]float32{x - float32(math.Mod(float64(x), physics.OriginUnit)), 0})
//	}
//
// A shift towards bodies is exact for them, and they continue as if they had been created there, bit for bit. Bodies far
// from the new origin are rounded, as in any world of float32. A world has one origin, so two crowds that are 1000 km
// apart cannot both be precise at once: let the far one sleep, or give each crowd a World of its own. A shift wakes
// nothing. evertick.Sim.ShiftOrigin also moves the entities.
//
// # Joints
//
// A joint connects two bodies: a DistanceJoint (rod, rope or spring), a RevoluteJoint, PrismaticJoint,
// WeldJoint, WheelJoint, MotorJoint, MouseJoint or FilterJoint. The definitions of all kinds
// contain a JointDef: the bodies, and a JointFrame on each of them in body coordinates, which stays
// in place on the body when shapes are created or destroyed.
//
//	def := physics.DefaultRevoluteJointDef()
//	def.BodyA, def.BodyB = wall, door
//	def.FrameA.Point, def.FrameB.Point = hinge, [2]float32{-0.5, 0}
//	def.EnableMotor, def.MaxMotorTorque = true, 10
//	j, err := w.CreateRevoluteJoint(def)
//	...
//	err = w.SetMotorSpeed(j, 1)
//
// To change a joint, read its definition, change it and set it again (RevoluteJointDef, SetRevoluteJointDef); this
// takes effect with the next step. JointDef and SetJointDef do the same for the fields that all kinds have. JointForce,
// JointTorque and JointMotorForce return the load of a joint in the last sub-step; JointAngle, JointTranslation,
// JointLength, JointSpeed and JointSeparation return its state. The solver handles joints before contacts.
// Config.JointHertz defines the stiffness of joints without a spring, and JointDef.ConstraintHertz the stiffness of a single
// joint: a load hangs g/(2π·ConstraintHertz)² too low, and chains that bear a hundred times the mass of a link give some
// centimetres. With five hundred times the mass they part by 0.6 m in the mean of swings and by 1.4 m at worst, for a moment in
// which the chain snaps tight, and by half as much with SubSteps 8 and JointHertz 120. A limit is stronger than the motor
// and the spring of its own joint, whatever their force: they do not press against it.
//
// A spring makes one implicit Euler step in each sub-step of h seconds, so it swings with a damping ratio of
// Damping + π·Hertz·h in place of Damping, and gains no energy at any frequency. Its frequency holds for the motion that the
// joint leaves: about the hinge, along the slider. That of the angular spring of a motor joint, whose point may yield, holds
// about the centres of mass. Where many springs depend on each other, as
// in cloth or soft bodies, Hertz should be at most 1/(12·h), which is 20 Hz for four sub-steps of 1/60 s. A joint
// that is created far from its target pose pulls with great force: move the bodies there first. Impulses of
// joints that contradict each other can grow in each step. At the end of a step those of a joint that would change a
// velocity by 2^40 m/s or rad/s are dropped.
//
// The bodies of a joint do not collide with each other, unless CollideConnected is true. A joint is destroyed with
// either body, or breaks at the end of a step in which its load exceeded BreakForce or BreakTorque: see
// Events.Broken. A joint whose load exceeds ForceThreshold or TorqueThreshold stays, and is in Events.JointLoads. A
// joint is idle, and has no force, while neither body is dynamic, or one is disabled.
//
// # Queries and characters
//
// Queries come in batches, arrays in and rows out, and see the present state of the world:
// RayClosest and RayAll; with a Form, which is a shape without a body, CastClosest, CastAll,
// Overlaps and Nearest; and Distances between shapes. A QueryFilter selects the shapes that they find.
//
//	rays := physics.Rays{X: x, Y: y, DX: dx, DY: dy} // four slices of one length
//	var hits physics.RayHits                         // reuse it
//	err := w.RayClosest(&rays, &hits)
//
// TestPoint, ClosestPoint and RayShape query one shape. AppendContactData returns the contacts that a body had in the
// last step, with their points and impulses, and AppendSensorOverlaps the shapes that were in a sensor.
//
// Move moves characters, which are capsules without bodies, through the world: along walls, up
// steps and slopes, with moving ground, through one-way platforms from behind. Explode applies
// impulses at once, and ApplyWind applies forces for the next step.
//
// # Columns
//
// World.Columns holds the state of the bodies, indexed by Body.Index: reading ten thousand
// positions is reading a slice. Between calls a program may also write to
//
//	X, Y                              position
//	Cos, Sin and Angle                rotation: all three of the same angle
//	VX, VY, W                         velocities, but not of static bodies
//	ForceX, ForceY, Torque            for the next step
//	LinearDamping, AngularDamping, GravityScale
//
// of live bodies, and the next step uses these values. The other columns are read-only. For bodies with a Slot, Sync
// writes positions and rotations to the columns of the entities, and Pull teleports bodies to the values that a
// program has written there since, by the rule of the plane. World.BodyColumns returns the same columns without their
// types, for networks, inspectors and exporters.
//
// # Sleep
//
// Bodies that have been at rest for half a second fall asleep, together with those that they touch, and take almost
// no time until something wakes them: see World.Awake. Writing to their columns of position, rotation, velocity or
// force wakes them as well; the solver reads the other columns when a body is awake. BodyDef.Asleep lets bodies, or a
// whole world, begin asleep. Config.DisableSleep and World.EnableSleeping turn sleep off.
//
// # Guarantees
//
// Equal calls give equal bits: on every level, on every GOARCH and GOAMD64, with any number of workers, with cgo or
// without, and after Restore, Clone and CopyFrom as in the original. The order in which bodies and shapes are created
// is part of the calls: a new object gets the lowest free index, and the solver handles contacts in the order of the
// indices of their shapes, and joints in the order of their own indices. World.StageHashes shows in which stage two runs
// diverge. World.AppendDraw returns a picture of a world as data; package physics/svg writes it, and
// package physics/raster draws it in pixels.
//
// Methods take effect at once and in call order, not inside Step; Commands collect changes
// that Step makes at its start, all or none. A call that returns an error has changed
// nothing. NaN, infinities and values outside the documented ranges are refused with an
// error that names field and value. A handle of a destroyed object always returns ErrStale,
// even if its index is reused, unless an earlier state is restored.
//
// If a column of a body is not finite, or 2^63 or more, when a step begins or ends, the body is disabled before it
// affects others: it is at rest, touches nothing, and the invalid values become zero. Events.Disabled names it with
// the step and the column. Enable brings it back, like a body that BodyDef.Disabled or World.Disable has disabled. A
// Step of this package's solver fails only for its arguments, and for an altered floating-point environment. With
// another engine a state that is not finite, or an engine that stops, ends the world: from then on Sync and every
// call that would step or change it return the same error.
//
// A world keeps the memory of its steps: after the largest scene, Step,
// Commands, Sync, Pull, Hash, CopyFrom and Snapshot allocate nothing. Creating a body or a
// shape takes constant time, except for a dynamic body with many shapes, whose mass is
// computed from all of them. A World is not safe for concurrent use; different worlds are independent.
//
// # Limitations
//
// Box2D v3 is better where a game needs callbacks within a step. Sensors do
// not detect each other. Where thousands of shapes are in one place, only pairs within a
// bound are kept: World.OmittedContacts counts the others, and broad.Phase.FindPairs has the rule.
package physics
