#include "rigid_broad.h"
#include "rigid_broad_lanes.h"

#define INF __builtin_inff()

/* Sorted boxes, and the numbers of their columns behind those of the bounds. */
typedef struct {
	const uint32_t *columns;
	int64_t stride;
} set;

enum { SHAPE = 4, BEGIN = 5, UNTIL = 6 };

typedef struct {
	const uint32_t *start, *number;
} rows;

/* Boxes by shape. */
typedef struct {
	const float *x0, *y0, *x1, *y1;
} boxes;

typedef struct {
	uint32_t *a, *b;
	int64_t fill, room;
} found;

/* Columns of a crowd. */
enum { BODY = 5, MOVES = 6, KIND = 7, MET_MOVING = 8, MET_STILL = 9 };

enum { DIGIT_BITS = 11 };

/* A place is passed by with so many others, which leaves some of them in front of
 * those wanted; a vector has room for both. */
#define SKIP(lanes) ((lanes) / 2 + ((lanes) == 1))

/* rigid.cell without a branch: NaN becomes 0, too. */
static inline __attribute__((always_inline)) uint32_t cell(float v, float least, float inv, int32_t n) {
	return (uint32_t)(int32_t)c_min(c_max((v - least) * inv, 0.0f), (float)(n - 1));
}

static inline __attribute__((always_inline)) uint32_t column_of(const et_layer *l, float x) {
	return cell(x, l->min_x, l->inv_x, l->columns);
}

static inline __attribute__((always_inline)) uint32_t row_of(const et_layer *l, float y) {
	return cell(y, l->min_y, l->inv_y, l->rows);
}

/* Rows [first, last] in which boxes may begin that reach between two heights. */
typedef struct {
	uint32_t first, last;
} row_range;

static inline __attribute__((always_inline)) row_range rows_of(const et_layer *l, float y0, float y1) {
	const uint32_t first = row_of(l, y0);
	const row_range r = {first - (first < l->span_y ? first : l->span_y), row_of(l, y1)};
	return r;
}

/* The first row of a layer whose number is not lower. */
static inline uint32_t row_from(const rows *r, const et_layer *l, uint32_t number) {
	uint32_t a = l->row_first, b = l->row_last;
	while (a < b) {
		const uint32_t m = (a + b) / 2;
		if (r->number[m] < number)
			a = m + 1;
		else
			b = m;
	}
	return a;
}

/* The first place of a layer with one row whose column is not lower. */
static inline uint32_t column_from(const uint32_t *begin, const et_layer *l, uint32_t column) {
	uint32_t a = l->first, b = l->last;
	while (a < b) {
		const uint32_t m = (a + b) / 2;
		if (begin[m] < column)
			a = m + 1;
		else
			b = m;
	}
	return a;
}

/* The row of a place. */
static inline uint32_t row_of_place(const rows *r, const et_layer *l, uint32_t place) {
	uint32_t a = l->row_first, b = l->row_last;
	while (b - a > 1) {
		const uint32_t m = (a + b) / 2;
		if (r->start[m] <= place)
			a = m;
		else
			b = m;
	}
	return a;
}

/* The end of the row above, or the beginning if there are no boxes in it. */
static inline __attribute__((always_inline)) uint32_t next_row(const rows *r, const et_layer *l, uint32_t row) {
	const int there = row + 1 < l->row_last && r->number[row + 1] == r->number[row] + 1;
	return r->start[row + 1 + (uint32_t)there];
}

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

/* The lowest n bits that are set. */
static inline uint32_t lowest(uint32_t bits, uint32_t n) {
	uint32_t rest = bits;
	for (; n > 0 && rest != 0; n--)
		rest &= rest - 1;
	return bits ^ rest;
}

#define TEMPLATE "rigid_broad_tmpl.h"
#include "levels.h"

void et_broad_measure(int32_t level, const float *min_x, const float *min_y, const float *max_x, const float *max_y,
                      int64_t lo, int64_t hi, const uint64_t *which, uint32_t *ids, et_summary *sum) {
	const boxes b = {min_x, min_y, max_x, max_y};
	DISPATCH(level, broad_measure, &b, lo, hi, which, ids, sum);
}

uint32_t et_broad_sweep(int32_t level, const uint32_t *columns, int64_t stride, const uint32_t *row_start,
                        const uint32_t *row_number, const et_layer *l, uint32_t from, uint32_t *a, uint32_t *b,
                        int64_t *fill, int64_t room) {
	const set s = {columns, stride};
	const rows r = {row_start, row_number};
	found to = {a, b, *fill, room};
	const uint32_t at = DISPATCH(level, broad_sweep, &s, &r, l, from, &to);
	*fill = to.fill;
	return at;
}

uint32_t et_broad_span(int32_t level, const uint32_t *columns, int64_t stride, const uint32_t *others,
                       int64_t others_stride, const uint32_t *row_start, const uint32_t *row_number,
                       const et_layer *l, const et_layer *k, uint32_t from, uint32_t *a, uint32_t *b, int64_t *fill,
                       int64_t room) {
	const set s = {columns, stride}, t = {others, others_stride};
	const rows r = {row_start, row_number};
	found to = {a, b, *fill, room};
	const uint32_t at = DISPATCH(level, broad_span, &s, &t, &r, l, k, from, &to);
	*fill = to.fill;
	return at;
}

uint32_t et_broad_cross(int32_t level, const uint32_t *columns, int64_t stride, const uint32_t *others,
                        int64_t others_stride, const uint32_t *row_start, const uint32_t *row_number,
                        const uint32_t *directory, const et_layer *l, const et_layer *k, uint32_t from, uint32_t *a,
                        uint32_t *b, int64_t *fill, int64_t room) {
	const set s = {columns, stride}, t = {others, others_stride};
	const rows r = {row_start, row_number};
	found to = {a, b, *fill, room};
	const uint32_t at = DISPATCH(level, broad_cross, &s, &t, &r, directory, l, k, from, &to);
	*fill = to.fill;
	return at;
}

int64_t et_broad_crowd(int32_t level, uint32_t *columns, int64_t stride, int64_t n, int64_t i, const uint64_t *agree,
                       uint32_t most, uint32_t most_still, uint32_t *to) {
	return DISPATCH(level, broad_crowd, columns, stride, n, i, agree, most, most_still, to);
}

static inline uint64_t key_of(const et_layer *l, uint64_t layer, uint32_t id, float x, float y, uint32_t row_bits,
                              uint32_t column_bits) {
	return (layer << row_bits | row_of(l, y)) << (column_bits + ET_SHAPE_BITS) |
	       (uint64_t)column_of(l, x) << ET_SHAPE_BITS | id;
}

void et_broad_keys(const float *min_x, const float *min_y, const float *max_x, const float *max_y,
                   const uint32_t *ids, int64_t n, const et_layer *layers, const uint8_t *layer_of,
                   uint32_t row_bits, uint32_t column_bits, uint64_t *to) {
	if (!layer_of) {
		const et_layer one = layers[0]; /* a copy, which stores cannot change */
		for (int64_t i = 0; i < n; i++)
			to[i] = key_of(&one, 0, ids[i], min_x[ids[i]], min_y[ids[i]], row_bits, column_bits);
		return;
	}
	for (int64_t i = 0; i < n; i++) {
		const uint32_t id = ids[i];
		const float x = min_x[id], y = min_y[id];
		const uint32_t layer = layer_of[c_asu(c_max(max_x[id] - x, max_y[id] - y)) >> 23 & 255];
		to[i] = key_of(layers + layer, layer, id, x, y, row_bits, column_bits);
	}
}

int32_t et_broad_sort(uint64_t *keys, uint64_t *tmp, int64_t n, uint32_t count) {
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

void et_broad_count_keys(const uint64_t *keys, int64_t n, uint32_t shift, uint32_t *counts) {
	for (int64_t i = 0; i < n; i++)
		counts[keys[i] >> shift & (ET_PARTS - 1)]++;
}

void et_broad_spread(const uint64_t *keys, int64_t n, uint32_t shift, uint32_t *next, uint64_t *to) {
	for (int64_t i = 0; i < n; i++)
		to[next[keys[i] >> shift & (ET_PARTS - 1)]++] = keys[i];
}

int64_t et_broad_count_rows(const uint64_t *keys, int64_t n, uint32_t shift) {
	int64_t rows = n > 0;
	for (int64_t i = 1; i < n; i++)
		rows += (keys[i] ^ keys[i - 1]) >> shift != 0;
	return rows;
}

uint32_t et_broad_place(const float *min_x, const float *min_y, const float *max_x, const float *max_y,
                        const uint64_t *keys, int64_t lo, int64_t hi, uint32_t row_bits, uint32_t column_bits,
                        et_layer *layers, uint32_t *columns, int64_t stride, uint32_t *row_start,
                        uint32_t *row_number, uint32_t rows) {
	float *const to = (float *)(void *)columns;
	const uint32_t row_shift = column_bits + ET_SHAPE_BITS;
	uint64_t before = lo > 0 ? keys[lo - 1] >> row_shift : UINT64_MAX;
	for (int64_t i = lo; i < hi;) {
		const uint64_t layer = keys[i] >> row_shift >> row_bits;
		et_layer l = layers[layer];
		l.first = (uint32_t)i;
		l.row_first = rows;
		for (; i < hi && keys[i] >> row_shift >> row_bits == layer; i++) {
			const uint32_t id = keys[i] & (((uint32_t)1 << ET_SHAPE_BITS) - 1);
			const uint32_t column = (uint32_t)(keys[i] >> ET_SHAPE_BITS) & (((uint32_t)1 << column_bits) - 1);
			const uint32_t row = (uint32_t)(keys[i] >> row_shift) & (((uint32_t)1 << row_bits) - 1);
			const float x1 = max_x[id], y1 = max_y[id];
			const uint32_t until = column_of(&l, x1), above = row_of(&l, y1);
			to[i] = min_x[id];
			to[stride + i] = min_y[id];
			to[2 * stride + i] = x1;
			to[3 * stride + i] = y1;
			columns[SHAPE * stride + i] = id;
			columns[BEGIN * stride + i] = column;
			columns[UNTIL * stride + i] = until;
			if (keys[i] >> row_shift != before) {
				before = keys[i] >> row_shift;
				row_start[rows] = (uint32_t)i;
				row_number[rows] = row;
				rows++;
			}
			l.span_x = until - column > l.span_x ? until - column : l.span_x;
			l.span_y = above - row > l.span_y ? above - row : l.span_y;
		}
		l.last = (uint32_t)i;
		l.row_last = rows;
		layers[layer] = l;
	}
	return rows;
}

/* Sorts n numbers by insertion. */
static inline void insert(uint32_t *v, uint32_t n) {
	for (uint32_t i = 1; i < n; i++) {
		const uint32_t x = v[i];
		uint32_t k = i;
		for (; k > 0 && v[k - 1] > x; k--)
			v[k] = v[k - 1];
		v[k] = x;
	}
}

uint32_t et_broad_scatter(const uint32_t *a, const uint32_t *b, int64_t n, uint32_t lo, int64_t shapes, uint32_t short_row,
                          uint32_t *ends, uint32_t *to_a, uint32_t *to_b) {
	uint32_t longest = 0, sum = 0, begin = 0;
	memset(ends, 0, (size_t)shapes * sizeof *ends);
	for (int64_t i = 0; i < n; i++)
		ends[a[i] - lo]++;
	for (int64_t i = 0; i < shapes; i++) {
		const uint32_t c = ends[i];
		longest = c > longest ? c : longest;
		ends[i] = sum;
		sum += c;
	}
	for (int64_t i = 0; i < n; i++) {
		const uint32_t at = ends[a[i] - lo]++;
		to_a[at] = a[i];
		to_b[at] = b[i];
	}
	for (int64_t i = 0; i < shapes; i++) {
		if (ends[i] - begin <= short_row)
			insert(to_b + begin, ends[i] - begin);
		begin = ends[i];
	}
	return longest;
}

void et_broad_count(const uint32_t *a, int64_t n, uint32_t shift, uint32_t *counts) {
	for (int64_t i = 0; i < n; i++)
		counts[a[i] >> shift & (ET_PARTS - 1)]++;
}

void et_broad_divide(const uint32_t *a, const uint32_t *b, int64_t n, uint32_t shift, uint32_t *next, uint32_t *to_a,
                     uint32_t *to_b) {
	for (int64_t i = 0; i < n; i++) {
		const uint32_t at = next[a[i] >> shift & (ET_PARTS - 1)]++;
		to_a[at] = a[i];
		to_b[at] = b[i];
	}
}
