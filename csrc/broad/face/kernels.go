//go:build cgo && !purego && !386 && !arm && !mips && !mipsle

package face

/*
#cgo noescape et_measure_boxes
#cgo nocallback et_measure_boxes
#cgo noescape et_make_keys
#cgo nocallback et_make_keys
#cgo noescape et_sort_keys
#cgo nocallback et_sort_keys
#cgo noescape et_count_keys
#cgo nocallback et_count_keys
#cgo noescape et_scatter_keys
#cgo nocallback et_scatter_keys
#cgo noescape et_count_rows
#cgo nocallback et_count_rows
#cgo noescape et_fill_rows
#cgo nocallback et_fill_rows
#cgo noescape et_search_layer
#cgo nocallback et_search_layer
#cgo noescape et_search_rows
#cgo nocallback et_search_rows
#cgo noescape et_search_directory
#cgo nocallback et_search_directory
#cgo noescape et_brute_force_row
#cgo nocallback et_brute_force_row
#cgo noescape et_scatter_pairs
#cgo nocallback et_scatter_pairs
#cgo noescape et_sort_pair_rows
#cgo nocallback et_sort_pair_rows
#cgo noescape et_count_pairs
#cgo nocallback et_count_pairs
#cgo noescape et_partition
#cgo nocallback et_partition
#include "../broad.h"
*/
import "C"

import "unsafe"

// The kernels, as broad.h describes them. Layers and summaries are structs of the sizes above.

func Measure(level int32, b *Boxes, members []uint64, lo, hi int, ids []uint32, sum unsafe.Pointer) {
	C.et_measure_boxes(C.int32_t(level), *b, u64(members), C.int64_t(lo), C.int64_t(hi), u32(ids), (*C.et_summary)(sum))
}

func MakeKeys(b *Boxes, bits KeyBits, layerOf []uint8, ids []uint32, layers unsafe.Pointer, to []uint64) {
	C.et_make_keys(*b, bits.c(), (*C.uint8_t)(unsafe.SliceData(layerOf)), u32(ids), C.int64_t(len(ids)),
		(*C.et_layer)(layers), u64(to))
}

// KeyBits are the numbers of bits of a row and of a column in a key.
type KeyBits struct{ Row, Column uint }

func (k KeyBits) c() C.et_key_bits {
	return C.et_key_bits{row: C.uint32_t(k.Row), column: C.uint32_t(k.Column)}
}

func SortKeys(keys, tmp []uint64, count uint) (inTmp bool) {
	return C.et_sort_keys(u64(keys), u64(tmp), C.int64_t(len(keys)), C.uint32_t(count)) != 0
}

func CountKeys(keys []uint64, shift uint, counts []uint32) {
	C.et_count_keys(u64(keys), C.int64_t(len(keys)), C.uint32_t(shift), u32(counts))
}

func ScatterKeys(keys []uint64, shift uint, next []uint32, to []uint64) {
	C.et_scatter_keys(u64(keys), C.int64_t(len(keys)), C.uint32_t(shift), u32(next), u64(to))
}

func CountRows(keys []uint64, shift uint) int {
	return int(C.et_count_rows(u64(keys), C.int64_t(len(keys)), C.uint32_t(shift)))
}

func FillRows(b *Boxes, bits KeyBits, keys []uint64, s *Grid, lo, hi, rows int, layers unsafe.Pointer) int {
	return int(C.et_fill_rows(*b, bits.c(), u64(keys), *s, C.int64_t(lo), C.int64_t(hi), C.uint32_t(rows),
		(*C.et_layer)(layers)))
}

func SearchLayer(level int32, s *Grid, l unsafe.Pointer, from uint32, to *Pairs, n int) (uint32, int) {
	fill := C.int64_t(n)
	at := C.et_search_layer(C.int32_t(level), *s, (*C.et_layer)(l), C.uint32_t(from), *to, &fill)
	return uint32(at), int(fill)
}

func SearchRows(level int32, s, t *Grid, l, k unsafe.Pointer, from uint32, to *Pairs, n int) (uint32, int) {
	fill := C.int64_t(n)
	at := C.et_search_rows(C.int32_t(level), *s, *t, (*C.et_layer)(l), (*C.et_layer)(k), C.uint32_t(from), *to, &fill)
	return uint32(at), int(fill)
}

func SearchDirectory(level int32, s, t *Grid, l, k unsafe.Pointer, from uint32, to *Pairs, n int) (uint32, int) {
	fill := C.int64_t(n)
	at := C.et_search_directory(C.int32_t(level), *s, *t, (*C.et_layer)(l), (*C.et_layer)(k), C.uint32_t(from), *to, &fill)
	return uint32(at), int(fill)
}

// PairLimits are those of et_brute_force_row.
type PairLimits struct{ Moving, Stationary, Spanned uint32 }

func BruteForceRow(level int32, columns []uint32, stride, n, i int, agree []uint64, limits PairLimits, to []uint32) int {
	return int(C.et_brute_force_row(C.int32_t(level), u32(columns), C.int64_t(stride), C.int64_t(n), C.int64_t(i), u64(agree),
		C.et_pair_limits{moving: C.uint32_t(limits.Moving), stationary: C.uint32_t(limits.Stationary), spanned: C.uint32_t(limits.Spanned)}, u32(to)))
}

func ScatterPairs(from *Pairs, lo uint32, ends []uint32, to *Pairs) uint32 {
	return uint32(C.et_scatter_pairs(*from, C.uint32_t(lo), u32(ends), C.int64_t(len(ends)), *to))
}

func SortPairRows(level int32, ends, b, tmp []uint32) {
	C.et_sort_pair_rows(C.int32_t(level), u32(ends), C.int64_t(len(ends)), u32(b), u32(tmp))
}

func CountPairs(a []uint32, shift uint, counts []uint32) {
	C.et_count_pairs(u32(a), C.int64_t(len(a)), C.uint32_t(shift), u32(counts))
}

func Partition(from *Pairs, shift uint, next []uint32, to *Pairs) {
	C.et_partition(*from, C.uint32_t(shift), u32(next), *to)
}
