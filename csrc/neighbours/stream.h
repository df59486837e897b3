/* Kernels that stream points past a sieve of queries: see neighbours.Sieve. */
#ifndef EVERTICK_STREAM_H
#define EVERTICK_STREAM_H

#include "points.h"

/* A torus of cells. Along an axis, the cell of v is round((v - origin) * inv) modulo mask + 1. The number of a
 * cell is the sum of its three coordinates, each shifted left; the first shift is 0. */
typedef struct {
	float origin[3], inv[3];
	uint32_t mask[3], shift[3];
} et_torus;

_Static_assert(sizeof(et_torus) == 48, "neighbours.torus mirrors et_torus");

/* One query. r2 is the square of the radius. */
typedef struct {
	float x, y, z, r2;
	uint32_t exclude, mask, id, unused;
} et_centre;

_Static_assert(sizeof(et_centre) == 32, "neighbours.centre mirrors et_centre");

/* Sixteen queries; those after the last of a list have r2 = -1. */
typedef struct {
	float x[16], y[16], z[16], r2[16];
	uint32_t exclude[16], mask[16], id[16];
} et_centres;

_Static_assert(sizeof(et_centres) == 448, "neighbours.centres mirrors et_centres");

/* The queries of a cell: ids[first, first + count). A list of ET_LONG_LIST or more is instead in blocks[first...],
 * as its first count queries. */
enum { ET_LONG_LIST = 8 };
typedef struct {
	uint32_t first, count;
} et_list;

_Static_assert(sizeof(et_list) == 8, "neighbours.list mirrors et_list");

/* The position of a call: where it begins, and after it where it ended. */
typedef struct {
	int64_t at;   /* the place in slots */
	int64_t wide; /* et_sweep: the index into wide */
	int64_t fill; /* hits so far */
} et_progress;

/* Queries in cells. bits has a bit for each cell that has a list. rank[word] is the number of bits set in the
 * words before. lists is NULL if there are none: points are then only checked. */
typedef struct {
	const et_torus *torus;
	const uint32_t *bits, *rank, *ids;
	const et_list *lists;
	const et_centres *blocks;
	const et_centre *centres;
} et_sieve;

/* The destination of hits: room for cap, of which the first fill are in use. */
typedef struct {
	uint32_t *query, *slot;
	float *dist2;
	int64_t fill, cap;
} et_hits;

/* Tests the points of columns.slots[p->at, to) with the queries of their cells, and appends the hits: point by
 * point, and for each point in the order of its list.
 *
 * Returns 0 when all points have been tested. Returns 1 when the room may not suffice for the hits of p->at: its
 * list and 16 more always suffice. Returns 2 when slots[p->at] does not ascend, is not below limit, or has a
 * coordinate that is not finite; then hits may be missing. An earlier call must have accepted p->at - 1. */
int32_t et_stream(int32_t level, et_sieve sieve, et_columns columns, int64_t to, et_hits hits, et_progress *p);

/* Tests the points of columns.slots[p->at, to), which et_stream has accepted, with the queries wide[0, n), and
 * appends the hits; those of a query are in the order of the points. Returns 0 when all are done. Returns 1 when
 * it must continue from p with more room: ET_SWEEP + 16 hits always suffice. Returns 2 when a slot is not below
 * limit. */
enum { ET_SWEEP = 512 };
int32_t et_sweep(int32_t level, const uint32_t *wide, int64_t n, const et_centre *centres, et_columns columns, int64_t to,
                 et_hits hits, et_progress *p);

#endif
