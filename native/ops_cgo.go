//go:build cgo

package native

import "github.com/evertick/evertick/csrc"

func integrateC(l Level, pos, vel []float32, dt float32, live []uint64) {
	csrc.Integrate(cLevels[l], pos, vel, dt, live)
}
