/* What the kernels of surfaces have in common with surfaces.c, which does all but the search for triangles. */
#ifndef EVERTICK_SPACE_SURFACES_KERNEL_H
#define EVERTICK_SPACE_SURFACES_KERNEL_H

#include "polytope.h"
#include "surfaces.h"
#include "vec64.h"

#define FRONT_TOLERANCE 0.005 /* rigid3.frontTolerance */

/* Bounds of the memory of a computation. A shape that needs more is left to Go. */
enum { NEAR_FACES = 128, FACE_CONTACTS = 128, FACE_POINTS = 512, MAX_RING = 64 };

/* Shapes and triangles of a batch. Triangles are placed in lanes over those of all its shapes: few are near one shape. */
enum { BATCH_SHAPES = 16, BATCH_FACES = NEAR_FACES, GROUP = 8 };

/* Edges of a core that have columns: along the edge, from where, the normals beside it, and their cross product. */
enum { LANE_EDGES = 64, EDGE_COLUMNS = 15 };

/* A pose with its rotation as a matrix by rows. */
typedef struct {
	vec64 p, x, y, z;
} pose64;

/* rigid3.faceContact. */
typedef struct {
	vec64 normal, toward;
	uint32_t first, end;
	float depth;
	uint32_t face;
	int cluster, spare;
} face_contact;

/* A shape of a batch, and the triangles near it. */
typedef struct {
	uint32_t number; /* of the shape in its scene */
	int meets;       /* it may touch the surface */
	const et_space_face *faces;
	uint32_t face_count;
	float radius, margin;
	int turned, is_box;
	pose64 body, at;
	vec64 half, extent, centre, middle;
	polytope core;
	box_columns columns;
} surface_shape;

/* What placing takes of each triangle and its shape, and what it gives: rigid3.surfaceFace. */
enum {
	IN_VERTICES,
	IN_AT = 9, /* position, then the rows of the matrix */
	IN_EXTENT = 21,
	IN_HALF = 24,
	IN_MIDDLE = 27,
	IN_CENTRE = 30,
	IN_MARGIN = 33,
	IN_TURNED,
	IN_BOX, /* 1 if planes of a box separate, else 0 */
	IN_ROWS
};
enum {
	OUT_CORNERS,
	OUT_UP = 9,
	OUT_NORMAL = 12,
	OUT_OFFSET = 15,
	OUT_ACROSS,
	OUT_SQUARES = 25,
	OUT_BOUNDS = 28,
	OUT_MOST = 34,
	OUT_MOST_PLANE,
	OUT_ROWS
};

/* Triangles that are placed together, with a bit for each. */
typedef struct {
	double rows[OUT_ROWS][GROUP];
	uint32_t near, flipped, beside;
} placed_group;

/* rigid3.SurfaceCollider. */
typedef struct surface_collider surface_collider;

/* What is done in lanes, over the planes or the edges of the core. */
typedef struct {
	/* Sets bounds, most and most_plane for a triangle; returns 0 if it is beyond the margin. */
	int (*separate)(surface_collider *k, const vec64 corners[3]);
	/* For each side of a triangle and each edge that has columns, sets how far their cross product separates, or -infinity if it is no axis. */
	void (*edge_axes)(const surface_collider *k, const vec64 corners[3], double separations[3][LANE_EDGES]);
} surface_lanes;

struct surface_collider {
	const surface_lanes *lanes;
	const et_space_surface *surface;
	const surface_shape *shape;
	et_space_face far_face;
	int left; /* there is no room */
	int has_frame; /* that of the surface is set */

	pose64 frame;
	float most;
	uint32_t most_plane;

	uint32_t contact_count, point_count;
	face_contact contacts[FACE_CONTACTS];
	contact_point points[FACE_POINTS + 1], picked[FACE_POINTS];
	float bounds[ET_SPACE_FACES];
	union {
		polygon_corner polygons[2][ET_SPACE_POLYGON];
		contact_point spare[FACE_POINTS];
	} memory;
	int has_columns;
	double edges[EDGE_COLUMNS][LANE_EDGES];
};

static inline void set_face(et_space_face *f, const et_space_surface *s, uint32_t number) {
	const et_space_triangle *t = s->triangles + number;
	for (int i = 0; i < 3; i++)
		memcpy(f->vertices[i], s->vertices + 3 * (size_t)t->vertices[i], sizeof f->vertices[i]);
	memcpy(f->neighbours, t->neighbours, sizeof f->neighbours + sizeof f->edges);
	f->number = number;
}

/* Begins the computation of a shape and a surface of a scene: sets what does not depend on where the shape is, and the frame of the surface. */
__attribute__((visibility("hidden"))) void et_space_begin_surface(surface_collider *k, surface_shape *p, const et_space_scene *s, const et_space_surface *f,
                                                                   uint32_t surface, uint32_t shape);

/* Goes on when the poses and half are set. Returns 0 if shape and surface do not touch; else sets the box around the shape in the axes of the surface. */
__attribute__((visibility("hidden"))) int et_space_bound_shape(surface_shape *p, const et_space_scene *s, float lo[3], float hi[3]);

/* Ends it with the faces of a shape that has some, of which the first is placed number first of groups. Returns the number of manifolds, or
 * ET_SPACE_LEFT. */
__attribute__((visibility("hidden"))) uint8_t et_space_end_surface(surface_collider *k, const surface_shape *p, const et_space_scene *s, uint32_t surface,
                                                                    const placed_group *groups, uint32_t first, et_space_surface_manifold *out);

#endif
