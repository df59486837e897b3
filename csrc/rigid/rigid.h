/* Types that the functions of package rigid share, and its geometry. Structs mirror the Go types of the same
 * names. */
#ifndef EVERTICK_RIGID_H
#define EVERTICK_RIGID_H

#include "../base.h"

enum { ET_VERTICES = 8, ET_LANES = 16 };

/* All points within radius of a convex polygon: x, y of each vertex, and of the outward normal of each edge. */
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
} et_manifold_point;

typedef struct {
	float normal[2];
	uint32_t count, source;
	et_manifold_point points[2];
} et_manifold;

/* rigid.Source. */
enum { ET_COLLIDED = 0, ET_RECYCLED = 1 };

_Static_assert(sizeof(et_manifold) == 64 && offsetof(et_manifold, count) == 8 && offsetof(et_manifold, points) == 16 &&
                       offsetof(et_manifold_point, separation) == 16 && sizeof(et_manifold_point) == 24,
               "rigid.Manifold mirrors et_manifold");

/* Columns of bodies, of boxes, and of pairs of shapes. */
typedef struct {
	float *x, *y, *cos, *sin;
} et_poses;

typedef struct {
	float *min_x, *min_y, *max_x, *max_y;
} et_boxes;

typedef struct {
	uint32_t *a, *b;
	int64_t n;
} et_pairs;

/* Computes the box around each of n shapes, as rigid.Bounds defines it; body_of has the body of each shape.
 * Returns n, or the first shape that has no pose or too many vertices. */
int64_t et_shape_bounds(int32_t level, const et_shape *shapes, const uint32_t *body_of, int64_t n, et_poses poses, int64_t bodies,
                  float margin, et_boxes out);

/* Pairs of shapes to collide, except those with recycled[i] >= 0, unless it is NULL. out[i] is for pair i. */
typedef struct {
	et_pairs pairs;
	const int32_t *recycled;
	et_manifold *out;
} et_collisions;

/* Computes manifolds, as rigid.CollideOthers defines them. Returns 1, or 0 if a shape or a body does not exist; they are
 * then unspecified. */
int32_t et_collide(int32_t level, const et_shape *shapes, const uint32_t *body_of, uint32_t shape_count, et_poses poses,
                   uint32_t body_count, et_collisions c);

#endif
