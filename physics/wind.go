package physics

import (
	"errors"

	"github.com/evertick/evertick/internal/check"
)

// WindDef describes a wind, or still air, in which bodies move.
type WindDef struct {
	// Wind is the velocity of the air in m/s, up to 1e6 along each axis.
	Wind [2]float32
	// Drag in kg/m², half the density of the air times a coefficient, and Lift likewise; not negative, up to 1e6.
	Drag, Lift float32
	// MaxSpeed bounds the assumed speed in m/s at which the air passes a surface. 0: no bound. Light
	// bodies in strong wind need a bound: the force is constant for a whole step, although the body gives way.
	MaxSpeed float32
	// Mask holds the categories of the shapes on which it acts.
	Mask uint64
	// Wake makes the wind wake the bodies on which it acts, and keep them awake. Otherwise it does not act on
	// sleeping bodies, and does not keep others from falling asleep.
	Wake bool
	// Span selects the shapes whose span overlaps it. Zero: all.
	Span Span
}

// Validate reports every fault of d at once. Errors wrap ErrNotFinite or ErrRange.
func (d *WindDef) Validate() error {
	return errors.Join(
		check.Between("physics: WindDef.Wind[0]", d.Wind[0], -check.MaxCoefficient, check.MaxCoefficient),
		check.Between("physics: WindDef.Wind[1]", d.Wind[1], -check.MaxCoefficient, check.MaxCoefficient),
		check.Coefficient("physics: WindDef.Drag", d.Drag),
		check.Coefficient("physics: WindDef.Lift", d.Lift),
		check.Coefficient("physics: WindDef.MaxSpeed", d.MaxSpeed),
		d.Span.check("physics: WindDef.Span"),
	)
}

// ApplyWind adds the forces of a wind to those that act on the dynamic bodies during the next Step.
// They act on each piece of the outline of solid shapes that faces the passing air. On a piece of
// length l with the outward normal n, which the air passes with the relative velocity r and
// the speed s = |r|, the force is
//
//	Drag · l · c · s · r  +  Lift · l · c · s · (-n·s - c·r)    with c = max(0, -n·r) / s
//
// The first part acts along r, the second at a right angle to it, in the direction in which the surface leans away. A
// box of width b that falls flat in still air reaches the speed √(m·g / (Drag·b)). Sides are cut into 4 pieces each,
// arcs count as chords, and the force on a disc of radius r is Drag·2r·s·r. Obstacles give no shelter.
//
// ApplyWind leaves out a body if the sum of its forces would overflow. Errors: those of WindDef.Validate, and
// ErrUnsupported from another engine.
func (w *World) ApplyWind(def WindDef) error {
	if err := w.requireRunning(); err != nil {
		return err
	}
	if err := def.Validate(); err != nil {
		return err
	}
	s := w.solver
	for shape := range s.shapes.local {
		if s.affected(shape, def.Mask, def.Span) {
			s.applyWind(shape, &def)
		}
	}
	return nil
}

// ApplyWindTo is ApplyWind for one body. It has no effect on a body that is not dynamic. Errors: ErrStale,
// and those of ApplyWind.
func (w *World) ApplyWindTo(b Body, def WindDef) error {
	i, err := w.solverRow(b)
	if err == nil {
		err = def.Validate()
	}
	if err != nil {
		return err
	}
	s := w.solver
	for _, shape := range s.bodyShapes(i) {
		if s.affected(int(shape), def.Mask, def.Span) {
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
	if r.Count == 1 {
		at := s.worldPoint(body, r.Vertices[0].X, r.Vertices[0].Y)
		rx, ry, speed := s.airPast(body, at[0], at[1], d)
		f := float32(float32(2*r.Radius*d.Drag) * speed)
		s.addForceAt(&p, body, at[0], at[1], float32(f*rx), float32(f*ry))
	}
	for k := range outlineParts(r) {
		e, ok := s.side(body, r, k)
		if !ok {
			continue
		}
		rx, ry, speed := s.airPast(body, e.x, e.y, d)
		against := -(float32(e.nx*rx) + float32(e.ny*ry)) // c·s
		if !(against > 0) {
			continue
		}
		drag, lift := float32(float32(d.Drag*e.length)*against), float32(float32(d.Lift*e.length)*against)
		c := against / speed
		s.addForceAt(&p, body, e.x, e.y,
			float32(drag*rx)-float32(lift*(float32(e.nx*speed)+float32(c*rx))),
			float32(drag*ry)-float32(lift*(float32(e.ny*speed)+float32(c*ry))))
	}
	if s.addForce(body, [2]float32{p.x, p.y}, p.turn) && d.Wake && p != (wrench{}) {
		s.sleep.Wake(body)
	}
}

// airPast returns the velocity of the air relative to a point of a body, limited to MaxSpeed.
func (s *solver) airPast(body int, x, y float32, d *WindDef) (rx, ry, speed float32) {
	c := s.cols
	ax, ay := s.leverArm(body, [2]float32{x, y})
	rx, ry = d.Wind[0]-(c.VX[body]-float32(c.W[body]*ay)), d.Wind[1]-(c.VY[body]+float32(c.W[body]*ax))
	speed = sqrt(float32(rx*rx) + float32(ry*ry))
	if d.MaxSpeed > 0 && speed > d.MaxSpeed {
		part := d.MaxSpeed / speed
		rx, ry, speed = float32(rx*part), float32(ry*part), d.MaxSpeed
	}
	return rx, ry, speed
}
