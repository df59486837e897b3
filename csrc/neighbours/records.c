//go:build cgo && !purego && !386 && !arm && !mips && !mipsle

/* Copies between columns and records, by slot. Columns are read and written in sequence; records are at random
 * places, so those of later slots are prefetched. */
#include <string.h>

#include "queries.h"

#define NO_PLACE UINT32_MAX

/* Slots between a prefetch and the use: enough for a line to arrive from memory. */
enum { AHEAD = 32 };

typedef float four __attribute__((vector_size(16)));

/* One record, in two stores: more would fill the store buffer while a line is on its way. */
static inline void put_record(float *r, const float *const of[ET_RECORD], const int64_t step[ET_RECORD], int64_t s) {
	const four low = {of[0][s * step[0]], of[1][s * step[1]], of[2][s * step[2]], of[3][s * step[3]]};
	const four high = {of[4][s * step[4]], of[5][s * step[5]], of[6][s * step[6]], of[7][s * step[7]]};
	memcpy(r, &low, sizeof low);
	memcpy(r + 4, &high, sizeof high);
}

void et_fill_records(et_some_columns from, int32_t n, float none, const uint32_t *place, int64_t first, int64_t last,
                     float *records) {
	const float *of[ET_RECORD];
	int64_t step[ET_RECORD];
	for (int32_t k = 0; k < ET_RECORD; k++) {
		of[k] = k < n && from.of[k] ? from.of[k] : &none;
		step[k] = k < n && from.of[k] ? 1 : 0;
	}
	for (int64_t s = first; s < last; s++) {
		if (!place) {
			put_record(records + s * ET_RECORD, of, step, s);
			continue;
		}
		if (s + AHEAD < last && place[s + AHEAD] != NO_PLACE)
			__builtin_prefetch(records + (size_t)place[s + AHEAD] * ET_RECORD, 1);
		if (place[s] != NO_PLACE)
			put_record(records + (size_t)place[s] * ET_RECORD, of, step, s);
	}
}

void et_spread_records(et_some_columns from, et_some_columns to, int32_t n, const uint32_t *place, int64_t first,
                       int64_t last) {
	const float *arrays[ET_COLUMNS]; /* the first column of each array of records */
	int32_t different = 0;
	for (int32_t k = 0; k < n; k++) {
		int32_t i = 0;
		while (i < different && (from.of[k] >= arrays[i] + ET_RECORD || arrays[i] >= from.of[k] + ET_RECORD))
			i++;
		if (i == different)
			arrays[different++] = from.of[k];
	}
	for (int64_t s = first; s < last; s++) {
		if (s + AHEAD < last && place[s + AHEAD] != NO_PLACE)
			for (int32_t i = 0; i < different; i++)
				__builtin_prefetch(arrays[i] + (size_t)place[s + AHEAD] * ET_RECORD);
		if (place[s] == NO_PLACE)
			continue;
		const size_t at = (size_t)place[s] * ET_RECORD;
		for (int32_t k = 0; k < n; k++)
			to.of[k][s] = from.of[k][at];
	}
}
