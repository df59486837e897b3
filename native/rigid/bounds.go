package rigid

import (
	"math"

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
func Bounds(level native.Level, shapes []Shape, bodyOf []uint32, poses *Poses, margin float32, out *Boxes) {
	n := len(shapes)
	if len(bodyOf) != n || out.check() != n {
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

// check panics if columns differ in length, and returns their length.
func (b *Boxes) check() int {
	n := len(b.MinX)
	if len(b.MinY) != n || len(b.MaxX) != n || len(b.MaxY) != n {
		panic("rigid: columns of Boxes differ in length")
	}
	return n
}

func (p *Poses) check() {
	n := len(p.X)
	if len(p.Y) != n || len(p.Cos) != n || len(p.Sin) != n {
		panic("rigid: columns of Poses differ in length")
	}
}

// boundsGo returns the number of boxes computed. It stops at a shape that has no pose or too many vertices.
func boundsGo(shapes []Shape, bodyOf []uint32, poses Poses, margin float32, out Boxes) int {
	for i := range shapes {
		s, body := &shapes[i], int(bodyOf[i])
		if s.Count > MaxVertices || s.Count > 0 && body >= len(poses.X) {
			return i
		}
		box, ok := inverted, false
		if s.Count > 0 {
			box, ok = s.bounds(poses.X[body], poses.Y[body], poses.Cos[body], poses.Sin[body], margin)
		}
		if !ok {
			box = inverted
		}
		out.MinX[i], out.MinY[i], out.MaxX[i], out.MaxY[i] = box[0], box[1], box[2], box[3]
	}
	return len(shapes)
}

// box holds MinX, MinY, MaxX, MaxY.
type box [4]float32

var inf = float32(math.Inf(1))

// inverted is the box that overlaps nothing.
var inverted = box{inf, inf, -inf, -inf}

// bounds returns false if a vertex or a bound is not finite.
func (s *Shape) bounds(px, py, cos, sin, margin float32) (b box, ok bool) {
	b = inverted
	for _, v := range s.Vertices[:s.Count] { // a NaN vertex stays NaN
		x := (float32(cos*v.X) - float32(sin*v.Y)) + px
		y := (float32(sin*v.X) + float32(cos*v.Y)) + py
		b[0], b[1], b[2], b[3] = min(b[0], x), min(b[1], y), max(b[2], x), max(b[3], y)
	}
	r := s.Radius + margin
	b = box{(b[0] - r) + 0, (b[1] - r) + 0, (b[2] + r) + 0, (b[3] + r) + 0}
	return b, b[0]-b[0] == 0 && b[1]-b[1] == 0 && b[2]-b[2] == 0 && b[3]-b[3] == 0
}
