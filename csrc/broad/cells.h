/* The cells of a layer, and the columns of a grid. */
#ifndef EVERTICK_BROAD_CELLS_H
#define EVERTICK_BROAD_CELLS_H

#include "../lanes.h"
#include "broad.h"

/* Columns of a grid that follow the bounds. */
enum { SHAPE = 4, FIRST_COLUMN = 5, LAST_COLUMN = 6, SPAN_MIN = 7, SPAN_MAX = 8 };

/* broad.cell without a branch; NaN becomes 0. */
static inline __attribute__((always_inline)) uint32_t cell(float v, float least, float inv, int32_t n) {
	return (uint32_t)(int32_t)c_min(c_max((v - least) * inv, 0.0f), (float)(n - 1));
}

static inline __attribute__((always_inline)) uint32_t column_of(const et_layer *l, float x) {
	return cell(x, l->min_x, l->inv_x, l->columns);
}

static inline __attribute__((always_inline)) uint32_t row_of(const et_layer *l, float y) {
	return cell(y, l->min_y, l->inv_y, l->rows);
}

#endif
