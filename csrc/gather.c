/* Records of slots as a bit stream. There is one level: nearly all of the time goes into fetching two bits and a record
 * from where the slot says, which vectors do no faster. */
#include <string.h>

#include "replica.h"

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
