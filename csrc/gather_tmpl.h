/* Row 0 of src stands for the indices of rows that are not named. */
KERNEL(LEVEL) void CAT(gather_, LEVEL)(float *dst, const float *src, const uint32_t *index, const uint64_t *live, int64_t n) {
	SHORT(n, gather_c(dst, src, index, live, n));
	EACH_ROW(live, n, {
		const V(u) at = V(loadu)(index + i);
		PUT(dst, V(fetch)(src, whole ? at : V(keepu)(at, rows)));
	});
}
