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

// Placement is where a hull or a mesh is in a body.
type Placement struct {
	// Position in body coordinates, in metres.
	Position [3]float32
	// Rotation is a quaternion x, y, z, w; zero is the unit rotation, and any other is normalized.
	Rotation [4]float32
}

// geometry is a shape in body coordinates. The number of a hull or a surface is that which a world gives it.
type geometry struct {
	rigid3.Shape
	hull    *Hull   // KindHull
	surface surface // KindSurface
}

// newShape is a shape to create, as a program describes it. It has a geometry of that kind.
type newShape struct {
	def      ShapeDef
	kind     rigid3.Kind
	sphere   Sphere
	capsule  Capsule
	box      Box
	hull     *Hull
	surface  surface
	argument string    // that surface was in a call
	at       Placement // of hull or surface
}

// CreateSphere attaches a ball to b. Errors: ErrStale; ErrNotFinite or ErrRange naming the field of def or sphere; ErrCapacity; and
// ErrRange if the mass of the body would be out of range.
func (w *World) CreateSphere(b Body, def ShapeDef, sphere Sphere) (Shape, error) {
	w.newShape = newShape{def: def, kind: rigid3.KindSphere, sphere: sphere}
	return w.createShape(b, &w.newShape)
}

// CreateCapsule attaches a capsule to b. Errors are as for CreateSphere.
func (w *World) CreateCapsule(b Body, def ShapeDef, capsule Capsule) (Shape, error) {
	w.newShape = newShape{def: def, kind: rigid3.KindCapsule, capsule: capsule}
	return w.createShape(b, &w.newShape)
}

// CreateBox attaches a box to b. Errors are as for CreateSphere.
func (w *World) CreateBox(b Body, def ShapeDef, box Box) (Shape, error) {
	w.newShape = newShape{def: def, kind: rigid3.KindBox, box: box}
	return w.createShape(b, &w.newShape)
}

// CreateHull attaches a hull to b. Errors are as for CreateSphere, and ErrRange for a nil hull.
func (w *World) CreateHull(b Body, def ShapeDef, h *Hull, at Placement) (Shape, error) {
	w.newShape = newShape{def: def, kind: rigid3.KindHull, hull: h, at: at}
	return w.createShape(b, &w.newShape)
}

// CreateMesh attaches a mesh to a static or kinematic body. It has no mass. Errors are as for CreateSphere; ErrRange for a nil mesh; and ErrUnsupported
// for a dynamic body.
func (w *World) CreateMesh(b Body, def ShapeDef, m *Mesh, at Placement) (Shape, error) {
	w.newShape = newMeshShape(def, m, at)
	return w.createShape(b, &w.newShape)
}

// CreateHeightField attaches a height field to a static or kinematic body. Errors are as for CreateMesh.
func (w *World) CreateHeightField(b Body, def ShapeDef, f *HeightField, at Placement) (Shape, error) {
	w.newShape = newFieldShape(def, f, at)
	return w.createShape(b, &w.newShape)
}

// CreateTerrain attaches a terrain to a static or kinematic body. Errors are as for CreateMesh.
func (w *World) CreateTerrain(b Body, def ShapeDef, t *Terrain, at Placement) (Shape, error) {
	w.newShape = newTerrainShape(def, t, at)
	return w.createShape(b, &w.newShape)
}

func newMeshShape(def ShapeDef, m *Mesh, at Placement) newShape {
	n := newShape{def: def, kind: rigid3.KindSurface, argument: "CreateMesh: m", at: at}
	if m != nil {
		n.surface = m
	}
	return n
}

func newFieldShape(def ShapeDef, f *HeightField, at Placement) newShape {
	n := newShape{def: def, kind: rigid3.KindSurface, argument: "CreateHeightField: f", at: at}
	if f != nil {
		n.surface = f
	}
	return n
}

func newTerrainShape(def ShapeDef, t *Terrain, at Placement) newShape {
	n := newShape{def: def, kind: rigid3.KindSurface, argument: "CreateTerrain: t", at: at}
	if t != nil {
		n.surface = t
	}
	return n
}

// check returns the geometry, or what is wrong with the definition.
func (n *newShape) check() (geometry, error) {
	if err := n.def.Validate(); err != nil {
		return geometry{}, err
	}
	switch n.kind {
	case rigid3.KindSphere:
		return n.sphere.geometry()
	case rigid3.KindCapsule:
		return n.capsule.geometry()
	case rigid3.KindBox:
		return n.box.geometry()
	case rigid3.KindSurface:
		return n.placedSurface()
	}
	return n.hull.placed(&n.at)
}

func (n *newShape) placedSurface() (geometry, error) {
	if n.surface == nil {
		return geometry{}, fault.Field(ErrRange, "physics3: "+n.argument, "nil")
	}
	pose, err := n.at.pose()
	return geometry{Shape: rigid3.NewSurfaceShape(0, pose), surface: n.surface}, err
}

// checkType refuses a surface on a dynamic body.
func (n *newShape) checkType(t BodyType) error {
	if n.kind == rigid3.KindSurface && t == DynamicBody {
		return check.Because(fault.Field(ErrUnsupported, "physics3: BodyDef.Type", t), "a surface has no mass")
	}
	return nil
}

func (s *Sphere) geometry() (geometry, error) {
	err := errors.Join(
		checkCoordinates("physics3: Sphere.Center", s.Center),
		checkSize("physics3: Sphere.Radius", s.Radius),
	)
	return geometry{Shape: rigid3.NewSphere(vecOf(s.Center), s.Radius)}, err
}

func (c *Capsule) geometry() (geometry, error) {
	err := errors.Join(
		checkCoordinates("physics3: Capsule.P1", c.P1),
		checkCoordinates("physics3: Capsule.P2", c.P2),
		checkSize("physics3: Capsule.Radius", c.Radius),
	)
	g := geometry{Shape: rigid3.NewCapsule(vecOf(c.P1), vecOf(c.P2), c.Radius)}
	if err == nil && g.Half == (rigid3.Vec{}) { // also by rounding
		err = check.Because(fault.Field(ErrRange, "physics3: Capsule.P2", c.P2), "equals P1")
	}
	return g, err
}

func (b *Box) geometry() (geometry, error) {
	err := errors.Join(
		checkSizes("physics3: Box.Half", b.Half),
		checkCoordinates("physics3: Box.Center", b.Center),
		checkPlacedRotation("physics3: Box.Rotation", b.Rotation),
		check.Between("physics3: Box.Radius", b.Radius, 0, maxCoordinate),
	)
	pose := rigid3.Pose{P: vecOf(b.Center), Q: placedRotation(b.Rotation)}
	return geometry{Shape: rigid3.NewBoxShape(vecOf(b.Half), pose, b.Radius)}, err
}

func (h *Hull) placed(at *Placement) (geometry, error) {
	if h == nil {
		return geometry{}, fault.Field(ErrRange, "physics3: CreateHull: hull", "nil")
	}
	pose, err := at.pose()
	return h.geometry(pose), err
}

func (at *Placement) pose() (rigid3.Pose, error) {
	err := errors.Join(
		checkCoordinates("physics3: Placement.Position", at.Position),
		checkPlacedRotation("physics3: Placement.Rotation", at.Rotation),
	)
	return rigid3.Pose{P: vecOf(at.Position), Q: placedRotation(at.Rotation)}, err
}

// geometry returns the hull at a place in a body.
func (h *Hull) geometry(pose rigid3.Pose) geometry {
	return geometry{Shape: rigid3.NewHullShape(0, pose, h.radius), hull: h}
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
	if g.surface != nil {
		numbers[6] = g.surface.hash()
	}
	return statehash.Add(hash, "Shape", statehash.Rows(numbers[:]))
}
