package rig

import (
	"fmt"
	"math"

	"github.com/evertick/evertick/internal/check"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/vec"
	"github.com/evertick/evertick/physics3"
)

// site is where bodies are made: a world, or a rehearsal for it.
type site interface {
	CreateBody(physics3.BodyDef) (physics3.Body, error)
	CreateCapsule(physics3.Body, physics3.ShapeDef, physics3.Capsule) (physics3.Shape, error)
	CreateBox(physics3.Body, physics3.ShapeDef, physics3.Box) (physics3.Shape, error)
	CreateJoint(physics3.AnyJointDef) (physics3.Joint, error)
	Position(physics3.Body) ([3]float32, error)
	Rotation(physics3.Body) ([4]float32, error)
}

// rehearsed makes a number of bodies, and what belongs to them, by a function. It calls it twice: first to find what is bad, and then for w. So an error
// has changed nothing.
func rehearsed(w *physics3.World, count int, build func(site) error) error {
	if free := w.Cap() - w.Len(); count > free {
		return check.Because(fault.Field(fault.ErrCapacity, "rig: the number of bodies", count), fmt.Sprintf("the world has room for %d more", free))
	}
	if err := build(&rehearsal{w: w}); err != nil {
		return err
	}
	return build(w)
}

// rehearsal checks what a world would check, and makes nothing.
type rehearsal struct {
	w    *physics3.World
	defs []physics3.BodyDef
}

// rehearsalBits are those of handles that no world has.
const rehearsalBits = 1 << 62

func (r *rehearsal) CreateBody(def physics3.BodyDef) (physics3.Body, error) {
	r.defs = append(r.defs, def)
	return physics3.BodyOfBits(rehearsalBits + uint64(len(r.defs))), def.Validate()
}

func (r *rehearsal) Position(b physics3.Body) ([3]float32, error) {
	if d := r.of(b); d != nil {
		return d.Position, nil
	}
	return r.w.Position(b)
}

func (r *rehearsal) Rotation(b physics3.Body) ([4]float32, error) {
	if d := r.of(b); d != nil {
		return d.Rotation, nil
	}
	return r.w.Rotation(b)
}

// of returns the definition of a body of the rehearsal, or nil for one of the world.
func (r *rehearsal) of(b physics3.Body) *physics3.BodyDef {
	if i := b.Bits() - rehearsalBits; i >= 1 && i <= uint64(len(r.defs)) {
		return &r.defs[i-1]
	}
	return nil
}

func (r *rehearsal) CreateCapsule(_ physics3.Body, def physics3.ShapeDef, c physics3.Capsule) (physics3.Shape, error) {
	if err := def.Validate(); err != nil {
		return physics3.Shape{}, err
	}
	if _, err := physics3.CapsuleForm(c); err != nil {
		return physics3.Shape{}, err
	}
	radius, half := float64(c.Radius), vec.Length(vec.Sub(vec.Wide(c.P2), vec.Wide(c.P1)))/2
	cylinder, balls := float64(2*math.Pi*radius*radius*half), float64(4./3*math.Pi*radius*radius*radius)
	square, far := float64(radius*radius), float64(half*half)
	along := float64(cylinder*square/2) + float64(balls*square*0.4)
	across := float64(cylinder*(float64(square/4)+far/3)) + float64(balls*(float64(square*0.4)+far+float64(half*radius*0.75)))
	return physics3.Shape{}, checkMass(def.Density, cylinder+balls, along, across)
}

func (r *rehearsal) CreateBox(_ physics3.Body, def physics3.ShapeDef, b physics3.Box) (physics3.Shape, error) {
	if err := def.Validate(); err != nil {
		return physics3.Shape{}, err
	}
	if _, err := physics3.BoxForm(b); err != nil {
		return physics3.Shape{}, err
	}
	h := vec.Wide(b.Half)
	volume := 8 * h[0] * h[1] * h[2]
	x, y, z := float64(h[0]*h[0]), float64(h[1]*h[1]), float64(h[2]*h[2])
	return physics3.Shape{}, checkMass(def.Density, volume, volume*(x+y)/3, volume*(y+z)/3, volume*(z+x)/3)
}

// checkMass checks the mass and the moments of a body by those at density 1. A body without a mass gets one kilogram.
func checkMass(density float32, volume float64, moments ...float64) error {
	if float32(float64(density)*volume) == 0 {
		return nil
	}
	_, err := check.Inverse("rig: mass of a body", float32(float64(density)*volume))
	for _, m := range moments {
		if err == nil {
			_, err = check.Inverse("rig: inertia of a body", float32(float64(density)*m))
		}
	}
	return err
}

func (r *rehearsal) CreateJoint(def physics3.AnyJointDef) (physics3.Joint, error) {
	return physics3.Joint{}, physics3.ValidateJointDef(def)
}
