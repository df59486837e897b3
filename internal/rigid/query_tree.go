package rigid

import (
	"math"

	"github.com/evertick/evertick/internal/broad"
	"github.com/evertick/evertick/internal/buffer"
	"github.com/evertick/evertick/native"
)

const (
	// maxQueried bounds the coordinates of shapes and queries, in metres, so that no square of a difference
	// overflows. Queries do not find shapes beyond it.
	maxQueried = 1 << 60

	// boxGrowth is the fraction of a bound by which the box of a shape grows: 64 units in the last place. It covers
	// the rounding of a shape far from the origin.
	boxGrowth = 0x1p-18

	// boxMargin is by how much a box grows in addition, in metres.
	boxMargin = LinearSlop
)

// QueryTree has the shapes that queries can find, as of the last Build or Refit: each in a box, sixteen boxes
// in a node, and sixteen nodes in the box of a higher one. The zero value is empty. The results of queries do
// not depend on the shape of the tree.
type QueryTree struct {
	nodes   []treeNode // level by level, leaves first; the last is the root
	starts  []uint32   // first node of each level, and the end
	targets []target   // target i is in lane i%Lanes of node i/Lanes
	spanned bool       // targets have intervals

	boxes     broad.Boxes
	keys, tmp []uint64
}

// NoShape is the number of no shape and no body.
const NoShape = ^uint32(0)

// treeNode is sixteen boxes. Those of empty lanes are inverted.
type treeNode struct {
	MinX, MinY, MaxX, MaxY [Lanes]float32
}

// target is a shape at its pose, with its filter.
type target struct {
	X, Y, Cos, Sin float32
	Category, Mask uint64
	Body, Shape    uint32
	Count          uint32 // of vertices, plus the bit targetSensor
	Radius         float32
	Vertices       [MaxVertices]Vec
	Normals        [MaxVertices]Vec
	SpanMin        float32
	SpanMax        float32
	_              [2]uint32 // fills a cache line
}

// targetSensor is a bit of target.Count.
const targetSensor = 1 << 8

// Scene is the input of a QueryTree: Shapes, Filters and Sensors have an element per shape, Poses one per body.
type Scene struct {
	Shapes  []Shape
	Poses   *Poses
	Filters *broad.Filters
	Sensors []bool
}

func (s *Scene) check() {
	s.Poses.check()
	n := len(s.Shapes)
	if f := s.Filters; len(f.Body) != n || len(f.Category) != n || len(f.Mask) != n || len(s.Sensors) != n ||
		len(f.SpanMax) != len(f.SpanMin) || f.Spanned() && len(f.SpanMin) != n {
		panic("rigid: Scene: shapes, filters and sensors differ in length")
	}
}

// Build builds the tree from a scene. It leaves out shapes without vertices, with a vertex that is not finite,
// beyond 2^60 m, or of a body whose rotation has less than half its length or more than twice. It panics as
// Bounds does.
func (t *QueryTree) Build(level native.Level, s *Scene) {
	t.updateBoxes(level, s)
	t.listShapes(s)
	t.sortAlongCurve(level)
	t.makeLeaves(s)
	t.spanned = s.Filters.Spanned()
	t.updateLeaves(s, false)
	t.buildInnerNodes()
}

// Refit is Build for few queries. It takes a fraction of the time and makes queries slower, because it does not group
// shapes that are near each other: they keep their groups, or are grouped by number. same: only the poses and the
// intervals of the scene have changed since the last Build or Refit.
func (t *QueryTree) Refit(level native.Level, s *Scene, same bool) {
	t.updateBoxes(level, s)
	if !same {
		t.listShapes(s)
		t.makeLeaves(s)
	} else if t.spanned || s.Filters.Spanned() {
		for i := range t.keys {
			t.targets[i].setSpan(s.Filters)
		}
	}
	t.spanned = s.Filters.Spanned()
	t.updateLeaves(s, same)
	t.buildInnerNodes()
}

// updateBoxes computes the boxes of shapes.
func (t *QueryTree) updateBoxes(level native.Level, s *Scene) {
	s.check()
	n := len(s.Shapes)
	b := &t.boxes
	b.MinX, b.MinY, b.MaxX, b.MaxY = buffer.Resized(b.MinX, n), buffer.Resized(b.MinY, n), buffer.Resized(b.MaxX, n), buffer.Resized(b.MaxY, n)
	Bounds(level, s.Shapes, s.Filters.Body, s.Poses, boxMargin, b)
}

// listShapes lists the numbers of all shapes with vertices as keys, including shapes that queries cannot find at
// present.
func (t *QueryTree) listShapes(s *Scene) {
	t.keys = buffer.Resized(t.keys, len(s.Shapes))[:0]
	for i := range s.Shapes {
		if s.Shapes[i].Count > 0 {
			t.keys = append(t.keys, uint64(i))
		}
	}
}

// isRotation reports whether the length of a rotation is near enough to one. Queries do not find shapes with other
// rotations.
func isRotation(cos, sin float32) bool {
	square := float32(cos*cos) + float32(sin*sin)
	return square >= 0.25 && square <= 4
}

// fattenBox is the box in the tree of a shape with the given bounds; false if queries cannot find it.
func fattenBox(x0, y0, x1, y1 float32) (box, bool) {
	if !inRange(x0, y0, x1, y1) {
		return inverted, false
	}
	return box{lowerBound(x0), lowerBound(y0), upperBound(x1), upperBound(y1)}, true
}

// inRange reports whether no bound is beyond maxQueried or NaN. The bits of floats without the sign are in the
// order of the numbers.
func inRange(x0, y0, x1, y1 float32) bool {
	const sign = 1 << 31
	limit := math.Float32bits(maxQueried)
	return math.Float32bits(x0)&^sign <= limit && math.Float32bits(y0)&^sign <= limit &&
		math.Float32bits(x1)&^sign <= limit && math.Float32bits(y1)&^sign <= limit
}

func lowerBound(v float32) float32 { return v - float32(abs(v)*boxGrowth) }
func sameBits32(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) }

func upperBound(v float32) float32 { return v + float32(abs(v)*boxGrowth) }

// sortAlongCurve sorts the listed shapes: small ones first, along a Hilbert curve.
func (t *QueryTree) sortAlongCurve(level native.Level) {
	b, keys := &t.boxes, t.keys
	all, size := inverted, float32(0)
	for _, i := range keys {
		x0, y0, x1, y1 := b.MinX[i], b.MinY[i], b.MaxX[i], b.MaxY[i]
		if inRange(x0, y0, x1, y1) {
			all[0], all[1], all[2], all[3] = minFloat(all[0], x0), minFloat(all[1], y0), maxFloat(all[2], x1), maxFloat(all[3], y1)
			size += maxFloat(x1-x0, y1-y0)
		}
	}
	c := hilbertCurve{x: all[0], y: all[1], small: float32(4*size) / float32(max(len(keys), 1))}
	c.scale = curveCells / maxFloat(maxFloat(all[2]-all[0], all[3]-all[1]), 0x1p-60)
	for k, i := range keys {
		keys[k] = uint64(c.key(b.MinX[i], b.MinY[i], b.MaxX[i], b.MaxY[i]))<<broad.ShapeBits | i
	}
	t.tmp = buffer.Resized(t.tmp, len(keys))
	t.keys, t.tmp = broad.SortKeys(level, keys, t.tmp, curveBits)
}

// makeLeaves makes the targets, and the leaf nodes without boxes.
func (t *QueryTree) makeLeaves(s *Scene) {
	n := len(t.keys)
	leaves := (n + Lanes - 1) / Lanes
	t.targets = buffer.Resized(t.targets, leaves*Lanes)
	t.nodes = buffer.Resized(t.nodes, leaves)
	for i, key := range t.keys {
		t.targets[i].set(s, int(key&(1<<broad.ShapeBits-1)))
	}
	for i := n; i < len(t.targets); i++ {
		t.nodes[i/Lanes].setLane(i%Lanes, &inverted)
	}
}

// updateLeaves sets the poses of targets, and the boxes of the leaves. With still it skips targets that have not
// moved.
func (t *QueryTree) updateLeaves(s *Scene, still bool) {
	n, bodies := len(t.boxes.MinX), len(s.Poses.X)
	minX, minY, maxX, maxY := t.boxes.MinX, t.boxes.MinY[:n], t.boxes.MaxX[:n], t.boxes.MaxY[:n]
	px, py, pc, ps := s.Poses.X, s.Poses.Y[:bodies], s.Poses.Cos[:bodies], s.Poses.Sin[:bodies]
	at := t.targets[:len(t.keys)]
	for i := range at {
		g := &at[i]
		k, body := g.Shape, g.Body
		x, y, cos, sin := px[body], py[body], pc[body], ps[body]
		if still && sameBits32(x, g.X) && sameBits32(y, g.Y) && sameBits32(cos, g.Cos) && sameBits32(sin, g.Sin) {
			continue
		}
		g.X, g.Y, g.Cos, g.Sin = x, y, cos, sin
		node, lane := &t.nodes[uint(i)/Lanes], uint(i)%Lanes
		x0, y0, x1, y1 := minX[k], minY[k], maxX[k], maxY[k]
		if inRange(x0, y0, x1, y1) && isRotation(cos, sin) {
			node.MinX[lane], node.MinY[lane], node.MaxX[lane], node.MaxY[lane] = lowerBound(x0), lowerBound(y0), upperBound(x1), upperBound(y1)
		} else {
			node.setLane(int(lane), &inverted)
		}
	}
}

func (g *target) set(s *Scene, i int) {
	f, shape := s.Filters, &s.Shapes[i]
	body := f.Body[i]
	g.X, g.Y, g.Cos, g.Sin = s.Poses.X[body], s.Poses.Y[body], s.Poses.Cos[body], s.Poses.Sin[body]
	g.Category, g.Mask, g.Body, g.Shape = f.Category[i], f.Mask[i], body, uint32(i)
	g.Count, g.Radius = shape.Count, shape.Radius
	if s.Sensors[i] {
		g.Count |= targetSensor
	}
	g.Vertices, g.Normals = shape.Vertices, shape.Normals
	g.setSpan(f)
}

func (g *target) setSpan(f *broad.Filters) {
	if g.SpanMin, g.SpanMax = -inf, inf; f.Spanned() {
		g.SpanMin, g.SpanMax = f.SpanMin[g.Shape], f.SpanMax[g.Shape]
	}
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
			around := inverted
			if first+i < end {
				around = t.nodes[first+i].bounds()
			}
			above[i/Lanes].setLane(i%Lanes, &around)
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

func (n *treeNode) setLane(lane int, b *box) {
	n.MinX[lane], n.MinY[lane], n.MaxX[lane], n.MaxY[lane] = b[0], b[1], b[2], b[3]
}

// bounds is the box around all boxes of a node.
func (n *treeNode) bounds() box {
	x0, y0, x1, y1 := inf, inf, -inf, -inf
	for i := range Lanes {
		x0, y0 = minFloat(x0, n.MinX[i]), minFloat(y0, n.MinY[i])
		x1, y1 = maxFloat(x1, n.MaxX[i]), maxFloat(y1, n.MaxY[i])
	}
	return box{x0, y0, x1, y1}
}

const (
	curveSteps = 5 // of three bits along each axis
	curveCells = 1<<(3*curveSteps) - 1
	curveBits  = 2 + 6*curveSteps // bits of a key
)

// hilbertCurve is a Hilbert curve over a square: it visits all its cells, each next to the one before.
type hilbertCurve struct {
	x, y, scale float32
	small       float32 // extent of a box that counts as small
}

// key is the size class of a box, in two bits, then the position of its middle on the curve. A large box in a
// node of small ones would make the box of the node large.
func (c *hilbertCurve) key(x0, y0, x1, y1 float32) uint32 {
	class, extent := uint32(0), maxFloat(x1-x0, y1-y0)
	for limit := c.small; class < 3 && extent > limit; limit *= 8 {
		class++
	}
	x, y := c.cell(float32((x0+x1)*0.5)-c.x), c.cell(float32((y0+y1)*0.5)-c.y)
	at, form := uint32(0), uint8(0)
	for k := 3 * (curveSteps - 1); k >= 0; k -= 3 {
		step := &hilbert[form][x>>k&7<<3|y>>k&7]
		at, form = at<<6|uint32(step.at), step.form
	}
	return class<<(6*curveSteps) | at
}

// cell maps a distance to a cell; NaN to the first.
func (c *hilbertCurve) cell(v float32) uint32 {
	return uint32(int32(minFloat(maxFloat(v*c.scale, 0), curveCells)))
}

// hilbert has, for each of the four forms of the curve in a square of 8 by 8 cells and each cell, its position
// on the curve and the form that the curve has in it.
var hilbert = func() (table [4][64]struct{ at, form uint8 }) {
	// Form 0 goes through the quarters (0,0), (0,1), (1,1), (1,0); bit 0 of a form
	// exchanges the axes, and bit 1 reverses both.
	for form := range uint8(4) {
		for cell := range uint8(64) {
			at, f := uint8(0), form
			for k := 2; k >= 0; k-- {
				x, y := cell>>3>>k&1, cell>>k&1
				if f&2 != 0 {
					x, y = 1-x, 1-y
				}
				if f&1 != 0 {
					x, y = y, x
				}
				quarter := x*3 ^ y
				at = at<<2 | quarter
				switch quarter {
				case 0:
					f ^= 1
				case 3:
					f ^= 3
				}
			}
			table[form][cell] = struct{ at, form uint8 }{at, f}
		}
	}
	return table
}()
