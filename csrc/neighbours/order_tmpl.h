#include "queries.h"

#include <string.h>

#include "../lanes.h"
#include "order_lanes.h"

/* The keys of a row are pairs of words; the high word decides first. They are slot and squared distance, or the
 * reverse. low is NULL if there are only slots. */
typedef struct {
	uint32_t *high, *low;
	const uint32_t *slots, *ends;
	int64_t n;
	uint32_t from, end, limit;
	uint64_t *scratch;
	int by_distance;
} row_keys;

enum {
	NETWORK = 64,     /* the longest row that a network sorts */
	MERGED_RUN = 64,  /* the runs that merging begins with */
	COUNTED_ROW = 64, /* the longest row that counting sorts */
	MERGED_ROW = ET_SCRATCH_FROM,
	NUMBERED_ROW = 256, /* the places that a byte can number */
};

/* The sign bit of a squared distance. Flipping it turns signed order into unsigned order. */
static const uint64_t SIGN = (uint64_t)1 << 63;

/* Sorts n keys by the bytes from bit `first` up to bit `last`, least significant first. It skips bytes that are
 * the same in all keys. Returns keys or tmp, whichever holds the result. */
static uint64_t *radix_sort(uint64_t *keys, uint64_t *tmp, uint32_t n, uint32_t first, uint32_t last) {
	for (; first < last; first += 8) {
		uint32_t count[256] = {0}, sum = 0;
		for (uint32_t i = 0; i < n; i++)
			count[keys[i] >> first & 255]++;
		if (count[keys[0] >> first & 255] == n)
			continue;
		for (uint32_t d = 0; d < 256; d++) {
			const uint32_t c = count[d];
			count[d] = sum;
			sum += c;
		}
		for (uint32_t i = 0; i < n; i++)
			tmp[count[keys[i] >> first & 255]++] = keys[i];
		uint64_t *const swap = keys;
		keys = tmp;
		tmp = swap;
	}
	return keys;
}

/* Sorts a row with scratch for two copies of its keys. */
static __attribute__((noinline)) void radix_row(const row_keys *r, uint32_t at, uint32_t n, uint64_t *scratch) {
	uint32_t *const high = r->high + at, *const low = r->low ? r->low + at : NULL;
	const uint64_t flip = r->by_distance ? SIGN : 0;
	const uint32_t bits = 32 - (uint32_t)__builtin_clz((r->limit - 1) | 1);
	uint64_t *keys = scratch;
	for (uint32_t i = 0; i < n; i++)
		keys[i] = ((uint64_t)high[i] << 32 | (low ? low[i] : 0)) ^ flip;
	if (r->by_distance) {
		keys = radix_sort(keys, scratch + n, n, 0, bits);
		keys = radix_sort(keys, keys == scratch ? scratch + n : scratch, n, 32, 64);
	} else {
		keys = radix_sort(keys, scratch + n, n, 32, 32 + bits);
	}
	for (uint32_t i = 0; i < n; i++) {
		high[i] = (uint32_t)((keys[i] ^ flip) >> 32);
		if (low)
			low[i] = (uint32_t)keys[i];
	}
}

static __attribute__((noinline)) void radix_short_row(const row_keys *r, uint32_t at, uint32_t n) {
	uint64_t scratch[2 * MERGED_ROW];
	radix_row(r, at, n, scratch);
}

#if CAT(LEVEL, _HAS_NETWORKS)

#define KEY k32
#define WORD uint32_t
#include "order_network.h"
#undef KEY
#define KEY k64
#define WORD int64_t
#include "order_network.h"
#undef KEY

/* Reads keys [at, at + block) of a row of n, padded, and sorts them. The keys are slots, or numbered slots if
 * distances must move with them. */
HELPER(LEVEL) void block32(V(k32_t) *v, const uint32_t *slots, uint32_t n, uint32_t at, int numbered,
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

HELPER(LEVEL) void block64(V(k64_t) *v, const uint32_t *high, const uint32_t *low, uint32_t n, const uint32_t block) {
	const uint32_t regs = block / V(k64_WIDTH);
#define FETCH(i)            \
	if (2 * (i) < regs) \
		V(k64_fetch)(high, low, n, 2 * (i) * V(k64_WIDTH), &v[2 * (i)], &v[2 * (i) + 1]);
	EACH16(FETCH)
#undef FETCH
	V(k64_sort)(v, regs);
}

/* Sorts a row of up to `block` slots. */
HELPER(LEVEL) void short32(uint32_t *slots, uint32_t n, const uint32_t block) {
	const uint32_t regs = block / V(k32_WIDTH);
	V(k32_t) v[16];
	block32(v, slots, n, 0, 0, block);
	V(k32_zips)(v, regs, regs);
	V(k32_put)(slots, n, v, regs);
}

/* Sorts a row of up to `block` slots, with their squared distances. A slot leaves one byte of its word free, which
 * holds the place where the slot and its distance were. */
HELPER(LEVEL) void numbered(uint32_t *slots, uint32_t *d2, uint32_t n, const uint32_t block) {
	const uint32_t regs = block / V(k32_WIDTH);
	V(k32_t) v[16];
	block32(v, slots, n, 0, 1, block);
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
HELPER(LEVEL) void short64(uint32_t *high, uint32_t *low, uint32_t n, const uint32_t block) {
	const uint32_t regs = block / V(k64_WIDTH);
	V(k64_t) v[32];
	V(u) h[16], l[16];
	block64(v, high, low, n, block);
	V(k64_zips)(v, regs, regs / 2);
#define WORDS(i)            \
	if (2 * (i) < regs) \
		V(k64_words)(v[i], v[regs / 2 + (i)], &h[i], &l[i]);
	EACH16(WORDS)
#undef WORDS
	V(put)(high, n, h, regs / 2);
	V(put)(low, n, l, regs / 2);
}

/* Sorts a row with more slots than one network takes: it sorts blocks and merges them. d2 may be NULL; it is
 * allowed in rows of up to NUMBERED_ROW. */
ROUTINE(LEVEL) void long32(uint32_t *slots, uint32_t *d2, uint32_t n) {
	uint32_t buffer[2][MERGED_ROW], old[NUMBERED_ROW];
	uint32_t at = 0;
	for (; at < n; at += NETWORK) {
		V(k32_t) v[16];
		block32(v, slots, n, at, d2 != NULL, NETWORK);
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

ROUTINE(LEVEL) void long64(uint32_t *high, uint32_t *low, uint32_t n) {
	int64_t buffer[2][MERGED_ROW];
	uint32_t at = 0;
	for (; at < n; at += NETWORK) {
		V(k64_t) v[32];
		block64(v, high + at, low + at, n - at < NETWORK ? n - at : NETWORK, NETWORK);
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

/* Calls a function for a row of n with the smallest block that has room for n. */
#define FOR_BLOCK(n, f, ...)                       \
	((n) <= 16   ? f(__VA_ARGS__, n, 16) \
	 : (n) <= 32 ? f(__VA_ARGS__, n, 32) \
	             : f(__VA_ARGS__, n, NETWORK))

HELPER(LEVEL) void sort_row(const row_keys *r, uint32_t at, uint32_t n) {
	uint32_t *const high = r->high + at, *const low = r->low ? r->low + at : NULL;
	if (n > NUMBERED_ROW && low && !r->by_distance)
		radix_short_row(r, at, n);
	else if (n > NETWORK && r->by_distance)
		long64(high, low, n);
	else if (n > NETWORK)
		long32(high, low, n);
	else if (r->by_distance)
		FOR_BLOCK(n, short64, high, low);
	else if (low)
		FOR_BLOCK(n, numbered, high, low);
	else
		FOR_BLOCK(n, short32, high);
}
#undef FOR_BLOCK

#else

/* Four words, in the vectors of any CPU that has them. */
typedef int32_t four __attribute__((vector_size(16)));

/* Sorts a row by slot: the place of a slot is the number of smaller slots. */
static void count_row(uint32_t *slots, uint32_t *d2, uint32_t n) {
	four own[COUNTED_ROW / 4];
	int32_t place[COUNTED_ROW];
	uint32_t old_slots[COUNTED_ROW], old_d2[COUNTED_ROW];
	own[(n - 1) / 4] = (four){0, 0, 0, 0};
	memcpy(own, slots, n * sizeof *slots);
	memcpy(old_slots, slots, n * sizeof *slots);
	if (d2)
		memcpy(old_d2, d2, n * sizeof *d2);
	for (uint32_t i = 0; i < n; i += 8) {
		const four own0 = own[i / 4], own1 = own[i / 4 + (i + 4 < n)];
		four smaller0 = {0, 0, 0, 0}, smaller1 = smaller0;
		for (uint32_t j = 0; j < n; j++) {
			const int32_t slot = (int32_t)old_slots[j];
			const four other = {slot, slot, slot, slot};
			smaller0 -= own0 > other;
			smaller1 -= own1 > other;
		}
		memcpy(place + i, &smaller0, sizeof smaller0);
		memcpy(place + i + 4, &smaller1, sizeof smaller1);
	}
	for (uint32_t i = 0; i < n; i++) {
		slots[place[i]] = old_slots[i];
		if (d2)
			d2[place[i]] = old_d2[i];
	}
}

/* Selections by arithmetic: compilers turn plain ones into branches, and keys in random order mispredict half of
 * these. A mask is all ones or zero. */
static inline int64_t less(int64_t x, int64_t y) { return -(int64_t)(x < y); }
static inline int64_t pick(int64_t mask, int64_t x, int64_t y) { return y ^ ((x ^ y) & mask); }

static inline void order2(int64_t *a, int64_t *b) {
	const int64_t x = *a, y = *b, m = less(y, x);
	*a = pick(m, y, x);
	*b = pick(m, x, y);
}

/* Merges the sorted runs [a, b) and [b, end), whose lengths differ by at most one, from both ends at once. Neither
 * run can be exhausted before the middle, and no branch depends on the keys. */
static inline void merge_halves(const int64_t *src, int64_t *dst, uint32_t a, uint32_t b, uint32_t end) {
	const int64_t *left = src + a, *right = src + b, *left_end = right - 1, *right_end = src + end - 1;
	int64_t *lo = dst + a, *hi = dst + end - 1;
	for (; lo < hi; lo++, hi--) {
		const int64_t r = less(*right, *left), l = less(*right_end, *left_end);
		*lo = pick(r, *right, *left);
		*hi = pick(l, *left_end, *right_end);
		left += 1 + r;
		right -= r;
		left_end += l;
		right_end -= 1 + l;
	}
	if (lo == hi)
		*lo = left == left_end ? *left : *right;
}

/* Sorts up to four keys into out. It may write more elements than it sorts; the next piece overwrites the rest. */
static inline void sort_piece(const int64_t *in, int64_t *out, uint32_t n) {
	int64_t k[4];
	for (uint32_t i = 0; i < 4; i++)
		k[i] = i < n ? in[i] : INT64_MAX;
	order2(&k[0], &k[1]);
	order2(&k[2], &k[3]);
	order2(&k[0], &k[2]);
	order2(&k[1], &k[3]);
	order2(&k[1], &k[2]);
	for (uint32_t i = 0; i < 4; i++)
		out[i] = k[i];
}

/* Sorts n keys; both arrays have room for four more. It sorts pieces of at most four keys, whose lengths differ by
 * at most one, and then merges neighbours. Returns keys or tmp, whichever holds the result. */
static int64_t *merge_sort(int64_t *keys, int64_t *tmp, uint32_t n) {
	uint32_t shift = 0;
	while (n > 4u << shift)
		shift++;
	for (uint32_t p = 0, at = 0; p < 1u << shift; p++) {
		const uint32_t end = (p + 1) * n >> shift;
		sort_piece(keys + at, tmp + at, end - at);
		at = end;
	}
	for (; shift > 0; shift--) {
		int64_t *const swap = keys;
		keys = tmp;
		tmp = swap;
		for (uint32_t p = 0, at = 0; p < 1u << shift; p += 2) {
			const uint32_t end = (p + 2) * n >> shift;
			merge_halves(keys, tmp, at, (p + 1) * n >> shift, end);
			at = end;
		}
	}
	return tmp;
}

static void merge_row(uint32_t *high, uint32_t *low, uint32_t n) {
	int64_t buffer[2][MERGED_ROW + 4];
	for (uint32_t i = 0; i < n; i++)
		buffer[0][i] = (int64_t)((uint64_t)high[i] << 32 | (low ? low[i] : 0));
	const int64_t *const sorted = merge_sort(buffer[0], buffer[1], n);
	for (uint32_t i = 0; i < n; i++) {
		high[i] = (uint32_t)(sorted[i] >> 32);
		if (low)
			low[i] = (uint32_t)sorted[i];
	}
}

HELPER(LEVEL) void sort_row(const row_keys *r, uint32_t at, uint32_t n) {
	uint32_t *const low = r->low ? r->low + at : NULL;
	if (n <= COUNTED_ROW && !r->by_distance)
		count_row(r->high + at, low, n);
	else if (!r->by_distance)
		radix_short_row(r, at, n);
	else
		merge_row(r->high + at, low, n);
}

#endif

KERNEL(int, sort_rows, const row_keys *r) {
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
			sort_row(r, at, n);
		at = r->ends[i];
	}
	return 1;
}

#ifdef DISPATCH
int32_t et_order(int32_t level, int32_t by_distance, uint32_t limit, et_rows rows, int64_t n, uint64_t *scratch) {
	uint32_t *const d2 = (uint32_t *)(void *)rows.dist2;
	const row_keys r = {by_distance ? d2 : rows.slots, by_distance ? rows.slots : d2, rows.slots, rows.ends, n,
	                    (uint32_t)rows.fill, rows.ends[n - 1], limit, scratch, by_distance};
	return DISPATCH(level, sort_rows, &r) ? 0 : -1;
}
#endif
