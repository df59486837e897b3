#include "scatter.h"
#include "lanes.h"


/* Rows go to places far from each other: memory is asked for that many rows
 * ahead, and for as many bytes as most rows have. */
enum { AHEAD = 16, LINE = 64 / 4, LINES = 3 };

typedef struct {
	const uint32_t *number, *ends;
	int64_t n;
	const uint32_t *slots;
	const float *d2;
	int64_t cap;
	const uint32_t *offsets;
	int64_t n_offsets;
	uint32_t *to_slots;
	float *to_d2;
	int64_t to_cap;
} scattering;

static inline void ask_for(const scattering *s, int64_t i) {
	if (i >= s->n || s->number[i] >= s->n_offsets || s->offsets[s->number[i]] >= s->to_cap)
		return;
	const int64_t to = s->offsets[s->number[i]];
	for (int64_t l = 0; l < LINES; l++) {
		const int64_t at = to + l * LINE < s->to_cap ? to + l * LINE : to;
		__builtin_prefetch(s->to_slots + at, 1);
		if (s->d2)
			__builtin_prefetch(s->to_d2 + at, 1);
	}
}

#define TEMPLATE "scatter_tmpl.h"
#include "levels.h"

int64_t et_scatter_rows(int32_t level, const uint32_t *number, const uint32_t *ends, int64_t n, uint32_t begin,
                        const uint32_t *slots, const float *d2, int64_t cap, const uint32_t *offsets,
                        int64_t n_offsets, uint32_t *to_slots, float *to_d2, int64_t to_cap) {
	const scattering s = {number, ends, n, slots, d2, cap, offsets, n_offsets, to_slots, to_d2, to_cap};
	return DISPATCH(level, scatter, &s, begin);
}
