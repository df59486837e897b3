//go:build !cgo

package native

// No level but Go is left, which calls no kernel.

const noKernel = "native: built without cgo"

func boundsC(Level, []float32, []float32, []float32, []uint64, *finding) { panic(noKernel) }

func sumC(Level, []float32, []uint64) float64 { panic(noKernel) }

func firstNotFiniteC(Level, []float32, []uint64) int { panic(noKernel) }

func firstBeyondC(Level, []uint32, int, []uint64) int { panic(noKernel) }

var copyKernel, fillKernel, gatherKernel, composeByColumnKernel, composeByRowKernel opKernel
