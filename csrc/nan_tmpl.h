#include "lanes.h"
#include "nan.h"

/* As an integer without its sign a NaN, and nothing else, is above infinity: what is
 * added then carries into the place of the sign. The compiler makes vectors of the
 * loop over lanes. */
#define SCAN(type, mask, lift)                                            \
	do {                                                              \
		type any[V(LANES)] = {0};                                 \
		int64_t i = 0;                                            \
		for (; i + V(LANES) <= n; i += V(LANES))                  \
			for (int lane = 0; lane < V(LANES); lane++)       \
				any[lane] |= (x[i + lane] & mask) + lift; \
		for (; i < n; i++)                                        \
			any[0] |= (x[i] & mask) + lift;                   \
		for (int lane = 1; lane < V(LANES); lane++)               \
			any[0] |= any[lane];                              \
		return (int32_t)(any[0] >> (8 * sizeof(type) - 1));       \
	} while (0)

KERNEL(int32_t, nan32, const uint32_t *x, int64_t n) {
	SCAN(uint32_t, 0x7fffffffu, 0x007fffffu);
}

KERNEL(int32_t, nan64, const uint64_t *x, int64_t n) {
	SCAN(uint64_t, 0x7fffffffffffffffu, 0x000fffffffffffffu);
}
#undef SCAN

#ifdef DISPATCH
int32_t et_nan32(int32_t level, const uint32_t *x, int64_t n) { return DISPATCH(level, nan32, x, n); }

int32_t et_nan64(int32_t level, const uint64_t *x, int64_t n) { return DISPATCH(level, nan64, x, n); }
#endif
