/* Appends the points [first, last) that pass the filters and do not come behind
 * (most, most_slot) to the candidates. plain: there are no filters but exclude,
 * and every slot up to most will do. */
HELPER(LEVEL) void CAT(test_, LEVEL)(const point_set *p, const query *q, candidates *c, uint32_t first, uint32_t last,
                                     const int plain) {
	const V(f) qx = V(set1)(q->c[0]), qy = V(set1)(q->c[1]), qz = V(set1)(q->c[2]), r2 = V(set1)(c_asf(c->most));
	const V(u) exclude = V(set1u)(q->f.exclude), most = V(set1u)(c->most), most_slot = V(set1u)(c->most_slot);
	const V(u) mask = V(set1u)(q->f.mask);
	uint32_t n = c->n;
	for (uint32_t i = first & ~(V(LANES) - 1u); i < last; i += V(LANES)) {
		const et_block *const b = p->blocks + i / ET_BLOCK;
		const uint32_t lane = i % ET_BLOCK;
		const V(f) dx = V(sub)(V(load)(b->x + lane), qx);
		const V(f) dy = V(sub)(V(load)(b->y + lane), qy);
		const V(f) dz = V(sub)(V(load)(b->z + lane), qz);
		const V(f) dist2 = NORM2(dx, dy, dz);
		const V(u) slot = V(loadu)(b->slot + lane), d2 = V(asu)(dist2);
		V(mask) hit = V(le)(dist2, r2) & V(nequ)(slot, exclude) & V(first)(last - i) &
		              ~V(first)(i < first ? first - i : 0);
		if (!plain) {
			if (p->category)
				hit &= V(anyu)(V(loadu)(p->category + i), mask);
			if (p->live)
				hit &= (uint32_t)p->live[i / ET_BLOCK] >> lane;
			hit &= V(nequ)(d2, most) | ~V(gtu)(slot, most_slot);
		}
		V(storeu)(c->d2 + n, V(packu)(d2, hit));
		V(storeu)(c->slot + n, V(packu)(slot, hit));
		n += V(count)(hit);
	}
	c->n = n;
}

/* How many candidates have a d2 up to most. */
HELPER(LEVEL) uint32_t CAT(near_, LEVEL)(const candidates *c, uint32_t d2) {
	const V(f) most = V(set1)(c_asf(d2));
	uint32_t n = 0;
	for (uint32_t i = 0; i < c->n; i += V(LANES))
		n += V(count)(V(first)(c->n - i) & V(le)(V(asf)(V(loadu)(c->d2 + i)), most));
	return n;
}

/* The candidates from i on that do not come behind (d2, slot). */
HELPER(LEVEL) V(mask) CAT(upto_, LEVEL)(const candidates *c, uint32_t i, uint32_t d2, uint32_t slot) {
	const V(u) own = V(loadu)(c->d2 + i), most = V(set1u)(d2);
	const V(mask) behind = V(gtu)(own, most) |
	                       (~V(nequ)(own, most) & V(gtu)(V(loadu)(c->slot + i), V(set1u)(slot)));
	return V(first)(c->n - i) & ~behind;
}

/* Throws far candidates away until at most room are left, which is not less than
 * k: first by d2, then, where too many have the same, by slot. */
KERNEL(LEVEL) void CAT(narrow_, LEVEL)(candidates *c, uint32_t k, uint32_t room) {
	const float aim = 0.5f * (float)(k + room);
	uint32_t d2 = c->most, slot, found = c->n;
	int64_t below = -1; /* fewer than k are up to here */
	for (int look = 0; found > room && (int64_t)d2 - below > 1; look++) {
		const uint32_t mid = between(below, d2, aim / (float)found, look);
		const uint32_t n = CAT(near_, LEVEL)(c, mid);
		if (n >= k)
			d2 = mid, found = n;
		else
			below = mid;
	}
	slot = d2 == c->most ? c->most_slot : MOST_SLOT;
	below = -1;
	while (found > room && (int64_t)slot - below > 1) {
		const uint32_t mid = (uint32_t)(below + ((int64_t)slot - below) / 2);
		uint32_t n = 0;
		for (uint32_t i = 0; i < c->n; i += V(LANES))
			n += V(count)(CAT(upto_, LEVEL)(c, i, d2, mid));
		if (n >= k)
			slot = mid, found = n;
		else
			below = mid;
	}
	uint32_t kept = 0;
	for (uint32_t i = 0; i < c->n; i += V(LANES)) {
		const V(u) own = V(loadu)(c->d2 + i), slots = V(loadu)(c->slot + i);
		const V(mask) keep = CAT(upto_, LEVEL)(c, i, d2, slot);
		V(storeu)(c->d2 + kept, V(packu)(own, keep));
		V(storeu)(c->slot + kept, V(packu)(slots, keep));
		kept += V(count)(keep);
	}
	c->n = kept < room ? kept : room; /* more only if a slot occurs twice */
	c->most = d2;
	c->most_slot = slot;
}

/* Tests the points [first, last), a piece at a time. */
HELPER(LEVEL) void CAT(scan_, LEVEL)(const point_set *p, const query *q, candidates *c, uint32_t k, span s) {
	while (s.first < s.last) {
		const uint32_t end = s.last - s.first > PIECE ? (s.first + PIECE) & ~(ET_BLOCK - 1u) : s.last;
		if (c->n > ROOM - PIECE)
			CAT(narrow_, LEVEL)(c, k, 2 * k);
		if (p->category || p->live || c->most_slot != MOST_SLOT)
			CAT(test_, LEVEL)(p, q, c, s.first, end, 0);
		else
			CAT(test_, LEVEL)(p, q, c, s.first, end, 1);
		s.first = end;
	}
}

/* Tests the points in a box of cells. Returns 0 if start does not ascend. */
HELPER(LEVEL) int CAT(box_, LEVEL)(const point_set *p, const query *q, candidates *c, uint32_t k, const cell_box *cells,
                                   int64_t *work) {
	const cell_box b = join_rows(p->grid, p->start, *cells, ROW_COST);
	for (int32_t z = b.lo[2]; z <= b.hi[2]; z++) {
		for (int32_t y = b.lo[1]; y <= b.hi[1]; y++) {
			const span s = row_of(p->grid, p->start, &b, y, z);
			if (s.first > s.last || s.last > p->n)
				return 0;
			*work += 1 + (s.last - s.first) / ET_BLOCK;
			CAT(scan_, LEVEL)(p, q, c, k, s);
		}
	}
	return 1;
}

/* Tests the points in those cells of a box that a ball reaches. Most of the box around
 * a ball that comes from far away lies outside it. Returns 0 if start does not ascend. */
ROUTINE(LEVEL) int CAT(ball_, LEVEL)(const point_set *p, const queries *qs, const query *q, candidates *c,
                                     const cell_box *cells, float r, int64_t *work) {
	const et_grid *const g = p->grid;
	const float r2 = r * r, reach = reach_of(r, r2);
	const float gap_x = larger(larger(qs->lo[0] - q->c[0], q->c[0] - qs->hi[0]), 0.0f), gap_x2 = gap_x * gap_x;
	for (int32_t z = cells->lo[2]; z <= cells->hi[2]; z++) {
		const float gap_z = gap_to(g, qs, 2, z, q->c[2]), gap_z2 = gap_z * gap_z;
		const float half_y = half_of(r2, gap_x2 + gap_z2, reach);
		*work += 1;
		if (!(gap_x2 + gap_z2 <= r2))
			continue;
		const int32_t last = cell_of(g, 1, q->c[1] + half_y);
		for (int32_t y = cell_of(g, 1, q->c[1] - half_y); y <= last; y++) {
			const float gap_y = gap_to(g, qs, 1, y, q->c[1]), gap_y2 = gap_y * gap_y;
			const float half_x = half_of(r2, gap_y2 + gap_z2, reach);
			if (!((gap_x2 + gap_y2) + gap_z2 <= r2))
				continue;
			const cell_box row = {{cell_of(g, 0, q->c[0] - half_x), y, z}, {cell_of(g, 0, q->c[0] + half_x), y, z}};
			const span s = row_of(g, p->start, &row, y, z);
			if (s.first > s.last || s.last > p->n)
				return 0;
			*work += 1 + (s.last - s.first) / ET_BLOCK;
			CAT(scan_, LEVEL)(p, q, c, qs->k, s);
		}
	}
	return 1;
}

/* Finds candidates among which the k nearest are. A ball that holds k points
 * holds the k nearest, whatever its radius: all others have a greater d2 than
 * its square, those inside have not, so that not even a tie is lost. A ball that
 * holds fewer is searched again with a longer radius, until another try as costly
 * as the last would bring the work to half of what testing all points is: then the
 * query's own radius, or none, ends it. */
HELPER(LEVEL) int CAT(find_, LEVEL)(const point_set *p, const window *w, const queries *qs, const query *q, candidates *c) {
	const uint32_t k = qs->k;
	int64_t work = 0, last = 0;
	float beyond;
	const float gap = start(p, w, q, k, &work, &beyond);
	for (;;) {
		float r = gap + beyond;
		int whole = !(r < q->r);
		cell_box b = box_around(p->grid, q->c, q->c, reach_of(r, r * r));
		const int64_t before = work, rows = gap > 0.0f ? b.hi[2] - b.lo[2] + 1 : rows_of(&b);
		if (!whole && work + (rows > last ? rows : last) > p->n / ET_BLOCK / 2 + 8)
			whole = 1;
		if (whole) {
			r = q->r;
			b = box_around(p->grid, q->c, q->c, reach_of(r, r * r));
		}
		c->n = 0;
		c->most = c_asu(r * r);
		c->most_slot = MOST_SLOT;
		if (!(gap > 0.0f && !whole ? CAT(ball_, LEVEL)(p, qs, q, c, &b, r, &work) : CAT(box_, LEVEL)(p, q, c, k, &b, &work)))
			return 0;
		if (whole || c->n >= k)
			return 1;
		beyond *= 2 * c->n >= k ? 1.5f : 2.0f;
		last = work - before;
	}
}

/* Writes the first k candidates in order: the place of one is the number of
 * those before it. Returns the sum of the places, which tells whether two shared
 * one because their d2 is the same; ties counts slots as well and separates them. */
HELPER(LEVEL) uint32_t CAT(rank_, LEVEL)(candidates *c, uint32_t k, uint32_t *out, float *d2, const int ties) {
	uint32_t place[ROOM];
	uint32_t sum = 0, at_last = 0;
	for (uint32_t i = 0; i < c->n; i += V(LANES)) {
		const V(u) own = V(loadu)(c->d2 + i), own_slot = V(loadu)(c->slot + i);
		V(u) before = V(set1u)(0);
		for (uint32_t j = 0; j < c->n; j++) {
			before = V(tally)(before, own, V(set1u)(c->d2[j]));
			if (ties)
				before = V(tied)(before, own, V(set1u)(c->d2[j]), own_slot, V(set1u)(c->slot[j]));
		}
		V(storeu)(place + i, before);
	}
	for (uint32_t i = 0; i < c->n; i++) {
		const uint32_t at = place[i] < k ? place[i] : k - 1;
		sum += place[i];
		at_last = place[i] == k - 1 ? i : at_last;
		out[at] = c->slot[i];
		if (d2)
			d2[at] = c_asf(c->d2[i]);
	}
	if (c->n >= k) { /* all that belong behind it stand there too */
		out[k - 1] = c->slot[at_last];
		if (d2)
			d2[k - 1] = c_asf(c->d2[at_last]);
	}
	return sum;
}

KERNEL(LEVEL) int64_t CAT(knn_, LEVEL)(const point_set *p, const queries *qs, uint32_t *ends, uint32_t *out, float *d2) {
	const uint32_t k = qs->k, room = k + k / 4 < 32 ? 32 : k + k / 4;
	const window w = window_in(p->grid, qs);
	candidates c;
	int64_t fill = 0;
	for (int64_t i = 0; i < qs->n; i++) {
		const query q = query_at(qs, i);
		c.n = 0;
		if (q.f.mask && !CAT(find_, LEVEL)(p, &w, qs, &q, &c))
			return -1;
		if (c.n > room)
			CAT(narrow_, LEVEL)(&c, k, room);
		uint32_t *const row = out + fill;
		float *const row_d2 = d2 ? d2 + fill : d2;
		if (CAT(rank_, LEVEL)(&c, k, row, row_d2, 0) != c.n * (c.n - 1) / 2)
			CAT(rank_, LEVEL)(&c, k, row, row_d2, 1);
		fill += c.n < k ? c.n : k;
		ends[i] = (uint32_t)fill;
	}
	return fill;
}
