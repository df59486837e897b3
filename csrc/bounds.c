#include "reduce.h"
#include "rows.h"

#define TEMPLATE "bounds_tmpl.h"
#include "levels.h"

void et_bounds(int32_t level, const float *x, const float *y, const float *z, const uint64_t *live, int64_t n,
               float *least, float *greatest) {
	DISPATCH(level, bounds, x, y, z, live, n, least, greatest);
}
