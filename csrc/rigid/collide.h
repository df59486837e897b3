/* Contact manifolds of pairs of shapes: see rigid.Collide. */
#ifndef EVERTICK_RIGID_COLLIDE_H
#define EVERTICK_RIGID_COLLIDE_H

#include "rigid.h"

/* out[i] = the manifold of the shapes a[i] and b[i], for n pairs. Returns 1, or 0 if
 * one of them is not below shape_count or its body not below body_count; out is then
 * unspecified. */
int32_t et_collide(int32_t level, const et_shape *shapes, const uint32_t *body_of, uint32_t shape_count,
                   const float *x, const float *y, const float *cos, const float *sin, uint32_t body_count,
                   const uint32_t *a, const uint32_t *b, int64_t n, et_manifold *out);

#endif
