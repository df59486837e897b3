#include "shapes.h"
#include "cells.h"
#include "lanes.h"

typedef struct {
	const float *lo[3], *hi[3];
	const uint32_t *exclude, *mask;
	int64_t n;
} query_boxes;

static inline walk walk_within(const point_set *p, const query_boxes *b, int64_t i, const sieve *f) {
	const float lo[3] = {b->lo[0][i], b->lo[1][i], b->lo[2][i]}, hi[3] = {b->hi[0][i], b->hi[1][i], b->hi[2][i]};
	const cell_box c = box_around(p->grid, lo, hi, 0.0f);
	return walk_over(p, &c, f);
}

#include "passing.h"

/* One box in every lane. */
typedef struct {
	V(f) lo[3], hi[3];
} query_box;

HELPER(LEVEL) query_box box_at(const query_boxes *b, int64_t i) {
	query_box query_box;
	for (int a = 0; a < 3; a++) {
		query_box.lo[a] = V(set1)(b->lo[a][i]);
		query_box.hi[a] = V(set1)(b->hi[a][i]);
	}
	return query_box;
}

HELPER(LEVEL) V(mask) in_range(V(f) lo, const float *p, V(f) hi) {
	const V(f) v = V(load)(p);
	return V(le)(lo, v) & V(le)(v, hi);
}

/* Appends the slots of a task's points that are in the box, and returns the new
 * fill. Whole vectors are stored. */
HELPER(LEVEL) int64_t take_within(const point_set *p, const task *t, const query_box *query_box,
                                  const sieve *f, uint32_t *out, int64_t fill) {
	const et_block *const b = p->blocks + t->block;
	const uint32_t want = t->lanes & passing(p, t->block, f);
	for (uint32_t lane = 0; lane < ET_BLOCK; lane += V(LANES)) {
		const V(mask) in = in_range(query_box->lo[0], b->x + lane, query_box->hi[0]) &
		                   in_range(query_box->lo[1], b->y + lane, query_box->hi[1]) &
		                   in_range(query_box->lo[2], b->z + lane, query_box->hi[2]) &
		                   (want >> lane) & V(first)(V(LANES));
		V(storeu)(out + fill, V(packu)(V(loadu)(b->slot + lane), in));
		fill += V(count)(in);
	}
	return fill;
}

/* The new fill, -1 if start does not ascend, or -2 if the room is too small. */
HELPER(LEVEL) int64_t overlap_row(const point_set *p, const query_boxes *b, int64_t i, uint32_t *out, int64_t fill,
                                  int64_t cap) {
	const query_box query_box = box_at(b, i);
	const sieve f = sieve_of(b->exclude, b->mask, i);
	walk w = walk_within(p, b, i, &f);
	task list[TASKS];
	uint32_t points;
	int32_t tasks;
	while ((tasks = next_tasks(&w, p->n, list, &points)) > 0) {
		if (cap - fill < (int64_t)points + V(LANES))
			return -2;
		for (int32_t t = 0; t < tasks; t++)
			fill = take_within(p, list + t, &query_box, &f, out, fill);
	}
	return tasks < 0 ? -1 : fill;
}

KERNEL(int64_t, overlap, const point_set *p, const query_boxes *b, uint32_t *ends, uint32_t *out,
       int64_t fill, int64_t cap) {
	for (int64_t i = 0; i < b->n; i++) {
		const int64_t end = overlap_row(p, b, i, out, fill, cap);
		if (end < 0)
			return end == -1 ? -1 : i;
		ends[i] = (uint32_t)(fill = end);
	}
	return b->n;
}

#ifdef DISPATCH
int64_t et_overlap(int32_t level, const et_grid *grid, const uint32_t *start, const et_block *blocks,
                   const uint32_t *category, const uint16_t *live, const float *lox, const float *loy,
                   const float *loz, const float *hix, const float *hiy, const float *hiz, const uint32_t *exclude,
                   const uint32_t *mask, int64_t n, uint32_t *ends, uint32_t *out, int64_t fill, int64_t cap) {
	const point_set p = point_set_of(grid, start, blocks, category, live);
	const query_boxes b = {{lox, loy, loz}, {hix, hiy, hiz}, exclude, mask, n};
	return DISPATCH(level, overlap, &p, &b, ends, out, fill, cap);
}
#endif
