/* The broad phase of rigid bodies: boxes sorted by layers, rows and columns, and the pairs that overlap. Package
 * internal/broad explains the method. Structs mirror the Go types of the same names. */
#ifndef EVERTICK_BROAD_H
#define EVERTICK_BROAD_H

#include "../base.h"

/* A key holds, from bit 0 on, the shape in ET_SHAPE_BITS bits, the column, the row and the layer. */
enum { ET_SHAPE_BITS = 24, ET_LAYERS = 16 };

/* Keys and pairs are split into at most this many parts. */
enum { ET_PARTS = 32 };

/* The largest number of pairs of a shape that et_scatter_pairs sorts. */
enum { ET_SHORT_ROW = 16 };

/* Kernels may read and write this many elements after the end of a column, or of the pairs. */
enum { ET_PADDING = 16 };

/* Columns of boxes, with the intervals along a third axis or NULL, and of pairs of shapes. */
typedef struct {
	float *min_x, *min_y, *max_x, *max_y;
	const float *span_min, *span_max;
} et_boxes;

typedef struct {
	uint32_t *a, *b;
	int64_t n;
} et_pairs;

typedef struct {
	float min_x, min_y, inv_x, inv_y;
	int32_t columns, rows;
	uint32_t first, last;         /* positions */
	uint32_t first_row, last_row; /* in row_start */
	uint32_t span_x, span_y;
	uint32_t rough, fine, width, row_shift, column_shift; /* of the directory */
} et_layer;

_Static_assert(sizeof(et_layer) == 68, "broad.layer mirrors et_layer");

typedef struct {
	uint32_t n, unused;
	float min_x, min_y, max_x, max_y, width, height, smallest, largest;
} et_summary;

_Static_assert(sizeof(et_summary) == 40, "broad.summary mirrors et_summary");

/* Sorted boxes: nine columns, each stride elements after the one before. They are min_x, min_y, max_x, max_y as
 * floats; the shape; the grid columns in which the box begins and ends; and, if spanned is not 0, the ends of the interval
 * as floats. row_start and row_number hold the rows of all layers. */
typedef struct {
	uint32_t *columns;
	int64_t stride;
	uint32_t *row_start, *row_number;
	const uint32_t *directory;
	int64_t spanned;
} et_grid;

/* The numbers of bits of a row, and of a column, in a key. */
typedef struct {
	uint32_t row, column;
} et_key_bits;

/* Lists the shapes of [lo, hi) whose bit is set in members and whose box can overlap another one, and summarizes
 * their boxes. lo is a multiple of 64; ids has room for hi - lo and one vector more. */
void et_measure_boxes(int32_t level, et_boxes boxes, const uint64_t *members, int64_t lo, int64_t hi, uint32_t *ids, et_summary *sum);

/* Makes the keys of n boxes. layer_of maps the exponent of the size to a layer; it is NULL if there is one layer. */
void et_make_keys(et_boxes boxes, et_key_bits bits, const uint8_t *layer_of, const uint32_t *ids, int64_t n,
                  const et_layer *layers, uint64_t *to);

/* Sorts n keys by count bits above the shape. Returns 1 if tmp holds the result, 0
 * if keys does. */
int32_t et_sort_keys(uint64_t *keys, uint64_t *tmp, int64_t n, uint32_t count);

/* Counts n keys by their bits from shift on, which number less than ET_PARTS parts. */
void et_count_keys(const uint64_t *keys, int64_t n, uint32_t shift, uint32_t *counts);

/* Moves each key to the next position of its part, the bits from shift on, and advances that position. */
void et_scatter_keys(const uint64_t *keys, int64_t n, uint32_t shift, uint32_t *next, uint64_t *to);

/* Counts how often the bits from shift on change from key to key, plus 1 for the first key. */
int64_t et_count_rows(const uint64_t *keys, int64_t n, uint32_t shift);

/* Fills the columns and rows of positions [lo, hi) in the order of the keys, and sets the positions and spans of
 * the layers in that range. rows is the number of rows before. Returns rows plus the number of rows in the range. */
uint32_t et_fill_rows(et_boxes boxes, et_key_bits bits, const uint64_t *keys, et_grid s, int64_t lo, int64_t hi, uint32_t rows,
                      et_layer *layers);

/* The searches append pairs to `to`, of which the first *n are in use, for boxes from position `from` of layer l
 * on. They start a box only while *n is at most to.n: above that there is room for all pairs of one box and a
 * vector more. They return the position after the last box that they finished. Both grids are spanned or none is. */

/* Pairs within a layer. */
uint32_t et_search_layer(int32_t level, et_grid s, const et_layer *l, uint32_t from, et_pairs to, int64_t *n);

/* Pairs with all boxes of layer k of another grid in the rows that they reach. */
uint32_t et_search_rows(int32_t level, et_grid s, et_grid t, const et_layer *l, const et_layer *k, uint32_t from, et_pairs to,
                        int64_t *n);

/* The same with the directory of k. */
uint32_t et_search_directory(int32_t level, et_grid s, et_grid t, const et_layer *l, const et_layer *k, uint32_t from,
                             et_pairs to, int64_t *n);

/* Limits of the number of pairs of a shape. */
typedef struct {
	uint32_t moving, stationary;
	uint32_t spanned; /* not 0: the intervals of a pair overlap */
} et_pair_limits;

/* Finds the pairs of box i among n with the boxes after it, under limits. The columns are min_x, min_y, max_x,
 * max_y, shape, body, moves (0 or 1), kind, two ranks, and the ends of the intervals as floats. The ranks of box j
 * count its pairs with boxes between i and j that move, and that do not; the new pairs are added to them. Bit k of agree[j]: filters of kinds j and k
 * agree. A pair of two that move is left out if each has limits.moving others between them that move. Another pair
 * is left out if the box that moves has limits.stationary others that do not, and the other box has as many that
 * move. The shapes of the partners go to the front of `to`, which has room for n - i and a vector more. Returns
 * their number. */
int64_t et_brute_force_row(int32_t level, uint32_t *columns, int64_t stride, int64_t n, int64_t i, const uint64_t *agree,
                           et_pair_limits limits, uint32_t *to);

/* Sorts pairs by a and, where a shape a has at most ET_SHORT_ROW of them, by b. ends has an element for each of n
 * shapes from lo on, and gets the end of its pairs. Returns the largest number of pairs of one a. */
uint32_t et_scatter_pairs(et_pairs from, uint32_t lo, uint32_t *ends, int64_t n, et_pairs to);

/* Sorts the rows that et_scatter_pairs leaves unsorted: n rows of b, each of distinct shapes, with these ends. tmp has
 * room for the longest. */
void et_sort_pair_rows(int32_t level, const uint32_t *ends, int64_t n, uint32_t *b, uint32_t *tmp);

/* Counts n shapes by their bits from shift on, which number less than ET_PARTS parts. */
void et_count_pairs(const uint32_t *a, int64_t n, uint32_t shift, uint32_t *counts);

/* Moves each pair to the next position of its part, the bits of a from shift on, and advances that position. */
void et_partition(et_pairs from, uint32_t shift, uint32_t *next, et_pairs to);

#endif
