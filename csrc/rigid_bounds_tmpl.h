/* The box of a shape before it grows by its radius; NaN if a vertex is not finite. */
HELPER(LEVEL) quad CAT(around_, LEVEL)(const et_shape *s, float px, float py, float cos, float sin) {
	const V(points) p = V(both)(px, py), c = V(both)(cos, cos), turn = V(both)(-sin, sin);
	const float *const vertices = &s->vertices[0][0];
	V(points) lo = p, hi = p;
	uint32_t odd = 0;
	for (uint32_t i = 0; i < s->count; i += V(POINTS)) {
		const V(points) v = V(fetchp)(vertices + 2 * i, s->count - i);
		const V(points) at = V(padd)(V(padd)(V(pmul)(v, c), V(pmul)(V(swap)(v), turn)), p);
		lo = i == 0 ? at : V(pmin)(at, lo);
		hi = i == 0 ? at : V(pmax)(at, hi);
		odd |= V(odd)(at);
	}
	return odd ? NONE : V(fold)(lo, hi);
}

KERNEL(LEVEL) int64_t CAT(rigid_bounds_, LEVEL)(const et_shape *shapes, const uint32_t *body, int64_t n,
                                                const poses *p, float margin, const boxes *to) {
	for (int64_t i = 0; i < n; i += FOUR) {
		const int64_t some = n - i < FOUR ? n - i : FOUR;
		quad around[FOUR] = {NONE, NONE, NONE, NONE}, r = NONE;
		for (int64_t k = 0; k < some; k++) {
			const et_shape *const s = shapes + i + k;
			const uint32_t b = body[i + k];
			if (s->count == 0)
				continue;
			if (s->count > ET_VERTICES || b >= p->n)
				return i + k;
			around[k] = CAT(around_, LEVEL)(s, p->x[b], p->y[b], p->cos[b], p->sin[b]);
			r[k] = s->radius;
		}
		put(to, i, some, around, r + (quad){margin, margin, margin, margin});
	}
	return n;
}
