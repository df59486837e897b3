//go:build cgo && !purego && !386 && !arm && !mips && !mipsle

/* The manifolds of a shape and the triangles near it, at level c for all levels: what is done for each triangle has many branches, and few
 * triangles are near a shape. */
#define LEVEL c
#include "../lanes.h"
#include "surface_merge.h"
#include "surface_polytope.h"
#include "surface_round.h"
#include "surfaces_kernel.h"

typedef struct {
	vec64 v;
	double w;
} turn64;

/* rigid3.wideQuat. */
static turn64 wide_turn(const float q[4]) {
	const turn64 t = {wide64(q), (double)q[3]};
	const double l = SQRT64(dot64(t.v, t.v) + t.w * t.w);
	return l == 1 ? t : (turn64){{t.v.x / l, t.v.y / l, t.v.z / l}, t.w / l};
}

static turn64 turn_times(turn64 q, turn64 r) {
	return (turn64){add64(add64(cross64(q.v, r.v), times64(r.v, q.w)), times64(q.v, r.w)), q.w * r.w - dot64(q.v, r.v)};
}

static vec64 turn_vector(turn64 q, vec64 v) {
	const vec64 t = cross64(q.v, add64(cross64(q.v, v), times64(v, q.w)));
	return (vec64){v.x + (t.x + t.x), v.y + (t.y + t.y), v.z + (t.z + t.z)};
}

/* rigid3.pose64.set. */
static pose64 wide_pose(const et_space_pose *body, const et_space_pose *local) {
	const turn64 of_body = wide_turn(body->q), q = turn_times(of_body, wide_turn(local->q));
	const double x = q.v.x, y = q.v.y, z = q.v.z, w = q.w, x2 = x + x, y2 = y + y, z2 = z + z;
	const double xx = x * x2, yy = y * y2, zz = z * z2, xy = x * y2, xz = x * z2, yz = y * z2, wx = w * x2, wy = w * y2, wz = w * z2;
	return (pose64){add64(turn_vector(of_body, wide64(local->p)), wide64(body->p)),
	                {1 - (yy + zz), xy - wz, xz + wy}, {xy + wz, 1 - (xx + zz), yz - wx}, {xz - wy, yz + wx, 1 - (xx + yy)}};
}

static inline point point_at(const float *v) { return (point){v[0], v[1], v[2]}; }
static inline rotation turn_at(const float *q) { return (rotation){{q[0], q[1], q[2]}, q[3]}; }

/* Whether poses and sizes are those of shapes that can touch: rigid3.SurfaceCollider.begin. */
static int in_reach(const et_space_shape *surface, const et_space_shape *shape, const et_space_pose *at_surface, const et_space_pose *at_shape) {
	const rotation a = turn_at(at_surface->q), b = turn_at(at_shape->q);
	const float q = t_abs_sum(t_times(a, turn_at(surface->pose.q))), r = t_abs_sum(t_times(b, turn_at(shape->pose.q)));
	const point local = p_sub(t_rotate(b, point_at(shape->pose.p)), t_rotate(a, point_at(surface->pose.p)));
	const point d = p_add(p_sub(point_at(at_shape->p), point_at(at_surface->p)), local);
	return q <= MAX_QUAT && q >= 0.5f && r <= MAX_QUAT && r >= 0.5f && p_abs_sum(point_at(shape->half)) + (p_abs_sum(d) + magnitude(shape->radius)) <= MAX_REACH;
}

/* The greatest float that is not above v. */
static float round_down(double v) {
	const float r = (float)v;
	if (!((double)r > v))
		return r;
	uint32_t bits;
	memcpy(&bits, &r, sizeof bits);
	bits = r > 0 ? bits - 1 : r < 0 ? bits + 1 : 0x80000001u;
	float below;
	memcpy(&below, &bits, sizeof below);
	return below;
}

/* Half of a box around the core of a hull. */
static vec64 extent_of(const polytope *t) {
	float x = 0, y = 0, z = 0;
	for (uint32_t i = 0; i < t->vertices; i++) {
		x = most(magnitude(t->x[i]), x);
		y = most(magnitude(t->y[i]), y);
		z = most(magnitude(t->z[i]), z);
	}
	return (vec64){(double)x, (double)y, (double)z};
}

/* The box around the core in the axes of the surface, relative to its origin. */
static void core_bounds(const surface_shape *p, const et_space_shape *shape, vec64 *lo, vec64 *hi) {
	const pose64 *m = &p->at;
	if (!p->turned || p->is_box) {
		const vec64 half = wide64(shape->half), h = absolute64(p->half);
		*hi = p->turned ? (vec64){dot64(absolute64(m->x), half), dot64(absolute64(m->y), half), dot64(absolute64(m->z), half)} : h;
		*lo = neg64(*hi);
		return;
	}
	for (uint32_t i = 0; i < p->core.vertices; i++) {
		const vec64 v = rotate64(m, widened(vertex(&p->core, i)));
		if (i == 0)
			*lo = *hi = v;
		*lo = (vec64){least64(v.x, lo->x), least64(v.y, lo->y), least64(v.z, lo->z)};
		*hi = (vec64){most64(v.x, hi->x), most64(v.y, hi->y), most64(v.z, hi->z)};
	}
}

void et_space_begin_surface(surface_collider *k, surface_shape *p, const et_space_scene *s, const et_space_surface *f, uint32_t surface, uint32_t shape) {
	const et_space_shape *a = &s->shapes[surface], *b = &s->shapes[shape];
	const et_space_pose *pose_a = &s->poses[s->body_of[surface]], *pose_b = &s->poses[s->body_of[shape]];
	k->surface = f;
	p->number = shape;
	p->face_count = 0;
	p->meets = b->kind >= ET_SPACE_SPHERE && b->kind <= ET_SPACE_HULL && in_reach(a, b, pose_a, pose_b);
	if (!p->meets)
		return;
	p->radius = b->radius;
	p->margin = b->radius + SPECULATIVE;
	p->is_box = b->kind == ET_SPACE_BOX;
	p->turned = p->is_box || b->kind == ET_SPACE_HULL;
	p->centre = (vec64){0, 0, 0};
	if (p->turned) {
		p->meets = polytope_of(&s->hulls, b, &p->columns, &p->core) && p->core.faces > 0;
		if (p->meets)
			p->centre = widened(p->core.centre);
	}
	if (!k->has_frame)
		k->frame = wide_pose(pose_a, &a->pose);
	k->has_frame = 1;
}

int et_space_bound_shape(surface_shape *p, const et_space_scene *s, float lo[3], float hi[3]) {
	const et_space_shape *b = &s->shapes[p->number];
	p->extent = !p->turned ? absolute64(p->half) : p->is_box ? absolute64(wide64(b->half)) : extent_of(&p->core);
	p->middle = p->turned ? rotate64(&p->at, p->centre) : p->centre;
	vec64 low, high;
	core_bounds(p, b, &low, &high);
	const double r = (double)p->margin + SIDE_TOLERANCE;
	low = sub64(add64(low, p->at.p), (vec64){r, r, r});
	high = add64(add64(high, p->at.p), (vec64){r, r, r});
	const double size = ((high.x - low.x) + (high.y - low.y)) + (high.z - low.z);
	if (!(size <= MAX_REACH && sum64(p->at.p) <= 4 * MAX_REACH))
		return 0;
	lo[0] = round_down(low.x);
	lo[1] = round_down(low.y);
	lo[2] = round_down(low.z);
	hi[0] = -round_down(-high.x);
	hi[1] = -round_down(-high.y);
	hi[2] = -round_down(-high.z);
	return 1;
}

uint8_t et_space_end_surface(surface_collider *k, const surface_shape *p, const et_space_scene *s, uint32_t surface, const placed_group *groups,
                             uint32_t first, et_space_surface_manifold *out) {
	const et_space_shape *b = &s->shapes[p->number];
	surface_face f;
	k->shape = p;
	k->contact_count = k->point_count = 0;
	k->left = k->has_columns = 0;
	for (uint32_t i = 0; i < p->face_count && !k->left; i++) {
		const placed_group *g = &groups[(first + i) / GROUP];
		const uint32_t lane = (first + i) % GROUP;
		if (!(g->near >> lane & 1) || !place_face(k, g, lane, &p->faces[i], &f))
			continue;
		if (b->kind == ET_SPACE_SPHERE)
			collide_sphere(k, &f);
		else if (b->kind == ET_SPACE_CAPSULE)
			collide_capsule(k, &f);
		else
			collide_polytope(k, &f);
	}
	if (k->left)
		return ET_SPACE_LEFT;
	if (k->contact_count == 0)
		return 0;
	const et_space_pose *pose_a = &s->poses[s->body_of[surface]], *pose_b = &s->poses[s->body_of[p->number]];
	const point origin = t_rotate(turn_at(pose_b->q), point_at(b->pose.p)), apart = p_sub(point_at(pose_b->p), point_at(pose_a->p));
	const int n = merge_contacts(k);
	for (int i = 0; i < n; i++)
		write_cluster(k, i, k->shape->turned ? &k->shape->body : &k->frame, origin, apart, &out[i]);
	sort_manifolds(out, n);
	return (uint8_t)n;
}
