#include "build.h"

#include <float.h>
#include <string.h>

#include "build_lanes.h"
#include "reach.h"

typedef struct {
	const float *x, *y, *z;
	uint32_t limit; /* slots are below it */
} columns;

/* Where the coordinates of up to sixteen points stand one after another: in the
 * columns, or gathered. */
typedef struct {
	const float *x, *y, *z;
} group;

static inline group group_at(const columns *c, uint32_t slot) {
	return (group){c->x + slot, c->y + slot, c->z + slot};
}

/* Whether the first n slots, of which it looks at sixteen, ascend from *next on,
 * below the limit. */
static inline int ascend(const columns *c, const uint32_t *slots, int64_t n, uint32_t *next) {
	const int64_t last = n < ET_BLOCK ? n - 1 : ET_BLOCK - 1;
	int bad = (slots[0] < *next) | (slots[last] >= c->limit);
	if (last < ET_BLOCK - 1)
		for (int64_t i = 0; i < last; i++)
			bad |= slots[i] >= slots[i + 1];
	else
		for (int i = 0; i < ET_BLOCK - 1; i++) /* of fixed length, for the compiler */
			bad |= slots[i] >= slots[i + 1];
	*next = slots[last] + 1;
	return !bad;
}

/* The largest t that is in a cell below n. */
static inline float below(int32_t n) { return c_asf(c_asu((float)n) - 1); }

/* native.Sample has the same. */
#define MIX 0x9e3779b1u

/* From this number of cells on the cursors are too far away to wait for: they are
 * asked for that many points ahead. Fewer are near, and asking costs more. */
enum { FAR_CELLS = 1 << 17, AHEAD = 2 * ET_BLOCK };

/* A pass of its own: words are slow to load soon after the vector store that
 * they are part of. */
static void tally(uint32_t *counts, const uint32_t *cell_of, int64_t n) {
	for (int64_t i = 0; i < n; i++)
		counts[cell_of[i]]++;
}

/* Fetches the cursors of sixteen points. */
static inline void prefetch(const uint32_t *cursors, const uint32_t *cell_of) {
	for (int i = 0; i < ET_BLOCK; i++)
		__builtin_prefetch(cursors + cell_of[i], 1);
}

#define TEMPLATE "build_tmpl.h"
#include "levels.h"

int32_t et_measure(int32_t level, const float *x, const float *y, const float *z, uint32_t limit,
                   const uint32_t *slots, int64_t n, float *box) {
	const columns c = {x, y, z, limit};
	return DISPATCH(level, measure, &c, slots, n, box);
}

int64_t et_sample(int32_t level, const float *x, const float *y, const float *z, uint32_t limit,
                  const uint32_t *slots, int64_t n, uint32_t mask, uint32_t *found, int64_t room) {
	const columns c = {x, y, z, limit};
	return DISPATCH(level, sample, &c, slots, n, mask, found, room);
}

int32_t et_number(int32_t level, const et_grid *grid, const float *x, const float *y, const float *z,
                  uint32_t limit, const uint32_t *slots, int64_t n, uint32_t *counts, uint32_t *cell_of) {
	const columns c = {x, y, z, limit};
	const int64_t cells = (int64_t)grid->n[0] * grid->n[1] * grid->n[2];
	if (!DISPATCH(level, number, grid, &c, slots, n, cell_of))
		return 0;
	memset(counts, 0, (size_t)cells * sizeof *counts);
	tally(counts, cell_of, n);
	return 1;
}

void et_accumulate(int32_t level, uint32_t *counts, int64_t cells) { DISPATCH(level, accumulate, counts, cells); }

void et_scatter(int32_t level, int64_t cells, const float *x, const float *y, const float *z, uint32_t limit,
                const uint32_t *slots, int64_t n, uint32_t *cursors, const uint32_t *cell_of, et_block *blocks) {
	const columns c = {x, y, z, limit};
	DISPATCH(level, scatter, &c, slots, n, cursors, cell_of, (record *)(void *)blocks, cells < FAR_CELLS ? 0 : AHEAD);
}

void et_transpose(int32_t level, et_block *blocks, int64_t first, int64_t last, int64_t points) {
	const int64_t room = last * ET_BLOCK;
	if (room > points)
		memset((record *)(void *)blocks + points, 0, (size_t)(room - points) * sizeof(record));
	DISPATCH(level, transpose, blocks + first, last - first);
}

int32_t et_build(int32_t level, const et_grid *grid, const float *x, const float *y, const float *z,
                 uint32_t limit, const uint32_t *slots, int64_t n, uint32_t *start,
                 et_block *blocks, uint32_t *cell_of) {
	const int64_t cells = (int64_t)grid->n[0] * grid->n[1] * grid->n[2];
	if (!et_number(level, grid, x, y, z, limit, slots, n, start + 1, cell_of))
		return 0;
	start[0] = 0;
	et_accumulate(level, start + 1, cells);
	et_scatter(level, cells, x, y, z, limit, slots, n, start + 1, cell_of, blocks);
	et_transpose(level, blocks, 0, (n + ET_BLOCK - 1) / ET_BLOCK, n);
	return 1;
}
