/* Boxes around the shapes of rigid bodies. */
#ifndef EVERTICK_RIGID_BOUNDS_H
#define EVERTICK_RIGID_BOUNDS_H

#include "evertick.h"

enum { ET_MAX_VERTICES = 8 };

/* All points within radius of a convex polygon: x, y of each vertex, and of the
 * normals of the edges. */
typedef struct {
	float vertices[ET_MAX_VERTICES][2], normals[ET_MAX_VERTICES][2], centroid[2], radius;
	uint32_t count;
} et_shape;

_Static_assert(sizeof(et_shape) == 144, "rigid.Shape mirrors et_shape");

/* The box around each of n shapes, as rigid.Bounds says. Poses are those of bodies;
 * body has the number of the body of each shape. Returns n, or the first shape
 * that has no pose, or too many vertices. */
int64_t et_rigid_bounds(int32_t level, const et_shape *shapes, const uint32_t *body, int64_t n, const float *x,
                        const float *y, const float *cos, const float *sin, int64_t bodies, float margin,
                        float *min_x, float *min_y, float *max_x, float *max_y);

#endif
