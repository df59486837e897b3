package physics3

import (
	"bytes"

	"github.com/evertick/evertick/internal/buffer"
	"github.com/evertick/evertick/internal/check"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/rigid3"
	"github.com/evertick/evertick/native"
)

// QueryFilter selects the shapes that the queries of a batch find. The zero value finds all solid shapes. Queries do not find the shapes of a
// disabled body.
type QueryFilter struct {
	// Category is the category of a query, and Mask the categories that it finds, as in the Filter of a shape: it finds a shape if the mask of
	// each has a bit of the category of the other. 0 means all bits. Queries ignore groups.
	Category, Mask uint64
	// Categories and Masks replace Category and Mask with one value for each query. Nil: no replacement.
	Categories, Masks []uint64
	// Exclude holds for each query a body whose shapes it does not find. The zero Body means none. Nil: none.
	Exclude []Body
	// Sensors makes queries find sensors, too.
	Sensors bool
}

// check panics unless each slice is nil or has n elements.
func (f *QueryFilter) check(n int) {
	if f.Categories != nil && len(f.Categories) != n || f.Masks != nil && len(f.Masks) != n || f.Exclude != nil && len(f.Exclude) != n {
		panic("physics3: QueryFilter: Categories, Masks or Exclude have another length than the queries")
	}
}

// checkExclude returns ErrStale for the first body that is destroyed.
func (w *World) checkExclude(f *QueryFilter) error {
	for i, b := range f.Exclude {
		if b != (Body{}) && !w.Valid(b) {
			return fault.Element(ErrStale, "physics3: QueryFilter.Exclude", i, b)
		}
	}
	return nil
}

// set sets the filter of query i.
func (f *QueryFilter) set(r *rigid3.Ray, i int, skipInside bool) {
	r.Category, r.Mask, r.Exclude, r.Flags = f.Category, f.Mask, rigid3.NoShape, 0
	if f.Categories != nil {
		r.Category = f.Categories[i]
	}
	if f.Masks != nil {
		r.Mask = f.Masks[i]
	}
	if f.Exclude != nil && f.Exclude[i] != (Body{}) {
		r.Exclude = f.Exclude[i].index
	}
	r.Category, r.Mask = allIfZero(r.Category), allIfZero(r.Mask)
	if f.Sensors {
		r.Flags |= rigid3.IncludeSensors
	}
	if skipInside {
		r.Flags |= rigid3.SkipInside
	}
}

func allIfZero(bits uint64) uint64 {
	if bits == 0 {
		return ^uint64(0)
	}
	return bits
}

// maxQueryCoordinate bounds coordinates and lengths of queries in metres, so that no square overflows.
const maxQueryCoordinate = 1 << 60

// checkQueryCoordinate checks a coordinate of a query.
func checkQueryCoordinate(field string, i int, v float32) error {
	switch {
	case !fault.Finite(v):
		return fault.Element(ErrNotFinite, field, i, v)
	case v > maxQueryCoordinate || v < -maxQueryCoordinate:
		return check.Because(fault.Element(ErrRange, field, i, v), "more than 2^60")
	}
	return nil
}

// queries holds the search tree of the shapes as they were at the last query, and working memory. None of it is a part of the state.
type queries struct {
	tree     rigid3.QueryTree
	one      oneShape
	built    bool
	spent    int    // number of queries since the last change, or -1 if the tree is built
	version  uint64 // of the shapes
	columns  [poseColumns + 3][]float32
	poses    []rigid3.Pose
	forms    []rigid3.ShapeQuery // one a worker
	rays     rayTask
	probes   probeTask
	overlaps overlapTask
	movers   moverTask
}

// fewQueries is the number of queries after a change up to which building the tree does not pay.
const fewQueries = 8

// prepareQueries prepares the world for a batch of n queries. It compares columns to detect motion, because a program may write to them at any
// time.
func (w *World) prepareQueries(f *QueryFilter, n int) error {
	if w.failed != nil {
		return w.failed
	}
	if err := w.checkExclude(f); err != nil {
		return err
	}
	if err := native.CheckFloatEnv(); err != nil {
		return err
	}
	w.solver.refresh(n)
	if q, workers := &w.solver.queries, w.solver.pool.Workers(); len(q.forms) != workers {
		q.forms = make([]rigid3.ShapeQuery, workers)
	}
	return nil
}

// refresh updates the tree if a shape or a body has changed, and builds it once there are more than fewQueries since then. The results do
// not depend on that.
func (s *solver) refresh(n int) {
	q, moved := &s.queries, s.updateQueryPoses()
	alike := q.built && q.version == s.shapes.version
	switch {
	case moved || !alike:
		q.spent = 0
	case q.spent < 0:
		return
	}
	q.spent += min(n, fewQueries+1)
	switch {
	case q.spent > fewQueries:
		q.tree.Build(s.level, s.queryScene())
		q.spent = -1
	case moved || !alike:
		q.tree.Refit(s.level, s.queryScene(), alike)
	}
	q.built, q.version = true, s.shapes.version
}

// updateQueryPoses computes the poses of bodies, and reports whether they have changed. A rotation that a program wrote gets the length one, as the next
// step gives it.
func (s *solver) updateQueryPoses() bool {
	q, n, c := &s.queries, s.rows(), s.cols
	now := [len(q.columns)][]float32{c.X, c.Y, c.Z, c.QX, c.QY, c.QZ, c.QW, c.CentreX, c.CentreY, c.CentreZ}
	same := len(q.poses) == n
	for k := 0; same && k < len(now); k++ {
		same = bytes.Equal(buffer.Bytes(now[k][:n]), buffer.Bytes(q.columns[k]))
	}
	if same {
		return false
	}
	for k := range now {
		q.columns[k] = append(q.columns[k][:0], now[k][:n]...)
	}
	q.poses = buffer.Resized(q.poses, n)
	for i := range q.poses {
		q.poses[i] = s.queryPose(i)
	}
	return true
}

// queryPose returns the centre of mass of a body in the world, and its rotation with the length one.
func (s *solver) queryPose(i int) rigid3.Pose {
	r := s.rotation(i)
	square := (float32(r.X*r.X) + float32(r.Y*r.Y)) + (float32(r.Z*r.Z) + float32(r.W*r.W))
	if d := square - 1; !(d > -unitTolerance && d < unitTolerance) && rotationInRange(r) {
		r = normalized(r)
	}
	return rigid3.Pose{P: s.position(i).Add(r.Rotate(s.centre(i))), Q: r}
}

// queryScene returns the shapes and poses that queries search.
func (s *solver) queryScene() *rigid3.Scene {
	t := &s.shapes
	return &rigid3.Scene{Shapes: t.shape, Hulls: &s.contents.Hulls, Poses: s.queries.poses, Filters: &t.filters, Sensors: t.sensor}
}

// presentHandle returns the handle of a shape that lives, or the zero Shape for rigid3.NoShape.
func (s *solver) presentHandle(shape uint32) Shape {
	if shape == rigid3.NoShape {
		return Shape{}
	}
	return Shape{shape, s.shapeTable.IDs.Generation[shape]}
}

// userMaterial returns that of a triangle, if it has a material, or of a shape, or 0 for rigid3.NoShape.
func (s *solver) userMaterial(shape, face uint32) uint64 {
	if shape == rigid3.NoShape {
		return 0
	}
	if f := s.shapes.surface[shape]; f != nil {
		if m := f.material(face); m != nil {
			return m.UserMaterial
		}
	}
	return s.shapes.user[shape]
}

// triangle returns the number of a triangle in the input of a surface, and that which the program has given it; 0 for other shapes.
func (s *solver) triangle(shape, face uint32) (number, user uint32) {
	if shape == rigid3.NoShape || s.shapes.surface[shape] == nil {
		return 0, 0
	}
	return s.shapes.surface[shape].number(face)
}
