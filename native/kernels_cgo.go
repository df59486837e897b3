//go:build cgo && !386 && !arm && !mips && !mipsle

package native

import (
	"runtime"
	"unsafe"

	"github.com/evertick/evertick/csrc/face"
)

// C sees these types as structs of its own, and these constants as its own.
var (
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
	_ [face.NotEqual]byte           = [NotEqual]byte{}
)

var cLevels = [len(levelNames)]int32{C: face.C, AVX2: face.AVX2, AVX512: face.AVX512, NEON: face.NEON}

func compiled(l Level) bool {
	switch l {
	case AVX2, AVX512:
		return runtime.GOARCH == "amd64"
	case NEON:
		return runtime.GOARCH == "arm64"
	}
	return true
}

func compiler() string { return face.Compiler() }

func pointer[T any](s []T) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(s)) }

// c returns the points in the form of C; categories count only if there are masks.
func (p *Points) c(g *Grid, mask []uint32, live []uint16) face.Points {
	points := face.Points{Grid: unsafe.Pointer(g), Blocks: pointer(p.Blocks), Start: p.Start, Live: live}
	if mask != nil {
		points.Category = p.Category
	}
	return points
}

func radiusC(l Level, g *Grid, p *Points, q *Queries, rows *Rows) int {
	points := p.c(g, q.Mask, q.Live)
	return face.Radius(cLevels[l], &points, (*face.Queries)(q), (*face.Rows)(rows))
}

func countC(l Level, g *Grid, p *Points, q *Queries, counts []uint32) bool {
	points := p.c(g, q.Mask, q.Live)
	return face.Count(cLevels[l], &points, (*face.Queries)(q), counts) >= 0
}

func knnC(l Level, g *Grid, p *Points, q *NearestQueries, ends, slots []uint32, dist2 []float32) int {
	points := p.c(g, q.Mask, q.Live)
	return face.Nearest(cLevels[l], &points, (*face.NearestQueries)(q), &face.Rows{Ends: ends, Slots: slots, Dist2: dist2})
}

func selfC(l Level, g *Grid, p *Points, q *SelfQuery, first, last int, rows *Rows, scratch *Packed) int {
	points := p.c(g, nil, nil)
	how := face.SelfQuery{R2: q.Radius * q.Radius, Reach: Reach(q.Radius), Keep: uint8(q.Keep), Places: q.Places}
	return face.Self(cLevels[l], &points, &how, first, last, (*face.Rows)(rows), unsafe.Pointer(scratch))
}

func overlapC(l Level, g *Grid, p *Points, b *Boxes, f *Filter, rows *Rows) int {
	points := p.c(g, f.Mask, f.Live)
	return face.Overlap(cLevels[l], &points, &b.Lo, &b.Hi, f.Exclude, f.Mask, (*face.Rows)(rows))
}

func (tr *Tracer) c(s *Spheres) face.Rays {
	return face.Rays{All: pointer(tr.rays), Spans: pointer(tr.spans), SpanEnds: tr.ends, R2: s.R2}
}

func rayClosestC(l Level, p *Points, s *Spheres, f *Filter, tr *Tracer, slots []uint32, t []float32) {
	points, rays := p.c(nil, f.Mask, f.Live), tr.c(s)
	face.RayClosest(cLevels[l], &points, &rays, slots, t)
}

func rayAllC(l Level, p *Points, s *Spheres, f *Filter, tr *Tracer, rows *Rows) int {
	points, rays := p.c(nil, f.Mask, f.Live), tr.c(s)
	return face.RayAll(cLevels[l], &points, &rays, (*face.Rows)(rows))
}

func liveC(l Level, p *Points, bitmap []uint64, live []uint16) {
	face.Live(cLevels[l], pointer(p.Blocks), p.Len(), bitmap, live)
}

func keepLiveC(bitmap []uint64, from int, ends, slots []uint32, dist2 []float32) {
	face.KeepLive(bitmap, &face.Rows{Ends: ends, Slots: slots, Dist2: dist2, Fill: from})
}

func weighC(l Level, weight Weight, softening float32, radius []float32, ends []uint32, dist2, w []float32) {
	face.Weigh(cLevels[l], uint8(weight), softening, radius, ends, dist2, w)
}

func sumRowsC(l Level, s *RowSums) {
	face.SumRows(cLevels[l], &face.RowSums{Records: pointer(s.Records), Own: pointer(s.Own), Plain: pointer(s.Plain),
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

func sortRowsC(l Level, by RowOrder, limit, from int, ends, slots []uint32, dist2 []float32, scratch []uint64) bool {
	return face.Order(cLevels[l], by == ByDistance, limit, &face.Rows{Ends: ends, Slots: slots, Dist2: dist2, Fill: from}, scratch)
}

func scatterRowsC(from *Rows, begin int, number []uint32, to *RowsTo) int {
	rows := face.Rows{Ends: from.Ends, Slots: from.Slots, Dist2: from.Dist2, Fill: begin}
	return face.ScatterRows(&rows, number, to.Offsets, &face.Rows{Slots: to.Slots, Dist2: to.Dist2})
}

func measureC(l Level, x, y, z []float32, slots []uint32) (lo, hi [3]float32, ok bool) {
	var box [6]float32
	ok = face.Measure(cLevels[l], &face.Columns{X: x, Y: y, Z: z, Slots: slots}, &box)
	return [3]float32(box[:3]), [3]float32(box[3:]), ok
}

func sampleC(l Level, x, y, z []float32, slots []uint32, mask uint32, found []uint32, room int) int {
	return face.Sample(cLevels[l], &face.Columns{X: x, Y: y, Z: z, Slots: slots}, mask, found, room)
}

func buildC(l Level, g *Grid, x, y, z []float32, slots []uint32, p *Points, cellOf []uint32) bool {
	return face.Build(cLevels[l], unsafe.Pointer(g), &face.Columns{X: x, Y: y, Z: z, Slots: slots}, p.Start, pointer(p.Blocks), cellOf)
}

func numberC(l Level, g *Grid, x, y, z []float32, slots, counts, cellOf []uint32) bool {
	return face.Number(cLevels[l], unsafe.Pointer(g), &face.Columns{X: x, Y: y, Z: z, Slots: slots}, counts, cellOf)
}

func scatterC(l Level, x, y, z []float32, slots, cursors, cellOf []uint32, blocks []Block) {
	face.Scatter(cLevels[l], &face.Columns{X: x, Y: y, Z: z, Slots: slots}, cursors, cellOf, pointer(blocks))
}

func transposeC(l Level, blocks []Block, first, last, points int) {
	face.Transpose(cLevels[l], pointer(blocks), first, last, points)
}

func streamC(l Level, s *Sieve, c *Columns, from, to int, h *Hits) (int, Stop) {
	p := progress{at: int64(from), fill: int64(h.Fill)}
	sieve := face.Sieve{Torus: unsafe.Pointer(&s.torus), Blocks: pointer(s.blocks), Centres: pointer(s.centres),
		Bits: s.bits, Rank: s.rank, IDs: s.ids}
	if len(s.lists) > 0 {
		sieve.Lists = pointer(s.lists)
	}
	how := face.Stream(cLevels[l], &sieve, (*face.Columns)(c), to, (*face.Hits)(h), unsafe.Pointer(&p))
	h.Fill = int(p.fill)
	return int(p.at), Stop(how)
}

func sweepC(l Level, s *Sieve, c *Columns, at *Position, to int, h *Hits) bool {
	p := progress{int64(at.At), int64(at.Wide), int64(h.Fill)}
	how := face.Sweep(cLevels[l], s.wide, pointer(s.centres), (*face.Columns)(c), to, (*face.Hits)(h), unsafe.Pointer(&p))
	if how == 2 {
		panic("native: Sweep: a slot lies beyond the columns")
	}
	at.At, at.Wide, h.Fill = int(p.at), int(p.wide), int(p.fill)
	return how == 0
}

func hasNaNC(l Level, x []float32) bool { return face.NaN32(cLevels[l], x) }

func hasNaN64C(l Level, x []float64) bool { return face.NaN64(cLevels[l], x) }

func boundsC(l Level, x, y, z []float32, live []uint64, part *finding) {
	face.Bounds(cLevels[l], face.Vec3{X: x, Y: y, Z: z}, live, &part.least, &part.largest)
}

func sumC(l Level, x []float32, live []uint64) float64 { return face.Sum(cLevels[l], x, live) }

func firstNotFiniteC(l Level, x []float32, live []uint64) int {
	return face.FirstNotFinite(cLevels[l], x, live)
}

func firstBeyondC(l Level, index []uint32, limit int, live []uint64) int {
	return face.FirstBeyond(cLevels[l], index, limit, live)
}

func integrateC(l Level, pos, vel []float32, dt float32, live []uint64) {
	face.Integrate(cLevels[l], pos, vel, dt, live)
}

func scaleKernel(o *Ops, l Level, live []uint64, lo, hi int) {
	face.Scale(cLevels[l], o.columns[0][lo:hi], o.scalars[0], live)
}

func affineKernel(o *Ops, l Level, live []uint64, lo, hi int) {
	face.Affine(cLevels[l], o.columns[0][lo:hi], o.columns[1][lo:hi], o.scalars[0], o.scalars[1], live)
}

func selectKernel(o *Ops, l Level, live []uint64, lo, hi int) {
	face.Select(cLevels[l], o.columns[0][lo:hi], o.bitmapFrom(lo), o.columns[1][lo:hi], o.columns[2][lo:hi], live)
}

func compareC(l Level, to []uint64, x, y []float32, limit float32, is Comparison, live []uint64) {
	face.Compare(cLevels[l], to, x, uint8(is), y, limit, live)
}

func dampKernel(o *Ops, l Level, live []uint64, lo, hi int) {
	face.Damp(cLevels[l], o.columns[0][lo:hi], o.columns[1][lo:hi], o.scalars[0], live)
}

func clampKernel(o *Ops, l Level, live []uint64, lo, hi int) {
	face.Clamp(cLevels[l], o.columns[0][lo:hi], o.scalars[0], o.scalars[1], live)
}

func wrapKernel(o *Ops, l Level, live []uint64, lo, hi int) {
	face.Wrap(cLevels[l], o.columns[0][lo:hi], o.scalars[0], o.scalars[1], live)
}

func lerpKernel(o *Ops, l Level, live []uint64, lo, hi int) {
	face.Lerp(cLevels[l], o.columns[0][lo:hi], o.columns[1][lo:hi], o.columns[2][lo:hi], o.scalars[0], o.bitmapFrom(lo), live)
}

func clampLengthKernel(o *Ops, l Level, live []uint64, lo, hi int) {
	face.ClampLength(cLevels[l], face.Vec3(o.vec3(0, lo, hi)), o.scalars[0], live)
}

func dist2Kernel(o *Ops, l Level, live []uint64, lo, hi int) {
	face.Dist2(cLevels[l], o.columns[0][lo:hi], face.Vec3(o.vec3(1, lo, hi)), o.scalars[0], o.scalars[1], o.scalars[2], live)
}

func nlerpKernel(o *Ops, l Level, live []uint64, lo, hi int) {
	out, prev, cur := face.Quat(o.quat(0, lo, hi)), face.Quat(o.quat(4, lo, hi)), face.Quat(o.quat(8, lo, hi))
	face.Nlerp(cLevels[l], &out, &prev, &cur, o.scalars[0], o.bitmapFrom(lo), live)
}

func normalizeQuatKernel(o *Ops, l Level, live []uint64, lo, hi int) {
	face.NormalizeQuat(cLevels[l], face.Quat(o.quat(0, lo, hi)), live)
}

func integrateQuatKernel(o *Ops, l Level, live []uint64, lo, hi int) {
	face.IntegrateQuat(cLevels[l], face.Quat(o.quat(0, lo, hi)), face.Vec3(o.vec3(4, lo, hi)), o.scalars[0], live)
}

func moveKernel(o *Ops, l Level, live []uint64, lo, hi int) {
	face.Move(cLevels[l], &face.Motion{
		Pos: face.Vec3(o.vec3(0, lo, hi)), Vel: face.Vec3(o.vec3(3, lo, hi)), Acc: face.Vec3(o.vec3(6, lo, hi)),
		Rot: face.Quat(o.quat(9, lo, hi)), Ang: face.Vec3(o.vec3(13, lo, hi)),
	}, o.scalars[0], live)
}

// bitmapFrom returns the bitmap from row lo on.
func (o *Ops) bitmapFrom(lo int) []uint64 {
	if o.bitmap == nil {
		return nil
	}
	return o.bitmap[lo/64:]
}

// copyKernel copies contiguous rows in Go.
func copyKernel(o *Ops, l Level, live []uint64, lo, hi int) {
	if live == nil {
		copyRows(o, lo, hi)
	} else {
		face.Copy(cLevels[l], o.columns[0][lo:hi], o.columns[1][lo:hi], live)
	}
}

func fillKernel(o *Ops, l Level, live []uint64, lo, hi int) {
	face.Fill(cLevels[l], o.columns[0][lo:hi], o.scalars[0], live)
}

// gatherKernel runs in Go if the column is too long for C.
func gatherKernel(o *Ops, l Level, live []uint64, lo, hi int) {
	if src := o.columns[1]; int64(len(src)) <= maxFetch {
		face.Gather(cLevels[l], o.columns[0][lo:hi], src, o.index[lo:hi], live)
		return
	}
	for from, to := named(live, 0, hi-lo); from < to; from, to = named(live, to, hi-lo) {
		gatherRows(o, lo+from, lo+to)
	}
}

func composeByColumnKernel(o *Ops, l Level, live []uint64, lo, hi int) {
	composeKernel(o, l, false, live, lo, hi)
}

func composeByRowKernel(o *Ops, l Level, live []uint64, lo, hi int) {
	composeKernel(o, l, true, live, lo, hi)
}

func composeKernel(o *Ops, l Level, byRow bool, live []uint64, lo, hi int) {
	face.Compose(cLevels[l], o.columns[10][16*lo:16*hi], byRow, face.Vec3(o.vec3(0, lo, hi)), face.Quat(o.quat(3, lo, hi)),
		face.Vec3(o.vec3(7, lo, hi)), live)
}

func quantiseC(l Level, dst []int32, src []float32, scale float32, limit int32) {
	face.Quantise(cLevels[l], dst, src, scale, limit)
}

func quantiseAngleC(l Level, dst []int32, src []float32, bits int) {
	face.QuantiseAngle(cLevels[l], dst, src, bits)
}

func quantisePlanarC(l Level, dst []int32, sin, cos []float32, bits int) {
	face.QuantisePlanar(cLevels[l], dst, sin, cos, bits)
}

func quantiseQuatC(l Level, dst QuatLanes, src Quat, scale float32, limit int32) {
	face.QuantiseQuat(cLevels[l], (*face.QuatLanes)(&dst), face.Quat(src), scale, limit)
}

func deltaC(l Level, arena []int32, stride, now, base, previous int, shape *DeltaLanes, records []uint32, changed, wide []uint64) {
	face.Delta(cLevels[l], arena, &face.DeltaShape{Stride: stride, Now: now, Base: base, Previous: previous,
		Lanes: shape.Lanes, Bits: shape.Bits, Width: shape.Width}, records, changed, wide)
}

func mergeC(known, view []uint32, gone []uint64, m *Merged) {
	stays, leaves, enters := face.Merge(known, view, gone, m.Stays, m.Leaves, m.Enters)
	m.Stays, m.Leaves, m.Enters = m.Stays[:stays], m.Leaves[:leaves], m.Enters[:enters]
}

func gatherRecordsC(stays []uint32, plain, predicted *Source, width uint, out *Gathered) {
	bits, wide := face.GatherRecords(stays, (*face.Source)(plain), (*face.Source)(predicted), width, out.Mask, out.Bits, out.Wide)
	out.Mask, out.Bits, out.Wide = out.Mask[:(len(stays)+7)/8], out.Bits[:(bits+7)/8], out.Wide[:wide]
}
