//go:build !cgo

package native

func integrateC(Level, []float32, []float32, float32, []uint64) { panic("native: built without cgo") }
