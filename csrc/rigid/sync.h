/* Poses of bodies and transforms of the entities that they drive. Go face:
 * sync.go; what they compute is said in native/rigid/sync.go. */
#ifndef EVERTICK_RIGID_SYNC_H
#define EVERTICK_RIGID_SYNC_H

#include "rigid.h"

/* Of bodies [lo, hi). Slots other than ET_NO_SLOT are numbers of elements of the columns
 * to_; flip says that a turn is written with the other sign. */
void et_put(int32_t level, const float *x, const float *y, const float *cos, const float *sin, const uint32_t *slot,
            float *kept_x, float *kept_y, float *kept_sin, float *kept_cos, float *to_x, float *to_y, float *to_turn,
            float *to_w, float *to_zero1, float *to_zero2, int32_t flip, int64_t lo, int64_t hi);

/* The first body of [lo, hi) that differs, or hi. */
int64_t et_differs(int32_t level, const uint32_t *slot, const uint32_t *kept_x, const uint32_t *kept_y,
                   const uint32_t *kept_sin, const uint32_t *kept_cos, const uint32_t *x, const uint32_t *y,
                   const uint32_t *turn, const uint32_t *w, const uint32_t *zero1, const uint32_t *zero2, int64_t lo,
                   int64_t hi);

#endif
