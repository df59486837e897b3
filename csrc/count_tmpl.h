#include "passing.h"

/* The lanes of a block that are within the radius. */
HELPER(LEVEL) uint32_t CAT(within_, LEVEL)(const et_block *b, V(f) x, V(f) y, V(f) z, V(f) r2) {
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

KERNEL(LEVEL) int64_t CAT(count_, LEVEL)(const point_set *p, const spheres *s, uint32_t *counts) {
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
				n += (uint32_t)__builtin_popcount(CAT(within_, LEVEL)(p->blocks + list[t].block, x, y, z, r2) &
				                                  list[t].lanes & CAT(passing_, LEVEL)(p, list[t].block, &f));
		if (tasks < 0)
			return -1;
		counts[i] = n;
	}
	return s->n;
}
