#include "evertick.h"
#include "lanes.h"

#define TEMPLATE "integrate_tmpl.h"
#include "levels.h"

void et_integrate(int32_t level, float *pos, const float *vel, float dt, size_t n) {
	DISPATCH(level, integrate, pos, vel, dt, n);
}
