#include "../lanes.h"
#include "polytope.h"

/* The first i below n, which is padded to 16, with a[i] == v. */
HELPER(LEVEL) uint32_t first_equal(const float *a, uint32_t n, float v) {
	const V(f) all = V(set1)(v);
	for (uint32_t i = 0; i < n; i += V(LANES)) {
		const uint32_t found = (uint32_t)V(le)(all, V(load)(a + i));
		if (found)
			return i + (uint32_t)__builtin_ctz(found);
	}
	return 0;
}

/* The vertex that is farthest along a direction. */
HELPER(LEVEL) uint32_t support(const polytope *t, point n, float *dots) {
	const V(f) x = V(set1)(n.x), y = V(set1)(n.y), z = V(set1)(n.z);
	const uint32_t end = padded(t->vertices);
	V(f) best = V(set1)(-MAX_FINITE);
	for (uint32_t i = 0; i < end; i += V(LANES)) {
		const V(f) d = SUM3(V(mul)(V(load)(t->x + i), x), V(mul)(V(load)(t->y + i), y), V(mul)(V(load)(t->z + i), z));
		V(store)(dots + i, d);
		best = V(max)(d, best);
	}
	return first_equal(dots, end, V(greatest)(best));
}

/* The distance of a point from the planes from i on. */
HELPER(LEVEL) V(f) plane_distances(const polytope *t, uint32_t i, V(f) x, V(f) y, V(f) z) {
	return V(sub)(SUM3(V(mul)(V(load)(t->nx + i), x), V(mul)(V(load)(t->ny + i), y), V(mul)(V(load)(t->nz + i), z)),
	              V(load)(t->offset + i));
}

/* The face whose normal is most opposed to n. */
HELPER(LEVEL) uint32_t opposed(const polytope *t, point n, float *dots) {
	const V(f) x = V(set1)(n.x), y = V(set1)(n.y), z = V(set1)(n.z);
	const uint32_t end = padded(t->faces);
	V(f) best = V(set1)(-MAX_FINITE);
	for (uint32_t i = 0; i < end; i += V(LANES)) {
		const V(f) d = SUM3(V(mul)(V(load)(t->nx + i), x), V(mul)(V(load)(t->ny + i), y), V(mul)(V(load)(t->nz + i), z));
		const V(f) against = V(negate)(d);
		V(store)(dots + i, against);
		best = V(max)(against, best);
	}
	return first_equal(dots, end, V(greatest)(best));
}

/* rigid3.bestFace: the face of a that separates most from b, whose frame is f, or one that separates by more than margin. */
ROUTINE(LEVEL) uint32_t best_face_of(const polytope *a, const polytope *b, const frame *f, point p, float margin, workspace *k, float *separation) {
	float *u = k->bounds;
	const uint32_t end = padded(a->faces);
	uint32_t face = 0;
	float best = -MAX_FINITE;
	for (uint32_t i = 0; i < end; i += V(LANES))
		V(store)(u + i, V(set1)(MAX_FINITE));
	for (;;) {
		const V(f) x = V(set1)(p.x), y = V(set1)(p.y), z = V(set1)(p.z);
		V(f) bounds = V(set1)(-MAX_FINITE);
		for (uint32_t i = 0; i < end; i += V(LANES)) {
			const V(f) d = V(min)(plane_distances(a, i, x, y, z), V(load)(u + i));
			V(store)(u + i, d);
			bounds = V(max)(d, bounds);
		}
		const float greatest = V(greatest)(bounds);
		if (!(greatest > best))
			break;
		const uint32_t at = first_equal(u, end, greatest);
		p = transform(f, vertex(b, support(b, turn_back(f, p_neg(normal_of(a, at))), k->dots)));
		const float s = distance_of(a, at, p);
		if (s > best) {
			face = at;
			best = s;
		}
		if (best > margin)
			break;
	}
	*separation = best;
	return face;
}

/* rigid3.Polytope.facingEdges. */
HELPER(LEVEL) uint32_t facing_edges(const polytope *t, point p, float distance, float *u, uint16_t *list) {
	const V(f) x = V(set1)(p.x), y = V(set1)(p.y), z = V(set1)(p.z);
	for (uint32_t i = 0; i < padded(t->faces); i += V(LANES))
		V(store)(u + i, plane_distances(t, i, x, y, z));
	const int all = !(distance > 0);
	uint32_t n = 0;
	for (uint32_t i = 0; i < t->edges; i++) {
		list[n] = (uint16_t)i;
		n += most(u[t->left[i]], u[t->right[i]]) >= distance * t->cosine[i] || all;
	}
	return n;
}

/* rigid3.hullPair: the frame is that of B as seen from A. */
typedef struct {
	const polytope *a, *b;
	frame pose, inverse;
} hull_pair;

typedef struct {
	uint32_t a, b;
	point normal;
	float separation;
} edge_pair;

/* Sets the columns of edges. */
static inline void fill_edges(const polytope *t, const uint16_t *edges, uint32_t n, float columns[9][ET_SPACE_EDGES]) {
	for (uint32_t x = 0; x < padded(n); x++) {
		const uint32_t i = edges[x < n ? x : 0];
		const point rows[3] = {p_sub(vertex(t, t->to[i]), vertex(t, t->from[i])), normal_of(t, t->left[i]), normal_of(t, t->right[i])};
		for (uint32_t k = 0; k < 3; k++) {
			columns[3 * k][x] = rows[k].x;
			columns[3 * k + 1][x] = rows[k].y;
			columns[3 * k + 2][x] = rows[k].z;
		}
	}
}

/* The lanes in which a column of vectors, from i on, has a negative product with p. */
HELPER(LEVEL) uint32_t against(float columns[][ET_SPACE_EDGES], uint32_t i, point p) {
	const V(f) d = SUM3(V(mul)(V(set1)(p.x), V(load)(columns[0] + i)), V(mul)(V(set1)(p.y), V(load)(columns[1] + i)),
	                    V(mul)(V(set1)(p.z), V(load)(columns[2] + i)));
	return (uint32_t)V(lt)(d, V(set1)(0.0f));
}

/* rigid3.hullPair.bestEdges. */
ROUTINE(LEVEL) edge_pair best_edges_of(const hull_pair *w, float enough, workspace *k) {
	const polytope *ta = w->a, *tb = w->b;
	const uint32_t in_a = facing_edges(ta, transform(&w->pose, tb->centre), enough + tb->inner, k->bounds, k->edges[0]);
	const uint32_t in_b = facing_edges(tb, transform(&w->inverse, ta->centre), enough + ta->inner, k->bounds, k->edges[1]);
	edge_pair best = {0, 0, {0, 0, 0}, -MAX_FINITE};
	fill_edges(ta, k->edges[0], in_a, k->columns);
	for (uint32_t y = 0; y < in_b; y++) {
		const uint32_t j = k->edges[1][y];
		const point c = p_neg(turn_by(&w->pose, normal_of(tb, tb->left[j]))), d = p_neg(turn_by(&w->pose, normal_of(tb, tb->right[j])));
		const point from_b = transform(&w->pose, vertex(tb, tb->from[j]));
		const point v = turn_by(&w->pose, p_sub(vertex(tb, tb->to[j]), vertex(tb, tb->from[j])));
		for (uint32_t x = 0; x < in_a; x += V(LANES)) {
			const uint32_t cu = against(k->columns, x, c), du = against(k->columns, x, d);
			const uint32_t av = against(k->columns + 3, x, v), bv = against(k->columns + 6, x, v);
			uint32_t crossing = (cu ^ du) & (av ^ bv) & (cu ^ av) & (uint32_t)V(first)(in_a - x);
			for (; crossing; crossing &= crossing - 1) {
				const uint32_t bit = (uint32_t)__builtin_ctz(crossing), i = k->edges[0][x + bit];
				const point from_a = vertex(ta, ta->from[i]), u = p_sub(vertex(ta, ta->to[i]), from_a);
				point n = p_cross(u, v);
				const float square = p_dot(n, n);
				if (!(square > PARALLEL_SQUARE * (p_dot(u, u) * p_dot(v, v))))
					continue;
				float l = SQRT(square);
				if (av >> bit & 1)
					l = -l;
				n = (point){n.x / l, n.y / l, n.z / l};
				const float s = p_dot(n, p_sub(from_b, from_a));
				if (s > best.separation)
					best = (edge_pair){i, j, n, s};
			}
		}
	}
	return best;
}

/* rigid3.clipSide: returns the number of corners. */
static inline uint32_t clip_side(const polygon_corner *polygon, uint32_t count, polygon_corner *out, point side, float offset, uint32_t kind, uint32_t edge) {
	uint32_t n = 0;
	if (count == 0)
		return 0;
	float dp = p_dot(side, polygon[0].p) - offset;
	for (uint32_t i = 0; i < count; i++) {
		const polygon_corner *p = &polygon[i], *q = &polygon[i + 1 < count ? i + 1 : 0];
		const float dq = p_dot(side, q->p) - offset;
		if (dp <= 0 && n < ET_SPACE_POLYGON)
			out[n++] = *p;
		if (((dp < 0 && dq > 0) || (dp > 0 && dq < 0)) && n < ET_SPACE_POLYGON) {
			const point at = p_add_times(p->p, p_sub(q->p, p->p), dp / (dp - dq));
			out[n++] = (polygon_corner){at, FEATURE(kind, edge + 1, (uint32_t)p->edge), dp < 0 ? (int32_t)(1024 + edge) : p->edge};
		}
		dp = dq;
	}
	return n;
}

static inline float area3(point a, point b, point c, point normal) { return p_dot(p_cross(p_sub(b, a), p_sub(c, a)), normal); }

/* rigid3.score. */
static inline float score(const contact_point *points, uint32_t n, uint32_t i, point normal) {
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
		return magnitude(area3(a, b, p, normal));
	const point c = points[2].p;
	if (area3(a, b, c, normal) < 0) {
		const point swapped = a;
		a = b;
		b = swapped;
	}
	return most(-area3(a, b, p, normal), most(-area3(b, c, p, normal), -area3(c, a, p, normal)));
}

/* rigid3.reduce. */
static inline void reduce_points(workspace *k, point normal) {
	if (k->count <= ET_SPACE_POINTS)
		return;
	for (uint32_t n = 0; n < ET_SPACE_POINTS; n++) {
		float best = 0;
		int at = -1;
		for (uint32_t i = n; i < k->count; i++) {
			const float s = score(k->points, n, i, normal);
			if (s > best || (n == 0 && at < 0)) {
				best = s;
				at = (int)i;
			}
		}
		if (at < 0) {
			k->count = n;
			return;
		}
		const contact_point p = k->points[at];
		memmove(&k->points[n + 1], &k->points[n], ((uint32_t)at - n) * sizeof p);
		k->points[n] = p;
	}
	k->count = ET_SPACE_POINTS;
}

/* rigid3.clipping.clipFace: sets the points, in the axes of ref, and returns whether any is left of the clipped face. */
ROUTINE(LEVEL) int clip_face(const polytope *ref, uint32_t face, const polytope *other, const frame *f, float separation, float margin, uint32_t kind, workspace *k) {
	const point normal = normal_of(ref, face);
	const uint32_t incident = opposed(other, turn_back(f, normal), k->bounds);
	polygon_corner *from = k->polygons[0], *to = k->polygons[1];
	const uint32_t first = other->start[incident];
	uint32_t n = other->start[incident + 1] - first;
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t v = other->corners[first + i];
		from[i] = (polygon_corner){transform(f, vertex(other, v)), FEATURE(kind, 0, v), other->sides[first + i]};
	}
	const uint32_t begin = ref->start[face], sides = ref->start[face + 1] - begin;
	for (uint32_t i = 0; i < sides; i++) {
		const point a = vertex(ref, ref->corners[begin + i]), b = vertex(ref, ref->corners[begin + (i + 1 < sides ? i + 1 : 0)]);
		const point side = p_cross(p_sub(b, a), normal);
		n = clip_side(from, n, to, side, p_dot(side, a), kind, ref->sides[begin + i]);
		polygon_corner *swap = from;
		from = to;
		to = swap;
	}
	k->count = 0;
	for (uint32_t i = 0; i < n; i++) {
		const float s = distance_of(ref, face, from[i].p);
		if (s <= margin)
			add_contact(k, from[i].p, s, from[i].id);
	}
	if (k->count > 0) {
		reduce_points(k, normal);
		return 1;
	}
	const uint32_t v = support(other, turn_back(f, p_neg(normal)), k->dots);
	add_contact(k, transform(f, vertex(other, v)), separation, FEATURE(kind, 0, v));
	return 0;
}

/* rigid3.collideHulls: sets normal and points. */
ROUTINE(LEVEL) void collide_hulls(const polytope *a, const polytope *b, const frame *f, float margin, workspace *k) {
	const hull_pair w = {a, b, *f, inverse_frame(f)};
	float sa, sb;
	k->count = 0;
	const uint32_t face_a = best_face_of(a, b, &w.pose, transform(&w.pose, b->centre), margin, k, &sa);
	if (sa > margin)
		return;
	const point start = transform(&w.inverse, vertex(a, a->corners[a->start[face_a]]));
	const uint32_t face_b = best_face_of(b, a, &w.inverse, start, margin, k, &sb);
	if (sb > margin)
		return;
	int clipped;
	if (sb > sa + REFERENCE_TOLERANCE) {
		const point n = normal_of(b, face_b);
		clipped = clip_face(b, face_b, a, &w.inverse, sb, margin, FACE_OF_B, k);
		for (uint32_t i = 0; i < k->count; i++) {
			contact_point *p = &k->points[i];
			p->p = transform(&w.pose, p_add_times(p->p, n, -p->separation));
		}
		k->normal = p_neg(turn_by(&w.pose, n));
	} else {
		clipped = clip_face(a, face_a, b, &w.pose, sa, margin, FACE_OF_A, k);
		k->normal = normal_of(a, face_a);
	}
	if (clipped && nearest(k) >= -EDGE_TOLERANCE)
		return;
	const float enough = most(most(sa, sb), nearest(k)) + EDGE_TOLERANCE;
	const edge_pair e = best_edges_of(&w, least(margin, enough), k);
	if (e.separation > margin) {
		k->count = 0;
	} else if (e.separation > enough) {
		const point p = vertex(a, a->from[e.a]), q = transform(f, vertex(b, b->from[e.b]));
		const point u = p_sub(vertex(a, a->to[e.a]), p), v = turn_by(f, p_sub(vertex(b, b->to[e.b]), vertex(b, b->from[e.b])));
		float t;
		closest_on_segments(p, u, q, v, &t);
		k->count = 0;
		k->normal = e.normal;
		add_contact(k, p_add_times(q, v, t), e.separation, FEATURE(EDGE_FEATURE, e.a, e.b));
	}
}
