//go:build cgo && !purego && !386 && !arm && !mips && !mipsle

package neighbours

import (
	"unsafe"

	levels "github.com/evertick/evertick/csrc/face"
	"github.com/evertick/evertick/csrc/neighbours/face"
	"github.com/evertick/evertick/native"
)

// C sees these types as structs of its own, and these constants as its own. It numbers levels in the order of native.Level, from
// native.C on.
var (
	_ [levels.AVX2]byte   = [native.AVX2 - native.C]byte{}
	_ [levels.AVX512]byte = [native.AVX512 - native.C]byte{}
	_ [levels.NEON]byte   = [native.NEON - native.C]byte{}

	_ [face.GridSize]byte           = [unsafe.Sizeof(Grid{})]byte{}
	_ [face.BlockSize]byte          = [unsafe.Sizeof(Block{})]byte{}
	_ [face.PackSize]byte           = [unsafe.Sizeof(Packed{})]byte{}
	_ [face.RaySize]byte            = [unsafe.Sizeof(ray{})]byte{}
	_ [face.SpanSize]byte           = [unsafe.Sizeof(span{})]byte{}
	_ [face.RecordSize]byte         = [unsafe.Sizeof(Record{})]byte{}
	_ [len(face.SomeColumns{})]byte = [SpreadColumns]byte{}
	_ [face.TorusSize]byte          = [unsafe.Sizeof(torus{})]byte{}
	_ [face.CentreSize]byte         = [unsafe.Sizeof(centre{})]byte{}
	_ [face.CentresSize]byte        = [unsafe.Sizeof(centres{})]byte{}
	_ [face.ListSize]byte           = [unsafe.Sizeof(list{})]byte{}
	_ [face.ProgressSize]byte       = [unsafe.Sizeof(progress{})]byte{}
	_ [face.MostNeighbours]byte     = [MostNeighbours]byte{}
	_ [face.ScratchFrom]byte        = [mergedRow]byte{}
	_ [face.LongList]byte           = [longList]byte{}
	_ [face.SweepRun]byte           = [sweepRun]byte{}
)

func cLevel(l native.Level) int32 { return int32(l - native.C) }

func pointer[T any](s []T) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(s)) }

// c returns the points in the form of C; categories count only if there are masks.
func (p *Points) c(g *Grid, mask []uint32, live []uint16) face.Points {
	points := face.Points{Grid: unsafe.Pointer(g), Blocks: pointer(p.Blocks), Start: p.Start, Live: live}
	if mask != nil {
		points.Category = p.Category
	}
	return points
}

func radiusC(l native.Level, g *Grid, p *Points, q *Queries, rows *Rows) int {
	points := p.c(g, q.Mask, q.Live)
	return face.Radius(cLevel(l), &points, (*face.Queries)(q), (*face.Rows)(rows))
}

func countC(l native.Level, g *Grid, p *Points, q *Queries, counts []uint32) bool {
	points := p.c(g, q.Mask, q.Live)
	return face.Count(cLevel(l), &points, (*face.Queries)(q), counts) >= 0
}

func knnC(l native.Level, g *Grid, p *Points, q *NearestQueries, ends, slots []uint32, dist2 []float32) int {
	points := p.c(g, q.Mask, q.Live)
	return face.Nearest(cLevel(l), &points, (*face.NearestQueries)(q), &face.Rows{Ends: ends, Slots: slots, Dist2: dist2})
}

func selfC(l native.Level, g *Grid, p *Points, q *SelfQuery, first, last int, rows *Rows, scratch *Packed) int {
	points := p.c(g, nil, nil)
	how := face.SelfQuery{R2: q.Radius * q.Radius, Reach: Reach(q.Radius), Keep: uint8(q.Keep), Places: q.Places}
	return face.Self(cLevel(l), &points, &how, first, last, (*face.Rows)(rows), unsafe.Pointer(scratch))
}

func overlapC(l native.Level, g *Grid, p *Points, b *Boxes, f *Filter, rows *Rows) int {
	points := p.c(g, f.Mask, f.Live)
	return face.Overlap(cLevel(l), &points, &b.Lo, &b.Hi, f.Exclude, f.Mask, (*face.Rows)(rows))
}

func (tr *Tracer) c(s *Spheres) face.Rays {
	return face.Rays{All: pointer(tr.rays), Spans: pointer(tr.spans), SpanEnds: tr.ends, R2: s.R2}
}

func rayClosestC(l native.Level, p *Points, s *Spheres, f *Filter, tr *Tracer, slots []uint32, t []float32) {
	points, rays := p.c(nil, f.Mask, f.Live), tr.c(s)
	face.RayClosest(cLevel(l), &points, &rays, slots, t)
}

func rayAllC(l native.Level, p *Points, s *Spheres, f *Filter, tr *Tracer, rows *Rows) int {
	points, rays := p.c(nil, f.Mask, f.Live), tr.c(s)
	return face.RayAll(cLevel(l), &points, &rays, (*face.Rows)(rows))
}

func liveC(l native.Level, p *Points, bitmap []uint64, live []uint16) {
	face.Live(cLevel(l), pointer(p.Blocks), p.Len(), bitmap, live)
}

func keepLiveC(bitmap []uint64, from int, ends, slots []uint32, dist2 []float32) {
	face.KeepLive(bitmap, &face.Rows{Ends: ends, Slots: slots, Dist2: dist2, Fill: from})
}

func weighC(l native.Level, weight Weight, softening float32, radius []float32, ends []uint32, dist2, w []float32) {
	face.Weigh(cLevel(l), uint8(weight), softening, radius, ends, dist2, w)
}

func sumRowsC(l native.Level, s *RowSums) {
	face.SumRows(cLevel(l), &face.RowSums{Records: pointer(s.Records), Own: pointer(s.Own), Plain: pointer(s.Plain),
		Weighted: pointer(s.Weighted), Index: s.Index, Ends: s.Ends, Weights: s.Weights, Op: uint8(s.Op),
		PlainValues: s.PlainValues, WeightedValues: s.WeightedValues, PlainMeans: s.PlainMeans, WeightedMeans: s.WeightedMeans})
}

func fillRecordsC(columns [][]float32, none float32, place []uint32, first, last int, records []Record) {
	var from face.SomeColumns
	for k, c := range columns {
		from[k] = pointer(c)
	}
	face.FillRecords(&from, len(columns), none, place, first, last, pointer(records))
}

func spreadRecordsC(records [][]Record, value []int, place []uint32, first, last int, columns [][]float32) {
	var from, to face.SomeColumns
	for k, c := range columns {
		from[k], to[k] = unsafe.Pointer(&records[k][0][value[k]]), pointer(c)
	}
	face.SpreadRecords(&from, &to, len(columns), place, first, last)
}

func sortRowsC(l native.Level, by RowOrder, limit, from int, ends, slots []uint32, dist2 []float32, scratch []uint64) bool {
	return face.Order(cLevel(l), by == ByDistance, limit, &face.Rows{Ends: ends, Slots: slots, Dist2: dist2, Fill: from}, scratch)
}

func scatterRowsC(from *Rows, begin int, number []uint32, to *RowsTo) int {
	rows := face.Rows{Ends: from.Ends, Slots: from.Slots, Dist2: from.Dist2, Fill: begin}
	return face.ScatterRows(&rows, number, to.Offsets, &face.Rows{Slots: to.Slots, Dist2: to.Dist2})
}

func measureC(l native.Level, x, y, z []float32, slots []uint32) (lo, hi [3]float32, ok bool) {
	var box [6]float32
	ok = face.Measure(cLevel(l), &face.Columns{X: x, Y: y, Z: z, Slots: slots}, &box)
	return [3]float32(box[:3]), [3]float32(box[3:]), ok
}

func sampleC(l native.Level, x, y, z []float32, slots []uint32, mask uint32, found []uint32, room int) int {
	return face.Sample(cLevel(l), &face.Columns{X: x, Y: y, Z: z, Slots: slots}, mask, found, room)
}

func buildC(l native.Level, g *Grid, x, y, z []float32, slots []uint32, p *Points, cellOf []uint32) bool {
	return face.Build(cLevel(l), unsafe.Pointer(g), &face.Columns{X: x, Y: y, Z: z, Slots: slots}, p.Start, pointer(p.Blocks), cellOf)
}

func numberC(l native.Level, g *Grid, x, y, z []float32, slots, counts, cellOf []uint32) bool {
	return face.Number(cLevel(l), unsafe.Pointer(g), &face.Columns{X: x, Y: y, Z: z, Slots: slots}, counts, cellOf)
}

func scatterC(l native.Level, x, y, z []float32, slots, cursors, cellOf []uint32, blocks []Block) {
	face.Scatter(cLevel(l), &face.Columns{X: x, Y: y, Z: z, Slots: slots}, cursors, cellOf, pointer(blocks))
}

func transposeC(l native.Level, blocks []Block, first, last, points int) {
	face.Transpose(cLevel(l), pointer(blocks), first, last, points)
}

func streamC(l native.Level, s *Sieve, c *Columns, from, to int, h *Hits) (int, Stop) {
	p := progress{at: int64(from), fill: int64(h.Fill)}
	sieve := face.Sieve{Torus: unsafe.Pointer(&s.torus), Blocks: pointer(s.blocks), Centres: pointer(s.centres),
		Bits: s.bits, Rank: s.rank, IDs: s.ids}
	if len(s.lists) > 0 {
		sieve.Lists = pointer(s.lists)
	}
	how := face.Stream(cLevel(l), &sieve, (*face.Columns)(c), to, (*face.Hits)(h), unsafe.Pointer(&p))
	h.Fill = int(p.fill)
	return int(p.at), Stop(how)
}

func sweepC(l native.Level, s *Sieve, c *Columns, at *Position, to int, h *Hits) bool {
	p := progress{int64(at.At), int64(at.Wide), int64(h.Fill)}
	how := face.Sweep(cLevel(l), s.wide, pointer(s.centres), (*face.Columns)(c), to, (*face.Hits)(h), unsafe.Pointer(&p))
	if how == 2 {
		panic("neighbours: Sweep: a slot lies beyond the columns")
	}
	at.At, at.Wide, h.Fill = int(p.at), int(p.wide), int(p.fill)
	return how == 0
}
