/* Vectors that are always copied, so that the length of a short row decides no
 * branch: those beyond its end are moved back to end with it. */
enum { CAT(ALWAYS_, LEVEL) = V(LANES) == 1 ? 1 : 48 / V(LANES) };

HELPER(LEVEL) void CAT(copy_, LEVEL)(uint32_t *to, const uint32_t *from, int64_t n) {
	if (n < V(LANES)) {
		for (int64_t i = 0; i < n; i++)
			to[i] = from[i];
		return;
	}
	const int64_t last = n - V(LANES);
	for (int64_t k = 0; k < CAT(ALWAYS_, LEVEL); k++) {
		const int64_t i = k * V(LANES) < last ? k * V(LANES) : last;
		V(storeu)(to + i, V(loadu)(from + i));
	}
	for (int64_t i = CAT(ALWAYS_, LEVEL) * V(LANES); i < n; i += V(LANES)) {
		const int64_t at = i < last ? i : last;
		V(storeu)(to + at, V(loadu)(from + at));
	}
}

HELPER(LEVEL) void CAT(copyf_, LEVEL)(float *to, const float *from, int64_t n) {
	if (n < V(LANES)) {
		for (int64_t i = 0; i < n; i++)
			to[i] = from[i];
		return;
	}
	const int64_t last = n - V(LANES);
	for (int64_t k = 0; k < CAT(ALWAYS_, LEVEL); k++) {
		const int64_t i = k * V(LANES) < last ? k * V(LANES) : last;
		V(store)(to + i, V(load)(from + i));
	}
	for (int64_t i = CAT(ALWAYS_, LEVEL) * V(LANES); i < n; i += V(LANES)) {
		const int64_t at = i < last ? i : last;
		V(store)(to + at, V(load)(from + at));
	}
}

KERNEL(LEVEL) int64_t CAT(scatter_, LEVEL)(const scattering *s, int64_t begin) {
	for (int64_t i = 0; i < AHEAD; i++)
		ask_for(s, i);
	for (int64_t i = 0; i < s->n; i++) {
		ask_for(s, i + AHEAD);
		const int64_t end = s->ends[i], n = end - begin;
		if (n < 0 || end > s->cap || s->number[i] >= s->n_offsets)
			return i;
		const int64_t to = s->offsets[s->number[i]];
		if (n > s->to_cap - to)
			return i;
		CAT(copy_, LEVEL)(s->to_slots + to, s->slots + begin, n);
		if (s->d2)
			CAT(copyf_, LEVEL)(s->to_d2 + to, s->d2 + begin, n);
		begin = end;
	}
	return s->n;
}
