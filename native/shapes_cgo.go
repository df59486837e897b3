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

func overlapC(l Level, g *Grid, p *Points, b *Boxes, f *Filter, rows *Rows) int {
	return csrc.Overlap(cLevels[l], unsafe.Pointer(g), p.Start, unsafe.Pointer(unsafe.SliceData(p.Blocks)), f.category(p), f.Live,
		&b.Lo, &b.Hi, f.Exclude, f.Mask, rows.Ends, rows.Slots, rows.Fill)
}

// ray and span are passed to C by address.
var (
	_ [csrc.RaySize]byte  = [unsafe.Sizeof(ray{})]byte{}
	_ [csrc.SpanSize]byte = [unsafe.Sizeof(span{})]byte{}
)

func rayClosestC(l Level, p *Points, s *Spheres, f *Filter, tr *Tracer, slots []uint32, t []float32) {
	csrc.RayClosest(cLevels[l], unsafe.Pointer(unsafe.SliceData(p.Blocks)), s.R2, f.category(p), f.Live,
		unsafe.Pointer(unsafe.SliceData(tr.rays)), tr.ends, unsafe.Pointer(unsafe.SliceData(tr.spans)), slots, t)
}

func rayAllC(l Level, p *Points, s *Spheres, f *Filter, tr *Tracer, rows *Rows) int {
	return csrc.RayAll(cLevels[l], unsafe.Pointer(unsafe.SliceData(p.Blocks)), s.R2, f.category(p), f.Live,
		unsafe.Pointer(unsafe.SliceData(tr.rays)), tr.ends, unsafe.Pointer(unsafe.SliceData(tr.spans)),
		rows.Ends, rows.Slots, rows.Dist2, rows.Fill)
}
