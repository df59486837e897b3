/* The points of cells [first, last) that are within the radius, appended at
 * out[fill] in the order in which they stand; returns the new fill. Whole
 * vectors are stored, so out needs LANES elements beyond the last candidate. */
HELPER(LEVEL) int64_t CAT(scan_, LEVEL)(const points *p, const query *q, uint32_t first, uint32_t last,
                                        uint32_t *out, float *d2, int64_t fill) {
	const V(f) qx = V(set1)(q->x), qy = V(set1)(q->y), qz = V(set1)(q->z), r2 = V(set1)(q->r2);
	const V(u) exclude = V(set1u)(q->exclude);
	for (uint32_t i = first; i < last; i += V(LANES)) {
		const V(f) dx = V(sub)(V(load)(p->x + i), qx);
		const V(f) dy = V(sub)(V(load)(p->y + i), qy);
		const V(f) dz = V(sub)(V(load)(p->z + i), qz);
		const V(f) dist2 = V(add)(V(add)(V(mul)(dx, dx), V(mul)(dy, dy)), V(mul)(dz, dz));
		const V(u) slot = V(loadu)(p->slot + i);
		const V(mask) hit = V(le)(dist2, r2) & V(nequ)(slot, exclude) & V(first)(last - i);
		V(storeu)(out + fill, V(packu)(slot, hit));
		if (d2)
			V(store)(d2 + fill, V(pack)(dist2, hit));
		fill += V(count)(hit);
	}
	return fill;
}

KERNEL(LEVEL) int64_t CAT(radius_, LEVEL)(const et_grid *g, const uint32_t *start, const points *p,
                                          const queries *qs, uint32_t *ends, uint32_t *out, float *d2,
                                          int64_t fill, int64_t cap, const sorter *s) {
	const uint32_t total = start[(int64_t)g->n[0] * g->n[1] * g->n[2]];
	for (int64_t i = 0; i < qs->n; i++) {
		const query q = query_at(qs, i);
		const box b = box_around(g, &q);
		const int64_t row = fill;
		for (int32_t k = b.lo[2]; k <= b.hi[2]; k++) {
			for (int32_t j = b.lo[1]; j <= b.hi[1]; j++) {
				const span cells = span_of(start, &b, j, k);
				if (cells.first == cells.last)
					continue;
				if (cells.first > cells.last || cells.last > total)
					return -1;
				if (cap - fill < (int64_t)(cells.last - cells.first) + V(LANES))
					return i;
				fill = CAT(scan_, LEVEL)(p, &q, cells.first, cells.last, out, d2, fill);
			}
		}
		if (s->marks && !sort_row(s, out, d2, row, fill))
			return -1;
		ends[i] = (uint32_t)fill;
	}
	return qs->n;
}
