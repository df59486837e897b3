//go:build cgo

package native

import (
	"unsafe"

	"github.com/evertick/evertick/csrc"
)

func countC(l Level, g *Grid, p *Points, q *Queries, f *Filter, counts []uint32) bool {
	return csrc.Count(cLevels[l], unsafe.Pointer(g), p.Start, unsafe.Pointer(unsafe.SliceData(p.Blocks)), f.category(p), f.Live,
		q.X, q.Y, q.Z, q.Radius, f.Exclude, f.Mask, counts) >= 0
}

func overlapC(l Level, g *Grid, p *Points, b *Boxes, f *Filter, hits *Hits) int {
	return csrc.Overlap(cLevels[l], unsafe.Pointer(g), p.Start, unsafe.Pointer(unsafe.SliceData(p.Blocks)), f.category(p), f.Live,
		&b.Lo, &b.Hi, f.Exclude, f.Mask, hits.Ends, hits.Slots, hits.Fill)
}
