HELPER(LEVEL) float CAT(least_, LEVEL)(V(f) a) {
	float lanes[V(LANES)];
	V(store)(lanes, a);
	for (int i = 1; i < V(LANES); i++)
		lanes[0] = c_min(lanes[i], lanes[0]);
	return lanes[0];
}

HELPER(LEVEL) float CAT(greatest_, LEVEL)(V(f) a) {
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

KERNEL(LEVEL) void CAT(bounds_, LEVEL)(const float *x, const float *y, const float *z, const uint64_t *live, int64_t n,
                                       float *least, float *greatest) {
	SHORT(n, bounds_c(x, y, z, live, n, least, greatest));
	const V(f) none = V(set1)(__builtin_nanf(""));
	V(f) x0 = V(set1)(__builtin_inff()), y0 = x0, z0 = x0;
	V(f) x1 = V(set1)(-__builtin_inff()), y1 = x1, z1 = x1;
	EACH_ROW(live, n, COUNT(x, x0, x1); COUNT(y, y0, y1); COUNT(z, z0, z1));
	least[0] = CAT(least_, LEVEL)(x0);
	least[1] = CAT(least_, LEVEL)(y0);
	least[2] = CAT(least_, LEVEL)(z0);
	greatest[0] = CAT(greatest_, LEVEL)(x1);
	greatest[1] = CAT(greatest_, LEVEL)(y1);
	greatest[2] = CAT(greatest_, LEVEL)(z1);
}
#undef COUNT
