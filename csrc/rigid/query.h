/* Queries over the shapes of rigid bodies: package rigid describes them. */
#ifndef EVERTICK_RIGID_QUERY_H
#define EVERTICK_RIGID_QUERY_H

#include "rigid.h"

enum { ET_NODE = 16, ET_NO_SHAPE = -1, ET_SENSOR = 1 << 8, ET_INCLUDE_SENSORS = 1, ET_SKIP_INSIDE = 2, ET_WITH_SPAN = 4 };

/* Sixteen boxes. */
typedef struct {
	float min_x[ET_NODE], min_y[ET_NODE], max_x[ET_NODE], max_y[ET_NODE];
} et_node;

/* A shape at its pose. */
typedef struct {
	float x, y, cos, sin;
	uint64_t category, mask;
	uint32_t body, shape;
	uint32_t count; /* of vertices, plus the bit ET_SENSOR */
	float radius;
	float vertices[ET_VERTICES][2], normals[ET_VERTICES][2];
	float span_min, span_max;
	uint32_t unused[2];
} et_target;

/* The points o + t * d for 0 <= t <= max_t, and a filter of the shapes that they can hit. */
typedef struct {
	float o[2], d[2];
	float max_t;
	uint32_t exclude;
	uint64_t category, mask;
	uint32_t flags;
	float inv[2]; /* the reciprocals of d */
	float span_min, span_max; /* if flags has ET_WITH_SPAN */
	uint32_t unused;
} et_query_ray;

typedef struct {
	float t, normal[2];
	uint32_t shape;
} et_ray_hit;

_Static_assert(sizeof(et_node) == 256 && sizeof(et_target) == 192 && sizeof(et_query_ray) == 64 && sizeof(et_ray_hit) == 16 &&
                       offsetof(et_target, vertices) == 48 && offsetof(et_query_ray, inv) == 44 &&
                       offsetof(et_target, span_min) == 176 && offsetof(et_query_ray, span_min) == 52,
               "the types of package rigid mirror these");

/* The nodes of level k of `levels` are starts[k] to starts[k + 1]. The last node is the root. */
typedef struct {
	const et_node *nodes;
	const uint32_t *starts;
	const et_target *targets;
	int64_t levels;
} et_query_tree;

/* out[i] = the first hit of ray i, for n rays, as rigid.QueryTree.CastRaysClosest defines it. */
void et_cast_rays_closest(int32_t level, et_query_tree t, const et_query_ray *rays, int64_t n, et_ray_hit *out);

/* Writes all hits of n rays to out, from fill on and before cap; the hits of one ray are in any order. ends[i]
 * becomes the end of those of ray i. Returns the number of rays whose hits fit. */
int64_t et_cast_rays_all(int32_t level, et_query_tree t, const et_query_ray *rays, int64_t n, uint32_t *ends, et_ray_hit *out,
                         int64_t fill, int64_t cap);

#endif
