#include "build.h"

#include "build_lanes.h"
#include "cells.h"

/* Pointers to the coordinates of up to sixteen points in sequence: in the columns, or gathered. */
typedef struct {
	const float *x, *y, *z;
} point_group;

static inline point_group group_at(const et_columns *c, uint32_t slot) {
	return (point_group){c->x + slot, c->y + slot, c->z + slot};
}

/* Whether the first n of sixteen slots ascend from *next on and are below the limit. It reads all sixteen. */
static inline int ascend(const et_columns *c, const uint32_t *slots, int64_t n, uint32_t *next) {
	const int64_t last = n < ET_BLOCK ? n - 1 : ET_BLOCK - 1;
	int bad = (slots[0] < *next) | (slots[last] >= c->limit);
	if (last < ET_BLOCK - 1)
		for (int64_t i = 0; i < last; i++)
			bad |= slots[i] >= slots[i + 1];
	else
		for (int i = 0; i < ET_BLOCK - 1; i++) /* a fixed length, so that the compiler vectorizes it */
			bad |= slots[i] >= slots[i + 1];
	*next = slots[last] + 1;
	return !bad;
}

/* The largest t whose cell is below n. */
static inline float below(int32_t n) { return c_asf(c_asu((float)n) - 1); }

/* The same constant as in neighbours.Sample. */
#define MIX 0x9e3779b1u

/* From this number of cells on, the cursors do not fit into the near caches, so they are prefetched that many
 * points ahead. With fewer cells a prefetch costs more than it saves. */
enum { FAR_CELLS = 1 << 17, AHEAD = 2 * ET_BLOCK };

/* Prefetches the cursors of sixteen points. */
static inline void prefetch(const uint32_t *cursors, const uint32_t *cell_of) {
	for (int i = 0; i < ET_BLOCK; i++)
		__builtin_prefetch(cursors + cell_of[i], 1);
}

/* Whether the sixteen slots at p ascend one by one from next on, below the limit. */
HELPER(LEVEL) int V(run_at)(const et_columns *c, const uint32_t *p, uint32_t next) {
	int run = p[0] >= next && (uint64_t)p[0] + ET_BLOCK <= c->limit;
	for (uint32_t i = 0; i < ET_BLOCK; i += V(LANES))
		run &= !V(nequ)(V(loadu)(p + i), V(ramp)(p[0] + i));
	return run;
}

/* Gathers n points, at most sixteen, and repeats the last one up to sixteen. It is not inlined: few groups need
 * it, and it would take registers from all of them. It stores whole vectors, because a vector load soon after
 * stores of single words is slow. Slots close together, the usual case, are picked out of two vectors, because a
 * gather is one load per lane. */
ROUTINE(LEVEL) point_group V(gather)(const et_columns *c, const uint32_t *slots, int64_t n, et_block *room) {
	uint32_t few[ET_BLOCK];
	if (n < ET_BLOCK) {
		for (int64_t i = 0; i < ET_BLOCK; i++)
			few[i] = slots[i < n ? i : n - 1];
		slots = few;
	}
	for (int i = 0; i < ET_BLOCK; i += V(LANES)) {
		const V(u) s = V(loadu)(slots + i);
		const uint32_t first = slots[i];
		V(storeu)(room->slot + i, s);
		if (slots[i + V(LANES) - 1] - first < 2 * V(LANES) && (uint64_t)first + 2 * V(LANES) <= c->limit) {
			const V(u) offset = V(subu)(s, V(set1u)(first));
			V(store)(room->x + i, V(among)(c->x + first, offset));
			V(store)(room->y + i, V(among)(c->y + first, offset));
			V(store)(room->z + i, V(among)(c->z + first, offset));
			continue;
		}
		V(store)(room->x + i, V(fetch)(c->x, s));
		V(store)(room->y + i, V(fetch)(c->y, s));
		V(store)(room->z + i, V(fetch)(c->z, s));
	}
	return (point_group){room->x, room->y, room->z};
}

typedef struct {
	V(f) lo[3], hi[3];
	V(mask) nan;
} V(box);

HELPER(LEVEL) void V(widen)(V(box) *b, point_group g) {
	for (int l = 0; l < ET_BLOCK; l += V(LANES)) {
		const V(f) x = V(load)(g.x + l), y = V(load)(g.y + l), z = V(load)(g.z + l);
		b->nan |= V(unordered)(x, y) | V(unordered)(z, z);
		b->lo[0] = V(min)(x, b->lo[0]);
		b->lo[1] = V(min)(y, b->lo[1]);
		b->lo[2] = V(min)(z, b->lo[2]);
		b->hi[0] = V(max)(x, b->hi[0]);
		b->hi[1] = V(max)(y, b->hi[1]);
		b->hi[2] = V(max)(z, b->hi[2]);
	}
}

/* Reduces the box of all lanes to one box. Adding 0 turns -0 into +0. */
HELPER(LEVEL) int V(close)(const V(box) *b, float *box) {
	int finite = !b->nan;
	for (int a = 0; a < 3; a++) {
		float lo[V(LANES)], hi[V(LANES)];
		V(store)(lo, b->lo[a]);
		V(store)(hi, b->hi[a]);
		for (int l = 1; l < V(LANES); l++) {
			lo[0] = lo[l] < lo[0] ? lo[l] : lo[0];
			hi[0] = hi[l] > hi[0] ? hi[l] : hi[0];
		}
		finite &= lo[0] >= -FLT_MAX && hi[0] <= FLT_MAX;
		box[a] = lo[0] + 0.0f;
		box[3 + a] = hi[0] + 0.0f;
	}
	return finite;
}

KERNEL(int32_t, measure, const et_columns *c, float *box) {
	const uint32_t *const slots = c->slots;
	const int64_t n = c->n;
	V(box) b = {.nan = 0};
	uint32_t next = 0;
	for (int a = 0; a < 3; a++) {
		b.lo[a] = V(set1)(FLT_MAX);
		b.hi[a] = V(set1)(-FLT_MAX);
	}
	for (int64_t i = 0; i < n; i += ET_BLOCK) {
		et_block room;
		for (; n - i >= ET_BLOCK && V(run_at)(c, slots + i, next); i += ET_BLOCK) {
			V(widen)(&b, group_at(c, slots[i]));
			next = slots[i] + ET_BLOCK;
		}
		if (i == n)
			break;
		if (!ascend(c, slots + i, n - i, &next))
			return 0;
		V(widen)(&b, V(gather)(c, slots + i, n - i, &room));
	}
	return V(close)(&b, box);
}

HELPER(LEVEL) V(u) V(times8)(V(u) a) {
	a = V(addu)(a, a);
	a = V(addu)(a, a);
	return V(addu)(a, a);
}

/* The hash of the coordinates, as in neighbours.Sample, for the lanes from l on. */
HELPER(LEVEL) V(u) V(mixed)(point_group g, int l) {
	const V(u) yz = V(addu)(V(asu)(V(load)(g.y + l)), V(times8)(V(asu)(V(load)(g.z + l))));
	return V(mulu)(V(addu)(V(asu)(V(load)(g.x + l)), V(times8)(yz)), V(set1u)(MIX));
}

KERNEL(int64_t, sample, const et_columns *c, uint32_t mask, uint32_t *found, int64_t room) {
	const uint32_t *const slots = c->slots;
	const int64_t n = c->n;
	int64_t fill = 0;
	for (int64_t i = 0; i < n && fill <= room; i += ET_BLOCK) {
		et_block b;
		const int64_t left = n - i < ET_BLOCK ? n - i : ET_BLOCK;
		const int run = left == ET_BLOCK && slots[i + ET_BLOCK - 1] - slots[i] == ET_BLOCK - 1;
		const point_group g = run ? group_at(c, slots[i]) : V(gather)(c, slots + i, left, &b);
		for (int64_t l = 0; l < left; l += V(LANES)) {
			V(mask) hit = ~V(anyu)(V(mixed)(g, (int)l), V(set1u)(mask)) & V(first)((uint32_t)(left - l));
			for (; hit; hit &= hit - 1)
				found[fill++] = slots[i + l + __builtin_ctz(hit)];
		}
	}
	return fill;
}

typedef struct {
	V(f) min[3], inv[3], top[3];
	V(u) nx, ny;
} V(grid);

/* The cell numbers of points, as neighbours.Grid.Number gives them. If t is NaN or not positive the cell is 0; if t is
 * beyond the grid it is the last one. */
HELPER(LEVEL) void V(number)(const V(grid) *g, point_group from, uint32_t *cells) {
	const V(f) zero = V(set1)(0.0f);
	for (int l = 0; l < ET_BLOCK; l += V(LANES)) {
		const V(f) tx = V(mul)(V(sub)(V(load)(from.x + l), g->min[0]), g->inv[0]);
		const V(f) ty = V(mul)(V(sub)(V(load)(from.y + l), g->min[1]), g->inv[1]);
		const V(f) tz = V(mul)(V(sub)(V(load)(from.z + l), g->min[2]), g->inv[2]);
		const V(u) cx = V(truncu)(V(min)(V(max)(tx, zero), g->top[0]));
		const V(u) cy = V(truncu)(V(min)(V(max)(ty, zero), g->top[1]));
		const V(u) cz = V(truncu)(V(min)(V(max)(tz, zero), g->top[2]));
		const V(u) row = V(addu)(V(mulu)(cz, g->ny), cy);
		V(storeu)(cells + l, V(addu)(V(mulu)(row, g->nx), cx));
	}
}

/* The same for a grid that is not uniform. */
HELPER(LEVEL) V(u) V(along)(const et_grid *g, int axis, V(f) v) {
	const V(f) t = V(mul)(V(sub)(v, V(set1)(g->min[axis])), V(set1)(g->inv[axis]));
	if (g->tail[axis] != 0.0f)
		return uneven_cell(g, axis, v, t);
	return V(truncu)(V(min)(V(max)(t, V(set1)(0.0f)), V(set1)(below(g->n[axis]))));
}

ROUTINE(LEVEL) void V(number_uneven)(const et_grid *g, point_group from, uint32_t *cells) {
	for (int l = 0; l < ET_BLOCK; l += V(LANES)) {
		const V(u) cx = V(along)(g, 0, V(load)(from.x + l));
		const V(u) cy = V(along)(g, 1, V(load)(from.y + l));
		const V(u) cz = V(along)(g, 2, V(load)(from.z + l));
		const V(u) row = V(addu)(V(mulu)(cz, V(set1u)((uint32_t)g->n[1])), cy);
		V(storeu)(cells + l, V(addu)(V(mulu)(row, V(set1u)((uint32_t)g->n[0])), cx));
	}
}

KERNEL(int32_t, number, const et_grid *grid, const et_columns *c, uint32_t *cell_of) {
	const uint32_t *const slots = c->slots;
	const int64_t n = c->n;
	V(grid) g = {.nx = V(set1u)((uint32_t)grid->n[0]), .ny = V(set1u)((uint32_t)grid->n[1])};
	const int uneven = is_uneven(grid);
	uint32_t next = 0;
	for (int a = 0; a < 3; a++) {
		g.min[a] = V(set1)(grid->min[a]);
		g.inv[a] = V(set1)(grid->inv[a]);
		g.top[a] = V(set1)(below(grid->n[a]));
	}
	for (int64_t i = 0; i < n; i += ET_BLOCK) {
		et_block room;
		for (; n - i >= ET_BLOCK && V(run_at)(c, slots + i, next); i += ET_BLOCK) {
			if (uneven)
				V(number_uneven)(grid, group_at(c, slots[i]), cell_of + i);
			else
				V(number)(&g, group_at(c, slots[i]), cell_of + i);
			next = slots[i] + ET_BLOCK;
		}
		if (i == n)
			break;
		if (!ascend(c, slots + i, n - i, &next))
			return 0;
		const point_group some = V(gather)(c, slots + i, n - i, &room);
		if (uneven)
			V(number_uneven)(grid, some, room.slot);
		else
			V(number)(&g, some, room.slot);
		for (int64_t l = 0; l < ET_BLOCK && i + l < n; l++)
			cell_of[i + l] = room.slot[l];
	}
	return 1;
}

/* Exclusive prefix sum: counts[i] becomes the sum of the counts before it. */
KERNEL(void, accumulate, uint32_t *counts, int64_t n) {
	V(u) carry = V(set1u)(0);
	int64_t i = 0;
	for (; i + V(LANES) <= n; i += V(LANES))
		V(storeu)(counts + i, V(scan)(V(loadu)(counts + i), &carry));
	uint32_t sums[V(LANES)];
	V(storeu)(sums, carry);
	for (; i < n; i++) {
		const uint32_t count = counts[i];
		counts[i] = sums[0];
		sums[0] += count;
	}
}

/* Copies each point to its cell as one record: one store to one cache line. Four columns would take four of each. */
HELPER(LEVEL) void V(scatter_some)(point_group g, const uint32_t *slots, int n, uint32_t *cursors, const uint32_t *cell_of,
                                   record *to) {
	for (int i = 0; i < ET_BLOCK; i += V(LANES)) {
		V(point) p[V(LANES)];
		V(weave)(p, V(load)(g.x + i), V(load)(g.y + i), V(load)(g.z + i), V(loadu)(slots + i));
		for (int l = 0; l < V(LANES); l++)
			if (i + l < n)
				V(putrecord)(to + cursors[cell_of[i + l]]++, p[l]);
	}
}

KERNEL(void, scatter, const et_columns *c, uint32_t *cursors, const uint32_t *cell_of, record *to, int64_t ahead) {
	const uint32_t *const slots = c->slots;
	const int64_t n = c->n;
	et_block room;
	int64_t i = 0;
	for (; n - i >= ET_BLOCK; i += ET_BLOCK) {
		const int run = slots[i + ET_BLOCK - 1] - slots[i] == ET_BLOCK - 1;
		const point_group g = run ? group_at(c, slots[i]) : V(gather)(c, slots + i, ET_BLOCK, &room);
		if (ahead > 0 && n - i >= ahead + ET_BLOCK)
			prefetch(cursors, cell_of + i + ahead);
		V(scatter_some)(g, slots + i, ET_BLOCK, cursors, cell_of + i, to);
	}
	if (i < n) {
		const point_group g = V(gather)(c, slots + i, n - i, &room);
		V(scatter_some)(g, room.slot, (int)(n - i), cursors, cell_of + i, to);
	}
}

/* Transposes sixteen records into a block, in place. */
KERNEL(void, transpose, et_block *blocks, int64_t n) {
	enum { PARTS = ET_BLOCK / V(LANES) };
	for (int64_t i = 0; i < n; i++) {
		const record *const from = (const record *)(const void *)(blocks + i);
		V(f) x[PARTS], y[PARTS], z[PARTS];
		V(u) slot[PARTS];
		for (int p = 0; p < PARTS; p++)
			V(unweave)(from + p * V(LANES), &x[p], &y[p], &z[p], &slot[p]);
		for (int p = 0; p < PARTS; p++) {
			V(store)(blocks[i].x + p * V(LANES), x[p]);
			V(store)(blocks[i].y + p * V(LANES), y[p]);
			V(store)(blocks[i].z + p * V(LANES), z[p]);
			V(storeu)(blocks[i].slot + p * V(LANES), slot[p]);
		}
	}
}

#ifdef DISPATCH
/* A pass of its own: a word is slow to load soon after the vector store that it is part of. */
static void tally(uint32_t *counts, const uint32_t *cell_of, int64_t n) {
	for (int64_t i = 0; i < n; i++)
		counts[cell_of[i]]++;
}

int32_t et_measure(int32_t level, et_columns columns, float *box) { return DISPATCH(level, measure, &columns, box); }

int64_t et_sample(int32_t level, et_columns columns, uint32_t mask, uint32_t *found, int64_t room) {
	return DISPATCH(level, sample, &columns, mask, found, room);
}

int32_t et_number(int32_t level, const et_grid *grid, et_columns columns, uint32_t *counts, uint32_t *cell_of) {
	const int64_t cells = (int64_t)grid->n[0] * grid->n[1] * grid->n[2];
	if (!DISPATCH(level, number, grid, &columns, cell_of))
		return 0;
	memset(counts, 0, (size_t)cells * sizeof *counts);
	tally(counts, cell_of, columns.n);
	return 1;
}

void et_scatter(int32_t level, et_columns columns, int64_t cells, uint32_t *cursors, const uint32_t *cell_of,
                et_block *blocks) {
	DISPATCH(level, scatter, &columns, cursors, cell_of, (record *)(void *)blocks, cells < FAR_CELLS ? 0 : AHEAD);
}

void et_transpose(int32_t level, et_block *blocks, int64_t first, int64_t last, int64_t points) {
	const int64_t room = last * ET_BLOCK;
	if (room > points)
		memset((record *)(void *)blocks + points, 0, (size_t)(room - points) * sizeof(record));
	DISPATCH(level, transpose, blocks + first, last - first);
}

int32_t et_build(int32_t level, const et_grid *grid, et_columns columns, uint32_t *start, et_block *blocks,
                 uint32_t *cell_of) {
	const int64_t cells = (int64_t)grid->n[0] * grid->n[1] * grid->n[2];
	if (!et_number(level, grid, columns, start + 1, cell_of))
		return 0;
	start[0] = 0;
	DISPATCH(level, accumulate, start + 1, cells);
	et_scatter(level, columns, cells, start + 1, cell_of, blocks);
	et_transpose(level, blocks, 0, (columns.n + ET_BLOCK - 1) / ET_BLOCK, columns.n);
	return 1;
}
#endif
