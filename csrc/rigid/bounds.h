/* Boxes around the shapes of rigid bodies. */
#ifndef EVERTICK_RIGID_BOUNDS_H
#define EVERTICK_RIGID_BOUNDS_H

#include "rigid.h"

/* The box around each of n shapes, as rigid.Bounds says. Poses are those of bodies;
 * body has the number of the body of each shape. Returns n, or the first shape
 * that has no pose, or too many vertices. */
int64_t et_rigid_bounds(int32_t level, const et_shape *shapes, const uint32_t *body, int64_t n, const float *x,
                        const float *y, const float *cos, const float *sin, int64_t bodies, float margin,
                        float *min_x, float *min_y, float *max_x, float *max_y);

#endif
