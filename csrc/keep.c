#include "evertick.h"

void et_keep_live(const uint64_t *bitmap, uint32_t from, uint32_t *ends, int64_t rows, uint32_t *slots, float *d2) {
	uint32_t to = from;
	for (int64_t i = 0; i < rows; i++) {
		const uint32_t end = ends[i];
		for (; from < end; from++) { /* no branch: each is moved, and stays if its bit is set */
			const uint32_t slot = slots[from];
			slots[to] = slot;
			if (d2)
				d2[to] = d2[from];
			to += bitmap[slot / 64] >> slot % 64 & 1;
		}
		ends[i] = to;
	}
}
