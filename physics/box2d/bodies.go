package box2d

import (
	"fmt"
	"math"

	b2 "github.com/ByteArena/box2d"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/physics"
)

func (e *engine) CreateBody(body int, d *physics.BodyDef) error {
	if d.LockX || d.LockY {
		return fault.Field(physics.ErrUnsupported, "physics/box2d: BodyDef.LockX, LockY", [2]bool{d.LockX, d.LockY})
	}
	if d.Disabled {
		return fault.Field(physics.ErrUnsupported, "physics/box2d: BodyDef.Disabled", true)
	}
	def := b2.MakeB2BodyDef()
	def.Type = uint8(d.Type) // both count static, kinematic, dynamic from 0
	def.Position = vec(d.Position)
	def.Angle = float64(d.Angle)
	def.LinearVelocity = vec(d.LinearVelocity)
	def.AngularVelocity = float64(d.AngularVelocity)
	def.LinearDamping = float64(d.LinearDamping)
	def.AngularDamping = float64(d.AngularDamping)
	def.GravityScale = float64(d.GravityScale)
	def.FixedRotation = d.FixedRotation
	def.AllowSleep = !d.DisableSleep
	def.Awake = !d.Asleep || e.noSleep
	def.Bullet = d.Bullet
	if body == len(e.bodies) {
		e.bodies = append(e.bodies, nil)
	}
	e.bodies[body] = e.world.CreateBody(&def)
	e.publish(body, e.bodies[body])
	return nil
}

// DestroyBody calls the library once per body: a second call would corrupt
// its lists. The handles of World prevent it, and the nil makes sure.
func (e *engine) DestroyBody(body int) {
	e.world.DestroyBody(e.bodies[body])
	e.bodies[body] = nil
}

func (e *engine) ApplyLinearImpulse(body int, impulse, point [2]float32) error {
	b := e.bodies[body]
	j := vec(impulse)
	turn := float64(b.M_invI * b2.B2Vec2Cross(b2.B2Vec2Sub(vec(point), b.M_sweep.C), j))
	if err := checkPush(body, b, j, turn); err != nil {
		return err
	}
	b.ApplyLinearImpulse(j, vec(point), true)
	e.publish(body, b)
	return nil
}

func (e *engine) ApplyLinearImpulseToCenter(body int, impulse [2]float32) error {
	b := e.bodies[body]
	j := vec(impulse)
	if err := checkPush(body, b, j, 0); err != nil {
		return err
	}
	b.ApplyLinearImpulseToCenter(j, true)
	e.publish(body, b)
	return nil
}

// checkPush refuses an impulse after which the velocity would not fit a
// float32.
func checkPush(body int, b *b2.B2Body, impulse b2.B2Vec2, turn float64) error {
	v := b.M_linearVelocity
	if fits(v.X+float64(b.M_invMass*impulse.X)) && fits(v.Y+float64(b.M_invMass*impulse.Y)) &&
		fits(b.M_angularVelocity+turn) {
		return nil
	}
	return velocityOverflow(body)
}

func velocityOverflow(body int) error {
	return fmt.Errorf("physics/box2d: the velocity of body %d would exceed float32: %w", body, physics.ErrRange)
}

// fits reports whether v is finite as a float32, rounding included.
func fits(v float64) bool { return math.Abs(v) <= math.MaxFloat32 }

func (e *engine) ApplyForceToCenter(body int, force [2]float32) error {
	e.bodies[body].ApplyForceToCenter(vec(force), true)
	return nil
}

func (e *engine) ApplyForce(body int, force, point [2]float32) error {
	e.bodies[body].ApplyForce(vec(force), vec(point), true)
	return nil
}

func (e *engine) ApplyTorque(body int, torque float32) error {
	e.bodies[body].ApplyTorque(float64(torque), true)
	return nil
}

func (e *engine) ApplyAngularImpulse(body int, impulse float32) error {
	b := e.bodies[body]
	if !fits(b.M_angularVelocity + float64(b.M_invI*float64(impulse))) {
		return velocityOverflow(body)
	}
	b.ApplyAngularImpulse(float64(impulse), true)
	e.publish(body, b)
	return nil
}

func (e *engine) SetGravity(gravity [2]float32) error {
	e.world.SetGravity(vec(gravity))
	return nil
}

func (e *engine) SetVelocity(body int, linear [2]float32, angular float32) error {
	b := e.bodies[body]
	b.SetLinearVelocity(vec(linear))
	b.SetAngularVelocity(float64(angular))
	e.publish(body, b)
	return nil
}

// SetTransform also wakes, which the library leaves to its user: otherwise a sleeping
// body, and its sleeping neighbours, would hang in the air.
func (e *engine) SetTransform(body int, position [2]float32, angle float32) error {
	b := e.bodies[body]
	b.SetTransform(vec(position), float64(angle))
	b.SetAwake(true)
	for edge := b.M_contactList; edge != nil; edge = edge.Next {
		if edge.Contact.IsTouching() {
			edge.Other.SetAwake(true)
		}
	}
	e.publish(body, b)
	return nil
}
