#include "sync.h"
#include "solve_lanes.h"

static const uint32_t no_slot = UINT32_MAX;

/* Columns of bodies, and of entities: see et_put. */
typedef struct {
	const float *x, *y, *cos, *sin;
	const uint32_t *slot;
	float *kept[4], *to[6];
	int32_t flip;
} syncing;

/* Writes bodies [i, end), which were kept, to their entities. */
static inline void scatter(const syncing *s, int64_t i, int64_t end) {
	for (; i < end; i++) {
		const uint32_t slot = s->slot[i];
		if (slot == no_slot)
			continue;
		for (int k = 0; k < 4; k++)
			s->to[k][slot] = s->kept[k][i];
		s->to[4][slot] = s->to[5][slot] = 0.0f;
	}
}

/* The same as bits: see et_differs. */
typedef struct {
	const uint32_t *slot, *kept[4], *to[6];
} differing;

static inline int64_t first_differing(const differing *d, int64_t lo, int64_t hi) {
	for (int64_t i = lo; i < hi; i++) {
		const uint32_t slot = d->slot[i];
		if (slot == no_slot || (d->kept[0][i] & 0x7fffffffu) > 0x7f800000u)
			continue;
		uint32_t differ = d->to[4][slot] | d->to[5][slot];
		for (int k = 0; k < 4; k++)
			differ |= d->to[k][slot] ^ d->kept[k][i];
		if (differ)
			return i;
	}
	return hi;
}

/* The sign bit of each lane. */
HELPER(LEVEL) V(mask) signs(V(f) a) { return V(nequ)(V(asu)(a), V(asu)(V(abs)(a))); }

/* Whether the slots of LANES bodies do not follow each other, one by one; no slot
 * follows the last one. */
HELPER(LEVEL) V(mask) scattered(const uint32_t *slot) {
	return V(nequ)(V(loadu)(slot), V(ramp)(slot[0])) | (slot[0] > no_slot - V(LANES));
}

HELPER(LEVEL) void put_vector(const syncing *s, int64_t i) {
	const V(f) c = V(load)(s->cos + i), v = V(load)(s->sin + i), one = V(set1)(1.0f);
	const V(f) root = V(sqrt)(MUL(V(set1)(0.5f), ADD(one, V(abs)(c))));
	const V(f) half = DIV(v, ADD(root, root));
	const V(f) far = V(select)(signs(v), V(negate)(root), root);
	const V(f) sin = V(pick)(ZERO, c, far, half), cos = V(pick)(ZERO, c, V(abs)(half), root);
	const V(mask) in = V(nequ)(V(loadu)(s->slot + i), V(set1u)(no_slot));
	V(storesome)(s->kept[0] + i, in, V(load)(s->x + i));
	V(storesome)(s->kept[1] + i, in, V(load)(s->y + i));
	V(storesome)(s->kept[2] + i, in, s->flip ? SUB(ZERO, sin) : sin);
	V(storesome)(s->kept[3] + i, in, cos);
	if (scattered(s->slot + i)) {
		scatter(s, i, i + V(LANES));
		return;
	}
	for (int k = 0; k < 4; k++)
		V(store)(s->to[k] + s->slot[i], V(load)(s->kept[k] + i));
	for (int k = 4; k < 6; k++)
		V(store)(s->to[k] + s->slot[i], ZERO);
}

KERNEL(void, put, const syncing *s, int64_t lo, int64_t hi) {
	int64_t i = lo;
	for (; i + V(LANES) <= hi; i += V(LANES))
		put_vector(s, i);
	if (V(LANES) > 1 && i < hi)
		et_put_c(s, i, hi);
}

/* The lanes of LANES bodies, whose slots follow each other, that differ. */
HELPER(LEVEL) V(mask) differ_some(const differing *d, int64_t i) {
	V(mask) differ = 0;
	for (int k = 0; k < 4; k++)
		differ |= V(nequ)(V(loadu)(d->to[k] + d->slot[i]), V(loadu)(d->kept[k] + i));
	for (int k = 4; k < 6; k++)
		differ |= V(nequ)(V(loadu)(d->to[k] + d->slot[i]), V(set1u)(0));
	const V(f) x = V(asf)(V(loadu)(d->kept[0] + i));
	return differ & ~V(unordered)(x, x);
}

KERNEL(int64_t, differs, const differing *d, int64_t lo, int64_t hi) {
	int64_t i = lo;
	for (; V(LANES) > 1 && i + V(LANES) <= hi; i += V(LANES)) {
		if (scattered(d->slot + i)) {
			const int64_t at = first_differing(d, i, i + V(LANES));
			if (at < i + V(LANES))
				return at;
		} else {
			const uint32_t differ = (uint32_t)differ_some(d, i);
			if (differ)
				return i + __builtin_ctz(differ);
		}
	}
	return first_differing(d, i, hi);
}

#ifdef DISPATCH
void et_put(int32_t level, const float *x, const float *y, const float *cos, const float *sin, const uint32_t *slot,
            float *kept_x, float *kept_y, float *kept_sin, float *kept_cos, float *to_x, float *to_y, float *to_turn,
            float *to_w, float *to_zero1, float *to_zero2, int32_t flip, int64_t lo, int64_t hi) {
	const syncing s = {x, y, cos, sin, slot, {kept_x, kept_y, kept_sin, kept_cos},
	                   {to_x, to_y, to_turn, to_w, to_zero1, to_zero2}, flip};
	DISPATCH(level, put, &s, lo, hi);
}

int64_t et_differs(int32_t level, const uint32_t *slot, const uint32_t *kept_x, const uint32_t *kept_y,
                   const uint32_t *kept_sin, const uint32_t *kept_cos, const uint32_t *x, const uint32_t *y,
                   const uint32_t *turn, const uint32_t *w, const uint32_t *zero1, const uint32_t *zero2, int64_t lo,
                   int64_t hi) {
	const differing d = {slot, {kept_x, kept_y, kept_sin, kept_cos}, {x, y, turn, w, zero1, zero2}};
	return DISPATCH(level, differs, &d, lo, hi);
}
#endif
