//go:build cgo

package rigid

/*
#cgo noescape et_rigid_bounds
#cgo nocallback et_rigid_bounds
#cgo noescape et_broad_measure
#cgo nocallback et_broad_measure
#cgo noescape et_broad_keys
#cgo nocallback et_broad_keys
#cgo noescape et_broad_sort
#cgo nocallback et_broad_sort
#cgo noescape et_broad_place
#cgo nocallback et_broad_place
#cgo noescape et_broad_sweep
#cgo nocallback et_broad_sweep
#cgo noescape et_broad_span
#cgo nocallback et_broad_span
#cgo noescape et_broad_cross
#cgo nocallback et_broad_cross
#cgo noescape et_broad_crowd
#cgo nocallback et_broad_crowd
#cgo noescape et_broad_scatter
#cgo nocallback et_broad_scatter
#cgo noescape et_broad_count_keys
#cgo nocallback et_broad_count_keys
#cgo noescape et_broad_spread
#cgo nocallback et_broad_spread
#cgo noescape et_broad_count_rows
#cgo nocallback et_broad_count_rows
#cgo noescape et_broad_count
#cgo nocallback et_broad_count
#cgo noescape et_broad_divide
#cgo nocallback et_broad_divide
#include "bounds.h"
#include "broad.h"
*/
import "C"

import "unsafe"

// Sizes of the C structs behind layers and summaries, in bytes.
const (
	LayerSize   = C.sizeof_et_layer
	SummarySize = C.sizeof_et_summary
)

// Constants of the broad phase that Go knows as well.
const (
	BroadShapeBits = C.ET_SHAPE_BITS
	BroadPadding   = C.ET_BROAD_PADDING
	BroadLayers    = C.ET_LAYERS
	BroadParts     = C.ET_PARTS
)

// RigidBounds computes the boxes of shapes, as bounds.h says of
// et_rigid_bounds; shapes points at ShapeSize bytes each.
func RigidBounds(level int32, shapes unsafe.Pointer, body []uint32, x, y, cos, sin []float32, margin float32,
	minX, minY, maxX, maxY []float32) int {
	return int(C.et_rigid_bounds(C.int32_t(level), (*C.et_shape)(shapes), u32(body), C.int64_t(len(body)),
		f32(x), f32(y), f32(cos), f32(sin), C.int64_t(len(x)), C.float(margin), f32(minX), f32(minY), f32(maxX), f32(maxY)))
}

// BroadMeasure lists shapes and sums their boxes up, as broad.h says of
// et_broad_measure; sum points at SummarySize bytes.
func BroadMeasure(level int32, minX, minY, maxX, maxY []float32, lo, hi int, which []uint64, ids []uint32, sum unsafe.Pointer) {
	C.et_broad_measure(C.int32_t(level), f32(minX), f32(minY), f32(maxX), f32(maxY), C.int64_t(lo), C.int64_t(hi),
		u64(which), u32(ids), (*C.et_summary)(sum))
}

// BroadKeys makes keys, as broad.h says of et_broad_keys; layers points at
// LayerSize bytes each. A nil layerOf is passed as NULL.
func BroadKeys(minX, minY, maxX, maxY []float32, ids []uint32, layers unsafe.Pointer, layerOf []uint8,
	rowBits, columnBits uint, to []uint64) {
	C.et_broad_keys(f32(minX), f32(minY), f32(maxX), f32(maxY), u32(ids), C.int64_t(len(ids)), (*C.et_layer)(layers),
		(*C.uint8_t)(unsafe.SliceData(layerOf)), C.uint32_t(rowBits), C.uint32_t(columnBits), u64(to))
}

// BroadSort sorts keys, as broad.h says of et_broad_sort, and returns true if
// tmp holds the result.
func BroadSort(keys, tmp []uint64, count uint) bool {
	return C.et_broad_sort(u64(keys), u64(tmp), C.int64_t(len(keys)), C.uint32_t(count)) != 0
}

// BroadPlace fills in sorted boxes, as broad.h says of et_broad_place, and returns
// the number of rows; layers points at LayerSize bytes each.
func BroadPlace(minX, minY, maxX, maxY []float32, keys []uint64, lo, hi int, rowBits, columnBits uint, layers unsafe.Pointer,
	columns []uint32, stride int, rowStart, rowNumber []uint32, rows int) int {
	return int(C.et_broad_place(f32(minX), f32(minY), f32(maxX), f32(maxY), u64(keys), C.int64_t(lo), C.int64_t(hi),
		C.uint32_t(rowBits), C.uint32_t(columnBits), (*C.et_layer)(layers), u32(columns), C.int64_t(stride),
		u32(rowStart), u32(rowNumber), C.uint32_t(rows)))
}

// BroadSet are sorted boxes with their rows and directory, as broad.h describes
// them.
type BroadSet struct {
	Columns                        []uint32
	Stride                         int
	RowStart, RowNumber, Directory []uint32
}

// BroadSweep finds pairs within a layer, as broad.h says of et_broad_sweep; layer
// points at LayerSize bytes. It returns the next place and the fill.
func BroadSweep(level int32, s *BroadSet, layer unsafe.Pointer, from uint32, a, b []uint32, fill, room int) (uint32, int) {
	n := C.int64_t(fill)
	at := C.et_broad_sweep(C.int32_t(level), u32(s.Columns), C.int64_t(s.Stride), u32(s.RowStart), u32(s.RowNumber),
		(*C.et_layer)(layer), C.uint32_t(from), u32(a), u32(b), &n, C.int64_t(room))
	return uint32(at), int(n)
}

// BroadSpan finds pairs of boxes of two layers, as broad.h says of et_broad_span.
func BroadSpan(level int32, s, t *BroadSet, layer, other unsafe.Pointer, from uint32, a, b []uint32, fill, room int) (uint32, int) {
	n := C.int64_t(fill)
	at := C.et_broad_span(C.int32_t(level), u32(s.Columns), C.int64_t(s.Stride), u32(t.Columns), C.int64_t(t.Stride),
		u32(t.RowStart), u32(t.RowNumber), (*C.et_layer)(layer), (*C.et_layer)(other), C.uint32_t(from),
		u32(a), u32(b), &n, C.int64_t(room))
	return uint32(at), int(n)
}

// BroadCross finds pairs of boxes of two layers by a directory, as broad.h says
// of et_broad_cross.
func BroadCross(level int32, s, t *BroadSet, layer, other unsafe.Pointer, from uint32, a, b []uint32, fill, room int) (uint32, int) {
	n := C.int64_t(fill)
	at := C.et_broad_cross(C.int32_t(level), u32(s.Columns), C.int64_t(s.Stride), u32(t.Columns), C.int64_t(t.Stride),
		u32(t.RowStart), u32(t.RowNumber), u32(t.Directory), (*C.et_layer)(layer), (*C.et_layer)(other), C.uint32_t(from),
		u32(a), u32(b), &n, C.int64_t(room))
	return uint32(at), int(n)
}

// BroadScatter puts pairs in order, as broad.h says of et_broad_scatter.
func BroadScatter(a, b []uint32, shortRow int, lo uint32, ends, toA, toB []uint32) uint32 {
	return uint32(C.et_broad_scatter(u32(a), u32(b), C.int64_t(len(a)), C.uint32_t(lo), C.int64_t(len(ends)), C.uint32_t(shortRow),
		u32(ends), u32(toA), u32(toB)))
}

// BroadCrowd finds the pairs of box i among n with those behind it, as broad.h
// says of et_broad_crowd, and returns their number.
func BroadCrowd(level int32, columns []uint32, stride, n, i int, agree []uint64, most, mostStill uint32, to []uint32) int {
	return int(C.et_broad_crowd(C.int32_t(level), u32(columns), C.int64_t(stride), C.int64_t(n), C.int64_t(i),
		u64(agree), C.uint32_t(most), C.uint32_t(mostStill), u32(to)))
}

// BroadCountKeys counts keys, as broad.h says of et_broad_count_keys.
func BroadCountKeys(keys []uint64, shift uint, counts []uint32) {
	C.et_broad_count_keys(u64(keys), C.int64_t(len(keys)), C.uint32_t(shift), u32(counts))
}

// BroadSpread divides keys, as broad.h says of et_broad_spread.
func BroadSpread(keys []uint64, shift uint, next []uint32, to []uint64) {
	C.et_broad_spread(u64(keys), C.int64_t(len(keys)), C.uint32_t(shift), u32(next), u64(to))
}

// BroadCountRows counts rows, as broad.h says of et_broad_count_rows.
func BroadCountRows(keys []uint64, shift uint) int {
	return int(C.et_broad_count_rows(u64(keys), C.int64_t(len(keys)), C.uint32_t(shift)))
}

// BroadCount counts shapes, as broad.h says of et_broad_count.
func BroadCount(a []uint32, shift uint, counts []uint32) {
	C.et_broad_count(u32(a), C.int64_t(len(a)), C.uint32_t(shift), u32(counts))
}

// BroadDivide divides pairs, as broad.h says of et_broad_divide.
func BroadDivide(a, b []uint32, shift uint, next, toA, toB []uint32) {
	C.et_broad_divide(u32(a), u32(b), C.int64_t(len(a)), C.uint32_t(shift), u32(next), u32(toA), u32(toB))
}
