//go:build !cgo

package rigid

import "github.com/evertick/evertick/native"

func rayClosestC(native.Level, *Targets, []Ray, []RayHit) { panic(withoutCgo) }

func rayAllC(native.Level, *Targets, []Ray, []uint32, []RayHit, int) int { panic(withoutCgo) }
