package physics

import (
	"cmp"
	"slices"

	"github.com/evertick/evertick/internal/check"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/rigid"
)

// UnionOutlines returns the outlines of the union of boxes, each a closed loop of points: a ground of many boxes, such as
// the tiles of a map, has no seams inside, and as chains it has none on its surface.
//
//	outlines, err := physics.UnionOutlines(tiles)
//	...
//	for _, points := range outlines {
//		_, err = w.CreateChain(ground, physics.ChainDef{Points: points, Loop: true, Shape: def})
//	}
//
// The outline of an area has counter-clockwise points and is solid inside, the outline of a hole has clockwise points. No two
// points of a loop that follow each other are less than rigid.LinearSlop, 5 mm, apart, and no three are in a line. Boxes may
// touch and overlap. Where two of them meet at a corner only, the outline passes it twice, and the boxes are one area.
//
// Each coordinate of a point is one of the boxes. Of coordinates less than 5 mm above the lowest of them, that lowest one
// replaces the others: it closes gaps of rounding, and levels steps as small. The outlines do not depend on the order of the
// boxes. They are sorted by their first point, from below, then from the left. Without boxes there are none.
//
// Errors name the box, and wrap ErrNotFinite, or ErrRange: a coordinate beyond rigid.MaxCoordinate, or a box less than 5 mm wide
// or high. The time grows with the number of boxes times how many others are at the same height.
func UnionOutlines(boxes []DrawnBox) ([][][2]float32, error) {
	for i, b := range boxes {
		if err := checkUnionBox(i, b); err != nil {
			return nil, err
		}
	}
	u := boxUnion{xs: weldCoordinates(boxes, 0), ys: weldCoordinates(boxes, 1)}
	u.findEdges(boxes)
	slices.SortFunc(u.edges, func(a, b unionEdge) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.direction, b.direction))
	})
	var outlines [][][2]float32
	used := make([]bool, len(u.edges))
	for i := range u.edges {
		// One that is not vertical has no other before it in its line, so that it begins at a corner.
		if !used[i] && u.edges[i].direction.horizontal() {
			outlines = append(outlines, u.outline(i, used))
		}
	}
	return outlines, nil
}

func checkUnionBox(i int, b DrawnBox) error {
	const field = "physics: UnionOutlines: boxes"
	for _, v := range [...]float32{b.Min[0], b.Min[1], b.Max[0], b.Max[1]} {
		switch {
		case !fault.Finite(v):
			return fault.Element(ErrNotFinite, field, i, b)
		case max(v, -v) > rigid.MaxCoordinate:
			return fault.Element(ErrRange, field, i, b)
		}
	}
	if !separate(b.Min[0], b.Max[0]) || !separate(b.Min[1], b.Max[1]) {
		return check.Because(fault.Element(ErrRange, field, i, b), "less than 5 mm wide or high")
	}
	return nil
}

// separate reports whether b is so far above a that a segment can connect them: see rigid.MakeSegment.
func separate(a, b float32) bool { return float32(float64(b)-float64(a)) >= rigid.LinearSlop }

// weldCoordinates returns the coordinates of boxes along an axis, in ascending order, without those that are not separate
// from the last one that stays.
func weldCoordinates(boxes []DrawnBox, axis int) []float32 {
	all := make([]float32, 0, 2*len(boxes))
	for _, b := range boxes {
		all = append(all, b.Min[axis]+0, b.Max[axis]+0) // -0 becomes 0
	}
	slices.Sort(all)
	kept := all[:0]
	for _, v := range all {
		if len(kept) == 0 || separate(kept[len(kept)-1], v) {
			kept = append(kept, v)
		}
	}
	return kept
}

// weldedIndex returns the number of the coordinate that replaces v.
func weldedIndex(kept []float32, v float32) int32 {
	i, found := slices.BinarySearch(kept, v)
	if !found {
		i--
	}
	return int32(i)
}

// boxUnion is a union of boxes on a grid: xs and ys are the coordinates of its lines.
type boxUnion struct {
	xs, ys []float32
	edges  []unionEdge
}

// unionEdge is a part of an outline along a line of the grid, with the solid to its left.
type unionEdge struct {
	from, to  gridPoint
	direction gridDirection
}

// gridPoint is the number of a line along x, shifted by 32 bits, and of a line along y: its order is from below, then
// from the left.
type gridPoint uint64

func pointOfGrid(x, y int32) gridPoint { return gridPoint(uint32(y))<<32 | gridPoint(uint32(x)) }

// gridDirection is a quarter turn counter-clockwise from the one before.
type gridDirection uint8

const (
	gridRight gridDirection = iota
	gridUp
	gridLeft
	gridDown
)

func (d gridDirection) horizontal() bool     { return d&1 == 0 }
func (d gridDirection) right() gridDirection { return (d + 3) & 3 }

// gridSpan is a range of lines [from, to), of columns of the grid. A box ends at the line top.
type gridSpan struct{ from, to, top int32 }

// findEdges goes through the rows of the grid from below. Between two rows with different solid columns there are horizontal
// edges.
func (u *boxUnion) findEdges(boxes []DrawnBox) {
	begins := make([][]gridSpan, max(1, len(u.ys)))
	for _, b := range boxes {
		y := weldedIndex(u.ys, b.Min[1])
		begins[y] = append(begins[y], gridSpan{weldedIndex(u.xs, b.Min[0]), weldedIndex(u.xs, b.Max[0]), weldedIndex(u.ys, b.Max[1])})
	}
	var active, below, row []gridSpan
	for y := range u.ys {
		active = slices.DeleteFunc(active, func(s gridSpan) bool { return int(s.top) <= y })
		if len(begins[y]) > 0 {
			active = append(active, begins[y]...)
			slices.SortFunc(active, func(a, b gridSpan) int { return cmp.Compare(a.from, b.from) })
		}
		row = mergeSpans(row[:0], active)
		u.addLevel(int32(y), below, row)
		for _, s := range row {
			u.add(s.from, int32(y)+1, gridDown, s.from, int32(y))
			u.add(s.to, int32(y), gridUp, s.to, int32(y)+1)
		}
		below, row = row, below
	}
}

// mergeSpans appends the longest spans of the union of spans, which are sorted.
func mergeSpans(dst, spans []gridSpan) []gridSpan {
	for _, s := range spans {
		if n := len(dst); n > 0 && s.from <= dst[n-1].to {
			dst[n-1].to = max(dst[n-1].to, s.to)
		} else {
			dst = append(dst, s)
		}
	}
	return dst
}

func (u *boxUnion) add(x0, y0 int32, d gridDirection, x1, y1 int32) {
	u.edges = append(u.edges, unionEdge{pointOfGrid(x0, y0), pointOfGrid(x1, y1), d})
}

// addLevel adds the edges along line y, where one of the rows below and above is solid.
func (u *boxUnion) addLevel(y int32, below, above []gridSpan) {
	var ends []int32 // of spans, in ascending order; an end of both rows is there twice
	for i, j := 0, 0; i < 2*len(below) || j < 2*len(above); {
		if j == 2*len(above) || i < 2*len(below) && spanEnd(below, i) <= spanEnd(above, j) {
			ends = append(ends, spanEnd(below, i))
			i++
		} else {
			ends = append(ends, spanEnd(above, j))
			j++
		}
	}
	i, j := 0, 0 // ends of spans up to here: an odd number is inside
	for k := range max(len(ends), 1) - 1 {
		x, next := ends[k], ends[k+1]
		for i < 2*len(below) && spanEnd(below, i) <= x {
			i++
		}
		for j < 2*len(above) && spanEnd(above, j) <= x {
			j++
		}
		switch {
		case x == next || i&1 == j&1:
		case i&1 == 1:
			u.add(next, y, gridLeft, x, y)
		default:
			u.add(x, y, gridRight, next, y)
		}
	}
}

// spanEnd returns end i of spans, of which each has two.
func spanEnd(spans []gridSpan, i int) int32 {
	if i&1 == 0 {
		return spans[i/2].from
	}
	return spans[i/2].to
}

// outline returns the points of the outline of which an edge is the first, and marks its edges as used.
func (u *boxUnion) outline(first int, used []bool) (points [][2]float32) {
	turned := true
	for i := first; !used[i]; {
		used[i] = true
		e := &u.edges[i]
		if turned {
			points = append(points, [2]float32{u.xs[uint32(e.from)], u.ys[e.from>>32]})
		}
		i = u.next(e)
		turned = u.edges[i].direction != e.direction
	}
	return points
}

// next returns the edge after e. Where boxes meet at a corner there are two: that to the right keeps them one area.
func (u *boxUnion) next(e *unionEdge) int {
	i, _ := slices.BinarySearchFunc(u.edges, e.to, func(e unionEdge, p gridPoint) int { return cmp.Compare(e.from, p) })
	if i+1 < len(u.edges) && u.edges[i+1].from == e.to && u.edges[i+1].direction == e.direction.right() {
		i++
	}
	return i
}
