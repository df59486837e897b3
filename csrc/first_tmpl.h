#include "reduce.h"
#include "reduce_lanes.h"
#include "rows.h"

/* Ends the search if a row is among those found. */
#define STOP_AT(found)                                          \
	do {                                                    \
		const uint32_t bits = (uint32_t)((found) & rows); \
		if (bits) {                                     \
			*row = i + __builtin_ctz(bits);         \
			return;                                 \
		}                                               \
	} while (0)

/* A finite number less itself is 0, any other NaN. */
KERNEL(void, first_not_finite, const float *x, const uint64_t *live, int64_t n, int64_t *row) {
	SHORT(n, et_first_not_finite_c(x, live, n, row));
	EACH_ROW(live, n, {
		const V(f) a = V(load)(x + i), d = V(sub)(a, a);
		STOP_AT(V(unordered)(d, d));
	});
	*row = -1;
}

KERNEL(void, first_beyond, const uint32_t *index, uint32_t limit, const uint64_t *live, int64_t n,
       int64_t *row) {
	SHORT(n, et_first_beyond_c(index, limit, live, n, row));
	const V(u) all = V(set1u)(limit);
	EACH_ROW(live, n, STOP_AT(V(beyond)(V(loadu)(index + i), all)));
	*row = -1;
}
#undef STOP_AT

#ifdef DISPATCH
void et_first_not_finite(int32_t level, const float *x, const uint64_t *live, int64_t n, int64_t *row) {
	DISPATCH(level, first_not_finite, x, live, n, row);
}

void et_first_beyond(int32_t level, const uint32_t *index, uint32_t limit, const uint64_t *live, int64_t n, int64_t *row) {
	DISPATCH(level, first_beyond, index, limit, live, n, row);
}
#endif
