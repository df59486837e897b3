/* Vectors and frames of single floats, as internal/rigid3/vector.go defines them: for what is done by pair, not by lane. */
#ifndef EVERTICK_SPACE_POINTS_H
#define EVERTICK_SPACE_POINTS_H

#include "geometry.h"

/* The constants of package rigid3. */
#define SPECULATIVE 0.02f
#define REFERENCE_TOLERANCE 0.0025f
#define EDGE_TOLERANCE 0.005f
#define PARALLEL_SQUARE (float)(0.005 * 0.005)
#define MAX_QUAT 4.0f
#define MAX_REACH 0x1p24f
#define FACE_COSINE 0.999f
#define PARALLEL_SEGMENTS (float)(0.05 * 0.05)
#define LINEAR_SLOP 0.005f
#define MAX_FINITE 0x1.fffffep127f
#define MIN_DIVISOR 0x1p-127f

/* Kinds of features, and IDs of two. */
enum { FACE_OF_A = 0, FACE_OF_B = 1, EDGE_FEATURE = 2 };
#define FEATURE(kind, a, b) ((uint32_t)(kind) << 30 | (uint32_t)(a) << 15 | (uint32_t)(b))

typedef struct {
	float x, y, z;
} point;

/* Where body B is as seen from A: the rotation as a matrix by rows, and the position. */
typedef struct {
	point x, y, z, p;
} frame;

static inline float least(float a, float b) { return a < b ? a : b; }
static inline float most(float a, float b) { return a > b ? a : b; }
static inline float magnitude(float a) { return __builtin_fabsf(a); }
static inline float clamp01(float v) { return least(most(v, 0), 1); }

static inline point p_add(point a, point b) { return (point){a.x + b.x, a.y + b.y, a.z + b.z}; }
static inline point p_sub(point a, point b) { return (point){a.x - b.x, a.y - b.y, a.z - b.z}; }
static inline point p_neg(point a) { return (point){-a.x, -a.y, -a.z}; }
static inline point p_times(point a, float s) { return (point){a.x * s, a.y * s, a.z * s}; }
static inline point p_add_times(point a, point b, float s) { return p_add(a, p_times(b, s)); }
static inline float p_dot(point a, point b) { return (a.x * b.x + a.y * b.y) + a.z * b.z; }
static inline point p_cross(point a, point b) {
	return (point){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
static inline float p_abs_sum(point a) { return (magnitude(a.x) + magnitude(a.y)) + magnitude(a.z); }
static inline int p_zero(point a) { return a.x == 0 && a.y == 0 && a.z == 0; }
static inline point p_unit(point a, point fallback) {
	const float l = SQRT(p_dot(a, a));
	return l > 0 ? (point){a.x / l, a.y / l, a.z / l} : fallback;
}
static inline point p_perpendicular(point a) {
	if (magnitude(a.x) >= 0.75f || magnitude(a.y) >= 0.75f)
		return p_unit((point){a.y, -a.x, 0}, (point){1, 0, 0});
	return p_unit((point){0, a.z, -a.y}, (point){1, 0, 0});
}

static inline point turn_by(const frame *f, point v) { return (point){p_dot(f->x, v), p_dot(f->y, v), p_dot(f->z, v)}; }
static inline point turn_back(const frame *f, point v) {
	return (point){(f->x.x * v.x + f->y.x * v.y) + f->z.x * v.z, (f->x.y * v.x + f->y.y * v.y) + f->z.y * v.z,
	               (f->x.z * v.x + f->y.z * v.y) + f->z.z * v.z};
}
static inline point transform(const frame *f, point v) { return p_add(turn_by(f, v), f->p); }
static inline frame inverse_frame(const frame *f) {
	return (frame){{f->x.x, f->y.x, f->z.x}, {f->x.y, f->y.y, f->z.y}, {f->x.z, f->y.z, f->z.z}, turn_back(f, p_neg(f->p))};
}

/* A quaternion x, y, z, w. */
typedef struct {
	point v;
	float w;
} rotation;

static inline rotation t_times(rotation q, rotation r) {
	const point v = p_add(p_add(p_cross(q.v, r.v), p_times(r.v, q.w)), p_times(q.v, r.w));
	return (rotation){v, q.w * r.w - p_dot(q.v, r.v)};
}
static inline point t_rotate(rotation q, point v) {
	const point t = p_cross(q.v, p_add(p_cross(q.v, v), p_times(v, q.w)));
	return (point){v.x + (t.x + t.x), v.y + (t.y + t.y), v.z + (t.z + t.z)};
}
static inline float t_abs_sum(rotation q) {
	return (magnitude(q.v.x) + magnitude(q.v.y)) + (magnitude(q.v.z) + magnitude(q.w));
}
static inline rotation t_normalize(rotation q) {
	const float square = (q.v.x * q.v.x + q.v.y * q.v.y) + (q.v.z * q.v.z + q.w * q.w);
	if (!(square > 0 && square <= MAX_FINITE))
		return (rotation){{0, 0, 0}, 1};
	const float l = SQRT(square);
	return (rotation){{q.v.x / l, q.v.y / l, q.v.z / l}, q.w / l};
}

/* The rotation as a frame at the origin. */
static inline frame t_matrix(rotation q) {
	const float x = q.v.x, y = q.v.y, z = q.v.z, w = q.w, x2 = x + x, y2 = y + y, z2 = z + z;
	const float xx = x * x2, yy = y * y2, zz = z * z2, xy = x * y2, xz = x * z2, yz = y * z2, wx = w * x2, wy = w * y2, wz = w * z2;
	return (frame){{1 - (yy + zz), xy - wz, xz + wy}, {xy + wz, 1 - (xx + zz), yz - wx}, {xz - wy, yz + wx, 1 - (xx + yy)}, {0, 0, 0}};
}

/* A point of a manifold in the making, in the axes of A, on the core of B. */
typedef struct {
	point p;
	float separation;
	uint32_t id;
} contact_point;

/* rigid3.maxPolygon. */
enum { ET_SPACE_POLYGON = 2 * ET_SPACE_VERTICES };

/* A corner of a polygon that is clipped, with the edge from it to the next one. */
typedef struct {
	point p;
	uint32_t id;
	int32_t edge;
} polygon_corner;

/* Memory for the computation of a manifold. */
typedef struct {
	float bounds[ET_SPACE_FACES], dots[ET_SPACE_VERTICES];
	uint16_t edges[2][ET_SPACE_EDGES];
	float columns[9][ET_SPACE_EDGES]; /* of edges of A: along it, and the normals beside it */
	polygon_corner polygons[2][ET_SPACE_POLYGON];
	contact_point points[ET_SPACE_POLYGON];
	uint32_t count; /* of points */
	point normal;
} workspace;

static inline float nearest(const workspace *k) {
	float s = k->points[0].separation;
	for (uint32_t i = 0; i < k->count; i++)
		s = least(k->points[i].separation, s);
	return s;
}

static inline void add_contact(workspace *k, point p, float separation, uint32_t id) {
	k->points[k->count++] = (contact_point){p, separation, id};
}

/* Where the segments p + s*u and q + t*v are closest. */
static inline float closest_on_segments(point p, point u, point q, point v, float *t) {
	const point r = p_sub(p, q);
	const float uu = p_dot(u, u), vv = p_dot(v, v), uv = p_dot(u, v), ur = p_dot(u, r), vr = p_dot(v, r);
	*t = 0;
	if (!(uu > MIN_DIVISOR)) {
		if (vv > MIN_DIVISOR)
			*t = clamp01(vr / vv);
		return 0;
	}
	if (!(vv > MIN_DIVISOR))
		return clamp01(-ur / uu);
	const float d = uu * vv - uv * uv;
	float s = 0;
	if (d > 1e-6f * (uu * vv))
		s = clamp01((uv * vr - ur * vv) / d);
	*t = (uv * s + vr) / vv;
	if (*t < 0) {
		*t = 0;
		return clamp01(-ur / uu);
	}
	if (*t > 1) {
		*t = 1;
		return clamp01((uv - ur) / uu);
	}
	return s;
}

#endif
