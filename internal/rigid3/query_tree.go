package rigid3

import (
	"math"

	"github.com/evertick/evertick/internal/broad"
	"github.com/evertick/evertick/internal/buffer"
	"github.com/evertick/evertick/native"
)

const (
	// maxQueried bounds the coordinates of shapes and queries, in metres, so that no square of a difference overflows. Queries do not find
	// shapes beyond it.
	maxQueried = 1 << 60

	// boxGrowth is the fraction of a bound by which the box of a shape grows: 64 units in the last place. It covers the rounding of a shape
	// far from the origin.
	boxGrowth = 0x1p-18

	// boxMargin is by how much a box grows in addition, in metres.
	boxMargin = LinearSlop
)

// QueryTree has the shapes that queries can find, as of the last Build or Refit: each in a box, sixteen boxes in a node, and sixteen nodes in
// the box of a higher one. The zero value is empty. The results of queries do not depend on the shape of the tree.
type QueryTree struct {
	nodes   []treeNode // level by level, leaves first; the last is the root
	starts  []uint32   // first node of each level, and the end
	targets []target   // target i is in lane i%Lanes of node i/Lanes
	rows    []targetRow
	hulls   *Hulls

	boxes     Boxes
	keys, tmp []uint64
}

// NoShape is the number of no shape and no body.
const NoShape = ^uint32(0)

// treeNode is sixteen boxes. Those of empty lanes are inverted.
type treeNode struct {
	minX, minY, minZ, maxX, maxY, maxZ [Lanes]float32
}

// target is a shape at its pose, with its filter.
type target struct {
	targetRow
	hull    *Polytope // of KindHull
	surface Surface   // of KindSurface
}

// targetRow is what kernels read of a target.
type targetRow struct {
	pose           pose64 // of the core
	category, mask uint64
	half           Vec
	radius         float32
	body, shape    uint32
	kind           Kind
	hullNumber     uint32 // of KindHull
	sensor         bool
}

// Scene is the input of a QueryTree: Shapes, Filters and Sensors have an element per shape, Poses one per body.
type Scene struct {
	Shapes  []Shape
	Hulls   *Hulls
	Poses   []Pose
	Filters *broad.Filters // Body, Category and Mask
	Sensors []bool
}

func (s *Scene) check() {
	n := len(s.Shapes)
	if f := s.Filters; len(f.Body) != n || len(f.Category) != n || len(f.Mask) != n || len(s.Sensors) != n {
		panic("rigid3: Scene: shapes, filters and sensors differ in length")
	}
}

// Build builds the tree from a scene. It leaves out shapes whose bounds are not finite or beyond 2^60 m, shapes without a polytope, and those of a
// body whose rotation has not the length one. It panics as Bounds does.
func (t *QueryTree) Build(level native.Level, s *Scene) {
	t.updateBoxes(level, s)
	t.listShapes(s)
	t.sortAlongCurve(level)
	t.makeLeaves(s)
	t.updateLeaves(s)
	t.buildInnerNodes()
}

// Refit is Build for few queries. It takes a fraction of the time and makes queries slower, because it does not group shapes that are near each
// other: they keep their groups, or are grouped by number. same: only the poses of the scene have changed since the last Build or Refit.
func (t *QueryTree) Refit(level native.Level, s *Scene, same bool) {
	t.updateBoxes(level, s)
	if !same {
		t.listShapes(s)
		t.makeLeaves(s)
	}
	t.updateLeaves(s)
	t.buildInnerNodes()
}

// updateBoxes computes the boxes of shapes.
func (t *QueryTree) updateBoxes(level native.Level, s *Scene) {
	s.check()
	t.boxes.Resize(len(s.Shapes))
	Bounds(level, s.Shapes, s.Hulls, s.Filters.Body, s.Poses, boxMargin, &t.boxes)
}

// listShapes lists the numbers of all shapes as keys, including shapes that queries cannot find at present.
func (t *QueryTree) listShapes(s *Scene) {
	t.keys = buffer.Resized(t.keys, len(s.Shapes))[:0]
	for i := range s.Shapes {
		if s.Shapes[i].Kind != KindNone {
			t.keys = append(t.keys, uint64(i))
		}
	}
}

// box returns the bounds of a shape.
func (b *Boxes) box(i uint32) (lo, hi Vec) {
	return Vec{b.Min[0][i], b.Min[1][i], b.Min[2][i]}, Vec{b.Max[0][i], b.Max[1][i], b.Max[2][i]}
}

// isUnit reports whether the length of a rotation is one but for rounding. Queries do not find shapes with other rotations.
func (q Quat) isUnit() bool {
	square := (float32(q.X*q.X) + float32(q.Y*q.Y)) + (float32(q.Z*q.Z) + float32(q.W*q.W))
	return square >= 1-0x1p-16 && square <= 1+0x1p-16
}

// fattenBox is the box in the tree of a shape with the given bounds; false if queries cannot find it.
func fattenBox(lo, hi Vec) (Vec, Vec, bool) {
	if !lo.isQueried() || !hi.isQueried() {
		return Vec{inf, inf, inf}, Vec{-inf, -inf, -inf}, false
	}
	return Vec{lowerBound(lo.X), lowerBound(lo.Y), lowerBound(lo.Z)}, Vec{upperBound(hi.X), upperBound(hi.Y), upperBound(hi.Z)}, true
}

// isQueried reports whether no coordinate is beyond maxQueried or NaN. The bits of floats without the sign are in the order of the numbers.
func (a Vec) isQueried() bool {
	const sign = 1 << 31
	limit := math.Float32bits(maxQueried)
	return math.Float32bits(a.X)&^sign <= limit && math.Float32bits(a.Y)&^sign <= limit && math.Float32bits(a.Z)&^sign <= limit
}

func lowerBound(v float32) float32 { return v - float32(abs(v)*boxGrowth) }
func upperBound(v float32) float32 { return v + float32(abs(v)*boxGrowth) }

// sortAlongCurve sorts the listed shapes: small ones first, along a Hilbert curve.
func (t *QueryTree) sortAlongCurve(level native.Level) {
	keys := t.keys
	from, to, size := Vec{inf, inf, inf}, Vec{-inf, -inf, -inf}, float32(0)
	for _, i := range keys {
		lo, hi := t.boxes.box(uint32(i))
		if lo.isQueried() && hi.isQueried() {
			from = Vec{minFloat(from.X, lo.X), minFloat(from.Y, lo.Y), minFloat(from.Z, lo.Z)}
			to = Vec{maxFloat(to.X, hi.X), maxFloat(to.Y, hi.Y), maxFloat(to.Z, hi.Z)}
			d := hi.Sub(lo)
			size += maxFloat(maxFloat(d.X, d.Y), d.Z)
		}
	}
	all := to.Sub(from)
	c := hilbertCurve{origin: from, small: float32(4*size) / float32(max(len(keys), 1))}
	c.scale = curveCells / maxFloat(maxFloat(maxFloat(all.X, all.Y), all.Z), 0x1p-60)
	for k, i := range keys {
		lo, hi := t.boxes.box(uint32(i))
		keys[k] = uint64(c.key(lo, hi))<<broad.ShapeBits | i
	}
	t.tmp = buffer.Resized(t.tmp, len(keys))
	t.keys, t.tmp = broad.SortKeys(level, keys, t.tmp, curveBits)
}

// makeLeaves makes the targets, and the leaf nodes without boxes.
func (t *QueryTree) makeLeaves(s *Scene) {
	n := len(t.keys)
	leaves := (n + Lanes - 1) / Lanes
	clear(t.targets[:cap(t.targets)]) // so that hulls can be freed
	t.targets, t.rows = buffer.Resized(t.targets, leaves*Lanes), buffer.Resized(t.rows, leaves*Lanes)
	t.nodes = buffer.Resized(t.nodes, leaves)
	for i, key := range t.keys {
		t.targets[i].set(s, int(key&(1<<broad.ShapeBits-1)))
	}
	for i := n; i < len(t.targets); i++ {
		t.nodes[i/Lanes].setLane(i%Lanes, Vec{inf, inf, inf}, Vec{-inf, -inf, -inf})
	}
}

// updateLeaves sets the poses of targets, and the boxes of the leaves.
func (t *QueryTree) updateLeaves(s *Scene) {
	t.hulls = s.Hulls
	for i := range t.targets[:len(t.keys)] {
		g := &t.targets[i]
		lo, hi := g.place(s, &t.boxes)
		t.nodes[i/Lanes].setLane(i%Lanes, lo, hi)
		t.rows[i] = g.targetRow
	}
}

// place sets the pose of a target, and returns its box, which is inverted if queries cannot find it.
func (g *target) place(s *Scene, boxes *Boxes) (lo, hi Vec) {
	body := &s.Poses[g.body]
	lo, hi, ok := fattenBox(boxes.box(g.shape))
	if !ok || !body.Q.isUnit() {
		return Vec{inf, inf, inf}, Vec{-inf, -inf, -inf}
	}
	g.pose.set(body, &s.Shapes[g.shape].Pose)
	return lo, hi
}

// set sets all fields of a target except for its pose.
func (g *target) set(s *Scene, i int) {
	f, shape := s.Filters, &s.Shapes[i]
	*g = target{targetRow: targetRow{
		category: f.Category[i], mask: f.Mask[i], half: shape.Half, radius: shape.Radius,
		body: f.Body[i], shape: uint32(i), kind: shape.Kind, hullNumber: shape.Hull, sensor: s.Sensors[i],
	}}
	switch shape.Kind {
	case KindHull:
		g.hull = s.Hulls.at(shape.Hull)
	case KindSurface:
		g.surface = s.Hulls.surface(shape.Hull)
	}
}

// polytope returns the core of a target.
func (g *target) polytope(b *boxArrays) Polytope {
	switch g.kind {
	case KindBox:
		return g.half.box(b)
	case KindHull:
		if g.hull != nil {
			return *g.hull
		}
	}
	return Polytope{}
}

// buildInnerNodes makes the nodes above the leaves.
func (t *QueryTree) buildInnerNodes() {
	t.nodes, t.starts = t.nodes[:len(t.targets)/Lanes], append(t.starts[:0], 0)
	for first := 0; ; {
		end := len(t.nodes)
		t.starts = append(t.starts, uint32(end))
		if end-first <= 1 {
			return
		}
		t.nodes = grown(t.nodes, (end-first+Lanes-1)/Lanes)
		above := t.nodes[end:]
		for i := range Lanes * len(above) {
			lo, hi := Vec{inf, inf, inf}, Vec{-inf, -inf, -inf}
			if first+i < end {
				lo, hi = t.nodes[first+i].bounds()
			}
			above[i/Lanes].setLane(i%Lanes, lo, hi)
		}
		first = end
	}
}

// grown returns s with n more elements of unspecified values.
func grown[T any](s []T, n int) []T {
	if len(s)+n <= cap(s) {
		return s[:len(s)+n]
	}
	return append(s, make([]T, n)...)
}

func (n *treeNode) setLane(lane int, lo, hi Vec) {
	n.minX[lane], n.minY[lane], n.minZ[lane] = lo.X, lo.Y, lo.Z
	n.maxX[lane], n.maxY[lane], n.maxZ[lane] = hi.X, hi.Y, hi.Z
}

// lane returns a box of a node.
func (n *treeNode) lane(i int) (lo, hi Vec) {
	return Vec{n.minX[i], n.minY[i], n.minZ[i]}, Vec{n.maxX[i], n.maxY[i], n.maxZ[i]}
}

// bounds is the box around all boxes of a node.
func (n *treeNode) bounds() (lo, hi Vec) {
	lo, hi = n.lane(0)
	for i := 1; i < Lanes; i++ {
		a, b := n.lane(i)
		lo = Vec{minFloat(lo.X, a.X), minFloat(lo.Y, a.Y), minFloat(lo.Z, a.Z)}
		hi = Vec{maxFloat(hi.X, b.X), maxFloat(hi.Y, b.Y), maxFloat(hi.Z, b.Z)}
	}
	return lo, hi
}
