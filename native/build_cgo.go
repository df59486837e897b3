//go:build cgo

package native

import (
	"unsafe"

	"github.com/evertick/evertick/csrc"
)

func measureC(l Level, x, y, z []float32, slots []uint32) (lo, hi [3]float32, ok bool) {
	var box [6]float32
	ok = csrc.Measure(cLevels[l], x, y, z, limitOf(x), slots, &box)
	return [3]float32(box[:3]), [3]float32(box[3:]), ok
}

func sampleC(l Level, x, y, z []float32, slots []uint32, mask uint32, found []uint32, room int) int {
	return csrc.Sample(cLevels[l], x, y, z, limitOf(x), slots, mask, found, room)
}

func buildC(l Level, g *Grid, x, y, z []float32, slots []uint32, p *Points, cellOf []uint32) bool {
	return csrc.Build(cLevels[l], unsafe.Pointer(g), x, y, z, limitOf(x), slots,
		p.Start, unsafe.Pointer(unsafe.SliceData(p.Blocks)), cellOf)
}

func numberC(l Level, g *Grid, x, y, z []float32, slots, counts, cellOf []uint32) bool {
	return csrc.Number(cLevels[l], unsafe.Pointer(g), x, y, z, limitOf(x), slots, counts, cellOf)
}

func scatterC(l Level, x, y, z []float32, slots, cursors, cellOf []uint32, blocks []Block) {
	csrc.Scatter(cLevels[l], x, y, z, limitOf(x), slots, cursors, cellOf, unsafe.Pointer(unsafe.SliceData(blocks)))
}

func transposeC(l Level, blocks []Block, first, last, points int) {
	csrc.Transpose(cLevels[l], unsafe.Pointer(unsafe.SliceData(blocks)), first, last, points)
}
