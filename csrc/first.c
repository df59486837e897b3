#include "reduce.h"
#include "reduce_lanes.h"
#include "rows.h"

#define TEMPLATE "first_tmpl.h"
#include "levels.h"

void et_first_not_finite(int32_t level, const float *x, const uint64_t *live, int64_t n, int64_t *row) {
	DISPATCH(level, first_not_finite, x, live, n, row);
}

void et_first_beyond(int32_t level, const uint32_t *index, uint32_t limit, const uint64_t *live, int64_t n, int64_t *row) {
	DISPATCH(level, first_beyond, index, limit, live, n, row);
}
