package rigid

import (
	"math"

	"github.com/evertick/evertick/internal/broad"
	"github.com/evertick/evertick/native"
)

// Bounds computes the box around each shape; shape i belongs to body bodyOf[i]. A vertex v of a body at p with
// cosine c and sine s is at
//
//	x = (c*v.X - s*v.Y) + p.X
//	y = (s*v.X + c*v.Y) + p.Y
//
// The box of the vertices grows on all sides by Radius + margin, in metres. A bound that is zero is +0.
//
// A shape without vertices gets the inverted box, from +Inf to -Inf, which overlaps nothing. So does a shape
// with a vertex or a bound that is not finite: a broken body touches no other.
//
// Bounds panics if lengths differ, if a body has no pose, if a shape has more than MaxVertices vertices, and on
// a level that native.Resolve refuses.
func Bounds(level native.Level, shapes []Shape, bodyOf []uint32, poses *Poses, margin float32, out *broad.Boxes) {
	n := len(shapes)
	if len(bodyOf) != n || out.Len() != n {
		panic("rigid: Bounds: shapes, bodyOf and out differ in length")
	}
	poses.check()
	k := kernelsOf(level)
	if n < boundsBreakEven {
		k = &goKernels
	}
	if k.bounds(shapes, bodyOf, *poses, margin, *out) < n {
		panic("rigid: Bounds: a shape has no pose, or too many vertices")
	}
}

// boundsBreakEven is the number of shapes from which on a kernel call, about 30 ns, is cheaper than the Go
// loop.
const boundsBreakEven = 4

func (p *Poses) check() {
	n := len(p.X)
	if len(p.Y) != n || len(p.Cos) != n || len(p.Sin) != n {
		panic("rigid: columns of Poses differ in length")
	}
}

// boundsGo returns the number of boxes computed. It stops at a shape that has no pose or too many vertices.
func boundsGo(shapes []Shape, bodyOf []uint32, poses Poses, margin float32, out broad.Boxes) int {
	n := len(shapes)
	bodyOf, px, py, cos, sin := bodyOf[:n], poses.X, poses.Y[:len(poses.X)], poses.Cos[:len(poses.X)], poses.Sin[:len(poses.X)]
	minX, minY, maxX, maxY := out.MinX[:n], out.MinY[:n], out.MaxX[:n], out.MaxY[:n]
	for i := range shapes {
		s, body := &shapes[i], int(bodyOf[i])
		if s.Count-1 >= MaxVertices { // Count 0 is dead
			if s.Count > 0 {
				return i
			}
			minX[i], minY[i], maxX[i], maxY[i] = inf, inf, -inf, -inf
			continue
		}
		if body >= len(px) {
			return i
		}
		x0, y0, x1, y1 := s.placedBounds(px[body], py[body], cos[body], sin[body], margin)
		if !allFinite(x0, y0, x1, y1) {
			x0, y0, x1, y1 = inf, inf, -inf, -inf
		}
		minX[i], minY[i], maxX[i], maxY[i] = x0, y0, x1, y1
	}
	return n
}

// box holds MinX, MinY, MaxX, MaxY.
type box [4]float32

var inf = float32(math.Inf(1))

// inverted is the box that overlaps nothing.
var inverted = box{inf, inf, -inf, -inf}

// bounds returns false if a vertex or a bound is not finite.
func (s *Shape) bounds(px, py, cos, sin, margin float32) (b box, ok bool) {
	b = inverted
	if s.Count > 0 {
		b[0], b[1], b[2], b[3] = s.placedBounds(px, py, cos, sin, margin)
	}
	return b, allFinite(b[0], b[1], b[2], b[3])
}

// allFinite uses that the difference of a number from itself is 0, or NaN if it is not finite.
func allFinite(a, b, c, d float32) bool { return ((a-a)+(b-b))+((c-c)+(d-d)) == 0 }

// placedBounds returns MinX, MinY, MaxX and MaxY of a shape that has vertices.
func (s *Shape) placedBounds(px, py, cos, sin, margin float32) (x0, y0, x1, y1 float32) {
	v := &s.Vertices[0]
	x0 = (float32(cos*v.X) - float32(sin*v.Y)) + px
	y0 = (float32(sin*v.X) + float32(cos*v.Y)) + py
	x1, y1 = x0, y0
	for _, v := range s.Vertices[1:s.Count] { // a NaN vertex stays NaN
		x := (float32(cos*v.X) - float32(sin*v.Y)) + px
		y := (float32(sin*v.X) + float32(cos*v.Y)) + py
		x0, y0, x1, y1 = min(x0, x), min(y0, y), max(x1, x), max(y1, y)
	}
	r := s.Radius + margin
	return (x0 - r) + 0, (y0 - r) + 0, (x1 + r) + 0, (y1 + r) + 0
}
