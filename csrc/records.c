/* Copies between columns and records, by slot. */
#include "queries.h"

#define NO_PLACE UINT32_MAX

void et_fill_records(et_columns8 from, int32_t n, float none, const uint32_t *place, int64_t first, int64_t last,
                     float *records) {
	const float *of[ET_RECORD];
	int64_t step[ET_RECORD];
	for (int32_t k = 0; k < ET_RECORD; k++) {
		of[k] = k < n && from.of[k] ? from.of[k] : &none;
		step[k] = k < n && from.of[k] ? 1 : 0;
	}
	for (int64_t s = first; s < last; s++) {
		const uint32_t to = place ? place[s] : (uint32_t)s;
		if (to == NO_PLACE)
			continue;
		float *const r = records + (size_t)to * ET_RECORD;
		for (int32_t k = 0; k < ET_RECORD; k++)
			r[k] = of[k][s * step[k]];
	}
}

void et_spread_records(et_columns8 from, et_columns8 to, int32_t n, const uint32_t *place, int64_t first, int64_t last) {
	for (int64_t s = first; s < last; s++) {
		if (place[s] == NO_PLACE)
			continue;
		const size_t at = (size_t)place[s] * ET_RECORD;
		for (int32_t k = 0; k < n; k++)
			to.of[k][s] = from.of[k][at];
	}
}
