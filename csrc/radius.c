#include "evertick.h"
#include "lanes.h"

typedef struct {
	const et_block *blocks;
	uint32_t n;
} points;

typedef struct {
	const float *x, *y, *z, *r;
	const uint32_t *exclude;
	int64_t n;
} queries;

typedef struct {
	float x, y, z, r2, reach;
	uint32_t exclude;
} query;

/* First and last cell along each axis, and the cells that the axis has. */
typedef struct {
	int32_t lo[3], hi[3], n[3];
} box;

typedef struct {
	uint32_t first, last; /* points [first, last) */
} span;

typedef struct {
	uint64_t *marks;
	int64_t words;
	float *d2_of_slot;
} sorter;

/* The longest row that any level sorts by counting. */
enum { SHORT_ROW = 64 };

/* native.Reach derives the constants: no point that the membership test
 * accepts lies farther from the centre, along any axis, than this. */
static inline float reach_of(float r, float r2) {
	if (r2 > 3.40282347e+38f)
		return r2;
	return r * 1.00000095367431640625f + 8.470329472543003e-22f;
}

static inline query query_at(const queries *qs, int64_t i) {
	query q;
	q.x = qs->x[i];
	q.y = qs->y[i];
	q.z = qs->z[i];
	q.r2 = qs->r[i] * qs->r[i];
	q.reach = reach_of(qs->r[i], q.r2);
	q.exclude = qs->exclude ? qs->exclude[i] : UINT32_MAX;
	return q;
}

/* The cell along one axis: monotone in v and clamped to the grid. */
static inline int32_t cell_of(float v, float min, float inv, int32_t n) {
	const float t = (v - min) * inv;
	if (!(t > 0.0f))
		return 0;
	if (t >= (float)n)
		return n - 1;
	return (int32_t)t;
}

/* A box as wide as the grid is one run of cells: fold the next axis into x, so
 * that a huge radius walks over points, not over rows of empty cells. */
static inline void fold(box *b, int axis) {
	if (b->lo[0] != 0 || b->hi[0] != b->n[0] - 1)
		return;
	b->lo[0] = b->lo[axis] * b->n[0];
	b->hi[0] = b->hi[axis] * b->n[0] + b->n[0] - 1;
	b->n[0] *= b->n[axis];
	b->lo[axis] = b->hi[axis] = 0;
	b->n[axis] = 1;
}

static inline box box_around(const et_grid *g, const query *q) {
	const float centre[3] = {q->x, q->y, q->z};
	box b;
	for (int a = 0; a < 3; a++) {
		b.n[a] = g->n[a];
		b.lo[a] = cell_of(centre[a] - q->reach, g->min[a], g->inv[a], g->n[a]);
		b.hi[a] = cell_of(centre[a] + q->reach, g->min[a], g->inv[a], g->n[a]);
	}
	fold(&b, 1);
	fold(&b, 2);
	return b;
}

/* Cells of one row along x are neighbours in memory: one span. */
static inline span span_of(const uint32_t *start, const box *b, int32_t j, int32_t k) {
	const uint32_t *row = start + (k * b->n[1] + j) * b->n[0];
	span s;
	s.first = row[b->lo[0]];
	s.last = row[b->hi[0] + 1];
	return s;
}

/* Sorts out[from, to) by slot, and returns 0 if one of them has no mark. Each
 * slot sets its bit in a bitmap, and the bits are read back in order. Two summary
 * levels above the bitmap, a bit per word below, lead from one used word to the
 * next. */
static int sort_row(const sorter *s, uint32_t *out, float *d2, int64_t from, int64_t to) {
	uint64_t *const bits = s->marks;
	uint64_t *const mid = bits + s->words;
	uint64_t *const top = mid + (s->words + 63) / 64;
	const int64_t top_words = ((s->words + 63) / 64 + 63) / 64;
	if (to - from < 2)
		return 1;
	for (int64_t i = from; i < to; i++) {
		const uint32_t slot = out[i];
		if (slot >> 6 >= s->words)
			return 0;
		bits[slot >> 6] |= (uint64_t)1 << (slot & 63);
		mid[slot >> 12] |= (uint64_t)1 << (slot >> 6 & 63);
		top[slot >> 18] |= (uint64_t)1 << (slot >> 12 & 63);
		if (d2)
			s->d2_of_slot[slot] = d2[i];
	}
	for (int64_t t = 0; t < top_words; t++) {
		for (uint64_t tw = top[t]; tw; tw &= tw - 1) {
			const int64_t m = t << 6 | __builtin_ctzll(tw);
			for (uint64_t mw = mid[m]; mw; mw &= mw - 1) {
				const int64_t w = m << 6 | __builtin_ctzll(mw);
				for (uint64_t bw = bits[w]; bw; bw &= bw - 1) {
					const uint32_t slot = (uint32_t)(w << 6 | __builtin_ctzll(bw));
					if (d2)
						d2[from] = s->d2_of_slot[slot];
					out[from++] = slot;
				}
				bits[w] = 0;
			}
			mid[m] = 0;
		}
		top[t] = 0;
	}
	return 1;
}

#define TEMPLATE "radius_tmpl.h"
#include "levels.h"

int64_t et_radius(int32_t level, const et_grid *grid, const uint32_t *start,
                  const et_block *blocks, const float *qx,
                  const float *qy, const float *qz, const float *qr, const uint32_t *exclude,
                  int64_t n, uint32_t *ends, uint32_t *out, float *d2, int64_t fill, int64_t cap,
                  uint64_t *marks, int64_t mark_words, float *d2_of_slot) {
	const uint32_t total = start[(int64_t)grid->n[0] * grid->n[1] * grid->n[2]];
	const points p = {blocks, total};
	const queries qs = {qx, qy, qz, qr, exclude, n};
	const sorter s = {marks, mark_words, d2_of_slot};
	return DISPATCH(level, radius, grid, start, &p, &qs, ends, out, d2, fill, cap, &s);
}
