#include "entities.h"
#include "rows_lanes.h"

static const uint32_t no_slot = UINT32_MAX;

/* The columns of et_write_entities. */
typedef struct {
	const float *x, *y, *cos, *sin;
	const uint32_t *slot;
	float *const *written, *const *to;
	int32_t flip;
} entity_writer;

/* Copies bodies [i, end) from the written columns to their entities. */
static inline void scatter(const entity_writer *s, int64_t i, int64_t end) {
	for (; i < end; i++) {
		const uint32_t slot = s->slot[i];
		if (slot == no_slot)
			continue;
		for (int k = 0; k < 4; k++)
			s->to[k][slot] = s->written[k][i];
		s->to[4][slot] = s->to[5][slot] = 0.0f;
	}
}

/* The columns of et_first_changed, as the bits of floats. */
typedef struct {
	const uint32_t *slot, *written[4], *now[6];
} entity_reader;

static inline int64_t first_changed_one(const entity_reader *d, int64_t lo, int64_t hi) {
	for (int64_t i = lo; i < hi; i++) {
		const uint32_t slot = d->slot[i];
		if (slot == no_slot || (d->written[0][i] & 0x7fffffffu) > 0x7f800000u)
			continue;
		uint32_t changed = d->now[4][slot] | d->now[5][slot];
		for (int k = 0; k < 4; k++)
			changed |= d->now[k][slot] ^ d->written[k][i];
		if (changed)
			return i;
	}
	return hi;
}

/* The sign bit of each lane. */
HELPER(LEVEL) V(mask) signs(V(f) a) { return V(nequ)(V(asu)(a), V(asu)(V(abs)(a))); }

/* Not zero unless the slots of LANES bodies ascend one by one. A body without a slot (UINT32_MAX) makes it not
 * zero, too. */
HELPER(LEVEL) V(mask) scattered(const uint32_t *slot) {
	return V(nequ)(V(loadu)(slot), V(ramp)(slot[0])) | (slot[0] > no_slot - V(LANES));
}

HELPER(LEVEL) void write_vector(const entity_writer *s, int64_t i) {
	const V(f) c = V(load)(s->cos + i), v = V(load)(s->sin + i), one = V(set1)(1.0f);
	const V(f) root = V(sqrt)(MUL(V(set1)(0.5f), ADD(one, V(abs)(c))));
	const V(f) half = DIV(v, ADD(root, root));
	const V(f) far = V(select)(signs(v), V(negate)(root), root);
	const V(f) sin = V(pick)(ZERO, c, far, half), cos = V(pick)(ZERO, c, V(abs)(half), root);
	const V(mask) in = V(nequ)(V(loadu)(s->slot + i), V(set1u)(no_slot));
	V(storesome)(s->written[0] + i, in, V(load)(s->x + i));
	V(storesome)(s->written[1] + i, in, V(load)(s->y + i));
	V(storesome)(s->written[2] + i, in, s->flip ? SUB(ZERO, sin) : sin);
	V(storesome)(s->written[3] + i, in, cos);
	if (scattered(s->slot + i)) {
		scatter(s, i, i + V(LANES));
		return;
	}
	for (int k = 0; k < 4; k++)
		V(store)(s->to[k] + s->slot[i], V(load)(s->written[k] + i));
	for (int k = 4; k < 6; k++)
		V(store)(s->to[k] + s->slot[i], ZERO);
}

KERNEL(void, write_entities, const entity_writer *s, int64_t lo, int64_t hi) {
	int64_t i = lo;
	for (; i + V(LANES) <= hi; i += V(LANES))
		write_vector(s, i);
	if (V(LANES) > 1 && i < hi)
		et_write_entities_c(s, i, hi);
}

/* The lanes of LANES bodies whose entities changed; the slots ascend one by one. */
HELPER(LEVEL) V(mask) changed_lanes(const entity_reader *d, int64_t i) {
	V(mask) changed = 0;
	for (int k = 0; k < 4; k++)
		changed |= V(nequ)(V(loadu)(d->now[k] + d->slot[i]), V(loadu)(d->written[k] + i));
	for (int k = 4; k < 6; k++)
		changed |= V(nequ)(V(loadu)(d->now[k] + d->slot[i]), V(set1u)(0));
	const V(f) x = V(asf)(V(loadu)(d->written[0] + i));
	return changed & ~V(unordered)(x, x);
}

KERNEL(int64_t, first_changed, const entity_reader *d, int64_t lo, int64_t hi) {
	int64_t i = lo;
	for (; V(LANES) > 1 && i + V(LANES) <= hi; i += V(LANES)) {
		if (scattered(d->slot + i)) {
			const int64_t at = first_changed_one(d, i, i + V(LANES));
			if (at < i + V(LANES))
				return at;
		} else {
			const uint32_t changed = (uint32_t)changed_lanes(d, i);
			if (changed)
				return i + __builtin_ctz(changed);
		}
	}
	return first_changed_one(d, i, hi);
}

#ifdef DISPATCH
void et_write_entities(int32_t level, et_entities e, et_origins o, et_poses p, const uint32_t *slots, et_written w, int64_t lo,
                       int64_t hi) {
	const entity_writer s = {o.x, o.y, p.cos, p.sin, slots, w.column, e.column, e.flip};
	DISPATCH(level, write_entities, &s, lo, hi);
}

int64_t et_first_changed(int32_t level, et_entities e, const uint32_t *slots, et_written w, int64_t lo, int64_t hi) {
	entity_reader d = {.slot = slots};
	for (int k = 0; k < 4; k++)
		d.written[k] = (const uint32_t *)(const void *)w.column[k];
	for (int k = 0; k < 6; k++)
		d.now[k] = (const uint32_t *)(const void *)e.column[k];
	return DISPATCH(level, first_changed, &d, lo, hi);
}
#endif
