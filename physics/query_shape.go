package physics

import (
	"github.com/evertick/evertick/internal/broad"
	"github.com/evertick/evertick/internal/check"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/rigid"
	"github.com/evertick/evertick/native"
)

// The methods of this file query one shape of any body, also of a disabled one. Filters do not apply.

// TestPoint reports whether a point of the world, in metres, is in s or on its surface. Errors are those of
// ClosestPoint.
func (w *World) TestPoint(s Shape, point [2]float32) (bool, error) {
	_, distance, err := w.ClosestPoint(s, point)
	return err == nil && distance <= 0, err
}

// ClosestPoint returns the point on the surface of s that is nearest to a point of the world, and the distance of the
// two, in metres; the distance is negative if the point is inside s. It computes as Distances does for a disc without
// a radius. Errors: ErrStale; ErrNotFinite; ErrRange if a coordinate of the point or of the body is beyond 2^60;
// ErrFloatEnv; and ErrUnsupported from another engine.
func (w *World) ClosestPoint(s Shape, point [2]float32) (closest [2]float32, distance float32, err error) {
	if err := w.requireShapeQuery(s); err != nil {
		return closest, 0, err
	}
	for i, v := range point {
		if err := checkCoordinate("physics: point", i, v); err != nil {
			return closest, 0, err
		}
	}
	body := int(w.shapes.Owner[s.index])
	at, c := w.solver.centreOfMass(body), &w.cols
	x, y := [...]float32{at[0], point[0]}, [...]float32{at[1], point[1]}
	cos, sin := [...]float32{c.Cos[body], 1}, [...]float32{c.Sin[body], 0}
	poses := rigid.Poses{X: x[:], Y: y[:], Cos: cos[:], Sin: sin[:]}
	if !poseInRange(&poses, 0) {
		return closest, 0, check.Because(fault.Field(ErrRange, "physics: Shape", s), "the pose of its body is out of range")
	}
	shape, dot := w.solver.centredShape(s), rigid.Shape{Count: 1}
	d := rigid.Distance(&shape, &dot, 0, 1, &poses)
	return [2]float32{d.PointA.X, d.PointA.Y}, d.Distance, nil
}

// RayShape finds where rays hit s. It is like RayClosest in a world in which s is the only shape, and ignores the
// filter of q. Errors: ErrStale, and those of RayClosest.
func (w *World) RayShape(s Shape, q *Rays, out *RayHits) error {
	if err := w.requireShapeQuery(s); err != nil {
		return err
	}
	if err := q.Validate(); err != nil {
		return err
	}
	t := &w.solver.queries.rays
	t.set(w.solver, q, out)
	t.only, t.tree = s, w.solver.treeOf(s)
	return t.Closest(len(q.X))
}

func (w *World) requireShapeQuery(s Shape) error {
	if err := w.requireSolverShape(s); err != nil {
		return err
	}
	return native.CheckFloatEnv()
}

// oneShape is a scene of one shape, which all filters accept, and its tree.
type oneShape struct {
	scene rigid.Scene
	tree  rigid.QueryTree
}

// treeOf returns a tree that contains only a shape. It is valid until the next call.
func (s *solver) treeOf(shape Shape) *rigid.QueryTree {
	o := &s.queries.one
	if o.scene.Shapes == nil {
		all := []uint64{^uint64(0)}
		o.scene = rigid.Scene{
			Shapes: make([]rigid.Shape, 1), Sensors: make([]bool, 1),
			Poses:   &rigid.Poses{X: make([]float32, 1), Y: make([]float32, 1), Cos: make([]float32, 1), Sin: make([]float32, 1)},
			Filters: &broad.Filters{Body: make([]uint32, 1), Category: all, Mask: all},
		}
	}
	body, p := int(s.shapeTable.Owner[shape.index]), o.scene.Poses
	at := s.centreOfMass(body)
	p.X[0], p.Y[0], p.Cos[0], p.Sin[0] = at[0], at[1], s.cols.Cos[body], s.cols.Sin[body]
	o.scene.Shapes[0] = s.centredShape(shape)
	o.tree.Build(s.level, &o.scene)
	return &o.tree
}

// ShapeMassData returns the mass of s, its inertia about its centre of mass, and that centre, computed from the density;
// zeros for a segment. A dynamic body without SetMassData has the sum of those of its shapes. Errors: ErrStale, and
// ErrUnsupported from another engine.
func (w *World) ShapeMassData(s Shape) (MassData, error) {
	if err := w.requireSolverShape(s); err != nil {
		return MassData{}, err
	}
	t, i := &w.solver.shapes, s.index
	m, density := &t.mass[i], float64(t.density[i])
	return MassData{
		Mass: float32(density * float64(m.Area)), Inertia: float32(density * float64(m.Inertia)),
		Center: [2]float32{m.Centroid.X, m.Centroid.Y},
	}, nil
}
