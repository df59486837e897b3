package physics3

// JointFrame is the point and the axes of a body at which a joint holds it. The first axis, x, is that of the joint: about it a hinge or a wheel turns
// and a shoulder twists, along it a slider slides.
type JointFrame struct {
	// Point in body coordinates, in metres; within ±2^20.
	Point [3]float32
	// Rotation is a quaternion x, y, z, w that turns the axes of the body into those of the frame, of any length above zero. Zero: the axes of the
	// body.
	Rotation [4]float32
}

// JointDef holds the fields that all kinds of joints have in common. In all definitions numbers without other bounds are below 2^63;
// frequencies and damping ratios are at most 1e6. The zero value of each definition works, apart from its bodies.
type JointDef struct {
	// BodyA and BodyB are the bodies; they differ, and at least one should be dynamic. The joint is idle while neither is dynamic, or one is
	// disabled.
	BodyA, BodyB Body
	// FrameA and FrameB are the points and axes at which it holds them.
	FrameA, FrameB JointFrame
	// CollideConnected lets the two bodies collide. They do not if it is false in any joint between them.
	CollideConnected bool
	// BreakForce in N and BreakTorque in N·m are the greatest load of the joint. If it exceeds one in the last sub-step of a step, it is
	// destroyed at the end of the step: see Events.Broken. 0: no bound.
	BreakForce, BreakTorque float32
	// ForceThreshold in N and TorqueThreshold in N·m are the load to report: Events.JointLoads lists the joint after each step in whose last
	// sub-step its load exceeded one of them. 0: never.
	ForceThreshold, TorqueThreshold float32
	// ConstraintHertz in Hz and ConstraintDamping, a damping ratio, define the stiffness of the joint where it is not a spring: of its points,
	// axes and limits. 0: Config.JointHertz, Config.JointDamping. The solver uses at most a quarter of the rate of the sub-steps as the
	// frequency.
	ConstraintHertz, ConstraintDamping float32
}

// DistanceJointDef describes a joint that keeps the points of its frames at a distance. With EnableSpring false it is a rod, without limit
// and motor. Otherwise it is a spring, or, with Hertz 0 and a limit, a rope.
type DistanceJointDef struct {
	JointDef
	// Length of the rod, or of the spring at rest, in metres; not negative.
	Length float32
	// EnableSpring makes it a spring with a frequency in Hz (0: no spring) and a damping ratio. It pulls and pushes with up to MaxSpringForce
	// in N; 0: no bound.
	EnableSpring                   bool
	Hertz, Damping, MaxSpringForce float32
	// LowerSpringForce and UpperSpringForce in N bound the force of the spring in each direction, in place of MaxSpringForce, unless both are 0.
	// Negative forces pull the points together, positive ones push them apart: a spring from -100 to 0 is a rubber band.
	LowerSpringForce, UpperSpringForce float32
	// EnableLimit keeps the length between MinLength and MaxLength, in metres; not negative.
	EnableLimit          bool
	MinLength, MaxLength float32
	// EnableMotor changes the length by MotorSpeed in m/s with up to MaxMotorForce in N.
	EnableMotor               bool
	MaxMotorForce, MotorSpeed float32
}

// SphericalJointDef describes a joint that lets two bodies turn about a common point. The rotation of frame B, seen from frame A, is a swing,
// which turns the x axis by the shortest way, after a twist about it.
type SphericalJointDef struct {
	JointDef
	// EnableSpring turns frame B to TargetRotation, seen from frame A, by a spring with a frequency in Hz (0: no spring) and a damping ratio, and
	// with up to MaxSpringTorque in N·m; 0: no bound. A TargetRotation of zero is the unit rotation.
	EnableSpring                    bool
	Hertz, Damping, MaxSpringTorque float32
	TargetRotation                  [4]float32
	// EnableConeLimit keeps the angle between the x axes of the frames within ConeAngle, in [0, π].
	EnableConeLimit bool
	ConeAngle       float32
	// EnableSwingLimit keeps the swing about the y axis and that about the z axis of frame A between these, in [-π, π].
	EnableSwingLimit       bool
	LowerSwing, UpperSwing [2]float32
	// EnableTwistLimit keeps the twist between these, in radians, within ±65536. Turns are counted: see JointState.Angle.
	EnableTwistLimit       bool
	LowerTwist, UpperTwist float32
	// EnableMotor turns body B, relative to body A, with MotorVelocity in rad/s, about the axes of frame A, with up to MaxMotorTorque in N·m. A
	// joint has a spring or a motor.
	EnableMotor    bool
	MaxMotorTorque float32
	MotorVelocity  [3]float32
}

// RevoluteJointDef describes a joint that lets two bodies turn about the x axes of their frames: a hinge. Its angle is that from frame A to
// frame B, and counts turns: see JointState.Angle.
type RevoluteJointDef struct {
	JointDef
	// EnableSpring turns it to TargetAngle, in radians, within ±65536, by a spring with a frequency in Hz (0: no spring) and a damping ratio.
	EnableSpring                bool
	Hertz, Damping, TargetAngle float32
	// EnableLimit keeps the angle between LowerAngle and UpperAngle, in radians, within ±65536: any range, also of many turns.
	EnableLimit            bool
	LowerAngle, UpperAngle float32
	// EnableMotor turns it by MotorSpeed in rad/s with up to MaxMotorTorque in N·m.
	EnableMotor                bool
	MaxMotorTorque, MotorSpeed float32
}

// PrismaticJointDef describes a joint that lets two bodies slide along the x axis of FrameA, and not turn: a slider. Its translation is the
// distance along the axis from the point of FrameA to that of FrameB.
type PrismaticJointDef struct {
	JointDef
	// EnableSpring moves it to TargetTranslation, in metres, by a spring with a frequency in Hz (0: no spring) and a damping ratio.
	EnableSpring                      bool
	Hertz, Damping, TargetTranslation float32
	// EnableLimit keeps the translation between these, in metres.
	EnableLimit                        bool
	LowerTranslation, UpperTranslation float32
	// EnableMotor moves it by MotorSpeed in m/s with up to MaxMotorForce in N.
	EnableMotor               bool
	MaxMotorForce, MotorSpeed float32
}

// WeldJointDef describes a joint that keeps the frames of two bodies together.
type WeldJointDef struct {
	JointDef
	// LinearHertz and AngularHertz are the frequencies in Hz of the springs that keep points and axes together; 0: stiff. LinearDamping and
	// AngularDamping are their damping ratios.
	LinearHertz, AngularHertz, LinearDamping, AngularDamping float32
}

// WheelJointDef describes a joint that lets body B turn about the x axis of FrameB, and the point of FrameB slide along the y axis of FrameA:
// body B is a wheel, and the y axis is that of its suspension. With EnableSteering the wheel also turns about it.
type WheelJointDef struct {
	JointDef
	// EnableSpring pulls the translation along the axis to zero, by a spring with a frequency in Hz (0: no spring) and a damping ratio.
	EnableSpring   bool
	Hertz, Damping float32
	// EnableLimit keeps the translation between these, in metres.
	EnableLimit                        bool
	LowerTranslation, UpperTranslation float32
	// EnableMotor turns body B, relative to body A, by MotorSpeed in rad/s with up to MaxMotorTorque in N·m.
	EnableMotor                bool
	MaxMotorTorque, MotorSpeed float32
	// EnableSteering lets the axle turn about the suspension, to TargetSteeringAngle in [-π, π], by a spring with a frequency in Hz (0: no
	// spring) and a damping ratio, with up to MaxSteeringTorque in N·m; 0: no bound.
	EnableSteering                                                         bool
	SteeringHertz, SteeringDamping, MaxSteeringTorque, TargetSteeringAngle float32
	// EnableSteeringLimit keeps the angle of the steering between these, in [-π, π].
	EnableSteeringLimit                    bool
	LowerSteeringAngle, UpperSteeringAngle float32
}

// MotorJointDef describes a joint that moves body B to a pose relative to body A, or drives it at a velocity relative to body A. A velocity of
// 0 resists motion, like the friction of a floor in a game seen from above.
type MotorJointDef struct {
	JointDef
	// A spring with LinearHertz and LinearDamping pulls the points of the frames together with up to MaxSpringForce in N, and one with
	// AngularHertz and AngularDamping their axes with up to MaxSpringTorque in N·m. Frequencies are in Hz; 0: stiff, within that force. Damping
	// is a ratio. A force or torque of 0 means no such spring.
	LinearHertz, LinearDamping, MaxSpringForce    float32
	AngularHertz, AngularDamping, MaxSpringTorque float32
	// LinearVelocity in m/s is the velocity of the point of body B relative to that of body A that the joint seeks with up to MaxVelocityForce
	// in N, along the axes of FrameA. MaxVelocityForce must be 0 if MaxSpringForce is not 0.
	LinearVelocity   [3]float32
	MaxVelocityForce float32
	// AngularVelocity in rad/s is the velocity of body B relative to body A, about the axes of FrameA, that the joint seeks with up to
	// MaxVelocityTorque in N·m, which must be 0 if MaxSpringTorque is not 0.
	AngularVelocity   [3]float32
	MaxVelocityTorque float32
}

// GenericJointDef describes a joint that treats each of six axes in its own way. The first three are how far the point of FrameB is from that of
// FrameA along the x, y and z axes of FrameA, in metres. The others are the twist about x, and the swing about y and z, in radians: see
// SphericalJointDef.
type GenericJointDef struct {
	JointDef
	Axes [6]JointAxis
}

// AxisMotion is what a GenericJoint allows along an axis, or about it.
type AxisMotion uint8

const (
	AxisFree    AxisMotion = iota // any motion
	AxisLimited                   // between two limits
	AxisLocked                    // none
)

// JointAxis describes one axis of a GenericJoint. Forces are in N for the first three axes, and torques in N·m for the others.
type JointAxis struct {
	Motion AxisMotion
	// Lower and Upper are the limits of an axis with AxisLimited: in metres; within ±65536 about x; and in [-π, π] about y and z.
	Lower, Upper float32
	// Hertz above 0 gives the axis a spring to Target of that frequency, with Damping as its damping ratio, and with up to MaxSpringForce; 0: no
	// bound.
	Hertz, Damping, Target, MaxSpringForce float32
	// MaxMotorForce above 0 gives it a motor with MotorSpeed in m/s or rad/s.
	MotorSpeed, MaxMotorForce float32
}

// MouseJointDef describes a joint that pulls the point of FrameB to a point of the world. The opposite force acts on body A, which is usually
// static.
type MouseJointDef struct {
	JointDef
	// Target in metres, in world coordinates. The joint ignores FrameA.
	Target [3]float32
	// Hertz is the frequency of the spring in Hz (0: stiff), and Damping its damping ratio.
	Hertz, Damping float32
	// MaxForce of the spring, in N; 0: no force.
	MaxForce float32
}

// FilterJointDef describes a joint that only keeps two bodies from colliding, while CollideConnected is false.
type FilterJointDef struct{ JointDef }

// The definitions of the other kinds begin with zeros.

// DefaultDistanceJointDef returns a rod of one metre.
func DefaultDistanceJointDef() DistanceJointDef {
	return DistanceJointDef{Length: 1, MaxLength: maxCoordinate}
}

// DefaultWheelJointDef returns a wheel with a spring of 1 Hz and a damping ratio of 0.7.
func DefaultWheelJointDef() WheelJointDef {
	return WheelJointDef{EnableSpring: true, Hertz: 1, Damping: 0.7}
}

// DefaultMotorJointDef returns a joint that holds body B in its place with up to 1 N and 1 N·m.
func DefaultMotorJointDef() MotorJointDef {
	return MotorJointDef{LinearDamping: 1, AngularDamping: 1, MaxSpringForce: 1, MaxSpringTorque: 1}
}

// DefaultMouseJointDef returns a spring of 4 Hz and a damping ratio of 1 with up to 1 N.
func DefaultMouseJointDef() MouseJointDef { return MouseJointDef{Hertz: 4, Damping: 1, MaxForce: 1} }
