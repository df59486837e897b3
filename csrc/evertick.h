/* The C side of evertick as Go sees it: one function per kernel.
 *
 * Every kernel is a pure function of its arguments: it allocates nothing, keeps nothing and prints nothing. The Go
 * side has checked lengths and values. The first argument of most is the level. If this build lacks that level,
 * level c runs. */
#ifndef EVERTICK_H
#define EVERTICK_H

#include "base.h"

/* The name and version of the compiler that built this. */
const char *et_compiler(void);

/* Turns flushing of denormals on or off in the calling thread. It exists so
 * that the probe of the floating-point environment can be tested. */
void et_flush_denormals(int32_t on);

/* The pieces of an axis: native.Pieces. */
enum { ET_PIECES = 64 };
typedef struct {
	float min[ET_PIECES], inv[ET_PIECES];
	int32_t first[ET_PIECES + 1];
} et_pieces;

/* A grid: cell (i, j, k) has the number (k * n[1] + j) * n[0] + i. All cells of the core have one length;
 * native.Grid describes the cells outside it, and the pieces that an axis may have instead. */
typedef struct {
	float min[3];     /* lower corner of the core, metres */
	float inv[3];     /* cells of the core per metre along each axis, > 0 */
	int32_t n[3];     /* cells along each axis, >= 1 */
	int32_t low[3], high[3]; /* how many of the n cells are below and above the core */
	float tail[3];    /* cells outside the core per step; 0: there are none; -1: pieces */
	int32_t pieces[3]; /* along each axis; 0: none */
	et_pieces piece[3];
} et_grid;

_Static_assert(sizeof(et_grid) == 84 + 3 * 4 * (3 * ET_PIECES + 1), "native.Grid mirrors et_grid");

/* Sixteen points: place i of a point set is lane i % 16 of block i / 16. */
enum { ET_BLOCK = 16 };
typedef struct {
	float x[ET_BLOCK], y[ET_BLOCK], z[ET_BLOCK];
	uint32_t slot[ET_BLOCK];
} et_block;

_Static_assert(sizeof(et_block) == 256, "native.Block mirrors et_block");

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
