/* What the stages of package native/rigid share: the Go types of these names mirror
 * the structs. */
#ifndef EVERTICK_RIGID_H
#define EVERTICK_RIGID_H

#include "../base.h"

enum { ET_VERTICES = 8 };

/* All points within radius of a convex polygon: x, y of each vertex, and of the
 * normals of the edges. */
typedef struct {
	float vertices[ET_VERTICES][2], normals[ET_VERTICES][2];
	float centroid[2];
	float radius;
	uint32_t count;
} et_shape;

_Static_assert(sizeof(et_shape) == 144 && offsetof(et_shape, normals) == 64 && offsetof(et_shape, centroid) == 128 &&
                       offsetof(et_shape, radius) == 136 && offsetof(et_shape, count) == 140,
               "rigid.Shape mirrors et_shape");

typedef struct {
	float anchor_a[2], anchor_b[2];
	float separation;
	uint32_t id;
} et_point;

typedef struct {
	float normal[2];
	uint32_t count, unused;
	et_point points[2];
} et_manifold;

_Static_assert(sizeof(et_manifold) == 64 && offsetof(et_manifold, count) == 8 && offsetof(et_manifold, points) == 16 &&
                       offsetof(et_point, separation) == 16 && sizeof(et_point) == 24,
               "rigid.Manifold mirrors et_manifold");

#endif
