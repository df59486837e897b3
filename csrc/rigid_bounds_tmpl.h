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

/* Up to four boxes from shape i on. Returns their number, or that of the first shape
 * that is at fault. */
HELPER(LEVEL) int64_t CAT(some_, LEVEL)(const et_shape *shapes, const uint32_t *body, int64_t i, int64_t some,
                                        const poses *p, float margin, const boxes *to) {
	quad around[FOUR] = {NONE, NONE, NONE, NONE}, r = NONE;
	for (int64_t k = 0; k < some; k++) {
		const et_shape *const s = shapes + i + k;
		const uint32_t b = body[i + k];
		r[k] = s->radius;
		if (s->count == 0)
			continue;
		if (s->count > ET_VERTICES || b >= p->n)
			return k;
		around[k] = CAT(around_, LEVEL)(s, p->x[b], p->y[b], p->cos[b], p->sin[b]);
	}
	put(to, i, some, around, r + ALL(margin));
	return some;
}

KERNEL(LEVEL) int64_t CAT(rigid_bounds_, LEVEL)(const et_shape *shapes, const uint32_t *body, int64_t n,
                                                const poses *given, float margin, const boxes *given_boxes) {
	const poses p = *given;
	const boxes to = *given_boxes;
	int64_t i = 0;
	for (; i + FOUR <= n; i += FOUR) {
		const int64_t done = CAT(some_, LEVEL)(shapes, body, i, FOUR, &p, margin, &to);
		if (done < FOUR)
			return i + done;
	}
	return i == n ? n : i + CAT(some_, LEVEL)(shapes, body, i, n - i, &p, margin, &to);
}
