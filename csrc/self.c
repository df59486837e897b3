#include "self.h"
#include "reach.h"
#include "lanes.h"

typedef struct {
	const et_grid *grid;
	const uint32_t *start;
	const et_block *blocks;
	uint32_t n; /* points */
	float r2, reach;
} field;

/* Centres at places [first, last) of one row of cells, and the box around them. */
typedef struct {
	uint32_t first, last;
	float lo[3], hi[3];
} batch;

typedef struct {
	uint32_t *ends, *out;
	float *d2;
	int64_t fill, cap;
} rows;

/* A batch has up to BATCH centres, or half as many more rather than leave a few
 * for one of their own. Fewer share the cost of gathering among too few; more
 * make the box so large that each centre has too many points to test. */
enum { BATCH = 10 };

/* ROW_COST here: looking at a row costs about as much as gathering from this many. */
enum { BATCH_ROW_COST = 32 };

/* Cuts the next batch from places [first, last); it is empty if start
 * contradicts the points. */
static inline batch next_batch(const field *f, uint32_t first, uint32_t last) {
	const et_grid *const g = f->grid;
	const et_block *p = f->blocks + first / ET_BLOCK;
	uint32_t lane = first % ET_BLOCK;
	const uint32_t *const start = f->start + cell_number(g, 0, cell_of(g, 1, p->y[lane]), cell_of(g, 2, p->z[lane]));
	batch b = {first, first, {p->x[lane], p->y[lane], p->z[lane]}, {p->x[lane], p->y[lane], p->z[lane]}};
	if (start[0] > first || start[g->n[0]] > f->n)
		return b;
	if (last > start[g->n[0]])
		last = start[g->n[0]];
	if (last > first + BATCH + BATCH / 2)
		last = first + BATCH;
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

#define TEMPLATE "self_tmpl.h"
#include "levels.h"

int64_t et_self(int32_t level, const et_grid *grid, const uint32_t *start, const et_block *blocks,
                float r2, float reach, int32_t keep, int64_t first, int64_t last, uint32_t *ends,
                uint32_t *out, float *d2, int64_t fill, int64_t cap, et_pack *scratch) {
	const uint32_t total = start[(int64_t)grid->n[0] * grid->n[1] * grid->n[2]];
	const field f = {grid, start, blocks, total, r2, reach};
	rows r = {ends, out, d2, fill, cap};
	return DISPATCH(level, self, &f, (uint32_t)first, (uint32_t)last, keep, scratch, &r);
}
