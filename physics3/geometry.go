package physics3

import (
	"errors"

	"github.com/evertick/evertick/internal/check"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/rigid3"
	"github.com/evertick/evertick/internal/statehash"
)

// maxCoordinate bounds coordinates and sizes of shapes, in metres.
const maxCoordinate = 1 << 20

// Sphere is a ball.
type Sphere struct {
	// Center in body coordinates, in metres.
	Center [3]float32
	// Radius in metres; positive.
	Radius float32
}

// Capsule is all points within Radius of a segment.
type Capsule struct {
	// P1 and P2 are the centres of the two ends in body coordinates, in metres; distinct.
	P1, P2 [3]float32
	// Radius in metres; positive.
	Radius float32
}

// Box is a cuboid, with rounded edges if Radius is not zero.
type Box struct {
	// Half has half the edge lengths, in metres; positive.
	Half [3]float32
	// Center in body coordinates, in metres.
	Center [3]float32
	// Rotation is a quaternion x, y, z, w; zero is the unit rotation, and any other is normalized.
	Rotation [4]float32
	// Radius makes the box all points within Radius of the cuboid, in metres. Its mass is that of the cuboid.
	Radius float32
}

// Placement is where a hull is in a body.
type Placement struct {
	// Position in body coordinates, in metres.
	Position [3]float32
	// Rotation is a quaternion x, y, z, w; zero is the unit rotation, and any other is normalized.
	Rotation [4]float32
}

// geometry is a shape in body coordinates. The number of a hull is that which a world gives it.
type geometry struct {
	rigid3.Shape
	hull *Hull // KindHull
}

// CreateSphere attaches a ball to b. Errors: ErrStale; ErrNotFinite or ErrRange naming the field of def or sphere; ErrCapacity; and
// ErrRange if the mass of the body would be out of range.
func (w *World) CreateSphere(b Body, def ShapeDef, sphere Sphere) (Shape, error) {
	err := errors.Join(
		checkCoordinates("physics3: Sphere.Center", sphere.Center),
		checkSize("physics3: Sphere.Radius", sphere.Radius),
	)
	if err != nil {
		return Shape{}, err
	}
	return w.createShape(b, &def, geometry{Shape: rigid3.NewSphere(vecOf(sphere.Center), sphere.Radius)})
}

// CreateCapsule attaches a capsule to b. Errors are as for CreateSphere.
func (w *World) CreateCapsule(b Body, def ShapeDef, capsule Capsule) (Shape, error) {
	err := errors.Join(
		checkCoordinates("physics3: Capsule.P1", capsule.P1),
		checkCoordinates("physics3: Capsule.P2", capsule.P2),
		checkSize("physics3: Capsule.Radius", capsule.Radius),
	)
	if err == nil && capsule.P1 == capsule.P2 {
		err = check.Because(fault.Field(ErrRange, "physics3: Capsule.P2", capsule.P2), "equals P1")
	}
	if err != nil {
		return Shape{}, err
	}
	return w.createShape(b, &def, geometry{Shape: rigid3.NewCapsule(vecOf(capsule.P1), vecOf(capsule.P2), capsule.Radius)})
}

// CreateBox attaches a box to b. Errors are as for CreateSphere.
func (w *World) CreateBox(b Body, def ShapeDef, box Box) (Shape, error) {
	g, err := box.geometry()
	if err != nil {
		return Shape{}, err
	}
	return w.createShape(b, &def, g)
}

func (box *Box) geometry() (geometry, error) {
	err := errors.Join(
		checkSizes("physics3: Box.Half", box.Half),
		checkCoordinates("physics3: Box.Center", box.Center),
		checkPlacedRotation("physics3: Box.Rotation", box.Rotation),
		check.Between("physics3: Box.Radius", box.Radius, 0, maxCoordinate),
	)
	if err != nil {
		return geometry{}, err
	}
	pose := rigid3.Pose{P: vecOf(box.Center), Q: placedRotation(box.Rotation)}
	return geometry{Shape: rigid3.NewBoxShape(vecOf(box.Half), pose, box.Radius)}, nil
}

// CreateHull attaches a hull to b. Errors are as for CreateSphere, and ErrRange for a nil hull.
func (w *World) CreateHull(b Body, def ShapeDef, h *Hull, at Placement) (Shape, error) {
	if h == nil {
		return Shape{}, fault.Field(ErrRange, "physics3: CreateHull: hull", "nil")
	}
	err := errors.Join(
		checkCoordinates("physics3: Placement.Position", at.Position),
		checkPlacedRotation("physics3: Placement.Rotation", at.Rotation),
	)
	if err != nil {
		return Shape{}, err
	}
	return w.createShape(b, &def, h.geometry(rigid3.Pose{P: vecOf(at.Position), Q: placedRotation(at.Rotation)}))
}

// geometry returns the hull at a place in a body.
func (h *Hull) geometry(pose rigid3.Pose) geometry {
	return geometry{rigid3.NewHullShape(0, pose, h.radius), h}
}

func checkCoordinates(field string, v [3]float32) error {
	if err := checkVector(field, v); err != nil {
		return err
	}
	for i, c := range v {
		if max(c, -c) > maxCoordinate {
			return check.Because(fault.Element(ErrRange, field, i, c), "beyond 2^20 m")
		}
	}
	return nil
}

func checkSize(field string, v float32) error {
	if err := check.Positive(field, v); err != nil {
		return err
	}
	return check.Between(field, v, 0, maxCoordinate)
}

func checkSizes(field string, v [3]float32) error {
	if err := checkVector(field, v); err != nil {
		return err
	}
	for i, c := range v {
		if !(c > 0 && c <= maxCoordinate) {
			return fault.Element(ErrRange, field, i, c)
		}
	}
	return nil
}

// checkPlacedRotation checks a rotation that may be zero.
func checkPlacedRotation(field string, q [4]float32) error {
	if q == [4]float32{} {
		return nil
	}
	return checkRotation(field, q)
}

func placedRotation(q [4]float32) rigid3.Quat {
	if q == [4]float32{} {
		return rigid3.Identity
	}
	return unitRotation(q)
}

// digest returns the number that represents a shape in the state hash.
func (g *geometry) digest(d *ShapeDef) uint64 {
	s := &g.Shape
	f, v := &d.Filter, &d.TangentVelocity
	hash := statehash.Rows([]float32{
		s.Pose.P.X, s.Pose.P.Y, s.Pose.P.Z, s.Pose.Q.X, s.Pose.Q.Y, s.Pose.Q.Z, s.Pose.Q.W, s.Half.X, s.Half.Y, s.Half.Z, s.Radius,
		d.Density, d.Friction, d.Restitution, d.RollingResistance, d.TwistResistance, v[0], v[1], v[2],
	})
	numbers := [...]uint64{uint64(s.Kind), f.Category, f.Mask, uint64(uint32(f.Group)), uint64(bits(d.Sensor)), d.UserMaterial, 0}
	if g.hull != nil {
		numbers[6] = g.hull.digest
	}
	return statehash.Add(hash, "Shape", statehash.Rows(numbers[:]))
}
