#include "ops.h"
#include "reduce_lanes.h"
#include "rows.h"

HELPER(LEVEL) float least_lane(V(f) a) {
	float lanes[V(LANES)];
	V(store)(lanes, a);
	for (int i = 1; i < V(LANES); i++)
		lanes[0] = c_min(lanes[i], lanes[0]);
	return lanes[0];
}

HELPER(LEVEL) float greatest_lane(V(f) a) {
	float lanes[V(LANES)];
	V(store)(lanes, a);
	for (int i = 1; i < V(LANES); i++)
		lanes[0] = c_max(lanes[i], lanes[0]);
	return lanes[0];
}

/* A row that does not count is replaced by NaN; min and max then keep their other operand. */
#define COUNT(column, least, greatest)                                                                 \
	const V(f) column##_row = whole ? V(load)(p.column + i) : V(select)(rows, V(load)(p.column + i), none); \
	least = V(min)(column##_row, least);                                                           \
	greatest = V(max)(column##_row, greatest)

KERNEL(void, bounds, et_vec3 p, const uint64_t *live, int64_t n, float *least, float *greatest) {
	SHORT(n, et_bounds_c(p, live, n, least, greatest));
	const V(f) none = V(set1)(__builtin_nanf(""));
	V(f) x0 = V(set1)(__builtin_inff()), y0 = x0, z0 = x0;
	V(f) x1 = V(set1)(-__builtin_inff()), y1 = x1, z1 = x1;
	EACH_ROW(live, n, COUNT(x, x0, x1); COUNT(y, y0, y1); COUNT(z, z0, z1));
	least[0] = least_lane(x0);
	least[1] = least_lane(y0);
	least[2] = least_lane(z0);
	greatest[0] = greatest_lane(x1);
	greatest[1] = greatest_lane(y1);
	greatest[2] = greatest_lane(z1);
}
#undef COUNT

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

/* Ends the search if any lane has found a row. */
#define STOP_AT(found)                                          \
	do {                                                    \
		const uint32_t bits = (uint32_t)((found) & rows); \
		if (bits) {                                     \
			*row = i + __builtin_ctz(bits);         \
			return;                                 \
		}                                               \
	} while (0)

/* x - x is 0 for finite x, and NaN otherwise. */
KERNEL(void, first_not_finite, const float *x, const uint64_t *live, int64_t n, int64_t *row) {
	SHORT(n, et_first_not_finite_c(x, live, n, row));
	EACH_ROW(live, n, {
		const V(f) a = V(load)(x + i), d = V(sub)(a, a);
		STOP_AT(V(unordered)(d, d));
	});
	*row = -1;
}

KERNEL(void, first_beyond, const uint32_t *index, uint32_t limit, const uint64_t *live, int64_t n, int64_t *row) {
	SHORT(n, et_first_beyond_c(index, limit, live, n, row));
	const V(u) all = V(set1u)(limit);
	EACH_ROW(live, n, STOP_AT(V(beyond)(V(loadu)(index + i), all)));
	*row = -1;
}
#undef STOP_AT

/* Read as an integer without its sign, a NaN is above infinity, and nothing else is: adding lift then carries into
 * the sign bit. The compiler vectorizes the loop over lanes. */
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
void et_bounds(int32_t level, et_vec3 p, const uint64_t *live, int64_t n, float *least, float *greatest) {
	DISPATCH(level, bounds, p, live, n, least, greatest);
}

void et_sum(int32_t level, const float *x, const uint64_t *live, int64_t n, double *sum) {
	DISPATCH(level, sum, x, live, n, sum);
}

void et_first_not_finite(int32_t level, const float *x, const uint64_t *live, int64_t n, int64_t *row) {
	DISPATCH(level, first_not_finite, x, live, n, row);
}

void et_first_beyond(int32_t level, const uint32_t *index, uint32_t limit, const uint64_t *live, int64_t n, int64_t *row) {
	DISPATCH(level, first_beyond, index, limit, live, n, row);
}

int32_t et_nan32(int32_t level, const uint32_t *x, int64_t n) { return DISPATCH(level, nan32, x, n); }

int32_t et_nan64(int32_t level, const uint64_t *x, int64_t n) { return DISPATCH(level, nan64, x, n); }
#endif
