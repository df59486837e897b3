/* Types that the functions of package space share, and its geometry. Structs mirror the Go types of the same names of
 * package internal/rigid3. */
#ifndef EVERTICK_SPACE_H
#define EVERTICK_SPACE_H

#include "../base.h"

enum { ET_SPACE_LANES = 16, ET_SPACE_POINTS = 4 };

typedef struct {
	float p[3], q[4];
} et_space_pose;

typedef struct {
	float anchor_a[3], anchor_b[3], separation;
	uint32_t id;
} et_space_manifold_point;

typedef struct {
	float normal[3];
	uint32_t count;
	et_space_manifold_point points[ET_SPACE_POINTS];
	uint32_t source;
} et_space_manifold;

_Static_assert(sizeof(et_space_pose) == 28 && sizeof(et_space_manifold_point) == 32 && sizeof(et_space_manifold) == 148 &&
                       offsetof(et_space_manifold, count) == 12 && offsetof(et_space_manifold, points) == 16,
               "the Go types mirror these");

#endif
