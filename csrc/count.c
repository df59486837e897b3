#include "shapes.h"
#include "cells.h"
#include "lanes.h"

typedef struct {
	const float *x, *y, *z, *r;
	const uint32_t *exclude, *mask;
	int64_t n;
} spheres;

static inline sieve sieve_at(const spheres *s, int64_t i) {
	const sieve f = {s->exclude ? s->exclude[i] : NO_SLOT, s->mask ? s->mask[i] : UINT32_MAX};
	return f;
}

static inline walk walk_around(const et_grid *g, const uint32_t *start, const spheres *s, int64_t i,
                               const sieve *f) {
	const float centre[3] = {s->x[i], s->y[i], s->z[i]}, reach = reach_of(s->r[i], s->r[i] * s->r[i]);
	int32_t lo[3], hi[3];
	for (int a = 0; a < 3; a++) {
		lo[a] = cell_of(g, a, centre[a] - reach);
		hi[a] = cell_of(g, a, centre[a] + reach);
	}
	return walk_over(g, start, lo, hi, f);
}

#define TEMPLATE "count_tmpl.h"
#include "levels.h"

int64_t et_count(int32_t level, const et_grid *grid, const uint32_t *start, const et_block *blocks,
                 const uint32_t *category, const uint16_t *live, const float *qx, const float *qy, const float *qz,
                 const float *qr, const uint32_t *exclude, const uint32_t *mask, int64_t n, uint32_t *counts) {
	const point_set p = point_set_of(grid, start, blocks, category, live);
	const spheres s = {qx, qy, qz, qr, exclude, mask, n};
	return DISPATCH(level, count, grid, &p, &s, counts);
}
