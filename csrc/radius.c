#include "evertick.h"
#include "lanes.h"
#include "points.h"
#include "reach.h"

/* BATCH queries are answered together, and as many rows of cells as MAX_ROWS
 * are prepared for each of them in vectors. A list of FULL tasks is long enough
 * for the loop over it to run undisturbed, and short enough for the L1 cache; a
 * query that finds it shorter can add its rows without looking. */
enum { BATCH = 64, MAX_ROWS = 32, ROW_TASKS = 8, FULL = 512, TASKS = FULL + MAX_ROWS * ROW_TASKS };

typedef struct {
	float x[BATCH], y[BATCH], z[BATCH], r2[BATCH], reach[BATCH];
	uint32_t exclude[BATCH], mask[BATCH];
	uint32_t n;
} batch;

/* Tasks, and where their hits go. A task is one vector's worth of places for one
 * query: bits 0-15 tell which of the places count, bits 16-31 the query within
 * the batch, and the rest is the number of the first place over their number. */
typedef struct {
	uint64_t task[TASKS + ROW_TASKS];
	uint16_t hits[TASKS]; /* of each task, between two loops */
	uint32_t n;
	uint32_t form; /* WITH_D2 and so on */
	uint32_t *out;
	float *d2;
	int64_t fill, cap;
	int64_t end[BATCH]; /* where the row of each query ends, 0 if it had no task */
} work;

/* Of Queries.X and so on. */
typedef struct {
	const float *x, *y, *z, *r;
	const uint32_t *exclude, *mask;
} queries;

/* What comes with the rows, or decides besides the distance. */
enum { WITH_D2 = 1, WITH_MASK = 2, WITH_EXCLUDE = 4 };

enum { ALL_DONE = -1, NO_ROOM = -2, CONTRADICTION = -3 };

static inline void take(batch *b, const queries *qs, int64_t from, int64_t n) {
	b->n = n < BATCH ? (uint32_t)n : BATCH;
	for (uint32_t i = 0; i < BATCH; i++) {
		const int64_t at = from + (i < b->n ? i : 0);
		b->x[i] = qs->x[at];
		b->y[i] = qs->y[at];
		b->z[i] = qs->z[at];
		b->r2[i] = qs->r[at] * qs->r[at];
		b->reach[i] = reach_of(qs->r[at], b->r2[i]);
		const sieve f = sieve_of(qs->exclude, qs->mask, at);
		b->exclude[i] = f.exclude;
		b->mask[i] = f.mask;
		if (f.mask == 0)
			b->r2[i] = -1;
	}
}

#define TEMPLATE "radius_tmpl.h"
#include "levels.h"

int64_t et_radius(int32_t level, const et_grid *grid, const uint32_t *start,
                  const et_block *blocks, const uint32_t *category, const uint16_t *live,
                  const float *qx, const float *qy, const float *qz, const float *qr,
                  const uint32_t *exclude, const uint32_t *mask, int64_t n, uint32_t *ends,
                  uint32_t *out, float *d2, int64_t fill, int64_t cap) {
	const point_set p = point_set_of(grid, start, blocks, category, live);
	const queries qs = {qx, qy, qz, qr, exclude, mask};
	work w;
	w.form = (d2 ? WITH_D2 : 0) | (category ? WITH_MASK : 0) | (exclude ? WITH_EXCLUDE : 0);
	w.out = out;
	w.d2 = d2;
	w.fill = fill;
	w.cap = cap;
	return DISPATCH(level, radius, &p, &qs, n, ends, &w);
}
