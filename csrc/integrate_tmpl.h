KERNEL(LEVEL) void CAT(integrate_, LEVEL)(float *pos, const float *vel, float dt, size_t n) {
	const V(f) step = V(set1)(dt);
	size_t i = 0;
	for (; i + V(LANES) <= n; i += V(LANES))
		V(store)(pos + i, V(add)(V(load)(pos + i), V(mul)(V(load)(vel + i), step)));
	for (; i < n; i++)
		pos[i] = pos[i] + vel[i] * dt;
}
