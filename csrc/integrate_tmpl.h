KERNEL(LEVEL) void CAT(integrate_, LEVEL)(float *pos, const float *vel, float dt, const uint64_t *live, int64_t n) {
	SHORT(n, integrate_c(pos, vel, dt, live, n));
	const V(f) step = V(set1)(dt);
	EACH_ROW(live, n, PUT(pos, V(add)(V(load)(pos + i), V(mul)(V(load)(vel + i), step))));
}
