/* The index builder as Go sees it: see native.Measure and native.Build, whose
 * bits these functions reproduce. Of the columns they use x, y, z, slots, n and limit. */
#ifndef EVERTICK_BUILD_H
#define EVERTICK_BUILD_H

#include "evertick.h"

/* The box of n > 0 points: box holds the lowest x, y and z, then the highest, with +0 for either zero. Returns 1; or 0,
 * with box unspecified, if the slots do not ascend, one is not below limit, or a coordinate is not finite. */
int32_t et_measure(int32_t level, et_columns columns, float *box);

/* Finds the points of which the mixed bits have none of those in mask: found gets their
 * slots, in order. Stops soon after it has more than room of them: found has room for
 * another 16. The slots are as et_measure wants them. Returns how many it found. */
int64_t et_sample(int32_t level, et_columns columns, uint32_t mask, uint32_t *found, int64_t room);

/* Sorts the points by cell, and by slot within a cell: start, one entry for each
 * cell and one more, becomes the place where each cell begins, and blocks, as
 * many as n points take, the points, with zeros after the last. cell_of is
 * scratch for n entries. Any coordinates will do. Returns 1; or 0, with start,
 * blocks and cell_of unspecified, if the slots do not ascend or one is not below
 * limit. */
int32_t et_build(int32_t level, const et_grid *grid, et_columns columns, uint32_t *start, et_block *blocks,
                 uint32_t *cell_of);

/* Steps of et_build, which may be done for several runs of slots, or of blocks, side by side. The entry of start after
 * that of cell i counts its points; a step in between, which has no function of its own, makes it the place where the
 * next of them goes; and in the end it is where the cell ends. */

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
