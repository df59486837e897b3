/* The cell list in C, for each level: see levels.c. */
#include <stdint.h>

typedef struct {
	float min[3], inv;
	int32_t n[3];
} cl_grid;

typedef struct {
	float x, y, z;
	uint32_t slot;
} cl_point;

/* A list: points by cell, and where each cell begins in them. cell_of is by slot. */
typedef struct {
	cl_grid grid;
	uint32_t *start, *cell_of;
	cl_point *points;
} cl_list;

enum { CL_C, CL_AVX2, CL_AVX512 };

void cl_sort(int32_t level, cl_list l, const float *x, const float *y, const float *z, int64_t n);
int64_t cl_find(int32_t level, cl_list l, const cl_point *centres, int64_t n, float radius, uint32_t *ends,
		uint32_t *slots, int64_t room);
