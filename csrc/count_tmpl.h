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

#include "passing.h"

/* The lanes of a block that are within the radius. */
HELPER(LEVEL) uint32_t within(const et_block *b, V(f) x, V(f) y, V(f) z, V(f) r2) {
	uint32_t near = 0;
	for (uint32_t lane = 0; lane < ET_BLOCK; lane += V(LANES)) {
		const V(f) dx = V(sub)(V(load)(b->x + lane), x);
		const V(f) dy = V(sub)(V(load)(b->y + lane), y);
		const V(f) dz = V(sub)(V(load)(b->z + lane), z);
		const V(f) dist2 = NORM2(dx, dy, dz);
		near |= V(le)(dist2, r2) << lane;
	}
	return near;
}

KERNEL(int64_t, count, const point_set *p, const spheres *s, uint32_t *counts) {
	task list[TASKS];
	for (int64_t i = 0; i < s->n; i++) {
		const V(f) x = V(set1)(s->x[i]), y = V(set1)(s->y[i]), z = V(set1)(s->z[i]);
		const V(f) r2 = V(set1)(s->r[i] * s->r[i]);
		const sieve f = sieve_of(s->exclude, s->mask, i);
		walk w = walk_around(p, s, i, &f);
		uint32_t n = 0, points;
		int32_t tasks;
		while ((tasks = next_tasks(&w, p->n, list, &points)) > 0)
			for (int32_t t = 0; t < tasks; t++)
				n += (uint32_t)__builtin_popcount(within(p->blocks + list[t].block, x, y, z, r2) &
				                                  list[t].lanes & passing(p, list[t].block, &f));
		if (tasks < 0)
			return -1;
		counts[i] = n;
	}
	return s->n;
}

#ifdef DISPATCH
int64_t et_count(int32_t level, const et_grid *grid, const uint32_t *start, const et_block *blocks,
                 const uint32_t *category, const uint16_t *live, const float *qx, const float *qy, const float *qz,
                 const float *qr, const uint32_t *exclude, const uint32_t *mask, int64_t n, uint32_t *counts) {
	const point_set p = point_set_of(grid, start, blocks, category, live);
	const spheres s = {qx, qy, qz, qr, exclude, mask, n};
	return DISPATCH(level, count, &p, &s, counts);
}
#endif
