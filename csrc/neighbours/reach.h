/* The cell of a coordinate, how far a radius reaches, and the rows of cells within that reach. */
#ifndef EVERTICK_REACH_H
#define EVERTICK_REACH_H

#include <float.h>

#include "points.h"
#include "../lanes.h"

/* The largest number below 1. */
#define LESS_THAN_ONE 0.999999940395355224609375f

/* neighbours.Grid defines steps; d is not negative. */
static inline float steps_of(float d) { return (float)(int32_t)(c_asu(d + 1.0f) - 0x3f800000u); }

/* The inverse of steps_of. */
static inline float distance_of(float steps) {
	return c_asf(0x3f800000u + (steps < 0x1p30f ? (uint32_t)steps : 0x40000000u)) - 1.0f;
}

/* No point that the membership test accepts is farther than this from the centre, along any axis. neighbours.Reach
 * derives the constants. */
static inline float reach_of(float r, float r2) {
	if (r2 > FLT_MAX)
		return r2;
	return r * 1.00000095367431640625f + 8.470329472543003e-22f;
}

/* neighbours.Grid.tailed. */
static inline int32_t tailed_cell(const et_grid *g, int axis, float t) {
	const int32_t core = g->n[axis] - g->low[axis] - g->high[axis];
	if (t >= 0.0f && t < (float)core)
		return g->low[axis] + (int32_t)t;
	const float inside = t > (float)core ? (float)core : t > 0.0f ? t : 0.0f;
	const float up = steps_of(t > (float)core ? t - (float)core : 0.0f) * g->tail[axis];
	const float down = steps_of(t < 0.0f ? -t : 0.0f) * g->tail[axis] + LESS_THAN_ONE;
	const int32_t above = up > (float)g->high[axis] ? g->high[axis] : (int32_t)up;
	const int32_t below = down > (float)g->low[axis] ? g->low[axis] : (int32_t)down;
	const int32_t cell = g->low[axis] + (int32_t)inside + above - below;
	return cell < g->n[axis] ? cell : g->n[axis] - 1;
}

/* neighbours.Grid.pieced. */
static inline int32_t pieced_cell(const et_grid *g, int axis, float v) {
	const et_pieces *const p = &g->piece[axis];
	int32_t i = 0, end = g->pieces[axis];
	while (end - i > 1) {
		const int32_t mid = (i + end) / 2;
		if (p->min[mid] <= v)
			i = mid;
		else
			end = mid;
	}
	const float t = (v - p->min[i]) * p->inv[i];
	const int32_t first = p->first[i], n = p->first[i + 1] - first;
	if (!(t > 0.0f))
		return first;
	return first + (t >= (float)n ? n - 1 : (int32_t)t);
}

/* neighbours.Grid.pieceOf. */
static inline int32_t piece_of(const et_grid *g, int axis, int32_t j) {
	int32_t i = 0;
	while (i + 1 < g->pieces[axis] && g->piece[axis].first[i + 1] <= j)
		i++;
	return i;
}

/* The cell along one axis: monotone in v and clamped to the grid. */
static inline int32_t cell_of(const et_grid *g, int axis, float v) {
	const float t = (v - g->min[axis]) * g->inv[axis];
	if (g->tail[axis] != 0.0f)
		return g->tail[axis] < 0.0f ? pieced_cell(g, axis, v) : tailed_cell(g, axis, t);
	if (!(t > 0.0f))
		return 0;
	if (t >= (float)g->n[axis])
		return g->n[axis] - 1;
	return (int32_t)t;
}

/* Approximately where cell j of an axis begins: neighbours.Grid.edge. */
static inline float edge_of(const et_grid *g, int axis, int32_t j) {
	if (g->pieces[axis] != 0) {
		const et_pieces *const p = &g->piece[axis];
		const int32_t k = piece_of(g, axis, j);
		return p->min[k] + (float)(j - p->first[k]) / p->inv[k];
	}
	const int32_t core = g->n[axis] - g->low[axis] - g->high[axis], i = j - g->low[axis];
	float cells = (float)i;
	if (i < 0)
		cells = -distance_of((float)-i / g->tail[axis]);
	else if (i > core)
		cells = (float)core + distance_of((float)(i - core) / g->tail[axis]);
	return g->min[axis] + cells / g->inv[axis];
}

/* Whether there are pieces, or cells outside the core. */
static inline int is_uneven(const et_grid *g) { return g->tail[0] != 0.0f || g->tail[1] != 0.0f || g->tail[2] != 0.0f; }

/* gap_of for an axis with pieces. Where a piece begins nothing is rounded. */
static inline float pieced_gap_of(const et_grid *g, int axis, int32_t j, float v) {
	const et_pieces *const p = &g->piece[axis];
	const int32_t k = piece_of(g, axis, j), i = j - p->first[k], n = p->first[k + 1] - p->first[k];
	const float lower = p->min[k], size = 1.0f / p->inv[k];
	const float slack = ((lower < 0 ? -lower : lower) + (float)n * size) * 0x1p-20f;
	const float begin = i > 0 ? lower + (float)i * size - slack : lower;
	const float end = i == n - 1 && k + 1 < g->pieces[axis] ? p->min[k + 1] : lower + (float)(i + 1) * size + slack;
	const float under = begin - v, over = v - end, gap = j > 0 && under > 0.0f ? under : 0.0f;
	return j < g->n[axis] - 1 && over > gap ? over : gap;
}

/* A lower bound of the rounded distance, along an axis, between v and any point in cell j: gap of radius_tmpl.h,
 * in one lane. */
static inline float gap_of(const et_grid *g, int axis, int32_t j, float v) {
	if (g->pieces[axis] != 0)
		return pieced_gap_of(g, axis, j, v);
	const float lower = g->min[axis], size = 1.0f / g->inv[axis];
	const int32_t core = g->n[axis] - g->low[axis] - g->high[axis], i = j - g->low[axis];
	const float slack = ((lower < 0 ? -lower : lower) + (float)g->n[axis] * size) * 0x1p-20f;
	const float under = lower + (float)(i < core ? i : core) * size - slack - v;
	const float over = v - (lower + (float)(i < 0 ? 0 : i + 1) * size + slack);
	const float gap = i > 0 && under > 0.0f ? under : 0.0f;
	return i < core && j < g->n[axis] - 1 && over > gap ? over : gap;
}

/* Bounds the distance along an axis of points within a radius. r2 is the square of the radius, and gap2 the part
 * of it that the other axes already use: touched_cells of radius_tmpl.h, in one lane. */
static inline float half_of(float r2, float gap2, float reach) {
	const float near2 = r2 - gap2 + r2 * 0x1p-20f;
	const float half = SQRT(near2) * 1.00000095367431640625f + 8.470329472543003e-22f;
	return half < reach ? half : reach;
}

/* The cells from lo to hi along each axis. */
typedef struct {
	int32_t lo[3], hi[3];
} cell_box;

/* The cells that a radius can reach from the box from lo to hi. */
static inline cell_box box_around(const et_grid *g, const float lo[3], const float hi[3], float reach) {
	cell_box b;
	for (int a = 0; a < 3; a++) {
		b.lo[a] = cell_of(g, a, lo[a] - reach);
		b.hi[a] = cell_of(g, a, hi[a] + reach);
	}
	return b;
}

static inline int32_t cell_number(const et_grid *g, int32_t i, int32_t j, int32_t k) {
	return (k * g->n[1] + j) * g->n[0] + i;
}

static inline int64_t rows_of(const cell_box *b) {
	return (int64_t)(b->hi[1] - b->lo[1] + 1) * (b->hi[2] - b->lo[2] + 1);
}

/* Places [first, last). */
typedef struct {
	uint32_t first, last;
} span;

/* The places of the cells of one row along x, which are neighbours in memory: one span. */
static inline span row_of(const et_grid *g, const uint32_t *start, const cell_box *b, int32_t j, int32_t k) {
	const uint32_t *const row = start + cell_number(g, 0, j, k);
	const span s = {row[b->lo[0]], row[b->hi[0] + 1]};
	return s;
}

/* The cost of visiting a row, in tested points. */
enum { ROW_COST = 16 };

/* Whether the rows are so empty that visiting them costs more than testing all points from the first cell to the
 * last. Then one long row is better: a huge query visits points, not empty cells. */
static inline int are_sparse(const uint32_t *start, int32_t first, int32_t last, int64_t rows, int32_t row_cost) {
	return rows * row_cost > (int64_t)start[last + 1] - start[first];
}

/* The same cells, or one row of all cells from the first to the last. */
static inline cell_box join_rows(const et_grid *g, const uint32_t *start, cell_box b, int32_t row_cost) {
	const int32_t first = cell_number(g, b.lo[0], b.lo[1], b.lo[2]);
	const int32_t last = cell_number(g, b.hi[0], b.hi[1], b.hi[2]);
	if (are_sparse(start, first, last, rows_of(&b), row_cost)) {
		const cell_box one = {{first, 0, 0}, {last, 0, 0}};
		return one;
	}
	return b;
}

#endif
