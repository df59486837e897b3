/* How a kernel maps points to cells, which points pass the filters of a query, and how it visits the cells that a
 * query can reach: as tasks, each a block of points and a mask of the lanes to test. internal/neighbours/cells.go is the same
 * in Go. */
#ifndef EVERTICK_CELLS_H
#define EVERTICK_CELLS_H

#include "queries.h"
#include "reach.h"

#define NO_SLOT UINT32_MAX

/* tailed_cell of reach.h, lane by lane. */
HELPER(LEVEL) V(u) tailed(const et_grid *g, int axis, V(f) t) {
	const V(f) zero = V(set1)(0.0f), one = V(set1)(1.0f), tail = V(set1)(g->tail[axis]);
	const V(f) core = V(set1)((float)(g->n[axis] - g->low[axis] - g->high[axis]));
	const V(u) bits = V(asu)(one), low = V(set1u)((uint32_t)g->low[axis]), last = V(set1u)((uint32_t)g->n[axis] - 1);
	if ((V(le)(zero, t) & V(lt)(t, core)) == (1u << V(LANES)) - 1u) /* all lanes are inside the core, as most points are */
		return V(addu)(low, V(truncu)(t));
	const V(f) above = V(add)(V(max)(V(sub)(t, core), zero), one), below = V(add)(V(max)(V(sub)(zero, t), zero), one);
	const V(f) up = V(mul)(V(tof)(V(subu)(V(asu)(above), bits)), tail);
	const V(f) down = V(add)(V(mul)(V(tof)(V(subu)(V(asu)(below), bits)), tail), V(set1)(LESS_THAN_ONE));
	const V(u) inside = V(truncu)(V(min)(V(max)(t, zero), core));
	const V(u) high = V(truncu)(V(min)(up, V(set1)((float)g->high[axis])));
	const V(u) under = V(truncu)(V(min)(down, V(set1)((float)g->low[axis])));
	return V(minu)(V(subu)(V(addu)(V(addu)(low, inside), high), under), last);
}

/* pieced_cell of reach.h, lane by lane. It passes over the pieces in turn: gathering their numbers takes longer. */
HELPER(LEVEL) V(u) pieced(const et_grid *g, int axis, V(f) v) {
	const et_pieces *const p = &g->piece[axis];
	const int32_t pieces = g->pieces[axis];
	V(f) min = V(set1)(p->min[0]), inv = V(set1)(p->inv[0]), first = V(set1)(0.0f), top = V(set1)((float)(p->first[1] - 1));
	for (int32_t i = 1; i < pieces; i++) {
		const V(f) begin = V(set1)(p->min[i]);
		const V(mask) in = V(le)(begin, v);
		if (!in)
			break;
		min = V(select)(in, begin, min);
		inv = V(select)(in, V(set1)(p->inv[i]), inv);
		first = V(select)(in, V(set1)((float)p->first[i]), first);
		top = V(select)(in, V(set1)((float)(p->first[i + 1] - p->first[i] - 1)), top);
	}
	const V(f) t = V(mul)(V(sub)(v, min), inv);
	return V(addu)(V(truncu)(first), V(truncu)(V(min)(V(max)(t, V(set1)(0.0f)), top)));
}

/* The cells of lanes along an axis that is not uniform. t is the distance from the lower corner of the core. */
HELPER(LEVEL) V(u) uneven_cell(const et_grid *g, int axis, V(f) v, V(f) t) {
	return g->tail[axis] < 0.0f ? pieced(g, axis, v) : tailed(g, axis, t);
}

/* The filters of one query; both columns may be NULL. */
typedef struct {
	uint32_t exclude, mask;
} query_filter;

static inline query_filter filter_of(const uint32_t *exclude, const uint32_t *mask, int64_t query) {
	const query_filter s = {exclude ? exclude[query] : NO_SLOT, mask ? mask[query] : UINT32_MAX};
	return s;
}

/* The lanes of a block that pass the filters of a query. */
HELPER(LEVEL) uint32_t passing_lanes(const et_points *p, uint32_t block, const query_filter *s) {
	const uint32_t *const slot = p->blocks[block].slot;
	uint32_t pass = p->live ? p->live[block] : 0xffffu;
	if (s->exclude != NO_SLOT) {
		uint32_t other = 0;
		for (uint32_t lane = 0; lane < ET_BLOCK; lane += V(LANES))
			other |= V(nequ)(V(loadu)(slot + lane), V(set1u)(s->exclude)) << lane;
		pass &= other;
	}
	if (p->category) {
		uint32_t any = 0;
		for (uint32_t lane = 0; lane < ET_BLOCK; lane += V(LANES))
			any |= V(anyu)(V(loadu)(p->category + (size_t)block * ET_BLOCK + lane), V(set1u)(s->mask)) << lane;
		pass &= any;
	}
	return pass;
}

/* The position of a walk over cells. Cells of one row along x are neighbours in memory. */
typedef struct {
	const uint32_t *row;         /* the entry of start for the first cell of the next row */
	int32_t width, rows, layers; /* cells of a row, rows of a layer, remaining layers */
	int32_t left;                /* remaining rows of this layer */
	int64_t to_row, to_layer;
	uint32_t at, last;           /* remaining points of the current row: places [at, last) */
} walk;

static inline walk walk_over(const et_points *p, const cell_box *b, const query_filter *s) {
	const et_grid *const g = p->grid;
	const int32_t first = cell_number(g, b->lo[0], b->lo[1], b->lo[2]), last = cell_number(g, b->hi[0], b->hi[1], b->hi[2]);
	walk w = {p->start + first, b->hi[0] - b->lo[0] + 1, b->hi[1] - b->lo[1] + 1, b->hi[2] - b->lo[2] + 1,
	          0, g->n[0], 0, 0, 0};
	if (are_sparse(p->start, first, last, (int64_t)w.rows * w.layers, ROW_COST)) {
		w.width = last - first + 1;
		w.rows = w.layers = 1;
	}
	if (s->mask == 0) /* a mask without categories: nothing passes */
		w.layers = 0;
	w.left = w.rows;
	w.to_layer = (int64_t)(g->n[1] - w.rows + 1) * g->n[0];
	return w;
}

typedef struct {
	uint32_t block, lanes;
} task;

enum { TASKS = 64, AT_ONCE = 3 };

/* The next tasks of a walk. Returns how many, 0 at the end of the walk, or -1 if start does not ascend. points
 * gets the number of candidates. Few rows touch more than three blocks, so three tasks are written without a
 * branch. */
static inline int32_t next_tasks(walk *w, uint32_t total, task *list, uint32_t *points) {
	int32_t n = 0;
	*points = 0;
	while (n <= TASKS - AT_ONCE) {
		if (w->at == w->last) {
			if (w->layers == 0)
				break;
			w->at = w->row[0];
			w->last = w->row[w->width];
			if (w->at > w->last || w->last > total)
				return -1;
			const int turn = --w->left == 0;
			w->layers -= turn;
			w->left = turn ? w->rows : w->left;
			if (w->layers != 0)
				w->row += turn ? w->to_layer : w->to_row;
		}
		const uint32_t base = w->at / ET_BLOCK * ET_BLOCK;
		const uint32_t end = w->last - base < AT_ONCE * ET_BLOCK ? w->last - base : AT_ONCE * ET_BLOCK;
		const uint64_t lanes = (((uint64_t)1 << end) - 1) & ~(((uint64_t)1 << (w->at - base)) - 1);
		for (uint32_t t = 0; t < AT_ONCE; t++) {
			list[n + (int32_t)t].block = base / ET_BLOCK + t;
			list[n + (int32_t)t].lanes = (uint32_t)(lanes >> t * ET_BLOCK) & 0xffffu;
		}
		n += w->at == w->last ? 0 : (int32_t)((end + ET_BLOCK - 1) / ET_BLOCK);
		*points += end - (w->at - base);
		w->at = base + end;
	}
	return n;
}

#endif
