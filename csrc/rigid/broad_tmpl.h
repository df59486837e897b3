#include "broad.h"
#include "broad_lanes.h"

#define INF __builtin_inff()

/* Columns of a grid that follow the bounds. */
enum { SHAPE = 4, FIRST_COLUMN = 5, LAST_COLUMN = 6 };

/* Columns of et_brute_force_row that follow the shape. */
enum { BODY = 5, MOVES = 6, KIND = 7, RANK_MOVING = 8, RANK_STATIONARY = 9, SPAN_MIN = 10, SPAN_MAX = 11 };

enum { DIGIT_BITS = 11 };

/* The search skips this many boxes at a time, so some unwanted boxes may precede the wanted ones; a vector has
 * room for both. */
#define SKIP(lanes) ((lanes) / 2 + ((lanes) == 1))

/* rigid.cell without a branch; NaN becomes 0. */
static inline __attribute__((always_inline)) uint32_t cell(float v, float least, float inv, int32_t n) {
	return (uint32_t)(int32_t)c_min(c_max((v - least) * inv, 0.0f), (float)(n - 1));
}

static inline __attribute__((always_inline)) uint32_t column_of(const et_layer *l, float x) {
	return cell(x, l->min_x, l->inv_x, l->columns);
}

static inline __attribute__((always_inline)) uint32_t row_of(const et_layer *l, float y) {
	return cell(y, l->min_y, l->inv_y, l->rows);
}

/* Rows [first, last] in which the boxes that reach into a range of heights can begin. */
typedef struct {
	uint32_t first, last;
} row_range;

static inline __attribute__((always_inline)) row_range rows_of(const et_layer *l, float y0, float y1) {
	const uint32_t first = row_of(l, y0);
	const row_range r = {first - (first < l->span_y ? first : l->span_y), row_of(l, y1)};
	return r;
}

/* The first row of a layer whose number is at least the given one. */
static inline uint32_t row_from(const et_grid *r, const et_layer *l, uint32_t number) {
	uint32_t a = l->first_row, b = l->last_row;
	while (a < b) {
		const uint32_t m = (a + b) / 2;
		if (r->row_number[m] < number)
			a = m + 1;
		else
			b = m;
	}
	return a;
}

/* The first place of a layer of one row whose column is at least the given one. */
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

/* The row that contains a place. */
static inline uint32_t row_of_place(const et_grid *r, const et_layer *l, uint32_t place) {
	uint32_t a = l->first_row, b = l->last_row;
	while (b - a > 1) {
		const uint32_t m = (a + b) / 2;
		if (r->row_start[m] <= place)
			a = m;
		else
			b = m;
	}
	return a;
}

/* The end of the next row up if it has boxes, else its beginning. */
static inline __attribute__((always_inline)) uint32_t next_row(const et_grid *r, const et_layer *l, uint32_t row) {
	const int there = row + 1 < l->last_row && r->row_number[row + 1] == r->row_number[row] + 1;
	return r->row_start[row + 1 + (uint32_t)there];
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

/* Appends the pairs of a box with those at places [j, end) whose columns are at most last. Returns the new fill. */
HELPER(LEVEL) int64_t compare(const V(box) *p, V(u) shape, const et_grid *t, uint32_t j, uint32_t end,
                              uint32_t last, const et_pairs *to, int64_t fill) {
	while (j < end) {
		V(mask) hit = V(overlap)((const float *)(const void *)t->columns + j, t->stride, p);
		if (__builtin_expect(end - j < V(LANES), 0))
			hit &= V(first)(end - j);
		const uint32_t n = V(count)(hit);
		const V(u) other = V(packu)(V(loadu)(t->columns + SHAPE * t->stride + j), hit);
		const V(u) low = V(minu)(shape, other), high = V(subu)(V(addu)(shape, other), low);
		V(putfew)(to->a + fill, to->b + fill, low, high, n);
		fill += n;
		j += V(LANES);
		if (j < end && t->columns[FIRST_COLUMN * t->stride + j] > last)
			break;
	}
	return fill;
}

KERNEL(uint32_t, search_layer, const et_grid *r, const et_layer *layer, uint32_t from, const et_pairs *to, int64_t *n) {
	const et_layer l = *layer;
	const et_grid s = *r;
	const float *const bounds = (const float *)(const void *)s.columns;
	const uint32_t *const begin = s.columns + FIRST_COLUMN * s.stride, *const until = s.columns + LAST_COLUMN * s.stride;
	int64_t fill = *n;
	uint32_t row = row_of_place(r, &l, from), i = from;
	uint32_t end = r->row_start[row + 1], after = end, after_end = next_row(r, &l, row);
	for (; i < l.last && fill <= to->n; i++) {
		if (i == end) {
			end = r->row_start[++row + 1];
			after = end;
			after_end = next_row(r, &l, row);
		}
		const V(box) p = V(boxat)(bounds + i, s.stride);
		const V(u) shape = V(set1u)(s.columns[SHAPE * s.stride + i]);
		const uint32_t first = begin[i], last = until[i];
		fill = compare(&p, shape, &s, i + 1, end, last, to, fill);
		while (after + SKIP(V(LANES)) < after_end && begin[after + SKIP(V(LANES)) - 1] + l.span_x < first)
			after += SKIP(V(LANES));
		fill = compare(&p, shape, &s, after, after_end, last, to, fill);
		if (l.span_y <= 1)
			continue;
		const uint32_t above = row_of(&l, bounds[3 * s.stride + i]);
		for (uint32_t k = row + 1 + (after_end > end); k < l.last_row && r->row_number[k] <= above; k++)
			fill = compare(&p, shape, &s, r->row_start[k], r->row_start[k + 1], last, to, fill);
	}
	*n = fill;
	return i;
}

KERNEL(uint32_t, search_rows, const et_grid *s, const et_grid *r, const et_layer *l, const et_layer *k, uint32_t from,
       const et_pairs *to, int64_t *n) {
	const et_grid t = *r;
	const float *const bounds = (const float *)(const void *)s->columns;
	int64_t fill = *n;
	uint32_t i = from;
	for (; i < l->last && fill <= to->n; i++) {
		const V(box) p = V(boxat)(bounds + i, s->stride);
		const V(u) shape = V(set1u)(s->columns[SHAPE * s->stride + i]);
		uint32_t j, end, last = UINT32_MAX;
		if (k->rows == 1) {
			const uint32_t first = column_of(k, bounds[i]);
			j = column_from(t.columns + FIRST_COLUMN * t.stride, k, first - (first < k->span_x ? first : k->span_x));
			end = k->last;
			last = column_of(k, bounds[2 * s->stride + i]);
		} else {
			const row_range reached = rows_of(k, bounds[s->stride + i], bounds[3 * s->stride + i]);
			j = r->row_start[row_from(r, k, reached.first)];
			end = r->row_start[row_from(r, k, reached.last + 1)];
		}
		fill = compare(&p, shape, &t, j, end, last, to, fill);
	}
	*n = fill;
	return i;
}

KERNEL(uint32_t, search_directory, const et_grid *s, const et_grid *other, const et_layer *l, const et_layer *layer,
       uint32_t from, const et_pairs *to, int64_t *n) {
	const et_layer k = *layer;
	const et_grid t = *other;
	const uint32_t *const directory = t.directory;
	const float *const bounds = (const float *)(const void *)s->columns;
	const uint32_t *const row_start = t.row_start, *const number = t.row_number, last_position = l->last;
	int64_t fill = *n;
	uint32_t i = from;
	for (; i < last_position && fill <= to->n; i++) {
		const V(box) p = V(boxat)(bounds + i, s->stride);
		const V(u) shape = V(set1u)(s->columns[SHAPE * s->stride + i]);
		const row_range reached = rows_of(&k, bounds[s->stride + i], bounds[3 * s->stride + i]);
		const uint32_t begin = column_of(&k, bounds[i]), last = column_of(&k, bounds[2 * s->stride + i]);
		const uint32_t first = begin - (begin < k.span_x ? begin : k.span_x);
		const uint32_t *const places = directory + k.fine + (first >> k.column_shift);
		uint32_t row = directory[k.rough + (reached.first >> k.row_shift)];
		for (; row < k.last_row && number[row] <= reached.last; row++) {
			if (number[row] < reached.first)
				continue;
			const uint32_t j = places[(row - k.first_row) * k.width];
			fill = compare(&p, shape, &t, j, row_start[row + 1], last, to, fill);
		}
	}
	*n = fill;
	return i;
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

KERNEL(int64_t, brute_force_row, uint32_t *columns, int64_t stride, int64_t n, int64_t i, const uint64_t *agree,
       const et_pair_limits *limits, uint32_t *to) {
	const uint32_t max_moving = limits->moving, max_stationary = limits->stationary, spanned = limits->spanned;
	const float *const x0 = (const float *)(const void *)columns;
	const float *const span_min = x0 + SPAN_MIN * stride, *const span_max = x0 + SPAN_MAX * stride;
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

#ifdef DISPATCH
void et_measure_boxes(int32_t level, et_boxes boxes, const uint64_t *members, int64_t lo, int64_t hi, uint32_t *ids, et_summary *sum) {
	DISPATCH(level, measure_boxes, &boxes, members, lo, hi, ids, sum);
}

uint32_t et_search_layer(int32_t level, et_grid s, const et_layer *l, uint32_t from, et_pairs to, int64_t *n) {
	return DISPATCH(level, search_layer, &s, l, from, &to, n);
}

uint32_t et_search_rows(int32_t level, et_grid s, et_grid t, const et_layer *l, const et_layer *k, uint32_t from, et_pairs to,
                        int64_t *n) {
	return DISPATCH(level, search_rows, &s, &t, l, k, from, &to, n);
}

uint32_t et_search_directory(int32_t level, et_grid s, et_grid t, const et_layer *l, const et_layer *k, uint32_t from,
                             et_pairs to, int64_t *n) {
	return DISPATCH(level, search_directory, &s, &t, l, k, from, &to, n);
}

int64_t et_brute_force_row(int32_t level, uint32_t *columns, int64_t stride, int64_t n, int64_t i, const uint64_t *agree,
                           et_pair_limits limits, uint32_t *to) {
	return DISPATCH(level, brute_force_row, columns, stride, n, i, agree, &limits, to);
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

uint32_t et_scatter_pairs(et_pairs from, uint32_t lo, uint32_t short_row, uint32_t *ends, int64_t n, et_pairs to) {
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
		if (ends[i] - begin <= short_row)
			insertion_sort(to.b + begin, ends[i] - begin);
		begin = ends[i];
	}
	return longest;
}

int64_t et_filter_spans(uint32_t *a, uint32_t *b, int64_t n, const float *span_min, const float *span_max) {
	int64_t kept = 0;
	for (int64_t i = 0; i < n; i++) {
		const uint32_t p = a[i], q = b[i];
		a[kept] = p;
		b[kept] = q;
		kept += (span_min[p] <= span_max[q]) & (span_min[q] <= span_max[p]);
	}
	return kept;
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
