// Package physics moves 2D rigid bodies in a plane of the 3D world: handles,
// Structure-of-Arrays float32 columns that can be read and written, a solver of contacts and
// joints that works in them, events, queries, snapshots, and the state hash.
//
// # Model
//
// A body is static, kinematic or dynamic and carries any number of shapes: circles,
// capsules, segments, and convex polygons of up to 8 vertices with a radius; and chains of
// segments, on whose vertices nothing catches. Filters, ignored pairs and one-way platforms
// say what passes through what. The vocabulary is Box2D v3's. Units are metres, kilograms,
// seconds and radians. Bodies live in the XY or in the XZ plane (Config.Plane, and below); an angle
// is counter-clockwise from the first axis of the plane to the second.
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
// A Step finds the pairs of shapes that are near each other, where they touch, and moves the
// bodies in Config.SubSteps sub-steps with soft contacts that are warm-started from
// those of the step before. Package native/rigid has these stages. Another solver can
// stand behind the same handles: physics/box2d wraps ByteArena/box2d, which is slower, whose
// bits depend on the machine, and which lacks what is ErrUnsupported there. Importing physics
// alone does not link that library.
//
// # The plane
//
// Entities have three axes, and bodies the two of Config.Plane. One rule says what becomes of the
// third wherever three components reach a body: in Pull, which reads the columns of the entities, in
// evertick.Sim.CreateBody, and in the skills of package loop/skill.
//
//   - A position keeps its third component. It is the entity's own, a height at which it is drawn and
//     found by package spatial, and no body looks at it: two bodies that meet in the plane touch each
//     other at whatever heights their entities are. ShapeDef.Filter keeps layers apart that shall
//     not touch.
//   - A rotation, a velocity, an impulse and the way of a ray must lie in the plane. One with more than a
//     ten-thousandth of its length out of it, which is beyond rounding, is ErrRange, and nothing is
//     changed.
//
// The methods of Plane apply it.
//
// # Ranges
//
// The solver is made for shapes of 0.05 m to 100 m, speeds up to some 100 m/s (dynamic bodies
// are slowed down to Config.MaxSpeed, 400, whatever pushes them), turns of less than a quarter in a step, and
// masses in contact that differ by a factor of 10, or 100 where the heavy one is below. Steps of
// 1/30 s to 1/240 s are usual; those of 1e-6 s to 1000 s are accepted. Contacts rest with an
// overlap of some millimetres, more under a heavy stack, and approaches below
// Config.RestitutionThreshold do not bounce. Positions are float32: 10 km from the origin
// they are millimetres apart.
//
// Whatever is smaller, larger or faster is computed without harm to the rest, and less
// well: a body that moves farther in a step than half its own size and half that of another
// dynamic or kinematic body may pass through it. Two balls of 0.5 m meet at up to 15 m/s
// each at 60 Hz.
// Shapes whose corners are less than 5 mm apart, and coordinates of shapes beyond 2^20 m, are
// refused; so are masses and inertias that are not between 1e-19 and 1e19.
//
// # Fast bodies
//
// A dynamic body that moves in a step by more than half of what it measures where it is thinnest
// is fast. The core of its shapes does not get past a static shape, however thin and
// however fast it is: if it would, the body is set back, at the end of the step, to where its
// surface met that shape, with the velocity that it has, and the next step lets it bounce or
// slide. A core is what is left when a shape is made thinner all around by half of the
// distance from its centroid to its surface. Where the core was inside already, what surrounds the
// centroid does not get past. A body that was set back has moved less than its velocity says.
//
// What stops a body is what it collides with: it is set back to where the two have a contact. So what comes
// to a chain beyond its open end or from behind passes, fast or slow, and what comes to a one-way platform from
// behind. A body that touched the shape before the step is stopped only if the two had a contact;
// if it would be set back to where it was, it slides along the shape and loses the velocity that led into
// it. So nothing hangs in the air.
//
// A bullet (BodyDef.Bullet, SetBullet) does not get past the shapes of moving bodies that are not bullets
// either, be they asleep, kinematic or dynamic: both are followed from their poses before the step to those
// after it, turns included. A bullet need not be fast for that: a rod that turns does not get past a slow one. A
// bullet that met a moving body is carried on with it to the end of the step, and static shapes stop it on that way. A
// dynamic body that has less mass than the bullet carries it nowhere.
//
// Sensors and filters are heeded; sensors see nothing of the way in between. Continuous collision holds up nothing
// that lies or slides on a floor. Collision by itself does where a floor is made of shapes that do not know of each
// other, boxes or segments: at their seams a body may lose speed, and a box may be thrown up. Chains have
// no such seams: up to 399 m/s, what slides on one or on a single box comes as far as its speed says.
//
// Not kept apart are fast bodies that are not bullets and other moving bodies, kinematic ones
// among them; bullets and bullets; a bullet and a lighter body that is fast and not a bullet; and what is between
// a moving body and a static one that it is pressed against. A corner that a shape grazes with less than what was
// taken off its core does not stop it. What is slow and pressed by others can be pressed through a
// thin wall, a little in each step. How a body turns in a step is a guess if that is more
// than half a turn. Config.DisableContinuous turns all this off.
//
// # Joints
//
// A joint ties two bodies: a DistanceJoint (rod, rope or spring), a RevoluteJoint, PrismaticJoint,
// WeldJoint, WheelJoint, MotorJoint, MouseJoint or FilterJoint. Each kind has a definition, to
// which JointDef is common: the bodies, and a JointFrame on each of them in body coordinates, which stays
// where it is on the body when shapes come and go.
//
//	def := physics.DefaultRevoluteJointDef()
//	def.BodyA, def.BodyB = wall, door
//	def.FrameA.Point, def.FrameB.Point = hinge, [2]float32{-0.5, 0}
//	def.EnableMotor, def.MaxMotorTorque = true, 10
//	j, err := w.CreateRevoluteJoint(def)
//	...
//	err = w.SetMotorSpeed(j, 1)
//
// What can be changed is changed by reading the definition, changing and setting it (RevoluteJointDef,
// SetRevoluteJointDef), in effect from the next step on. JointForce and JointTorque tell what
// a joint did in the last sub-step, JointAngle, JointTranslation, JointLength and
// JointSpeed where it is. Joints are solved before contacts, and what is stiff in them is as stiff as
// Config.JointHertz says: under loads of a hundred times the mass of a link, they give some
// centimetres. A spring makes one implicit Euler step in each sub-step, of h seconds: it swings with a
// damping ratio of Damping + π·Hertz·h in place of Damping. Where many springs hold each other, as in a
// cloth or in soft matter, let Hertz be at most a twelfth of 1/h, which is 20 Hz for four sub-steps of
// 1/60 s. One that is made far from where it holds pulls with all its might: put the bodies
// where the joint wants them first.
//
// Two bodies of a joint do not collide, unless it says CollideConnected. A joint dies with either body,
// or breaks at the end of a step in which it bore more than its BreakForce or BreakTorque: Events.Broken
// tells of it. It is idle, and has no force, while neither body is dynamic, or one is disabled.
//
// # Queries and characters
//
// Queries come in batches, arrays in and rows out, and see the world as it is at the call:
// RayClosest and RayAll; with a Form, which is a shape without a body, CastClosest, CastAll,
// Overlaps and Nearest; and Distances between shapes. A QueryFilter says what they find.
//
//	rays := physics.Rays{X: x, Y: y, DX: dx, DY: dy} // four slices of one length
//	var hits physics.RayHits                         // to be used again and again
//	err := w.RayClosest(&rays, &hits)
//
// Move takes characters, which are capsules and no bodies, through the world: along walls, up
// steps and slopes, with what carries them, through one-way platforms from behind. Explode gives
// impulses at once, and ApplyWind forces for the next step.
//
// # Columns
//
// World.Columns holds the state of the bodies, indexed by Body.Index: reading ten thousand
// positions is reading a slice. Between calls a program may also write to
//
//	X, Y                              where the body is
//	Cos, Sin and Angle                how it is turned: of one angle all three
//	VX, VY, W                         velocities, but not those of static bodies
//	ForceX, ForceY, Torque            what acts during the next step
//	LinearDamping, AngularDamping, GravityScale
//
// of live bodies, and the next step begins with what it finds. The other columns are for
// reading. In the rows of bodies with a Slot the other way round works as well: Sync
// writes positions and rotations to the columns of the entities, and Pull takes over what
// a program has written there since, as a teleport, by the rule of the plane.
//
// # Sleep
//
// Bodies that have been at rest for half a second fall asleep, together with those that they
// touch, and take next to no time until something wakes them: World.Awake says what does.
// Writing to their columns wakes them as well. Other columns than those of place, velocity
// and force are looked at when a body is awake. BodyDef.Asleep lets bodies, or a whole world,
// begin asleep. Config.DisableSleep turns it off.
//
// # Guarantees
//
// Equal calls give equal bits: on every level, on every GOARCH and GOAMD64, with any number of
// workers, with cgo or without, and after Restore, Clone and CopyFrom as in the original.
// The order in which bodies and shapes were created is part of the calls: indices are handed
// out lowest first, contacts are solved in the order of the indices of their shapes, and joints in that
// of their own.
// World.StageHashes tells in which stage two runs part. World.AppendDraw gives a picture of a
// world as data, and package physics/svg writes it.
//
// Methods take effect at once and in call order, not inside Step; Commands collect changes
// that Step makes at its start, all or none. A call that returns an error has changed
// nothing; NaN, infinities and values outside the documented ranges are refused with an
// error that names field and value. A handle whose object was destroyed gives ErrStale for
// ever, however often its place was reused, unless the state of an earlier time is restored.
//
// A body of which a column is not finite, or 2^63 and more, when a step begins or ends is
// disabled before others notice: it is at rest, touches nothing, and has zero for what was not
// usable. Events.Disabled names it with the step and the column; Enable brings it back, as it does
// one that BodyDef.Disabled or World.Disable took out. A
// Step of this package's solver fails for its arguments only, and for an altered
// floating-point environment. With another engine a state that is not finite, or an engine that
// stops, ends the world: from then on Sync and every call that would step or change it
// return the same error.
//
// What a step needs grows with the scene and is kept: once it has seen the largest, Step,
// Commands, Sync, Pull, Hash, CopyFrom and Snapshot allocate nothing. Creating a body or a
// shape takes constant time, but for a dynamic body of many shapes, all of which are
// weighed. A World is not safe for concurrent use; different worlds are independent.
//
// # Limitations
//
// Box2D v3 is better where a game needs callbacks within a step. Sensors do
// not see each other. Where thousands of shapes are in one place, only pairs within a
// bound are kept: World.OmittedContacts counts the others, and rigid.BroadPhase.FindPairs has the rule.
package physics
