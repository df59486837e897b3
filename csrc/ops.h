/* Operations on columns. Each has n rows, at least one. live is a bitmap of the rows to work on, or NULL: bit i %
 * 64 of word i / 64 is row i. The other rows keep their bits, and have no effect. teleported is such a bitmap too.
 * The methods of native.Ops say what a row becomes. */
#ifndef EVERTICK_OPS_H
#define EVERTICK_OPS_H

#include "evertick.h"

/* Columns that belong together. */
typedef struct {
	float *x, *y, *z;
} et_vec3;
typedef struct {
	float *x, *y, *z, *w;
} et_quat;
typedef struct {
	et_vec3 pos, vel, acc;
	et_quat rot;
	et_vec3 ang;
} et_motion;

/* pos[i] = pos[i] + vel[i] * dt */
void et_integrate(int32_t level, float *pos, const float *vel, float dt, const uint64_t *live, int64_t n);

/* One column. */
void et_scale(int32_t level, float *x, float a, const uint64_t *live, int64_t n);
void et_damp(int32_t level, float *v, const float *c, float dt, const uint64_t *live, int64_t n);
void et_clamp(int32_t level, float *x, float lo, float hi, const uint64_t *live, int64_t n);
void et_wrap(int32_t level, float *x, float lo, float hi, const uint64_t *live, int64_t n);
void et_lerp(int32_t level, float *out, const float *prev, const float *cur, float alpha,
             const uint64_t *teleported, const uint64_t *live, int64_t n);

/* out[i] = x[i] * a + b; out may be x. */
void et_affine(int32_t level, float *out, const float *x, float a, float b, const uint64_t *live, int64_t n);

/* out[i] = a[i] in the rows of which, and b[i] in the others; out may be a or b. */
void et_select(int32_t level, float *out, const uint64_t *which, const float *a, const float *b, const uint64_t *live,
               int64_t n);

/* native.Comparison. A NaN on either side is not equal; no other comparison holds. */
enum { ET_LESS, ET_LESS_EQUAL, ET_GREATER, ET_GREATER_EQUAL, ET_EQUAL, ET_NOT_EQUAL };

/* Bit i of to: whether the comparison of x[i] with y[i] holds, or with limit if y is NULL. The bits of rows that live
 * does not name, and those after row n - 1 in the last word, are 0. to may be live. */
void et_compare(int32_t level, uint64_t *to, const float *x, int32_t how, const float *y, float limit, const uint64_t *live,
                int64_t n);

/* Vectors. */
void et_clamp_length(int32_t level, et_vec3 v, float max, const uint64_t *live, int64_t n);
void et_dist2(int32_t level, float *out, et_vec3 p, float x, float y, float z, const uint64_t *live, int64_t n);

/* Quaternions. */
void et_nlerp(int32_t level, et_quat out, et_quat prev, et_quat cur, float alpha,
              const uint64_t *teleported, const uint64_t *live, int64_t n);
void et_normalize_quat(int32_t level, et_quat q, const uint64_t *live, int64_t n);
void et_integrate_quat(int32_t level, et_quat q, et_vec3 omega, float dt, const uint64_t *live, int64_t n);

/* Vectors and quaternions with their velocities: only vel, pos and rot are written. */
void et_move(int32_t level, et_motion m, float dt, const uint64_t *live, int64_t n);

/* The least and the greatest of x, y and z. NaN does not count; if no row counts they are +Inf and -Inf. The sign
 * of a zero is unspecified. */
void et_bounds(int32_t level, et_vec3 p, const uint64_t *live, int64_t n, float *least, float *greatest);

/* Sixteen sums: sum j adds the rows i with i % 16 == j, from 0, in ascending order. Then they are added by halves:
 * j and j + 8, j and j + 4, and so on. */
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
void et_compose(int32_t level, float *out, int32_t by_row, et_vec3 pos, et_quat rot, et_vec3 scale, const uint64_t *live,
                int64_t n);

/* Whether any of n floats, or doubles, is NaN; x has their bits. */
int32_t et_nan32(int32_t level, const uint32_t *x, int64_t n);
int32_t et_nan64(int32_t level, const uint64_t *x, int64_t n);

#endif
