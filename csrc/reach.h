/* Where a coordinate lies in a grid, and how far a radius reaches. */
#ifndef EVERTICK_REACH_H
#define EVERTICK_REACH_H

#include <float.h>

#include "base.h"
#include "evertick.h"

/* native.Reach derives the constants: no point that the membership test
 * accepts lies farther from the centre, along any axis, than this. */
static inline float reach_of(float r, float r2) {
	if (r2 > FLT_MAX)
		return r2;
	return r * 1.00000095367431640625f + 8.470329472543003e-22f;
}

/* The cell along one axis: monotone in v and clamped to the grid. */
static inline int32_t cell_of(const et_grid *g, int axis, float v) {
	const float t = (v - g->min[axis]) * g->inv[axis];
	if (!(t > 0.0f))
		return 0;
	if (t >= (float)g->n[axis])
		return g->n[axis] - 1;
	return (int32_t)t;
}

#endif
