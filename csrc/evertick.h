/* The C side of evertick as Go sees it: one function per kernel.
 *
 * Every kernel is a pure function of its arguments: it allocates nothing,
 * keeps nothing and prints nothing. The Go side has checked
 * lengths and values. Levels are those of lanes.h; asking for one that this
 * build lacks runs c. */
#ifndef EVERTICK_H
#define EVERTICK_H

#include "base.h"

/* The name and version of the compiler that built this. */
const char *et_compiler(void);

/* Turns flushing of denormals on or off in the calling thread. It exists so
 * that the probe of the floating-point environment can be tested. */
void et_flush_denormals(int32_t on);

/* A grid: cell (i, j, k) is number (k * n[1] + j) * n[0] + i. native.Grid says what
 * lies outside the core, whose cells have one length. */
typedef struct {
	float min[3];     /* lower corner of the core, metres */
	float inv[3];     /* cells of the core per metre along each axis, > 0 */
	int32_t n[3];     /* cells along each axis, >= 1 */
	int32_t low[3], high[3]; /* of these, below and above the core */
	float tail[3];    /* cells outside the core for each step; 0: there are none */
} et_grid;

_Static_assert(sizeof(et_grid) == 72, "native.Grid mirrors et_grid");

/* Sixteen points: place i of a point set is lane i % 16 of block i / 16. */
enum { ET_BLOCK = 16 };
typedef struct {
	float x[ET_BLOCK], y[ET_BLOCK], z[ET_BLOCK];
	uint32_t slot[ET_BLOCK];
} et_block;

_Static_assert(sizeof(et_block) == 256, "native.Block mirrors et_block");

/* Points within a radius, for a batch of queries: the rows of a CSR matrix, in
 * the order in which the points stand.
 *
 * start has one entry per cell and one more; blocks hold the points sorted by
 * cell, in runs of cells along x. category, by place, and live, by block, may be
 * NULL, and so may exclude and mask, by query. Row q is appended to out (and its
 * squared distances to d2, unless that is NULL), and ends[q] becomes the place
 * behind it. out and d2 hold cap elements, of which the first fill are taken; more
 * may be overwritten than the rows take. Returns the number of queries answered:
 * fewer than n when cap is too small for the next row; or -1 if start does not
 * ascend. */
int64_t et_radius(int32_t level, const et_grid *grid, const uint32_t *start,
                  const et_block *blocks, const uint32_t *category, const uint16_t *live,
                  const float *qx, const float *qy, const float *qz, const float *qr,
                  const uint32_t *exclude, const uint32_t *mask, int64_t n, uint32_t *ends,
                  uint32_t *out, float *d2, int64_t fill, int64_t cap);

/* Which points are live: bit i of live[b] is the bit of slot blocks[b].slot[i] in
 * the bitmap, and 0 in the lanes behind the last point. */
void et_live(int32_t level, const et_block *blocks, uint32_t points, const uint64_t *bitmap, uint16_t *live);

/* Takes out of rows, which begin at from and end at ends, the slots whose bit is 0,
 * and moves the rest together; d2 may be NULL. */
void et_keep_live(const uint64_t *bitmap, uint32_t from, uint32_t *ends, int64_t rows, uint32_t *slots, float *d2);

#endif
