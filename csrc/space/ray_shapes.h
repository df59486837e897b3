/* A ray against one shape, as internal/rigid3/ray.go defines it. All of it is in double, in the axes of the core. */
#ifndef EVERTICK_SPACE_RAY_SHAPES_H
#define EVERTICK_SPACE_RAY_SHAPES_H

#include "doubles.h"
#include "polytope.h"
#include "rays.h"
#include "vec64.h"

/* The constants of package rigid3. */
#define FAR_LINE (1 + 0x1p-10)
#define LINE_ROUNDING 0x1p-86

/* A ray in the axes of a core, with the square of the length of d. */
typedef struct {
	vec64 o, d;
	double dd;
} local_ray;

enum { MISSES, ENTERS, BEGINS_INSIDE };

typedef struct {
	double t;
	vec64 normal;
	int how;
} cast_result;

#define MISS ((cast_result){0, {0, 0, 0}, MISSES})
#define INSIDE ((cast_result){0, {0, 0, 0}, BEGINS_INSIDE})

HELPER(LEVEL) int ball_entry(const local_ray *c, vec64 m, double r2, double *t) {
	const double s = dot64(m, c->d) / c->dd;
	const vec64 l = add_times64(m, c->d, -s);
	const double e = dot64(l, l);
	if (!(s >= 0 && e <= r2))
		return 0;
	*t = most64(s - SQRT64((r2 - e) / c->dd), 0);
	return 1;
}

/* The direction from m to where the ray is at t. */
HELPER(LEVEL) vec64 away_from(const local_ray *c, vec64 m, double t) {
	return unit64(sub64(times64(c->d, t), m), unit64(neg64(c->d), (vec64){0, 0, 0}));
}

HELPER(LEVEL) cast_result enter_ball(const local_ray *c, vec64 m, double r2) {
	double t;
	return ball_entry(c, m, r2, &t) ? (cast_result){t, away_from(c, m, t), ENTERS} : MISS;
}

HELPER(LEVEL) cast_result cast_ball(const local_ray *c, double r2) {
	const vec64 m = neg64(c->o);
	return dot64(m, m) <= r2 ? INSIDE : enter_ball(c, m, r2);
}

HELPER(LEVEL) cast_result cast_capsule(const local_ray *c, vec64 p, vec64 q, double r2) {
	const vec64 u = sub64(q, p), m = sub64(c->o, p), w = cross64(u, c->d);
	const double uu = dot64(u, u), apart = dot64(m, w);
	if (apart * apart > r2 * dot64(w, w) * FAR_LINE + dot64(m, m) * uu * c->dd * LINE_ROUNDING)
		return MISS;
	double along = 0, slope = 0;
	if (uu > 0) {
		along = dot64(m, u) / uu;
		slope = dot64(c->d, u) / uu;
	}
	const vec64 near = add_times64(m, u, -least64(most64(along, 0), 1));
	if (dot64(near, near) <= r2)
		return INSIDE;
	const vec64 across = add_times64(m, u, -along), d = add_times64(c->d, u, -slope);
	const double dd = dot64(d, d);
	double y = along;
	if (uu > 0 && dd > 0) {
		const double s = -dot64(across, d) / dd;
		const vec64 l = add_times64(across, d, s);
		const double e = dot64(l, l);
		if (e > r2) {
			y = along + slope * s;
		} else {
			const double t = s - SQRT64((r2 - e) / dd);
			if (t >= 0) {
				y = along + slope * t;
				if (y >= 0 && y <= 1)
					return (cast_result){t, unit64(add_times64(across, d, t), unit64(neg64(c->d), (vec64){0, 0, 0})), ENTERS};
			}
		}
	}
	return enter_ball(c, y > 0.5 ? sub64(q, c->o) : neg64(m), r2);
}

HELPER(LEVEL) cast_result cast_box(const local_ray *c, vec64 half) {
	const double o[3] = {c->o.x, c->o.y, c->o.z}, d[3] = {c->d.x, c->d.y, c->d.z}, h[3] = {half.x, half.y, half.z};
	int axis = -1;
	double enter = 0, exit = __builtin_inf();
	for (int k = 0; k < 3; k++) {
		const double s = __builtin_fabs(o[k]) - h[k], speed = o[k] < 0 ? -d[k] : d[k];
		if (s > 0) {
			if (!(speed < 0))
				return MISS;
			const double t = s / -speed;
			if (axis < 0 || t > enter) {
				axis = k;
				enter = t;
			}
			exit = least64((s + (h[k] + h[k])) / -speed, exit);
		} else if (speed > 0) {
			exit = least64(-s / speed, exit);
		} else if (speed < 0) {
			exit = least64((s + (h[k] + h[k])) / -speed, exit);
		}
	}
	if (axis < 0)
		return INSIDE;
	if (!(enter <= exit))
		return MISS;
	const double n = __builtin_copysign(1.0, o[axis]);
	return (cast_result){enter, {axis == 0 ? n : 0, axis == 1 ? n : 0, axis == 2 ? n : 0}, ENTERS};
}

/* Casts against what is inside of all planes, moved outwards by r: the plane by which the ray enters, or -1 if it begins inside, and when.
 * Returns 0 if it misses. */
HELPER(LEVEL) int cast_planes(const local_ray *c, const polytope *t, double r, int *at, double *when) {
	const V(w) zero = V(wset)(0), radius = V(wset)(r);
	const V(w) ox = V(wset)(c->o.x), oy = V(wset)(c->o.y), oz = V(wset)(c->o.z);
	const V(w) dx = V(wset)(c->d.x), dy = V(wset)(c->d.y), dz = V(wset)(c->d.z);
	V(w) enter = V(wset)(-1), face = zero, exit = V(wset)(__builtin_inf());
	for (uint32_t i = 0; i < t->faces; i += V(WIDE)) {
		const V(w) x = V(widen)(t->nx + i), y = V(widen)(t->ny + i), z = V(widen)(t->nz + i);
		const V(w) s = V(wsub)(V(wsub)(V(wadd)(V(wadd)(V(wmul)(x, ox), V(wmul)(y, oy)), V(wmul)(z, oz)), V(widen)(t->offset + i)), radius);
		const V(w) speed = V(wadd)(V(wadd)(V(wmul)(x, dx), V(wmul)(y, dy)), V(wmul)(z, dz));
		const V(wtruth) outside = V(wless)(zero, s);
		if (V(wbits)(V(wunless)(outside, V(wless)(speed, zero))))
			return 0;
		const V(w) when = V(wdiv)(s, V(wnegate)(speed));
		const V(wtruth) later = V(wboth)(outside, V(wless)(enter, when));
		enter = V(wchoose)(later, when, enter);
		face = V(wchoose)(later, V(wset)((double)i), face);
		exit = V(wchoose)(V(wboth)(V(wunless)(V(wless)(zero, speed), outside), V(wless)(when, exit)), when, exit);
	}
	double enters[8], faces[8], exits[8];
	V(wstore)(enters, enter);
	V(wstore)(faces, face);
	V(wstore)(exits, exit);
	double last = -1, first = __builtin_inf();
	int best = -1;
	for (int k = 0; k < V(WIDE); k++) {
		const int i = (int)faces[k] + k;
		if (enters[k] > last || (enters[k] == last && best > i)) {
			last = enters[k];
			best = i;
		}
		first = least64(exits[k], first);
	}
	*at = best;
	*when = most64(last, 0);
	return *when <= first;
}

HELPER(LEVEL) double outside(const local_ray *c, const polytope *t, uint32_t face, double r) {
	return (dot64(widened(normal_of(t, face)), c->o) - (double)t->offset[face]) - r;
}

/* Whether a point is within the sides of a face, seen along its normal. */
HELPER(LEVEL) int is_over(const polytope *t, uint32_t face, vec64 p) {
	const vec64 n = widened(normal_of(t, face));
	const uint32_t first = t->start[face], end = t->start[face + 1];
	vec64 from = widened(vertex(t, t->corners[end - 1]));
	for (uint32_t i = first; i < end; i++) {
		const vec64 to = widened(vertex(t, t->corners[i]));
		if (dot64(cross64(sub64(to, from), n), sub64(p, from)) > 0)
			return 0;
		from = to;
	}
	return 1;
}

/* Whether the ray begins in or on a polyhedron with a radius, if it begins inside of all planes, moved outwards by it. */
HELPER(LEVEL) int begins_inside(const local_ray *c, const polytope *t, double r) {
	int inside = 1;
	for (uint32_t i = 0; i < t->faces; i++)
		if (outside(c, t, i, 0) > 0) {
			inside = 0;
			if (is_over(t, i, c->o))
				return 1;
		}
	if (inside) {
		point lo = vertex(t, 0), hi = lo;
		for (uint32_t i = 0; i < t->vertices; i++) {
			const point v = vertex(t, i);
			lo = (point){least(v.x, lo.x), least(v.y, lo.y), least(v.z, lo.z)};
			hi = (point){most(v.x, hi.x), most(v.y, hi.y), most(v.z, hi.z)};
		}
		const vec64 a = sub64(c->o, widened(lo)), b = sub64(widened(hi), c->o);
		if (a.x >= 0 && a.y >= 0 && a.z >= 0 && b.x >= 0 && b.y >= 0 && b.z >= 0)
			return 1;
	}
	for (uint32_t i = 0; i < t->edges; i++) {
		const vec64 p = widened(vertex(t, t->from[i])), u = sub64(widened(vertex(t, t->to[i])), p), m = sub64(c->o, p);
		const double uu = dot64(u, u);
		if (!(uu > 0))
			continue;
		const vec64 near = add_times64(m, u, -least64(most64(dot64(m, u) / uu, 0), 1));
		if (dot64(near, near) <= r * r)
			return 1;
	}
	return 0;
}

ROUTINE(LEVEL) cast_result cast_polytope(const local_ray *c, const polytope *t, double r) {
	int face;
	double enter;
	if (!cast_planes(c, t, r, &face, &enter))
		return MISS;
	if (face >= 0 && (r == 0 || is_over(t, (uint32_t)face, add_times64(c->o, c->d, enter))))
		return (cast_result){enter, widened(normal_of(t, (uint32_t)face)), ENTERS};
	if (face < 0 && begins_inside(c, t, r))
		return INSIDE;
	cast_result best = MISS;
	if (r == 0)
		return best;
	if (cast_planes(c, t, 0, &face, &enter) && face >= 0)
		best = (cast_result){enter, widened(normal_of(t, (uint32_t)face)), ENTERS};
	for (uint32_t i = 0; i < t->faces; i++) {
		const vec64 n = widened(normal_of(t, i));
		const double s = outside(c, t, i, r), speed = dot64(n, c->d);
		if (!(s > 0 && speed < 0))
			continue;
		const double at = s / -speed;
		if ((best.how == MISSES || at < best.t) && is_over(t, i, add_times64(c->o, c->d, at)))
			best = (cast_result){at, n, ENTERS};
	}
	for (uint32_t i = 0; i < t->edges; i++) {
		const cast_result e = cast_capsule(c, widened(vertex(t, t->from[i])), widened(vertex(t, t->to[i])), r * r);
		if (e.how == ENTERS && (best.how == MISSES || e.t < best.t))
			best = e;
	}
	return best;
}

/* Boxes with a radius, and hulls. */
ROUTINE(LEVEL) cast_result cast_solid(const local_ray *c, const et_space_hulls *hulls, const et_space_target *g) {
	const et_space_shape s = {{{0, 0, 0}, {0, 0, 0, 0}}, {g->half[0], g->half[1], g->half[2]}, g->radius, (uint8_t)g->kind, g->hull};
	box_columns columns;
	polytope t;
	if (!polytope_of(hulls, &s, &columns, &t) || t.faces == 0)
		return MISS;
	return cast_polytope(c, &t, (double)g->radius);
}

HELPER(LEVEL) vec64 unrotate64(const et_space_target *g, vec64 v) {
	return (vec64){(g->x[0] * v.x + g->y[0] * v.y) + g->z[0] * v.z, (g->x[1] * v.x + g->y[1] * v.y) + g->z[1] * v.z,
	               (g->x[2] * v.x + g->y[2] * v.y) + g->z[2] * v.z};
}

/* Where a ray hits a target whose box it enters at entry. Returns 0 if it misses. */
ROUTINE(LEVEL) int cast_target(const et_space_ray *r, const et_space_hulls *hulls, const et_space_target *g, float entry, et_space_ray_hit *hit) {
	const vec64 o = wide64(r->o), d = wide64(r->d);
	local_ray c = {unrotate64(g, sub64(o, row64(g->p))), unrotate64(g, d), 0};
	c.dd = dot64(c.d, c.d);
	const double radius = (double)g->radius;
	const vec64 half = wide64(g->half);
	cast_result s;
	if (g->kind == ET_SPACE_SPHERE)
		s = cast_ball(&c, radius * radius);
	else if (g->kind == ET_SPACE_CAPSULE)
		s = cast_capsule(&c, neg64(half), half, radius * radius);
	else if (g->kind == ET_SPACE_BOX && radius == 0)
		s = cast_box(&c, half);
	else
		s = cast_solid(&c, hulls, g);
	if (s.how == MISSES || (s.how == BEGINS_INSIDE && (r->flags & ET_SPACE_SKIP_INSIDE)))
		return 0;
	*hit = (et_space_ray_hit){most((float)s.t, entry), {0, 0, 0}, {r->o[0], r->o[1], r->o[2]}, g->shape, 0};
	if (s.how == ENTERS) {
		narrow64((vec64){dot64(row64(g->x), s.normal), dot64(row64(g->y), s.normal), dot64(row64(g->z), s.normal)}, hit->normal);
		narrow64(add_times64(o, d, s.t), hit->point);
	}
	return hit->t <= r->max_t;
}

#endif
