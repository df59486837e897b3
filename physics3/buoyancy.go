package physics3

import (
	"errors"

	"github.com/evertick/evertick/internal/check"
	"github.com/evertick/evertick/internal/rigid3"
)

// BuoyancyDef describes water, or another liquid, with a flat surface.
type BuoyancyDef struct {
	// Normal points out of the water, at a right angle to its surface; of any length from 1e-6 to 1e6. Offset is where the surface is: it has the
	// points p with p·Normal/|Normal| = Offset, in metres, up to 2^20.
	Normal [3]float32
	Offset float32
	// Density of the water in kg/m³; not negative, up to 1e6.
	Density float32
	// Velocity of the water in m/s, up to 1e6 along each axis.
	Velocity [3]float32
	// LinearDrag and AngularDrag slow what moves and turns in the water, in 1/s; not negative, up to 1e6. Less than the number of steps in a second: 1 or 2 are
	// usual.
	LinearDrag, AngularDrag float32
	// Mask holds the categories of the shapes on which it acts.
	Mask uint64
	// Wake makes the water wake the bodies in it, and keep them awake. Otherwise it does not act on sleeping bodies, and wakes none.
	Wake bool
}

// Validate reports every fault of d at once. Errors wrap ErrNotFinite or ErrRange.
func (d *BuoyancyDef) Validate() error {
	return errors.Join(
		checkDirection("physics3: BuoyancyDef.Normal", d.Normal),
		check.Between("physics3: BuoyancyDef.Offset", d.Offset, -maxCoordinate, maxCoordinate),
		check.Coefficient("physics3: BuoyancyDef.Density", d.Density),
		checkSpeeds("physics3: BuoyancyDef.Velocity", d.Velocity),
		check.Coefficient("physics3: BuoyancyDef.LinearDrag", d.LinearDrag),
		check.Coefficient("physics3: BuoyancyDef.AngularDrag", d.AngularDrag),
	)
}

// ApplyBuoyancy adds the forces of water to those that act on the dynamic bodies during the next Step. A shape of which the volume V is below the surface
// displaces the mass m = Density·V. Two forces act on the centre of that part:
//
//	-m · gravity  -  LinearDrag · m · (v - Velocity)
//
// where v is the velocity of the body there. Its rotation is slowed by AngularDrag times its angular momentum times the ratio of m to its mass, which is 1 for what
// floats. Forces are constant for a whole step, so that something light swings without drag: what would swing at f Hz needs more drag than 20·f² over the number of
// steps in a second. The volume of balls, boxes and hulls is exact but for rounding, that of capsules to a thousandth; as in masses, the radius of a box or a hull does not count, and
// shapes of a body that overlap count each. What floats at rest falls asleep.
//
// ApplyBuoyancy leaves out a body if the sum of its forces would overflow. Errors: those of BuoyancyDef.Validate, and that which has stopped the world.
func (w *World) ApplyBuoyancy(def BuoyancyDef) error {
	if w.failed != nil {
		return w.failed
	}
	if err := def.Validate(); err != nil {
		return err
	}
	s, n := w.solver, unitVector(vecOf(def.Normal))
	for shape := range s.shapes.local {
		if s.affected(shape, def.Mask) {
			s.applyBuoyancy(shape, n, &def)
		}
	}
	return nil
}

// ApplyBuoyancyTo is ApplyBuoyancy for one body. It has no effect on a body that is not dynamic. Errors: ErrStale, and those of ApplyBuoyancy.
func (w *World) ApplyBuoyancyTo(b Body, def BuoyancyDef) error {
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
	s, n := w.solver, unitVector(vecOf(def.Normal))
	for _, shape := range s.bodyShapes(i) {
		if s.affected(int(shape), def.Mask) {
			s.applyBuoyancy(int(shape), n, &def)
		}
	}
	return nil
}

// applyBuoyancy adds the forces on one shape.
func (s *solver) applyBuoyancy(shape int, n rigid3.Vec, d *BuoyancyDef) {
	body := int(s.shapes.filters.Body[shape])
	if !d.Wake && s.cols.Flags[body]&FlagAsleep != 0 {
		return
	}
	at := rigid3.Pose{P: s.position(body), Q: s.rotation(body)}
	volume, centre := s.shapes.local[shape].Submerged(&s.contents.Hulls, &at, n, d.Offset)
	if !(volume > 0) {
		return
	}
	arm := centre.Sub(s.pose(body).P)
	v, turn := s.linearVelocity(body), s.angularVelocity(body)
	mass := float32(d.Density * volume)
	past := v.Add(turn.Cross(arm)).Sub(vecOf(d.Velocity))
	var p wrench
	p.add(arm, s.sys.Gravity.Times(-mass).Sub(past.Times(float32(d.LinearDrag*mass))))
	if d.AngularDrag > 0 {
		p.turn = p.turn.Sub(s.angularMomentum(body, turn).Times(float32(d.AngularDrag * float32(mass*s.cols.InvMass[body]))))
	}
	if s.addQuietly(body, &p) && d.Wake {
		s.sleep.WakeDynamic(body)
	}
}

// angularMomentum returns that of a body with an angular velocity; none about an axis about which it does not turn.
func (s *solver) angularMomentum(i int, turn rigid3.Vec) rigid3.Vec {
	q := s.rotation(i).Mul(s.principal[i])
	l := q.Unrotate(turn)
	over := func(x, inverse float32) float32 {
		if inverse > 0 {
			return x / inverse
		}
		return 0
	}
	return q.Rotate(rigid3.Vec{X: over(l.X, s.cols.InvInertiaX[i]), Y: over(l.Y, s.cols.InvInertiaY[i]), Z: over(l.Z, s.cols.InvInertiaZ[i])})
}
