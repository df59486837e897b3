//go:build !cgo

package rigid

import "github.com/evertick/evertick/native"

func putC(native.Level, *Entities, *Origins, *Poses, []uint32, *Written, int, int) { panic(withoutC) }

func differsC(native.Level, *Entities, []uint32, *Written, int, int) int { panic(withoutC) }
