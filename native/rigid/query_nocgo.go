//go:build !cgo

package rigid

import "github.com/evertick/evertick/native"

func rayClosestC(native.Level, *QueryTree, []Ray, []RayHit) { panic(withoutCgo) }

func rayAllC(native.Level, *QueryTree, []Ray, []uint32, []RayHit, int) int { panic(withoutCgo) }
