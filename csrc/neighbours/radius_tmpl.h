#include "cells.h"

/* BATCH queries are answered together. For each of them, up to MAX_ROWS rows of cells are prepared in vectors. A
 * list of FULL tasks is long enough for an efficient loop and fits the L1 cache. While the list is shorter than
 * FULL, a query can add its rows without a check for room. */
enum { BATCH = 64, MAX_ROWS = 32, ROW_TASKS = 8, FULL = 512, MAX_TASKS = FULL + MAX_ROWS * ROW_TASKS };

typedef struct {
	float x[BATCH], y[BATCH], z[BATCH], r2[BATCH], reach[BATCH];
	uint32_t exclude[BATCH], mask[BATCH];
	uint32_t n;
} query_batch;

/* Tasks, and where their hits go. A task is one vector's width of places for one query. Bits 0-15 are the places
 * that count, bits 16-31 the query within the batch, and the rest is the number of the first place divided by
 * WIDTH. */
typedef struct {
	uint64_t task[MAX_TASKS + ROW_TASKS];
	uint16_t hits[MAX_TASKS]; /* of each task, kept between the two loops of run_apart */
	uint32_t n;
	uint32_t form; /* WITH_D2 and so on */
	uint32_t *out;
	float *d2;
	int64_t fill, cap;
	int64_t end[BATCH]; /* where the row of each query ends, 0 if it had no task */
} work;

/* Optional outputs and filters. */
enum { WITH_D2 = 1, WITH_MASK = 2, WITH_EXCLUDE = 4 };

enum { ALL_DONE = -1, NO_ROOM = -2, CONTRADICTION = -3 };

static inline void take_batch(query_batch *b, const et_spheres *qs, int64_t from, int64_t n) {
	b->n = n < BATCH ? (uint32_t)n : BATCH;
	for (uint32_t i = 0; i < BATCH; i++) {
		const int64_t at = from + (i < b->n ? i : 0);
		b->x[i] = qs->x[at];
		b->y[i] = qs->y[at];
		b->z[i] = qs->z[at];
		b->r2[i] = qs->radius[at] * qs->radius[at];
		b->reach[i] = reach_of(qs->radius[at], b->r2[i]);
		const query_filter f = filter_of(qs->exclude, qs->mask, at);
		b->exclude[i] = f.exclude;
		b->mask[i] = f.mask;
		if (f.mask == 0)
			b->r2[i] = -1;
	}
}

/* Places in a task: sixteen with 16 lanes, and with one lane, which tests them in turn; else eight. */
#define WIDTH (V(LANES) == 16 || V(LANES) == 1 ? 16u : 8u)

/* Cells along an axis: neighbours.Grid.Cell, lane by lane. */
HELPER(LEVEL) V(u) cell(const et_grid *g, int axis, V(f) v) {
	const V(f) t = V(mul)(V(sub)(v, V(set1)(g->min[axis])), V(set1)(g->inv[axis]));
	if (g->tail[axis] != 0.0f)
		return uneven_cell(g, axis, v, t);
	const V(f) inside = V(min)(V(max)(t, V(set1)(0)), V(set1)((float)g->n[axis]));
	return V(minu)(V(truncu)(inside), V(set1u)((uint32_t)g->n[axis] - 1));
}

/* gap for an axis with pieces: pieced_gap_of of reach.h, lane by lane. */
ROUTINE(LEVEL) V(f) V(pieced_gap)(const et_grid *g, int axis, V(u) j, V(f) c) {
	const et_pieces *const p = &g->piece[axis];
	const int32_t pieces = g->pieces[axis];
	const V(f) zero = V(set1)(0.0f), one = V(set1)(1.0f), cell = V(tof)(j), no_border = V(set1)(__builtin_inff());
	V(f) lower = V(set1)(p->min[0]), inv = V(set1)(p->inv[0]), first = zero, next = V(set1)((float)p->first[1]);
	V(f) border = pieces > 1 ? V(set1)(p->min[1]) : no_border; /* where the next piece begins */
	for (int32_t k = 1; k < pieces; k++) {
		const V(f) begin = V(set1)((float)p->first[k]);
		const V(mask) in = V(le)(begin, cell);
		if (!in)
			break;
		lower = V(select)(in, V(set1)(p->min[k]), lower);
		inv = V(select)(in, V(set1)(p->inv[k]), inv);
		first = V(select)(in, begin, first);
		next = V(select)(in, V(set1)((float)p->first[k + 1]), next);
		border = V(select)(in, k + 1 < pieces ? V(set1)(p->min[k + 1]) : no_border, border);
	}
	const V(f) i = V(sub)(cell, first), n = V(sub)(next, first), after = V(add)(i, one), size = V(div)(one, inv);
	const V(f) slack = V(mul)(V(add)(V(abs)(lower), V(mul)(n, size)), V(set1)(9.5367431640625e-7f));
	const V(f) inner = V(sub)(V(add)(lower, V(mul)(i, size)), slack), outer = V(add)(V(add)(lower, V(mul)(after, size)), slack);
	const V(f) begin = V(select)(V(le)(one, i), inner, lower), end = V(select)(V(le)(n, after), border, outer);
	const V(mask) below_last = g->n[axis] > 1 ? V(leu)(j, V(set1u)((uint32_t)g->n[axis] - 2)) : 0;
	const V(f) under = V(keep)(V(sub)(begin, c), V(leu)(V(set1u)(1), j)), over = V(keep)(V(sub)(c, end), below_last);
	return V(max)(over, V(max)(under, zero));
}

/* How far the centres c are, along an axis, from the cells j: 0 inside, and
 * otherwise no more than the rounded distance of any point in them.
 *
 * Let i be the number of the cell within the core. A point of cell i > 0 has
 * fl(fl(p - min) * inv) >= i, so with u = 2^-24 it lies at min + i/inv or above, less
 * at most 2u*i/inv. The edge computed here differs from min + i/inv by at most 2u*i/inv
 * and u of its own size. 16u(|min| + n/inv) is more than all of these. The same holds
 * for the upper edge; the outer cells have no outer edge. All cells above the core
 * count as one that begins at its end, and those below as one that ends where it
 * begins: there p < min. Where numbers overflow, a comparison with NaN gives 0. */
HELPER(LEVEL) V(f) gap(const et_grid *g, int axis, V(u) j, V(f) c) {
	if (g->tail[axis] < 0.0f)
		return V(pieced_gap)(g, axis, j, c);
	const float min = g->min[axis], size = 1.0f / g->inv[axis];
	const float magnitude = (min < 0 ? -min : min) + (float)g->n[axis] * size;
	const V(f) slack = V(set1)(magnitude * 9.5367431640625e-7f);
	V(f) i = V(tof)(j), next = V(tof)(V(addu)(j, V(set1u)(1)));
	V(mask) inner = V(leu)(V(set1u)(1), j), below_last = V(leu)(j, V(set1u)((uint32_t)g->n[axis] - 2));
	if (g->tail[axis] != 0.0f) {
		const V(f) low = V(set1)((float)g->low[axis]), core = V(set1)((float)(g->n[axis] - g->low[axis] - g->high[axis]));
		i = V(min)(V(sub)(i, low), core);
		next = V(max)(V(sub)(next, low), V(set1)(0.0f));
		inner &= V(le)(V(set1)(1.0f), i);
		below_last &= V(le)(next, core);
	}
	const V(f) lower = V(add)(V(set1)(min), V(mul)(i, V(set1)(size)));
	const V(f) upper = V(add)(V(set1)(min), V(mul)(next, V(set1)(size)));
	const V(f) under = V(keep)(V(sub)(V(sub)(lower, slack), c), inner);
	const V(f) over = V(keep)(V(sub)(c, V(add)(upper, slack)), g->n[axis] > 1 ? below_last : 0);
	return V(max)(over, V(max)(under, V(set1)(0)));
}

/* The cells that the queries of a group can reach: first and last along y and z, and the run of cells from the
 * first cell of the first row to the last cell of the last row. */
typedef struct {
	uint32_t y0[V(LANES)], y1[V(LANES)], z0[V(LANES)], z1[V(LANES)];
	uint32_t begin[V(LANES)], end[V(LANES)];
} group_boxes;

/* For each row of cells and each query of a group, the cells [first, end) that the sphere of the query can touch,
 * if it touches the row. */
typedef struct {
	uint32_t first[MAX_ROWS][V(LANES)], end[MAX_ROWS][V(LANES)];
	uint32_t touched[V(LANES)]; /* a bit for each row that the sphere can touch */
} group_rows;

HELPER(LEVEL) V(u) row_start(const et_grid *g, V(u) y, V(u) z) {
	const V(u) row = V(addu)(V(mulu)(z, V(set1u)((uint32_t)g->n[1])), y);
	return V(mulu)(row, V(set1u)((uint32_t)g->n[0]));
}

HELPER(LEVEL) void find_boxes(const et_grid *g, const query_batch *b, uint32_t at, group_boxes *box) {
	const V(f) x = V(load)(b->x + at), y = V(load)(b->y + at), z = V(load)(b->z + at);
	const V(f) reach = V(load)(b->reach + at);
	const V(u) y0 = cell(g, 1, V(sub)(y, reach)), y1 = cell(g, 1, V(add)(y, reach));
	const V(u) z0 = cell(g, 2, V(sub)(z, reach)), z1 = cell(g, 2, V(add)(z, reach));
	const V(u) x0 = cell(g, 0, V(sub)(x, reach)), x1 = cell(g, 0, V(add)(x, reach));
	V(storeu)(box->y0, y0);
	V(storeu)(box->y1, y1);
	V(storeu)(box->z0, z0);
	V(storeu)(box->z1, z1);
	V(storeu)(box->begin, V(addu)(row_start(g, y0, z0), x0));
	V(storeu)(box->end, V(addu)(V(addu)(row_start(g, y1, z1), x1), V(set1u)(1)));
}

/* The cells [first, end) of the wanted rows (y, z) that spheres can touch. Returns the mask of the lanes that have
 * such cells.
 *
 * Rounding is monotone, and the gaps gy and gz are no more than the rounded distances of a point in the row. So
 * the test accepts the point only if fl(fl(gy*gy) + fl(gz*gz)) <= r2. With u = 2^-24, its distance along x then
 * has a square of at most r2(1+4u) - gy*gy - gz*gz. near2 is larger: it adds 16u*r2. The root is widened as
 * neighbours.Reach widens the radius, for the same reasons. If r2 is infinite, the root is infinite or NaN, and reach
 * is used. */
HELPER(LEVEL) V(mask) touched_cells(const et_grid *g, const query_batch *b, uint32_t at, V(f) gap_z, V(u) y, V(u) z,
                                    V(mask) wanted, uint32_t *first, uint32_t *end) {
	const V(f) x = V(load)(b->x + at), r2 = V(load)(b->r2 + at), reach = V(load)(b->reach + at);
	const V(f) gap_y = gap(g, 1, y, V(load)(b->y + at));
	const V(f) gap2 = V(add)(V(mul)(gap_y, gap_y), V(mul)(gap_z, gap_z));
	const V(f) near2 = V(add)(V(sub)(r2, gap2), V(mul)(r2, V(set1)(9.5367431640625e-7f)));
	const V(f) root = V(mul)(V(sqrt)(near2), V(set1)(1.00000095367431640625f));
	const V(f) half = V(min)(V(add)(root, V(set1)(8.470329472543003e-22f)), reach);
	const V(u) start = row_start(g, y, z);
	const V(u) x0 = cell(g, 0, V(sub)(x, half));
	const V(u) x1 = V(addu)(cell(g, 0, V(add)(x, half)), V(set1u)(1));
	V(storeu)(first, V(addu)(start, x0));
	V(storeu)(end, V(addu)(start, x1));
	return wanted & V(le)(gap2, r2);
}

/* The rows of a group of queries: ny by nz rows from the first row of each query. */
HELPER(LEVEL) void all_rows(const et_grid *g, const query_batch *b, uint32_t at, const group_boxes *box,
                            uint32_t ny, uint32_t nz, group_rows *group_rows) {
	const V(u) y0 = V(loadu)(box->y0), y1 = V(loadu)(box->y1), z0 = V(loadu)(box->z0), z1 = V(loadu)(box->z1);
	V(u) all = V(set1u)(0);
	uint32_t n = 0;
	for (uint32_t k = 0; k < nz; k++) {
		const V(u) z = V(addu)(z0, V(set1u)(k));
		const V(f) gap_z = gap(g, 2, z, V(load)(b->z + at));
		for (uint32_t j = 0; j < ny; j++) {
			const V(u) y = V(addu)(y0, V(set1u)(j));
			const V(mask) wanted = V(leu)(y, y1) & V(leu)(z, z1);
			const V(mask) touched = touched_cells(g, b, at, gap_z, y, z, wanted, group_rows->first[n], group_rows->end[n]);
			all = V(addu)(all, V(keepu)(V(set1u)((uint32_t)1 << n), touched));
			n++;
		}
	}
	V(storeu)(group_rows->touched, all);
}

/* A task unpacked: its query and block, the lane of the block where its places begin, and the mask of those that
 * count. A kernel of one lane looks only at the places that count. */
typedef struct {
	uint32_t q, block, lane, counted, begin, end;
} places;

HELPER(LEVEL) places places_of(uint64_t task) {
	const uint32_t place = (uint32_t)(task >> 32) * WIDTH, counted = task & 0xffff;
	const places t = {
		task >> 16 & 0xffff, place / ET_BLOCK, place % ET_BLOCK, counted,
		V(LANES) == 1 && counted ? (uint32_t)__builtin_ctz(counted) : 0,
		V(LANES) == 1 ? 32 - (uint32_t)__builtin_clz(counted | 1) : WIDTH,
	};
	return t;
}

/* Tests the lanes from place i of a task on: returns the mask of the hits, and sets the squared distances of all. */
HELPER(LEVEL) V(mask) hits(const et_points *p, const query_batch *b, const places *t, uint32_t i,
                           V(f) *dist2, const int with_mask, const int with_exclude) {
	const et_block *const block = p->blocks + t->block;
	const uint32_t lane = t->lane + i;
	const V(f) dx = V(sub)(V(load)(block->x + lane), V(set1)(b->x[t->q]));
	const V(f) dy = V(sub)(V(load)(block->y + lane), V(set1)(b->y[t->q]));
	const V(f) dz = V(sub)(V(load)(block->z + lane), V(set1)(b->z[t->q]));
	*dist2 = NORM2(dx, dy, dz);
	V(mask) hit = (V(mask))(t->counted >> i) & V(le)(*dist2, V(set1)(b->r2[t->q]));
	if (with_exclude)
		hit &= V(nequ)(V(loadu)(block->slot + lane), V(set1u)(b->exclude[t->q]));
	if (with_mask)
		hit &= V(anyu)(V(loadu)(p->category + t->block * ET_BLOCK + lane), V(set1u)(b->mask[t->q]));
	return hit;
}

/* Runs tasks [from, to): appends hits to out, in the order of tasks and places. It stores whole vectors, WIDTH
 * elements per task. The optional outputs and filters are constants at every call, and the loop has no branch. */
HELPER(LEVEL) void run(const et_points *p, const query_batch *b, work *w, uint32_t from, uint32_t to,
                       const int with_d2, const int with_mask, const int with_exclude) {
	uint32_t *const out = w->out;
	float *const d2 = w->d2;
	int64_t fill = w->fill;
	for (uint32_t n = from; n < to; n++) {
		const places t = places_of(w->task[n]);
		for (uint32_t i = t.begin; i < t.end; i += V(LANES)) {
			V(f) dist2;
			const V(mask) hit = hits(p, b, &t, i, &dist2, with_mask, with_exclude);
			V(storeu)(out + fill, V(packu)(V(loadu)(p->blocks[t.block].slot + t.lane + i), hit));
			if (with_d2)
				V(store)(d2 + fill, V(pack)(dist2, hit));
			fill += V(count)(hit);
		}
		w->end[t.q] = fill;
	}
	w->fill = fill;
}

/* The same as run in two loops, for tasks of one vector. With such wide vectors, loads seem to wait for stores in
 * flight that might have the same address: one loop of tests and stores took an eighth longer. */
HELPER(LEVEL) void run_apart(const et_points *p, const query_batch *b, work *w, uint32_t from, uint32_t to,
                             const int with_mask, const int with_exclude) {
	uint32_t *const out = w->out;
	int64_t fill = w->fill;
	for (uint32_t n = from; n < to; n++) {
		const places t = places_of(w->task[n]);
		V(f) dist2;
		w->hits[n] = (uint16_t)hits(p, b, &t, 0, &dist2, with_mask, with_exclude);
	}
	for (uint32_t n = from; n < to; n++) {
		const places t = places_of(w->task[n]);
		const V(mask) hit = (V(mask))w->hits[n];
		V(storeu)(out + fill, V(packu)(V(loadu)(p->blocks[t.block].slot + t.lane), hit));
		fill += V(count)(hit);
		w->end[t.q] = fill;
	}
	w->fill = fill;
}

/* Runs tasks with the outputs and filters in w->form. */
HELPER(LEVEL) void run_form(const et_points *p, const query_batch *b, work *w, uint32_t from, uint32_t to) {
	switch (w->form) {
#define FORM(f)                                                                            \
	case f:                                                                            \
		if (V(LANES) == 16 && !((f) & WITH_D2))         \
			run_apart(p, b, w, from, to, (f) & WITH_MASK, (f) & WITH_EXCLUDE);              \
		else                                                                       \
			run(p, b, w, from, to, (f) & WITH_D2, (f) & WITH_MASK, (f) & WITH_EXCLUDE);     \
		break
		FORM(0); FORM(1); FORM(2); FORM(3); FORM(4); FORM(5); FORM(6); FORM(7);
#undef FORM
	}
}

/* Runs all tasks collected so far, as long as there is room. Returns ALL_DONE, or the number of the query whose
 * task had no room. */
ROUTINE(LEVEL) int64_t flush(const et_points *p, const query_batch *b, work *w) {
	if (p->live)
		for (uint32_t t = 0; t < w->n; t++) {
			const uint32_t place = (uint32_t)(w->task[t] >> 32) * WIDTH;
			w->task[t] &= ~(uint64_t)0xffff | p->live[place / ET_BLOCK] >> place % ET_BLOCK;
		}
	for (uint32_t t = 0; t < w->n;) {
		const int64_t safe = (w->cap - w->fill) / WIDTH;
		if (safe <= 0)
			return w->task[t] >> 16 & 0xffff;
		const uint32_t to = w->n - t < safe ? w->n : t + (uint32_t)safe;
		run_form(p, b, w, t, to);
		t = to;
	}
	w->n = 0;
	return ALL_DONE;
}

/* Adds the tasks of the places [from, to), one by one. Returns ALL_DONE, the result of flush, or CONTRADICTION if
 * start does not ascend. */
ROUTINE(LEVEL) int64_t add_long(const et_points *p, const query_batch *b, work *w, uint32_t q, uint32_t from,
                                uint32_t to) {
	if (from > to || to > p->n)
		return CONTRADICTION;
	for (uint32_t s = from / WIDTH; s * WIDTH < to; s++) {
		const uint32_t lo = s * WIDTH < from ? from - s * WIDTH : 0;
		const uint32_t hi = to - s * WIDTH < WIDTH ? to - s * WIDTH : WIDTH;
		w->task[w->n++] = (uint64_t)s << 32 | q << 16 | ((1u << hi) - (1u << lo));
		if (w->n >= FULL) {
			const int64_t stuck = flush(p, b, w);
			if (stuck != ALL_DONE)
				return stuck;
		}
	}
	return ALL_DONE;
}

/* Adds the touched rows of the query in lane i of a group. A row that fits into 64 places from a multiple of WIDTH
 * on, as nearly all do, gives its tasks without a loop; the next row overwrites those beyond its end. */
HELPER(LEVEL) int64_t add_rows(const et_points *p, const query_batch *b, work *w, uint32_t q,
                               const group_rows *group_rows, uint32_t i) {
	const uint32_t *const start = p->start;
	const uint32_t total = p->n;
	uint32_t n = w->n;
	for (uint32_t left = group_rows->touched[i]; left; left &= left - 1) {
		const int r = __builtin_ctz(left);
		const uint32_t from = start[group_rows->first[r][i]], to = start[group_rows->end[r][i]];
		const uint32_t offset = from % WIDTH, count = to - from;
		if (__builtin_expect(count > 64 - WIDTH || to > total, 0)) {
			w->n = n;
			const int64_t stuck = add_long(p, b, w, q, from, to);
			if (stuck != ALL_DONE)
				return stuck;
			n = w->n;
			continue;
		}
		const uint64_t places = (((uint64_t)1 << count) - 1) << offset;
		V(split)(w->task + n, (uint64_t)(from / WIDTH) << 32 | q << 16, places, WIDTH);
		n += count ? (offset + count + WIDTH - 1) / WIDTH : 0;
	}
	w->n = n;
	return ALL_DONE;
}

/* Adds the rows of one query that has more than MAX_ROWS of them. */
HELPER(LEVEL) int64_t many_rows(const et_points *p, const query_batch *b, work *w, uint32_t q, uint32_t y0,
                                uint32_t y1, uint32_t z0, uint32_t z1) {
	for (uint32_t z = z0; z <= z1; z++) {
		const float gap_z = gap_of(p->grid, 2, (int32_t)z, b->z[q]);
		for (uint32_t y = y0; y <= y1; y++) {
			const float gap_y = gap_of(p->grid, 1, (int32_t)y, b->y[q]), gap2 = gap_y * gap_y + gap_z * gap_z;
			int64_t stuck = ALL_DONE;
			if (gap2 <= b->r2[q]) {
				const float half = half_of(b->r2[q], gap2, b->reach[q]);
				const uint32_t *const row = p->start + cell_number(p->grid, 0, (int32_t)y, (int32_t)z);
				stuck = add_long(p, b, w, q, row[cell_of(p->grid, 0, b->x[q] - half)],
				                 row[cell_of(p->grid, 0, b->x[q] + half) + 1]);
			}
			if (stuck == ALL_DONE && w->n >= FULL)
				stuck = flush(p, b, w);
			if (stuck != ALL_DONE)
				return stuck;
		}
	}
	return ALL_DONE;
}

/* Finds the cells of the group of queries that begins at query at, and adds their tasks. Returns ALL_DONE, or the
 * result of flush or add_long.
 *
 * If a query has so many rows that visiting them, empty or not, costs more than testing all points from the first
 * row to the last, it tests all these points instead. */
HELPER(LEVEL) int64_t add_group(const et_points *p, const query_batch *b, work *w, uint32_t at) {
	group_boxes box;
	group_rows group_rows;
	const uint32_t n = b->n - at < V(LANES) ? b->n - at : V(LANES);
	uint32_t ny = 0, nz = 0, sweep = 0;
	find_boxes(p->grid, b, at, &box);
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t j = box.y1[i] - box.y0[i] + 1, k = box.z1[i] - box.z0[i] + 1;
		const uint32_t from = p->start[box.begin[i]], to = p->start[box.end[i]];
		if ((to - from) / ET_BLOCK < j * k) {
			sweep |= 1u << i;
			continue;
		}
		ny = ny > j ? ny : j;
		nz = nz > k ? nz : k;
	}
	const int prepared = (uint64_t)ny * nz <= MAX_ROWS;
	if (prepared)
		all_rows(p->grid, b, at, &box, ny, nz, &group_rows);
	for (uint32_t i = 0; i < n; i++) {
		int64_t stuck = ALL_DONE;
		if (sweep >> i & 1)
			stuck = add_long(p, b, w, at + i, p->start[box.begin[i]], p->start[box.end[i]]);
		else if (!prepared)
			stuck = many_rows(p, b, w, at + i, box.y0[i], box.y1[i], box.z0[i], box.z1[i]);
		else
			stuck = add_rows(p, b, w, at + i, &group_rows, i);
		if (stuck == ALL_DONE && w->n >= FULL)
			stuck = flush(p, b, w);
		if (stuck != ALL_DONE)
			return stuck;
	}
	return ALL_DONE;
}

/* Answers one batch: the number of queries answered, or CONTRADICTION. */
HELPER(LEVEL) int64_t answer_batch(const et_points *p, const query_batch *b, work *w, uint32_t *ends) {
	int64_t stuck = ALL_DONE, fill = w->fill;
	w->n = 0;
	for (uint32_t i = 0; i < BATCH; i++)
		w->end[i] = 0;
	for (uint32_t at = 0; at < b->n && stuck == ALL_DONE; at += V(LANES))
		stuck = add_group(p, b, w, at);
	if (stuck == ALL_DONE)
		stuck = flush(p, b, w);
	if (stuck == CONTRADICTION)
		return stuck;
	const uint32_t done = stuck == ALL_DONE ? b->n : (uint32_t)stuck;
	for (uint32_t i = 0; i < done; i++) {
		fill = w->end[i] > fill ? w->end[i] : fill;
		ends[i] = (uint32_t)fill;
	}
	w->fill = fill;
	return done;
}

KERNEL(int64_t, radius, const et_points *p, const et_spheres *qs, const et_rows *rows) {
	const int64_t n = qs->n;
	uint32_t *const ends = rows->ends;
	work job, *const w = &job;
	w->form = (rows->dist2 ? WITH_D2 : 0) | (p->category ? WITH_MASK : 0) | (qs->exclude ? WITH_EXCLUDE : 0);
	w->out = rows->slots;
	w->d2 = rows->dist2;
	w->fill = rows->fill;
	w->cap = rows->cap;
	query_batch b;
	for (int64_t at = 0; at < n; at += BATCH) {
		take_batch(&b, qs, at, n - at);
		const int64_t done = answer_batch(p, &b, w, ends + at);
		if (done < b.n)
			return done < 0 ? -1 : at + done;
	}
	return n;
}

#undef WIDTH

#ifdef DISPATCH
int64_t et_radius(int32_t level, et_points points, et_spheres queries, et_rows rows) {
	return DISPATCH(level, radius, &points, &queries, &rows);
}
#endif
