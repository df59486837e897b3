#include <string.h>

#include "broad.h"
#include "broad_lanes.h"
#include "cells.h"

/* Columns of et_brute_force_row that follow the shape. */
enum { BODY = 5, MOVES = 6, KIND = 7, RANK_MOVING = 8, RANK_STATIONARY = 9, OWN_SPAN_MIN = 10, OWN_SPAN_MAX = 11 };

/* The lowest n bits that are set. */
static inline uint32_t lowest(uint32_t bits, uint32_t n) {
	uint32_t rest = bits;
	for (; n > 0 && rest != 0; n--)
		rest &= rest - 1;
	return bits ^ rest;
}

KERNEL(int64_t, brute_force_row, uint32_t *columns, int64_t stride, int64_t n, int64_t i, const uint64_t *agree,
       const et_pair_limits *limits, uint32_t *to) {
	const uint32_t max_moving = limits->moving, max_stationary = limits->stationary, spanned = limits->spanned;
	const float *const x0 = (const float *)(const void *)columns;
	const float *const span_min = x0 + OWN_SPAN_MIN * stride, *const span_max = x0 + OWN_SPAN_MAX * stride;
	const V(f) own_min = V(set1)(spanned ? span_min[i] : 0), own_max = V(set1)(spanned ? span_max[i] : 0);
	const V(box) p = V(boxat)(x0 + i, stride);
	const uint32_t *const shape = columns + SHAPE * stride, *const body = columns + BODY * stride;
	const uint32_t *const moves = columns + MOVES * stride, *const kind = columns + KIND * stride;
	uint32_t *const rank = columns + (moves[i] ? RANK_MOVING : RANK_STATIONARY) * stride;
	const V(u) own = V(set1u)(body[i]), own_moves = V(set1u)(moves[i]), one = V(set1u)(1);
	int64_t kept = 0;
	/* How many more pairs are kept without a check of the other box: with boxes that move, and with others. */
	uint32_t left = max_moving, left_stationary = max_stationary;
	for (int64_t j = i + 1; j < n; j += V(LANES)) {
		V(mask) hit = V(overlap)(x0 + j, stride, &p) & V(first)((uint32_t)(n - j));
		if (!hit)
			continue;
		if (spanned)
			hit &= V(le)(V(load)(span_min + j), own_max) & V(le)(own_min, V(load)(span_max + j));
		const V(u) others = V(loadu)(moves + j);
		hit &= V(nequ)(V(loadu)(body + j), own) & V(anyu)(V(oru)(others, own_moves), one);
		hit &= V(member)(agree + kind[i], V(keepu)(V(loadu)(kind + j), hit));
		const V(u) before = V(loadu)(rank + j);
		const V(mask) moving = moves[i] ? hit & V(anyu)(others, one) : 0, stationary = hit & (V(mask))~moving;
		const V(mask) free = moving & (V(mask))lowest(moving, left);
		const V(mask) free_stationary = stationary & (V(mask))lowest(stationary, left_stationary);
		const V(mask) keep = free | free_stationary | (moving & V(gtu)(V(set1u)(max_moving), before)) |
		                     (stationary & V(gtu)(V(set1u)(max_stationary), before));
		left -= V(count)(free);
		left_stationary -= V(count)(free_stationary);
		V(storeu)(rank + j, V(addu)(before, V(keepu)(one, hit)));
		V(storeu)(to + kept, V(packu)(V(loadu)(shape + j), keep));
		kept += V(count)(keep);
	}
	return kept;
}

/* The longest row that counting sorts; longer ones are radix sorted, in linear time. */
enum { COUNTED_ROW = 64 };

/* Sorts a row of up to COUNTED_ROW shapes: the place of a shape is the number of smaller ones. */
HELPER(LEVEL) void count_row(uint32_t *row, uint32_t n) {
	uint32_t old[COUNTED_ROW] = {0}, place[COUNTED_ROW];
	memcpy(old, row, n * sizeof *row);
	for (uint32_t i = 0; i < n; i += V(LANES)) {
		const V(u) own = V(loadu)(old + i);
		V(u) smaller = V(set1u)(0);
		for (uint32_t j = 0; j < n; j++)
			smaller = V(tally)(smaller, own, V(set1u)(old[j]));
		V(storeu)(place + i, smaller);
	}
	for (uint32_t i = 0; i < n; i++)
		row[place[i]] = old[i];
}

/* Sorts shapes by their bytes, least significant first, and leaves out those above the highest bit of any. */
static __attribute__((noinline)) void radix_row(uint32_t *row, uint32_t *tmp, uint32_t n) {
	uint32_t *from = row, *to = tmp, all = 0;
	for (uint32_t i = 0; i < n; i++)
		all |= row[i];
	for (uint32_t shift = 0; shift < 32 && all >> shift != 0; shift += 8) {
		uint32_t next[256] = {0}, sum = 0;
		for (uint32_t i = 0; i < n; i++)
			next[from[i] >> shift & 255]++;
		for (uint32_t d = 0; d < 256; d++) {
			const uint32_t c = next[d];
			next[d] = sum;
			sum += c;
		}
		for (uint32_t i = 0; i < n; i++)
			to[next[from[i] >> shift & 255]++] = from[i];
		uint32_t *const swap = from;
		from = to;
		to = swap;
	}
	if (from != row)
		memcpy(row, from, n * sizeof *row);
}

KERNEL(void, sort_pair_rows, const uint32_t *ends, int64_t n, uint32_t *b, uint32_t *tmp) {
	uint32_t begin = 0;
	for (int64_t i = 0; i < n; i++) {
		const uint32_t count = ends[i] - begin;
		if (count > COUNTED_ROW)
			radix_row(b + begin, tmp, count);
		else if (count > ET_SHORT_ROW)
			count_row(b + begin, count);
		begin = ends[i];
	}
}

#ifdef DISPATCH
int64_t et_brute_force_row(int32_t level, uint32_t *columns, int64_t stride, int64_t n, int64_t i, const uint64_t *agree,
                           et_pair_limits limits, uint32_t *to) {
	return DISPATCH(level, brute_force_row, columns, stride, n, i, agree, &limits, to);
}

/* Sorts n numbers by insertion. */
static inline void insertion_sort(uint32_t *v, uint32_t n) {
	for (uint32_t i = 1; i < n; i++) {
		const uint32_t x = v[i];
		uint32_t k = i;
		for (; k > 0 && v[k - 1] > x; k--)
			v[k] = v[k - 1];
		v[k] = x;
	}
}

uint32_t et_scatter_pairs(et_pairs from, uint32_t lo, uint32_t *ends, int64_t n, et_pairs to) {
	uint32_t longest = 0, sum = 0, begin = 0;
	memset(ends, 0, (size_t)n * sizeof *ends);
	for (int64_t i = 0; i < from.n; i++)
		ends[from.a[i] - lo]++;
	for (int64_t i = 0; i < n; i++) {
		const uint32_t c = ends[i];
		longest = c > longest ? c : longest;
		ends[i] = sum;
		sum += c;
	}
	for (int64_t i = 0; i < from.n; i++) {
		const uint32_t at = ends[from.a[i] - lo]++;
		to.a[at] = from.a[i];
		to.b[at] = from.b[i];
	}
	for (int64_t i = 0; i < n; i++) {
		if (ends[i] - begin <= ET_SHORT_ROW)
			insertion_sort(to.b + begin, ends[i] - begin);
		begin = ends[i];
	}
	return longest;
}

void et_sort_pair_rows(int32_t level, const uint32_t *ends, int64_t n, uint32_t *b, uint32_t *tmp) {
	DISPATCH(level, sort_pair_rows, ends, n, b, tmp);
}

void et_count_pairs(const uint32_t *a, int64_t n, uint32_t shift, uint32_t *counts) {
	for (int64_t i = 0; i < n; i++)
		counts[a[i] >> shift & (ET_PARTS - 1)]++;
}

void et_partition(et_pairs from, uint32_t shift, uint32_t *next, et_pairs to) {
	for (int64_t i = 0; i < from.n; i++) {
		const uint32_t at = next[from.a[i] >> shift & (ET_PARTS - 1)]++;
		to.a[at] = from.a[i];
		to.b[at] = from.b[i];
	}
}
#endif
