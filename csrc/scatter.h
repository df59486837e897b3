/* Rows of a CSR matrix put into another order. */
#ifndef EVERTICK_SCATTER_H
#define EVERTICK_SCATTER_H

#include "evertick.h"

/* Copies n rows: row i, which begins where row i-1 ends, the first at begin, and
 * ends before ends[i], goes to offsets[number[i]] of the target, and likewise its
 * squared distances unless d2 is NULL. Target rows do not overlap. The source holds
 * cap elements, the target to_cap, and offsets n_offsets. Returns n, or the first row
 * that does not fit. */
int64_t et_scatter_rows(const uint32_t *number, const uint32_t *ends, int64_t n, uint32_t begin,
                        const uint32_t *slots, const float *d2, int64_t cap, const uint32_t *offsets,
                        int64_t n_offsets, uint32_t *to_slots, float *to_d2, int64_t to_cap);

#endif
