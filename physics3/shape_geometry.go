package physics3

import (
	"github.com/evertick/evertick/internal/check"
	"github.com/evertick/evertick/internal/enum"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/rigid3"
)

// ShapeKind says which geometry a shape has.
type ShapeKind uint8

const (
	// SphereShape is a Sphere.
	SphereShape ShapeKind = 1 + iota
	// CapsuleShape is a Capsule.
	CapsuleShape
	// BoxShape is a Box.
	BoxShape
	// HullShape is a Hull.
	HullShape
	// MeshShape is a Mesh.
	MeshShape
	// HeightFieldShape is a HeightField.
	HeightFieldShape
	// TerrainShape is a Terrain.
	TerrainShape
)

// String returns "sphere", "capsule", "box", "hull", "mesh", "height field" or "terrain".
func (k ShapeKind) String() string {
	return enum.Name([]string{"", "sphere", "capsule", "box", "hull", "mesh", "height field", "terrain"}, k, "ShapeKind")
}

// ShapeKind returns the kind of s. ErrStale if s is destroyed.
func (w *World) ShapeKind(s Shape) (ShapeKind, error) {
	i, err := w.shapeRow(s)
	if err != nil {
		return 0, err
	}
	return w.solver.shapes.kind(i), nil
}

// Sphere returns the geometry of s, as it was given. Errors: ErrStale, and ErrUnsupported for a shape of another kind.
func (w *World) Sphere(s Shape) (Sphere, error) {
	i, err := w.shapeOfKind(s, SphereShape)
	if err != nil {
		return Sphere{}, err
	}
	g := &w.solver.shapes.local[i]
	return Sphere{Center: arrayOf(g.Pose.P), Radius: g.Radius}, nil
}

// Capsule is Sphere for a capsule. Its ends may be off by rounding, as a world stores the middle and half the difference of the two.
func (w *World) Capsule(s Shape) (Capsule, error) {
	i, err := w.shapeOfKind(s, CapsuleShape)
	if err != nil {
		return Capsule{}, err
	}
	g := &w.solver.shapes.local[i]
	return Capsule{P1: arrayOf(g.Pose.P.Sub(g.Half)), P2: arrayOf(g.Pose.P.Add(g.Half)), Radius: g.Radius}, nil
}

// Box is Sphere for a box. Its rotation is normalized.
func (w *World) Box(s Shape) (Box, error) {
	i, err := w.shapeOfKind(s, BoxShape)
	if err != nil {
		return Box{}, err
	}
	g := &w.solver.shapes.local[i]
	at := placementOf(g)
	return Box{Half: arrayOf(g.Half), Center: at.Position, Rotation: at.Rotation, Radius: g.Radius}, nil
}

// Hull returns the hull of s, and where it is in its body, with a normalized rotation. It may be another value of the same content than that of
// CreateHull. Errors are those of Sphere.
func (w *World) Hull(s Shape) (*Hull, Placement, error) {
	i, err := w.shapeOfKind(s, HullShape)
	if err != nil {
		return nil, Placement{}, err
	}
	t := &w.solver.shapes
	return t.hull[i], placementOf(&t.local[i]), nil
}

// Mesh is Hull for a mesh.
func (w *World) Mesh(s Shape) (*Mesh, Placement, error) {
	i, err := w.shapeOfKind(s, MeshShape)
	if err != nil {
		return nil, Placement{}, err
	}
	t := &w.solver.shapes
	return t.surface[i].(*Mesh), placementOf(&t.local[i]), nil
}

// HeightField is Hull for a height field.
func (w *World) HeightField(s Shape) (*HeightField, Placement, error) {
	i, err := w.shapeOfKind(s, HeightFieldShape)
	if err != nil {
		return nil, Placement{}, err
	}
	t := &w.solver.shapes
	return t.surface[i].(*HeightField), placementOf(&t.local[i]), nil
}

// Terrain is Hull for a terrain.
func (w *World) Terrain(s Shape) (*Terrain, Placement, error) {
	i, err := w.shapeOfKind(s, TerrainShape)
	if err != nil {
		return nil, Placement{}, err
	}
	t := &w.solver.shapes
	return t.surface[i].(*Terrain), placementOf(&t.local[i]), nil
}

// shapeOfKind returns the row of a shape that must be of a kind.
func (w *World) shapeOfKind(s Shape, kind ShapeKind) (int, error) {
	i, err := w.shapeRow(s)
	if err != nil {
		return 0, err
	}
	if k := w.solver.shapes.kind(i); k != kind {
		return 0, check.Because(fault.Field(ErrUnsupported, "physics3: kind of shape", k), "not "+kind.String())
	}
	return i, nil
}

func (t *shapeColumns) kind(shape int) ShapeKind {
	switch t.local[shape].Kind {
	case rigid3.KindSphere:
		return SphereShape
	case rigid3.KindCapsule:
		return CapsuleShape
	case rigid3.KindBox:
		return BoxShape
	case rigid3.KindHull:
		return HullShape
	}
	switch t.surface[shape].(type) {
	case *Mesh:
		return MeshShape
	case *HeightField:
		return HeightFieldShape
	}
	return TerrainShape
}

func placementOf(s *rigid3.Shape) Placement {
	q := s.Pose.Q
	return Placement{Position: arrayOf(s.Pose.P), Rotation: [4]float32{q.X, q.Y, q.Z, q.W}}
}
