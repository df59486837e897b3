#ifndef EVERTICK_KNN_H
#define EVERTICK_KNN_H

#include "evertick.h"

/* The most neighbours that a query can ask for. */
enum { ET_MOST_NEIGHBOURS = 64 };

/* The k nearest points, for a batch of queries: the rows of a CSR matrix.
 *
 * start, blocks and the queries are those of et_radius; category (32 bits a
 * place), live (16 bits a block), radius, exclude and mask may be NULL: then
 * nothing is left out. box has the lower and the upper corner of a box that all points are
 * in, or is NULL. k is 1 to ET_MOST_NEIGHBOURS. Row q holds the first k
 * points by (d2, slot), fewer if there are no more, and ends[q] is the place
 * behind it; the first row begins at out[0]. out, and d2 unless it is NULL, have
 * room for n * k elements, and nothing behind the last row is written to.
 * Returns the length of all rows, or -1 if start does not ascend. */
int64_t et_knn(int32_t level, const et_grid *grid, const uint32_t *start, const et_block *blocks,
               const uint32_t *category, const uint16_t *live, const float *qx, const float *qy, const float *qz,
               const float *radius, const uint32_t *exclude, const uint32_t *mask, int64_t n, int32_t k,
               const float *box, uint32_t *ends, uint32_t *out, float *d2);

#endif
