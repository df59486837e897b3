#include "reduce.h"
#include "rows.h"

KERNEL(void, copy, float *dst, const float *src, const uint64_t *live, int64_t n) {
	SHORT(n, et_copy_c(dst, src, live, n));
	EACH_ROW(live, n, PUT(dst, V(load)(src + i)));
}

KERNEL(void, fill, float *dst, float value, const uint64_t *live, int64_t n) {
	SHORT(n, et_fill_c(dst, value, live, n));
	const V(f) all = V(set1)(value);
	EACH_ROW(live, n, PUT(dst, all));
}

#ifdef DISPATCH
void et_copy(int32_t level, float *dst, const float *src, const uint64_t *live, int64_t n) {
	DISPATCH(level, copy, dst, src, live, n);
}

void et_fill(int32_t level, float *dst, float value, const uint64_t *live, int64_t n) {
	DISPATCH(level, fill, dst, value, live, n);
}
#endif
