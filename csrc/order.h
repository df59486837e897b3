/* Sorts the rows of a CSR matrix of slots. */
#ifndef EVERTICK_ORDER_H
#define EVERTICK_ORDER_H

#include "evertick.h"

/* Rows longer than this are sorted with scratch. */
enum { ET_SCRATCH_FROM = 1024 };

/* Row i is slots[ends[i-1], ends[i]), the first begins at from; ends ascend. Each is
 * sorted by slot, or, if by_distance, by the bits of dist2 as a signed integer and
 * then by slot. dist2, which goes along, may be NULL unless by_distance. Slots
 * are below limit, at most 1 << 24; if one is not it returns -1 and nothing has
 * been changed. scratch has twice the length of the longest row that is longer than
 * ET_SCRATCH_FROM. */
int32_t et_order(int32_t level, int32_t by_distance, uint32_t limit, uint32_t from, const uint32_t *ends, int64_t n,
                 uint32_t *slots, float *dist2, uint64_t *scratch);

#endif
