/* Contact manifolds of pairs of shapes: see rigid.Collide. */
#ifndef EVERTICK_RIGID_COLLIDE_H
#define EVERTICK_RIGID_COLLIDE_H

#include <stddef.h>
#include <stdint.h>

enum { ET_VERTICES = 8 };

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

/* out[i] = the manifold of the shapes a[i] and b[i], for n pairs. Returns 1, or 0 if
 * one of them is not below shape_count or its body not below body_count; out is then
 * unspecified. */
int32_t et_collide(int32_t level, const et_shape *shapes, const uint32_t *body_of, uint32_t shape_count,
                   const float *x, const float *y, const float *cos, const float *sin, uint32_t body_count,
                   const uint32_t *a, const uint32_t *b, int64_t n, et_manifold *out);

#endif
