#include "cells.h"

ROUTINE(c) walk walk_around(const et_points *p, const et_spheres *s, int64_t i, const query_filter *f) {
	const float centre[3] = {s->x[i], s->y[i], s->z[i]}, reach = reach_of(s->radius[i], s->radius[i] * s->radius[i]);
	const cell_box b = box_around(p->grid, centre, centre, reach);
	return walk_over(p, &b, f);
}


/* The lanes of a block that are within the radius. */
HELPER(LEVEL) uint32_t within(const et_block *b, V(f) x, V(f) y, V(f) z, V(f) r2) {
	uint32_t near = 0;
	for (uint32_t lane = 0; lane < ET_BLOCK; lane += V(LANES)) {
		const V(f) dx = V(sub)(V(load)(b->x + lane), x);
		const V(f) dy = V(sub)(V(load)(b->y + lane), y);
		const V(f) dz = V(sub)(V(load)(b->z + lane), z);
		const V(f) dist2 = NORM2(dx, dy, dz);
		near |= V(le)(dist2, r2) << lane;
	}
	return near;
}

KERNEL(int64_t, count, const et_points *p, const et_spheres *s, uint32_t *counts) {
	task list[TASKS];
	for (int64_t i = 0; i < s->n; i++) {
		const V(f) x = V(set1)(s->x[i]), y = V(set1)(s->y[i]), z = V(set1)(s->z[i]);
		const V(f) r2 = V(set1)(s->radius[i] * s->radius[i]);
		const query_filter f = filter_of(s->exclude, s->mask, i);
		walk w = walk_around(p, s, i, &f);
		uint32_t n = 0, points;
		int32_t tasks;
		while ((tasks = next_tasks(&w, p->n, list, &points)) > 0)
			for (int32_t t = 0; t < tasks; t++)
				n += (uint32_t)__builtin_popcount(within(p->blocks + list[t].block, x, y, z, r2) &
				                                  list[t].lanes & passing_lanes(p, list[t].block, &f));
		if (tasks < 0)
			return -1;
		counts[i] = n;
	}
	return s->n;
}

ROUTINE(c) walk walk_within(const et_points *p, const et_boxes *b, int64_t i, const query_filter *f) {
	const float lo[3] = {b->lo[0][i], b->lo[1][i], b->lo[2][i]}, hi[3] = {b->hi[0][i], b->hi[1][i], b->hi[2][i]};
	const cell_box c = box_around(p->grid, lo, hi, 0.0f);
	return walk_over(p, &c, f);
}


/* One box in every lane. */
typedef struct {
	V(f) lo[3], hi[3];
} query_box;

HELPER(LEVEL) query_box box_at(const et_boxes *b, int64_t i) {
	query_box box;
	for (int a = 0; a < 3; a++) {
		box.lo[a] = V(set1)(b->lo[a][i]);
		box.hi[a] = V(set1)(b->hi[a][i]);
	}
	return box;
}

HELPER(LEVEL) V(mask) in_range(V(f) lo, const float *p, V(f) hi) {
	const V(f) v = V(load)(p);
	return V(le)(lo, v) & V(le)(v, hi);
}

/* Appends the slots of a task's points that are in the box. Returns the new fill. It stores whole vectors. */
HELPER(LEVEL) int64_t take_within(const et_points *p, const task *t, const query_box *box,
                                  const query_filter *f, uint32_t *out, int64_t fill) {
	const et_block *const b = p->blocks + t->block;
	const uint32_t want = t->lanes & passing_lanes(p, t->block, f);
	for (uint32_t lane = 0; lane < ET_BLOCK; lane += V(LANES)) {
		const V(mask) in = in_range(box->lo[0], b->x + lane, box->hi[0]) &
		                   in_range(box->lo[1], b->y + lane, box->hi[1]) &
		                   in_range(box->lo[2], b->z + lane, box->hi[2]) &
		                   (want >> lane) & V(first)(V(LANES));
		V(storeu)(out + fill, V(packu)(V(loadu)(b->slot + lane), in));
		fill += V(count)(in);
	}
	return fill;
}

/* Appends the row of a box. Returns the new fill, -1 if start does not ascend, or -2 if there is not enough room. */
HELPER(LEVEL) int64_t overlap_row(const et_points *p, const et_boxes *b, int64_t i, const et_rows *rows, int64_t fill) {
	const query_box box = box_at(b, i);
	const query_filter f = filter_of(b->exclude, b->mask, i);
	walk w = walk_within(p, b, i, &f);
	task list[TASKS];
	uint32_t points;
	int32_t tasks;
	while ((tasks = next_tasks(&w, p->n, list, &points)) > 0) {
		if (rows->cap - fill < (int64_t)points + V(LANES))
			return -2;
		for (int32_t t = 0; t < tasks; t++)
			fill = take_within(p, list + t, &box, &f, rows->slots, fill);
	}
	return tasks < 0 ? -1 : fill;
}

KERNEL(int64_t, overlap, const et_points *p, const et_boxes *b, const et_rows *rows) {
	int64_t fill = rows->fill;
	for (int64_t i = 0; i < b->n; i++) {
		const int64_t end = overlap_row(p, b, i, rows, fill);
		if (end < 0)
			return end == -1 ? -1 : i;
		rows->ends[i] = (uint32_t)(fill = end);
	}
	return b->n;
}

KERNEL(void, live, const et_block *blocks, uint32_t points, const uint64_t *bitmap, uint16_t *live) {
	uint32_t place = 0;
	for (; place + ET_BLOCK <= points; place += ET_BLOCK) {
		uint32_t lanes = 0;
		for (uint32_t i = 0; i < ET_BLOCK; i += V(LANES))
			lanes |= (uint32_t)V(member)(bitmap, V(loadu)(blocks[place / ET_BLOCK].slot + i)) << i;
		live[place / ET_BLOCK] = (uint16_t)lanes;
	}
	if (place == points)
		return;
	uint32_t lanes = 0;
	for (uint32_t i = 0; place + i < points; i++)
		lanes |= (uint32_t)c_member(bitmap, blocks[place / ET_BLOCK].slot[i]) << i;
	live[place / ET_BLOCK] = (uint16_t)lanes;
}

#ifdef DISPATCH
int64_t et_count(int32_t level, et_points points, et_spheres queries, uint32_t *counts) {
	return DISPATCH(level, count, &points, &queries, counts);
}

int64_t et_overlap(int32_t level, et_points points, et_boxes boxes, et_rows rows) {
	return DISPATCH(level, overlap, &points, &boxes, &rows);
}

void et_live(int32_t level, const et_block *blocks, uint32_t points, const uint64_t *bitmap, uint16_t *live) {
	DISPATCH(level, live, blocks, points, bitmap, live);
}
#endif
