#include "reduce.h"
#include "reduce_lanes.h"
#include "rows.h"

KERNEL(void, sum, const float *x, const uint64_t *live, int64_t n, double *sum) {
	enum { VECTORS = ET_SUMS / V(LANES) };
	V(sums) sums[VECTORS];
	for (int k = 0; k < VECTORS; k++)
		sums[k] = V(zeros)();
	int64_t i = 0;
	for (; i + ET_SUMS <= n; i += ET_SUMS) {
		const uint32_t rows = live ? (uint32_t)(live[i / 64] >> i % 64) : ~0u;
		for (int k = 0; k < VECTORS; k++) {
			const V(f) a = V(load)(x + i + k * V(LANES));
			sums[k] = V(addto)(sums[k], live ? V(keep)(a, (V(mask))(rows >> k * V(LANES) & ALL_LANES)) : a);
		}
	}
	double s[ET_SUMS];
	for (int k = 0; k < VECTORS; k++)
		V(storesums)(s + k * V(LANES), sums[k]);
	for (int64_t j = 0; i < n; i++, j++)
		s[j] = c_addto(s[j], c_keep(x[i], !live || live[i / 64] >> i % 64 & 1));
	for (int half = ET_SUMS / 2; half; half /= 2)
		for (int j = 0; j < half; j++)
			s[j] += s[j + half];
	*sum = s[0];
}

#ifdef DISPATCH
void et_sum(int32_t level, const float *x, const uint64_t *live, int64_t n, double *sum) {
	DISPATCH(level, sum, x, live, n, sum);
}
#endif
