#include "cells.h"
#include <float.h>

/* The number of candidates that are kept before the farther ones are dropped, and of points that are tested
 * between two checks of that number. */
enum { ROOM = 1024, PIECE = 256 };

/* Above all slots, and below 2^31 as comparisons of lanes require. */
enum { MOST_SLOT = INT32_MAX };

typedef struct {
	const et_spheres *all;
	uint32_t k;
	float lo[3], hi[3]; /* the box of the points, or of all floats */
} nearest_queries;

typedef struct {
	float c[3], r;
	query_filter f;
} query;

/* The box of cells in which points are counted to guess a radius: its half
 * width in cells along each axis, and along how many axes it has a width. */
typedef struct {
	int64_t half[3];
	int dims;
	float edge;   /* the longest cell of the core, metres */
	float want;   /* points to be found / volume of a ball of radius 1 */
	float factor; /* in a uniform grid: radius = edge * root(factor / count) */
	float min[3], max[3]; /* corners of the grid */
} window;

/* The points found so far: the bits of d2, which sort as d2 does, and the slots. The k nearest are among these and
 * the untested points that come before (most, slot most_slot). */
typedef struct {
	uint32_t d2[ROOM + ET_BLOCK], slot[ROOM + ET_BLOCK];
	uint32_t n, most, most_slot;
} candidates;

/* The root of degree dims, 1 to 3, within half a percent: one step of Newton's method for the reciprocal root. The
 * first guess divides the exponent. */
static inline float root(float x, int dims) {
	if (dims == 3) {
		float y = c_asf(0x54a2fa8cu - c_asu(x) / 3);
		y = y * (1.3333334f - 0.33333334f * x * y * y * y);
		return x * y * y;
	}
	if (dims == 2) {
		float y = c_asf(0x5f3759dfu - c_asu(x) / 2);
		y = y * (1.5f - 0.5f * x * y * y);
		return x * y;
	}
	return x;
}

static inline float larger(float a, float b) { return a > b ? a : b; }

static const float ball_volume[4] = {1.0f, 2.0f, 3.1415927f, 4.1887902f};

/* The window scaled up by a power of two. With this factor a ball of the radius has 1.6 k + 4 points at the
 * density of the window. A larger ball has more candidates; with a smaller one more queries must search again. */
static window window_of(const et_grid *g, uint32_t k, int scale) {
	window w = {.edge = 0.0f};
	for (int a = 0; a < 3; a++) {
		w.min[a] = edge_of(g, a, 0);
		w.max[a] = edge_of(g, a, g->n[a]);
		if (g->n[a] > 1) {
			w.dims++;
			w.edge = larger(w.edge, 1.0f / g->inv[a]);
		}
	}
	w.factor = w.want = (1.6f * (float)k + 4.0f) / ball_volume[w.dims];
	for (int a = 0; a < 3; a++) {
		if (g->n[a] == 1)
			continue;
		const float cells = w.edge * g->inv[a];
		w.half[a] = (cells < (float)g->n[a] ? (int64_t)(cells + 0.5f) : g->n[a]) << scale;
		w.factor *= (float)(2 * w.half[a] + 1) / cells;
	}
	return w;
}

/* The smallest window, with the corners of the box of the points if that is known. */
static window window_in(const et_grid *g, const nearest_queries *qs) {
	window w = window_of(g, qs->k, 0);
	for (int a = 0; a < 3 && qs->lo[0] != -FLT_MAX; a++) {
		w.min[a] = qs->lo[a];
		w.max[a] = qs->hi[a];
	}
	return w;
}

static inline cell_box window_around(const et_points *p, const window *w, const query *q) {
	cell_box b;
	for (int a = 0; a < 3; a++) {
		const int64_t cell = cell_of(p->grid, a, q->c[a]), last = p->grid->n[a] - 1;
		b.lo[a] = (int32_t)(cell > w->half[a] ? cell - w->half[a] : 0);
		b.hi[a] = (int32_t)(cell < last - w->half[a] ? cell + w->half[a] : last);
	}
	return b;
}

static inline uint32_t count_in(const et_points *p, const cell_box *b) {
	uint32_t n = 0;
	for (int32_t k = b->lo[2]; k <= b->hi[2]; k++) {
		for (int32_t j = b->lo[1]; j <= b->hi[1]; j++) {
			const span s = row_of(p->grid, p->start, b, j, k);
			n += s.last - s.first;
		}
	}
	return n;
}

/* The radius of a ball in which to expect the wanted points if a box of cells around the centre has n. Outside the
 * core cells differ in length: there all cells of the box count as long as the cell of the centre. */
static inline float radius_of(const et_grid *g, const window *w, const cell_box *b, const float *centre, uint32_t n) {
	int32_t own[3] = {0};
	int in_core = 1;
	for (int a = 0; a < 3 && is_uneven(g); a++) {
		own[a] = cell_of(g, a, centre[a]);
		in_core &= g->pieces[a] == 0 ? own[a] >= g->low[a] && own[a] < g->n[a] - g->high[a]
		                             : g->piece[a].inv[piece_of(g, a, own[a])] == g->inv[a];
	}
	if (in_core)
		return w->edge * root(w->factor / (float)n, w->dims);
	float r = root(w->want / (float)n, w->dims);
	for (int a = 0; a < 3; a++)
		if (g->n[a] > 1) /* a root per axis, because volumes overflow */
			r *= root((float)(b->hi[a] - b->lo[a] + 1) * (edge_of(g, a, own[a] + 1) - edge_of(g, a, own[a])), w->dims);
	return r > 0.0f && r <= FLT_MAX ? r : FLT_MAX;
}

/* The ball around a centre outside the grid, at distance gap along an axis, covers a cap of the grid. Returns how
 * far the ball must reach into the grid for the cap to hold as much as a ball of radius r around a centre inside.
 * The cap is as high as the ball reaches, and no wider than the grid at its far side. It is flat: its radius is
 * about the root of 2*gap*height. */
static inline float cap_of(const et_grid *g, const window *w, int axis, float gap, float r) {
	if (!(r < gap))
		return r;
	float slab = r, height = r / 2;
	for (int a = 0; a < 3; a++)
		if (a != axis && g->n[a] > 1)
			slab *= r / (w->max[a] - w->min[a]);
	if (w->dims == 2)
		height = r * root(2.8f * r / gap, 3);
	if (w->dims == 3)
		height = r * root(1.33f * r / gap, 2);
	slab *= ball_volume[w->dims]; /* last, as the pure Go does: rounding depends on the order */
	height = slab > height ? slab : height;
	return height < r ? height : r;
}

/* A radius in which to expect a few points more than k, judged by a window that holds k / 2 or more. It is the
 * largest number if the search for a window costs as much as testing all points. work counts rows and blocks. */
static inline float guess(const et_points *p, const window *first, const query *q, uint32_t k, int64_t *work) {
	const uint32_t enough = k / 2 + 4;
	window w = *first;
	for (int scale = 0;;) {
		const cell_box b = window_around(p, &w, q);
		const int64_t rows = rows_of(&b);
		if (w.dims == 0 || scale > 24 || p->n < 2 * k + 8 || *work + rows > p->n / ET_BLOCK / 2 + 8)
			return FLT_MAX;
		*work += rows;
		const uint32_t n = count_in(p, &b);
		if (n >= enough)
			return radius_of(p->grid, &w, &b, q->c, n);
		w = window_of(p->grid, k, ++scale);
	}
}

/* The distance of the centre from the points, so that a query far away does not grow towards them step by step,
 * and the first radius beyond that distance. It runs once per query; inlined it would take registers from the
 * loops over points. */
ROUTINE(c) float start(const et_points *p, const window *w, const query *q, uint32_t k, int64_t *work, float *beyond) {
	float sum = 0.0f, widest = 0.0f;
	int axis = 0; /* the axis along which the grid is farthest */
	for (int a = 0; a < 3; a++) {
		const float d = larger(larger(w->min[a] - q->c[a], q->c[a] - w->max[a]), 0.0f);
		sum += d * d;
		if (d > widest) {
			widest = d;
			axis = a;
		}
	}
	*beyond = guess(p, w, q, k, work);
	if (sum == 0.0f)
		return 0.0f;
	const float gap = sum <= FLT_MAX ? SQRT(sum) : sum;
	*beyond = larger(cap_of(p->grid, w, axis, gap, *beyond), gap * 0x1p-18f);
	return gap;
}

/* The same for the box of the points as well. */
static inline float gap_to(const et_grid *g, const nearest_queries *qs, int axis, int32_t j, float v) {
	return larger(larger(qs->lo[axis] - v, v - qs->hi[axis]), gap_of(g, axis, j, v));
}

static inline query query_at(const nearest_queries *qs, int64_t i) {
	query q;
	q.c[0] = qs->all->x[i];
	q.c[1] = qs->all->y[i];
	q.c[2] = qs->all->z[i];
	q.r = qs->all->radius ? qs->all->radius[i] : FLT_MAX;
	q.f = filter_of(qs->all->exclude, qs->all->mask, i);
	return q;
}

/* A value between lo and hi below which to expect the given part of n candidates: d2 grows with the power 2/3 of
 * the count where points are evenly spread. From the third step on it halves the interval, so the search ends
 * after 34 steps. */
static inline uint32_t between(int64_t lo, uint32_t hi, float part, int look) {
	if (look < 2) {
		const float y = root(part, 3);
		const uint32_t g = c_asu(c_asf(hi) * y * y);
		if (g > lo && g < hi)
			return g;
	}
	return (uint32_t)(lo + ((int64_t)hi - lo) / 2);
}

/* Appends the points [first, last) that pass the filters and do not come after (most, most_slot) to the
 * candidates. plain: exclude is the only filter, and every slot up to most is accepted. */
HELPER(LEVEL) void test(const et_points *p, const query *q, candidates *c, uint32_t first, uint32_t last,
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

/* How many candidates have a d2 of at most the given one. */
HELPER(LEVEL) uint32_t near(const candidates *c, uint32_t d2) {
	const V(f) most = V(set1)(c_asf(d2));
	uint32_t n = 0;
	for (uint32_t i = 0; i < c->n; i += V(LANES))
		n += V(count)(V(first)(c->n - i) & V(le)(V(asf)(V(loadu)(c->d2 + i)), most));
	return n;
}

/* The candidates from i on that do not come after (d2, slot). */
HELPER(LEVEL) V(mask) upto(const candidates *c, uint32_t i, uint32_t d2, uint32_t slot) {
	const V(u) own = V(loadu)(c->d2 + i), most = V(set1u)(d2);
	const V(mask) after = V(gtu)(own, most) |
	                       (~V(nequ)(own, most) & V(gtu)(V(loadu)(c->slot + i), V(set1u)(slot)));
	return V(first)(c->n - i) & ~after;
}

/* Drops the candidates, and those to come, that come after (d2, slot). */
HELPER(LEVEL) void drop_after(candidates *c, uint32_t d2, uint32_t slot) {
	uint32_t kept = 0;
	for (uint32_t i = 0; i < c->n; i += V(LANES)) {
		const V(u) own = V(loadu)(c->d2 + i), slots = V(loadu)(c->slot + i);
		const V(mask) keep = upto(c, i, d2, slot);
		V(storeu)(c->d2 + kept, V(packu)(own, keep));
		V(storeu)(c->slot + kept, V(packu)(slots, keep));
		kept += V(count)(keep);
	}
	c->n = kept;
	c->most = d2;
	c->most_slot = slot;
}

/* Drops the farthest candidates until at most room are left; room is at least k. It compares d2 first, then, among
 * too many equal ones, slots. */
KERNEL(void, narrow, candidates *c, uint32_t k, uint32_t room) {
	const float aim = 0.5f * (float)(k + room);
	uint32_t d2 = c->most, slot, found = c->n;
	int64_t below = -1; /* fewer than k candidates have at most this d2 */
	for (int look = 0; found > room && (int64_t)d2 - below > 1; look++) {
		const uint32_t mid = between(below, d2, aim / (float)found, look);
		const uint32_t n = near(c, mid);
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
			n += V(count)(upto(c, i, d2, mid));
		if (n >= k)
			slot = mid, found = n;
		else
			below = mid;
	}
	drop_after(c, d2, slot);
	c->n = c->n < room ? c->n : room; /* more only if a slot occurs twice */
}

/* The bits of a number that is no more than the d2 of any point: that of the nearest point of the box of all. Rounding is
 * monotone. */
static inline uint32_t least_of(const nearest_queries *qs, const query *q) {
	float d[3];
	for (int a = 0; a < 3; a++) {
		const float in = q->c[a] < qs->lo[a] ? qs->lo[a] : q->c[a] > qs->hi[a] ? qs->hi[a] : q->c[a];
		d[a] = in - q->c[a];
	}
	const float d2 = (d[0] * d[0] + d[1] * d[1]) + d[2] * d[2];
	return c_asu(d2);
}

/* The place after the points that cannot be among the k nearest, from place at on: the rest of its cell if k candidates are
 * as near as any point can be, and have lower slots. Slots ascend within a cell. Without this, queries at many coincident
 * points would each test all of them. */
ROUTINE(LEVEL) uint32_t after_equals(const et_points *p, const nearest_queries *qs, const query *q, candidates *c, uint32_t at) {
	const uint32_t least = least_of(qs, q), lane = at % ET_BLOCK;
	const et_block *const b = p->blocks + at / ET_BLOCK;
	if (c->most != least) {
		if (c->n < PIECE / 2 || c->most < least || near(c, least) < qs->k)
			return at;
		uint32_t slot = 0, equal = 0;
		for (uint32_t i = 0; equal < qs->k && i < c->n; i++) {
			if (c->d2[i] != least)
				continue;
			slot = c->slot[i] > slot ? c->slot[i] : slot;
			equal++;
		}
		drop_after(c, least, slot);
	}
	if (b->slot[lane] <= c->most_slot)
		return at;
	const int32_t x = cell_of(p->grid, 0, b->x[lane]), y = cell_of(p->grid, 1, b->y[lane]), z = cell_of(p->grid, 2, b->z[lane]);
	const uint32_t end = p->start[cell_number(p->grid, x, y, z) + 1];
	return end > at && end <= p->n ? end : at;
}

/* Tests the points [first, last), at most a piece of them. */
HELPER(LEVEL) void scan_piece(const et_points *p, const query *q, candidates *c, uint32_t k, uint32_t first, uint32_t last) {
	if (c->n > ROOM - PIECE)
		CAT(et_narrow_, LEVEL)(c, k, 2 * k);
	if (p->category || p->live || c->most_slot != MOST_SLOT)
		test(p, q, c, first, last, 0);
	else
		test(p, q, c, first, last, 1);
}

/* Tests points until at most a piece of them is left, which it returns. */
ROUTINE(LEVEL) span scan_most(const et_points *p, const nearest_queries *qs, const query *q, candidates *c, span s) {
	while (s.first < s.last && s.last - s.first > PIECE) {
		const uint32_t next = after_equals(p, qs, q, c, s.first), end = (s.first + PIECE) & ~(ET_BLOCK - 1u);
		if (next == s.first)
			scan_piece(p, q, c, qs->k, s.first, end);
		s.first = next == s.first ? end : next;
	}
	return s;
}

/* Tests the points [first, last), a piece at a time. */
HELPER(LEVEL) void scan(const et_points *p, const nearest_queries *qs, const query *q, candidates *c, span s) {
	if (s.last - s.first > PIECE)
		s = scan_most(p, qs, q, c, s);
	if (s.first < s.last)
		scan_piece(p, q, c, qs->k, s.first, s.last);
}

/* Tests the points in a box of cells. Returns 0 if start does not ascend. */
HELPER(LEVEL) int box(const et_points *p, const nearest_queries *qs, const query *q, candidates *c,
                      const cell_box *cells, int64_t *work) {
	const cell_box b = join_rows(p->grid, p->start, *cells, ROW_COST);
	for (int32_t z = b.lo[2]; z <= b.hi[2]; z++) {
		for (int32_t y = b.lo[1]; y <= b.hi[1]; y++) {
			const span s = row_of(p->grid, p->start, &b, y, z);
			if (s.first > s.last || s.last > p->n)
				return 0;
			*work += 1 + (s.last - s.first) / ET_BLOCK;
			scan(p, qs, q, c, s);
		}
	}
	return 1;
}

/* Tests the points in those cells of a box that a ball reaches. If the ball comes from far away, most of its box
 * is outside it. Returns 0 if start does not ascend. */
ROUTINE(LEVEL) int ball(const et_points *p, const nearest_queries *qs, const query *q, candidates *c,
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
			scan(p, qs, q, c, s);
		}
	}
	return 1;
}

/* Collects candidates that include the k nearest. A ball that holds k points holds the k nearest, whatever its
 * radius: all points outside have a d2 greater than its square, and those inside do not, so not even a tie is
 * lost. A ball with fewer points is searched again with a larger radius. Once another try as costly as the last
 * would bring the work to half of testing all points, the last search uses the radius of the query, or no bound. */
HELPER(LEVEL) int find(const et_points *p, const window *w, const nearest_queries *qs, const query *q, candidates *c) {
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
		if (!(gap > 0.0f && !whole ? ball(p, qs, q, c, &b, r, &work) : box(p, qs, q, c, &b, &work)))
			return 0;
		if (whole || c->n >= k)
			return 1;
		beyond *= 2 * c->n >= k ? 1.5f : 2.0f;
		last = work - before;
	}
}

/* Writes the first k candidates in order: the place of each is the number of those before it. Returns the sum of
 * the places, which shows whether two candidates share a place because their d2 is equal. ties compares slots as
 * well and separates them. */
HELPER(LEVEL) uint32_t rank(candidates *c, uint32_t k, uint32_t *out, float *d2, const int ties) {
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
	if (c->n >= k) { /* candidates after it were written there too */
		out[k - 1] = c->slot[at_last];
		if (d2)
			d2[k - 1] = c_asf(c->d2[at_last]);
	}
	return sum;
}

KERNEL(int64_t, nearest, const et_points *p, const et_spheres *all, int32_t most, const float *box, const et_rows *rows) {
	uint32_t *const ends = rows->ends, *const out = rows->slots;
	float *const d2 = rows->dist2;
	nearest_queries queries = {all, (uint32_t)most, {0}, {0}};
	for (int axis = 0; axis < 3; axis++) {
		queries.lo[axis] = box ? box[axis] : -FLT_MAX;
		queries.hi[axis] = box ? box[3 + axis] : FLT_MAX;
	}
	const nearest_queries *const qs = &queries;
	const uint32_t k = qs->k, room = k + k / 4 < 32 ? 32 : k + k / 4;
	const window w = window_in(p->grid, qs);
	candidates c;
	int64_t fill = 0;
	for (int64_t i = 0; i < all->n; i++) {
		const query q = query_at(qs, i);
		c.n = 0;
		if (q.f.mask && !find(p, &w, qs, &q, &c))
			return -1;
		if (c.n > room)
			CAT(et_narrow_, LEVEL)(&c, k, room);
		uint32_t *const row = out + fill;
		float *const row_d2 = d2 ? d2 + fill : d2;
		if (rank(&c, k, row, row_d2, 0) != c.n * (c.n - 1) / 2)
			rank(&c, k, row, row_d2, 1);
		fill += c.n < k ? c.n : k;
		ends[i] = (uint32_t)fill;
	}
	return fill;
}

#ifdef DISPATCH
int64_t et_nearest(int32_t level, et_points points, et_spheres queries, int32_t k, const float *box, et_rows rows) {
	return DISPATCH(level, nearest, &points, &queries, k, box, &rows);
}
#endif
