/* Operations on columns, row by row. Each has n rows; live, which may be NULL, is
 * a bitmap of those to work on: bit i % 64 of word i / 64 is row i. The others keep
 * their bits. teleported is such a bitmap too. What a row becomes is said by the
 * methods of native.Ops. */
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

/* One column, each row for itself. */
void et_scale(int32_t level, float *x, float a, const uint64_t *live, int64_t n);
void et_damp(int32_t level, float *v, const float *c, float dt, const uint64_t *live, int64_t n);
void et_clamp(int32_t level, float *x, float lo, float hi, const uint64_t *live, int64_t n);
void et_wrap(int32_t level, float *x, float lo, float hi, const uint64_t *live, int64_t n);
void et_lerp(int32_t level, float *out, const float *prev, const float *cur, float alpha,
             const uint64_t *teleported, const uint64_t *live, int64_t n);

/* Vectors. */
void et_clamp_length(int32_t level, et_vec3 v, float max, const uint64_t *live, int64_t n);
void et_dist2(int32_t level, float *out, et_vec3 p, float x, float y, float z, const uint64_t *live, int64_t n);

/* Quaternions. */
void et_nlerp(int32_t level, et_quat out, et_quat prev, et_quat cur, float alpha,
              const uint64_t *teleported, const uint64_t *live, int64_t n);
void et_normalize_quat(int32_t level, et_quat q, const uint64_t *live, int64_t n);
void et_integrate_quat(int32_t level, et_quat q, et_vec3 omega, float dt, const uint64_t *live, int64_t n);

/* Both, with their velocities: only vel, pos and rot are written. */
void et_move(int32_t level, et_motion m, float dt, const uint64_t *live, int64_t n);

#endif
