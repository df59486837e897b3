/* Spheres and capsules against a triangle, as internal/rigid3/surface_round.go defines it. */
#ifndef EVERTICK_SPACE_SURFACE_ROUND_H
#define EVERTICK_SPACE_SURFACE_ROUND_H

#include "surface_faces.h"

typedef struct {
	point p, q;
} core_segment;

static inline point on_core(const core_segment *s, float t) { return p_add_times(s->p, p_sub(s->q, s->p), t); }

ROUTINE(LEVEL) void collide_sphere(surface_collider *k, surface_face *f) {
	const vec64 origin = {0, 0, 0};
	const double height = -f->offset, margin = (double)k->shape->margin;
	if (height > margin)
		return;
	if (is_above(f, origin)) {
		contact_of_point(k, f, f->up, (contact_point){{0, 0, 0}, (float)height, VERTEX_ID(0)}, 0, origin);
		return;
	}
	if (f->away)
		return;
	double at, square;
	vec64 closest;
	const uint32_t edge = closest_on_sides(f, origin, &at, &closest, &square);
	if (!(square <= margin * margin))
		return;
	const vec64 way = neg64(closest);
	const double distance = length64(way);
	const vec64 d = unit64(way, f->normal);
	const contact_point p = {{0, 0, 0}, (float)distance, VERTEX_ID(0)};
	if (allows(k, f, edge, at, d))
		contact_of_point(k, f, to_surface(k, d), p, 0, origin);
	else
		contact_of_point(k, f, f->up, p, 1, to_surface(k, d));
}

/* rigid3.SurfaceCollider.clipSegment. */
static int clip_core(surface_collider *k, surface_face *f, vec64 p, vec64 q, double hp, double hq) {
	int cut = -1;
	double lo = 0, hi = 1;
	uint32_t id_lo = VERTEX_ID(0), id_hi = VERTEX_ID(1);
	for (uint32_t i = 0; i < 3; i++) {
		const int where = where_of(f, i, p) + where_of(f, i, q);
		if (where == 2)
			return -1;
		if (where == -2)
			continue;
		set_side(f, i);
		const double dp = (dot64(f->side[i], p) - f->beside[i]) - SIDE_TOLERANCE, dq = (dot64(f->side[i], q) - f->beside[i]) - SIDE_TOLERANCE;
		if (dp > 0 && dq > 0)
			return -1;
		if (dp > 0 || dq > 0) {
			const double at = dp / (dp - dq);
			if (dp > 0 && at > lo) {
				lo = at;
				id_lo = edge_id(f, i, 0);
				if (hp > hq)
					cut = (int)i;
			} else if (dq > 0 && at < hi) {
				hi = at;
				id_hi = edge_id(f, i, 0);
				if (hp <= hq)
					cut = (int)i;
			}
		}
	}
	if (lo > hi)
		return -1;
	const vec64 along = sub64(q, p);
	const float low = (float)(hp + (hq - hp) * lo), high = (float)(hp + (hq - hp) * hi);
	if (low <= k->shape->margin)
		append_point(k, (contact_point){narrowed(add_times64(p, along, lo)), low, id_lo});
	if (high <= k->shape->margin && hi > lo)
		append_point(k, (contact_point){narrowed(add_times64(p, along, hi)), high, id_hi});
	return cut;
}

/* rigid3.sideContact. */
typedef struct {
	point on_a, on_b;
	float square;
	uint32_t edge;
	float at;
	uint32_t on_shape; /* 0 and 1 for an end, else 2 */
} side_contact;

/* rigid3.surfaceFace.closestToSegment. */
static side_contact closest_to_core(surface_face *f, vec64 p, vec64 q, double hp, double hq, int *above) {
	const core_segment n = {narrowed(p), narrowed(q)};
	const point along = p_sub(n.q, n.p);
	side_contact c = {{0, 0, 0}, {0, 0, 0}, MAX_FINITE, 0, 0, 2};
	for (uint32_t i = 0; i < 3; i++) {
		const point from = narrowed(f->corners[i]), edge = narrowed(sub64(f->corners[next_of(i)], f->corners[i]));
		float y;
		const float x = closest_on_segments(from, edge, n.p, along, &y);
		const point on_a = p_add_times(from, edge, x), on_b = on_core(&n, y), d = p_sub(on_b, on_a);
		const float square = p_dot(d, d);
		if (square < c.square)
			c = (side_contact){on_a, on_b, square, i, x, y == 0 ? 0 : y == 1 ? 1 : 2};
	}
	const double limit = (double)c.square * 1.000001;
	*above = (hp >= 0 && hp * hp <= limit && is_above(f, p)) || (hq >= 0 && hq * hq <= limit && is_above(f, q));
	if (*above) {
		const float h = (float)min64(hp, hq);
		if (h >= 0)
			c.square = least(h * h, c.square);
	}
	return c;
}

static uint32_t side_id(const surface_face *f, const side_contact *c) {
	return c->on_shape < 2 ? VERTEX_ID(c->on_shape) : edge_id(f, c->edge, 0);
}

/* rigid3.besidePoints, with the IDs of pointsBeside. */
static void points_along(surface_collider *k, const surface_face *f, const core_segment *a, const core_segment *b, point n, uint32_t edge) {
	const point u = p_sub(a->q, a->p), v = p_sub(b->q, b->p), across = p_cross(u, v);
	const float uu = p_dot(u, u), vv = p_dot(v, v);
	if (!(uu > MIN_DIVISOR && vv > MIN_DIVISOR && p_dot(across, across) < PARALLEL_SEGMENTS * (uu * vv)))
		return;
	const float from = p_dot(u, p_sub(b->p, a->p)) / uu, to = p_dot(u, p_sub(b->q, a->p)) / uu, slope = to - from;
	float ends[2] = {clamp01(-from / slope), clamp01((1 - from) / slope)};
	if (slope < 0) {
		const float swap = ends[0];
		ends[0] = ends[1];
		ends[1] = swap;
	}
	if (!((ends[1] - ends[0]) * SQRT(vv) > LINEAR_SLOP))
		return;
	uint32_t found = 0;
	for (uint32_t i = 0; i < 2; i++) {
		const point p = on_core(b, ends[i]), on_a = on_core(a, clamp01(p_dot(u, p_sub(p, a->p)) / uu));
		const float separation = p_dot(n, p_sub(p, on_a));
		if (separation <= k->shape->margin)
			append_point(k, (contact_point){p, separation, edge_id(f, edge, 1 + found++)});
	}
}

static void points_beside(surface_collider *k, const surface_face *f, vec64 p, vec64 q, const side_contact *c, float distance, vec64 d) {
	const uint32_t first = k->point_count;
	const core_segment edge = {narrowed(f->corners[c->edge]), narrowed(f->corners[next_of(c->edge)])}, core = {narrowed(p), narrowed(q)};
	points_along(k, f, &edge, &core, narrowed(d), c->edge);
	if (k->point_count == first)
		append_point(k, (contact_point){c->on_b, distance, side_id(f, c)});
	contact_of_points(k, f, to_surface(k, d), first);
}

/* rigid3.surfaceFace.bestEdge: -1 if there is none. */
ROUTINE(LEVEL) int best_edge(surface_collider *k, const surface_face *f, vec64 p, vec64 q, int allowed, double *most, vec64 *normal) {
	int best = -1;
	const vec64 along = sub64(q, p);
	*most = (double)-MAX_FINITE;
	for (uint32_t i = 0; i < 3; i++) {
		vec64 n;
		if (!is_ridge(f->edges[i]) || !edge_axis(f, i, along, &n))
			continue;
		const double d = dot64(n, sub64(p, f->corners[i]));
		if (d > *most && (!allowed || edge_allows(k, f, i, n))) {
			best = (int)i;
			*most = d;
			*normal = n;
		}
	}
	return best;
}

static int edge_through(surface_collider *k, const surface_face *f, vec64 p, vec64 q, float depth) {
	if (!f->convex)
		return 0;
	double most;
	vec64 normal;
	const int best = best_edge(k, f, p, q, 1, &most, &normal);
	if (best < 0 || !(most > (double)(depth + EDGE_TOLERANCE)))
		return 0;
	const uint32_t i = (uint32_t)best;
	const core_segment s = {narrowed(p), narrowed(q)};
	float at;
	closest_on_segments(narrowed(f->corners[i]), narrowed(sub64(f->corners[next_of(i)], f->corners[i])), s.p, p_sub(s.q, s.p), &at);
	contact_of_point(k, f, to_surface(k, normal), (contact_point){on_core(&s, at), (float)most, edge_id(f, i, 0)}, 0, (vec64){0, 0, 0});
	return 1;
}

/* What a capsule that passes through the plane within the triangle touches. */
ROUTINE(LEVEL) void collide_through(surface_collider *k, surface_face *f, vec64 p, vec64 q, double hp, double hq, uint32_t first) {
	const float deepest = (float)min64(hp, hq);
	if (edge_through(k, f, p, q, deepest))
		return;
	if (k->point_count == first)
		append_point(k, (contact_point){narrowed(hq < hp ? q : p), deepest, VERTEX_ID(hq < hp)});
	const float nearest = nearest_from(k, first);
	if (nearest < -EDGE_TOLERANCE && f->convex) {
		double overlap;
		vec64 d;
		if (best_edge(k, f, p, q, 0, &overlap, &d) >= 0 && overlap > (double)(nearest + EDGE_TOLERANCE)) {
			contact_point c = k->points[first];
			c.separation = least((float)overlap, 0);
			k->point_count = first;
			if (dot64(d, f->normal) <= 0)
				d = f->normal;
			contact_of_point(k, f, f->up, c, 1, d);
			return;
		}
	}
	contact_of_points(k, f, f->up, first);
}

static void collide_capsule(surface_collider *k, surface_face *f) {
	const vec64 p = neg64(k->shape->half), q = k->shape->half;
	if (p.x == q.x && p.y == q.y && p.z == q.z) {
		collide_sphere(k, f);
		return;
	}
	const double hp = height_of(f, p), hq = height_of(f, q);
	if (min64(hp, hq) > (double)k->shape->margin || f->away)
		return;
	const uint32_t first = k->point_count;
	const int cut = clip_core(k, f, p, q, hp, hq);
	if ((hp < 0) != (hq < 0) && is_above(f, add_times64(p, sub64(q, p), hp / (hp - hq)))) {
		collide_through(k, f, p, q, hp, hq, first);
		return;
	}
	const int clipped = k->point_count > first, below = clipped && nearest_from(k, first) < 0;
	if (below && (f->flat || (cut >= 0 && f->edges[cut] == ET_SPACE_FLAT))) {
		contact_of_points(k, f, f->up, first);
		return;
	}
	int above;
	const side_contact c = closest_to_core(f, p, q, hp, hq, &above);
	if (!(c.square <= k->shape->margin * k->shape->margin)) {
		k->point_count = first;
		return;
	}
	const float distance = SQRT(c.square);
	const vec64 d = unit64(widened(p_sub(c.on_b, c.on_a)), f->normal);
	const int fits = clipped && !below && nearest_from(k, first) <= distance + REFERENCE_TOLERANCE;
	if (fits && (above || dot64(d, f->normal) > 0.999)) {
		contact_of_points(k, f, f->up, first);
	} else if (allows(k, f, c.edge, (double)c.at, d)) {
		k->point_count = first;
		points_beside(k, f, p, q, &c, distance, d);
	} else {
		if (below)
			k->point_count = first;
		contact_of_points(k, f, f->up, first);
		if (!fits && dot64(d, f->normal) > 0)
			contact_of_point(k, f, f->up, (contact_point){c.on_b, distance, side_id(f, &c)}, 1, d);
	}
}

#endif
