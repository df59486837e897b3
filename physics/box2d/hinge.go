package box2d

import (
	"errors"
	"fmt"
	"math"

	b2 "github.com/ByteArena/box2d"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/physics"
)

// Hinge describes a joint that lets two bodies turn about a common point. It is the only
// kind of joint here, for comparing scenes with joints.
type Hinge struct {
	// A and B are the bodies; two different ones.
	A, B physics.Body
	// PointA and PointB are that point in the coordinates of either, in metres.
	PointA, PointB [2]float32
	// EnableLimit keeps the angle of B minus the angle of A between LowerAngle and UpperAngle, in
	// radians; at most 65536 either way.
	EnableLimit            bool
	LowerAngle, UpperAngle float32
	// CollideConnected lets the two bodies collide.
	CollideConnected bool
}

// maxHingeAngle is the bound of physics.BodyDef.Angle.
const maxHingeAngle = 65536

// CreateHinge joins two bodies of w, as long as both live. Errors: physics.ErrUnsupported
// for a world of another engine, physics.ErrStale, physics.ErrNotFinite, and physics.ErrRange
// for a body joined to itself and for limits that are reversed or too large.
func CreateHinge(w *physics.World, h Hinge) error {
	e, ok := w.Config().Engine.(*engine)
	if !ok {
		return fmt.Errorf("physics/box2d: CreateHinge: a world of another engine: %w", physics.ErrUnsupported)
	}
	if err := h.validate(w); err != nil {
		return err
	}
	def := b2.MakeB2RevoluteJointDef()
	def.BodyA, def.BodyB = e.bodies[h.A.Index()], e.bodies[h.B.Index()]
	def.LocalAnchorA, def.LocalAnchorB = vec(h.PointA), vec(h.PointB)
	def.EnableLimit, def.CollideConnected = h.EnableLimit, h.CollideConnected
	def.LowerAngle, def.UpperAngle = float64(h.LowerAngle), float64(h.UpperAngle)
	e.world.CreateJoint(&def)
	return nil
}

func (h *Hinge) validate(w *physics.World) error {
	const name = "physics/box2d: Hinge."
	for _, b := range [...]physics.Body{h.A, h.B} {
		if !w.Valid(b) {
			return fault.Field(physics.ErrStale, "physics/box2d: Hinge: Body", b)
		}
	}
	if h.A == h.B {
		return fault.Field(physics.ErrRange, name+"B", h.B)
	}
	var all []error
	for _, p := range [...]struct {
		field string
		value float32
	}{
		{name + "PointA[0]", h.PointA[0]}, {name + "PointA[1]", h.PointA[1]},
		{name + "PointB[0]", h.PointB[0]}, {name + "PointB[1]", h.PointB[1]},
		{name + "LowerAngle", h.LowerAngle}, {name + "UpperAngle", h.UpperAngle},
	} {
		if !fault.Finite(p.value) {
			all = append(all, fault.Field(physics.ErrNotFinite, p.field, p.value))
		}
	}
	if all == nil && (h.LowerAngle > h.UpperAngle || math.Abs(float64(h.LowerAngle)) > maxHingeAngle || math.Abs(float64(h.UpperAngle)) > maxHingeAngle) {
		all = append(all, fault.Field(physics.ErrRange, name+"LowerAngle", h.LowerAngle))
	}
	return errors.Join(all...)
}
