/* Sorting networks over the keys that KEY names, k32 or k64, for one LEVEL.
 *
 * Key i of a block of REGS vectors is lane i / REGS of vector i % REGS, so that
 * neighbours, which a network compares most often, lie in different vectors and
 * need no shuffling. First the columns are sorted, each within its lane; then
 * neighbouring columns are merged, twice as many lanes at a time. A merge begins
 * by comparing key i with the i-th from the end, after which both halves are
 * bitonic and every key of the first is below those of the second. */
#define K(name) CAT(CAT(CAT(LEVEL, _), KEY), CAT(_, name))

HELPER(LEVEL) void K(order)(K(t) *a, K(t) *b) {
	const K(t) lo = K(min)(*a, *b), hi = K(max)(*a, *b);
	*a = lo;
	*b = hi;
}

/* Sorts a bitonic sequence of vectors, lane by lane. */
HELPER(LEVEL) void K(clean)(K(t) *v, const uint32_t regs) {
#define ORDER(i, j) K(order)(v + (i), v + (j));
	if (regs == 2) { CLEAN2(0) }
	if (regs == 4) { CLEAN4(0) }
	if (regs == 8) { CLEAN8(0) }
	if (regs == 16) { CLEAN16(0) }
	if (regs == 32) { CLEAN32(0) }
}

/* Sorts vectors lane by lane. */
HELPER(LEVEL) void K(columns)(K(t) *v, const uint32_t regs) {
	if (regs == 2) { SORT2(0) }
	if (regs == 4) { SORT4(0) }
	if (regs == 8) { SORT8(0) }
	if (regs == 16) { SORT16(0) }
	if (regs == 32) { SORT32(0) }
#undef ORDER
}

/* Sorts the keys of the block. */
HELPER(LEVEL) void K(sort)(K(t) *v, const uint32_t regs) {
#define SWAP1(m, bit, i) \
	if ((i) < regs)  \
		v[i] = K(exch##bit)(v[i], K(swap##m)(v[i]));
#define FLIP1(m, bit, i)                                          \
	if (2 * (i) + 1 == regs)                                  \
		v[i] = K(exch##bit)(v[i], K(swap##m)(v[i]));      \
	else if (2 * (i) < regs) {                                \
		const K(t) a = v[i], b = v[regs - 1 - (i)];       \
		v[i] = K(exch##bit)(a, K(swap##m)(b));            \
		v[regs - 1 - (i)] = K(exch##bit)(b, K(swap##m)(a)); \
	}
#define CLEAN K(clean)(v, regs);
	K(columns)(v, regs);
	FLIP(1, 1) CLEAN
#if K(WIDTH) >= 4
	FLIP(3, 2) SWAP(1) CLEAN
#endif
#if K(WIDTH) >= 8
	FLIP(7, 4) SWAP(2) SWAP(1) CLEAN
#endif
#undef SWAP1
#undef FLIP1
#undef CLEAN
}

/* Interleaves the halves of a block repeatedly, once for each doubling up to n. With n = regs the keys end up in
 * sequence, in successive vectors; with n = regs / 2 one zip is missing. */
HELPER(LEVEL) void K(zips)(K(t) *v, const uint32_t regs, const uint32_t n) {
	K(t) w[32];
#define ZIP(i)                \
	if (2 * (i) < regs)   \
		K(zip)(v[i], v[regs / 2 + (i)], &w[2 * (i)], &w[2 * (i) + 1]);
#define MOVE(i)         \
	if ((i) < regs) \
		v[i] = w[i];
#define ROUND(k) if (n >= (k)) { EACH16(ZIP) EACH32(MOVE) }
	ROUND(2)
	ROUND(4)
	ROUND(8)
	ROUND(16)
	ROUND(32)
#undef ZIP
#undef MOVE
#undef ROUND
}

/* Sorts a bitonic sequence of keys in one vector. */
HELPER(LEVEL) K(t) K(tail)(K(t) a) {
#define STEP(m) a = K(exch##m)(a, K(swap##m)(a));
#if K(WIDTH) >= 8
	STEP(4)
#endif
#if K(WIDTH) >= 4
	STEP(2)
#endif
	STEP(1)
#undef STEP
	return a;
}

/* Merges two sorted runs, [a, a_end) and [b, b_end), each of whole vectors. It always reads next the vector with
 * the smaller first key. */
HELPER(LEVEL) void K(merge)(const WORD *a, const WORD *a_end, const WORD *b, const WORD *b_end, WORD *out) {
	K(t) x = K(load)(a), held = K(load)(b);
	a += K(WIDTH);
	b += K(WIDTH);
	for (;;) {
		const K(t) from_end = K(reverse)(held);
		K(store)(out, K(tail)(K(min)(x, from_end)));
		held = K(tail)(K(max)(x, from_end));
		out += K(WIDTH);
		if (a == a_end && b == b_end)
			break;
		const int first = b == b_end || (a != a_end && *a <= *b);
		const WORD *const next = first ? a : b;
		a += first ? K(WIDTH) : 0;
		b += first ? 0 : K(WIDTH);
		x = K(load)(next);
	}
	K(store)(out, held);
}

/* Sorts n keys that src holds as sorted runs of MERGED_RUN keys; the last run may be shorter, and all are whole
 * vectors. Returns src or dst, whichever holds the result. */
ROUTINE(LEVEL) WORD *K(merge_runs)(WORD *src, WORD *dst, uint32_t n) {
	for (uint32_t run = MERGED_RUN; run < n; run *= 2) {
		uint32_t at = 0;
		for (; at + run < n; at += 2 * run) {
			const uint32_t end = at + 2 * run < n ? at + 2 * run : n;
			K(merge)(src + at, src + at + run, src + at + run, src + end, dst + at);
		}
		for (; at < n; at += K(WIDTH))
			K(store)(dst + at, K(load)(src + at));
		WORD *const swap = src;
		src = dst;
		dst = swap;
	}
	return src;
}
#undef WORD
