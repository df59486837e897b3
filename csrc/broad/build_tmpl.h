#include <string.h>

#include "broad.h"
#include "broad_lanes.h"
#include "cells.h"

#define INF __builtin_inff()

static inline float least_of(const float *v, int32_t n) {
	float least = v[0];
	for (int32_t i = 1; i < n; i++)
		least = c_min(v[i], least);
	return least;
}

static inline float most_of(const float *v, int32_t n) {
	float most = v[0];
	for (int32_t i = 1; i < n; i++)
		most = c_max(v[i], most);
	return most;
}

KERNEL(void, measure_boxes, const et_boxes *boxes, const uint64_t *members, int64_t lo, int64_t n, uint32_t *ids,
       et_summary *sum) {
	const et_boxes b = *boxes;
	const V(f) zero = V(set1)(0), inf = V(set1)(INF), minus_inf = V(set1)(-INF);
	V(f) min_x = inf, min_y = inf, max_x = minus_inf, max_y = minus_inf, smallest = inf;
	V(f) width = zero, height = zero, largest = zero;
	uint32_t count = 0;
	for (int64_t i = lo; i < n; i += V(LANES)) {
		V(f) x0, y0, x1, y1;
		if (n - i >= V(LANES)) {
			x0 = V(load)(b.min_x + i), y0 = V(load)(b.min_y + i), x1 = V(load)(b.max_x + i), y1 = V(load)(b.max_y + i);
		} else {
			float part[4][V(LANES)];
			for (int64_t k = 0; k < V(LANES); k++) {
				const int64_t at = i + k < n ? i + k : n - 1;
				part[0][k] = b.min_x[at], part[1][k] = b.min_y[at], part[2][k] = b.max_x[at], part[3][k] = b.max_y[at];
			}
			x0 = V(load)(part[0]), y0 = V(load)(part[1]), x1 = V(load)(part[2]), y1 = V(load)(part[3]);
		}
		const V(mask) in = V(proper)(x0, y0, x1, y1) & (V(mask))(members[i / 64] >> i % 64) & V(first)((uint32_t)(n - i));
		const V(f) w = V(sub)(x1, x0), h = V(sub)(y1, y0), size = V(max)(w, h);
		V(storeu)(ids + count, V(packu)(V(ramp)((uint32_t)i), in));
		count += V(count)(in);
		min_x = V(select)(in, V(min)(x0, min_x), min_x);
		min_y = V(select)(in, V(min)(y0, min_y), min_y);
		max_x = V(select)(in, V(max)(x1, max_x), max_x);
		max_y = V(select)(in, V(max)(y1, max_y), max_y);
		width = V(select)(in, V(max)(w, width), width);
		height = V(select)(in, V(max)(h, height), height);
		largest = V(select)(in, V(max)(size, largest), largest);
		smallest = V(select)(in, V(min)(size, smallest), smallest);
	}
	float lanes[8][V(LANES)];
	V(store)(lanes[0], min_x), V(store)(lanes[1], min_y), V(store)(lanes[2], max_x), V(store)(lanes[3], max_y);
	V(store)(lanes[4], width), V(store)(lanes[5], height), V(store)(lanes[6], smallest), V(store)(lanes[7], largest);
	*sum = (et_summary){count, 0, least_of(lanes[0], V(LANES)), least_of(lanes[1], V(LANES)), most_of(lanes[2], V(LANES)),
	                    most_of(lanes[3], V(LANES)), most_of(lanes[4], V(LANES)), most_of(lanes[5], V(LANES)),
	                    least_of(lanes[6], V(LANES)), most_of(lanes[7], V(LANES))};
}

#ifdef DISPATCH
enum { DIGIT_BITS = 11 };

void et_measure_boxes(int32_t level, et_boxes boxes, const uint64_t *members, int64_t lo, int64_t hi, uint32_t *ids, et_summary *sum) {
	DISPATCH(level, measure_boxes, &boxes, members, lo, hi, ids, sum);
}

static inline uint64_t key_of(const et_layer *l, uint64_t layer, uint32_t id, float x, float y, et_key_bits bits) {
	return (layer << bits.row | row_of(l, y)) << (bits.column + ET_SHAPE_BITS) |
	       (uint64_t)column_of(l, x) << ET_SHAPE_BITS | id;
}

void et_make_keys(et_boxes b, et_key_bits bits, const uint8_t *layer_of, const uint32_t *ids, int64_t n,
                  const et_layer *layers, uint64_t *to) {
	if (!layer_of) {
		const et_layer one = layers[0]; /* a copy, which stores cannot change */
		for (int64_t i = 0; i < n; i++)
			to[i] = key_of(&one, 0, ids[i], b.min_x[ids[i]], b.min_y[ids[i]], bits);
		return;
	}
	for (int64_t i = 0; i < n; i++) {
		const uint32_t id = ids[i];
		const float x = b.min_x[id], y = b.min_y[id];
		const uint32_t layer = layer_of[c_asu(c_max(b.max_x[id] - x, b.max_y[id] - y)) >> 23 & 255];
		to[i] = key_of(layers + layer, layer, id, x, y, bits);
	}
}

int32_t et_sort_keys(uint64_t *keys, uint64_t *tmp, int64_t n, uint32_t count) {
	const uint32_t passes = (count + DIGIT_BITS - 1) / DIGIT_BITS;
	for (uint32_t p = 0; p < passes; p++) {
		const uint32_t from = ET_SHAPE_BITS + p * count / passes, to = ET_SHAPE_BITS + (p + 1) * count / passes;
		const uint32_t digits = (uint32_t)1 << (to - from);
		uint32_t first[1 << DIGIT_BITS], sum = 0;
		memset(first, 0, digits * sizeof *first);
		for (int64_t i = 0; i < n; i++)
			first[keys[i] >> from & (digits - 1)]++;
		for (uint32_t d = 0; d < digits; d++) {
			const uint32_t c = first[d];
			first[d] = sum;
			sum += c;
		}
		for (int64_t i = 0; i < n; i++)
			tmp[first[keys[i] >> from & (digits - 1)]++] = keys[i];
		uint64_t *const swap = keys;
		keys = tmp;
		tmp = swap;
	}
	return passes & 1;
}

void et_count_keys(const uint64_t *keys, int64_t n, uint32_t shift, uint32_t *counts) {
	for (int64_t i = 0; i < n; i++)
		counts[keys[i] >> shift & (ET_PARTS - 1)]++;
}

void et_scatter_keys(const uint64_t *keys, int64_t n, uint32_t shift, uint32_t *next, uint64_t *to) {
	for (int64_t i = 0; i < n; i++)
		to[next[keys[i] >> shift & (ET_PARTS - 1)]++] = keys[i];
}

int64_t et_count_rows(const uint64_t *keys, int64_t n, uint32_t shift) {
	int64_t rows = n > 0;
	for (int64_t i = 1; i < n; i++)
		rows += (keys[i] ^ keys[i - 1]) >> shift != 0;
	return rows;
}

uint32_t et_fill_rows(et_boxes boxes, et_key_bits bits, const uint64_t *keys, et_grid s, int64_t lo, int64_t hi, uint32_t rows,
                      et_layer *layers) {
	uint32_t *const columns = s.columns;
	const int64_t stride = s.stride;
	float *const to = (float *)(void *)columns;
	const uint32_t row_shift = bits.column + ET_SHAPE_BITS;
	uint64_t before = lo > 0 ? keys[lo - 1] >> row_shift : UINT64_MAX;
	for (int64_t i = lo; i < hi;) {
		const uint64_t layer = keys[i] >> row_shift >> bits.row;
		et_layer l = layers[layer];
		l.first = (uint32_t)i;
		l.first_row = rows;
		for (; i < hi && keys[i] >> row_shift >> bits.row == layer; i++) {
			const uint32_t id = keys[i] & (((uint32_t)1 << ET_SHAPE_BITS) - 1);
			const uint32_t column = (uint32_t)(keys[i] >> ET_SHAPE_BITS) & (((uint32_t)1 << bits.column) - 1);
			const uint32_t row = (uint32_t)(keys[i] >> row_shift) & (((uint32_t)1 << bits.row) - 1);
			const float x1 = boxes.max_x[id], y1 = boxes.max_y[id];
			const uint32_t last_column = column_of(&l, x1), above = row_of(&l, y1);
			to[i] = boxes.min_x[id];
			to[stride + i] = boxes.min_y[id];
			to[2 * stride + i] = x1;
			to[3 * stride + i] = y1;
			columns[SHAPE * stride + i] = id;
			columns[FIRST_COLUMN * stride + i] = column;
			columns[LAST_COLUMN * stride + i] = last_column;
			if (boxes.span_min) {
				to[SPAN_MIN * stride + i] = boxes.span_min[id];
				to[SPAN_MAX * stride + i] = boxes.span_max[id];
			}
			if (keys[i] >> row_shift != before) {
				before = keys[i] >> row_shift;
				s.row_start[rows] = (uint32_t)i;
				s.row_number[rows] = row;
				rows++;
			}
			l.span_x = last_column - column > l.span_x ? last_column - column : l.span_x;
			l.span_y = above - row > l.span_y ? above - row : l.span_y;
		}
		l.last = (uint32_t)i;
		l.last_row = rows;
		layers[layer] = l;
	}
	return rows;
}
#endif
