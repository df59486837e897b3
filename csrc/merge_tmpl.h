#include "quantise_lanes.h"
#include "replica.h"

typedef struct {
	et_entries known, view;
	const uint64_t *gone;
	et_merge_to to;
	int64_t i, j; /* what is next in known and in view */
	et_merged m;
} V(merging);

/* One entry, of either list or of both. No branch depends on which: it is as good as random. */
HELPER(LEVEL) void merge_one(V(merging) *s) {
	const uint32_t entry = s->known.at[s->i], slot = entry & ET_SLOT_BITS, seen = s->view.at[s->j];
	const uint32_t dead = et_bit_of(s->gone, slot), in_known = slot <= seen, in_view = seen <= slot;
	const uint32_t stay = in_known & in_view & ~dead;
	s->to.stays[s->m.stays] = entry;
	s->to.leaves[s->m.leaves] = (uint32_t)s->i | dead << 31;
	s->to.enters[s->m.enters] = seen;
	s->m.stays += stay;
	s->m.leaves += in_known - stay;
	s->m.enters += in_view - stay;
	s->i += in_known;
	s->j += in_view;
}

/* Copies entries to stays, a vector at a time, up to one that is gone or in one list only: most lists are nearly what
 * they were. Where they are not, a branch for each such entry would cost more than taking some entries one by
 * one. */
HELPER(LEVEL) void merge_vectors(V(merging) *s) {
	const V(u) slot_bits = V(set1u)(ET_SLOT_BITS);
	while (s->i + V(LANES) <= s->known.n && s->j + V(LANES) <= s->view.n) {
		const V(u) entries = V(loadu)(s->known.at + s->i), slots = V(andu)(entries, slot_bits);
		const V(mask) differ = V(nequ)(slots, V(loadu)(s->view.at + s->j));
		const V(mask) stop = differ | V(marked)((const uint32_t *)(const void *)s->gone, slots);
		V(storeu)(s->to.stays + s->m.stays, entries); /* there is room, as no more stay than were looked at */
		if (stop && __builtin_ctz(stop) < 2) { /* another one is likely near */
			for (int k = 0; k < V(LANES) / 2; k++)
				merge_one(s);
		} else if (stop) {
			const int same = __builtin_ctz(stop);
			s->i += same;
			s->j += same;
			s->m.stays += same;
			merge_one(s);
		} else {
			s->i += V(LANES);
			s->j += V(LANES);
			s->m.stays += V(LANES);
		}
	}
}

KERNEL(et_merged, merge, et_entries known, et_entries view, const uint64_t *gone, et_merge_to to) {
	V(merging) s = {known, view, gone, to, 0, 0, {0, 0, 0}};
	if (V(LANES) > 1)
		merge_vectors(&s);
	while (s.i < known.n && s.j < view.n)
		merge_one(&s);
	for (; s.i < known.n; s.i++)
		to.leaves[s.m.leaves++] = (uint32_t)s.i | et_bit_of(gone, known.at[s.i] & ET_SLOT_BITS) << 31;
	for (; s.j < view.n; s.j++)
		to.enters[s.m.enters++] = view.at[s.j];
	return s.m;
}

#ifdef DISPATCH
et_merged et_merge(int32_t level, et_entries known, et_entries view, const uint64_t *gone, et_merge_to to) {
	return DISPATCH(level, merge, known, view, gone, to);
}
#endif
