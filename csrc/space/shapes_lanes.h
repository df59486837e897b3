/* What the kernels of shapes have in common: a shape, a body or a pair of them in each lane. */
#ifndef EVERTICK_SPACE_SHAPES_LANES_H
#define EVERTICK_SPACE_SHAPES_LANES_H

#include "../collide_lanes.h"
#include "geometry.h"
#include "vectors.h"

/* The floats of a shape, a pose, a base and a manifold. */
enum { SHAPE_ROW = 13, POSE_ROW = 7, BASE_ROW = 40, MANIFOLD_ROW = 37 };

HELPER(LEVEL) V(f) constant(float v) { return V(set1)(v); }
HELPER(LEVEL) V(f) abs_sum3(V(f) x, V(f) y, V(f) z) { return SUM3(V(abs)(x), V(abs)(y), V(abs)(z)); }

/* A vector rotated by a quaternion. */
HELPER(LEVEL) vec rotate(quat q, vec v) {
	const vec u = {q.x, q.y, q.z}, t = cross(u, vec_add(cross(u, v), vec_times(v, q.w)));
	return (vec){ADD(v.x, ADD(t.x, t.x)), ADD(v.y, ADD(t.y, t.y)), ADD(v.z, ADD(t.z, t.z))};
}

/* The position and the rotation of bodies. */
typedef struct {
	vec p;
	quat q;
} body_pose;

HELPER(LEVEL) body_pose load_poses(const et_space_pose *poses, const uint32_t *bodies) {
	const float *rows = (const float *)(const void *)poses;
	V(f) v[8];
	V(rows4)(rows, bodies, POSE_ROW, v);
	V(rows4)(rows + 3, bodies, POSE_ROW, v + 4);
	return (body_pose){{v[0], v[1], v[2]}, {v[4], v[5], v[6], v[7]}};
}

/* The fields of shapes: position and rotation of the core, half extents, radius, and what follows. */
HELPER(LEVEL) void load_shapes(const et_space_shape *shapes, const uint32_t *index, V(f) v[12]) {
	const float *rows = (const float *)(const void *)shapes;
	V(rows8)(rows, index, SHAPE_ROW, v);
	V(rows4)(rows + 8, index, SHAPE_ROW, v + 8);
}

#endif
