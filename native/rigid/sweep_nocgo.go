//go:build !cgo

package rigid

import "github.com/evertick/evertick/native"

func (e *Extents) fastC(native.Level, []State, int, int, []uint32) int { panic(withoutC) }
