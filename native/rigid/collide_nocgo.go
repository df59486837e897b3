//go:build !cgo

package rigid

import "github.com/evertick/evertick/native"

func collideC(native.Level, []Shape, []uint32, *Poses, *Pairs, []Manifold) bool {
	panic("rigid: built without cgo")
}
