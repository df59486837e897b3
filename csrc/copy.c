#include "reduce.h"
#include "rows.h"

#define TEMPLATE "copy_tmpl.h"
#include "levels.h"

void et_copy(int32_t level, float *dst, const float *src, const uint64_t *live, int64_t n) {
	DISPATCH(level, copy, dst, src, live, n);
}

void et_fill(int32_t level, float *dst, float value, const uint64_t *live, int64_t n) {
	DISPATCH(level, fill, dst, value, live, n);
}
