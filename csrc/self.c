#include "self.h"
#include "reach.h"
#include "lanes.h"

typedef struct {
	const et_grid *grid;
	const uint32_t *start;
	const et_block *blocks;
	uint32_t n; /* points */
	float r2, reach;
} field;

/* Centres at places [first, last) of one row of cells, and the box around them. */
typedef struct {
	uint32_t first, last;
	float lo[3], hi[3];
} batch;

/* The cells that a box can reach: first and last along each axis. Cell (0, j, k)
 * is number (k * ny + j) * nx. */
typedef struct {
	int32_t lo[3], hi[3], nx, ny;
} region;

typedef struct {
	uint32_t first, last; /* places [first, last) */
} run;

typedef struct {
	uint32_t *ends, *out;
	float *d2;
	int64_t fill, cap;
} rows;

/* A batch has up to BATCH centres, or half as many more rather than leave a few
 * for one of their own. Fewer share the cost of gathering among too few; more
 * make the box so large that each centre has too many points to test. */
enum { BATCH = 10 };

/* Looking at a row of cells costs about as much as testing this many points. */
enum { ROW_COST = 32 };

/* Cuts the next batch from places [first, last); it is empty if start
 * contradicts the points. */
static inline batch next_batch(const field *f, uint32_t first, uint32_t last) {
	const et_grid *const g = f->grid;
	const et_block *p = f->blocks + first / ET_BLOCK;
	uint32_t lane = first % ET_BLOCK;
	const int32_t row = cell_of(g, 2, p->z[lane]) * g->n[1] + cell_of(g, 1, p->y[lane]);
	const uint32_t *const start = f->start + row * g->n[0];
	batch b = {first, first, {p->x[lane], p->y[lane], p->z[lane]}, {p->x[lane], p->y[lane], p->z[lane]}};
	if (start[0] > first || start[g->n[0]] > f->n)
		return b;
	if (last > start[g->n[0]])
		last = start[g->n[0]];
	if (last > first + BATCH + BATCH / 2)
		last = first + BATCH;
	for (uint32_t i = first; i < last; i++) {
		p = f->blocks + i / ET_BLOCK;
		lane = i % ET_BLOCK;
		const float x = p->x[lane], y = p->y[lane], z = p->z[lane];
		b.lo[0] = x < b.lo[0] ? x : b.lo[0];
		b.hi[0] = x > b.hi[0] ? x : b.hi[0];
		b.lo[1] = y < b.lo[1] ? y : b.lo[1];
		b.hi[1] = y > b.hi[1] ? y : b.hi[1];
		b.lo[2] = z < b.lo[2] ? z : b.lo[2];
		b.hi[2] = z > b.hi[2] ? z : b.hi[2];
	}
	b.last = last > first ? last : first;
	return b;
}

/* Cells of one row along x are neighbours in memory: one run of places. */
static inline run run_of(const field *f, const region *r, int32_t j, int32_t k) {
	const uint32_t *const row = f->start + (k * r->ny + j) * r->nx;
	const run places = {row[r->lo[0]], row[r->hi[0] + 1]};
	return places;
}

/* Where most rows are all but empty, one run from the first to the last cell is
 * cheaper than looking at each row. */
static inline region region_around(const field *f, const float *lo, const float *hi) {
	const et_grid *const g = f->grid;
	region r;
	for (int a = 0; a < 3; a++) {
		r.lo[a] = cell_of(g, a, lo[a] - f->reach);
		r.hi[a] = cell_of(g, a, hi[a] + f->reach);
	}
	r.nx = g->n[0];
	r.ny = g->n[1];
	const int32_t from = (r.lo[2] * r.ny + r.lo[1]) * r.nx + r.lo[0];
	const int32_t to = (r.hi[2] * r.ny + r.hi[1]) * r.nx + r.hi[0];
	const int64_t lines = (int64_t)(r.hi[2] - r.lo[2] + 1) * (r.hi[1] - r.lo[1] + 1);
	if (lines * ROW_COST > (int64_t)f->start[to + 1] - f->start[from]) {
		r.lo[0] = from;
		r.hi[0] = to;
		r.lo[1] = r.hi[1] = r.lo[2] = r.hi[2] = 0;
	}
	return r;
}

#define TEMPLATE "self_tmpl.h"
#include "levels.h"

int64_t et_self(int32_t level, const et_grid *grid, const uint32_t *start, const et_block *blocks,
                float r2, float reach, int32_t keep, int64_t first, int64_t last, uint32_t *ends,
                uint32_t *out, float *d2, int64_t fill, int64_t cap, et_pack *scratch) {
	const uint32_t total = start[(int64_t)grid->n[0] * grid->n[1] * grid->n[2]];
	const field f = {grid, start, blocks, total, r2, reach};
	rows r = {ends, out, d2, fill, cap};
	return DISPATCH(level, self, &f, (uint32_t)first, (uint32_t)last, keep, scratch, &r);
}
