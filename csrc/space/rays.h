/* Rays against the shapes of package internal/rigid3. Structs mirror the Go types of the same names. */
#ifndef EVERTICK_SPACE_RAYS_H
#define EVERTICK_SPACE_RAYS_H

#include "geometry.h"

enum { ET_SPACE_NO_SHAPE = -1, ET_SPACE_INCLUDE_SENSORS = 1, ET_SPACE_SKIP_INSIDE = 2 };

/* Sixteen boxes. */
typedef struct {
	float min[3][ET_SPACE_LANES], max[3][ET_SPACE_LANES];
} et_space_node;

/* A shape at its pose: the position of its core, and the rotation as a matrix by rows. */
typedef struct {
	double p[3], x[3], y[3], z[3];
	uint64_t category, mask;
	float half[3], radius;
	uint32_t body, shape, kind, hull;
	uint8_t sensor;
} et_space_target;

/* The points o + t * d for 0 <= t <= max_t, and a filter of the shapes that they can hit. */
typedef struct {
	float o[3], d[3], max_t;
	uint32_t exclude;
	uint64_t category, mask;
	uint32_t flags;
	float inv[3]; /* of d */
} et_space_ray;

typedef struct {
	float t, normal[3], point[3];
	uint32_t shape, triangle;
} et_space_ray_hit;

/* The nodes of level k of `levels` are starts[k] to starts[k + 1]. The last node is the root. */
typedef struct {
	const et_space_node *nodes;
	const uint32_t *starts;
	const et_space_target *targets;
	int64_t levels;
	et_space_hulls hulls;
} et_space_tree;

_Static_assert(sizeof(et_space_node) == 384 && sizeof(et_space_target) == 152 && sizeof(et_space_ray) == 64 &&
                       sizeof(et_space_ray_hit) == 36 && sizeof(et_space_tree) == 64 && offsetof(et_space_target, category) == 96 &&
                       offsetof(et_space_target, sensor) == 144 && offsetof(et_space_ray, inv) == 52,
               "the Go types mirror these");

/* A target of which only Go knows the geometry, and which waits for a ray whose filter accepts it: targets[target], whose box
 * rays[ray] enters at entry. */
typedef struct {
	uint32_t ray, target;
	float entry;
} et_space_waiting;

/* Rays, and for each the first hit, or any of its hits; room for targets that wait. */
typedef struct {
	const et_space_ray *rays;
	et_space_ray_hit *out;
	et_space_waiting *waiting;
	int64_t n, room;
	uint8_t any;
} et_space_ray_batch;

_Static_assert(sizeof(et_space_waiting) == 12 && sizeof(et_space_ray_batch) == 48, "the Go types mirror these");

/* Computes the first hits of rays, as rigid3.QueryTree.CastRaysClosest defines it, but for those of targets that wait. Returns the
 * number of rays for which there was room, and sets count to the number of targets that wait for them. */
int64_t et_space_cast_rays(int32_t level, et_space_tree t, et_space_ray_batch b, int64_t *count);

/* Writes all hits of n rays to out, from fill on and before cap; the hits of one ray are in any order. ends[i] becomes the
 * end of those of ray i. A target that waits is a hit with t = -1, its number as the shape, and the entry in normal[0]. Returns
 * the number of rays whose hits fit. */
int64_t et_space_cast_rays_all(int32_t level, et_space_tree t, const et_space_ray *rays, int64_t n, uint32_t *ends,
                               et_space_ray_hit *out, int64_t fill, int64_t cap);

#endif
