/* The broad phase of rigid bodies: boxes sorted by layers, rows and columns, and the
 * pairs that overlap. Package rigid describes the method. */
#ifndef EVERTICK_RIGID_BROAD_H
#define EVERTICK_RIGID_BROAD_H

#include "../base.h"

/* Keys have from bit 0 on the shape, in ET_SHAPE_BITS, the column, the row and
 * the layer. */
enum { ET_SHAPE_BITS = 24, ET_LAYERS = 16 };

/* Keys and pairs are divided into at most so many parts. */
enum { ET_PARTS = 32 };

/* Vectors may read and write this many elements behind the end of a column, or of
 * found pairs. */
enum { ET_BROAD_PADDING = 16 };

typedef struct {
	float min_x, min_y, inv_x, inv_y;
	int32_t columns, rows;
	uint32_t first, last;         /* places */
	uint32_t row_first, row_last; /* in row_start */
	uint32_t span_x, span_y;
	uint32_t rough, fine, width, row_shift, column_shift; /* of the directory */
} et_layer;

_Static_assert(sizeof(et_layer) == 68, "rigid.layer mirrors et_layer");

typedef struct {
	uint32_t n, unused;
	float min_x, min_y, max_x, max_y, width, height, smallest, largest;
} et_summary;

_Static_assert(sizeof(et_summary) == 40, "rigid.summary mirrors et_summary");

/* Sorted boxes are seven columns, each stride elements behind the one before: min_x,
 * min_y, max_x, max_y as floats; the shape, and the columns of the grid in which the
 * box begins and ends. row_start and row_number are rows of all layers. */

/* Lists the shapes of [lo, hi) whose bit is set in which and whose box can overlap another
 * one, and sums their boxes up. lo is a multiple of 64; ids has room for hi - lo and a vector
 * more. */
void et_broad_measure(int32_t level, const float *min_x, const float *min_y, const float *max_x, const float *max_y,
                      int64_t lo, int64_t hi, const uint64_t *which, uint32_t *ids, et_summary *sum);

/* The keys of n boxes; layer_of, by the exponent of the size, is NULL if there is one
 * layer. */
void et_broad_keys(const float *min_x, const float *min_y, const float *max_x, const float *max_y,
                   const uint32_t *ids, int64_t n, const et_layer *layers, const uint8_t *layer_of,
                   uint32_t row_bits, uint32_t column_bits, uint64_t *to);

/* Sorts n keys by count bits above the shape. Returns 1 if tmp holds the result, 0
 * if keys does. */
int32_t et_broad_sort(uint64_t *keys, uint64_t *tmp, int64_t n, uint32_t count);

/* Counts n keys by their bits from shift on, fewer than ET_PARTS numbers. */
void et_broad_count_keys(const uint64_t *keys, int64_t n, uint32_t shift, uint32_t *counts);

/* Puts each key where the next one with its bits from shift on goes, and counts on. */
void et_broad_spread(const uint64_t *keys, int64_t n, uint32_t shift, uint32_t *next, uint64_t *to);

/* How many times the bits from shift on change from key to key, and 1 for the first. */
int64_t et_broad_count_rows(const uint64_t *keys, int64_t n, uint32_t shift);

/* Fills in sorted boxes and rows of places [lo, hi) in the order of the keys, and places and
 * spans of the layers in that range. rows is the number of rows before; returns it with
 * those of the range. */
uint32_t et_broad_place(const float *min_x, const float *min_y, const float *max_x, const float *max_y,
                        const uint64_t *keys, int64_t lo, int64_t hi, uint32_t row_bits, uint32_t column_bits,
                        et_layer *layers, uint32_t *columns, int64_t stride, uint32_t *row_start,
                        uint32_t *row_number, uint32_t rows);

/* The searches append pairs to a and b, of which the first *fill elements are taken, for
 * boxes from place `from` of layer l on, and return the place behind the last one
 * that began with *fill at most room: there is room for all its pairs and a vector
 * more. */

/* Pairs within a layer. */
uint32_t et_broad_sweep(int32_t level, const uint32_t *columns, int64_t stride, const uint32_t *row_start,
                        const uint32_t *row_number, const et_layer *l, uint32_t from, uint32_t *a, uint32_t *b,
                        int64_t *fill, int64_t room);

/* Pairs with all boxes of layer k, of other columns and rows, in the rows that they
 * reach. */
uint32_t et_broad_span(int32_t level, const uint32_t *columns, int64_t stride, const uint32_t *others,
                       int64_t others_stride, const uint32_t *row_start, const uint32_t *row_number,
                       const et_layer *l, const et_layer *k, uint32_t from, uint32_t *a, uint32_t *b, int64_t *fill,
                       int64_t room);

/* The same by the directory of k. */
uint32_t et_broad_cross(int32_t level, const uint32_t *columns, int64_t stride, const uint32_t *others,
                        int64_t others_stride, const uint32_t *row_start, const uint32_t *row_number,
                        const uint32_t *directory, const et_layer *l, const et_layer *k, uint32_t from, uint32_t *a,
                        uint32_t *b, int64_t *fill, int64_t room);

/* Pairs of box i among n with those behind it, where there may be too many. The columns
 * are min_x, min_y, max_x, max_y, shape, body, moves (0 or 1), kind, and two that hold the numbers
 * of pairs of a box with those between i and it that move, and that do not, which grow by the new
 * ones. Bit k of agree[j] says whether filters of kinds j and k agree. A pair of two that move is
 * left out if each of them has `most` others between them that move; another one if the box that
 * moves has most_still others that do not, and the other one as many that move. The shapes go to the
 * front of `to`, which has room for n - i and a vector more; returns their number. */
int64_t et_broad_crowd(int32_t level, uint32_t *columns, int64_t stride, int64_t n, int64_t i, const uint64_t *agree,
                       uint32_t most, uint32_t most_still, uint32_t *to);

/* Puts n pairs in order of a, and where there are at most short_row of one a, of b.
 * ends, of an element for each shape from lo on, becomes the ends. Returns the largest number of one a. */
uint32_t et_broad_scatter(const uint32_t *a, const uint32_t *b, int64_t n, uint32_t lo, int64_t shapes, uint32_t short_row,
                          uint32_t *ends, uint32_t *to_a, uint32_t *to_b);

/* Counts n shapes by their bits from shift on, fewer than ET_PARTS numbers. */
void et_broad_count(const uint32_t *a, int64_t n, uint32_t shift, uint32_t *counts);

/* Puts each of n pairs where the next one with its bits of a from shift on goes, and counts
 * on. */
void et_broad_divide(const uint32_t *a, const uint32_t *b, int64_t n, uint32_t shift, uint32_t *next, uint32_t *to_a,
                     uint32_t *to_b);

#endif
