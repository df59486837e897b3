/* The vocabulary of the sorting networks, apart from lanes.h because the number of
 * lanes depends on the keys and not on the level: vectors of integer keys, k32 of
 * uint32 and k64 of int64, with WIDTH keys each.
 *
 *   load, store     from and to memory, any alignment
 *   min, max        of each lane
 *   swap<m>         lane i takes the value of lane i ^ m
 *   exch<b>         the smaller of two values in the lanes without bit b, the
 *                   larger in those with it
 *   zip             the lanes of two vectors by turns: a0 b0 a1 b1 ...
 *   fetch           the first n keys at p (any n, none read beyond), then pads,
 *                   which no key exceeds; of k64, from the high and low words,
 *                   two vectors of keys, in an order of lanes that depends on
 *                   the level
 *   number          slots with their place in the low byte, where lane 0 has place i;
 *                   unnumber gives the slots back
 *   permute         brings n words at p into the order of the places in regs
 *                   vectors of numbered slots, 64 at most
 *   words           the high and the low words of the lanes of two vectors of k64
 *                   by turns
 *   put             the first n words of count vectors to p, and
 *                   nothing beyond; n > 0
 */
#ifndef EVERTICK_ORDER_LANES_H
#define EVERTICK_ORDER_LANES_H

#include "../lanes.h"

/* Networks written out: compilers keep vectors in registers only if every index is a constant from the start.
 * ORDER(i, j) puts the smaller of two first. */
#define EACH4(X, i) X(i) X((i) + 1) X((i) + 2) X((i) + 3)
#define EACH16(X) EACH4(X, 0) EACH4(X, 4) EACH4(X, 8) EACH4(X, 12)
#define EACH32(X) EACH16(X) EACH4(X, 16) EACH4(X, 20) EACH4(X, 24) EACH4(X, 28)

/* Pairs of vectors at distance d. */
#define PAIRS2(o, d) ORDER(o, (o) + (d)) ORDER((o) + 1, (o) + 1 + (d))
#define PAIRS4(o, d) PAIRS2(o, d) PAIRS2((o) + 2, d)
#define PAIRS8(o, d) PAIRS4(o, d) PAIRS4((o) + 4, d)
#define PAIRS16(o, d) PAIRS8(o, d) PAIRS8((o) + 8, d)

/* Pairs the first of n with the last, the second with the last but one, ... */
#define MIRROR2(o, n, i) ORDER((o) + (i), (o) + (n) - 1 - (i)) ORDER((o) + (i) + 1, (o) + (n) - 2 - (i))
#define MIRROR8(o, n, i) MIRROR2(o, n, i) MIRROR2(o, n, (i) + 2) MIRROR2(o, n, (i) + 4) MIRROR2(o, n, (i) + 6)

#define CLEAN2(o) ORDER(o, (o) + 1)
#define CLEAN4(o) PAIRS2(o, 2) CLEAN2(o) CLEAN2((o) + 2)
#define CLEAN8(o) PAIRS4(o, 4) CLEAN4(o) CLEAN4((o) + 4)
#define CLEAN16(o) PAIRS8(o, 8) CLEAN8(o) CLEAN8((o) + 8)
#define CLEAN32(o) PAIRS16(o, 16) CLEAN16(o) CLEAN16((o) + 16)

/* Up to eight: Batcher's odd-even merge sort. */
#define SORT2(o) ORDER(o, (o) + 1)
#define SORT4(o) SORT2(o) SORT2((o) + 2) PAIRS2(o, 2) ORDER((o) + 1, (o) + 2)
#define SORT8(o) SORT4(o) SORT4((o) + 4) PAIRS4(o, 4) PAIRS2((o) + 2, 2) \
	ORDER((o) + 1, (o) + 2) ORDER((o) + 3, (o) + 4) ORDER((o) + 5, (o) + 6)
#define SORT16(o) SORT8(o) SORT8((o) + 8) MIRROR8(o, 16, 0) CLEAN8(o) CLEAN8((o) + 8)
#define SORT32(o) SORT16(o) SORT16((o) + 16) MIRROR8(o, 32, 0) MIRROR8(o, 32, 8) CLEAN16(o) CLEAN16((o) + 16)

/* Merges of columns, by the number of lanes: FLIP(m, bit) compares with lane i ^ m of the mirrored vector,
 * SWAP(bit) with lane i ^ bit of the same vector. */
#define FLIP(m, bit) FLIPS4(m, bit, 0) FLIPS4(m, bit, 4) FLIPS4(m, bit, 8) FLIPS4(m, bit, 12)
#define FLIPS4(m, bit, i) FLIP1(m, bit, i) FLIP1(m, bit, (i) + 1) FLIP1(m, bit, (i) + 2) FLIP1(m, bit, (i) + 3)
#define SWAP(bit) SWAPS16(bit, 0) SWAPS16(bit, 16)
#define SWAPS16(bit, i) SWAPS4(bit, i) SWAPS4(bit, (i) + 4) SWAPS4(bit, (i) + 8) SWAPS4(bit, (i) + 12)
#define SWAPS4(bit, i) SWAP1(bit, bit, i) SWAP1(bit, bit, (i) + 1) SWAP1(bit, bit, (i) + 2) SWAP1(bit, bit, (i) + 3)

/* The high word of keys that sort after all others: as a distance it is a NaN. */
enum { PAD64_HIGH = 0x7fffffff };

/* Stores the sorted words of a local buffer to p in whole vectors. The last vectors move forward so that they end
 * with the n-th word, n >= LANES. */
#define PUT_CLAMPED(level, p, n, buffer, count)                                             \
	for (uint32_t i_ = 0; i_ < (count); i_ += CAT(level, _LANES)) {                     \
		const uint32_t at_ = i_ + CAT(level, _LANES) <= (n) ? i_ : (n) - CAT(level, _LANES); \
		CAT(level, _storeu)((p) + at_, CAT(level, _loadu)((buffer) + at_));          \
	}

#if X86_VECTORS

#define avx2_HAS_NETWORKS 1
#define avx512_HAS_NETWORKS 1

#define avx512_k64_WIDTH 8
#define avx2_k32_WIDTH 8
#define avx2_k64_WIDTH 4
#define avx512_k64_reverse avx512_k64_swap7
#define avx2_k32_reverse avx2_k32_swap7
#define avx2_k64_reverse avx2_k64_swap3

HELPER(avx512) __mmask16 avx512_below(uint32_t n, uint32_t first) {
	return (__mmask16)avx512_first(n > first ? n - first : 0);
}
HELPER(avx512) void avx512_put(uint32_t *p, uint32_t n, const __m512i *v, const uint32_t count) {
#define PUT_VECTOR(i)           \
	if ((i) < count) \
		_mm512_mask_storeu_epi32(p + 16 * (i), avx512_below(n, 16 * (i)), v[i]);
	EACH4(PUT_VECTOR, 0)
#undef PUT_VECTOR
}

typedef __m512i avx512_k64_t;
HELPER(avx512) avx512_k64_t avx512_k64_load(const int64_t *p) { return _mm512_loadu_si512(p); }
HELPER(avx512) void avx512_k64_store(int64_t *p, avx512_k64_t a) { _mm512_storeu_si512(p, a); }
HELPER(avx512) avx512_k64_t avx512_k64_min(avx512_k64_t a, avx512_k64_t b) { return _mm512_min_epi64(a, b); }
HELPER(avx512) avx512_k64_t avx512_k64_max(avx512_k64_t a, avx512_k64_t b) { return _mm512_max_epi64(a, b); }
HELPER(avx512) avx512_k64_t avx512_k64_swap1(avx512_k64_t a) { return _mm512_shuffle_epi32(a, (_MM_PERM_ENUM)0x4e); }
HELPER(avx512) avx512_k64_t avx512_k64_swap2(avx512_k64_t a) { return _mm512_permutex_epi64(a, 0x4e); }
HELPER(avx512) avx512_k64_t avx512_k64_swap3(avx512_k64_t a) { return _mm512_permutex_epi64(a, 0x1b); }
HELPER(avx512) avx512_k64_t avx512_k64_swap4(avx512_k64_t a) { return _mm512_shuffle_i64x2(a, a, 0x4e); }
HELPER(avx512) avx512_k64_t avx512_k64_swap7(avx512_k64_t a) {
	return _mm512_permutexvar_epi64(_mm512_setr_epi64(7, 6, 5, 4, 3, 2, 1, 0), a);
}
#define AVX512_EXCH64(bit, lanes)                                                                       \
	HELPER(avx512) avx512_k64_t avx512_k64_exch##bit(avx512_k64_t a, avx512_k64_t b) {               \
		return _mm512_mask_max_epi64(_mm512_min_epi64(a, b), (__mmask8)(lanes), a, b);           \
	}
AVX512_EXCH64(1, 0xaa)
AVX512_EXCH64(2, 0xcc)
AVX512_EXCH64(4, 0xf0)
HELPER(avx512) void avx512_k64_zip(avx512_k64_t a, avx512_k64_t b, avx512_k64_t *lo, avx512_k64_t *hi) {
	*lo = _mm512_permutex2var_epi64(a, _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11), b);
	*hi = _mm512_permutex2var_epi64(a, _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15), b);
}
HELPER(avx512) void avx512_k64_fetch(const uint32_t *high, const uint32_t *low, uint32_t n, uint32_t first,
                                     avx512_k64_t *a, avx512_k64_t *b) {
	const __mmask16 in = avx512_below(n, first);
	const __m512i h = _mm512_mask_loadu_epi32(_mm512_set1_epi32(PAD64_HIGH), in, high + first);
	const __m512i l = _mm512_mask_loadu_epi32(_mm512_set1_epi32(-1), in, low + first);
	*a = _mm512_unpacklo_epi32(l, h);
	*b = _mm512_unpackhi_epi32(l, h);
}
HELPER(avx512) void avx512_k64_words(avx512_k64_t a, avx512_k64_t b, __m512i *high, __m512i *low) {
	*low = _mm512_mask_mov_epi32(a, 0xaaaa, _mm512_slli_epi64(b, 32));
	*high = _mm512_mask_mov_epi32(_mm512_srli_epi64(a, 32), 0xaaaa, b);
}

typedef __m256i avx2_k32_t;
HELPER(avx2) avx2_k32_t avx2_k32_load(const uint32_t *p) { return avx2_loadu(p); }
HELPER(avx2) void avx2_k32_store(uint32_t *p, avx2_k32_t a) { avx2_storeu(p, a); }
HELPER(avx2) avx2_k32_t avx2_k32_min(avx2_k32_t a, avx2_k32_t b) { return _mm256_min_epu32(a, b); }
HELPER(avx2) avx2_k32_t avx2_k32_max(avx2_k32_t a, avx2_k32_t b) { return _mm256_max_epu32(a, b); }
HELPER(avx2) avx2_k32_t avx2_k32_swap1(avx2_k32_t a) { return _mm256_shuffle_epi32(a, 0xb1); }
HELPER(avx2) avx2_k32_t avx2_k32_swap2(avx2_k32_t a) { return _mm256_shuffle_epi32(a, 0x4e); }
HELPER(avx2) avx2_k32_t avx2_k32_swap3(avx2_k32_t a) { return _mm256_shuffle_epi32(a, 0x1b); }
HELPER(avx2) avx2_k32_t avx2_k32_swap4(avx2_k32_t a) { return _mm256_permute4x64_epi64(a, 0x4e); }
HELPER(avx2) avx2_k32_t avx2_k32_swap7(avx2_k32_t a) {
	return _mm256_permutevar8x32_epi32(a, _mm256_setr_epi32(7, 6, 5, 4, 3, 2, 1, 0));
}
#define AVX2_EXCH32(bit, lanes)                                                                  \
	HELPER(avx2) avx2_k32_t avx2_k32_exch##bit(avx2_k32_t a, avx2_k32_t b) {                  \
		return _mm256_blend_epi32(_mm256_min_epu32(a, b), _mm256_max_epu32(a, b), lanes); \
	}
AVX2_EXCH32(1, 0xaa)
AVX2_EXCH32(2, 0xcc)
AVX2_EXCH32(4, 0xf0)
HELPER(avx2) void avx2_k32_zip(avx2_k32_t a, avx2_k32_t b, avx2_k32_t *lo, avx2_k32_t *hi) {
	const __m256i l = _mm256_unpacklo_epi32(a, b), h = _mm256_unpackhi_epi32(a, b);
	*lo = _mm256_permute2x128_si256(l, h, 0x20);
	*hi = _mm256_permute2x128_si256(l, h, 0x31);
}
/* All ones in the lanes that are below n. */
HELPER(avx2) __m256i avx2_below(uint32_t n, uint32_t first) {
	return _mm256_cmpgt_epi32(avx2_set1u(n - first), avx2_ramp(0));
}
HELPER(avx2) __m256i avx2_maskload(const uint32_t *p, __m256i in) {
	return _mm256_maskload_epi32((const int *)(const void *)p, in);
}
HELPER(avx2) avx2_k32_t avx2_k32_fetch(const uint32_t *p, uint32_t n, uint32_t first) {
	const __m256i in = avx2_below(n, first);
	return _mm256_or_si256(avx2_maskload(p + first, in), _mm256_xor_si256(in, _mm256_set1_epi32(-1)));
}
HELPER(avx2) void avx2_put(uint32_t *p, uint32_t n, const __m256i *v, const uint32_t count) {
	uint32_t buffer[64];
	if (n < 8) {
		_mm256_maskstore_epi32((int *)(void *)p, avx2_below(n, 0), v[0]);
		return;
	}
#define PUT_VECTOR(i)           \
	if ((i) < count) \
		avx2_storeu(buffer + 8 * (i), v[i]);
	EACH4(PUT_VECTOR, 0)
	EACH4(PUT_VECTOR, 4)
#undef PUT_VECTOR
	PUT_CLAMPED(avx2, p, n, buffer, 8 * count)
}

#define avx2_k32_put avx2_put
HELPER(avx2) avx2_k32_t avx2_k32_number(avx2_k32_t slots, uint32_t i) {
	return _mm256_or_si256(_mm256_slli_epi32(slots, 8), avx2_ramp(i));
}
HELPER(avx2) avx2_k32_t avx2_k32_unnumber(avx2_k32_t a) { return _mm256_srli_epi32(a, 8); }
HELPER(avx2) void avx2_permute(uint32_t *p, uint32_t n, const avx2_k32_t *v, const uint32_t regs) {
	const __m256i low_byte = _mm256_set1_epi32(255);
	uint32_t old[64];
	avx2_k32_t w[8];
#define COPY(i)         \
	if ((i) < regs) \
		avx2_storeu(old + 8 * (i), avx2_k32_fetch(p, n, 8 * (i)));
#define TAKE(i)         \
	if ((i) < regs) \
		w[i] = avx2_fetchu(old, _mm256_and_si256(v[i], low_byte));
	EACH4(COPY, 0)
	EACH4(COPY, 4)
	EACH4(TAKE, 0)
	EACH4(TAKE, 4)
#undef COPY
#undef TAKE
	avx2_put(p, n, w, regs);
}

/* Without distances avx512 uses the 8 lanes of avx2 too: with 16 lanes a row of thirty fills two vectors, and most
 * of the work is shuffling within them. */
#define avx512_k32_WIDTH 8
#define avx512_k32_reverse avx2_k32_swap7
#define avx512_k32_t avx2_k32_t
#define avx512_k32_load avx2_k32_load
#define avx512_k32_store avx2_k32_store
#define avx512_k32_min avx2_k32_min
#define avx512_k32_max avx2_k32_max
#define avx512_k32_swap1 avx2_k32_swap1
#define avx512_k32_swap2 avx2_k32_swap2
#define avx512_k32_swap3 avx2_k32_swap3
#define avx512_k32_swap4 avx2_k32_swap4
#define avx512_k32_swap7 avx2_k32_swap7
#define avx512_k32_exch1 avx2_k32_exch1
#define avx512_k32_exch2 avx2_k32_exch2
#define avx512_k32_exch4 avx2_k32_exch4
#define avx512_k32_zip avx2_k32_zip
#define avx512_k32_fetch avx2_k32_fetch
#define avx512_k32_put avx2_k32_put
#define avx512_k32_number avx2_k32_number
#define avx512_k32_unnumber avx2_k32_unnumber

/* The old words stay in four registers. Two registers of sixteen words make a table of 32: bits 0 to 4 of a place
 * choose the word, and bit 5 chooses the table. */
HELPER(avx512) __m512i avx512_words(const uint32_t *p, uint32_t n, uint32_t first) {
	return _mm512_maskz_loadu_epi32(avx512_below(n, first), p + first);
}
HELPER(avx512) void avx512_permute(uint32_t *p, uint32_t n, const avx512_k32_t *v, const uint32_t regs) {
	const __m512i a = avx512_words(p, n, 0), b = regs > 2 ? avx512_words(p, n, 16) : a;
	const __m512i c = regs > 4 ? avx512_words(p, n, 32) : a, d = regs > 4 ? avx512_words(p, n, 48) : a;
	__m512i w[4];
#define TAKE(i)                                                                                                    \
	if (2 * (i) < regs) {                                                                                      \
		const __m512i at = _mm512_inserti64x4(_mm512_castsi256_si512(v[2 * (i)]), v[2 * (i) + 1], 1);      \
		w[i] = regs > 2 ? _mm512_permutex2var_epi32(a, at, b) : _mm512_permutexvar_epi32(at, a);           \
		if (regs > 4)                                                                                      \
			w[i] = _mm512_mask_mov_epi32(w[i], _mm512_test_epi32_mask(at, _mm512_set1_epi32(32)),      \
			                             _mm512_permutex2var_epi32(c, at, d));                         \
	}
	EACH4(TAKE, 0)
#undef TAKE
	avx512_put(p, n, w, regs / 2);
}

typedef __m256i avx2_k64_t;
HELPER(avx2) avx2_k64_t avx2_k64_load(const int64_t *p) { return _mm256_loadu_si256((const __m256i *)(const void *)p); }
HELPER(avx2) void avx2_k64_store(int64_t *p, avx2_k64_t a) { _mm256_storeu_si256((__m256i *)(void *)p, a); }
HELPER(avx2) avx2_k64_t avx2_k64_min(avx2_k64_t a, avx2_k64_t b) { return _mm256_blendv_epi8(a, b, _mm256_cmpgt_epi64(a, b)); }
HELPER(avx2) avx2_k64_t avx2_k64_max(avx2_k64_t a, avx2_k64_t b) { return _mm256_blendv_epi8(b, a, _mm256_cmpgt_epi64(a, b)); }
HELPER(avx2) avx2_k64_t avx2_k64_swap1(avx2_k64_t a) { return _mm256_shuffle_epi32(a, 0x4e); }
HELPER(avx2) avx2_k64_t avx2_k64_swap2(avx2_k64_t a) { return _mm256_permute4x64_epi64(a, 0x4e); }
HELPER(avx2) avx2_k64_t avx2_k64_swap3(avx2_k64_t a) { return _mm256_permute4x64_epi64(a, 0x1b); }
HELPER(avx2) avx2_k64_t avx2_k64_exch1(avx2_k64_t a, avx2_k64_t b) {
	return _mm256_blendv_epi8(a, b, _mm256_xor_si256(_mm256_cmpgt_epi64(a, b), _mm256_setr_epi64x(0, -1, 0, -1)));
}
HELPER(avx2) avx2_k64_t avx2_k64_exch2(avx2_k64_t a, avx2_k64_t b) {
	return _mm256_blendv_epi8(a, b, _mm256_xor_si256(_mm256_cmpgt_epi64(a, b), _mm256_setr_epi64x(0, 0, -1, -1)));
}
HELPER(avx2) void avx2_k64_zip(avx2_k64_t a, avx2_k64_t b, avx2_k64_t *lo, avx2_k64_t *hi) {
	const __m256i l = _mm256_unpacklo_epi64(a, b), h = _mm256_unpackhi_epi64(a, b);
	*lo = _mm256_permute2x128_si256(l, h, 0x20);
	*hi = _mm256_permute2x128_si256(l, h, 0x31);
}
HELPER(avx2) void avx2_k64_fetch(const uint32_t *high, const uint32_t *low, uint32_t n, uint32_t first,
                                 avx2_k64_t *a, avx2_k64_t *b) {
	const __m256i in = avx2_below(n, first), out = _mm256_xor_si256(in, _mm256_set1_epi32(-1));
	const __m256i h = _mm256_or_si256(avx2_maskload(high + first, in), _mm256_srli_epi32(out, 1));
	const __m256i l = _mm256_or_si256(avx2_maskload(low + first, in), out);
	*a = _mm256_unpacklo_epi32(l, h);
	*b = _mm256_unpackhi_epi32(l, h);
}
HELPER(avx2) void avx2_k64_words(avx2_k64_t a, avx2_k64_t b, __m256i *high, __m256i *low) {
	*low = _mm256_blend_epi32(a, _mm256_slli_epi64(b, 32), 0xaa);
	*high = _mm256_blend_epi32(_mm256_srli_epi64(a, 32), b, 0xaa);
}
#endif

#if defined(__aarch64__)

#define neon_HAS_NETWORKS 1

#define neon_k32_WIDTH 4
#define neon_k64_WIDTH 2
#define neon_k32_reverse neon_k32_swap3
#define neon_k64_reverse neon_k64_swap1

typedef uint32x4_t neon_k32_t;
HELPER(neon) neon_k32_t neon_k32_load(const uint32_t *p) { return vld1q_u32(p); }
HELPER(neon) void neon_k32_store(uint32_t *p, neon_k32_t a) { vst1q_u32(p, a); }
HELPER(neon) neon_k32_t neon_k32_min(neon_k32_t a, neon_k32_t b) { return vminq_u32(a, b); }
HELPER(neon) neon_k32_t neon_k32_max(neon_k32_t a, neon_k32_t b) { return vmaxq_u32(a, b); }
HELPER(neon) neon_k32_t neon_k32_swap1(neon_k32_t a) { return vrev64q_u32(a); }
HELPER(neon) neon_k32_t neon_k32_swap2(neon_k32_t a) { return vextq_u32(a, a, 2); }
HELPER(neon) neon_k32_t neon_k32_swap3(neon_k32_t a) { return neon_k32_swap2(vrev64q_u32(a)); }
HELPER(neon) neon_k32_t neon_k32_exch1(neon_k32_t a, neon_k32_t b) {
	return vtrn1q_u32(vminq_u32(a, b), vrev64q_u32(vmaxq_u32(a, b)));
}
HELPER(neon) neon_k32_t neon_k32_exch2(neon_k32_t a, neon_k32_t b) {
	return vcombine_u32(vget_low_u32(vminq_u32(a, b)), vget_high_u32(vmaxq_u32(a, b)));
}
HELPER(neon) void neon_k32_zip(neon_k32_t a, neon_k32_t b, neon_k32_t *lo, neon_k32_t *hi) {
	*lo = vzip1q_u32(a, b);
	*hi = vzip2q_u32(a, b);
}
HELPER(neon) uint32x4_t neon_padded(const uint32_t *p, uint32_t n, uint32_t first, uint32_t pad) {
	uint32_t words[4] = {pad, pad, pad, pad};
	if (first + 4 <= n)
		return vld1q_u32(p + first);
	for (uint32_t i = first; i < n; i++)
		words[i - first] = p[i];
	return vld1q_u32(words);
}
HELPER(neon) neon_k32_t neon_k32_fetch(const uint32_t *p, uint32_t n, uint32_t first) {
	return neon_padded(p, n, first, UINT32_MAX);
}
HELPER(neon) void neon_put(uint32_t *p, uint32_t n, const uint32x4_t *v, const uint32_t count) {
	uint32_t buffer[64];
#define PUT_VECTOR(i)           \
	if ((i) < count) \
		vst1q_u32(buffer + 4 * (i), v[i]);
	EACH16(PUT_VECTOR)
#undef PUT_VECTOR
	if (n < 4) {
		for (uint32_t i = 0; i < n; i++)
			p[i] = buffer[i];
		return;
	}
	PUT_CLAMPED(neon, p, n, buffer, 4 * count)
}

#define neon_k32_put neon_put
HELPER(neon) neon_k32_t neon_k32_number(neon_k32_t slots, uint32_t i) {
	return vorrq_u32(vshlq_n_u32(slots, 8), neon_ramp(i));
}
HELPER(neon) neon_k32_t neon_k32_unnumber(neon_k32_t a) { return vshrq_n_u32(a, 8); }
HELPER(neon) void neon_permute(uint32_t *p, uint32_t n, const neon_k32_t *v, const uint32_t regs) {
	uint32_t old[64], places[64];
	for (uint32_t i = 0; i < n; i++)
		old[i] = p[i];
#define PLACES(i)       \
	if ((i) < regs) \
		vst1q_u32(places + 4 * (i), vandq_u32(v[i], vdupq_n_u32(255)));
	EACH16(PLACES)
#undef PLACES
	for (uint32_t i = 0; i < n; i++)
		p[i] = old[places[i]];
}

typedef int64x2_t neon_k64_t;
HELPER(neon) neon_k64_t neon_k64_load(const int64_t *p) { return vld1q_s64(p); }
HELPER(neon) void neon_k64_store(int64_t *p, neon_k64_t a) { vst1q_s64(p, a); }
HELPER(neon) neon_k64_t neon_k64_min(neon_k64_t a, neon_k64_t b) { return vbslq_s64(vcgtq_s64(a, b), b, a); }
HELPER(neon) neon_k64_t neon_k64_max(neon_k64_t a, neon_k64_t b) { return vbslq_s64(vcgtq_s64(a, b), a, b); }
HELPER(neon) neon_k64_t neon_k64_swap1(neon_k64_t a) { return vextq_s64(a, a, 1); }
HELPER(neon) neon_k64_t neon_k64_exch1(neon_k64_t a, neon_k64_t b) {
	return vcombine_s64(vget_low_s64(neon_k64_min(a, b)), vget_high_s64(neon_k64_max(a, b)));
}
HELPER(neon) void neon_k64_zip(neon_k64_t a, neon_k64_t b, neon_k64_t *lo, neon_k64_t *hi) {
	*lo = vzip1q_s64(a, b);
	*hi = vzip2q_s64(a, b);
}
HELPER(neon) void neon_k64_fetch(const uint32_t *high, const uint32_t *low, uint32_t n, uint32_t first,
                                 neon_k64_t *a, neon_k64_t *b) {
	const uint32x4_t h = neon_padded(high, n, first, PAD64_HIGH), l = neon_padded(low, n, first, UINT32_MAX);
	*a = vreinterpretq_s64_u32(vzip1q_u32(l, h));
	*b = vreinterpretq_s64_u32(vzip2q_u32(l, h));
}
HELPER(neon) void neon_k64_words(neon_k64_t a, neon_k64_t b, uint32x4_t *high, uint32x4_t *low) {
	*low = vtrn1q_u32(vreinterpretq_u32_s64(a), vreinterpretq_u32_s64(b));
	*high = vtrn2q_u32(vreinterpretq_u32_s64(a), vreinterpretq_u32_s64(b));
}
#endif

#endif
