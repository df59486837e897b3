#include "reduce.h"
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

/* A row that does not count is NaN, which neither min nor max prefers to what they
 * have. */
#define COUNT(column, least, greatest)                                                                 \
	const V(f) column##_row = whole ? V(load)(column + i) : V(select)(rows, V(load)(column + i), none); \
	least = V(min)(column##_row, least);                                                           \
	greatest = V(max)(column##_row, greatest)

KERNEL(void, bounds, const float *x, const float *y, const float *z, const uint64_t *live, int64_t n,
       float *least, float *greatest) {
	SHORT(n, et_bounds_c(x, y, z, live, n, least, greatest));
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

#ifdef DISPATCH
void et_bounds(int32_t level, const float *x, const float *y, const float *z, const uint64_t *live, int64_t n,
               float *least, float *greatest) {
	DISPATCH(level, bounds, x, y, z, live, n, least, greatest);
}
#endif
