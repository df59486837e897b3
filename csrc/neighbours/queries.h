/* Queries over the points of a grid, and operations on the rows that they return.
 *
 * A function that appends rows returns the number of queries answered. This is fewer than asked if rows.cap is too
 * small for the next row; the part of rows for that row is then unspecified. It returns -1 if points.start does
 * not ascend. Rows are in the order of the points in memory, except those of et_nearest. */
#ifndef EVERTICK_QUERIES_H
#define EVERTICK_QUERIES_H

#include "points.h"

/* n queries. exclude has a slot for each. A point passes a mask if its category has a bit in common with it. Both
 * may be NULL; in et_nearest the radius may be NULL too. */
typedef struct {
	const float *x, *y, *z, *radius;
	const uint32_t *exclude, *mask;
	int64_t n;
} et_spheres;

/* Points within a radius. */
int64_t et_radius(int32_t level, et_points points, et_spheres queries, et_rows rows);

/* counts[i] = the length of the row that et_radius would give to query i. Returns n or -1. */
int64_t et_count(int32_t level, et_points points, et_spheres queries, uint32_t *counts);

/* The k nearest points, k from 1 to ET_MOST_NEIGHBOURS: the first by (d2, slot), or fewer if there are no more.
 * box is NULL, or has the lower and the upper corner of a box that contains all points. rows have room for n * k
 * elements and are filled from the beginning. Nothing is written after the last row. Returns the length of all
 * rows, or -1. */
enum { ET_MOST_NEIGHBOURS = 64 };
int64_t et_nearest(int32_t level, et_points points, et_spheres queries, int32_t k, const float *box, et_rows rows);

/* Which points within the radius a row holds. */
enum et_keep {
	ET_KEEP_ALL = 0,    /* the centre itself too */
	ET_KEEP_OTHERS = 1, /* all but the centre */
	ET_KEEP_ABOVE = 2   /* those with a higher slot: every pair once */
};

/* Scratch of et_self for the candidates of a batch: four arrays, whose distance keeps them in different cache
 * sets. */
enum { ET_PACK_LEN = 4096, ET_PACK_STRIDE = ET_PACK_LEN + 80 };
typedef struct {
	float x[ET_PACK_STRIDE], y[ET_PACK_STRIDE], z[ET_PACK_STRIDE];
	uint32_t slot[ET_PACK_STRIDE];
} et_pack;

_Static_assert(sizeof(et_pack) == 16 * ET_PACK_STRIDE, "neighbours.Packed mirrors et_pack");

/* Rows for the points at places [first, last), in grid order. Each row is as et_radius would answer a query at
 * that point, with a radius whose square is r2 and whose neighbours.Reach is reach. ends[i] is for place first + i. It
 * also returns -1 if a point is not in its cell. */
typedef struct {
	float r2, reach;
	int32_t keep;
	int32_t places; /* rows have the places of points instead of their slots, and keep compares places */
} et_self_query;
int64_t et_self(int32_t level, et_points points, et_self_query query, int64_t first, int64_t last, et_rows rows,
                et_pack *scratch);

/* Points in n closed boxes. Box i has the lower corner lo[0..2][i] and the upper corner hi[0..2][i]. */
typedef struct {
	const float *lo[3], *hi[3];
	const uint32_t *exclude, *mask;
	int64_t n;
} et_boxes;
int64_t et_overlap(int32_t level, et_points points, et_boxes boxes, et_rows rows);

/* A ray as in neighbours.Rays: d is scaled, inv is 1 / d.d, and part is the root of inv. t is in units of the
 * direction before scaling. */
typedef struct {
	float o[3], d[3], inv, part, scale, max_t;
	uint32_t exclude, mask;
} et_ray;

_Static_assert(sizeof(et_ray) == 48, "neighbours.ray mirrors et_ray");

/* Places [first, last) of the points, first < last. */
typedef struct {
	uint32_t first, last;
} et_span;

_Static_assert(sizeof(et_span) == 8, "neighbours.span mirrors et_span");

/* n rays. Ray i has the spans from span_ends[i-1], or 0, to span_ends[i]. It is tested against the spheres whose
 * centres are in its spans. The squared radii are by place, ET_BLOCK per block. */
typedef struct {
	const et_ray *rays;
	const uint32_t *span_ends;
	const et_span *spans;
	const float *r2;
	int64_t n;
} et_rays;

/* The first sphere that each ray meets; of several at the same t the one with the lowest slot. If there is none,
 * slots[i] is UINT32_MAX and t[i] is max_t. */
void et_ray_closest(int32_t level, et_points points, et_rays rays, uint32_t *slots, float *t);

/* All spheres that each ray meets, with their parameters as rows.dist2. */
int64_t et_ray_all(int32_t level, et_points points, et_rays rays, et_rows rows);

/* Which points are live: bit i of live[b] is the bit of slot blocks[b].slot[i] in
 * the bitmap, and 0 in the lanes after the last point. */
void et_live(int32_t level, const et_block *blocks, uint32_t points, const uint64_t *bitmap, uint16_t *live);

/* Removes the slots whose bit is 0 from n rows, which begin at rows.fill, and closes the gaps. */
void et_keep_live(const uint64_t *bitmap, et_rows rows, int64_t n);

/* Sorts n rows, of which the first begins at rows.fill: by slot or, if by_distance, by the bits of dist2 as a
 * signed integer and then by slot. The elements of dist2 move with the slots; it may be NULL unless by_distance.
 * Slots are below limit, at most 1 << 24; if one is not, it returns -1 and changes nothing. scratch has twice the
 * length of the longest row that exceeds ET_SCRATCH_FROM. */
enum { ET_SCRATCH_FROM = 1024 };
int32_t et_order(int32_t level, int32_t by_distance, uint32_t limit, et_rows rows, int64_t n, uint64_t *scratch);

/* Copies n rows, of which the first begins at from.fill: row i to offsets[number[i]] of the target, with its
 * squared distances unless to.dist2 is NULL. Target rows do not overlap. Returns n, or the first row that does not
 * fit. */
int64_t et_scatter_rows(et_rows from, const uint32_t *number, int64_t n, const uint32_t *offsets, int64_t n_offsets,
                        et_rows to);

/* The weights of neighbours.Weight. */
enum et_weight { ET_INVERSE_SQUARE = 1, ET_LINEAR = 2, ET_POLY6 = 3, ET_SPIKY_GRADIENT = 4, ET_CUBIC_SPLINE = 5 };

/* w[j] = the weight of dist2[j], for the elements of some rows: row i ends before ends[i], and the first begins at 0.
 * radius[i] is that of row i. dist2 and w have ET_BLOCK elements more than the rows. */
void et_weigh(int32_t level, int32_t weight, float softening, const float *radius, const uint32_t *ends, int64_t rows,
              const float *dist2, float *w);

/* Sums over rows, of records of ET_RECORD floats each: neighbours.SumRows. The elements of a row are numbers of
 * records. The masks have a bit for each value of a record: those that plain and weighted get, and those that are
 * divided by the length of the row. Other elements of the results are unspecified. */
enum { ET_RECORD = 8 };
enum et_sum_op { ET_ADD = 0, ET_MIN = 1, ET_MAX = 2 };
typedef struct {
	const float *records;
	const uint32_t *index, *ends;
	const float *own;        /* a record for each row, which is subtracted */
	const float *weights;    /* of each element */
	float *plain, *weighted; /* a record for each row */
	int64_t rows;
	uint32_t plain_values, weighted_values, plain_means, weighted_means;
	int32_t op;
} et_row_sums;
void et_sum_rows(int32_t level, et_row_sums sums);

/* n columns, at most ET_COLUMNS. */
enum { ET_COLUMNS = 16 };
typedef struct {
	float *of[ET_COLUMNS];
} et_some_columns;

/* records[place[s]][k] = from.of[k][s], or none if that column is NULL, for the slots s in [first, last) whose place
 * is not UINT32_MAX. If place is NULL, it is s. The values from n on become none; n is at most ET_RECORD. */
void et_fill_records(et_some_columns from, int32_t n, float none, const uint32_t *place, int64_t first, int64_t last,
                     float *records);

/* to.of[k][s] = from.of[k][ET_RECORD * place[s]] for the same slots: from has, for each column, the address of a value
 * in the first record. */
void et_spread_records(et_some_columns from, et_some_columns to, int32_t n, const uint32_t *place, int64_t first,
                       int64_t last);

#endif
