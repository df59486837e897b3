//go:build cgo

package rigid

import "github.com/evertick/evertick/native"

func collideC(_ native.Level, shapes []Shape, bodyOf []uint32, poses *Poses, pairs *Pairs, out []Manifold) bool {
	return collideGo(shapes, bodyOf, poses, pairs, out)
}
