#include "ops.h"
#include "rows.h"

KERNEL(void, integrate, float *pos, const float *vel, float dt, const uint64_t *live, int64_t n) {
	SHORT(n, et_integrate_c(pos, vel, dt, live, n));
	const V(f) step = V(set1)(dt);
	EACH_ROW(live, n, PUT(pos, V(add)(V(load)(pos + i), V(mul)(V(load)(vel + i), step))));
}

#ifdef DISPATCH
void et_integrate(int32_t level, float *pos, const float *vel, float dt, const uint64_t *live, int64_t n) {
	DISPATCH(level, integrate, pos, vel, dt, live, n);
}
#endif
