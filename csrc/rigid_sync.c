#include "rigid_sync.h"
#include "rigid_solve_lanes.h"

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

#define TEMPLATE "rigid_sync_tmpl.h"
#include "levels.h"

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
