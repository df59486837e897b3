#include "broad.h"
#include "broad_lanes.h"
#include "cells.h"

/* The search skips this many boxes at a time, so some unwanted boxes may precede the wanted ones; a vector has
 * room for both. */
#define SKIP(lanes) ((lanes) / 2 + ((lanes) == 1))

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

/* A box of one grid that looks for those of another, or of its own. */
typedef struct {
	V(box) box;
	V(span) span;
	V(u) shape;
} V(seeker);

/* The box at a place. spanned is a constant: the code without intervals does not test for them. */
HELPER(LEVEL) V(seeker) seeker_at(const et_grid *s, uint32_t i, const int spanned) {
	const float *const bounds = (const float *)(const void *)s->columns;
	V(seeker) p;
	p.box = V(boxat)(bounds + i, s->stride);
	if (spanned)
		p.span = V(spanat)(bounds + SPAN_MIN * s->stride + i, s->stride);
	p.shape = V(set1u)(s->columns[SHAPE * s->stride + i]);
	return p;
}

/* Appends the pairs of a box with those at places [j, end) whose columns are at most last. Returns the new fill. */
HELPER(LEVEL) int64_t compare(const V(seeker) *p, const et_grid *t, uint32_t j, uint32_t end, uint32_t last,
                              const et_pairs *to, int64_t fill, const int spanned) {
	const float *const bounds = (const float *)(const void *)t->columns;
	while (j < end) {
		V(mask) hit = V(overlap)(bounds + j, t->stride, &p->box);
		if (spanned)
			hit = V(meet)(hit, bounds + SPAN_MIN * t->stride + j, t->stride, &p->span);
		if (__builtin_expect(end - j < V(LANES), 0))
			hit &= V(first)(end - j);
		const uint32_t n = V(count)(hit);
		const V(u) other = V(packu)(V(loadu)(t->columns + SHAPE * t->stride + j), hit);
		const V(u) low = V(minu)(p->shape, other), high = V(subu)(V(addu)(p->shape, other), low);
		V(putfew)(to->a + fill, to->b + fill, low, high, n);
		fill += n;
		j += V(LANES);
		if (j < end && t->columns[FIRST_COLUMN * t->stride + j] > last)
			break;
	}
	return fill;
}

HELPER(LEVEL) uint32_t layer_by(const et_grid *r, const et_layer *layer, uint32_t from, const et_pairs *to, int64_t *n, const int spanned) {
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
		const V(seeker) p = seeker_at(&s, i, spanned);
		const uint32_t first = begin[i], last = until[i];
		fill = compare(&p, &s, i + 1, end, last, to, fill, spanned);
		while (after + SKIP(V(LANES)) < after_end && begin[after + SKIP(V(LANES)) - 1] + l.span_x < first)
			after += SKIP(V(LANES));
		fill = compare(&p, &s, after, after_end, last, to, fill, spanned);
		if (l.span_y <= 1)
			continue;
		const uint32_t above = row_of(&l, bounds[3 * s.stride + i]);
		for (uint32_t k = row + 1 + (after_end > end); k < l.last_row && r->row_number[k] <= above; k++)
			fill = compare(&p, &s, r->row_start[k], r->row_start[k + 1], last, to, fill, spanned);
	}
	*n = fill;
	return i;
}

KERNEL(uint32_t, search_layer, const et_grid *r, const et_layer *layer, uint32_t from, const et_pairs *to, int64_t *n) {
	return r->spanned ? layer_by(r, layer, from, to, n, 1) : layer_by(r, layer, from, to, n, 0);
}

HELPER(LEVEL) uint32_t rows_by(const et_grid *s, const et_grid *r, const et_layer *l, const et_layer *k, uint32_t from,
       const et_pairs *to, int64_t *n, const int spanned) {
	const et_grid t = *r;
	const float *const bounds = (const float *)(const void *)s->columns;
	int64_t fill = *n;
	uint32_t i = from;
	for (; i < l->last && fill <= to->n; i++) {
		const V(seeker) p = seeker_at(s, i, spanned);
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
		fill = compare(&p, &t, j, end, last, to, fill, spanned);
	}
	*n = fill;
	return i;
}

KERNEL(uint32_t, search_rows, const et_grid *s, const et_grid *r, const et_layer *l, const et_layer *k, uint32_t from,
       const et_pairs *to, int64_t *n) {
	return s->spanned ? rows_by(s, r, l, k, from, to, n, 1) : rows_by(s, r, l, k, from, to, n, 0);
}

HELPER(LEVEL) uint32_t directory_by(const et_grid *s, const et_grid *other, const et_layer *l, const et_layer *layer,
       uint32_t from, const et_pairs *to, int64_t *n, const int spanned) {
	const et_layer k = *layer;
	const et_grid t = *other;
	const uint32_t *const directory = t.directory;
	const float *const bounds = (const float *)(const void *)s->columns;
	const uint32_t *const row_start = t.row_start, *const number = t.row_number, last_position = l->last;
	int64_t fill = *n;
	uint32_t i = from;
	for (; i < last_position && fill <= to->n; i++) {
		const V(seeker) p = seeker_at(s, i, spanned);
		const row_range reached = rows_of(&k, bounds[s->stride + i], bounds[3 * s->stride + i]);
		const uint32_t begin = column_of(&k, bounds[i]), last = column_of(&k, bounds[2 * s->stride + i]);
		const uint32_t first = begin - (begin < k.span_x ? begin : k.span_x);
		const uint32_t *const places = directory + k.fine + (first >> k.column_shift);
		uint32_t row = directory[k.rough + (reached.first >> k.row_shift)];
		for (; row < k.last_row && number[row] <= reached.last; row++) {
			if (number[row] < reached.first)
				continue;
			const uint32_t j = places[(row - k.first_row) * k.width];
			fill = compare(&p, &t, j, row_start[row + 1], last, to, fill, spanned);
		}
	}
	*n = fill;
	return i;
}

KERNEL(uint32_t, search_directory, const et_grid *s, const et_grid *other, const et_layer *l, const et_layer *layer,
       uint32_t from, const et_pairs *to, int64_t *n) {
	return s->spanned ? directory_by(s, other, l, layer, from, to, n, 1) : directory_by(s, other, l, layer, from, to, n, 0);
}

#ifdef DISPATCH
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
#endif
