package physics3

import (
	"github.com/evertick/evertick/internal/broad"
	"github.com/evertick/evertick/internal/check"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/rigid3"
	"github.com/evertick/evertick/native"
)

// The methods of this file query one shape of any body, also of a disabled one. Filters do not apply.

// TestPoint reports whether a point of the world, in metres, is in s or on its surface. Errors are those of ClosestPoint.
func (w *World) TestPoint(s Shape, point [3]float32) (bool, error) {
	_, distance, err := w.ClosestPoint(s, point)
	return err == nil && distance <= 0, err
}

// ClosestPoint returns the point on the surface of s that is nearest to a point of the world, and the distance of the two, in metres; the
// distance is negative if the point is inside s. It computes as Distances does for a sphere without a radius. Errors: ErrStale; ErrNotFinite;
// ErrRange if a coordinate of the point or of the body is beyond 2^60; ErrFloatEnv; and that which has stopped the world.
func (w *World) ClosestPoint(s Shape, point [3]float32) (closest [3]float32, distance float32, err error) {
	body, err := w.beginShapeQuery(s)
	if err != nil {
		return closest, 0, err
	}
	for i, v := range point {
		if err := checkQueryCoordinate("physics3: point", i, v); err != nil {
			return closest, 0, err
		}
	}
	pose := w.solver.queryPose(body)
	if !poseInRange(&pose) {
		return closest, 0, check.Because(fault.Field(ErrRange, "physics3: Shape", s), "the pose of its body is out of range")
	}
	at := rigid3.Pose{P: rigid3.Vec{X: point[0], Y: point[1], Z: point[2]}, Q: rigid3.Identity}
	shape, dot := w.solver.centredShape(s), rigid3.NewSphere(rigid3.Vec{}, 0)
	d := rigid3.Distance(&shape, &dot, &w.solver.contents.Hulls, &pose, &at)
	return arrayOf(d.PointA), d.Distance, nil
}

// poseInRange reports whether shapes at a pose can be measured.
func poseInRange(p *rigid3.Pose) bool {
	return largest(arrayOf(p.P)) <= maxQueryCoordinate && rotationInRange(p.Q)
}

// RayShape finds where rays hit s. It is like RayClosest in a world in which s is the only shape, and ignores the filter of q. Errors:
// ErrStale, and those of RayClosest.
func (w *World) RayShape(s Shape, q *Rays, out *RayHits) error {
	body, err := w.beginShapeQuery(s)
	if err != nil {
		return err
	}
	if err := q.Validate(); err != nil {
		return err
	}
	t := &w.solver.queries.rays
	t.set(w.solver, q, out)
	t.only, t.tree = s, w.solver.treeOf(s, body)
	return t.Closest(len(q.X))
}

// beginShapeQuery returns the row of the body of a shape that can be queried.
func (w *World) beginShapeQuery(s Shape) (body int, err error) {
	if _, err := w.shapeRow(s); err != nil {
		return 0, err
	}
	return int(w.shapes.Owner[s.index]), native.CheckFloatEnv()
}

// oneShape is a scene of one shape, which all filters accept, and its tree.
type oneShape struct {
	scene rigid3.Scene
	tree  rigid3.QueryTree
}

// treeOf returns a tree that contains only a shape of a body. It is valid until the next call.
func (s *solver) treeOf(shape Shape, body int) *rigid3.QueryTree {
	o := &s.queries.one
	if o.scene.Shapes == nil {
		all := []uint64{^uint64(0)}
		o.scene = rigid3.Scene{
			Shapes: make([]rigid3.Shape, 1), Poses: make([]rigid3.Pose, 1), Sensors: make([]bool, 1),
			Filters: &broad.Filters{Body: make([]uint32, 1), Category: all, Mask: all},
		}
	}
	o.scene.Shapes[0], o.scene.Poses[0], o.scene.Hulls = s.centredShape(shape), s.queryPose(body), &s.contents.Hulls
	o.tree.Build(s.level, &o.scene)
	return &o.tree
}

// ShapeMassData returns the mass of s, its inertia about its centre of mass, and that centre, computed from the density; zeros for a mesh. A
// dynamic body without SetMassData has the sum of those of its shapes. ErrStale if s is destroyed.
func (w *World) ShapeMassData(s Shape) (MassData, error) {
	i, err := w.shapeRow(s)
	if err != nil {
		return MassData{}, err
	}
	t := &w.solver.shapes
	m := t.mass[i].Times(float64(t.density[i]))
	return MassData{float32(m.Mass), narrow6(m.Inertia), narrow3(m.Centre)}, nil
}
