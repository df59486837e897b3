#if CAT(LEVEL, _HAS_NETWORKS)

#define KEY k32
#define WORD uint32_t
#include "order_network.h"
#undef KEY
#define KEY k64
#define WORD int64_t
#include "order_network.h"
#undef KEY

/* Reads keys [at, at + block) of a row of n, padded, and sorts them: slots, or, if
 * the slots shall bring something along, numbered slots. */
HELPER(LEVEL) void CAT(block32_, LEVEL)(V(k32_t) *v, const uint32_t *slots, uint32_t n, uint32_t at, int numbered,
                                        const uint32_t block) {
	const uint32_t regs = block / V(k32_WIDTH);
#define FETCH(i)        \
	if ((i) < regs) \
		v[i] = V(k32_fetch)(slots, n, at + (i) * V(k32_WIDTH));
#define NUMBER(i)       \
	if ((i) < regs) \
		v[i] = V(k32_number)(v[i], at + (i) * V(k32_WIDTH));
	EACH16(FETCH)
	if (numbered) {
		EACH16(NUMBER)
	}
#undef FETCH
#undef NUMBER
	V(k32_sort)(v, regs);
}

HELPER(LEVEL) void CAT(block64_, LEVEL)(V(k64_t) *v, const uint32_t *high, const uint32_t *low, uint32_t n,
                                        const uint32_t block) {
	const uint32_t regs = block / V(k64_WIDTH);
#define FETCH(i)            \
	if (2 * (i) < regs) \
		V(k64_fetch)(high, low, n, 2 * (i) * V(k64_WIDTH), &v[2 * (i)], &v[2 * (i) + 1]);
	EACH16(FETCH)
#undef FETCH
	V(k64_sort)(v, regs);
}

/* Sorts a row of up to `block` slots. */
HELPER(LEVEL) void CAT(short32_, LEVEL)(uint32_t *slots, uint32_t n, const uint32_t block) {
	const uint32_t regs = block / V(k32_WIDTH);
	V(k32_t) v[16];
	CAT(block32_, LEVEL)(v, slots, n, 0, 0, block);
	V(k32_zips)(v, regs, regs);
	V(k32_put)(slots, n, v, regs);
}

/* Sorts a row of up to `block` slots, with their squared distances. A slot leaves a
 * byte of its word free, which says where it stood, and where its distance does. */
HELPER(LEVEL) void CAT(numbered_, LEVEL)(uint32_t *slots, uint32_t *d2, uint32_t n, const uint32_t block) {
	const uint32_t regs = block / V(k32_WIDTH);
	V(k32_t) v[16];
	CAT(block32_, LEVEL)(v, slots, n, 0, 1, block);
	V(k32_zips)(v, regs, regs);
	V(permute)(d2, n, v, regs);
#define UNNUMBER(i)     \
	if ((i) < regs) \
		v[i] = V(k32_unnumber)(v[i]);
	EACH16(UNNUMBER)
#undef UNNUMBER
	V(k32_put)(slots, n, v, regs);
}

/* Sorts a row of up to `block` keys. */
HELPER(LEVEL) void CAT(short64_, LEVEL)(uint32_t *high, uint32_t *low, uint32_t n, const uint32_t block) {
	const uint32_t regs = block / V(k64_WIDTH);
	V(k64_t) v[32];
	V(u) h[16], l[16];
	CAT(block64_, LEVEL)(v, high, low, n, block);
	V(k64_zips)(v, regs, regs / 2);
#define WORDS(i)            \
	if (2 * (i) < regs) \
		V(k64_words)(v[i], v[regs / 2 + (i)], &h[i], &l[i]);
	EACH16(WORDS)
#undef WORDS
	V(put)(high, n, h, regs / 2);
	V(put)(low, n, l, regs / 2);
}

/* Sorts a row of more slots than a network takes: blocks, and merges of them. d2
 * may be NULL, and goes along with up to NUMBERED_ROW. */
static __attribute__((noinline)) CAT(TARGET_, LEVEL) void CAT(long32_, LEVEL)(uint32_t *slots, uint32_t *d2, uint32_t n) {
	uint32_t buffer[2][MERGED_ROW], old[NUMBERED_ROW];
	uint32_t at = 0;
	for (; at < n; at += NETWORK) {
		V(k32_t) v[16];
		CAT(block32_, LEVEL)(v, slots, n, at, d2 != NULL, NETWORK);
		V(k32_zips)(v, NETWORK / V(k32_WIDTH), NETWORK / V(k32_WIDTH));
#define STORE(i)                            \
	if ((i) < NETWORK / V(k32_WIDTH)) \
		V(k32_store)(buffer[0] + at + (i) * V(k32_WIDTH), v[i]);
		EACH16(STORE)
#undef STORE
	}
	const uint32_t *const sorted = V(k32_merge_runs)(buffer[0], buffer[1], at);
	if (d2 == NULL) {
		memcpy(slots, sorted, n * sizeof *slots);
		return;
	}
	memcpy(old, d2, n * sizeof *d2);
	for (uint32_t i = 0; i < n; i++) {
		slots[i] = sorted[i] >> 8;
		d2[i] = old[sorted[i] & 255];
	}
}

static __attribute__((noinline)) CAT(TARGET_, LEVEL) void CAT(long64_, LEVEL)(uint32_t *high, uint32_t *low, uint32_t n) {
	int64_t buffer[2][MERGED_ROW];
	uint32_t at = 0;
	for (; at < n; at += NETWORK) {
		V(k64_t) v[32];
		CAT(block64_, LEVEL)(v, high + at, low + at, n - at < NETWORK ? n - at : NETWORK, NETWORK);
		V(k64_zips)(v, NETWORK / V(k64_WIDTH), NETWORK / V(k64_WIDTH));
#define STORE(i)                            \
	if ((i) < NETWORK / V(k64_WIDTH)) \
		V(k64_store)(buffer[0] + at + (i) * V(k64_WIDTH), v[i]);
		EACH32(STORE)
#undef STORE
	}
	const int64_t *const sorted = V(k64_merge_runs)(buffer[0], buffer[1], at);
	for (uint32_t i = 0; i < n; i++) {
		high[i] = (uint32_t)(sorted[i] >> 32);
		low[i] = (uint32_t)sorted[i];
	}
}

/* Calls a function for rows of up to `block` with the smallest block that takes n. */
#define FOR_BLOCK(n, f, ...)                       \
	((n) <= 16   ? CAT(f, LEVEL)(__VA_ARGS__, n, 16) \
	 : (n) <= 32 ? CAT(f, LEVEL)(__VA_ARGS__, n, 32) \
	             : CAT(f, LEVEL)(__VA_ARGS__, n, NETWORK))

HELPER(LEVEL) void CAT(row_, LEVEL)(const rows *r, uint32_t at, uint32_t n) {
	uint32_t *const high = r->high + at, *const low = r->low ? r->low + at : NULL;
	if (n > NUMBERED_ROW && low && !r->by_distance)
		radix_short_row(r, at, n);
	else if (n > NETWORK && r->by_distance)
		CAT(long64_, LEVEL)(high, low, n);
	else if (n > NETWORK)
		CAT(long32_, LEVEL)(high, low, n);
	else if (r->by_distance)
		FOR_BLOCK(n, short64_, high, low);
	else if (low)
		FOR_BLOCK(n, numbered_, high, low);
	else
		FOR_BLOCK(n, short32_, high);
}
#undef FOR_BLOCK

#else

HELPER(LEVEL) void CAT(row_, LEVEL)(const rows *r, uint32_t at, uint32_t n) {
	uint32_t *const low = r->low ? r->low + at : NULL;
	if (n <= COUNTED_ROW && !r->by_distance)
		count_row(r->high + at, low, n);
	else if (!r->by_distance)
		radix_short_row(r, at, n);
	else
		merge_row(r->high + at, low, n);
}

#endif

KERNEL(LEVEL) int CAT(sort_rows_, LEVEL)(const rows *r) {
	uint32_t top = 0;
	for (uint32_t i = r->from; i < r->end; i++)
		top = r->slots[i] > top ? r->slots[i] : top;
	if (r->from < r->end && top >= r->limit)
		return 0;
	uint32_t at = r->from;
	for (int64_t i = 0; i < r->n; i++) {
		const uint32_t n = r->ends[i] - at;
		if (n > MERGED_ROW)
			radix_row(r, at, n, r->scratch);
		else if (n > 1)
			CAT(row_, LEVEL)(r, at, n);
		at = r->ends[i];
	}
	return 1;
}
