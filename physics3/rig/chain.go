package rig

import (
	"errors"
	"fmt"
	"math"

	"github.com/evertick/evertick/internal/check"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/vec"
	"github.com/evertick/evertick/physics3"
)

// ChainDef describes a chain or a rope: capsules in a row that turn about the points between them.
type ChainDef struct {
	// From and To are its ends, in world coordinates, in metres. They differ.
	From, To [3]float32
	// Links is the number of capsules, at least 1, and Radius theirs, in metres, above 0. Their ends are round and overlap, so a link as long as it is
	// thick is a ball.
	Links  int
	Radius float32
	// BodyA and BodyB hold its ends; the zero Body: none does.
	BodyA, BodyB physics3.Body
	// Shape is the definition of all shapes. Links that are neighbours never collide.
	Shape physics3.ShapeDef
	// MaxBend in radians, in [0, π], is the greatest angle between neighbours; 0: no bound.
	MaxBend float32
	// BendHertz in Hz and BendDamping, a ratio, are those of springs that stretch a rope; 0 Hz: none.
	BendHertz, BendDamping float32
}

// BridgeDef describes a bridge of planks, which hinges connect.
type BridgeDef struct {
	// From and To are the middles of its ends, in world coordinates, in metres. They differ, and To is not straight above or below From.
	From, To [3]float32
	// Planks is their number, at least 1. Width and Thickness are those of all, in metres, above 0.
	Planks           int
	Width, Thickness float32
	// BodyA and BodyB hold its ends; the zero Body: none does.
	BodyA, BodyB physics3.Body
	// Shape is the definition of all shapes. Planks that are neighbours never collide.
	Shape physics3.ShapeDef
	// Friction is the torque in N·m that slows the hinges down.
	Friction float32
	// BreakForce in N is the greatest load of a hinge, as in JointDef; 0: no bound.
	BreakForce float32
}

// Row is a chain or a bridge: its bodies from one end to the other, and the joints between them, before and after them those that hold the ends. A joint
// of an end that nothing holds is the zero Joint.
type Row struct {
	Bodies []physics3.Body
	Joints []physics3.Joint
}

// Destroy destroys the bodies of a row, and so its joints. It leaves out those that are destroyed.
func (r *Row) Destroy(w *physics3.World) error { return destroy(w, r.Bodies) }

// NewChain makes a chain. Its links lie on the line between its ends. Errors: those of bad definitions, ErrNotFinite and ErrRange, physics3.ErrStale for
// bodies that are gone, and ErrCapacity of a full world; then nothing was made.
func NewChain(w *physics3.World, def ChainDef) (*Row, error) {
	if err := errors.Join(checkEnds("rig: ChainDef", def.From, def.To, def.Links), check.Positive("rig: ChainDef.Radius", def.Radius),
		check.Between("rig: ChainDef.MaxBend", def.MaxBend, 0, math.Pi), check.Coefficient("rig: ChainDef.BendHertz", def.BendHertz),
		check.Coefficient("rig: ChainDef.BendDamping", def.BendDamping)); err != nil {
		return nil, err
	}
	half := vec.Length(vec.Sub(vec.Wide(def.To), vec.Wide(def.From))) / (2 * float64(def.Links))
	capsule := physics3.Capsule{P1: [3]float32{-float32(half), 0, 0}, P2: [3]float32{float32(half), 0, 0}, Radius: def.Radius}
	line := line{from: vec.Wide(def.From), to: vec.Wide(def.To), count: def.Links, ends: [2]physics3.Body{def.BodyA, def.BodyB}}
	line.rotation = along(normalized(vec.Sub(line.to, line.from)))
	return line.build(w, func(w site, b physics3.Body) error {
		_, err := w.CreateCapsule(b, def.Shape, capsule)
		return err
	}, func(w site, j physics3.JointDef) (physics3.Joint, error) {
		return w.CreateJoint(&physics3.SphericalJointDef{JointDef: j, EnableConeLimit: def.MaxBend > 0, ConeAngle: def.MaxBend,
			EnableSpring: def.BendHertz > 0, Hertz: def.BendHertz, Damping: def.BendDamping})
	})
}

// NewBridge makes a bridge. Its planks lie on the line between its ends, level across it. Errors are those of NewChain.
func NewBridge(w *physics3.World, def BridgeDef) (*Row, error) {
	if err := errors.Join(checkEnds("rig: BridgeDef", def.From, def.To, def.Planks), check.Positive("rig: BridgeDef.Width", def.Width),
		check.Positive("rig: BridgeDef.Thickness", def.Thickness), check.Magnitude("rig: BridgeDef.Friction", def.Friction)); err != nil {
		return nil, err
	}
	line := line{from: vec.Wide(def.From), to: vec.Wide(def.To), count: def.Planks, ends: [2]physics3.Body{def.BodyA, def.BodyB}}
	direction := normalized(vec.Sub(line.to, line.from))
	across := vec.Cross(direction, [3]float64{0, 1, 0})
	if vec.Length(across) < 1e-3 {
		return nil, check.Because(fault.Field(fault.ErrRange, "rig: BridgeDef.To", def.To), "it is straight above or below From")
	}
	// The hinges turn about x, across the bridge.
	across = normalized(across)
	line.rotation = ofAxes(across, vec.Cross(across, direction), vec.Scale(direction, -1))
	half := vec.Length(vec.Sub(line.to, line.from)) / (2 * float64(def.Planks))
	box := physics3.Box{Half: [3]float32{def.Width / 2, def.Thickness / 2, float32(half)}}
	return line.build(w, func(w site, b physics3.Body) error {
		_, err := w.CreateBox(b, def.Shape, box)
		return err
	}, func(w site, j physics3.JointDef) (physics3.Joint, error) {
		j.BreakForce = def.BreakForce
		return w.CreateJoint(&physics3.RevoluteJointDef{JointDef: j, EnableMotor: def.Friction > 0, MaxMotorTorque: def.Friction})
	})
}

func checkEnds(what string, from, to [3]float32, count int) error {
	err := errors.Join(check.Vector(what+".From", from[:]), check.Vector(what+".To", to[:]))
	if err == nil && from == to {
		err = fault.Field(fault.ErrRange, what+".To", to)
	}
	if count < 1 {
		err = errors.Join(err, fault.Field(fault.ErrRange, what+": the number of bodies", count))
	}
	return err
}

// line is a row of bodies to be.
type line struct {
	from, to [3]float64
	count    int
	rotation quat
	ends     [2]physics3.Body
}

// at returns the joint with a number, from 0 to count, in world coordinates.
func (l *line) at(joint float64) [3]float64 {
	return vec.Add(l.from, vec.Scale(vec.Sub(l.to, l.from), joint/float64(l.count)))
}

// build makes the bodies, with shapes and joints as the functions do.
func (l *line) build(w *physics3.World, shape func(site, physics3.Body) error, joint func(site, physics3.JointDef) (physics3.Joint, error)) (*Row, error) {
	for i, field := range []string{"rig: BodyA", "rig: BodyB"} {
		if b := l.ends[i]; b != (physics3.Body{}) && !w.Valid(b) {
			return nil, fault.Field(fault.ErrStale, field, b)
		}
	}
	r := &Row{}
	err := rehearsed(w, l.count, func(on site) error {
		*r = Row{Joints: make([]physics3.Joint, l.count+1)}
		return l.buildInto(on, r, shape, joint)
	})
	if err != nil {
		return nil, errors.Join(err, r.Destroy(w))
	}
	return r, nil
}

func (l *line) buildInto(w site, r *Row, shape func(site, physics3.Body) error, joint func(site, physics3.JointDef) (physics3.Joint, error)) error {
	for i := range l.count {
		def := physics3.DefaultBodyDef()
		def.Type, def.Position, def.Rotation = physics3.DynamicBody, narrow(l.at(float64(i)+0.5)), l.rotation.array()
		body, err := w.CreateBody(def)
		if err != nil {
			return err
		}
		r.Bodies = append(r.Bodies, body)
		if err := shape(w, body); err != nil {
			return fmt.Errorf("rig: body %d: %w", i, err)
		}
	}
	for i := range r.Joints {
		a, b := l.ends[0], l.ends[1]
		if i > 0 {
			a = r.Bodies[i-1]
		}
		if i < l.count {
			b = r.Bodies[i]
		}
		if a == (physics3.Body{}) || b == (physics3.Body{}) {
			continue
		}
		def := physics3.JointDef{BodyA: a, BodyB: b}
		var err error
		for k, frame := range []*physics3.JointFrame{&def.FrameA, &def.FrameB} {
			if *frame, err = frameOn(w, [2]physics3.Body{a, b}[k], l.at(float64(i)), l.rotation); err != nil {
				return err
			}
		}
		if r.Joints[i], err = joint(w, def); err != nil {
			return fmt.Errorf("rig: joint %d: %w", i, err)
		}
	}
	return nil
}

// frameOn returns a point and axes of the world in body coordinates.
func frameOn(w site, b physics3.Body, point [3]float64, axes quat) (physics3.JointFrame, error) {
	position, err := w.Position(b)
	if err != nil {
		return physics3.JointFrame{}, err
	}
	rotation, err := w.Rotation(b)
	if err != nil {
		return physics3.JointFrame{}, err
	}
	body := pose{vec.Wide(position), quaternion(rotation)}
	return physics3.JointFrame{Point: narrow(body.local(point)), Rotation: body.q.inverse().times(axes).array()}, nil
}
