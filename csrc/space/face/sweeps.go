//go:build cgo && !purego && !386 && !arm && !mips && !mipsle

package face

/*
#cgo noescape et_space_sweep_mesh
#cgo nocallback et_space_sweep_mesh
#include "../sweeps.h"
*/
import "C"

// MeshSweep is a C struct that package internal/rigid3 packs, as it has a type of the same layout.
type MeshSweep = C.et_space_mesh_sweep

// MeshSweepSize is the size of the C struct, in bytes.
const MeshSweepSize = C.sizeof_et_space_mesh_sweep

// SweepMesh is as sweeps.h describes it.
func SweepMesh(level int32, s *MeshSweep) int {
	return int(C.et_space_sweep_mesh(C.int32_t(level), *s))
}
