/* Operations on columns that find something out about their rows, or move rows.
 * Each has n rows, at least one; live, which may be NULL, is a bitmap of those that
 * count: bit i % 64 of word i / 64 is row i. The others are not looked at, and keep
 * their bits. */
#ifndef EVERTICK_REDUCE_H
#define EVERTICK_REDUCE_H

#include "evertick.h"

/* The least and the greatest of x, y and z. NaN does not count; if nothing does it
 * is +Inf and -Inf. The sign of a zero is unspecified. */
void et_bounds(int32_t level, const float *x, const float *y, const float *z, const uint64_t *live, int64_t n,
               float *least, float *greatest);

/* Sixteen sums, of the rows i with the same i % 16, each begun at 0 and added to in
 * ascending order; then added up by halves: j and j + 8, j and j + 4, and so on. */
enum { ET_SUMS = 16 };
void et_sum(int32_t level, const float *x, const uint64_t *live, int64_t n, double *sum);

/* The first row that is NaN or infinite, or -1. */
void et_first_not_finite(int32_t level, const float *x, const uint64_t *live, int64_t n, int64_t *row);

/* The first row with index[i] >= limit, or -1; limit is at most 2^31. */
void et_first_beyond(int32_t level, const uint32_t *index, uint32_t limit, const uint64_t *live, int64_t n, int64_t *row);

/* dst[i] = src[i] */
void et_copy(int32_t level, float *dst, const float *src, const uint64_t *live, int64_t n);

/* dst[i] = value */
void et_fill(int32_t level, float *dst, float value, const uint64_t *live, int64_t n);

/* dst[i] = src[index[i]], with index[i] below 2^31 */
void et_gather(int32_t level, float *dst, const float *src, const uint32_t *index, const uint64_t *live, int64_t n);

/* The matrices that native.Ops.Compose describes, 16 floats a row: column by column,
 * or row by row if by_row is not 0. */
void et_compose(int32_t level, float *out, int32_t by_row, const float *px, const float *py, const float *pz,
                const float *qx, const float *qy, const float *qz, const float *qw,
                const float *sx, const float *sy, const float *sz, const uint64_t *live, int64_t n);

#endif
