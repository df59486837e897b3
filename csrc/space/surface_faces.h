/* A triangle near a shape, as internal/rigid3/surface_face.go defines it. */
#ifndef EVERTICK_SPACE_SURFACE_FACES_H
#define EVERTICK_SPACE_SURFACE_FACES_H

#include "surfaces_kernel.h"

/* The constants of package rigid3, as doubles; those of single floats are in points.h. Products of constants are rounded once. */
#define SIDE_TOLERANCE 5e-5
#define CONE_TOLERANCE 1e-4

INLINE64 vec64 rotate64(const pose64 *f, vec64 v) { return (vec64){dot64(f->x, v), dot64(f->y, v), dot64(f->z, v)}; }
INLINE64 vec64 rotate_back64(const pose64 *f, vec64 v) {
	return (vec64){(f->x.x * v.x + f->y.x * v.y) + f->z.x * v.z, (f->x.y * v.x + f->y.y * v.y) + f->z.y * v.z,
	               (f->x.z * v.x + f->y.z * v.y) + f->z.z * v.z};
}
INLINE64 double length64(vec64 a) { return SQRT64(dot64(a, a)); }
INLINE64 vec64 absolute64(vec64 a) { return (vec64){__builtin_fabs(a.x), __builtin_fabs(a.y), __builtin_fabs(a.z)}; }
INLINE64 double sum64(vec64 a) { return (__builtin_fabs(a.x) + __builtin_fabs(a.y)) + __builtin_fabs(a.z); }
INLINE64 point narrowed(vec64 a) { return (point){(float)a.x + 0.0f, (float)a.y + 0.0f, (float)a.z + 0.0f}; }

/* min of Go, of numbers that are not NaN: of zeros the negative one. */
INLINE64 double min64(double a, double b) { return a < b || (a == b && __builtin_signbit(a)) ? a : b; }
INLINE64 double max64(double a, double b) { return a > b || (a == b && !__builtin_signbit(a)) ? a : b; }

/* rigid3.surfaceFace. */
typedef struct {
	const et_space_face *face;
	int convex, flat, away; /* away: it is beside the triangle, by more than the margin */
	uint8_t edges[3];
	vec64 up, normal;
	double offset;
	vec64 corners[3], across[3];
	double squares[3];
	int made[3];
	vec64 side[3];
	double beside[3];
} surface_face;

/* The triangle with a number, until the next call; NULL if only Go has it. */
ROUTINE(LEVEL) const et_space_face *face_of(surface_collider *k, uint32_t number) {
	uint32_t lo = 0, hi = k->shape->face_count;
	while (lo < hi) {
		const uint32_t mid = (lo + hi) / 2;
		if (k->shape->faces[mid].number < number)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo < k->shape->face_count && k->shape->faces[lo].number == number)
		return &k->shape->faces[lo];
	if (!k->surface->triangles) {
		k->left = 1;
		return NULL;
	}
	set_face(&k->far_face, k->surface, number);
	return &k->far_face;
}

INLINE64 vec64 to_axes(const surface_collider *k, vec64 v) { return k->shape->turned ? rotate_back64(&k->shape->at, v) : v; }
INLINE64 vec64 to_surface(const surface_collider *k, vec64 v) { return k->shape->turned ? rotate64(&k->shape->at, v) : v; }
INLINE64 int is_ridge(uint8_t edge) { return edge == ET_SPACE_CONVEX || edge == ET_SPACE_OPEN; }
INLINE64 uint32_t next_of(uint32_t i) { return i == 2 ? 0 : i + 1; }
INLINE64 uint32_t before_of(uint32_t i) { return i == 0 ? 2 : i - 1; }
INLINE64 double height_of(const surface_face *f, vec64 p) { return dot64(f->normal, p) - f->offset; }

INLINE64 vec64 placed_vector(const placed_group *g, uint32_t row, uint32_t lane) {
	return (vec64){g->rows[row][lane], g->rows[row + 1][lane], g->rows[row + 2][lane]};
}

/* rigid3.SurfaceCollider.place, but for what lanes have done. Returns 0 if the triangle is too far. */
ROUTINE(LEVEL) int place_face(surface_collider *k, const placed_group *g, uint32_t lane, const et_space_face *face, surface_face *f) {
	const int flipped = (int)(g->flipped >> lane & 1);
	f->face = face;
	f->away = (int)(g->beside >> lane & 1);
	f->flat = 1;
	f->convex = 0;
	for (uint32_t i = 0; i < 3; i++) {
		const uint8_t kind = face->edges[i];
		f->edges[i] = flipped && (kind == ET_SPACE_CONVEX || kind == ET_SPACE_CONCAVE) ? ET_SPACE_CONVEX + ET_SPACE_CONCAVE - kind : kind;
		f->convex |= is_ridge(f->edges[i]);
		f->flat &= kind == ET_SPACE_FLAT;
		f->corners[i] = placed_vector(g, OUT_CORNERS + 3 * i, lane);
	}
	if (k->shape->turned) {
		if (f->away && !f->convex)
			return 0;
		if (g->rows[OUT_MOST_PLANE][lane] < 0) {
			if (!k->lanes->separate(k, f->corners))
				return 0;
		} else {
			for (uint32_t i = 0; i < 6; i++)
				k->bounds[i] = (float)g->rows[OUT_BOUNDS + i][lane];
			k->most = (float)g->rows[OUT_MOST][lane];
			k->most_plane = (uint32_t)g->rows[OUT_MOST_PLANE][lane];
		}
	}
	f->up = placed_vector(g, OUT_UP, lane);
	f->normal = placed_vector(g, OUT_NORMAL, lane);
	f->offset = g->rows[OUT_OFFSET][lane];
	for (uint32_t i = 0; i < 3; i++) {
		f->across[i] = placed_vector(g, OUT_ACROSS + 3 * i, lane);
		f->squares[i] = g->rows[OUT_SQUARES + i][lane];
		f->made[i] = 0;
	}
	return 1;
}

ROUTINE(LEVEL) void set_side(surface_face *f, uint32_t i) {
	if (f->made[i])
		return;
	f->made[i] = 1;
	const double l = SQRT64(f->squares[i]);
	f->side[i] = l > 0 ? (vec64){f->across[i].x / l, f->across[i].y / l, f->across[i].z / l} : (vec64){0, 0, 0};
	f->beside[i] = dot64(f->side[i], f->corners[i]);
}

/* rigid3.surfaceFace.outside. */
static inline int where_of(const surface_face *f, uint32_t i, vec64 p) {
	const double over = dot64(f->across[i], sub64(p, f->corners[i])), square = over * over;
	if (!(over > 0) || square < 1.6e-9 * f->squares[i])
		return -1;
	return square > 3.6e-9 * f->squares[i];
}

ROUTINE(LEVEL) int is_above(surface_face *f, vec64 p) {
	for (uint32_t i = 0; i < 3; i++) {
		int where = where_of(f, i, p);
		if (where == 0) {
			set_side(f, i);
			where = dot64(f->side[i], p) - f->beside[i] > SIDE_TOLERANCE;
		}
		if (where > 0)
			return 0;
	}
	return 1;
}

static inline int same_vertex(const float *a, const float *b) { return a[0] == b[0] && a[1] == b[1] && a[2] == b[2]; }

/* Takes a unit vector in the axes of the surface. */
ROUTINE(LEVEL) int edge_allows(surface_collider *k, const surface_face *f, uint32_t i, vec64 d) {
	if (f->edges[i] == ET_SPACE_OPEN)
		return dot64(d, f->up) >= -CONE_TOLERANCE;
	if (f->edges[i] != ET_SPACE_CONVEX)
		return 0;
	const et_space_face *other = face_of(k, f->face->neighbours[i]);
	const vec64 from = wide64(f->face->vertices[i]);
	for (int j = 0; other && j < 3; j++) {
		const float *v = other->vertices[j];
		if (!same_vertex(v, f->face->vertices[i]) && !same_vertex(v, f->face->vertices[next_of(i)])) {
			const vec64 to = sub64(wide64(v), from);
			return dot64(d, to) <= CONE_TOLERANCE * length64(to);
		}
	}
	return 0;
}

static int corner_at(const et_space_face *face, const float *v) {
	for (int i = 0; i < 3; i++)
		if (same_vertex(face->vertices[i], v))
			return i;
	return -1;
}

ROUTINE(LEVEL) int corner_allows(surface_collider *k, const surface_face *f, uint32_t i, vec64 d) {
	const uint8_t before = f->edges[before_of(i)], after = f->edges[i];
	if ((!is_ridge(before) && !is_ridge(after)) || ((before == ET_SPACE_OPEN || after == ET_SPACE_OPEN) && !(dot64(d, f->up) >= -CONE_TOLERANCE)))
		return 0;
	const float *vertex = f->face->vertices[i];
	const vec64 from = wide64(vertex);
	for (int way = 0; way < 2; way++) {
		uint32_t number = f->face->neighbours[way ? before_of(i) : i], seen = 1;
		for (; number != ET_SPACE_NO_FACE && number != f->face->number && seen < MAX_RING; seen++) {
			const et_space_face *face = face_of(k, number);
			if (!face)
				return 0;
			const int corner = corner_at(face, vertex);
			if (corner < 0)
				break;
			for (uint32_t j = next_of((uint32_t)corner), n = 0; n < 2; j = next_of(j), n++) {
				const vec64 to = sub64(wide64(face->vertices[j]), from);
				if (dot64(d, to) > CONE_TOLERANCE * length64(to))
					return 0;
			}
			number = face->neighbours[way ? before_of((uint32_t)corner) : (uint32_t)corner];
		}
		if (number == f->face->number || seen == MAX_RING)
			break;
	}
	return 1;
}

ROUTINE(LEVEL) int is_seam(const surface_collider *k, const surface_face *f, uint32_t i, double at, vec64 d) {
	const vec64 from = wide64(f->face->vertices[i]), to = wide64(f->face->vertices[next_of(i)]);
	const vec64 p = add_times64(from, sub64(to, from), at);
	for (uint32_t j = 0; j < k->shape->face_count; j++) {
		const et_space_face *face = &k->shape->faces[j];
		if (face->number == f->face->number)
			continue;
		vec64 v[3];
		int rises = 0, inside = 1;
		for (int e = 0; e < 3; e++) {
			v[e] = sub64(wide64(face->vertices[e]), p);
			rises |= dot64(d, v[e]) > CONE_TOLERANCE * length64(v[e]);
		}
		const vec64 n = cross64(sub64(v[1], v[0]), sub64(v[2], v[0]));
		const double l = length64(n);
		if (!rises || !(__builtin_fabs(dot64(n, v[0])) <= SIDE_TOLERANCE * l))
			continue;
		const vec64 centre = sub64(add64(k->shape->at.p, to_surface(k, k->shape->centre)), p);
		if (!k->surface->two_sided && dot64(n, centre) < -FRONT_TOLERANCE * l)
			continue;
		for (uint32_t e = 0; e < 3; e++) {
			const vec64 side = cross64(sub64(v[next_of(e)], v[e]), n);
			inside &= -dot64(side, v[e]) <= SIDE_TOLERANCE * length64(side);
		}
		if (inside)
			return 1;
	}
	return 0;
}

/* rigid3.SurfaceCollider.allows. */
ROUTINE(LEVEL) int allows(surface_collider *k, const surface_face *f, uint32_t i, double at, vec64 d) {
	d = to_surface(k, d);
	if (at == 0 || at == 1) {
		const uint32_t corner = at == 1 ? next_of(i) : i;
		const int open = f->edges[corner] == ET_SPACE_OPEN || f->edges[before_of(corner)] == ET_SPACE_OPEN;
		return corner_allows(k, f, corner, d) && !(open && is_seam(k, f, i, at, d));
	}
	return edge_allows(k, f, i, d) && !(f->edges[i] == ET_SPACE_OPEN && is_seam(k, f, i, at, d));
}

/* rigid3.surfaceFace.edgeAxis. Returns 0 if both are parallel. */
INLINE64 int edge_axis(const surface_face *f, uint32_t i, vec64 along, vec64 *axis) {
	const vec64 u = sub64(f->corners[next_of(i)], f->corners[i]), n = cross64(u, along);
	const double square = dot64(n, n);
	if (!(square > 2.5e-5 * (dot64(u, u) * dot64(along, along))))
		return 0;
	*axis = times64(n, 1 / SQRT64(square));
	if (dot64(*axis, sub64(f->corners[before_of(i)], f->corners[i])) > 0)
		*axis = neg64(*axis);
	return 1;
}

/* Kinds of points of a surface: those of surface_merge.go. */
enum { VERTEX_OF_SHAPE, EDGES_MEET, VERTEX_OF_MESH, INNER_POINT };
#define VERTEX_ID(i) FEATURE(VERTEX_OF_SHAPE, 0, i)

INLINE64 uint32_t mixed_bits(uint32_t h) {
	h = (h ^ h >> 16) * 0x7feb352du;
	h = (h ^ h >> 15) * 0x846ca68bu;
	return h ^ h >> 16;
}

ROUTINE(LEVEL) uint32_t corner_hash(const float *v) {
	uint32_t h = 0;
	for (int i = 0; i < 3; i++) {
		const float c = v[i] + 0.0f;
		uint32_t bits;
		memcpy(&bits, &c, sizeof bits);
		h = mixed_bits(h ^ bits);
	}
	return h;
}

ROUTINE(LEVEL) uint32_t edge_id(const surface_face *f, uint32_t i, uint32_t edge_of_shape) {
	const uint32_t kind = f->edges[i] == ET_SPACE_FLAT ? INNER_POINT : EDGES_MEET;
	const float(*v)[3] = f->face->vertices;
	return FEATURE(kind, mixed_bits(corner_hash(v[i]) + corner_hash(v[next_of(i)])) >> 17, edge_of_shape);
}

ROUTINE(LEVEL) uint32_t corner_id(const surface_face *f, uint32_t i) {
	const int inner = f->edges[i] == ET_SPACE_FLAT && f->edges[before_of(i)] == ET_SPACE_FLAT;
	return (uint32_t)(inner ? INNER_POINT : VERTEX_OF_MESH) << 30 | corner_hash(f->face->vertices[i]) >> 2;
}

ROUTINE(LEVEL) void append_point(surface_collider *k, contact_point p) {
	if (k->point_count < FACE_POINTS)
		k->points[k->point_count++] = p;
	else
		k->left = 1;
}

ROUTINE(LEVEL) void append_contact(surface_collider *k, face_contact c) {
	if (k->contact_count < FACE_CONTACTS)
		k->contacts[k->contact_count++] = c;
	else
		k->left = 1;
}

/* The least separation of the points from a place on, of which there is one. */
static inline float nearest_from(const surface_collider *k, uint32_t first) {
	float s = k->points[first].separation;
	for (uint32_t i = first; i < k->point_count; i++)
		s = least(k->points[i].separation, s);
	return s;
}

ROUTINE(LEVEL) void contact_of_point(surface_collider *k, const surface_face *f, vec64 normal, contact_point p, int spare, vec64 toward) {
	const uint32_t first = k->point_count;
	append_point(k, p);
	append_contact(k, (face_contact){normal, toward, first, first + 1, p.separation, f->face->number, 0, spare});
}

ROUTINE(LEVEL) void contact_of_points(surface_collider *k, const surface_face *f, vec64 normal, uint32_t first) {
	if (first < k->point_count)
		append_contact(k, (face_contact){normal, {0, 0, 0}, first, k->point_count, nearest_from(k, first), f->face->number, 0, 0});
}

/* rigid3.surfaceFace.closestOnSides. */
ROUTINE(LEVEL) uint32_t closest_on_sides(const surface_face *f, vec64 p, double *at, vec64 *closest, double *square) {
	uint32_t edge = 0;
	for (uint32_t i = 0; i < 3; i++) {
		const vec64 from = f->corners[i], to = f->corners[next_of(i)], along = sub64(to, from);
		const double d = dot64(sub64(p, from), along), length = dot64(along, along);
		const double t = !(d > 0) ? 0 : d < length ? d / length : 1;
		const vec64 q = t == 1 ? to : add_times64(from, along, t), way = sub64(q, p);
		const double s = dot64(way, way);
		if (i == 0 || s < *square) {
			edge = i;
			*at = t;
			*closest = q;
			*square = s;
		}
	}
	return edge;
}

#endif
