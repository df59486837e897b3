/* A convex polyhedron, as internal/rigid3/polytope.go defines it. Columns of floats are padded to a multiple of 16 with copies of their first
 * element, which no search for the first of equals finds.
 *
 *   greatest   the largest of all lanes
 */
#ifndef EVERTICK_SPACE_POLYTOPE_H
#define EVERTICK_SPACE_POLYTOPE_H

#include "points.h"

typedef struct {
	uint32_t vertices, faces, edges;
	const float *x, *y, *z;            /* vertices */
	const float *nx, *ny, *nz, *offset; /* planes of faces */
	const float *cosine;               /* of half the angle between the faces of an edge */
	const uint16_t *start;             /* of each face the first of its corners, and after the last their number */
	const uint16_t *corners, *sides;   /* vertices of all faces, and the edges that begin there */
	const uint16_t *from, *to, *left, *right; /* of each edge */
	point centre;
	float inner;
} polytope;

enum { BOX_EDGES = 12, BOX_CORNERS = 24 };

/* The polytope of a box, whose numbers are in memory. */
typedef struct {
	float columns[3 + 4 + 1][16];
} box_columns;

static const uint16_t box_start[7] = {0, 4, 8, 12, 16, 20, 24};
static const uint16_t box_corners[BOX_CORNERS] = {0, 4, 6, 2, 1, 3, 7, 5, 0, 1, 5, 4, 2, 6, 7, 3, 0, 2, 3, 1, 4, 5, 7, 6};
static const uint16_t box_sides[BOX_CORNERS] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 7, 9, 0, 2, 10, 5, 11, 3, 11, 4, 8, 9, 6, 10, 1};
static const uint16_t box_from[BOX_EDGES] = {0, 4, 2, 0, 1, 3, 5, 1, 0, 4, 6, 2};
static const uint16_t box_to[BOX_EDGES] = {4, 6, 6, 2, 3, 7, 7, 5, 1, 5, 7, 3};
static const uint16_t box_left[BOX_EDGES] = {0, 0, 3, 4, 1, 1, 5, 2, 2, 5, 3, 4};
static const uint16_t box_right[BOX_EDGES] = {2, 5, 0, 0, 4, 3, 1, 1, 4, 2, 5, 3};

static inline point vertex(const polytope *t, uint32_t i) { return (point){t->x[i], t->y[i], t->z[i]}; }
static inline point normal_of(const polytope *t, uint32_t i) { return (point){t->nx[i], t->ny[i], t->nz[i]}; }
static inline float distance_of(const polytope *t, uint32_t i, point p) { return p_dot(normal_of(t, i), p) - t->offset[i]; }
static inline uint32_t padded(uint32_t n) { return (n + 15) / 16 * 16; }

static inline void box_polytope(const float half[3], box_columns *m, polytope *t) {
	const float *h = half;
	float *c[8];
	for (int k = 0; k < 8; k++)
		c[k] = m->columns[k];
	for (uint32_t i = 0; i < 16; i++) {
		const uint32_t corner = i < 8 ? i : 0, face = i < 6 ? i : 0;
		for (uint32_t k = 0; k < 3; k++) {
			c[k][i] = corner >> k & 1 ? h[k] : -h[k];
			c[3 + k][i] = face / 2 == k ? (face & 1 ? 1.0f : -1.0f) : 0.0f;
		}
		c[6][i] = h[face / 2];
		c[7][i] = 0.7071f;
	}
	*t = (polytope){8, 6, BOX_EDGES, c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7], box_start, box_corners, box_sides,
	                box_from, box_to, box_left, box_right, {0, 0, 0}, least(h[0], least(h[1], h[2]))};
}

/* The core of a shape that is a box or a hull. Returns 0 if there is none. */
static inline int polytope_of(const et_space_hulls *h, const et_space_shape *s, box_columns *m, polytope *t) {
	if (s->kind == ET_SPACE_BOX) {
		box_polytope(s->half, m, t);
		return 1;
	}
	if (s->hull >= h->n || h->hulls[s->hull].vertices == 0)
		return 0;
	const et_space_hull *f = &h->hulls[s->hull];
	const float *x = h->floats + f->floats;
	const uint16_t *start = h->indices + f->indices;
	const uint32_t pv = padded(f->vertices), pf = padded(f->faces);
	const uint16_t *corners = start + f->faces + 1, *sides = corners + 2 * f->edges, *from = sides + 2 * f->edges;
	const float *nx = x + 3 * pv;
	*t = (polytope){f->vertices, f->faces, f->edges, x, x + pv, x + 2 * pv, nx, nx + pf, nx + 2 * pf, nx + 3 * pf, nx + 4 * pf,
	                start, corners, sides, from, from + f->edges, from + 2 * f->edges, from + 3 * f->edges,
	                {f->centre[0], f->centre[1], f->centre[2]}, f->inner};
	return 1;
}

HELPER(c) float c_greatest(c_f a) { return a; }
#if X86_VECTORS
HELPER(avx2) float avx2_greatest(avx2_f a) {
	const __m128 b = _mm_max_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
	const __m128 c = _mm_max_ps(b, _mm_movehl_ps(b, b));
	return _mm_cvtss_f32(_mm_max_ss(c, _mm_shuffle_ps(c, c, 1)));
}
HELPER(avx512) float avx512_greatest(avx512_f a) {
	const __m256 low = _mm512_castps512_ps256(a), high = _mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd(a), 1));
	return avx2_greatest(_mm256_max_ps(low, high));
}
#endif
#if defined(__aarch64__)
HELPER(neon) float neon_greatest(neon_f a) { return vmaxvq_f32(a); }
#endif

#endif
