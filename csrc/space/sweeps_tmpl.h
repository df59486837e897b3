#include "sweeps.h"

/* rigid3.frontTolerance, with its rounding. */
#define FRONT_BEHIND 0.005001

/* rigid3.exceeds. */
static inline int exceeds(double along, double distance, double square) {
	const double a = along * along, b = distance * distance * square;
	return distance >= 0 ? (along > 0) & (a > b) : (along >= 0) | (a < b);
}

/* rigid3.corePath.keepsApart. */
static inline int keeps_apart(const et_space_mesh_sweep *s, vec64 n, const vec64 v[3]) {
	const double square = dot64(n, n), reach = s->core_reach + s->radius;
	if (square == 0)
		return 0;
	const double p = dot64(n, v[0]), q = dot64(n, v[1]), r = dot64(n, v[2]);
	const double top = most64(most64(p, q), r), bottom = least64(least64(p, q), r);
	double least = __builtin_inf(), most = -__builtin_inf();
	for (int64_t i = 0; i < s->n; i++) {
		const double at = dot64(n, row64(s->points + 3 * i));
		least = least64(at, least);
		most = most64(at, most);
	}
	return exceeds(least - top, reach, square) | exceeds(bottom - most, reach, square);
}

/* rigid3.corePath.passes. */
static inline int passes(const et_space_mesh_sweep *s, const float *a, const float *b, const float *c) {
	const vec64 v[3] = {wide64(a), wide64(b), wide64(c)};
	const vec64 normal = cross64(sub64(v[1], v[0]), sub64(v[2], v[0]));
	if (!s->two_sided && exceeds(dot64(normal, sub64(v[0], row64(s->middle))), FRONT_BEHIND, dot64(normal, normal)))
		return 1;
	if (keeps_apart(s, normal, v))
		return 1;
	for (int k = 0; k < 3; k++)
		if (keeps_apart(s, cross64(sub64(v[k == 2 ? 0 : k + 1], v[k]), normal), v))
			return 1;
	return 0;
}

KERNEL(int64_t, space_sweep_mesh, const et_space_mesh_sweep *s) {
	const et_space_surface f = {s->vertices, s->triangles, s->branches, 0, 0, 0};
	tree_walk w;
	begin_walk(&w, &f, s->lo, s->hi);
	uint32_t first, end;
	int64_t n = 0;
	int leaf;
	while ((leaf = next_leaf(&w, &first, &end)) > 0)
		for (uint32_t t = first; t < end; t++) {
			const uint32_t *v = f.triangles[t].vertices;
			const float *p = f.vertices + 3 * (size_t)v[0], *q = f.vertices + 3 * (size_t)v[1], *r = f.vertices + 3 * (size_t)v[2];
			if (is_outside(p, q, r, s->lo, s->hi) || passes(s, p, q, r))
				continue;
			if (n == s->room)
				return -1;
			s->out[n++] = t;
		}
	return leaf < 0 ? -1 : n;
}

#ifdef DISPATCH
int64_t et_space_sweep_mesh(int32_t level, et_space_mesh_sweep s) { return DISPATCH(level, space_sweep_mesh, &s); }
#endif
