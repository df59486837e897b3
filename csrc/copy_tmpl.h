KERNEL(LEVEL) void CAT(copy_, LEVEL)(float *dst, const float *src, const uint64_t *live, int64_t n) {
	SHORT(n, copy_c(dst, src, live, n));
	EACH_ROW(live, n, PUT(dst, V(load)(src + i)));
}

KERNEL(LEVEL) void CAT(fill_, LEVEL)(float *dst, float value, const uint64_t *live, int64_t n) {
	SHORT(n, fill_c(dst, value, live, n));
	const V(f) all = V(set1)(value);
	EACH_ROW(live, n, PUT(dst, all));
}
