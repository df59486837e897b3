// Package physics3 is a rigid-body engine for three dimensions with the vocabulary of package physics: bodies, shapes, contacts, sleep and events in
// columns that the program reads without copying. Its steps have the same bits on every machine, level and number of workers, and in pure Go; Snapshot
// holds all that decides the future.
//
// Shapes of static and kinematic bodies can also be meshes of triangles, height fields, and terrains of these.
//
// CreateJoint joins two bodies: with a DistanceJointDef, SphericalJointDef, RevoluteJointDef, PrismaticJointDef, WeldJointDef, WheelJointDef, MotorJointDef,
// GenericJointDef, MouseJointDef or FilterJointDef. JointState returns what a joint does.
//
// Batches of queries find shapes in the present world: RayClosest, RayAny and RayAll by rays; CastClosest, CastAll, Overlaps and Nearest by a Form, which is
// a shape without a body; Distances measures pairs of shapes. Their results do not depend on levels and workers either.
//
// Move moves batches of characters, which are capsules without bodies. Their state is in columns that the program keeps.
//
// Vectors are [3]float32, and rotations unit quaternions x, y, z, w. Axes are right-handed; lengths are metres, masses kilograms, times seconds.
//
//	w, err := physics3.New(physics3.Config{Gravity: [3]float32{0, -9.81, 0}})
//	...
//	d := physics3.DefaultBodyDef()
//	d.Type, d.Position = physics3.DynamicBody, [3]float32{0, 10, 0}
//	b, err := w.CreateBody(d)
//	...
//	_, err = w.CreateBox(b, physics3.DefaultShapeDef(), physics3.Box{Half: [3]float32{0.5, 0.5, 0.5}})
//	...
//	err = w.Step(1. / 60)
package physics3
