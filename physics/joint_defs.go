package physics

import (
	"math"

	"github.com/evertick/evertick/native/rigid"
)

// JointFrame is where a joint holds a body, and along which axis.
type JointFrame struct {
	// Point in body coordinates, in metres; within ±2^20.
	Point [2]float32
	// Angle of the axis in body coordinates, in radians; up to 65536 either way.
	Angle float32
}

// JointDef is what the definitions of all kinds of joints have in common. Numbers of these
// that have no other bounds are below 2^63; frequencies and damping ratios are up to 1e6.
type JointDef struct {
	// BodyA and BodyB are the bodies; they differ, and one at least should be dynamic. The
	// joint is idle as long as neither is, or one is disabled.
	BodyA, BodyB Body
	// FrameA and FrameB are where it holds them.
	FrameA, FrameB JointFrame
	// CollideConnected lets the two bodies collide. They do not if it is false in any joint
	// between them.
	CollideConnected bool
	// BreakForce in N and BreakTorque in N·m are what the joint bears. If it gave more in the last
	// sub-step of a step, it is destroyed at the end of the step: see Events.Broken. 0: any.
	BreakForce, BreakTorque float32
}

// DistanceJointDef describes a joint that keeps the points of its frames at a distance.
// With EnableSpring false it is a rod, and its limit and its motor do not matter; else it is
// a spring, with Hertz 0 and a limit a rope.
type DistanceJointDef struct {
	JointDef
	// Length of the rod, or of the spring at rest, in metres; not negative.
	Length float32
	// EnableSpring makes it a spring of a frequency in Hz, 0 being none, and of a damping
	// ratio. It pulls and pushes with up to MaxSpringForce in N; 0: any.
	EnableSpring                   bool
	Hertz, Damping, MaxSpringForce float32
	// EnableLimit keeps the length between MinLength and MaxLength, in metres; not negative.
	EnableLimit          bool
	MinLength, MaxLength float32
	// EnableMotor changes the length by MotorSpeed in m/s with up to MaxMotorForce in N.
	EnableMotor               bool
	MaxMotorForce, MotorSpeed float32
}

// RevoluteJointDef describes a joint that lets two bodies turn about a common point: a hinge.
// Its angle is that of the axis of FrameB from that of FrameA, in [-π, π].
type RevoluteJointDef struct {
	JointDef
	// EnableSpring turns it to TargetAngle, in [-π, π], as a spring of a frequency in Hz, 0
	// being none, and of a damping ratio.
	EnableSpring                bool
	Hertz, Damping, TargetAngle float32
	// EnableLimit keeps the angle between LowerAngle and UpperAngle, in [-π, π].
	EnableLimit            bool
	LowerAngle, UpperAngle float32
	// EnableMotor turns it by MotorSpeed in rad/s with up to MaxMotorTorque in N·m.
	EnableMotor                bool
	MaxMotorTorque, MotorSpeed float32
}

// PrismaticJointDef describes a joint that lets two bodies slide along the axis of FrameA, and
// not turn: a slider. Its translation is how far the point of FrameB is from that of FrameA
// along the axis.
type PrismaticJointDef struct {
	JointDef
	// EnableSpring moves it to TargetTranslation, in metres, as a spring of a frequency in Hz, 0
	// being none, and of a damping ratio.
	EnableSpring                      bool
	Hertz, Damping, TargetTranslation float32
	// EnableLimit keeps the translation between these, in metres.
	EnableLimit                        bool
	LowerTranslation, UpperTranslation float32
	// EnableMotor moves it by MotorSpeed in m/s with up to MaxMotorForce in N.
	EnableMotor               bool
	MaxMotorForce, MotorSpeed float32
}

// WeldJointDef describes a joint that makes the frames of two bodies one.
type WeldJointDef struct {
	JointDef
	// LinearHertz and AngularHertz are the frequencies in Hz of the springs that hold points and
	// axes together; 0: stiff. LinearDamping and AngularDamping are their damping ratios.
	LinearHertz, AngularHertz, LinearDamping, AngularDamping float32
}

// WheelJointDef describes a joint that lets body B turn about the point of FrameB, and that
// point slide along the axis of FrameA: body B is a wheel, and the axis that of its suspension.
type WheelJointDef struct {
	JointDef
	// EnableSpring draws the translation along the axis to zero, as a spring of a frequency in
	// Hz, 0 being none, and of a damping ratio.
	EnableSpring   bool
	Hertz, Damping float32
	// EnableLimit keeps the translation between these, in metres.
	EnableLimit                        bool
	LowerTranslation, UpperTranslation float32
	// EnableMotor turns body B, relative to body A, by MotorSpeed in rad/s with up to
	// MaxMotorTorque in N·m.
	EnableMotor                bool
	MaxMotorTorque, MotorSpeed float32
}

// MotorJointDef describes a joint that moves body B relative to body A: to a place, or
// against what moves it, as friction does from above.
type MotorJointDef struct {
	JointDef
	// A spring of LinearHertz and LinearDamping draws the points of the frames together with up
	// to MaxSpringForce in N, and one of AngularHertz and AngularDamping their axes with up
	// to MaxSpringTorque in N·m. Frequencies in Hz; 0: stiff, within that force. Damping
	// ratios. A force or torque of 0: there is no such spring.
	LinearHertz, LinearDamping, MaxSpringForce    float32
	AngularHertz, AngularDamping, MaxSpringTorque float32
	// MaxVelocityForce in N resists motion of one point relative to the other; it is 0 if
	// MaxSpringForce is not.
	MaxVelocityForce float32
	// AngularVelocity in rad/s is that of body B relative to body A which the joint
	// strives for with up to MaxVelocityTorque in N·m.
	AngularVelocity, MaxVelocityTorque float32
}

// MouseJointDef describes a joint that draws the point of FrameB to a point of the world.
// Body A takes what force there is the other way: a static body will do.
type MouseJointDef struct {
	JointDef
	// Target in metres, in world coordinates. FrameA does not matter.
	Target [2]float32
	// Hertz in Hz, 0 being stiff, and Damping, a ratio, are those of the spring that draws it.
	Hertz, Damping float32
	// MaxForce of the spring, in N; 0: none.
	MaxForce float32
}

// FilterJointDef describes a joint that keeps two bodies from colliding, as long as
// CollideConnected is false, and does nothing else.
type FilterJointDef struct{ JointDef }

// DefaultDistanceJointDef returns a rod of a metre.
func DefaultDistanceJointDef() DistanceJointDef {
	return DistanceJointDef{Length: 1, MaxLength: rigid.MaxCoordinate}
}

// DefaultRevoluteJointDef returns a hinge that turns freely.
func DefaultRevoluteJointDef() RevoluteJointDef { return RevoluteJointDef{} }

// DefaultPrismaticJointDef returns a slider along the first axis of body A that slides freely.
func DefaultPrismaticJointDef() PrismaticJointDef { return PrismaticJointDef{} }

// DefaultWeldJointDef returns a stiff weld.
func DefaultWeldJointDef() WeldJointDef { return WeldJointDef{} }

// DefaultWheelJointDef returns a wheel with a spring of 1 Hz and a damping ratio of 0.7 along
// the second axis of body A.
func DefaultWheelJointDef() WheelJointDef {
	d := WheelJointDef{EnableSpring: true, Hertz: 1, Damping: 0.7}
	d.FrameA.Angle = math.Pi / 2
	return d
}

// DefaultMotorJointDef returns a joint that holds body B where it is to be with up to 1 N
// and 1 N·m.
func DefaultMotorJointDef() MotorJointDef {
	return MotorJointDef{LinearDamping: 1, AngularDamping: 1, MaxSpringForce: 1, MaxSpringTorque: 1}
}

// DefaultMouseJointDef returns a spring of 4 Hz and a damping ratio of 1 with up to 1 N.
func DefaultMouseJointDef() MouseJointDef { return MouseJointDef{Hertz: 4, Damping: 1, MaxForce: 1} }

// DefaultFilterJointDef returns the zero value.
func DefaultFilterJointDef() FilterJointDef { return FilterJointDef{} }
