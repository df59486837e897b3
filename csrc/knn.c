#include "knn.h"

#include <float.h>

#include "lanes.h"
#include "points.h"
#include "reach.h"

/* Candidates that are kept before the farther ones are thrown away, and points
 * that are tested between two looks at how many there are. */
enum { ROOM = 1024, PIECE = 256 };

/* Above all slots, and below 2^31, as comparisons of lanes want it. */
enum { MOST_SLOT = INT32_MAX };

typedef struct {
	const float *x, *y, *z, *r;
	const uint32_t *exclude, *mask;
	int64_t n;
	uint32_t k;
	float lo[3], hi[3]; /* the box of the points, or of all floats */
} queries;

typedef struct {
	float c[3], r;
	sieve f;
} query;

/* The box of cells in which points are counted to guess a radius: its half
 * width in cells along each axis, and along how many axes it has a width. */
typedef struct {
	int64_t half[3];
	int dims;
	float edge;   /* metres: of the longest cell of the core */
	float want;   /* the volume of a ball of radius 1, in points to be found */
	float factor; /* in a uniform grid: radius = edge * root(factor / count) */
	float min[3], max[3]; /* corners of the grid */
} window;

/* The points found so far, as bits of d2, which order as d2 does, and slots.
 * The k nearest are among them and those not yet tested that come before
 * (most, slot most_slot). */
typedef struct {
	uint32_t d2[ROOM + ET_BLOCK], slot[ROOM + ET_BLOCK];
	uint32_t n, most, most_slot;
} candidates;

/* The root of degree dims, 1 to 3, within half a percent: Newton's method for
 * the reciprocal root, once, from the guess that halving the exponent gives. */
static inline float root(float x, int dims) {
	if (dims == 3) {
		float y = c_asf(0x54a2fa8cu - c_asu(x) / 3);
		y = y * (1.3333334f - 0.33333334f * x * y * y * y);
		return x * y * y;
	}
	if (dims == 2) {
		float y = c_asf(0x5f3759dfu - c_asu(x) / 2);
		y = y * (1.5f - 0.5f * x * y * y);
		return x * y;
	}
	return x;
}

static inline float larger(float a, float b) { return a > b ? a : b; }

static const float ball_volume[4] = {1.0f, 2.0f, 3.1415927f, 4.1887902f};

/* The window scaled up by a power of two. The factor is such that a ball of the
 * radius has 1.6 k + 4 points at the window's density: more means more candidates,
 * and fewer that more queries have to search again. */
static window window_of(const et_grid *g, uint32_t k, int scale) {
	window w = {.edge = 0.0f};
	for (int a = 0; a < 3; a++) {
		w.min[a] = edge_of(g, a, 0);
		w.max[a] = edge_of(g, a, g->n[a]);
		if (g->n[a] > 1) {
			w.dims++;
			w.edge = larger(w.edge, 1.0f / g->inv[a]);
		}
	}
	w.factor = w.want = (1.6f * (float)k + 4.0f) / ball_volume[w.dims];
	for (int a = 0; a < 3; a++) {
		if (g->n[a] == 1)
			continue;
		const float cells = w.edge * g->inv[a];
		w.half[a] = (cells < (float)g->n[a] ? (int64_t)(cells + 0.5f) : g->n[a]) << scale;
		w.factor *= (float)(2 * w.half[a] + 1) / cells;
	}
	return w;
}

/* The smallest window, with the corners of the box of the points if that is known. */
static window window_in(const et_grid *g, const queries *qs) {
	window w = window_of(g, qs->k, 0);
	for (int a = 0; a < 3 && qs->lo[0] != -FLT_MAX; a++) {
		w.min[a] = qs->lo[a];
		w.max[a] = qs->hi[a];
	}
	return w;
}

static inline cell_box window_around(const point_set *p, const window *w, const query *q) {
	cell_box b;
	for (int a = 0; a < 3; a++) {
		const int64_t cell = cell_of(p->grid, a, q->c[a]), last = p->grid->n[a] - 1;
		b.lo[a] = (int32_t)(cell > w->half[a] ? cell - w->half[a] : 0);
		b.hi[a] = (int32_t)(cell < last - w->half[a] ? cell + w->half[a] : last);
	}
	return b;
}

static inline uint32_t count_in(const point_set *p, const cell_box *b) {
	uint32_t n = 0;
	for (int32_t k = b->lo[2]; k <= b->hi[2]; k++) {
		for (int32_t j = b->lo[1]; j <= b->hi[1]; j++) {
			const span s = row_of(p->grid, p->start, b, j, k);
			n += s.last - s.first;
		}
	}
	return n;
}

/* The radius of a ball in which to expect the wanted points where there are n in a
 * box of cells around the centre. Outside the core, where cells differ, those of the box
 * count as long as the one that the centre is in. */
static inline float radius_of(const et_grid *g, const window *w, const cell_box *b, const float *centre, uint32_t n) {
	int32_t own[3] = {0};
	int in_core = 1;
	for (int a = 0; a < 3 && is_uneven(g); a++) {
		own[a] = cell_of(g, a, centre[a]);
		in_core &= own[a] >= g->low[a] && own[a] < g->n[a] - g->high[a];
	}
	if (in_core)
		return w->edge * root(w->factor / (float)n, w->dims);
	float r = root(w->want / (float)n, w->dims);
	for (int a = 0; a < 3; a++)
		if (g->n[a] > 1) /* root by root, as volumes overflow */
			r *= root((float)(b->hi[a] - b->lo[a] + 1) * (edge_of(g, a, own[a] + 1) - edge_of(g, a, own[a])), w->dims);
	return r > 0.0f && r <= FLT_MAX ? r : FLT_MAX;
}

/* How far a ball from a distance, along an axis above all, has to reach into the grid to
 * take in as much as a ball of radius r around a centre inside. It takes in a cap, as
 * high as it reaches and, at the far side of the grid, no wider than that: the cap is
 * flat, and about as wide as the root of 2*gap*height. */
static inline float cap_of(const et_grid *g, const window *w, int axis, float gap, float r) {
	if (!(r < gap))
		return r;
	float slab = r, height = r / 2;
	for (int a = 0; a < 3; a++)
		if (a != axis && g->n[a] > 1)
			slab *= r / (w->max[a] - w->min[a]);
	if (w->dims == 2)
		height = r * root(2.8f * r / gap, 3);
	if (w->dims == 3)
		height = r * root(1.33f * r / gap, 2);
	slab *= ball_volume[w->dims]; /* last, as the pure Go does: rounding depends on the order */
	height = slab > height ? slab : height;
	return height < r ? height : r;
}

/* A radius in which to expect a few points more than k, judged by a window that
 * holds k / 2 or more, or the largest number when looking for one is no cheaper than testing all points.
 * work counts rows and blocks. */
static inline float guess(const point_set *p, const window *first, const query *q, uint32_t k, int64_t *work) {
	const uint32_t enough = k / 2 + 4;
	window w = *first;
	for (int scale = 0;;) {
		const cell_box b = window_around(p, &w, q);
		const int64_t rows = rows_of(&b);
		if (w.dims == 0 || scale > 24 || p->n < 2 * k + 8 || *work + rows > p->n / ET_BLOCK / 2 + 8)
			return FLT_MAX;
		*work += rows;
		const uint32_t n = count_in(p, &b);
		if (n >= enough)
			return radius_of(p->grid, &w, &b, q->c, n);
		w = window_of(p->grid, k, ++scale);
	}
}

/* The distance of the centre from the points, so that a query far away does not grow
 * towards it step by step, and by how much to begin beyond that. */
static inline float start(const point_set *p, const window *w, const query *q, uint32_t k, int64_t *work, float *beyond) {
	float sum = 0.0f, widest = 0.0f;
	int axis = 0; /* along which the grid is farthest */
	for (int a = 0; a < 3; a++) {
		const float d = larger(larger(w->min[a] - q->c[a], q->c[a] - w->max[a]), 0.0f);
		sum += d * d;
		if (d > widest) {
			widest = d;
			axis = a;
		}
	}
	*beyond = guess(p, w, q, k, work);
	if (sum == 0.0f)
		return 0.0f;
	const float gap = sum <= FLT_MAX ? SQRT(sum) : sum;
	*beyond = larger(cap_of(p->grid, w, axis, gap, *beyond), gap * 0x1p-18f);
	return gap;
}

/* A distance between the centre and cell j along an axis that is no more than the rounded
 * one of any point in the cell: gap_ of radius_tmpl.h. */
static inline float gap_to(const et_grid *g, const queries *qs, int axis, int32_t j, float v) {
	const float lower = g->min[axis], size = 1.0f / g->inv[axis];
	const int32_t core = g->n[axis] - g->low[axis] - g->high[axis], i = j - g->low[axis];
	const float slack = ((lower < 0 ? -lower : lower) + (float)g->n[axis] * size) * 0x1p-20f;
	const float under = lower + (float)(i < core ? i : core) * size - slack - v;
	const float over = v - (lower + (float)(i < 0 ? 0 : i + 1) * size + slack);
	float gap = larger(larger(qs->lo[axis] - v, v - qs->hi[axis]), 0.0f);
	if (i > 0 && under > gap)
		gap = under;
	return i < core && j < g->n[axis] - 1 && over > gap ? over : gap;
}

/* Bounds the distance along an axis of what is within a radius of which the square is
 * r2, where the other axes already have gap2 of it: row_ of radius_tmpl.h. */
static inline float half_of(float r2, float gap2, float reach) {
	const float near2 = r2 - gap2 + r2 * 0x1p-20f;
	const float half = SQRT(near2) * 1.00000095367431640625f + 8.470329472543003e-22f;
	return half < reach ? half : reach;
}

static inline query query_at(const queries *qs, int64_t i) {
	query q;
	q.c[0] = qs->x[i];
	q.c[1] = qs->y[i];
	q.c[2] = qs->z[i];
	q.r = qs->r ? qs->r[i] : FLT_MAX;
	q.f = sieve_of(qs->exclude, qs->mask, i);
	return q;
}

/* A value between lo and hi at which to expect that many of n: d2 grows with the
 * power 2/3 of the count where points are evenly spread. From the third look on
 * the interval is halved, so that it ends after 34. */
static inline uint32_t between(int64_t lo, uint32_t hi, float part, int look) {
	if (look < 2) {
		const float y = root(part, 3);
		const uint32_t g = c_asu(c_asf(hi) * y * y);
		if (g > lo && g < hi)
			return g;
	}
	return (uint32_t)(lo + ((int64_t)hi - lo) / 2);
}

#define TEMPLATE "knn_tmpl.h"
#include "levels.h"

int64_t et_knn(int32_t level, const et_grid *grid, const uint32_t *start, const et_block *blocks,
               const uint32_t *category, const uint16_t *live, const float *qx, const float *qy, const float *qz,
               const float *radius, const uint32_t *exclude, const uint32_t *mask, int64_t n, int32_t k,
               const float *box, uint32_t *ends, uint32_t *out, float *d2) {
	const point_set p = point_set_of(grid, start, blocks, mask ? category : NULL, live);
	queries qs = {qx, qy, qz, radius, exclude, mask, n, (uint32_t)k, {0}, {0}};
	for (int a = 0; a < 3; a++) {
		qs.lo[a] = box ? box[a] : -FLT_MAX;
		qs.hi[a] = box ? box[3 + a] : FLT_MAX;
	}
	return DISPATCH(level, knn, &p, &qs, ends, out, d2);
}
