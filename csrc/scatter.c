#include "scatter.h"

/* Copying computes nothing, so that there is one level: the compiler moves a
 * piece of fixed size with the widest instructions that every CPU has. */

typedef struct {
	const uint32_t *number, *offsets;
	int64_t n, n_offsets, to_cap;
	uint32_t *to_slots;
	float *to_d2;
} target;

/* Rows go to places far from each other: memory is asked for that many rows
 * ahead, and for as many lines as most rows have. */
enum { AHEAD = 16, LINE = 64 / 4, LINES = 3 };

static inline void ask_for(const target *t, int64_t i) {
	if (i >= t->n || t->number[i] >= t->n_offsets || t->offsets[t->number[i]] >= t->to_cap)
		return;
	const int64_t to = t->offsets[t->number[i]];
	for (int64_t l = 0; l < LINES; l++) {
		const int64_t at = to + l * LINE < t->to_cap ? to + l * LINE : to;
		__builtin_prefetch(t->to_slots + at, 1);
		if (t->to_d2)
			__builtin_prefetch(t->to_d2 + at, 1);
	}
}

/* Copies n elements of four bytes in pieces. The first few pieces are always
 * copied, so that the length of a short row decides no branch; what would lie
 * beyond the end is moved back to end with it. */
static inline void copy_pieces(char *to, const char *from, int64_t n, int64_t piece, int64_t always) {
	const int64_t last = n - piece;
	for (int64_t i = 0; i < always * piece; i += piece) {
		const int64_t at = i < last ? i : last;
		__builtin_memcpy(to + 4 * at, from + 4 * at, 4 * (size_t)piece);
	}
	for (int64_t i = always * piece; i < n; i += piece) {
		const int64_t at = i < last ? i : last;
		__builtin_memcpy(to + 4 * at, from + 4 * at, 4 * (size_t)piece);
	}
}

static inline void copy_row(void *to, const void *from, int64_t n) {
	if (n >= LINE)
		copy_pieces(to, from, n, LINE, 3);
	else if (n >= 4)
		copy_pieces(to, from, n, 4, 3);
	else
		for (int64_t i = 0; i < n; i++)
			__builtin_memcpy((char *)to + 4 * i, (const char *)from + 4 * i, 4);
}

int64_t et_scatter_rows(const uint32_t *number, const uint32_t *ends, int64_t n, uint32_t begin,
                        const uint32_t *slots, const float *d2, int64_t cap, const uint32_t *offsets,
                        int64_t n_offsets, uint32_t *to_slots, float *to_d2, int64_t to_cap) {
	const target t = {number, offsets, n, n_offsets, to_cap, to_slots, to_d2};
	int64_t from = begin;
	for (int64_t i = 0; i < AHEAD; i++)
		ask_for(&t, i);
	for (int64_t i = 0; i < n; i++) {
		ask_for(&t, i + AHEAD);
		const int64_t end = ends[i], length = end - from;
		if (length < 0 || end > cap || number[i] >= n_offsets)
			return i;
		const int64_t to = offsets[number[i]];
		if (length > to_cap - to)
			return i;
		copy_row(to_slots + to, slots + from, length);
		if (d2)
			copy_row(to_d2 + to, d2 + from, length);
		from = end;
	}
	return n;
}
