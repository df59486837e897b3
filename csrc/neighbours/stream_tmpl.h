#include "stream.h"
#include "stream_lanes.h"

/* The number of points that are screened before those that passed are tested with their queries. Two buffers of
 * that length stay in the L1 cache beside the bitmap. */
enum { SCREEN = 1024 };

/* Points that passed the screen: their places in slots, and their cells. */
typedef struct {
	uint32_t at[SCREEN + 16], cell[SCREEN + 16];
	int64_t n;
} passed;

/* A run of live points, gathered. */
typedef struct {
	float x[ET_SWEEP + 16], y[ET_SWEEP + 16], z[ET_SWEEP + 16];
	uint32_t slot[ET_SWEEP + 16], category[ET_SWEEP + 16];
	uint32_t n;
} gathered;

static inline int is_live(const uint64_t *live, uint32_t slot) {
	return !live || (live[slot >> 6] >> (slot & 63) & 1);
}

static inline int are_within(const et_columns *c, int64_t from, int64_t to) {
	uint32_t beyond = 0;
	for (int64_t i = from; i < to; i++)
		beyond |= (uint32_t)(c->slots[i] >= c->limit);
	return !beyond;
}

static inline int is_good_slot(const et_columns *c, int64_t at) {
	return c->slots[at] < c->limit && (at == 0 || c->slots[at] > c->slots[at - 1]);
}

/* x - x is 0 for finite x, and NaN otherwise. */
static inline int is_finite_point(const et_columns *c, uint32_t slot) {
	const float x = c->x[slot], y = c->y[slot], z = c->z[slot];
	return (x - x) + (y - y) + (z - z) <= 0.0f;
}

static inline uint32_t cell_of_slot(const et_torus *t, const et_columns *c, uint32_t slot) {
	return c_residue((c->x[slot] - t->origin[0]) * t->inv[0], t->mask[0], 0) |
	       c_residue((c->y[slot] - t->origin[1]) * t->inv[1], t->mask[1], t->shift[1]) |
	       c_residue((c->z[slot] - t->origin[2]) * t->inv[2], t->mask[2], t->shift[2]);
}

/* The first place in [from, to) whose point is not finite, or to. */
static int64_t first_not_finite(const et_columns *c, int64_t from, int64_t to) {
	while (from < to && is_finite_point(c, c->slots[from]))
		from++;
	return from;
}

static inline et_list list_of(const et_sieve *s, uint32_t cell) {
	const uint32_t w = cell >> 5;
	const uint32_t below = s->bits[w] & (((uint32_t)1 << (cell & 31)) - 1);
	return s->lists[s->rank[w] + (uint32_t)__builtin_popcount(below)];
}

/* The hits of one point with a short list. Each candidate is stored, and the fill advances only after a hit, so
 * that no branch depends on it. */
static inline void meet_few(const et_sieve *s, const et_columns *c, et_list l, uint32_t slot, uint32_t category, et_hits *h) {
	const float x = c->x[slot], y = c->y[slot], z = c->z[slot];
	int64_t fill = h->fill;
	for (uint32_t i = l.first; i < l.first + l.count; i++) {
		const et_centre *const q = &s->centres[s->ids[i]];
		const float dx = x - q->x, dy = y - q->y, dz = z - q->z;
		const float dist2 = (dx * dx + dy * dy) + dz * dz;
		h->query[fill] = q->id;
		h->slot[fill] = slot;
		h->dist2[fill] = dist2;
		fill += (dist2 <= q->r2) & (slot != q->exclude) & ((category & q->mask) != 0);
	}
	h->fill = fill;
}

/* The fields of the torus, each in every lane. */
typedef struct {
	V(f) origin[3], inv[3];
	V(u) mask[3];
	uint32_t shift[3];
} torus;

HELPER(LEVEL) torus spread(const et_torus *t) {
	torus s;
	for (int a = 0; a < 3; a++) {
		s.origin[a] = V(set1)(t->origin[a]);
		s.inv[a] = V(set1)(t->inv[a]);
		s.mask[a] = V(set1u)(t->mask[a]);
		s.shift[a] = t->shift[a];
	}
	return s;
}

HELPER(LEVEL) V(u) torus_cell(const torus *t, V(f) x, V(f) y, V(f) z) {
	const V(f) tx = V(mul)(V(sub)(x, t->origin[0]), t->inv[0]);
	const V(f) ty = V(mul)(V(sub)(y, t->origin[1]), t->inv[1]);
	const V(f) tz = V(mul)(V(sub)(z, t->origin[2]), t->inv[2]);
	return V(oru)(V(residue)(tx, t->mask[0], 0),
	              V(oru)(V(residue)(ty, t->mask[1], t->shift[1]), V(residue)(tz, t->mask[2], t->shift[2])));
}

/* Screens one vector of points from place at on, at > 0: appends those whose cell has a list to out. *sum becomes
 * not finite if a coordinate is not. Returns 0, without effect, if a slot does not ascend or is not below limit. */
HELPER(LEVEL) int screen_vector(const et_sieve *s, const torus *t, const et_columns *c,
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
		if (V(rising)(V(loadu)(c->slots + at - 1), slot, V(set1u)(c->limit)) != V(first)(V(LANES)))
			return 0;
		x = V(fetch)(c->x, slot);
		y = V(fetch)(c->y, slot);
		z = V(fetch)(c->z, slot);
	}
	*sum = V(add)(*sum, SUM3(x, y, z));
	if (!s->lists)
		return 1;
	const V(u) cell = torus_cell(t, x, y, z);
	const V(mask) pass = V(marked)(s->bits, cell);
	V(storeu)(out->at + out->n, V(packu)(V(ramp)((uint32_t)at), pass));
	V(storeu)(out->cell + out->n, V(packu)(cell, pass));
	out->n += V(count)(pass);
	return 1;
}

/* Screens the points of [from, to). Returns the first point that must be refused, or to. */
HELPER(LEVEL) int64_t screen(const et_sieve *s, const torus *t, const et_columns *c,
                             int64_t from, int64_t to, passed *out) {
	V(f) sum = V(set1)(0.0f);
	int64_t at = from;
	out->n = 0;
	while (at < to) {
		if (at > 0)
			while (at + V(LANES) <= to && screen_vector(s, t, c, at, &sum, out))
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
	/* A sum of huge coordinates may overflow as well: the search then finds none. */
	if (V(le)(V(sub)(sum, sum), V(set1)(0.0f)) != V(first)(V(LANES)))
		return first_not_finite(c, from, to);
	return to;
}

/* The hits of one point with a long list. */
HELPER(LEVEL) void meet_many(const et_sieve *s, const et_columns *c, et_list l, uint32_t slot,
                             uint32_t category, et_hits *h) {
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

/* Tests the points that passed with the queries of their cells. Returns the number of points done. */
HELPER(LEVEL) int64_t meet(const et_sieve *s, const et_columns *c, const passed *p, int64_t n, et_hits *h) {
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
			meet_many(s, c, l, slot, category, h);
	}
	return n;
}

KERNEL(int32_t, stream, const et_sieve *s, const et_columns *c, int64_t *at, int64_t to, et_hits *h) {
	const torus torus = spread(s->torus);
	passed p;
	while (*at < to) {
		const int64_t end = to - *at < SCREEN ? to : *at + SCREEN;
		const int64_t good = screen(s, &torus, c, *at, end, &p);
		if (good < end) {
			*at = good;
			return 2;
		}
		const int64_t met = meet(s, c, &p, p.n, h);
		if (met < p.n) {
			*at = p.at[met];
			return 1;
		}
		*at = end;
	}
	return 0;
}

/* Gathers the live points of [from, to). */
HELPER(LEVEL) void gather_live(const et_columns *c, int64_t from, int64_t to, gathered *g) {
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
HELPER(LEVEL) void sweep_one(const gathered *g, const et_centre *q, et_hits *h) {
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

KERNEL(int32_t, sweep, const uint32_t *wide, int64_t n, const et_centre *centres,
       const et_columns *c, int64_t to, et_progress *p, et_hits *h) {
	gathered g;
	while (p->at < to) {
		const int64_t end = to - p->at < ET_SWEEP ? to : p->at + ET_SWEEP;
		if (!are_within(c, p->at, end))
			return 2;
		gather_live(c, p->at, end, &g);
		for (; p->wide < n; p->wide++) {
			if (h->cap - h->fill < (int64_t)g.n + V(LANES))
				return 1;
			sweep_one(&g, &centres[wide[p->wide]], h);
		}
		p->at = end;
		p->wide = 0;
	}
	return 0;
}

#ifdef DISPATCH
int32_t et_stream(int32_t level, et_sieve sieve, et_columns columns, int64_t to, et_hits hits, et_progress *p) {
	const int32_t how = DISPATCH(level, stream, &sieve, &columns, &p->at, to, &hits);
	p->fill = hits.fill;
	return how;
}

int32_t et_sweep(int32_t level, const uint32_t *wide, int64_t n, const et_centre *centres, et_columns columns, int64_t to,
                 et_hits hits, et_progress *p) {
	const int32_t how = DISPATCH(level, sweep, wide, n, centres, &columns, to, p, &hits);
	p->fill = hits.fill;
	return how;
}
#endif
