/* How far a triangle is from a polyhedron, as internal/rigid3/gjk.go defines it for two cores. */
#ifndef EVERTICK_SPACE_SURFACE_GAP_H
#define EVERTICK_SPACE_SURFACE_GAP_H

#include "surface_faces.h"

enum { MAX_GJK = 64 };
#define GJK_TOLERANCE 1e-13
#define TOUCH_SQUARE 1e-26 /* rigid3.touchTolerance and flatTolerance, squared */

/* rigid3.coreGap. */
typedef struct {
	double distance;
	vec64 normal, on_a;
} core_gap;

typedef struct {
	vec64 w, a;
	uint32_t i, j;
} simplex_vertex;

typedef struct {
	simplex_vertex v[4];
	double weight[4];
	int n;
} simplex;

/* The vertex of the core that is farthest along d: rigid3.supportOf. */
ROUTINE(LEVEL) uint32_t support64(const polytope *t, int is_box, vec64 d) {
	if (is_box)
		return (uint32_t)(d.x > 0) | (uint32_t)(d.y > 0) << 1 | (uint32_t)(d.z > 0) << 2;
	uint32_t at = 0;
	double most = dot64(widened(vertex(t, 0)), d);
	for (uint32_t i = 1; i < t->vertices; i++) {
		const double e = dot64(widened(vertex(t, i)), d);
		if (e > most) {
			at = i;
			most = e;
		}
	}
	return at;
}

ROUTINE(LEVEL) simplex_vertex vertex_along(const surface_collider *k, const vec64 triangle[3], vec64 d) {
	const vec64 back = neg64(d);
	uint32_t i = 0;
	double most = dot64(triangle[0], back);
	for (uint32_t c = 1; c < 3; c++) {
		const double e = dot64(triangle[c], back);
		if (e > most) {
			i = c;
			most = e;
		}
	}
	const uint32_t j = support64(&k->shape->core, k->shape->is_box, d);
	const vec64 b = widened(vertex(&k->shape->core, j));
	return (simplex_vertex){sub64(triangle[i], b), triangle[i], i, j};
}

static void segment_weights(vec64 a, vec64 b, double w[4]) {
	const vec64 u = sub64(b, a);
	const double t = -dot64(a, u), uu = dot64(u, u);
	w[0] = w[1] = w[2] = w[3] = 0;
	if (!(t > 0)) {
		w[0] = 1;
	} else if (t >= uu) {
		w[1] = 1;
	} else {
		w[1] = t / uu;
		w[0] = 1 - w[1];
	}
}

INLINE64 double ratio64(double a, double b) { return b > 0 ? a / b : 0; }

ROUTINE(LEVEL) void triangle_weights(vec64 a, vec64 b, vec64 c, double w[4]) {
	const vec64 ab = sub64(b, a), ac = sub64(c, a);
	w[0] = w[1] = w[2] = w[3] = 0;
	const double d1 = -dot64(ab, a), d2 = -dot64(ac, a);
	if (d1 <= 0 && d2 <= 0) {
		w[0] = 1;
		return;
	}
	const double d3 = -dot64(ab, b), d4 = -dot64(ac, b);
	if (d3 >= 0 && d4 <= d3) {
		w[1] = 1;
		return;
	}
	const double vc = d1 * d4 - d3 * d2;
	if (vc <= 0 && d1 >= 0 && d3 <= 0) {
		w[1] = ratio64(d1, d1 - d3);
		w[0] = 1 - w[1];
		return;
	}
	const double d5 = -dot64(ab, c), d6 = -dot64(ac, c);
	if (d6 >= 0 && d5 <= d6) {
		w[2] = 1;
		return;
	}
	const double vb = d5 * d2 - d1 * d6;
	if (vb <= 0 && d2 >= 0 && d6 <= 0) {
		w[2] = ratio64(d2, d2 - d6);
		w[0] = 1 - w[2];
		return;
	}
	const double va = d3 * d6 - d5 * d4;
	if (va <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0) {
		w[2] = ratio64(d4 - d3, (d4 - d3) + (d5 - d6));
		w[1] = 1 - w[2];
		return;
	}
	const double sum = (va + vb) + vc;
	w[1] = vb / sum;
	w[2] = vc / sum;
	w[0] = (1 - w[1]) - w[2];
}

/* Returns whether the origin is inside. */
static int tetrahedron_weights(const simplex *s, double w[4]) {
	static const uint8_t faces[4][4] = {{0, 1, 2, 3}, {0, 1, 3, 2}, {0, 2, 3, 1}, {1, 2, 3, 0}};
	int inside = 1;
	double nearest = __builtin_inf();
	w[0] = w[1] = w[2] = w[3] = 0;
	for (int i = 0; i < 4; i++) {
		const uint8_t *f = faces[i];
		const vec64 a = s->v[f[0]].w, b = s->v[f[1]].w, c = s->v[f[2]].w, d = s->v[f[3]].w;
		const vec64 n = cross64(sub64(b, a), sub64(c, a));
		const double height = dot64(n, sub64(d, a)), size = max64(dot64(a, a), dot64(d, d));
		if (height * -dot64(n, a) > 0 && height * height > TOUCH_SQUARE * (size * dot64(n, n)))
			continue;
		inside = 0;
		double of[4];
		triangle_weights(a, b, c, of);
		const vec64 p = add_times64(add_times64(times64(a, of[0]), b, of[1]), c, of[2]);
		const double square = dot64(p, p);
		if (square < nearest) {
			nearest = square;
			w[0] = w[1] = w[2] = w[3] = 0;
			for (int j = 0; j < 3; j++)
				w[f[j]] = of[j];
		}
	}
	return inside;
}

/* rigid3.simplex.solve. */
static vec64 solve_simplex(simplex *s) {
	if (s->n == 2) {
		segment_weights(s->v[0].w, s->v[1].w, s->weight);
	} else if (s->n == 3) {
		triangle_weights(s->v[0].w, s->v[1].w, s->v[2].w, s->weight);
	} else if (s->n == 4) {
		double weights[4];
		if (tetrahedron_weights(s, weights))
			return (vec64){0, 0, 0};
		memcpy(s->weight, weights, sizeof weights);
	}
	int n = 0;
	vec64 p = {0, 0, 0};
	for (int i = 0; i < s->n; i++) {
		const double w = s->weight[i];
		if (w > 0) {
			s->v[n] = s->v[i];
			s->weight[n] = w;
			p = add_times64(p, s->v[n].w, w);
			n++;
		}
	}
	s->n = n;
	return p;
}

/* rigid3.SurfaceCollider.gap. Returns 0 if they overlap. */
ROUTINE(LEVEL) int gap_of(const surface_collider *k, const surface_face *f, core_gap *g) {
	vec64 triangle[3];
	for (int i = 0; i < 3; i++)
		triangle[i] = widened(narrowed(f->corners[i]));
	simplex s = {.n = 1, .weight = {1}};
	s.v[0] = vertex_along(k, triangle, (vec64){0, 0, 0});
	vec64 v = s.v[0].w;
	double size = dot64(v, v), square = size;
	for (int pass = 0; pass < MAX_GJK; pass++) {
		if (square <= size * TOUCH_SQUARE)
			return 0;
		const simplex_vertex c = vertex_along(k, triangle, v);
		size = max64(dot64(c.w, c.w), size);
		int known = !(square - dot64(v, c.w) > GJK_TOLERANCE * square);
		for (int i = 0; i < s.n; i++)
			known |= s.v[i].i == c.i && s.v[i].j == c.j;
		if (known)
			break;
		const simplex last = s;
		s.v[s.n++] = c;
		const vec64 w = solve_simplex(&s);
		if (s.n == 4)
			return 0;
		const double next = dot64(w, w);
		if (!(next < square)) {
			s = last;
			break;
		}
		v = w;
		square = next;
	}
	g->distance = SQRT64(square);
	g->normal = (vec64){-v.x / g->distance, -v.y / g->distance, -v.z / g->distance};
	g->on_a = (vec64){0, 0, 0};
	for (int i = 0; i < s.n; i++)
		g->on_a = add_times64(g->on_a, s.v[i].a, s.weight[i]);
	return 1;
}

#endif
