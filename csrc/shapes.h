/* Queries of other shapes than the rows of et_radius: points counted within a
 * radius, points in boxes, spheres met by rays.
 *
 * category has ET_BLOCK entries a block and is NULL unless the mask of a query
 * is to be tested: a point passes if it has a bit in common with it. live has a
 * bit for each lane of a block; NULL: all live. exclude is a slot for each query;
 * NULL: none. */
#ifndef EVERTICK_SHAPES_H
#define EVERTICK_SHAPES_H

#include "evertick.h"

/* counts[i] = number of points that et_radius would report for query i. Returns
 * n, or -1 if start does not ascend. */
int64_t et_count(int32_t level, const et_grid *grid, const uint32_t *start, const et_block *blocks,
                 const uint32_t *category, const uint16_t *live, const float *qx, const float *qy, const float *qz,
                 const float *qr, const uint32_t *exclude, const uint32_t *mask, int64_t n, uint32_t *counts);

/* Points in the closed boxes whose lower corners are lo[0..2][i] and upper ones
 * hi[0..2][i]: row i is appended to out and ends at ends[i], in grid order. out
 * holds cap elements, of which the first fill are taken. Returns the number of
 * boxes answered: fewer than n when cap is too small for the next row, whose part
 * of out is then unspecified; or -1 if start does not ascend. */
int64_t et_overlap(int32_t level, const et_grid *grid, const uint32_t *start, const et_block *blocks,
                   const uint32_t *category, const uint16_t *live, const float *lox, const float *loy,
                   const float *loz, const float *hix, const float *hiy, const float *hiz, const uint32_t *exclude,
                   const uint32_t *mask, int64_t n, uint32_t *ends, uint32_t *out, int64_t fill, int64_t cap);

#endif
