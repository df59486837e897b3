#include "ops.h"
#include "rows.h"

#define TEMPLATE "columns_tmpl.h"
#include "levels.h"

void et_scale(int32_t level, float *x, float a, const uint64_t *live, int64_t n) {
	DISPATCH(level, scale, x, a, live, n);
}

void et_damp(int32_t level, float *v, const float *c, float dt, const uint64_t *live, int64_t n) {
	DISPATCH(level, damp, v, c, dt, live, n);
}

void et_clamp(int32_t level, float *x, float lo, float hi, const uint64_t *live, int64_t n) {
	DISPATCH(level, clamp, x, lo, hi, live, n);
}

void et_wrap(int32_t level, float *x, float lo, float hi, const uint64_t *live, int64_t n) {
	DISPATCH(level, wrap, x, lo, hi, live, n);
}

void et_lerp(int32_t level, float *out, const float *prev, const float *cur, float alpha,
             const uint64_t *teleported, const uint64_t *live, int64_t n) {
	DISPATCH(level, lerp, out, prev, cur, alpha, teleported, live, n);
}
