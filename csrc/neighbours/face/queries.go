//go:build cgo && !purego && !386 && !arm && !mips && !mipsle

package face

/*
#cgo noescape et_radius
#cgo nocallback et_radius
#cgo noescape et_count
#cgo nocallback et_count
#cgo noescape et_nearest
#cgo nocallback et_nearest
#cgo noescape et_self
#cgo nocallback et_self
#cgo noescape et_overlap
#cgo nocallback et_overlap
#cgo noescape et_ray_closest
#cgo nocallback et_ray_closest
#cgo noescape et_ray_all
#cgo nocallback et_ray_all
#cgo noescape et_live
#cgo nocallback et_live
#cgo noescape et_keep_live
#cgo nocallback et_keep_live
#cgo noescape et_order
#cgo nocallback et_order
#cgo noescape et_scatter_rows
#cgo nocallback et_scatter_rows
#cgo noescape et_weigh
#cgo nocallback et_weigh
#cgo noescape et_sum_rows
#cgo nocallback et_sum_rows
#cgo noescape et_fill_records
#cgo nocallback et_fill_records
#cgo noescape et_spread_records
#cgo nocallback et_spread_records
#include "../queries.h"
*/
import "C"

import "unsafe"

// The functions below are those of queries.h. Queries test the live lanes of points, and pass categories only if
// there are masks.

const (
	MostNeighbours = C.ET_MOST_NEIGHBOURS // the largest K of Nearest
	ScratchFrom    = C.ET_SCRATCH_FROM    // the length of a row above which Order needs scratch
)

// Sizes of the C structs of scratch, rays, spans and records, in bytes.
const (
	PackSize = C.sizeof_et_pack
	RaySize  = C.sizeof_et_ray
	SpanSize = C.sizeof_et_span

	RecordSize = C.ET_RECORD * C.sizeof_float
)

// Queries mirrors neighbours.Queries.
type Queries struct {
	X, Y, Z, Radius []float32
	Exclude, Mask   []uint32
	Live            []uint16
}

func (q *Queries) c() C.et_spheres {
	return C.et_spheres{x: f32(q.X), y: f32(q.Y), z: f32(q.Z), radius: f32(q.Radius), exclude: u32(q.Exclude), mask: u32(q.Mask),
		n: C.int64_t(len(q.X))}
}

// Radius is et_radius.
func Radius(level int32, p *Points, q *Queries, rows *Rows) int {
	return int(C.et_radius(C.int32_t(level), p.c(), q.c(), rows.c()))
}

// Count is et_count.
func Count(level int32, p *Points, q *Queries, counts []uint32) int {
	return int(C.et_count(C.int32_t(level), p.c(), q.c(), u32(counts)))
}

// NearestQueries mirrors neighbours.NearestQueries.
type NearestQueries struct {
	X, Y, Z       []float32
	K             int
	Radius        []float32
	Exclude, Mask []uint32
	Live          []uint16
	Box           *[2][3]float32
}

// Nearest is et_nearest.
func Nearest(level int32, p *Points, q *NearestQueries, rows *Rows) int {
	all := Queries{X: q.X, Y: q.Y, Z: q.Z, Radius: q.Radius, Exclude: q.Exclude, Mask: q.Mask}
	return int(C.et_nearest(C.int32_t(level), p.c(), all.c(), C.int32_t(q.K), (*C.float)(unsafe.Pointer(q.Box)), rows.c()))
}

// SelfQuery is et_self_query.
type SelfQuery struct {
	R2, Reach float32
	Keep      uint8
	Places    bool
}

// Self is et_self for the points at places [first, last). scratch points at a struct of PackSize bytes.
func Self(level int32, p *Points, q *SelfQuery, first, last int, rows *Rows, scratch unsafe.Pointer) int {
	how := C.et_self_query{r2: C.float(q.R2), reach: C.float(q.Reach), keep: C.int32_t(q.Keep), places: flag(q.Places)}
	return int(C.et_self(C.int32_t(level), p.c(), how, C.int64_t(first), C.int64_t(last), rows.c(), (*C.et_pack)(scratch)))
}

// Overlap is et_overlap of boxes with these lower and upper corners.
func Overlap(level int32, p *Points, lo, hi *[3][]float32, exclude, mask []uint32, rows *Rows) int {
	b := C.et_boxes{lo: [3]*C.float{f32(lo[0]), f32(lo[1]), f32(lo[2])}, hi: [3]*C.float{f32(hi[0]), f32(hi[1]), f32(hi[2])},
		exclude: u32(exclude), mask: u32(mask), n: C.int64_t(len(lo[0]))}
	return int(C.et_overlap(C.int32_t(level), p.c(), b, rows.c()))
}

// Rays is et_rays. All points at structs of RaySize bytes, and Spans at structs of SpanSize.
type Rays struct {
	All, Spans unsafe.Pointer
	SpanEnds   []uint32
	R2         []float32
}

func (r *Rays) c() C.et_rays {
	return C.et_rays{rays: (*C.et_ray)(r.All), span_ends: u32(r.SpanEnds), spans: (*C.et_span)(r.Spans), r2: f32(r.R2),
		n: C.int64_t(len(r.SpanEnds))}
}

// RayClosest is et_ray_closest.
func RayClosest(level int32, p *Points, r *Rays, slots []uint32, t []float32) {
	C.et_ray_closest(C.int32_t(level), p.c(), r.c(), u32(slots), f32(t))
}

// RayAll is et_ray_all.
func RayAll(level int32, p *Points, r *Rays, rows *Rows) int {
	return int(C.et_ray_all(C.int32_t(level), p.c(), r.c(), rows.c()))
}

// Live is et_live.
func Live(level int32, blocks unsafe.Pointer, points int, bitmap []uint64, live []uint16) {
	C.et_live(C.int32_t(level), (*C.et_block)(blocks), C.uint32_t(points), u64(bitmap), u16(live))
}

// KeepLive is et_keep_live.
func KeepLive(bitmap []uint64, rows *Rows) {
	C.et_keep_live(u64(bitmap), rows.c(), C.int64_t(len(rows.Ends)))
}

// Order is et_order of at least one row. It returns false if a slot is not below limit.
func Order(level int32, byDistance bool, limit int, rows *Rows, scratch []uint64) bool {
	return C.et_order(C.int32_t(level), flag(byDistance), C.uint32_t(limit), rows.c(), C.int64_t(len(rows.Ends)), u64(scratch)) == 0
}

// ScatterRows is et_scatter_rows.
func ScatterRows(from *Rows, number, offsets []uint32, to *Rows) int {
	return int(C.et_scatter_rows(from.c(), u32(number), C.int64_t(len(number)), u32(offsets), C.int64_t(len(offsets)), to.c()))
}

// Weigh is et_weigh of at least one row.
func Weigh(level int32, weight uint8, softening float32, radius []float32, ends []uint32, dist2, w []float32) {
	C.et_weigh(C.int32_t(level), C.int32_t(weight), C.float(softening), f32(radius), u32(ends), C.int64_t(len(ends)), f32(dist2), f32(w))
}

// RowSums is et_row_sums. Records, Own, Plain and Weighted point at structs of RecordSize bytes.
type RowSums struct {
	Records, Own, Plain, Weighted unsafe.Pointer
	Index, Ends                   []uint32
	Weights                       []float32
	Op                            uint8

	PlainValues, WeightedValues, PlainMeans, WeightedMeans uint8
}

// SumRows is et_sum_rows.
func SumRows(level int32, s *RowSums) {
	C.et_sum_rows(C.int32_t(level), C.et_row_sums{records: (*C.float)(s.Records), index: u32(s.Index), ends: u32(s.Ends),
		own: (*C.float)(s.Own), weights: f32(s.Weights), plain: (*C.float)(s.Plain), weighted: (*C.float)(s.Weighted),
		rows: C.int64_t(len(s.Ends)), op: C.int32_t(s.Op),
		plain_values: C.uint32_t(s.PlainValues), weighted_values: C.uint32_t(s.WeightedValues),
		plain_means: C.uint32_t(s.PlainMeans), weighted_means: C.uint32_t(s.WeightedMeans)})
}

// SomeColumns is et_some_columns.
type SomeColumns [C.ET_COLUMNS]unsafe.Pointer

func (c *SomeColumns) c() (columns C.et_some_columns) {
	for i, p := range c {
		columns.of[i] = (*C.float)(p)
	}
	return columns
}

// FillRecords is et_fill_records of slots first to last-1.
func FillRecords(from *SomeColumns, n int, none float32, place []uint32, first, last int, records unsafe.Pointer) {
	C.et_fill_records(from.c(), C.int32_t(n), C.float(none), u32(place), C.int64_t(first), C.int64_t(last), (*C.float)(records))
}

// SpreadRecords is et_spread_records of slots first to last-1.
func SpreadRecords(from, to *SomeColumns, n int, place []uint32, first, last int) {
	C.et_spread_records(from.c(), to.c(), C.int32_t(n), u32(place), C.int64_t(first), C.int64_t(last))
}
