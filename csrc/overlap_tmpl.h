#include "passing.h"

/* One box in every lane. */
typedef struct {
	V(f) lo[3], hi[3];
} CAT(box_, LEVEL);

HELPER(LEVEL) CAT(box_, LEVEL) CAT(box_at_, LEVEL)(const boxes *b, int64_t i) {
	CAT(box_, LEVEL) box;
	for (int a = 0; a < 3; a++) {
		box.lo[a] = V(set1)(b->lo[a][i]);
		box.hi[a] = V(set1)(b->hi[a][i]);
	}
	return box;
}

HELPER(LEVEL) V(mask) CAT(between_, LEVEL)(V(f) lo, const float *p, V(f) hi) {
	const V(f) v = V(load)(p);
	return V(le)(lo, v) & V(le)(v, hi);
}

/* Appends the slots of a task's points that are in the box, and returns the new
 * fill. Whole vectors are stored. */
HELPER(LEVEL) int64_t CAT(take_, LEVEL)(const point_set *p, const task *t, const CAT(box_, LEVEL) *box,
                                        const sieve *f, uint32_t *out, int64_t fill) {
	const et_block *const b = p->blocks + t->block;
	const uint32_t want = t->lanes & CAT(passing_, LEVEL)(p, t->block, f);
	for (uint32_t lane = 0; lane < ET_BLOCK; lane += V(LANES)) {
		const V(mask) in = CAT(between_, LEVEL)(box->lo[0], b->x + lane, box->hi[0]) &
		                   CAT(between_, LEVEL)(box->lo[1], b->y + lane, box->hi[1]) &
		                   CAT(between_, LEVEL)(box->lo[2], b->z + lane, box->hi[2]) &
		                   (want >> lane) & V(first)(V(LANES));
		V(storeu)(out + fill, V(packu)(V(loadu)(b->slot + lane), in));
		fill += V(count)(in);
	}
	return fill;
}

/* The new fill, -1 if start does not ascend, or -2 if the room is too small. */
HELPER(LEVEL) int64_t CAT(row_, LEVEL)(const point_set *p, const boxes *b, int64_t i, uint32_t *out, int64_t fill,
                                       int64_t cap) {
	const CAT(box_, LEVEL) box = CAT(box_at_, LEVEL)(b, i);
	const sieve f = sieve_of(b->exclude, b->mask, i);
	walk w = walk_within(p, b, i, &f);
	task list[TASKS];
	uint32_t points;
	int32_t tasks;
	while ((tasks = next_tasks(&w, p->n, list, &points)) > 0) {
		if (cap - fill < (int64_t)points + V(LANES))
			return -2;
		for (int32_t t = 0; t < tasks; t++)
			fill = CAT(take_, LEVEL)(p, list + t, &box, &f, out, fill);
	}
	return tasks < 0 ? -1 : fill;
}

KERNEL(LEVEL) int64_t CAT(overlap_, LEVEL)(const point_set *p, const boxes *b, uint32_t *ends, uint32_t *out,
                                           int64_t fill, int64_t cap) {
	for (int64_t i = 0; i < b->n; i++) {
		const int64_t end = CAT(row_, LEVEL)(p, b, i, out, fill, cap);
		if (end < 0)
			return end == -1 ? -1 : i;
		ends[i] = (uint32_t)(fill = end);
	}
	return b->n;
}
