package physics3

import (
	"errors"
	"math"
	"slices"

	"github.com/evertick/evertick/internal/check"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/rigid3"
)

// MassData is the mass of a body and how it is distributed.
type MassData struct {
	Mass    float32    // kg
	Inertia [6]float32 // about Center in the axes of the body: xx, yy, zz, xy, xz, yz in kg·m², of which the last three are -∫xy and so on
	Center  [3]float32 // of mass, in body coordinates, in metres
}

// bodyMass is a mass as the solver needs it.
type bodyMass struct {
	invMass    float32
	invInertia rigid3.Vec
	principal  rigid3.Quat
	centre     rigid3.Vec
}

// updateMass computes the mass of a body from its shapes, in ascending order, and moves the shapes to its centre of mass. If it returns
// an error it has changed nothing. Where the centre moves within a turning body, its velocity changes accordingly.
func (s *solver) updateMass(i int, shapes []uint32) error {
	c := s.cols
	m, err := s.computeMass(i, shapes)
	if err != nil {
		return err
	}
	moved := s.rotation(i).Rotate(m.centre.Sub(s.centre(i)))
	w := s.angularVelocity(i)
	v := s.linearVelocity(i).Add(w.Cross(moved))
	if !inRange(v) {
		return check.Overflow("physics3: angular velocity of the body", arrayOf(w))
	}
	s.putVelocity(i, v, w)
	if m.centre != s.centre(i) {
		c.CentreX[i], c.CentreY[i], c.CentreZ[i] = m.centre.X, m.centre.Y, m.centre.Z
		s.clearBases(uint32(i))
	}
	s.principal[i] = m.principal
	if c.Flags[i]&FlagDisabled == 0 {
		s.putInverseMass(i, m.invMass, m.invInertia)
	}
	s.clearExtents(i)
	for _, shape := range shapes {
		s.addToScene(i, int(shape))
		s.extend(i, int(shape))
	}
	s.storeInverseMass(i)
	s.updateJoints(i)
	return nil
}

// extend makes the extents of a body include a shape.
func (s *solver) extend(i, shape int) {
	c := s.centre(i)
	at := s.shapes.local[shape].Translated(rigid3.Vec{X: -c.X, Y: -c.Y, Z: -c.Z})
	if !s.shapes.sensor[shape] {
		least, core := &s.continuous.minExtent[i], &s.continuous.coreExtent[i]
		*least, *core = min(*least, at.MinExtent(&s.contents.Hulls)), max(*core, at.CoreExtent(&s.contents.Hulls))
	}
	s.extent[i] = max(s.extent[i], at.MaxExtent(&s.contents.Hulls))
}

func (s *solver) putInverseMass(i int, mass float32, inertia rigid3.Vec) {
	c := s.cols
	c.InvMass[i], c.InvInertiaX[i], c.InvInertiaY[i], c.InvInertiaZ[i] = mass, inertia.X, inertia.Y, inertia.Z
}

// totalMass returns the mass of a body that is dynamic. One without mass gets one kilogram, and does not turn.
func (s *solver) totalMass(i int, shapes []uint32) rigid3.Mass {
	if m, ok := s.massOverrides.Of(i); ok {
		return m.wide()
	}
	s.massParts = s.massParts[:0]
	for _, k := range shapes {
		if m := s.shapes.mass[k].Times(float64(s.shapes.density[k])); m.Mass > 0 {
			s.massParts = append(s.massParts, m)
		}
	}
	m := rigid3.Sum(s.massParts)
	if float32(m.Mass) == 0 {
		return rigid3.Mass{Mass: 1}
	}
	return m
}

// computeMass returns zero unless the body is dynamic.
func (s *solver) computeMass(i int, shapes []uint32) (bodyMass, error) {
	if s.cols.Type[i] != DynamicBody {
		return bodyMass{principal: rigid3.Identity}, nil
	}
	m := s.totalMass(i, shapes)
	if s.cols.Flags[i]&FlagFixedRotation != 0 {
		m.Inertia = [6]float64{}
	}
	return newBodyMass(&m)
}

// newBodyMass returns an error for a mass or a moment that is out of range. Without inertia the body does not turn.
func newBodyMass(m *rigid3.Mass) (b bodyMass, err error) {
	b.principal, b.centre = rigid3.Identity, vecOf(narrow3(m.Centre))
	if b.invMass, err = check.Inverse("physics3: mass of the body", narrow(m.Mass)); err != nil || m.Inertia == [6]float64{} {
		return b, err
	}
	moments, axes := m.Principal()
	var inv [3]float32
	for k, v := range moments {
		if inv[k], err = check.Inverse("physics3: inertia of the body", narrow(v)); err != nil {
			return b, err
		}
	}
	b.invInertia, b.principal = vecOf(inv), unitRotation([4]float32{float32(axes[0]), float32(axes[1]), float32(axes[2]), float32(axes[3])})
	return b, nil
}

// narrow returns v as a float32, which is zero for zero alone.
func narrow(v float64) float32 {
	if f := float32(v); f != 0 || v == 0 {
		return f
	}
	return math.SmallestNonzeroFloat32
}

// deriveMass computes what the columns of a body do not have: its principal axes, its extent, and where its shapes are relative to its centre of mass.
func (s *solver) deriveMass(i int) {
	own := s.bodyShapes(i)
	s.principal[i] = rigid3.Identity
	s.clearExtents(i)
	if m, err := s.computeMass(i, own); err == nil {
		s.principal[i] = m.principal
	}
	for _, shape := range own {
		s.shapes.shape[shape], s.shapes.filters.Moves[shape] = rigid3.Shape{}, s.cols.Type[i] != StaticBody
		s.addToScene(i, int(shape))
		s.extend(i, int(shape))
	}
}

// setType makes a body static, kinematic or dynamic.
func (s *solver) setType(i int, t BodyType) error {
	c := s.cols
	own := s.bodyShapes(i)
	if t == DynamicBody && slices.ContainsFunc(own, func(shape uint32) bool { return s.shapes.surface[shape] != nil }) {
		return check.Because(fault.Field(ErrUnsupported, "physics3: SetType: t", t), "the body has a surface")
	}
	before := c.Type[i]
	c.Type[i] = t
	s.shapes.version++
	if err := s.updateMass(i, own); err != nil {
		c.Type[i] = before
		return err
	}
	if t == StaticBody {
		s.putVelocity(i, rigid3.Vec{}, rigid3.Vec{})
	}
	if t != DynamicBody {
		s.putForce(i, rigid3.Vec{}, rigid3.Vec{})
	}
	for _, shape := range own {
		s.shapes.filters.Moves[shape] = t != StaticBody
	}
	s.sleep.WakeWithNeighbours(i)
	return nil
}

// MassData returns the mass, the inertia and the centre of mass of b; zeros if it is not dynamic. The inertia is zero if FixedRotation
// keeps the body from turning. ErrStale if b is destroyed.
func (w *World) MassData(b Body) (MassData, error) {
	i, err := w.row(b)
	if err != nil || w.cols.Type[i] != DynamicBody {
		return MassData{}, err
	}
	m := w.solver.totalMass(i, w.solver.bodyShapes(i))
	d := MassData{float32(m.Mass), narrow6(m.Inertia), narrow3(m.Centre)}
	if w.cols.Flags[i]&FlagFixedRotation != 0 {
		d.Inertia = [6]float32{}
	}
	return d, nil
}

// wide returns a mass in double precision.
func (m *MassData) wide() rigid3.Mass {
	out := rigid3.Mass{Mass: float64(m.Mass)}
	for k, v := range m.Center {
		out.Centre[k] = float64(v)
	}
	for k, v := range m.Inertia {
		out.Inertia[k] = float64(v)
	}
	return out
}

func (m *MassData) validate(prefix string) error {
	err := errors.Join(
		check.Positive(prefix+"Mass", m.Mass),
		checkCoordinates(prefix+"Center", m.Center),
	)
	for k, v := range m.Inertia {
		if !fault.Finite(v) {
			err = errors.Join(err, fault.Element(ErrNotFinite, prefix+"Inertia", k, v))
		}
	}
	if err != nil || m.Inertia == [6]float32{} {
		return err
	}
	wide := m.wide()
	moments, _ := wide.Principal()
	x, y, z := moments[0], moments[1], moments[2]
	const rounding = 1 + 1e-5 // of the six numbers
	switch {
	case !(min(x, y, z) > 0) || math.IsInf(x+y+z, 0):
		return check.Because(fault.Field(ErrRange, prefix+"Inertia", m.Inertia), "a moment is not positive")
	case x > (y+z)*rounding || y > (x+z)*rounding || z > (x+y)*rounding:
		return check.Because(fault.Field(ErrRange, prefix+"Inertia", m.Inertia), "one moment is greater than the sum of the others")
	}
	return nil
}

// SetMassData sets the mass of b, its inertia about its centre of mass, and that centre, in place of the values from its shapes, until
// ResetMassData: creating, destroying or changing shapes has no effect on them. With an inertia of zeros the body does not turn. They
// apply while b is dynamic; FixedRotation makes the inertia 0. If b turns, its velocity changes as its centre moves. Errors: ErrStale;
// ErrNotFinite; ErrRange for a mass that is not positive, an inertia that no body can have, values beyond 2e-19 to 4e18, and a centre
// beyond 2^20 m.
func (w *World) SetMassData(b Body, m MassData) error {
	i, err := w.row(b)
	if err == nil {
		err = m.validate("physics3: MassData.")
	}
	if err == nil {
		wide := m.wide()
		_, err = newBodyMass(&wide)
	}
	if err != nil {
		return err
	}
	return w.solver.overrideMass(i, m, true)
}

// ResetMassData gives b the mass of its shapes again. Errors: ErrStale, and ErrRange as when a shape is created.
func (w *World) ResetMassData(b Body) error {
	i, err := w.row(b)
	if err != nil {
		return err
	}
	return w.solver.overrideMass(i, MassData{}, false)
}

func (s *solver) overrideMass(body int, m MassData, keep bool) error {
	before, had := s.massOverrides.Of(body)
	s.massOverrides.Set(body, m, keep)
	err := s.updateMass(body, s.bodyShapes(body))
	if err != nil {
		s.massOverrides.Set(body, before, had)
		return err
	}
	s.sleep.WakeUnlessNew(body)
	return nil
}
