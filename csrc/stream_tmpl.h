/* The torus with its numbers in every lane. */
typedef struct {
	V(f) origin[3], inv[3];
	V(u) mask[3];
	uint32_t shift[3];
} CAT(torus_, LEVEL);

HELPER(LEVEL) CAT(torus_, LEVEL) CAT(spread_, LEVEL)(const et_torus *t) {
	CAT(torus_, LEVEL) s;
	for (int a = 0; a < 3; a++) {
		s.origin[a] = V(set1)(t->origin[a]);
		s.inv[a] = V(set1)(t->inv[a]);
		s.mask[a] = V(set1u)(t->mask[a]);
		s.shift[a] = t->shift[a];
	}
	return s;
}

HELPER(LEVEL) V(u) CAT(cell_, LEVEL)(const CAT(torus_, LEVEL) *t, V(f) x, V(f) y, V(f) z) {
	const V(f) tx = V(mul)(V(sub)(x, t->origin[0]), t->inv[0]);
	const V(f) ty = V(mul)(V(sub)(y, t->origin[1]), t->inv[1]);
	const V(f) tz = V(mul)(V(sub)(z, t->origin[2]), t->inv[2]);
	return V(oru)(V(residue)(tx, t->mask[0], 0),
	                 V(oru)(V(residue)(ty, t->mask[1], t->shift[1]), V(residue)(tz, t->mask[2], t->shift[2])));
}

/* Screens one vector of points from place at on, at > 0: those whose cell has a
 * list are appended to out, and *sum is not finite where a coordinate is not.
 * Returns 0, having done nothing, if a slot is not good. */
HELPER(LEVEL) int CAT(screen_vector_, LEVEL)(const sieve *s, const CAT(torus_, LEVEL) *t, const columns *c,
                                             int64_t at, V(f) *sum, passed *out) {
	const uint32_t first = c->slots[at];
	const V(u) slot = V(loadu)(c->slots + at);
	V(f) x, y, z;
	if (!V(nequ)(slot, V(ramp)(first))) {
		if (first <= c->slots[at - 1] || (int64_t)first + V(LANES) > c->limit)
			return 0;
		x = V(load)(c->x + first);
		y = V(load)(c->y + first);
		z = V(load)(c->z + first);
	} else {
		if (V(rising)(V(loadu)(c->slots + at - 1), slot, V(set1u)((uint32_t)c->limit)) != V(first)(V(LANES)))
			return 0;
		x = V(fetch)(c->x, slot);
		y = V(fetch)(c->y, slot);
		z = V(fetch)(c->z, slot);
	}
	*sum = V(add)(*sum, SUM3(x, y, z));
	if (!s->lists)
		return 1;
	const V(u) cell = CAT(cell_, LEVEL)(t, x, y, z);
	const V(mask) pass = V(marked)(s->bits, cell);
	V(storeu)(out->at + out->n, V(packu)(V(ramp)((uint32_t)at), pass));
	V(storeu)(out->cell + out->n, V(packu)(cell, pass));
	out->n += V(count)(pass);
	return 1;
}

/* Screens the points of [from, to); returns the first that is at fault, or to. */
HELPER(LEVEL) int64_t CAT(screen_, LEVEL)(const sieve *s, const CAT(torus_, LEVEL) *t, const columns *c,
                                          int64_t from, int64_t to, passed *out) {
	V(f) sum = V(set1)(0.0f);
	int64_t at = from;
	out->n = 0;
	while (at < to) {
		if (at > 0)
			while (at + V(LANES) <= to && CAT(screen_vector_, LEVEL)(s, t, c, at, &sum, out))
				at += V(LANES);
		for (const int64_t end = at + V(LANES) < to ? at + V(LANES) : to; at < end; at++) {
			if (!is_good_slot(c, at))
				return first_not_finite(c, from, at);
			const uint32_t slot = c->slots[at];
			if (!is_finite_point(c, slot))
				return first_not_finite(c, from, at);
			if (!s->lists)
				continue;
			const uint32_t cell = cell_of_slot(s->torus, c, slot);
			out->at[out->n] = (uint32_t)at;
			out->cell[out->n] = cell;
			out->n += c_marked(s->bits, cell);
		}
	}
	/* A sum of huge coordinates may overflow as well: then none is found. */
	if (V(le)(V(sub)(sum, sum), V(set1)(0.0f)) != V(first)(V(LANES)))
		return first_not_finite(c, from, to);
	return to;
}

/* The hits of one point with a long list. */
HELPER(LEVEL) void CAT(meet_many_, LEVEL)(const sieve *s, const columns *c, et_list l, uint32_t slot,
                                          uint32_t category, hits *h) {
	const V(f) x = V(set1)(c->x[slot]), y = V(set1)(c->y[slot]), z = V(set1)(c->z[slot]);
	const V(u) slots = V(set1u)(slot), categories = V(set1u)(category);
	int64_t fill = h->fill;
	for (uint32_t i = 0; i < l.count; i += V(LANES)) {
		const et_centres *const q = &s->blocks[l.first + i / 16];
		const uint32_t lane = i % 16;
		const V(f) dx = V(sub)(x, V(load)(q->x + lane));
		const V(f) dy = V(sub)(y, V(load)(q->y + lane));
		const V(f) dz = V(sub)(z, V(load)(q->z + lane));
		const V(f) dist2 = NORM2(dx, dy, dz);
		const V(mask) hit = V(le)(dist2, V(load)(q->r2 + lane)) & V(nequ)(slots, V(loadu)(q->exclude + lane)) &
		                    V(anyu)(categories, V(loadu)(q->mask + lane));
		V(storeu)(h->query + fill, V(packu)(V(loadu)(q->id + lane), hit));
		V(storeu)(h->slot + fill, slots);
		V(store)(h->dist2 + fill, V(pack)(dist2, hit));
		fill += V(count)(hit);
	}
	h->fill = fill;
}

/* Returns the number of points that have met their queries. */
HELPER(LEVEL) int64_t CAT(meet_, LEVEL)(const sieve *s, const columns *c, const passed *p, int64_t n, hits *h) {
	for (int64_t i = 0; i < n; i++) {
		const uint32_t slot = c->slots[p->at[i]];
		const et_list l = list_of(s, p->cell[i]);
		if (h->cap - h->fill < (int64_t)l.count + V(LANES))
			return i;
		if (!is_live(c->live, slot))
			continue;
		const uint32_t category = c->category ? c->category[slot] : UINT32_MAX;
		if (l.count < ET_LONG_LIST)
			meet_few(s, c, l, slot, category, h);
		else
			CAT(meet_many_, LEVEL)(s, c, l, slot, category, h);
	}
	return n;
}

KERNEL(LEVEL) int32_t CAT(stream_, LEVEL)(const sieve *s, const columns *c, int64_t *at, int64_t to, hits *h) {
	const CAT(torus_, LEVEL) torus = CAT(spread_, LEVEL)(s->torus);
	passed p;
	while (*at < to) {
		const int64_t end = to - *at < SCREEN ? to : *at + SCREEN;
		const int64_t good = CAT(screen_, LEVEL)(s, &torus, c, *at, end, &p);
		if (good < end) {
			*at = good;
			return 2;
		}
		const int64_t met = CAT(meet_, LEVEL)(s, c, &p, p.n, h);
		if (met < p.n) {
			*at = p.at[met];
			return 1;
		}
		*at = end;
	}
	return 0;
}

/* Gathers the live points of [from, to). */
HELPER(LEVEL) void CAT(gather_, LEVEL)(const columns *c, int64_t from, int64_t to, gathered *g) {
	int64_t at = from;
	g->n = 0;
	for (; !c->live && at + V(LANES) <= to; at += V(LANES), g->n += V(LANES)) {
		const uint32_t first = c->slots[at];
		const V(u) slot = V(loadu)(c->slots + at);
		const int side_by_side = !V(nequ)(slot, V(ramp)(first));
		V(storeu)(g->slot + g->n, slot);
		V(store)(g->x + g->n, side_by_side ? V(load)(c->x + first) : V(fetch)(c->x, slot));
		V(store)(g->y + g->n, side_by_side ? V(load)(c->y + first) : V(fetch)(c->y, slot));
		V(store)(g->z + g->n, side_by_side ? V(load)(c->z + first) : V(fetch)(c->z, slot));
		V(storeu)(g->category + g->n, c->category ? V(fetchu)(c->category, slot) : V(set1u)(UINT32_MAX));
	}
	for (; at < to; at++) {
		const uint32_t slot = c->slots[at];
		g->slot[g->n] = slot;
		g->x[g->n] = c->x[slot];
		g->y[g->n] = c->y[slot];
		g->z[g->n] = c->z[slot];
		g->category[g->n] = c->category ? c->category[slot] : UINT32_MAX;
		g->n += (uint32_t)is_live(c->live, slot);
	}
}

/* The hits of one query among gathered points. */
HELPER(LEVEL) void CAT(sweep_one_, LEVEL)(const gathered *g, const et_centre *q, hits *h) {
	const V(f) x = V(set1)(q->x), y = V(set1)(q->y), z = V(set1)(q->z), r2 = V(set1)(q->r2);
	const V(u) exclude = V(set1u)(q->exclude), mask = V(set1u)(q->mask), id = V(set1u)(q->id);
	int64_t fill = h->fill;
	for (uint32_t i = 0; i < g->n; i += V(LANES)) {
		const V(f) dx = V(sub)(V(load)(g->x + i), x);
		const V(f) dy = V(sub)(V(load)(g->y + i), y);
		const V(f) dz = V(sub)(V(load)(g->z + i), z);
		const V(f) dist2 = NORM2(dx, dy, dz);
		const V(u) slot = V(loadu)(g->slot + i);
		const V(mask) hit = V(le)(dist2, r2) & V(nequ)(slot, exclude) &
		                    V(anyu)(V(loadu)(g->category + i), mask) & V(first)(g->n - i);
		V(storeu)(h->query + fill, id);
		V(storeu)(h->slot + fill, V(packu)(slot, hit));
		V(store)(h->dist2 + fill, V(pack)(dist2, hit));
		fill += V(count)(hit);
	}
	h->fill = fill;
}

KERNEL(LEVEL) int32_t CAT(sweep_, LEVEL)(const uint32_t *wide, int64_t n, const et_centre *centres,
                                         const columns *c, int64_t to, et_progress *p, hits *h) {
	gathered g;
	while (p->at < to) {
		const int64_t end = to - p->at < ET_SWEEP ? to : p->at + ET_SWEEP;
		if (!are_within(c, p->at, end))
			return 2;
		CAT(gather_, LEVEL)(c, p->at, end, &g);
		for (; p->wide < n; p->wide++) {
			if (h->cap - h->fill < (int64_t)g.n + V(LANES))
				return 1;
			CAT(sweep_one_, LEVEL)(&g, &centres[wide[p->wide]], h);
		}
		p->at = end;
		p->wide = 0;
	}
	return 0;
}
