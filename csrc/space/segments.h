#include "hulls.h"

/* The core of a capsule, or of a sphere, whose ends are the same. */
typedef struct {
	point p, q;
} segment;

static inline point on_segment(const segment *s, float t) { return p_add_times(s->p, p_sub(s->q, s->p), t); }

/* rigid3.closest. */
typedef struct {
	point on_a, on_b;
	float square;
	int face;
	uint32_t edge, id;
} closest;

static inline void closer(closest *c, point on_a, point on_b, int face, uint32_t edge, uint32_t id) {
	const point d = p_sub(on_b, on_a);
	const float square = p_dot(d, d);
	if (square < c->square)
		*c = (closest){on_a, on_b, square, face, edge, id};
}

/* Whether a point is within the sides of a face. */
static inline int is_above(const polytope *t, uint32_t face, point p) {
	const uint32_t begin = t->start[face], n = t->start[face + 1] - begin;
	const point normal = normal_of(t, face);
	for (uint32_t i = 0; i < n; i++) {
		const point from = vertex(t, t->corners[begin + i]), to = vertex(t, t->corners[begin + (i + 1 < n ? i + 1 : 0)]);
		if (p_dot(p_cross(p_sub(to, from), normal), p_sub(p, from)) > 0)
			return 0;
	}
	return 1;
}

/* rigid3.Polytope.closestToEnd. */
HELPER(LEVEL) void closest_to_end(const polytope *t, point p, uint32_t end, float *dots, closest *c) {
	const V(f) x = V(set1)(p.x), y = V(set1)(p.y), z = V(set1)(p.z);
	const uint32_t n = padded(t->faces);
	V(f) best = V(set1)(-MAX_FINITE);
	for (uint32_t i = 0; i < n; i += V(LANES)) {
		const V(f) d = plane_distances(t, i, x, y, z);
		V(store)(dots + i, d);
		best = V(max)(d, best);
	}
	const float distance = V(greatest)(best);
	if (!(distance > 0))
		return;
	const uint32_t at = first_equal(dots, n, distance);
	if (is_above(t, at, p))
		closer(c, p_add_times(p, normal_of(t, at), -distance), p, (int)at, 0, FEATURE(FACE_OF_A, 0, end));
}

/* rigid3.Polytope.closestEdge. */
static inline void closest_edge(const polytope *t, const segment *s, const float *u, float apart, closest *c) {
	const point along = p_sub(s->q, s->p);
	for (uint32_t i = 0; i < t->edges; i++) {
		if (apart > 0 && !(most(u[t->left[i]], u[t->right[i]]) >= apart * t->cosine[i]))
			continue;
		const point from = vertex(t, t->from[i]), edge = p_sub(vertex(t, t->to[i]), from);
		float y;
		const float x = closest_on_segments(from, edge, s->p, along, &y);
		closer(c, p_add_times(from, edge, x), on_segment(s, y), -1, i, FEATURE(EDGE_FEATURE, i, y == 0 ? 0 : y == 1 ? 1 : 2));
	}
}

/* rigid3.Polytope.bestFaceOf. */
HELPER(LEVEL) uint32_t best_face_of_segment(const polytope *t, const segment *s, float *u, float *dots, float *separation) {
	const V(f) px = V(set1)(s->p.x), py = V(set1)(s->p.y), pz = V(set1)(s->p.z);
	const V(f) qx = V(set1)(s->q.x), qy = V(set1)(s->q.y), qz = V(set1)(s->q.z);
	const uint32_t n = padded(t->faces);
	V(f) best = V(set1)(-MAX_FINITE);
	for (uint32_t i = 0; i < n; i += V(LANES)) {
		const V(f) dp = plane_distances(t, i, px, py, pz), dq = plane_distances(t, i, qx, qy, qz), d = V(min)(dp, dq);
		V(store)(u + i, V(max)(dp, dq));
		V(store)(dots + i, d);
		best = V(max)(d, best);
	}
	*separation = V(greatest)(best);
	return first_equal(dots, n, *separation);
}

/* rigid3.Polytope.bestEdgeOf: -1 if there is none. */
static inline int best_edge_of_segment(const polytope *t, const segment *s, float *separation, point *normal) {
	const point along = p_sub(s->q, s->p);
	int edge = -1;
	*separation = -MAX_FINITE;
	for (uint32_t i = 0; i < t->edges; i++) {
		if (!(p_dot(normal_of(t, t->left[i]), along) * p_dot(normal_of(t, t->right[i]), along) < 0))
			continue;
		const point from = vertex(t, t->from[i]), u = p_sub(vertex(t, t->to[i]), from);
		point n = p_cross(u, along);
		const float square = p_dot(n, n);
		if (!(square > PARALLEL_SQUARE * (p_dot(u, u) * p_dot(along, along))))
			continue;
		const float l = SQRT(square);
		n = (point){n.x / l, n.y / l, n.z / l};
		if (p_dot(n, p_sub(from, t->centre)) < 0)
			n = p_neg(n);
		const float d = p_dot(n, p_sub(s->p, from));
		if (d > *separation) {
			edge = (int)i;
			*separation = d;
			*normal = n;
		}
	}
	return edge;
}

/* rigid3.Polytope.clipSegment: sets the points. */
static inline void clip_segment(const polytope *t, uint32_t face, const segment *s, float margin, workspace *k) {
	const point normal = normal_of(t, face), along = p_sub(s->q, s->p);
	const uint32_t begin = t->start[face], n = t->start[face + 1] - begin;
	float lo = 0, hi = 1;
	uint32_t id_lo = FEATURE(FACE_OF_A, 0, 0), id_hi = FEATURE(FACE_OF_A, 0, 1);
	k->count = 0;
	for (uint32_t i = 0; i < n; i++) {
		const point from = vertex(t, t->corners[begin + i]), to = vertex(t, t->corners[begin + (i + 1 < n ? i + 1 : 0)]);
		const point side = p_cross(p_sub(to, from), normal);
		const float dp = p_dot(side, p_sub(s->p, from)), dq = p_dot(side, p_sub(s->q, from));
		if (dp > 0 && dq > 0)
			return;
		if (dp > 0 || dq > 0) {
			const float at = dp / (dp - dq);
			const uint32_t id = FEATURE(FACE_OF_A, t->sides[begin + i] + 1, 0);
			if (dp > 0 && at > lo) {
				lo = at;
				id_lo = id;
			} else if (dq > 0 && at < hi) {
				hi = at;
				id_hi = id + 1;
			}
		}
	}
	if (lo > hi)
		return;
	const point low = on_segment(s, lo);
	const float d = distance_of(t, face, low);
	if (d <= margin)
		add_contact(k, low, d, id_lo);
	if (!p_zero(along) && hi > lo) {
		const point high = on_segment(s, hi);
		const float e = distance_of(t, face, high);
		if (e <= margin)
			add_contact(k, high, e, id_hi);
	}
}

/* rigid3.besidePoints: sets the points. */
static inline void beside_points(const segment *a, const segment *b, point n, float margin, uint32_t edge, workspace *k) {
	const point u = p_sub(a->q, a->p), v = p_sub(b->q, b->p), across = p_cross(u, v);
	const float uu = p_dot(u, u), vv = p_dot(v, v);
	k->count = 0;
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
	for (uint32_t i = 0; i < 2; i++) {
		const point p = on_segment(b, ends[i]), on_a = on_segment(a, clamp01(p_dot(u, p_sub(p, a->p)) / uu));
		const float separation = p_dot(n, p_sub(p, on_a));
		if (separation <= margin)
			add_contact(k, p, separation, FEATURE(EDGE_FEATURE, edge, i + 3));
	}
}

/* rigid3.Polytope.collideInside. */
static inline void collide_inside(const polytope *t, const segment *s, uint32_t face, float sf, int edge, float se, point normal, float margin, workspace *k) {
	k->count = 0;
	if (edge >= 0 && se > sf + EDGE_TOLERANCE) {
		const point from = vertex(t, t->from[edge]);
		float at;
		closest_on_segments(from, p_sub(vertex(t, t->to[edge]), from), s->p, p_sub(s->q, s->p), &at);
		k->normal = normal;
		add_contact(k, on_segment(s, at), se, FEATURE(EDGE_FEATURE, edge, 0));
		return;
	}
	k->normal = normal_of(t, face);
	clip_segment(t, face, s, margin, k);
	if (k->count == 0) {
		const int second = p_dot(k->normal, s->q) < p_dot(k->normal, s->p);
		add_contact(k, second ? s->q : s->p, sf, FEATURE(FACE_OF_A, 0, second));
	}
}

/* rigid3.collideSegment: sets normal and points. */
ROUTINE(LEVEL) void collide_segment(const polytope *t, const segment *s, float margin, workspace *k) {
	float dots[ET_SPACE_FACES], sf;
	const uint32_t face = best_face_of_segment(t, s, k->bounds, dots, &sf);
	k->count = 0;
	if (sf > margin)
		return;
	if (sf <= 0) {
		float se;
		point normal = {0, 0, 0};
		const int edge = best_edge_of_segment(t, s, &se, &normal);
		if (se > margin)
			return;
		if (se <= 0) {
			collide_inside(t, s, face, sf, edge, se, normal, margin, k);
			return;
		}
	}
	closest c = {.square = MAX_FINITE, .face = -1};
	const int round = p_zero(p_sub(s->q, s->p));
	closest_to_end(t, s->p, 0, dots, &c);
	if (!round)
		closest_to_end(t, s->q, 1, dots, &c);
	if (!round || c.face < 0)
		closest_edge(t, s, k->bounds, sf, &c);
	const float distance = SQRT(c.square);
	if (!(distance <= margin))
		return;
	point n = p_unit(p_sub(c.on_b, c.on_a), normal_of(t, face));
	if (!round) {
		uint32_t near = opposed(t, p_neg(n), dots);
		if (c.face >= 0 || p_dot(normal_of(t, near), n) > FACE_COSINE) {
			if (c.face >= 0)
				near = (uint32_t)c.face;
			clip_segment(t, near, s, margin, k);
			if (k->count > 0 && nearest(k) <= distance + REFERENCE_TOLERANCE) {
				k->normal = normal_of(t, near);
				return;
			}
		}
		if (c.face < 0) {
			const segment edge = {vertex(t, t->from[c.edge]), vertex(t, t->to[c.edge])};
			beside_points(&edge, s, n, margin, c.edge, k);
			if (k->count > 0) {
				k->normal = n;
				return;
			}
		}
	} else if (c.face >= 0) {
		n = normal_of(t, (uint32_t)c.face);
	}
	k->count = 0;
	k->normal = n;
	add_contact(k, c.on_b, distance, c.id);
}

/* rigid3.collideSegments: sets normal and points. */
static inline void collide_segments(const segment *a, const segment *b, float margin, workspace *k) {
	const point u = p_sub(a->q, a->p), v = p_sub(b->q, b->p);
	float t;
	const float s = closest_on_segments(a->p, u, b->p, v, &t);
	const point on_a = on_segment(a, s), on_b = on_segment(b, t), d = p_sub(on_b, on_a);
	const float distance = SQRT(p_dot(d, d));
	k->count = 0;
	if (!(distance <= margin))
		return;
	const point up = {0, 1, 0};
	point n = up;
	if (!p_zero(u) || !p_zero(v))
		n = p_unit(p_cross(u, v), p_perpendicular(p_unit(u, up)));
	if (distance > (float)(0.005 * 1e-3))
		n = p_unit(d, n);
	beside_points(a, b, n, margin, 0, k);
	k->normal = n;
	if (k->count == 0)
		add_contact(k, on_b, distance, FEATURE(EDGE_FEATURE, 0, 0));
}
