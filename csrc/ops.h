/* Operations on columns, row by row. Each has n rows; live, which may be NULL, is
 * a bitmap of those to work on: bit i % 64 of word i / 64 is row i. The others keep
 * their bits. */
#ifndef EVERTICK_OPS_H
#define EVERTICK_OPS_H

#include "evertick.h"

/* pos[i] = pos[i] + vel[i] * dt */
void et_integrate(int32_t level, float *pos, const float *vel, float dt, const uint64_t *live, int64_t n);

#endif
