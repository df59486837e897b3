/* The points of cells [first, last) that are within the radius, appended at
 * out[fill] in the order in which they stand; returns the new fill. Whole
 * vectors are stored, so out needs LANES elements beyond the last candidate. */
HELPER(LEVEL) int64_t CAT(scan_, LEVEL)(const points *p, const query *q, uint32_t first, uint32_t last,
                                        uint32_t *out, float *d2, int64_t fill) {
	const V(f) qx = V(set1)(q->x), qy = V(set1)(q->y), qz = V(set1)(q->z), r2 = V(set1)(q->r2);
	const V(u) exclude = V(set1u)(q->exclude);
	for (uint32_t i = first & ~(V(LANES) - 1u); i < last; i += V(LANES)) {
		const et_block *const b = p->blocks + i / ET_BLOCK;
		const uint32_t lane = i % ET_BLOCK;
		const V(f) dx = V(sub)(V(load)(b->x + lane), qx);
		const V(f) dy = V(sub)(V(load)(b->y + lane), qy);
		const V(f) dz = V(sub)(V(load)(b->z + lane), qz);
		const V(f) dist2 = V(add)(V(add)(V(mul)(dx, dx), V(mul)(dy, dy)), V(mul)(dz, dz));
		const V(u) slot = V(loadu)(b->slot + lane);
		const V(mask) hit = V(le)(dist2, r2) & V(nequ)(slot, exclude) & V(first)(last - i) &
		                    ~V(first)(i < first ? first - i : 0);
		V(storeu)(out + fill, V(packu)(slot, hit));
		if (d2)
			V(store)(d2 + fill, V(pack)(dist2, hit));
		fill += V(count)(hit);
	}
	return fill;
}

/* Sorts a row of up to SHORT_ROW slots by counting: the place of a slot is the
 * number of smaller ones. n*n/LANES comparisons without a branch beat a bitmap
 * while n is small. Returns 0 if a slot has no mark, as sort_row does. */
HELPER(LEVEL) int CAT(rank_, LEVEL)(const sorter *s, uint32_t *out, float *d2, uint32_t n) {
	uint32_t slot[SHORT_ROW + V(LANES)], place[SHORT_ROW + V(LANES)];
	float dist2[SHORT_ROW];
	uint32_t all = 0;
	for (uint32_t i = 0; i < n; i++) {
		slot[i] = out[i];
		all |= out[i];
	}
	if (all >> 6 >= s->words) /* rare, and perhaps still good: look closer */
		return sort_row(s, out, d2, 0, n);
	for (uint32_t i = n; i < n + V(LANES); i++)
		slot[i] = 0;
	if (d2)
		for (uint32_t i = 0; i < n; i++)
			dist2[i] = d2[i];
	for (uint32_t i = 0; i < n; i += V(LANES)) {
		const V(u) own = V(loadu)(slot + i);
		V(u) smaller = V(set1u)(0);
		for (uint32_t j = 0; j < n; j++)
			smaller = V(tally)(smaller, own, V(set1u)(slot[j]));
		V(storeu)(place + i, smaller);
	}
	for (uint32_t i = 0; i < n; i++) {
		out[place[i]] = slot[i];
		if (d2)
			d2[place[i]] = dist2[i];
	}
	return 1;
}

/* Sorts out[from, to) by slot, the faster way, which depends on how many lanes
 * count at a time; returns 0 if one has no mark. */
HELPER(LEVEL) int CAT(order_, LEVEL)(const sorter *s, uint32_t *out, float *d2, int64_t from, int64_t to) {
	if (to - from > (8 * V(LANES) < SHORT_ROW ? 8 * V(LANES) : SHORT_ROW))
		return sort_row(s, out, d2, from, to);
	return CAT(rank_, LEVEL)(s, out + from, d2 ? d2 + from : d2, (uint32_t)(to - from));
}

/* Appends the row of a query at out[fill]; returns the new fill, -1 if start
 * does not ascend, or -2 if the room is too small. */
HELPER(LEVEL) int64_t CAT(row_, LEVEL)(const et_grid *g, const uint32_t *start, const points *p, const query *q,
                                       uint32_t *out, float *d2, int64_t fill, int64_t cap) {
	const box b = box_around(g, q);
	for (int32_t k = b.lo[2]; k <= b.hi[2]; k++) {
		for (int32_t j = b.lo[1]; j <= b.hi[1]; j++) {
			const span cells = span_of(start, &b, j, k);
			if (cells.first == cells.last)
				continue;
			if (cells.first > cells.last || cells.last > p->n)
				return -1;
			if (cap - fill < (int64_t)(cells.last - cells.first) + V(LANES))
				return -2;
			fill = CAT(scan_, LEVEL)(p, q, cells.first, cells.last, out, d2, fill);
		}
	}
	return fill;
}

/* A row is sorted when the next one has been found: its vectors, which overlap,
 * have then left the store buffer, and the two pieces of work run side by side. */
KERNEL(LEVEL) int64_t CAT(radius_, LEVEL)(const et_grid *g, const uint32_t *start, const points *p,
                                          const queries *qs, uint32_t *ends, uint32_t *out, float *d2,
                                          int64_t fill, int64_t cap, const sorter *s) {
	int64_t i = 0, last = fill;
	for (; i < qs->n; i++) {
		const query q = query_at(qs, i);
		const int64_t end = CAT(row_, LEVEL)(g, start, p, &q, out, d2, fill, cap);
		if (s->marks && !CAT(order_, LEVEL)(s, out, d2, last, fill))
			return -1;
		last = fill;
		if (end == -1)
			return -1;
		if (end < 0)
			return i;
		ends[i] = (uint32_t)(fill = end);
	}
	if (s->marks && !CAT(order_, LEVEL)(s, out, d2, last, fill))
		return -1;
	return i;
}
