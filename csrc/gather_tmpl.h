#include "reduce.h"
#include "rows.h"

/* Row 0 of src stands for the indices of rows that are not named. */
KERNEL(void, gather, float *dst, const float *src, const uint32_t *index, const uint64_t *live, int64_t n) {
	SHORT(n, et_gather_c(dst, src, index, live, n));
	EACH_ROW(live, n, {
		const V(u) at = V(loadu)(index + i);
		PUT(dst, V(fetch)(src, whole ? at : V(keepu)(at, rows)));
	});
}

#ifdef DISPATCH
void et_gather(int32_t level, float *dst, const float *src, const uint32_t *index, const uint64_t *live, int64_t n) {
	DISPATCH(level, gather, dst, src, index, live, n);
}
#endif
