#include "cells.h"
typedef struct {
	const et_grid *grid;
	const uint32_t *start;
	const et_block *blocks;
	uint32_t n; /* points */
	float r2, reach;
	int32_t places; /* rows have places instead of slots */
} field;

/* Centres at places [first, last) of one row of cells, and the box around them. */
typedef struct {
	uint32_t first, last;
	float lo[3], hi[3];
} centre_batch;

/* A batch has up to CENTRES centres, or half as many more to avoid a small last batch. Smaller batches share the
 * cost of gathering among too few centres; larger ones have so large a box that each centre has too many points to
 * test. */
enum { CENTRES = 10 };

/* ROW_COST for batches: visiting a row costs about as much as gathering from this many points. */
enum { BATCH_ROW_COST = 32 };

/* Cuts the next batch from places [first, last). It is empty if start contradicts the points. */
static inline centre_batch next_batch(const field *f, uint32_t first, uint32_t last) {
	const et_grid *const g = f->grid;
	const et_block *p = f->blocks + first / ET_BLOCK;
	uint32_t lane = first % ET_BLOCK;
	const uint32_t *const start = f->start + cell_number(g, 0, cell_of(g, 1, p->y[lane]), cell_of(g, 2, p->z[lane]));
	centre_batch b = {first, first, {p->x[lane], p->y[lane], p->z[lane]}, {p->x[lane], p->y[lane], p->z[lane]}};
	if (start[0] > first || start[g->n[0]] > f->n)
		return b;
	if (last > start[g->n[0]])
		last = start[g->n[0]];
	if (last > first + CENTRES + CENTRES / 2)
		last = first + CENTRES;
	for (uint32_t i = first; i < last; i++) {
		p = f->blocks + i / ET_BLOCK;
		lane = i % ET_BLOCK;
		const float x = p->x[lane], y = p->y[lane], z = p->z[lane];
		b.lo[0] = x < b.lo[0] ? x : b.lo[0];
		b.hi[0] = x > b.hi[0] ? x : b.hi[0];
		b.lo[1] = y < b.lo[1] ? y : b.lo[1];
		b.hi[1] = y > b.hi[1] ? y : b.hi[1];
		b.lo[2] = z < b.lo[2] ? z : b.lo[2];
		b.hi[2] = z > b.hi[2] ? z : b.hi[2];
	}
	b.last = last > first ? last : first;
	return b;
}

static inline cell_box cells_around(const field *f, const float *lo, const float *hi) {
	return join_rows(f->grid, f->start, box_around(f->grid, lo, hi, f->reach), BATCH_ROW_COST);
}

/* Appends the points at places [first, last) that some centre of the batch could accept to the packed points.
 * Returns the new number.
 *
 * The test is that of membership, with the point c of the box nearest to the candidate as centre. It drops nothing
 * that a centre q of the batch accepts. On each axis c lies between the candidate x and q, or is x, so |x - c| <=
 * |x - q|. Rounding is monotone, so the rounded difference, its rounded square and the rounded sums of the squares
 * are each at most those in the test of q. */
HELPER(LEVEL) int64_t pack_span(const field *f, const centre_batch *b, uint32_t first, uint32_t last,
                                int places, et_pack *to, int64_t n) {
	const V(f) lx = V(set1)(b->lo[0]), ly = V(set1)(b->lo[1]), lz = V(set1)(b->lo[2]);
	const V(f) hx = V(set1)(b->hi[0]), hy = V(set1)(b->hi[1]), hz = V(set1)(b->hi[2]);
	const V(f) r2 = V(set1)(f->r2);
	const uint32_t every = (1u << V(LANES)) - 1u;
	uint32_t skip = first % V(LANES);
	for (uint32_t i = first - skip; i < last; i += V(LANES)) {
		const et_block *const p = f->blocks + i / ET_BLOCK;
		const uint32_t lane = i % ET_BLOCK;
		const V(f) x = V(load)(p->x + lane), y = V(load)(p->y + lane), z = V(load)(p->z + lane);
		const V(f) dx = V(sub)(x, V(min)(V(max)(x, lx), hx));
		const V(f) dy = V(sub)(y, V(min)(V(max)(y, ly), hy));
		const V(f) dz = V(sub)(z, V(min)(V(max)(z, lz), hz));
		const V(f) dist2 = NORM2(dx, dy, dz);
		const uint32_t left = last - i < V(LANES) ? last - i : V(LANES);
		const V(mask) near = V(le)(dist2, r2) & (every << skip) & ((1u << left) - 1u);
		skip = 0;
		V(store)(to->x + n, V(pack)(x, near));
		V(store)(to->y + n, V(pack)(y, near));
		V(store)(to->z + n, V(pack)(z, near));
		V(storeu)(to->slot + n, V(packu)(places ? V(ramp)(i) : V(loadu)(p->slot + lane), near));
		n += V(count)(near);
	}
	return n;
}

/* Packs the points near a batch. Returns their number, -1 if start does not ascend, or -2 if they do not fit. It
 * puts NaN into the lanes after them, so that stale values there are never hits. */
HELPER(LEVEL) int64_t pack_near(const field *f, const centre_batch *b, int places, et_pack *to) {
	const et_grid g = *f->grid; /* a copy, which stores to *to cannot change */
	const uint32_t *const start = f->start;
	const cell_box r = cells_around(f, b->lo, b->hi);
	int64_t n = 0;
	for (int32_t k = r.lo[2]; k <= r.hi[2]; k++) {
		for (int32_t j = r.lo[1]; j <= r.hi[1]; j++) {
			const span s = row_of(&g, start, &r, j, k);
			if (s.first >= s.last) {
				if (s.first > s.last)
					return -1;
				continue;
			}
			if (s.last > f->n)
				return -1;
			if (ET_PACK_LEN - n < s.last - s.first)
				return -2;
			n = places ? pack_span(f, b, s.first, s.last, 1, to, n) : pack_span(f, b, s.first, s.last, 0, to, n);
		}
	}
	V(store)(to->x + n, V(set1)(__builtin_nanf("")));
	return n;
}

/* Appends the hits among one vector of candidates; returns the new fill. keep and
 * with_d2 are constants at each call. */
HELPER(LEVEL) int64_t emit(V(f) dx, V(f) dy, V(f) dz, V(f) r2, V(u) slot, V(u) own, V(mask) among,
                           int keep, int with_d2, uint32_t *out, float *d2, int64_t fill) {
	const V(f) dist2 = NORM2(dx, dy, dz);
	V(mask) hit = V(le)(dist2, r2) & among;
	if (keep == ET_KEEP_OTHERS)
		hit &= V(nequ)(slot, own);
	if (keep == ET_KEEP_ABOVE)
		hit &= V(gtu)(slot, own);
	V(storeu)(out + fill, V(packu)(slot, hit));
	if (with_d2)
		V(store)(d2 + fill, V(pack)(dist2, hit));
	return fill + V(count)(hit);
}

/* The rows of the centres from place at on, each from all the packed points. Returns the place after the last row
 * for which there was room. */
HELPER(LEVEL) uint32_t answer(const field *f, uint32_t at, uint32_t last, const et_pack *p, int64_t n,
                              int keep, int with_d2, uint32_t *ends, et_rows *r) {
	const V(f) r2 = V(set1)(f->r2);
	uint32_t *const out = r->slots;
	float *const d2 = r->dist2;
	int64_t fill = r->fill;
	for (; at < last && r->cap - fill >= n + V(LANES); at++) {
		const et_block *const c = f->blocks + at / ET_BLOCK;
		const uint32_t lane = at % ET_BLOCK;
		const V(f) x = V(set1)(c->x[lane]), y = V(set1)(c->y[lane]), z = V(set1)(c->z[lane]);
		const V(u) own = V(set1u)(f->places ? at : c->slot[lane]);
		for (int64_t i = 0; i < n; i += V(LANES))
			fill = emit(V(sub)(V(load)(p->x + i), x), V(sub)(V(load)(p->y + i), y),
			            V(sub)(V(load)(p->z + i), z), r2, V(loadu)(p->slot + i), own,
			            (1u << V(LANES)) - 1u, keep, with_d2, out, d2, fill);
		*ends++ = (uint32_t)fill;
	}
	r->fill = fill;
	return at;
}

/* The row of one centre without packing, for neighbourhoods that exceed the scratch. Returns the new fill, -1 if
 * start does not ascend, or -2 if there is not enough room. */
HELPER(LEVEL) int64_t test_centre(const field *f, uint32_t at, int32_t keep, const et_rows *r) {
	const et_block *const c = f->blocks + at / ET_BLOCK;
	const uint32_t lane = at % ET_BLOCK;
	const float centre[3] = {c->x[lane], c->y[lane], c->z[lane]};
	const V(f) x = V(set1)(centre[0]), y = V(set1)(centre[1]), z = V(set1)(centre[2]), r2 = V(set1)(f->r2);
	const V(u) own = V(set1u)(f->places ? at : c->slot[lane]);
	const cell_box g = cells_around(f, centre, centre);
	int64_t fill = r->fill;
	for (int32_t k = g.lo[2]; k <= g.hi[2]; k++) {
		for (int32_t j = g.lo[1]; j <= g.hi[1]; j++) {
			const span s = row_of(f->grid, f->start, &g, j, k);
			if (s.first == s.last)
				continue;
			if (s.first > s.last || s.last > f->n)
				return -1;
			if (r->cap - fill < (int64_t)(s.last - s.first) + V(LANES))
				return -2;
			for (uint32_t i = s.first & ~(V(LANES) - 1u); i < s.last; i += V(LANES)) {
				const et_block *const p = f->blocks + i / ET_BLOCK;
				const uint32_t l = i % ET_BLOCK;
				const V(f) dx = V(sub)(V(load)(p->x + l), x);
				const V(f) dy = V(sub)(V(load)(p->y + l), y);
				const V(f) dz = V(sub)(V(load)(p->z + l), z);
				const V(mask) among = V(first)(s.last - i) & ~V(first)(i < s.first ? s.first - i : 0);
				const V(u) slot = f->places ? V(ramp)(i) : V(loadu)(p->slot + l);
				fill = emit(dx, dy, dz, r2, slot, own, among, keep, r->dist2 != 0, r->slots, r->dist2, fill);
			}
		}
	}
	return fill;
}

/* As many rows of a batch as there is room for, without packing. Returns the place after the last of them, or
 * UINT32_MAX if start does not ascend. */
HELPER(LEVEL) uint32_t sweeps(const field *f, uint32_t at, uint32_t last, int32_t keep, uint32_t *ends, et_rows *r) {
	for (; at < last; at++) {
		const int64_t fill = test_centre(f, at, keep, r);
		if (fill < 0)
			return fill == -1 ? UINT32_MAX : at;
		*ends++ = (uint32_t)(r->fill = fill);
	}
	return at;
}

KERNEL(int64_t, self, const field *f, uint32_t first, uint32_t last, int32_t keep, et_pack *p, et_rows *r) {
	const int form = keep << 1 | (r->dist2 != 0);
	for (uint32_t at = first; at < last;) {
		const centre_batch b = next_batch(f, at, last);
		const int64_t n = b.first == b.last ? -1 : pack_near(f, &b, f->places, p);
		uint32_t *const ends = r->ends + (at - first);
		if (n == -1)
			return -1;
		if (n < 0)
			at = sweeps(f, at, b.last, keep, ends, r);
		else if (form == ET_KEEP_ALL << 1)
			at = answer(f, at, b.last, p, n, ET_KEEP_ALL, 0, ends, r);
		else if (form == (ET_KEEP_ALL << 1 | 1))
			at = answer(f, at, b.last, p, n, ET_KEEP_ALL, 1, ends, r);
		else if (form == ET_KEEP_OTHERS << 1)
			at = answer(f, at, b.last, p, n, ET_KEEP_OTHERS, 0, ends, r);
		else if (form == (ET_KEEP_OTHERS << 1 | 1))
			at = answer(f, at, b.last, p, n, ET_KEEP_OTHERS, 1, ends, r);
		else if (form == ET_KEEP_ABOVE << 1)
			at = answer(f, at, b.last, p, n, ET_KEEP_ABOVE, 0, ends, r);
		else
			at = answer(f, at, b.last, p, n, ET_KEEP_ABOVE, 1, ends, r);
		if (at == UINT32_MAX)
			return -1;
		if (at < b.last)
			return at - first;
	}
	return last - first;
}

#ifdef DISPATCH
int64_t et_self(int32_t level, et_points points, et_self_query query, int64_t first, int64_t last, et_rows rows,
                et_pack *scratch) {
	const field f = {points.grid, points.start, points.blocks, points.n, query.r2, query.reach, query.places};
	return DISPATCH(level, self, &f, (uint32_t)first, (uint32_t)last, query.keep, scratch, &rows);
}
#endif
