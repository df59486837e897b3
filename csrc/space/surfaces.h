/* Triangles of package internal/mesh against shapes of package internal/rigid3. Structs mirror the Go types of the same names. */
#ifndef EVERTICK_SPACE_SURFACES_H
#define EVERTICK_SPACE_SURFACES_H

#include "geometry.h"

/* mesh.Width and rigid3.MaxSurfaceManifolds. */
enum { ET_SPACE_CHILDREN = 8, ET_SPACE_MANIFOLDS = 8 };

/* mesh.None, and mesh.Edge. */
#define ET_SPACE_NO_FACE UINT32_MAX
enum { ET_SPACE_OPEN, ET_SPACE_FLAT, ET_SPACE_CONVEX, ET_SPACE_CONCAVE };

typedef struct {
	float min[3][ET_SPACE_CHILDREN], max[3][ET_SPACE_CHILDREN];
	uint32_t first[ET_SPACE_CHILDREN], count[ET_SPACE_CHILDREN];
} et_space_branch;

typedef struct {
	uint32_t vertices[3], neighbours[3];
	uint8_t edges[3];
	uint32_t number;
} et_space_triangle;

typedef struct {
	float vertices[3][3];
	uint32_t neighbours[3];
	uint8_t edges[3];
	uint32_t number;
} et_space_face;

typedef struct {
	et_space_manifold manifold;
	uint32_t face;
} et_space_surface_manifold;

/* A surface with its pose, and shapes to collide with it: a mesh, or with triangles NULL any surface, of which the faces near shape i are
 * faces[starts[i]...starts[i + 1]), ascending by number. */
typedef struct {
	const float *vertices;
	const et_space_triangle *triangles;
	const et_space_branch *branches;
	const et_space_face *faces;
	const uint32_t *starts;
	uint8_t two_sided;
} et_space_surface;

/* The pairs of a shape, shapes[i], and the surface, which is the shape numbered surface. counts[i] becomes the number of manifolds of
 * pair i, or ET_SPACE_LEFT if the kernel has no room for the computation. They follow those of the pair before in out, which has room for
 * so many. */
typedef struct {
	const uint32_t *shapes;
	int64_t n, room;
	uint32_t surface;
	uint8_t *counts;
	et_space_surface_manifold *out;
} et_space_touches;

enum { ET_SPACE_LEFT = 255 };

_Static_assert(sizeof(et_space_branch) == 256 && sizeof(et_space_triangle) == 32 && sizeof(et_space_face) == 56 &&
                       sizeof(et_space_surface_manifold) == 152 && sizeof(et_space_surface) == 48 && sizeof(et_space_touches) == 48 &&
                       offsetof(et_space_face, number) == 52 && offsetof(et_space_triangle, number) == 28,
               "the Go types mirror these");

/* Computes manifolds, as rigid3.SurfaceCollider defines them, with the surface as A. Returns the number of pairs from the first
 * on after which there is room for no other ET_SPACE_MANIFOLDS, or -1 if a shape or a body does not exist; they are then unspecified. */
int64_t et_space_collide_surface(int32_t level, et_space_scene s, et_space_surface f, et_space_touches c);

#endif
