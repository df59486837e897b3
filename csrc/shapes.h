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

/* A ray as native.Rays describes it: d is scaled, inv is 1 / d.d and part its
 * root, and t counts in units of the direction before it was scaled. */
typedef struct {
	float o[3], d[3], inv, part, scale, max_t;
	uint32_t exclude, mask;
} et_ray;

_Static_assert(sizeof(et_ray) == 48, "native.ray mirrors et_ray");

/* Places [first, last) of the points, first < last. */
typedef struct {
	uint32_t first, last;
} et_span;

_Static_assert(sizeof(et_span) == 8, "native.span mirrors et_span");

/* The first sphere that each ray meets among those whose centres are in its
 * spans: ray i has the spans from span_ends[i-1], or 0, to span_ends[i]. r2 has
 * the squared radii by place, ET_BLOCK a block. Of several at the same t it is
 * the one of the lowest slot. Where there is none, slots[i] is UINT32_MAX and
 * t[i] is max_t. */
void et_ray_closest(int32_t level, const et_block *blocks, const float *r2, const uint32_t *category,
                    const uint16_t *live, const et_ray *rays, const uint32_t *span_ends, const et_span *spans,
                    int64_t n, uint32_t *slots, float *t);

/* All spheres that each ray meets: row i is appended to out, its parameters to t,
 * and ends at ends[i]; it is in the order of the places. Room and result as in
 * et_overlap. */
int64_t et_ray_all(int32_t level, const et_block *blocks, const float *r2, const uint32_t *category,
                   const uint16_t *live, const et_ray *rays, const uint32_t *span_ends, const et_span *spans,
                   int64_t n, uint32_t *ends, uint32_t *out, float *t, int64_t fill, int64_t cap);

#endif
