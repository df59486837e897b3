//go:build cgo && !purego && !386 && !arm && !mips && !mipsle

/* Functions that move rows. They compute nothing, so there is one level. The compiler moves a piece of fixed size
 * with the widest instructions that every CPU has. */
#include "queries.h"

void et_keep_live(const uint64_t *bitmap, et_rows rows, int64_t n) {
	uint32_t from = (uint32_t)rows.fill, to = from;
	for (int64_t i = 0; i < n; i++) {
		const uint32_t end = rows.ends[i];
		for (; from < end; from++) { /* no branch: copy each, and advance if its bit is set */
			const uint32_t slot = rows.slots[from];
			rows.slots[to] = slot;
			if (rows.dist2)
				rows.dist2[to] = rows.dist2[from];
			to += bitmap[slot / 64] >> slot % 64 & 1;
		}
		rows.ends[i] = to;
	}
}

typedef struct {
	const uint32_t *number, *offsets;
	int64_t n, n_offsets;
	et_rows to;
} target;

/* Rows go to places far apart, so memory is prefetched: AHEAD rows in advance, and LINES cache lines of each, as
 * many as most rows have. */
enum { AHEAD = 16, LINE = 64 / 4, LINES = 3 };

static inline void ask_for(const target *t, int64_t i) {
	if (i >= t->n || t->number[i] >= t->n_offsets || t->offsets[t->number[i]] >= t->to.cap)
		return;
	const int64_t to = t->offsets[t->number[i]];
	for (int64_t l = 0; l < LINES; l++) {
		const int64_t at = to + l * LINE < t->to.cap ? to + l * LINE : to;
		__builtin_prefetch(t->to.slots + at, 1);
		if (t->to.dist2)
			__builtin_prefetch(t->to.dist2 + at, 1);
	}
}

/* Copies n elements of four bytes in pieces. The first few pieces are always copied, so that the length of a short
 * row decides no branch. A piece that would exceed the row is moved back to end with it. */
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

int64_t et_scatter_rows(et_rows from, const uint32_t *number, int64_t n, const uint32_t *offsets, int64_t n_offsets,
                        et_rows to) {
	const target t = {number, offsets, n, n_offsets, to};
	int64_t at = from.fill;
	for (int64_t i = 0; i < AHEAD; i++)
		ask_for(&t, i);
	for (int64_t i = 0; i < n; i++) {
		ask_for(&t, i + AHEAD);
		const int64_t end = from.ends[i], length = end - at;
		if (length < 0 || end > from.cap || number[i] >= n_offsets)
			return i;
		const int64_t place = offsets[number[i]];
		if (length > to.cap - place)
			return i;
		copy_row(to.slots + place, from.slots + at, length);
		if (to.dist2)
			copy_row(to.dist2 + place, from.dist2 + at, length);
		at = end;
	}
	return n;
}
