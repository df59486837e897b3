#include "shapes.h"
#include "cells.h"
#include "lanes.h"

typedef struct {
	const float *x, *y, *z, *r;
	const uint32_t *exclude, *mask;
	int64_t n;
} spheres;

static inline walk walk_around(const point_set *p, const spheres *s, int64_t i, const sieve *f) {
	const float centre[3] = {s->x[i], s->y[i], s->z[i]}, reach = reach_of(s->r[i], s->r[i] * s->r[i]);
	const cell_box b = box_around(p->grid, centre, centre, reach);
	return walk_over(p, &b, f);
}

#define TEMPLATE "count_tmpl.h"
#include "levels.h"

int64_t et_count(int32_t level, const et_grid *grid, const uint32_t *start, const et_block *blocks,
                 const uint32_t *category, const uint16_t *live, const float *qx, const float *qy, const float *qz,
                 const float *qr, const uint32_t *exclude, const uint32_t *mask, int64_t n, uint32_t *counts) {
	const point_set p = point_set_of(grid, start, blocks, category, live);
	const spheres s = {qx, qy, qz, qr, exclude, mask, n};
	return DISPATCH(level, count, &p, &s, counts);
}
