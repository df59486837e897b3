//go:build cgo && !purego && !386 && !arm && !mips && !mipsle

/* Lists of slots, and records of slots as a bit stream. There is one level: nearly all of the time goes into fetching
 * bits and records from where the slots say, which vectors do little faster. */
#include <string.h>

#include "replica.h"

static inline uint32_t bit_of(const uint64_t *bitmap, uint32_t i) { return (uint32_t)(bitmap[i / 64] >> i % 64) & 1; }

typedef struct {
	et_entries known, view;
	const uint64_t *gone;
	et_merge_to to;
	int64_t i, j; /* what is next in known and in view */
	et_merged m;
} merging;

/* One entry, of either list or of both. No branch depends on which. */
static inline void merge_one(merging *s) {
	const uint32_t entry = s->known.at[s->i], slot = entry & ET_SLOT_BITS, seen = s->view.at[s->j];
	const uint32_t dead = bit_of(s->gone, slot), in_known = slot <= seen, in_view = seen <= slot;
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

/* Most lists are nearly what they were, so most entries stay: RUN of them are copied at once if all do. Each run writes
 * within the room for stays, as no more stay than were looked at. */
enum { RUN = 4 };

et_merged et_merge(et_entries known, et_entries view, const uint64_t *gone, et_merge_to to) {
	merging s = {known, view, gone, to, 0, 0, {0, 0, 0}};
	while (s.i + RUN <= known.n && s.j + RUN <= view.n) {
		uint32_t differ = 0;
		for (int k = 0; k < RUN; k++) {
			const uint32_t entry = known.at[s.i + k], slot = entry & ET_SLOT_BITS;
			differ |= (slot ^ view.at[s.j + k]) | bit_of(gone, slot);
			to.stays[s.m.stays + k] = entry;
		}
		if (differ) {
			for (int k = 0; k < RUN; k++)
				merge_one(&s);
		} else {
			s.i += RUN;
			s.j += RUN;
			s.m.stays += RUN;
		}
	}
	while (s.i < known.n && s.j < view.n)
		merge_one(&s);
	for (; s.i < known.n; s.i++)
		to.leaves[s.m.leaves++] = (uint32_t)s.i | bit_of(gone, known.at[s.i] & ET_SLOT_BITS) << 31;
	for (; s.j < view.n; s.j++)
		to.enters[s.m.enters++] = view.at[s.j];
	return s.m;
}

/* Eight records of any width are a whole number of bytes. So the records of a block are collected first, and then put
 * together in groups, each of which begins with a byte: no group waits for the one before. */
enum { BLOCK = 64, GROUP = 8 };

typedef struct {
	uint64_t recorded, wide;
	uint32_t n; /* of the records that are collected */
} block;

/* Collects the records of n entries, at most a block. Which of them changed is as good as random, so no branch depends
 * on it. mixed is a constant in each call: whether some of them are young. */
static inline __attribute__((always_inline)) block collect(const uint32_t *stays, int64_t n, const et_source sources[2], int mixed,
                                                           uint32_t *records, uint32_t n_records) {
	const et_source old = sources[0];
	block b = {0, 0, n_records};
	for (int64_t j = 0; j < n; j++) {
		const uint32_t entry = stays[j], slot = entry & ET_SLOT_BITS;
		const et_source *const from = mixed ? &sources[entry >> 31] : &old;
		const uint64_t changed = from->changed[slot / 64] >> slot % 64, wide = from->wide[slot / 64] >> slot % 64;
		const uint64_t recorded = changed & ~wide & 1;
		b.recorded |= recorded << j;
		b.wide |= (changed & wide & 1) << j;
		records[b.n] = from->records[slot];
		b.n += (uint32_t)recorded;
	}
	return b;
}

/* The byte order of a bit stream is that of little-endian machines. */
static inline void store64(uint8_t *to, uint64_t v) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	v = __builtin_bswap64(v);
#endif
	memcpy(to, &v, sizeof v);
}

/* Writes n records, at most a group. */
static inline void put_group(uint8_t *to, const uint32_t *records, uint32_t n, uint32_t width) {
	const uint64_t low = ((uint64_t)1 << width) - 1;
	uint64_t stream = 0;
	for (uint32_t k = 0, at = 0; k < n; k++, at += width) {
		stream |= (records[k] & low) << at % 8;
		store64(to + at / 8, stream);
		stream >>= (at + width) / 8 * 8 - at / 8 * 8;
	}
}

et_gathered et_gather_records(const uint32_t *stays, int64_t n, et_source plain, et_source predicted, uint32_t width,
                              et_gather_to to) {
	const et_source sources[2] = {predicted, plain};
	uint32_t records[GROUP + BLOCK], n_records = 0;
	et_gathered done = {0, 0};
	for (int64_t first = 0; first < n; first += BLOCK) {
		const int64_t count = n - first < BLOCK ? n - first : BLOCK;
		uint32_t flags = 0;
		for (int64_t j = 0; j < count; j++)
			flags |= stays[first + j];
		const block b = flags >> 31 ? collect(stays + first, count, sources, 1, records, n_records)
		                            : collect(stays + first, count, sources, 0, records, n_records);
		store64(to.mask + first / 8, b.recorded);
		for (uint64_t wide = b.wide; wide; wide &= wide - 1)
			to.wide[done.wide++] = (uint32_t)(first + __builtin_ctzll(wide));
		uint32_t k = 0;
		for (; k + GROUP <= b.n; k += GROUP, done.bits += GROUP * width)
			put_group(to.bits + done.bits / 8, records + k, GROUP, width);
		n_records = b.n - k;
		memmove(records, records + k, GROUP * sizeof *records);
	}
	put_group(to.bits + done.bits / 8, records, n_records, width);
	done.bits += n_records * width;
	return done;
}
