#include "evertick.h"
#include "stream.h"
#include "stream_lanes.h"

/* Points that are screened before those that passed meet their queries: two
 * buffers of that length stay in the L1 cache beside the bitmap. */
enum { SCREEN = 1024 };

typedef struct {
	const et_torus *torus;
	const uint32_t *bits, *rank, *ids;
	const et_list *lists;
	const et_centres *blocks;
	const et_centre *centres;
} sieve;

typedef struct {
	const float *x, *y, *z;
	int64_t limit;
	const uint32_t *slots, *category;
	const uint64_t *live;
} columns;

typedef struct {
	uint32_t *query, *slot;
	float *dist2;
	int64_t fill, cap;
} hits;

/* Points that passed the screen: their places in slots, and their cells. */
typedef struct {
	uint32_t at[SCREEN + 16], cell[SCREEN + 16];
	int64_t n;
} passed;

/* A run of live points, side by side. */
typedef struct {
	float x[ET_SWEEP + 16], y[ET_SWEEP + 16], z[ET_SWEEP + 16];
	uint32_t slot[ET_SWEEP + 16], category[ET_SWEEP + 16];
	uint32_t n;
} gathered;

static inline int is_live(const uint64_t *live, uint32_t slot) {
	return !live || (live[slot >> 6] >> (slot & 63) & 1);
}

static inline int are_within(const columns *c, int64_t from, int64_t to) {
	uint32_t beyond = 0;
	for (int64_t i = from; i < to; i++)
		beyond |= (uint32_t)((int64_t)c->slots[i] >= c->limit);
	return !beyond;
}

static inline int is_good_slot(const columns *c, int64_t at) {
	return (int64_t)c->slots[at] < c->limit && (at == 0 || c->slots[at] > c->slots[at - 1]);
}

/* A difference of a number with itself is 0, or NaN if it is not finite. */
static inline int is_finite_point(const columns *c, uint32_t slot) {
	const float x = c->x[slot], y = c->y[slot], z = c->z[slot];
	return (x - x) + (y - y) + (z - z) <= 0.0f;
}

static inline uint32_t cell_of_slot(const et_torus *t, const columns *c, uint32_t slot) {
	return c_residue((c->x[slot] - t->origin[0]) * t->inv[0], t->mask[0], 0) |
	       c_residue((c->y[slot] - t->origin[1]) * t->inv[1], t->mask[1], t->shift[1]) |
	       c_residue((c->z[slot] - t->origin[2]) * t->inv[2], t->mask[2], t->shift[2]);
}

/* The first place in [from, to) whose point is not finite, or to. */
static int64_t first_not_finite(const columns *c, int64_t from, int64_t to) {
	while (from < to && is_finite_point(c, c->slots[from]))
		from++;
	return from;
}

static inline et_list list_of(const sieve *s, uint32_t cell) {
	const uint32_t w = cell >> 5;
	const uint32_t below = s->bits[w] & (((uint32_t)1 << (cell & 31)) - 1);
	return s->lists[s->rank[w] + (uint32_t)__builtin_popcount(below)];
}

/* The hits of one point with a short list. Each is stored and passed over if it
 * is none, so that no branch depends on it. */
static inline void meet_few(const sieve *s, const columns *c, et_list l, uint32_t slot, uint32_t category, hits *h) {
	const float x = c->x[slot], y = c->y[slot], z = c->z[slot];
	int64_t fill = h->fill;
	for (uint32_t i = l.first; i < l.first + l.count; i++) {
		const et_centre *const q = &s->centres[s->ids[i]];
		const float dx = x - q->x, dy = y - q->y, dz = z - q->z;
		const float dist2 = (dx * dx + dy * dy) + dz * dz;
		h->query[fill] = q->id;
		h->slot[fill] = slot;
		h->dist2[fill] = dist2;
		fill += (dist2 <= q->r2) & (slot != q->exclude) & ((category & q->mask) != 0);
	}
	h->fill = fill;
}

#define TEMPLATE "stream_tmpl.h"
#include "levels.h"

int32_t et_stream(int32_t level, const et_torus *torus, const uint32_t *bits, const uint32_t *rank,
                  const et_list *lists, const uint32_t *ids, const et_centres *blocks,
                  const et_centre *centres, const float *x, const float *y, const float *z,
                  int64_t limit, const uint32_t *slots, const uint32_t *category,
                  const uint64_t *live, int64_t to, uint32_t *hit_query, uint32_t *hit_slot,
                  float *hit_dist2, int64_t cap, et_progress *p) {
	const sieve s = {torus, bits, rank, ids, lists, blocks, centres};
	const columns c = {x, y, z, limit, slots, category, live};
	hits h = {hit_query, hit_slot, hit_dist2, p->fill, cap};
	const int32_t how = DISPATCH(level, stream, &s, &c, &p->at, to, &h);
	p->fill = h.fill;
	return how;
}

int32_t et_sweep(int32_t level, const uint32_t *wide, int64_t n, const et_centre *centres,
                 const float *x, const float *y, const float *z, int64_t limit,
                 const uint32_t *slots, const uint32_t *category, const uint64_t *live, int64_t to,
                 uint32_t *hit_query, uint32_t *hit_slot, float *hit_dist2, int64_t cap, et_progress *p) {
	const columns c = {x, y, z, limit, slots, category, live};
	hits h = {hit_query, hit_slot, hit_dist2, p->fill, cap};
	const int32_t how = DISPATCH(level, sweep, wide, n, centres, &c, to, p, &h);
	p->fill = h.fill;
	return how;
}
