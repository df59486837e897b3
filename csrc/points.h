/* What kernels pass around: the points of a grid, and what filters go by. */
#ifndef EVERTICK_POINTS_H
#define EVERTICK_POINTS_H

#include "evertick.h"

#define NO_SLOT UINT32_MAX

typedef struct {
	const et_grid *grid;
	const uint32_t *start;
	const et_block *blocks;
	uint32_t n;
	const uint32_t *category; /* by place; NULL: not asked for */
	const uint16_t *live;     /* by block; NULL: all */
} point_set;

static inline point_set point_set_of(const et_grid *g, const uint32_t *start, const et_block *blocks,
                                     const uint32_t *category, const uint16_t *live) {
	const point_set p = {g, start, blocks, start[(int64_t)g->n[0] * g->n[1] * g->n[2]], category, live};
	return p;
}

/* The filters of one query; both columns may be NULL. */
typedef struct {
	uint32_t exclude, mask;
} sieve;

static inline sieve sieve_of(const uint32_t *exclude, const uint32_t *mask, int64_t query) {
	const sieve s = {exclude ? exclude[query] : NO_SLOT, mask ? mask[query] : UINT32_MAX};
	return s;
}

#endif
