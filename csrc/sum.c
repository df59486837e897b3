#include "reduce.h"
#include "reduce_lanes.h"
#include "rows.h"

#define TEMPLATE "sum_tmpl.h"
#include "levels.h"

void et_sum(int32_t level, const float *x, const uint64_t *live, int64_t n, double *sum) {
	DISPATCH(level, sum, x, live, n, sum);
}
