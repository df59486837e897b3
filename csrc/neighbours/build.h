/* The index builder as Go sees it: see neighbours.Measure and neighbours.Build, whose
 * bits these functions reproduce. Of the columns they use x, y, z, slots, n and limit. */
#ifndef EVERTICK_BUILD_H
#define EVERTICK_BUILD_H

#include "points.h"

/* The bounding box of n > 0 points: box gets the lowest x, y and z, then the highest; a zero is always +0. Returns
 * 1. Returns 0, with box unspecified, if the slots do not ascend, a slot is not below limit, or a coordinate is
 * not finite. */
int32_t et_measure(int32_t level, et_columns columns, float *box);

/* Finds the points whose hash has no bit of mask set; found gets their slots, in order. It stops soon after it has
 * found more than room points, so found needs space for 16 more. The slots must be valid as in et_measure. Returns
 * how many it found. */
int64_t et_sample(int32_t level, et_columns columns, uint32_t mask, uint32_t *found, int64_t room);

/* Sorts the points by cell, and by slot within a cell. start has one entry per cell and one more: it gets the
 * place where each cell begins. blocks has room for n points in whole blocks: it gets the points, and zeros after
 * the last. cell_of is scratch of n entries. Coordinates may be any numbers. Returns 1. Returns 0, with start,
 * blocks and cell_of unspecified, if the slots do not ascend or a slot is not below limit. */
int32_t et_build(int32_t level, const et_grid *grid, et_columns columns, uint32_t *start, et_block *blocks,
                 uint32_t *cell_of);

/* The steps of et_build. Each can run in parallel over ranges of slots, or of blocks. First, entry c + 1 of start
 * counts the points of cell c. The caller then turns the counts into cursors: the place of the next point of the
 * cell. After et_scatter the entry is the end of the cell. */

/* Sets cell_of[i] to the cell of slot i, and counts[c] to the number of these
 * points in cell c. Returns as et_build does. */
int32_t et_number(int32_t level, const et_grid *grid, et_columns columns, uint32_t *counts, uint32_t *cell_of);

/* Writes each point, as a record of 16 bytes, to place cursors[cell_of[i]]++. */
void et_scatter(int32_t level, et_columns columns, int64_t cells, uint32_t *cursors, const uint32_t *cell_of,
                et_block *blocks);

/* Turns the records in blocks [first, last) into blocks, with zeros after the last
 * of all points. */
void et_transpose(int32_t level, et_block *blocks, int64_t first, int64_t last, int64_t points);

#endif
