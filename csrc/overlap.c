#include "shapes.h"
#include "cells.h"
#include "lanes.h"

typedef struct {
	const float *lo[3], *hi[3];
	const uint32_t *exclude, *mask;
	int64_t n;
} boxes;

static inline walk walk_within(const point_set *p, const boxes *b, int64_t i, const sieve *f) {
	const float lo[3] = {b->lo[0][i], b->lo[1][i], b->lo[2][i]}, hi[3] = {b->hi[0][i], b->hi[1][i], b->hi[2][i]};
	const cell_box c = box_around(p->grid, lo, hi, 0.0f);
	return walk_over(p, &c, f);
}

#define TEMPLATE "overlap_tmpl.h"
#include "levels.h"

int64_t et_overlap(int32_t level, const et_grid *grid, const uint32_t *start, const et_block *blocks,
                   const uint32_t *category, const uint16_t *live, const float *lox, const float *loy,
                   const float *loz, const float *hix, const float *hiy, const float *hiz, const uint32_t *exclude,
                   const uint32_t *mask, int64_t n, uint32_t *ends, uint32_t *out, int64_t fill, int64_t cap) {
	const point_set p = point_set_of(grid, start, blocks, category, live);
	const boxes b = {{lox, loy, loz}, {hix, hiy, hiz}, exclude, mask, n};
	return DISPATCH(level, overlap, &p, &b, ends, out, fill, cap);
}
