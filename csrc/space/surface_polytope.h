/* Boxes and hulls against a triangle, as internal/rigid3/surface_polytope.go defines it. */
#ifndef EVERTICK_SPACE_SURFACE_POLYTOPE_H
#define EVERTICK_SPACE_SURFACE_POLYTOPE_H

#include "surface_gap.h"

/* Of an edge of the core. */
typedef struct {
	vec64 from, along, left, right;
} core_edge;

INLINE64 core_edge core_edge_of(const polytope *t, uint32_t i) {
	const vec64 from = widened(vertex(t, t->from[i]));
	return (core_edge){from, sub64(widened(vertex(t, t->to[i])), from), widened(normal_of(t, t->left[i])), widened(normal_of(t, t->right[i]))};
}

INLINE64 int on_arc64(vec64 n, vec64 left, vec64 right) {
	const vec64 across = cross64(left, right);
	return dot64(cross64(left, n), across) >= 0 && dot64(cross64(n, right), across) >= 0;
}

INLINE64 int same64(vec64 a, vec64 b) { return a.x == b.x && a.y == b.y && a.z == b.z; }
INLINE64 vec64 normal_of_contact(const surface_collider *k, const surface_face *f, vec64 n) {
	return same64(n, f->normal) ? f->up : to_surface(k, n);
}

INLINE64 int is_level(const surface_face *f, uint32_t top, uint32_t i, const double heights[3]) {
	return heights[top] - heights[i] <= CONE_TOLERANCE * length64(sub64(f->corners[i], f->corners[top]));
}

/* rigid3.surfaceFace.farthest. */
ROUTINE(LEVEL) void farthest_of(const surface_face *f, vec64 d, int *edge, int *corner) {
	const double heights[3] = {dot64(d, f->corners[0]), dot64(d, f->corners[1]), dot64(d, f->corners[2])};
	uint32_t top = 0;
	for (uint32_t i = 1; i < 3; i++)
		if (heights[i] > heights[top])
			top = i;
	const uint32_t next = next_of(top), last = before_of(top);
	const int on_next = is_level(f, top, next, heights), on_last = is_level(f, top, last, heights);
	*edge = on_next && on_last ? -1 : on_next ? (int)top : on_last ? (int)last : -1;
	*corner = on_next || on_last ? -1 : (int)top;
}

static int allows_face(surface_collider *k, const surface_face *f, vec64 d) {
	int edge, corner;
	farthest_of(f, d, &edge, &corner);
	if (edge >= 0)
		return allows(k, f, (uint32_t)edge, 0.5, d);
	return corner >= 0 && allows(k, f, (uint32_t)corner, 0, d);
}

/* rigid3.surfaceFace.endsTowards. */
static void ends_towards(const surface_face *f, vec64 d, int *ridge, int *flat) {
	int edge, corner;
	farthest_of(f, d, &edge, &corner);
	*ridge = *flat = 0;
	if (edge >= 0) {
		*ridge = is_ridge(f->edges[edge]);
		*flat = f->edges[edge] == ET_SPACE_FLAT;
	} else if (corner >= 0) {
		const uint8_t a = f->edges[corner], b = f->edges[before_of((uint32_t)corner)];
		*ridge = is_ridge(a) || is_ridge(b);
		*flat = a == ET_SPACE_FLAT && b == ET_SPACE_FLAT;
	}
}

/* Sets the columns of edges, unless they are set. What fills the last lanes is no axis: it has no length. */
static void set_columns(surface_collider *k) {
	if (k->has_columns)
		return;
	k->has_columns = 1;
	for (uint32_t j = 0; j < padded(k->shape->core.edges); j++) {
		core_edge e = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
		if (j < k->shape->core.edges)
			e = core_edge_of(&k->shape->core, j);
		const vec64 rows[EDGE_COLUMNS / 3] = {e.along, e.from, e.left, e.right, cross64(e.left, e.right)};
		for (int r = 0; r < EDGE_COLUMNS / 3; r++) {
			k->edges[3 * r][j] = rows[r].x;
			k->edges[3 * r + 1][j] = rows[r].y;
			k->edges[3 * r + 2][j] = rows[r].z;
		}
	}
}

/* rigid3.SurfaceCollider.bestEdges: returns the edge of the triangle, or -1. */
ROUTINE(LEVEL) int best_edges64(surface_collider *k, const surface_face *f, float least_of, int allowed, uint32_t *edge, double *most, vec64 *normal) {
	int best = -1;
	*most = (double)least_of;
	if (k->shape->core.edges <= LANE_EDGES) {
		double separations[3][LANE_EDGES];
		set_columns(k);
		k->lanes->edge_axes(k, f->corners, separations);
		for (uint32_t j = 0; j < k->shape->core.edges; j++)
			for (uint32_t i = 0; i < 3; i++) {
				const double d = separations[i][j];
				vec64 n;
				if (!(d > *most) || (allowed && !is_ridge(f->edges[i])))
					continue;
				edge_axis(f, i, core_edge_of(&k->shape->core, j).along, &n);
				if (!allowed || edge_allows(k, f, i, to_surface(k, n))) {
					best = (int)i;
					*edge = j;
					*most = d;
					*normal = n;
				}
			}
		return best;
	}
	for (uint32_t j = 0; j < k->shape->core.edges; j++) {
		const core_edge e = core_edge_of(&k->shape->core, j);
		for (uint32_t i = 0; i < 3; i++) {
			vec64 n;
			if ((allowed && !is_ridge(f->edges[i])) || !edge_axis(f, i, e.along, &n) || !on_arc64(neg64(n), e.left, e.right))
				continue;
			const double d = dot64(n, sub64(e.from, f->corners[i]));
			if (d > *most && (!allowed || edge_allows(k, f, i, to_surface(k, n)))) {
				best = (int)i;
				*edge = j;
				*most = d;
				*normal = n;
			}
		}
	}
	return best;
}

ROUTINE(LEVEL) int edge_of_polytope(surface_collider *k, const surface_face *f, float least_of, uint32_t first) {
	uint32_t edge = 0;
	double most;
	vec64 normal = {0, 0, 0};
	const int best = best_edges64(k, f, least_of, 1, &edge, &most, &normal);
	if (best < 0)
		return 0;
	const uint32_t i = (uint32_t)best;
	const core_edge e = core_edge_of(&k->shape->core, edge);
	const point from = narrowed(e.from), along = narrowed(e.along);
	float at;
	closest_on_segments(narrowed(f->corners[i]), narrowed(sub64(f->corners[next_of(i)], f->corners[i])), from, along, &at);
	k->point_count = first;
	contact_of_point(k, f, to_surface(k, normal), (contact_point){p_add_times(from, along, at), (float)most, edge_id(f, i, edge)}, 0, (vec64){0, 0, 0});
	return 1;
}

ROUTINE(LEVEL) void closest_features(surface_collider *k, surface_face *f, vec64 normal, const core_gap *g, uint32_t low, uint32_t first) {
	const vec64 on_b = add_times64(g->on_a, g->normal, g->distance);
	double at, square;
	vec64 closest;
	const uint32_t edge = closest_on_sides(f, g->on_a, &at, &closest, &square);
	const double length = length64(sub64(f->corners[next_of(edge)], f->corners[edge]));
	if (at * length <= SIDE_TOLERANCE)
		at = 0;
	else if ((1 - at) * length <= SIDE_TOLERANCE)
		at = 1;
	const uint32_t v = support64(&k->shape->core, k->shape->is_box, neg64(g->normal));
	contact_point p = {narrowed(on_b), (float)g->distance, VERTEX_ID(v)};
	if (length64(sub64(on_b, widened(vertex(&k->shape->core, v)))) > SIDE_TOLERANCE)
		p.id = edge_id(f, edge, ET_SPACE_EDGES);
	if (dot64(g->normal, f->normal) > 0.9999999) {
		k->point_count = first;
		contact_of_point(k, f, f->up, p, 0, (vec64){0, 0, 0});
	} else if (allows(k, f, edge, at, g->normal)) {
		k->point_count = first;
		contact_of_point(k, f, to_surface(k, g->normal), p, 0, (vec64){0, 0, 0});
	} else {
		contact_of_points(k, f, normal_of_contact(k, f, normal), first);
		if (dot64(g->normal, f->normal) > 0) {
			p.id = VERTEX_ID(low);
			contact_of_point(k, f, f->up, p, 1, to_surface(k, g->normal));
		}
	}
}

ROUTINE(LEVEL) void add_spare(surface_collider *k, const surface_face *f, uint32_t low, float overlap, vec64 toward) {
	const double along = dot64(toward, f->normal);
	if (along <= 0) {
		if (overlap > 0 && along > -0.999)
			return;
		toward = f->normal;
		overlap = least(overlap, 0);
	}
	contact_of_point(k, f, f->up, (contact_point){vertex(&k->shape->core, low), overlap, VERTEX_ID(low)}, 1, to_surface(k, toward));
}

ROUTINE(LEVEL) void add_overlap(surface_collider *k, const surface_face *f, uint32_t low, float depth) {
	if (!f->convex || !edge_of_polytope(k, f, depth + EDGE_TOLERANCE, k->point_count))
		add_spare(k, f, low, most(depth, k->most), f->normal);
}

ROUTINE(LEVEL) int replace_deep(surface_collider *k, const surface_face *f, float nearest, uint32_t low, uint32_t first) {
	vec64 toward = neg64(widened(normal_of(&k->shape->core, k->most_plane))), n = {0, 0, 0};
	double overlap = (double)k->most, d;
	uint32_t edge;
	if (best_edges64(k, f, k->most, 0, &edge, &d, &n) >= 0) {
		toward = n;
		overlap = d;
	}
	if (f->convex && edge_of_polytope(k, f, most(nearest, (float)overlap - REFERENCE_TOLERANCE) + EDGE_TOLERANCE, first))
		return 1;
	int ridge, flat;
	ends_towards(f, toward, &ridge, &flat);
	if (overlap > (double)(nearest + EDGE_TOLERANCE) && (ridge || (overlap > 0 && !flat))) {
		k->point_count = first;
		add_spare(k, f, low, (float)overlap, toward);
		return 1;
	}
	return 0;
}

/* rigid3.SurfaceCollider.addFitting. */
ROUTINE(LEVEL) void add_fitting(surface_collider *k, surface_face *f, vec64 normal, uint32_t low, float depth, uint32_t first) {
	const float nearest = nearest_from(k, first);
	if (!f->flat && nearest < -EDGE_TOLERANCE) {
		if (replace_deep(k, f, nearest, low, first))
			return;
	} else if (!f->flat && nearest > most(most(depth, k->most), 0) + REFERENCE_TOLERANCE) {
		core_gap g;
		const int apart = gap_of(k, f, &g);
		if (apart && (float)g.distance < nearest - REFERENCE_TOLERANCE) {
			closest_features(k, f, normal, &g, low, first);
			return;
		}
		if (!apart) {
			contact_of_points(k, f, normal_of_contact(k, f, normal), first);
			add_overlap(k, f, low, depth);
			return;
		}
	}
	contact_of_points(k, f, normal_of_contact(k, f, normal), first);
}

static void beside_triangle(surface_collider *k, surface_face *f, uint32_t low, float depth) {
	core_gap g;
	if (!gap_of(k, f, &g))
		add_overlap(k, f, low, depth);
	else if (g.distance <= (double)k->shape->margin)
		closest_features(k, f, f->normal, &g, low, k->point_count);
}

/* rigid3.clipSide. */
ROUTINE(LEVEL) uint32_t clip_corners(const polygon_corner *polygon, uint32_t count, polygon_corner *out, point side, float offset, uint32_t edge) {
	uint32_t n = 0;
	if (count == 0)
		return 0;
	const float start = p_dot(side, polygon[0].p) - offset;
	float dp = start;
	for (uint32_t i = 0; i < count; i++) {
		const polygon_corner *p = &polygon[i], *q = &polygon[i + 1 < count ? i + 1 : 0];
		const float dq = i + 1 < count ? p_dot(side, q->p) - offset : start;
		if (dp <= 0 && n < ET_SPACE_POLYGON)
			out[n++] = *p;
		if (((dp < 0 && dq > 0) || (dp > 0 && dq < 0)) && n < ET_SPACE_POLYGON) {
			const point at = p_add_times(p->p, p_sub(q->p, p->p), dp / (dp - dq));
			out[n++] = (polygon_corner){at, FEATURE(EDGES_MEET, edge + 1, (uint32_t)p->edge), dp < 0 ? (int32_t)(1024 + edge) : p->edge};
		}
		dp = dq;
	}
	return n;
}

/* The face whose normal is most opposed to n: rigid3.Polytope.opposed. */
static uint32_t opposed_face(const polytope *t, point n) {
	float best = MAX_FINITE;
	uint32_t at = 0;
	for (uint32_t i = 0; i < t->faces; i++) {
		const float d = p_dot(normal_of(t, i), n);
		if (d < best) {
			best = d;
			at = i;
		}
	}
	return at;
}

static void clip_to_triangle(surface_collider *k, surface_face *f) {
	const polytope *t = &k->shape->core;
	const uint32_t in = opposed_face(t, narrowed(f->normal)), begin = t->start[in];
	polygon_corner *from = k->memory.polygons[0], *to = k->memory.polygons[1];
	uint32_t count = t->start[in + 1] - begin;
	for (uint32_t i = 0; i < count; i++) {
		const uint32_t v = t->corners[begin + i];
		from[i] = (polygon_corner){vertex(t, v), VERTEX_ID(v), t->sides[begin + i]};
	}
	for (uint32_t i = 0; i < 3; i++) {
		set_side(f, i);
		count = clip_corners(from, count, to, narrowed(f->side[i]), (float)(f->beside[i] + SIDE_TOLERANCE), i);
		polygon_corner *swap = from;
		from = to;
		to = swap;
	}
	for (uint32_t i = 0; i < count; i++) {
		contact_point p = {from[i].p, (float)height_of(f, widened(from[i].p)), from[i].id};
		if (!(p.separation <= k->shape->margin))
			continue;
		if (p.id >> 30 == EDGES_MEET) {
			const uint32_t side = (p.id >> 15 & 0x7fff) - 1, edge = p.id & 0x7fff, other = edge - 1024;
			if (edge < 1024)
				p.id = edge_id(f, side, edge);
			else
				p.id = corner_id(f, next_of(side) == other ? other : side);
		}
		append_point(k, p);
	}
}

ROUTINE(LEVEL) int face_of_polytope(surface_collider *k, surface_face *f, float depth, uint32_t low) {
	const polytope *t = &k->shape->core;
	int best = -1;
	float greatest = depth + REFERENCE_TOLERANCE;
	for (uint32_t i = 0; i < t->faces; i++) {
		const float s = k->bounds[i];
		if (s > greatest && allows_face(k, f, neg64(widened(normal_of(t, i))))) {
			best = (int)i;
			greatest = s;
		}
	}
	if (best < 0)
		return 0;
	const uint32_t face = (uint32_t)best, begin = t->start[face], sides = t->start[face + 1] - begin;
	const point normal = normal_of(t, face);
	polygon_corner *from = k->memory.polygons[0], *to = k->memory.polygons[1];
	uint32_t count = 3;
	for (uint32_t i = 0; i < 3; i++)
		from[i] = (polygon_corner){narrowed(f->corners[i]), FEATURE(VERTEX_OF_MESH, 0, i), (int32_t)i};
	for (uint32_t i = 0; i < sides; i++) {
		const point a = vertex(t, t->corners[begin + i]), b = vertex(t, t->corners[begin + (i + 1 < sides ? i + 1 : 0)]);
		const point side = p_unit(p_cross(p_sub(b, a), normal), (point){0, 0, 0});
		count = clip_corners(from, count, to, side, p_dot(side, a) + (float)SIDE_TOLERANCE, i);
		polygon_corner *swap = from;
		from = to;
		to = swap;
	}
	const uint32_t first = k->point_count;
	for (uint32_t i = 0; i < count; i++) {
		contact_point p = {from[i].p, distance_of(t, face, from[i].p), from[i].id};
		if (p.separation > k->shape->margin)
			continue;
		p.p = p_add_times(p.p, normal, -p.separation);
		const uint32_t edge = p.id & 0x7fff;
		if (p.id >> 30 == VERTEX_OF_MESH) {
			p.id = corner_id(f, edge);
		} else {
			uint32_t side = (p.id >> 15 & 0x7fff) - 1;
			if (edge < 1024) {
				p.id = edge_id(f, edge, t->sides[begin + side]);
			} else {
				const uint32_t other = edge - 1024;
				if ((side + 1 < sides ? side + 1 : 0) == other)
					side = other;
				p.id = VERTEX_ID(t->corners[begin + side]);
			}
		}
		append_point(k, p);
	}
	if (k->point_count == first)
		return 0;
	add_fitting(k, f, neg64(widened(normal)), low, depth, first);
	return 1;
}

ROUTINE(LEVEL) void collide_polytope(surface_collider *k, surface_face *f) {
	const uint32_t low = support64(&k->shape->core, k->shape->is_box, neg64(f->normal));
	const point lowest = vertex(&k->shape->core, low);
	const float depth = (float)height_of(f, widened(lowest));
	if (depth > k->shape->margin)
		return;
	if (f->convex && depth < -EDGE_TOLERANCE && k->most > depth + REFERENCE_TOLERANCE && face_of_polytope(k, f, depth, low))
		return;
	if (f->away)
		return;
	const uint32_t first = k->point_count;
	clip_to_triangle(k, f);
	if (is_above(f, widened(lowest)))
		append_point(k, (contact_point){lowest, depth, VERTEX_ID(low)});
	if (k->point_count > first)
		add_fitting(k, f, f->normal, low, depth, first);
	else if (f->convex || (k->most <= 0 && depth <= 0))
		beside_triangle(k, f, low, depth);
}

#endif
