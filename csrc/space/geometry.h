/* Shapes of package internal/rigid3 and the functions over them. Structs mirror the Go types of the same names. */
#ifndef EVERTICK_SPACE_GEOMETRY_H
#define EVERTICK_SPACE_GEOMETRY_H

#include "system.h"

/* rigid3.Kind. */
enum { ET_SPACE_SPHERE = 1, ET_SPACE_CAPSULE = 2, ET_SPACE_BOX = 3, ET_SPACE_HULL = 4 };

typedef struct {
	et_space_pose pose;
	float half[3], radius;
	uint8_t kind;
	uint32_t hull;
} et_space_shape;

/* rigid3.MaxHullVertices; no polytope has more faces and edges than these. */
enum { ET_SPACE_VERTICES = 128, ET_SPACE_FACES = 2 * ET_SPACE_VERTICES, ET_SPACE_EDGES = 3 * ET_SPACE_VERTICES };

/* A polytope: its numbers begin at floats and indices, in the order of the fields of polytope in polytope.h. Columns of
 * floats are filled with copies of their first element to a multiple of 16. */
typedef struct {
	uint32_t vertices, faces, edges; /* 0 vertices: none */
	uint32_t floats, indices;
	float centre[3], inner;
} et_space_hull;

typedef struct {
	const et_space_hull *hulls;
	const float *floats;
	const uint16_t *indices;
	int64_t n;
} et_space_hulls;

typedef struct {
	const et_space_shape *shapes;
	const uint32_t *body_of;
	const et_space_pose *poses;
	int64_t shape_count, body_count;
	et_space_hulls hulls;
} et_space_scene;

/* Pairs of shapes to collide, except those with recycled[i] >= 0, unless it is NULL. out[i] is for pair i. */
typedef struct {
	const uint32_t *a, *b;
	int64_t n;
	const int32_t *recycled;
	et_space_manifold *out;
} et_space_collisions;

/* Columns of boxes. */
typedef struct {
	float *min[3], *max[3];
} et_space_boxes;

typedef struct {
	float anchor_a[3], anchor_b[3], separation;
} et_space_base_point;

typedef struct {
	float normal[3], limit;
	et_space_base_point points[ET_SPACE_POINTS];
	float rotation_a[4], rotation_b[4];
} et_space_base_manifold;

/* rigid3.Source. */
enum { ET_SPACE_RECYCLED = 1 };

/* Contacts of the last step, their bases, and the manifolds to make. */
typedef struct {
	const et_space_contact *old;
	const et_space_base_manifold *bases;
	const uint32_t *body_of;
	const et_space_pose *poses;
	int32_t *from;
	et_space_manifold *out;
} et_space_recycling;

_Static_assert(sizeof(et_space_base_manifold) == 160 && sizeof(et_space_recycling) == 48 && sizeof(et_space_boxes) == 48, "the Go types mirror these");
_Static_assert(sizeof(et_space_shape) == 52 && offsetof(et_space_shape, half) == 28 && offsetof(et_space_shape, kind) == 44 &&
                       sizeof(et_space_hull) == 36 && sizeof(et_space_scene) == 72 && sizeof(et_space_collisions) == 40,
               "the Go types mirror these");

/* Computes manifolds, as rigid3.CollidePairs defines them. Returns 1, or 0 if a shape or a body does not exist; they are then
 * unspecified. */
int32_t et_space_collide(int32_t level, et_space_scene s, et_space_collisions c);

/* Computes the box around each shape, as rigid3.Bounds defines it. Returns the number of shapes, or the first shape that has
 * no pose. */
int64_t et_space_bounds(int32_t level, et_space_scene s, float margin, et_space_boxes out);

/* Recycles contacts[0...n) for pairs[0...n), as rigid3.Recycling defines it. Returns how many were recycled. */
int64_t et_space_recycle(int32_t level, et_space_recycling r, const uint32_t *pairs, const uint32_t *contacts, int64_t n);

#endif
