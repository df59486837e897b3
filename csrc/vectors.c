#include "ops.h"
#include "length.h"
#include "rows.h"

#define TEMPLATE "vectors_tmpl.h"
#include "levels.h"

void et_clamp_length(int32_t level, et_vec3 v, float max, const uint64_t *live, int64_t n) {
	DISPATCH(level, clamp_length, v, max, live, n);
}

void et_dist2(int32_t level, float *out, et_vec3 p, float x, float y, float z, const uint64_t *live, int64_t n) {
	DISPATCH(level, dist2, out, p, x, y, z, live, n);
}
