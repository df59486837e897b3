package physics3

import (
	"errors"
	"math"

	"github.com/evertick/evertick/internal/check"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/rigid3"
)

// WindDef describes a wind, or still air, in which bodies move.
type WindDef struct {
	// Wind is the velocity of the air in m/s, up to 1e6 along each axis.
	Wind [3]float32
	// Drag in kg/m³, half the density of the air times a coefficient, and Lift likewise; not negative, up to 1e6.
	Drag, Lift float32
	// MaxSpeed bounds the assumed speed in m/s at which the air passes a surface. 0: no bound. Light bodies in strong wind need a bound: the force is constant
	// for a whole step, although the body gives way.
	MaxSpeed float32
	// Mask holds the categories of the shapes on which it acts.
	Mask uint64
	// Wake makes the wind wake the bodies on which it acts, and keep them awake. Otherwise it does not act on sleeping bodies, and wakes none.
	Wake bool
}

// Validate reports every fault of d at once. Errors wrap ErrNotFinite or ErrRange.
func (d *WindDef) Validate() error {
	return errors.Join(
		checkSpeeds("physics3: WindDef.Wind", d.Wind),
		check.Coefficient("physics3: WindDef.Drag", d.Drag),
		check.Coefficient("physics3: WindDef.Lift", d.Lift),
		check.Coefficient("physics3: WindDef.MaxSpeed", d.MaxSpeed),
	)
}

// checkSpeeds checks that each number of a velocity is at most 1e6.
func checkSpeeds(field string, v [3]float32) (err error) {
	for i, x := range v {
		if !fault.Finite(x) {
			err = errors.Join(err, fault.Element(ErrNotFinite, field, i, x))
		} else if x > check.MaxCoefficient || x < -check.MaxCoefficient {
			err = errors.Join(err, fault.Element(ErrRange, field, i, x))
		}
	}
	return err
}

// ApplyWind adds the forces of a wind to those that act on the dynamic bodies during the next Step. They act on each piece of the surface of solid
// shapes that faces the passing air; see Explode for the pieces. On a piece of area A with the outward normal n, which the air passes with the relative
// velocity r and the speed s = |r|, the force is
//
//	Drag · A · c · s · r  +  Lift · A · c · s · (-n·s - c·r)    with c = max(0, -n·r) / s
//
// The first part acts along r, the second at a right angle to it, in the direction in which the surface leans away. A box that falls flat in still air with
// the area A below reaches the speed √(m·g / (Drag·A)). The force on a ball of radius r is Drag·π·r²·s·r. Obstacles give no shelter.
//
// ApplyWind leaves out a body if the sum of its forces would overflow. Errors: those of WindDef.Validate, and that which has stopped the world.
func (w *World) ApplyWind(def WindDef) error {
	if w.failed != nil {
		return w.failed
	}
	if err := def.Validate(); err != nil {
		return err
	}
	s := w.solver
	for shape := range s.shapes.local {
		if s.affected(shape, def.Mask) {
			s.applyWind(shape, &def)
		}
	}
	return nil
}

// ApplyWindTo is ApplyWind for one body. It has no effect on a body that is not dynamic. Errors: ErrStale, and those of ApplyWind.
func (w *World) ApplyWindTo(b Body, def WindDef) error {
	i, err := w.row(b)
	if err == nil {
		err = w.failed
	}
	if err == nil {
		err = def.Validate()
	}
	if err != nil {
		return err
	}
	s := w.solver
	for _, shape := range s.bodyShapes(i) {
		if s.affected(int(shape), def.Mask) {
			s.applyWind(int(shape), &def)
		}
	}
	return nil
}

// applyWind adds the forces on one shape.
func (s *solver) applyWind(shape int, d *WindDef) {
	var p wrench
	r, body := &s.shapes.local[shape], int(s.shapes.filters.Body[shape])
	if !d.Wake && s.cols.Flags[body]&FlagAsleep != 0 {
		return
	}
	if r.Kind == rigid3.KindSphere {
		arm := s.middleOf(body, shape).Sub(s.pose(body).P)
		air, speed := s.airPast(body, arm, d)
		p.add(arm, air.Times(float32(float32(float32(math.Pi*r.Radius)*r.Radius)*float32(d.Drag*speed))))
	} else {
		patches, centre := s.patchesOf(body, shape)
		for i := range patches {
			e := &patches[i]
			arm := e.At.Sub(centre)
			air, speed := s.airPast(body, arm, d)
			against := -e.Normal.Dot(air) // c·s
			if !(against > 0) {
				continue
			}
			drag, lift := float32(float32(d.Drag*e.Area)*against), float32(float32(d.Lift*e.Area)*against)
			c := against / speed
			p.add(arm, air.Times(drag).Sub(e.Normal.Times(speed).Add(air.Times(c)).Times(lift)))
		}
	}
	if p != (wrench{}) && s.addQuietly(body, &p) && d.Wake {
		s.sleep.WakeDynamic(body)
	}
}

// airPast returns the velocity of the air relative to a point of a body, limited to MaxSpeed.
func (s *solver) airPast(body int, arm rigid3.Vec, d *WindDef) (air rigid3.Vec, speed float32) {
	air = vecOf(d.Wind).Sub(s.linearVelocity(body).Add(s.angularVelocity(body).Cross(arm)))
	speed = lengthOf(air)
	if d.MaxSpeed > 0 && speed > d.MaxSpeed {
		air, speed = air.Times(d.MaxSpeed/speed), d.MaxSpeed
	}
	return air, speed
}
