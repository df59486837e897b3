/* How a kernel walks the rows of columns: all of them, or those that a bitmap
 * names. Rows that it does not name keep their bits.
 *
 *   KERNEL(void, x, float *y, const float *x, const uint64_t *live, int64_t n) {
 *           SHORT(n, et_x_c(y, x, live, n));
 *           EACH_ROW(live, n, PUT(y, V(mul)(V(load)(y + i), V(load)(x + i))));
 *   }
 *
 * The steps of EACH_ROW see i, the first of LANES rows. They load from column + i
 * and store with PUT only. live has a bit for each row, lowest first, or is NULL.
 * NAMED(bitmap) is the mask of those of the LANES rows that another such bitmap
 * names: none if it is NULL.
 *
 * The steps are compiled twice: without masks, for vectors that are named as a
 * whole, and with them. Words of the bitmap that name all 64 rows take the first.
 * The rows that fill no vector are done last, by the same steps, in a vector that
 * ends with the last row: those in it that were done before count as not named.
 * Columns may thus be updated in place. Fewer rows than a vector has are left to
 * portable C, by SHORT. */
#ifndef EVERTICK_ROWS_H
#define EVERTICK_ROWS_H

#include "lanes.h"

#define SHORT(n, call_c)                   \
	do {                               \
		if ((n) < V(LANES)) {      \
			if ((n) > 0)       \
				call_c;    \
			return;            \
		}                          \
	} while (0)

#define ALL_LANES ((V(mask))((1u << V(LANES)) - 1u))

/* The bits of rows i to i + LANES - 1, for any i. */
static inline uint32_t row_bits(const uint64_t *live, int64_t i, int64_t lanes) {
	const uint64_t first = (uint64_t)i, word = first / 64, bit = first % 64;
	uint64_t bits = live[word] >> bit;
	if (bit + (uint64_t)lanes > 64)
		bits |= live[word + 1] << (64 - bit);
	return (uint32_t)bits & ((1u << lanes) - 1u);
}

/* The end of the full rows from i on, a multiple of 64. It looks at a few words only, so that the search goes on
 * while rows are computed. */
enum { FULL_ROWS = 16 * 64 };
static inline int64_t full_rows(const uint64_t *live, int64_t i, int64_t n) {
	if (!live)
		return n;
	const int64_t most = n - i < FULL_ROWS ? n : i + FULL_ROWS;
	while (i < most && live[i / 64] == ~(uint64_t)0)
		i += 64;
	return i < most ? i : most;
}

#define NAMED(bitmap) ((V(mask))((bitmap) ? row_bits(bitmap, i, V(LANES)) : 0u))

#define PUT(column, value) (whole ? V(store)((column) + i, value) : V(storesome)((column) + i, rows, value))

#define EACH_ROW(live, n, ...)                                                                \
	for (int64_t i = 0; i < (n);) {                                                       \
		const int64_t full = full_rows(live, i, n);                                   \
		const int64_t end = full - i < FULL_ROWS ? full + 64 : full;                  \
		for (; i + V(LANES) <= full; i += V(LANES)) {                                 \
			enum { whole = 1 };                                                   \
			const V(mask) rows = ALL_LANES;                                       \
			(void)rows;                                                           \
			__VA_ARGS__;                                                          \
		}                                                                             \
		for (; i < end && i < (n); i += V(LANES)) {                                   \
			enum { whole = V(LANES) == 1 };                                       \
			V(mask) rows = ALL_LANES;                                             \
			if (i + V(LANES) > (n)) {                                             \
				const int64_t done = i + V(LANES) - (n);                      \
				rows &= (V(mask))(ALL_LANES << done);                         \
				i -= done;                                                    \
			}                                                                     \
			if (live)                                                             \
				rows &= (V(mask))row_bits(live, i, V(LANES));                 \
			if (rows) {                                                           \
				__VA_ARGS__;                                                  \
			}                                                                     \
		}                                                                             \
	}

#endif
