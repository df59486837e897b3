package rig

import (
	"errors"
	"fmt"
	"math"

	"github.com/evertick/evertick/internal/check"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/trig"
	"github.com/evertick/evertick/internal/vec"
	"github.com/evertick/evertick/physics3"
)

// BoneDef describes a bone: a capsule, and the joint that holds it to its parent. All of it is in the coordinates of the ragdoll, in metres and radians,
// in the pose in which no joint is bent.
type BoneDef struct {
	// Name is for the caller.
	Name string
	// Parent is the number of another bone that comes before this one. The first bone is the root, whose Parent and joint are ignored.
	Parent int
	// P1, P2 and Radius are the capsule. Its middle becomes the origin of the body, whose axes are those of the ragdoll.
	P1, P2 [3]float32
	Radius float32
	// Joint is the point at which the bone turns. Axis is its twist axis, or the axis of a hinge, of any length; zero: from P1 to P2.
	Joint, Axis [3]float32
	// Hinge makes the joint a hinge about Axis. Otherwise it may swing as far as Cone, in [0, π]: the greatest angle between the axis of the bone
	// and that of its parent.
	Hinge bool
	Cone  float32
	// LowerTwist and UpperTwist are the limits of the twist, or of the angle of a hinge, in [-π, π].
	LowerTwist, UpperTwist float32
}

// RagdollDef describes a ragdoll.
type RagdollDef struct {
	Bones []BoneDef
	// Position and Rotation, a quaternion x, y, z, w, place the coordinates of the ragdoll in the world. A zero Rotation is the unit rotation.
	Position [3]float32
	Rotation [4]float32
	// LinearVelocity of all bones, in m/s.
	LinearVelocity [3]float32
	// Mass in kg, above 0, is shared among the bones by their volumes.
	Mass float32
	// Shape is the definition of all shapes but for its Density. A negative Filter.Group keeps the bones from colliding with each other. Bones that a
	// joint connects never collide.
	Shape physics3.ShapeDef
	// Friction is the torque in N·m that slows all joints down.
	Friction float32
}

// Ragdoll is what NewRagdoll has made: a body and a joint for each bone, in their order. The root has the zero Joint.
type Ragdoll struct {
	Bodies []physics3.Body
	Joints []physics3.Joint

	bones  []BoneDef
	frames []quat // of the joints, in the coordinates of the ragdoll
}

// NewRagdoll makes a ragdoll. Errors: those of bad definitions, ErrNotFinite and ErrRange, and of a full world, physics3.ErrCapacity; then nothing was
// made.
func NewRagdoll(w *physics3.World, def RagdollDef) (*Ragdoll, error) {
	if err := def.check(); err != nil {
		return nil, err
	}
	r := &Ragdoll{bones: append([]BoneDef(nil), def.Bones...)}
	place := pose{vec.Wide(def.Position), quat{0, 0, 0, 1}}
	if def.Rotation != ([4]float32{}) {
		place.q = quaternion(def.Rotation)
	}
	volume := 0.
	for i := range r.bones {
		volume += r.bones[i].volume()
	}
	shape := def.Shape
	if shape.Density = float32(float64(def.Mass) / volume); !fault.Finite(shape.Density) {
		return nil, fault.Field(fault.ErrRange, "rig: RagdollDef.Mass", def.Mass)
	}
	err := rehearsed(w, len(r.bones), func(on site) error {
		r.Bodies, r.Joints, r.frames = nil, nil, nil
		for i := range r.bones {
			if err := r.addBone(on, &def, &shape, i, &place); err != nil {
				return fmt.Errorf("rig: RagdollDef.Bones[%d]: %w", i, err)
			}
		}
		return nil
	})
	if err != nil {
		return nil, errors.Join(err, r.Destroy(w))
	}
	return r, nil
}

// Destroy destroys the bodies of a ragdoll, and so its joints. It leaves out those that are destroyed.
func (r *Ragdoll) Destroy(w *physics3.World) error { return destroy(w, r.Bodies) }

func destroy(w *physics3.World, bodies []physics3.Body) (err error) {
	for _, b := range bodies {
		if w.Valid(b) {
			err = errors.Join(err, w.DestroyBody(b))
		}
	}
	return err
}

func (d *RagdollDef) check() error {
	err := errors.Join(check.Vector("rig: RagdollDef.Position", d.Position[:]), check.Vector("rig: RagdollDef.Rotation", d.Rotation[:]),
		check.Vector("rig: RagdollDef.LinearVelocity", d.LinearVelocity[:]), check.Positive("rig: RagdollDef.Mass", d.Mass),
		check.Magnitude("rig: RagdollDef.Friction", d.Friction))
	if len(d.Bones) == 0 {
		err = errors.Join(err, fault.Field(fault.ErrRange, "rig: RagdollDef.Bones", "none"))
	}
	for i := range d.Bones {
		b, field := &d.Bones[i], fmt.Sprintf("rig: RagdollDef.Bones[%d].", i)
		err = errors.Join(err, check.Vector(field+"P1", b.P1[:]), check.Vector(field+"P2", b.P2[:]), check.Positive(field+"Radius", b.Radius))
		if i == 0 {
			continue
		}
		if b.Parent < 0 || b.Parent >= i {
			err = errors.Join(err, fault.Field(fault.ErrRange, field+"Parent", b.Parent))
		}
		err = errors.Join(err, check.Vector(field+"Joint", b.Joint[:]), check.Vector(field+"Axis", b.Axis[:]), check.Between(field+"Cone", b.Cone, 0, math.Pi),
			check.Between(field+"LowerTwist", b.LowerTwist, -math.Pi, b.UpperTwist), check.Between(field+"UpperTwist", b.UpperTwist, b.LowerTwist, math.Pi))
		if b.Axis == ([3]float32{}) && b.P1 == b.P2 {
			err = errors.Join(err, fault.Field(fault.ErrRange, field+"Axis", b.Axis))
		}
	}
	return err
}

// volume of a capsule: that of a ball and of a cylinder.
func (b *BoneDef) volume() float64 {
	r := float64(b.Radius)
	return math.Pi * r * r * (float64(4./3*r) + vec.Length(vec.Sub(vec.Wide(b.P2), vec.Wide(b.P1))))
}

func (b *BoneDef) middle() [3]float64 { return vec.Scale(vec.Add(vec.Wide(b.P1), vec.Wide(b.P2)), 0.5) }

// axis of the joint, of length one.
func (b *BoneDef) axis() [3]float64 {
	if b.Axis != ([3]float32{}) {
		return normalized(vec.Wide(b.Axis))
	}
	return normalized(vec.Sub(vec.Wide(b.P2), vec.Wide(b.P1)))
}

func (r *Ragdoll) addBone(w site, def *RagdollDef, shape *physics3.ShapeDef, i int, place *pose) error {
	b := &r.bones[i]
	body := physics3.DefaultBodyDef()
	body.Type, body.LinearVelocity = physics3.DynamicBody, def.LinearVelocity
	body.Position, body.Rotation = narrow(vec.Add(place.p, place.q.turn(b.middle()))), place.q.array()
	made, err := w.CreateBody(body)
	if err != nil {
		return err
	}
	r.Bodies, r.Joints, r.frames = append(r.Bodies, made), append(r.Joints, physics3.Joint{}), append(r.frames, quat{0, 0, 0, 1})
	middle := b.middle()
	capsule := physics3.Capsule{P1: narrow(vec.Sub(vec.Wide(b.P1), middle)), P2: narrow(vec.Sub(vec.Wide(b.P2), middle)), Radius: b.Radius}
	if _, err := w.CreateCapsule(made, *shape, capsule); err != nil || i == 0 {
		return err
	}
	r.frames[i] = along(b.axis())
	point, parent := vec.Wide(b.Joint), &r.bones[b.Parent]
	joint := physics3.JointDef{
		BodyA: r.Bodies[b.Parent], BodyB: made,
		FrameA: physics3.JointFrame{Point: narrow(vec.Sub(point, parent.middle())), Rotation: r.frames[i].array()},
		FrameB: physics3.JointFrame{Point: narrow(vec.Sub(point, middle)), Rotation: r.frames[i].array()},
	}
	if b.Hinge {
		r.Joints[i], err = w.CreateJoint(&physics3.RevoluteJointDef{JointDef: joint, EnableLimit: true, LowerAngle: b.LowerTwist, UpperAngle: b.UpperTwist,
			EnableMotor: def.Friction > 0, MaxMotorTorque: def.Friction})
		return err
	}
	r.Joints[i], err = w.CreateJoint(&physics3.SphericalJointDef{JointDef: joint, EnableConeLimit: true, ConeAngle: b.Cone,
		EnableTwistLimit: true, LowerTwist: b.LowerTwist, UpperTwist: b.UpperTwist, EnableMotor: def.Friction > 0, MaxMotorTorque: def.Friction})
	return err
}

// Muscles are the springs by which a ragdoll follows an animation.
type Muscles struct {
	// Hertz in Hz and Damping, a ratio, are those of each joint: see SphericalJointDef. 0 Hz: none, the joints are limp again.
	Hertz, Damping float32
	// MaxTorque in N·m of each joint; 0: no bound. It has no effect on hinges, whose springs have no bound.
	MaxTorque float32
}

// Follow makes the joints seek the pose of an animation. rotations has a quaternion x, y, z, w for each bone: how the animation has turned it from the pose
// of RagdollDef, in the coordinates of the ragdoll; zero is the unit rotation. Only the rotations of bones relative to their parents count, and of a
// hinge the angle about its axis: so nothing holds the ragdoll as a whole. The friction of the joints ends while it follows. Errors: ErrNotFinite for
// rotations, ErrRange for Muscles, with nothing changed; physics3.ErrStale for a bone that is destroyed. It panics if the number of rotations is not that
// of the bones.
func (r *Ragdoll) Follow(w *physics3.World, rotations [][4]float32, m Muscles) error {
	if len(rotations) != len(r.bones) {
		panic("rig: rotations and bones differ in number")
	}
	err := errors.Join(check.Coefficient("rig: Muscles.Hertz", m.Hertz), check.Coefficient("rig: Muscles.Damping", m.Damping), check.Magnitude("rig: Muscles.MaxTorque", m.MaxTorque))
	for i := range rotations {
		err = errors.Join(err, check.Vector(fmt.Sprintf("rig: rotations[%d]", i), rotations[i][:]))
	}
	if err != nil {
		return err
	}
	for i := 1; i < len(r.bones); i++ {
		if err := r.follow(w, i, rotationOf(rotations[r.bones[i].Parent]), rotationOf(rotations[i]), m); err != nil {
			return fmt.Errorf("rig: bone %d: %w", i, err)
		}
	}
	return nil
}

func rotationOf(q [4]float32) quat {
	if q == ([4]float32{}) {
		return quat{0, 0, 0, 1}
	}
	return quaternion(q)
}

func (r *Ragdoll) follow(w *physics3.World, i int, parent, bone quat, m Muscles) error {
	// The frame on B, as the animation has turned it, seen from that on A.
	target := r.frames[i].inverse().times(parent.inverse()).times(bone).times(r.frames[i])
	if r.bones[i].Hinge {
		var def physics3.RevoluteJointDef
		if err := w.JointDef(r.Joints[i], &def); err != nil {
			return err
		}
		angle := float32(2 * trig.Atan2(float32(target[0]), float32(target[3])))
		if angle > math.Pi {
			angle -= 2 * math.Pi
		} else if angle < -math.Pi {
			angle += 2 * math.Pi
		}
		def.EnableMotor, def.EnableSpring, def.Hertz, def.Damping, def.TargetAngle = false, m.Hertz > 0, m.Hertz, m.Damping, angle
		return w.SetJointDef(r.Joints[i], &def)
	}
	var def physics3.SphericalJointDef
	if err := w.JointDef(r.Joints[i], &def); err != nil {
		return err
	}
	def.EnableMotor, def.EnableSpring, def.Hertz, def.Damping, def.MaxSpringTorque, def.TargetRotation = false, m.Hertz > 0, m.Hertz, m.Damping, m.MaxTorque, target.array()
	return w.SetJointDef(r.Joints[i], &def)
}

// along returns the least turn that carries the x axis to a unit vector; that about z for -x.
func along(v [3]float64) quat {
	if v[0] < -0.999999 {
		return quat{0, 0, 1, 0}
	}
	// Half way between the two is the axis of twice the turn.
	half := normalized(vec.Add(v, [3]float64{1, 0, 0}))
	return quat{0, -half[2], half[1], half[0]}
}

// Human returns the bones of a human of the given height in metres. Its feet stand on the ground at the origin, it faces +z, and its arms hang
// down: pelvis, belly, chest and head; upper arm, forearm, thigh, shin and foot of the left side (+x) and of the right one. Knees and elbows are hinges.
func Human(height float32) []BoneDef {
	bones := []BoneDef{
		{Name: "pelvis", P1: [3]float32{-0.05, 0.55, 0}, P2: [3]float32{0.05, 0.55, 0}, Radius: 0.07},
		{Name: "belly", Parent: 0, P1: [3]float32{-0.04, 0.635, 0}, P2: [3]float32{0.04, 0.635, 0}, Radius: 0.065, Joint: [3]float32{0, 0.595, 0},
			Axis: [3]float32{0, 1, 0}, Cone: 0.4, LowerTwist: -0.4, UpperTwist: 0.4},
		{Name: "chest", Parent: 1, P1: [3]float32{-0.05, 0.74, 0}, P2: [3]float32{0.05, 0.74, 0}, Radius: 0.08, Joint: [3]float32{0, 0.68, 0},
			Axis: [3]float32{0, 1, 0}, Cone: 0.3, LowerTwist: -0.4, UpperTwist: 0.4},
		{Name: "head", Parent: 2, P1: [3]float32{0, 0.9, 0.01}, P2: [3]float32{0, 0.94, 0.01}, Radius: 0.058, Joint: [3]float32{0, 0.835, 0},
			Axis: [3]float32{0, 1, 0}, Cone: 0.7, LowerTwist: -1, UpperTwist: 1},
	}
	for _, side := range []struct {
		name string
		x    float32
	}{{"left ", 1}, {"right ", -1}} {
		x := side.x
		n := len(bones)
		bones = append(bones,
			BoneDef{Name: side.name + "upper arm", Parent: 2, P1: [3]float32{0.16 * x, 0.78, 0}, P2: [3]float32{0.16 * x, 0.66, 0}, Radius: 0.028,
				Joint: [3]float32{0.15 * x, 0.79, 0}, Cone: 1.5, LowerTwist: -0.8, UpperTwist: 0.8},
			// The forearm bends forwards: about the axis that points to the right, by a positive angle.
			BoneDef{Name: side.name + "forearm", Parent: n, P1: [3]float32{0.16 * x, 0.61, 0}, P2: [3]float32{0.16 * x, 0.46, 0}, Radius: 0.022,
				Joint: [3]float32{0.16 * x, 0.635, 0}, Hinge: true, Axis: [3]float32{-1, 0, 0}, LowerTwist: 0, UpperTwist: 2.5},
			BoneDef{Name: side.name + "thigh", Parent: 0, P1: [3]float32{0.055 * x, 0.49, 0}, P2: [3]float32{0.055 * x, 0.32, 0}, Radius: 0.042,
				Joint: [3]float32{0.055 * x, 0.52, 0}, Cone: 1.1, LowerTwist: -0.5, UpperTwist: 0.5},
			// The shin bends backwards.
			BoneDef{Name: side.name + "shin", Parent: n + 2, P1: [3]float32{0.055 * x, 0.26, 0}, P2: [3]float32{0.055 * x, 0.08, 0}, Radius: 0.03,
				Joint: [3]float32{0.055 * x, 0.285, 0}, Hinge: true, Axis: [3]float32{1, 0, 0}, LowerTwist: 0, UpperTwist: 2.4},
			BoneDef{Name: side.name + "foot", Parent: n + 3, P1: [3]float32{0.055 * x, 0.022, -0.02}, P2: [3]float32{0.055 * x, 0.022, 0.08}, Radius: 0.022,
				Joint: [3]float32{0.055 * x, 0.04, 0}, Axis: [3]float32{0, 1, 0}, Cone: 0.5, LowerTwist: -0.3, UpperTwist: 0.3},
		)
	}
	for i := range bones {
		b := &bones[i]
		for _, v := range []*[3]float32{&b.P1, &b.P2, &b.Joint} {
			*v = [3]float32{v[0] * height, v[1] * height, v[2] * height}
		}
		b.Radius *= height
	}
	return bones
}
