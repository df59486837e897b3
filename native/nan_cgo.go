//go:build cgo

package native

import "github.com/evertick/evertick/csrc"

func hasNaNC(l Level, x []float32) bool { return csrc.NaN32(cLevels[l], x) }

func hasNaN64C(l Level, x []float64) bool { return csrc.NaN64(cLevels[l], x) }
