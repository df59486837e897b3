//go:build !cgo || purego || 386 || arm || mips || mipsle

package native

// Without cgo only level Go is left, which calls none of these.

const withoutCgo = "native: built without cgo"

func compiled(l Level) bool { return l == Go }
func compiler() string      { return "" }

func hasNaNC(Level, []float32) bool                                      { panic(withoutCgo) }
func hasNaN64C(Level, []float64) bool                                    { panic(withoutCgo) }
func boundsC(Level, []float32, []float32, []float32, []uint64, *finding) { panic(withoutCgo) }
func sumC(Level, []float32, []uint64) float64                            { panic(withoutCgo) }
func firstNotFiniteC(Level, []float32, []uint64) int                     { panic(withoutCgo) }
func firstBeyondC(Level, []uint32, int, []uint64) int                    { panic(withoutCgo) }
func integrateC(Level, []float32, []float32, float32, []uint64)          { panic(withoutCgo) }

func compareC(Level, []uint64, []float32, []float32, float32, Comparison, []uint64) {
	panic(withoutCgo)
}

var scaleKernel, affineKernel, selectKernel, dampKernel, clampKernel, wrapKernel, lerpKernel, clampLengthKernel, dist2Kernel, nlerpKernel, normalizeQuatKernel,
	integrateQuatKernel, moveKernel, copyKernel, fillKernel, gatherKernel, composeByColumnKernel, composeByRowKernel opKernel
