/* The path of a shape against the triangles of a mesh. Structs mirror the Go types of the same names. */
#ifndef EVERTICK_SPACE_SWEEPS_H
#define EVERTICK_SPACE_SWEEPS_H

#include "surfaces.h"

/* A mesh, and the path of a shape near it: rigid3.corePath. points are those of the shape before and after the step, by turns, and n the number of
 * both, in the axes of the mesh. lo and hi are a box around the path. out has room for so many triangles. */
typedef struct {
	const float *vertices;
	const et_space_triangle *triangles;
	const et_space_branch *branches;
	const double *points;
	int64_t n;
	double middle[3], core_reach, radius;
	float lo[3], hi[3];
	uint32_t *out;
	int64_t room;
	uint8_t two_sided;
} et_space_mesh_sweep;

_Static_assert(sizeof(et_space_mesh_sweep) == 128 && offsetof(et_space_mesh_sweep, lo) == 80, "the Go types mirror these");

/* Writes the numbers of the triangles that may stop the shape, ascending. Returns how many there are, or -1 if there is no room. */
int64_t et_space_sweep_mesh(int32_t level, et_space_mesh_sweep s);

#endif
