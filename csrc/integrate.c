#include "ops.h"
#include "rows.h"

#define TEMPLATE "integrate_tmpl.h"
#include "levels.h"

void et_integrate(int32_t level, float *pos, const float *vel, float dt, const uint64_t *live, int64_t n) {
	DISPATCH(level, integrate, pos, vel, dt, live, n);
}
