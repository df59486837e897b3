/* The manifolds of the contacts of a shape with triangles, as internal/rigid3/surface_merge.go defines them. */
#ifndef EVERTICK_SPACE_SURFACE_MERGE_H
#define EVERTICK_SPACE_SURFACE_MERGE_H

#include "surface_faces.h"

#define MERGE_COSINE 0.999
#define CROWDED_COSINE 0.9

/* By depth, then as the triangles. */
static int comes_first(const face_contact *a, const face_contact *b) {
	return a->depth != b->depth ? a->depth < b->depth : a->first < b->first;
}

static void sort_contacts(surface_collider *k) {
	for (uint32_t i = 1; i < k->contact_count; i++) {
		const face_contact c = k->contacts[i];
		uint32_t at = i;
		for (; at > 0 && comes_first(&c, &k->contacts[at - 1]); at--)
			k->contacts[at] = k->contacts[at - 1];
		k->contacts[at] = c;
	}
}

static void drop_covered(surface_collider *k) {
	for (uint32_t i = 0; i < k->contact_count; i++) {
		face_contact *c = &k->contacts[i];
		if (!c->spare)
			continue;
		int covered = 0;
		for (uint32_t j = 0; j < k->contact_count && !covered; j++) {
			const face_contact *o = &k->contacts[j];
			if (o->depth > c->depth + LINEAR_SLOP)
				break;
			covered = !o->spare && dot64(o->normal, c->toward) > 0;
		}
		c->spare = covered;
	}
}

/* Returns the number of manifolds. */
static int merge_contacts(surface_collider *k) {
	sort_contacts(k);
	drop_covered(k);
	vec64 normals[ET_SPACE_MANIFOLDS];
	int manifolds = 0;
	for (uint32_t i = 0; i < k->contact_count; i++) {
		face_contact *c = &k->contacts[i];
		if (c->spare) {
			c->cluster = -1;
			continue;
		}
		int best = -1;
		double most = CROWDED_COSINE;
		for (int j = 0; j < manifolds; j++) {
			const double d = dot64(normals[j], c->normal);
			if (d > most) {
				best = j;
				most = d;
			}
		}
		if (most < MERGE_COSINE && manifolds < ET_SPACE_MANIFOLDS) {
			best = manifolds;
			normals[manifolds++] = c->normal;
		}
		c->cluster = best;
	}
	return manifolds;
}

static inline int has_lower_id(const contact_point *a, const contact_point *b) {
	return a->id != b->id ? a->id < b->id : a->separation < b->separation;
}

/* Sorts by ID, then separation, and keeps the order of equals. Returns where the points are: in either memory. */
static contact_point *sort_points(contact_point *from, contact_point *to, uint32_t n) {
	for (uint32_t begin = 0; begin < n; begin += 8) {
		const uint32_t end = begin + 8 < n ? begin + 8 : n;
		for (uint32_t i = begin + 1; i < end; i++) {
			const contact_point p = from[i];
			uint32_t at = i;
			for (; at > begin && has_lower_id(&p, &from[at - 1]); at--)
				from[at] = from[at - 1];
			from[at] = p;
		}
	}
	for (uint32_t run = 8; run < n; run *= 2) {
		for (uint32_t begin = 0; begin < n; begin += 2 * run) {
			const uint32_t middle = begin + run < n ? begin + run : n, end = begin + 2 * run < n ? begin + 2 * run : n;
			uint32_t a = begin, b = middle;
			for (uint32_t i = begin; i < end; i++)
				to[i] = a < middle && (b == end || !has_lower_id(&from[b], &from[a])) ? from[a++] : from[b++];
		}
		contact_point *swap = from;
		from = to;
		to = swap;
	}
	return from;
}

static inline float twice_area(point a, point b, point c, point normal) { return p_dot(p_cross(p_sub(b, a), p_sub(c, a)), normal); }

/* rigid3.score. */
static float score_of(const contact_point *points, uint32_t n, uint32_t i, point normal) {
	const point p = points[i].p;
	if (n == 0)
		return -points[i].separation;
	point a = points[0].p;
	if (n == 1) {
		const point d = p_sub(p, a);
		return p_dot(d, d);
	}
	point b = points[1].p;
	if (n == 2)
		return magnitude(twice_area(a, b, p, normal));
	const point c = points[2].p;
	if (twice_area(a, b, c, normal) < 0) {
		const point swapped = a;
		a = b;
		b = swapped;
	}
	return most(-twice_area(a, b, p, normal), most(-twice_area(b, c, p, normal), -twice_area(c, a, p, normal)));
}

/* rigid3.reduce: returns the number of points that are left. */
static uint32_t reduce_picked(contact_point *points, uint32_t count, point normal) {
	if (count <= ET_SPACE_POINTS)
		return count;
	for (uint32_t n = 0; n < ET_SPACE_POINTS; n++) {
		float best = 0;
		int at = -1;
		for (uint32_t i = n; i < count; i++) {
			const float s = score_of(points, n, i, normal);
			if (s > best || (n == 0 && at < 0)) {
				best = s;
				at = (int)i;
			}
		}
		if (at < 0)
			return n;
		const contact_point p = points[at];
		memmove(&points[n + 1], &points[n], ((uint32_t)at - n) * sizeof p);
		points[n] = p;
	}
	return ET_SPACE_POINTS;
}

/* Appends the points of a cluster that are inner ones, or that are not. */
static uint32_t pick_points(surface_collider *k, int cluster, int inner, uint32_t n) {
	for (uint32_t i = 0; i < k->contact_count; i++) {
		const face_contact *c = &k->contacts[i];
		for (uint32_t j = c->first; c->cluster == cluster && j < c->end; j++)
			if ((k->points[j].id >> 30 == INNER_POINT) == inner)
				k->picked[n++] = k->points[j];
	}
	return n;
}

/* rigid3.SurfaceCollider.write. */
static void write_cluster(surface_collider *k, int cluster, const pose64 *axes, point origin, point apart, et_space_surface_manifold *out) {
	vec64 normal = {0, 0, 0};
	float deepest[2] = {MAX_FINITE, MAX_FINITE};
	memset(out, 0, sizeof *out);
	for (uint32_t i = 0; i < k->contact_count; i++) {
		const face_contact *c = &k->contacts[i];
		if (c->cluster != cluster)
			continue;
		if (deepest[0] == MAX_FINITE && deepest[1] == MAX_FINITE) {
			normal = c->normal;
			out->face = c->face;
		}
		for (uint32_t j = c->first; j < c->end; j++) {
			const uint32_t inner = k->points[j].id >> 30 == INNER_POINT;
			deepest[inner] = least(k->points[j].separation, deepest[inner]);
		}
	}
	uint32_t count = pick_points(k, cluster, 0, 0);
	if (deepest[1] < deepest[0] - REFERENCE_TOLERANCE)
		count = pick_points(k, cluster, 1, count);
	contact_point *points = sort_points(k->picked, k->memory.spare, count);
	uint32_t kept = 0;
	for (uint32_t i = 0; i < count; i++)
		if (kept == 0 || points[i].id != points[kept - 1].id)
			points[kept++] = points[i];
	const point n = narrowed(to_axes(k, normal));
	count = reduce_picked(points, kept, n);
	for (uint32_t i = 1; i < count; i++)
		for (uint32_t j = i; j > 0 && points[j].id < points[j - 1].id; j--) {
			const contact_point p = points[j];
			points[j] = points[j - 1];
			points[j - 1] = p;
		}
	narrow64(rotate64(&k->frame, normal), out->manifold.normal);
	out->manifold.count = count;
	for (uint32_t i = 0; i < count; i++) {
		const contact_point *p = &points[i];
		et_space_manifold_point *to = &out->manifold.points[i];
		const point middle = p_add_times(p->p, n, -0.5f * (p->separation + k->shape->radius));
		const point b = p_add(narrowed(rotate64(axes, widened(middle))), origin), a = p_add(b, apart);
		memcpy(to->anchor_b, &b, sizeof to->anchor_b);
		memcpy(to->anchor_a, &a, sizeof to->anchor_a);
		to->separation = p->separation - k->shape->radius;
		to->id = p->id;
	}
}

static float least_separation(const et_space_manifold *m) {
	float s = m->points[0].separation;
	for (uint32_t i = 1; i < m->count; i++)
		s = least(m->points[i].separation, s);
	return s;
}

static void sort_manifolds(et_space_surface_manifold *m, int n) {
	for (int i = 1; i < n; i++) {
		const et_space_surface_manifold moved = m[i];
		const float depth = least_separation(&moved.manifold);
		int at = i;
		for (; at > 0 && depth < least_separation(&m[at - 1].manifold); at--)
			m[at] = m[at - 1];
		if (at < i)
			m[at] = moved;
	}
}

#endif
