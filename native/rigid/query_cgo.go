//go:build cgo

package rigid

import (
	"unsafe"

	"github.com/evertick/evertick/csrc"
	"github.com/evertick/evertick/native"
)

// The C side mirrors these.
var (
	_ [csrc.NodeSize]byte     = [unsafe.Sizeof(treeNode{})]byte{}
	_ [csrc.TargetSize]byte   = [unsafe.Sizeof(target{})]byte{}
	_ [csrc.QueryRaySize]byte = [unsafe.Sizeof(Ray{})]byte{}
	_ [csrc.RayHitSize]byte   = [unsafe.Sizeof(RayHit{})]byte{}
)

func rayClosestC(l native.Level, t *QueryTree, rays []Ray, out []RayHit) {
	csrc.RigidRayClosest(cLevel(l), unsafe.Pointer(unsafe.SliceData(t.nodes)), t.starts, unsafe.Pointer(unsafe.SliceData(t.targets)),
		unsafe.Pointer(unsafe.SliceData(rays)), len(rays), unsafe.Pointer(unsafe.SliceData(out)))
}

func rayAllC(l native.Level, t *QueryTree, rays []Ray, ends []uint32, out []RayHit, fill int) int {
	return csrc.RigidRayAll(cLevel(l), unsafe.Pointer(unsafe.SliceData(t.nodes)), t.starts, unsafe.Pointer(unsafe.SliceData(t.targets)),
		unsafe.Pointer(unsafe.SliceData(rays)), ends[:len(rays)], unsafe.Pointer(unsafe.SliceData(out)), fill, len(out))
}
