//go:build cgo

package rigid

import (
	"unsafe"

	csrc "github.com/evertick/evertick/csrc/rigid"
	"github.com/evertick/evertick/native"
)

// Shapes and manifolds are passed to C by address.
var (
	_ [csrc.ShapeSize]byte    = [unsafe.Sizeof(Shape{})]byte{}
	_ [csrc.ManifoldSize]byte = [unsafe.Sizeof(Manifold{})]byte{}
)

func collideC(l native.Level, shapes []Shape, bodyOf []uint32, poses *Poses, pairs *Pairs, out []Manifold) bool {
	return csrc.Collide(cLevel(l), unsafe.Pointer(unsafe.SliceData(shapes)), bodyOf, poses.X, poses.Y, poses.Cos, poses.Sin,
		pairs.A, pairs.B, unsafe.Pointer(unsafe.SliceData(out)))
}
