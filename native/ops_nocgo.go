//go:build !cgo

package native

func integrateC(Level, []float32, []float32, float32, []uint64) { panic("native: built without cgo") }

// No level but Go is left, which calls no kernel.
var scaleKernel, dampKernel, clampKernel, wrapKernel, lerpKernel, clampLengthKernel, dist2Kernel,
	nlerpKernel, normalizeQuatKernel, integrateQuatKernel, moveKernel opKernel
