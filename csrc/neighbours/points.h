/* The points of a grid, and the rows that queries return, as Go sees them. What csrc/evertick.h says of kernels holds
 * for those of this folder. */
#ifndef EVERTICK_POINTS_H
#define EVERTICK_POINTS_H

#include "../base.h"

/* The pieces of an axis: neighbours.Pieces. */
enum { ET_PIECES = 64 };
typedef struct {
	float min[ET_PIECES], inv[ET_PIECES];
	int32_t first[ET_PIECES + 1];
} et_pieces;

/* A grid: cell (i, j, k) has the number (k * n[1] + j) * n[0] + i. All cells of the core have one length;
 * neighbours.Grid describes the cells outside it, and the pieces that an axis may have instead. */
typedef struct {
	float min[3];     /* lower corner of the core, metres */
	float inv[3];     /* cells of the core per metre along each axis, > 0 */
	int32_t n[3];     /* cells along each axis, >= 1 */
	int32_t low[3], high[3]; /* how many of the n cells are below and above the core */
	float tail[3];    /* cells outside the core per step; 0: there are none; -1: pieces */
	int32_t pieces[3]; /* along each axis; 0: none */
	et_pieces piece[3];
} et_grid;

_Static_assert(sizeof(et_grid) == 84 + 3 * 4 * (3 * ET_PIECES + 1), "neighbours.Grid mirrors et_grid");

/* Sixteen points: place i of a point set is lane i % 16 of block i / 16. */
enum { ET_BLOCK = 16 };
typedef struct {
	float x[ET_BLOCK], y[ET_BLOCK], z[ET_BLOCK];
	uint32_t slot[ET_BLOCK];
} et_block;

_Static_assert(sizeof(et_block) == 256, "neighbours.Block mirrors et_block");

/* Points sorted by cell, in rows of cells along x. start has one entry per cell and one more. category has an
 * element per place, live a bit per lane of a block. Either may be NULL: then it excludes no point. */
typedef struct {
	const et_grid *grid;
	const uint32_t *start;
	const et_block *blocks;
	const uint32_t *category;
	const uint16_t *live;
	uint32_t n; /* points */
} et_points;

/* Columns of coordinates, and the n slots that hold points. Slots are below limit, which is at most 1 << 24.
 * category and live, a bitmap, have an element per slot and may be NULL. */
typedef struct {
	const float *x, *y, *z;
	const uint32_t *slots, *category;
	const uint64_t *live;
	int64_t n;
	uint32_t limit;
} et_columns;

/* The rows of a CSR matrix of slots. Row i is appended to slots, its squared distances to dist2 unless that is
 * NULL, and ends[i] becomes its end. slots and dist2 hold cap elements, of which the first fill are in use. A
 * kernel may overwrite more elements than its rows take. */
typedef struct {
	uint32_t *ends, *slots;
	float *dist2;
	int64_t fill, cap;
} et_rows;

#endif
