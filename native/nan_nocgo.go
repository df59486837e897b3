//go:build !cgo

package native

func hasNaNC(Level, []float32) bool { panic("native: built without cgo") }

func hasNaN64C(Level, []float64) bool { panic("native: built without cgo") }
