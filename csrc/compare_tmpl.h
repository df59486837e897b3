#include "ops.h"
#include "rows.h"

HELPER(LEVEL) V(mask) holds(V(f) x, V(f) y, int32_t how) {
	switch (how) {
	case ET_LESS:
		return V(lt)(x, y);
	case ET_LESS_EQUAL:
		return V(le)(x, y);
	case ET_GREATER:
		return V(lt)(y, x);
	case ET_GREATER_EQUAL:
		return V(le)(y, x);
	case ET_EQUAL:
		return V(le)(x, y) & V(le)(y, x);
	}
	return ALL_LANES & ~(V(le)(x, y) & V(le)(y, x));
}

/* how and columns are constants: the compiler makes a loop for each. The rows that fill no vector are compared in one
 * that ends with the last row. */
HELPER(LEVEL) void compare_rows(uint64_t *to, const float *x, const float *y, float limit, const uint64_t *live, int64_t n,
                                int32_t how, int columns) {
	const V(f) all = V(set1)(limit);
#define ROWS_FROM(i) ((uint64_t)holds(V(load)(x + (i)), columns ? V(load)(y + (i)) : all, how))
	for (int64_t i = 0; i < n; i += 64) {
		const int64_t rows = n - i < 64 ? n - i : 64;
		const uint64_t named = (live ? live[i / 64] : ~(uint64_t)0) & ~(uint64_t)0 >> (64 - rows);
		uint64_t bits = 0;
		if (named) {
			int64_t k = 0;
			for (; k + V(LANES) <= rows; k += V(LANES))
				bits |= ROWS_FROM(i + k) << k;
			if (k < rows) {
				const int64_t last = rows - V(LANES);
				const uint64_t found = ROWS_FROM(i + last);
				bits |= last < 0 ? found >> -last : found << last;
			}
		}
		to[i / 64] = bits & named;
	}
#undef ROWS_FROM
}

#define COMPARE(how)                                                        \
	case how:                                                           \
		if (y)                                                      \
			compare_rows(to, x, y, limit, live, n, how, 1);     \
		else                                                        \
			compare_rows(to, x, y, limit, live, n, how, 0);     \
		break

KERNEL(void, compare, uint64_t *to, const float *x, int32_t how, const float *y, float limit, const uint64_t *live, int64_t n) {
	SHORT(n, et_compare_c(to, x, how, y, limit, live, n));
	switch (how) {
		COMPARE(ET_LESS);
		COMPARE(ET_LESS_EQUAL);
		COMPARE(ET_GREATER);
		COMPARE(ET_GREATER_EQUAL);
		COMPARE(ET_EQUAL);
		COMPARE(ET_NOT_EQUAL);
	}
}
#undef COMPARE

#ifdef DISPATCH
void et_compare(int32_t level, uint64_t *to, const float *x, int32_t how, const float *y, float limit, const uint64_t *live,
                int64_t n) {
	DISPATCH(level, compare, to, x, how, y, limit, live, n);
}
#endif
