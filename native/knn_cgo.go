//go:build cgo

package native

import (
	"unsafe"

	"github.com/evertick/evertick/csrc"
)

var _ [csrc.MostNeighbours]byte = [MostNeighbours]byte{}

func knnC(l Level, g *Grid, p *Points, q *NearestQueries, ends, slots []uint32, dist2 []float32) int {
	return csrc.KNN(cLevels[l], unsafe.Pointer(g), p.Start, unsafe.Pointer(unsafe.SliceData(p.Blocks)), p.Category,
		q.Live, q.X, q.Y, q.Z, q.Radius, q.Exclude, q.Mask, q.K, q.Box, ends, slots, dist2)
}
