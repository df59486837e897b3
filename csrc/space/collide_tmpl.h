#include "boxes.h"
#include "segments.h"

/* Pairs are sorted by kind in chunks of this size. */
enum { CHUNK = 512 };

/* Fills a batch with the pairs at[0...lanes), of which only n exist: the last pair fills the remaining lanes. */
static inline void fill_boxes(box_batch *p, const et_space_scene *s, const et_space_collisions *c, const uint32_t *at, uint32_t n, uint32_t lanes) {
	for (uint32_t i = 0; i < lanes; i++) {
		const uint32_t pair = at[i < n ? i : n - 1];
		p->pair[i] = pair;
		p->shape_a[i] = c->a[pair];
		p->shape_b[i] = c->b[pair];
		p->body_a[i] = s->body_of[c->a[pair]];
		p->body_b[i] = s->body_of[c->b[pair]];
	}
}

/* rigid3.Kind.rank. */
static inline int rank_of(const et_space_shape *s) {
	return s->kind > ET_SPACE_HULL ? 0 : s->kind == ET_SPACE_HULL ? ET_SPACE_BOX : s->kind;
}

static inline point point_of(const float *v) { return (point){v[0], v[1], v[2]}; }
static inline rotation turn_of(const float *q) { return (rotation){{q[0], q[1], q[2]}, q[3]}; }

static inline void put_point(float *to, point p) {
	to[0] = p.x;
	to[1] = p.y;
	to[2] = p.z;
}

/* Two shapes of which B has no higher rank: rigid3.collider.collideRanked. */
typedef struct {
	const et_space_shape *a, *b;
	int swapped;
	point apart, origin;
	frame world, relative; /* of A without its position, and of B as seen from A */
	float margin;
} ranked_pair;

/* Returns 0 if the shapes are not where they can touch. */
static inline int rank_pair(const et_space_scene *s, uint32_t a, uint32_t b, ranked_pair *w) {
	const int rank_a = rank_of(&s->shapes[a]), rank_b = rank_of(&s->shapes[b]);
	if (rank_a == 0 || rank_b == 0)
		return 0;
	w->swapped = rank_b > rank_a;
	if (w->swapped) {
		const uint32_t c = a;
		a = b;
		b = c;
	}
	w->a = &s->shapes[a];
	w->b = &s->shapes[b];
	const et_space_pose *pose_a = &s->poses[s->body_of[a]], *pose_b = &s->poses[s->body_of[b]];
	const rotation body_a = turn_of(pose_a->q), body_b = turn_of(pose_b->q);
	const rotation qa = t_times(body_a, turn_of(w->a->pose.q)), qb = t_times(body_b, turn_of(w->b->pose.q));
	w->apart = p_sub(point_of(pose_b->p), point_of(pose_a->p));
	w->origin = t_rotate(body_a, point_of(w->a->pose.p));
	const point d = p_add(w->apart, p_sub(t_rotate(body_b, point_of(w->b->pose.p)), w->origin));
	const float sizes = p_abs_sum(point_of(w->a->half)) + p_abs_sum(point_of(w->b->half));
	const float reach = sizes + (p_abs_sum(d) + (magnitude(w->a->radius) + magnitude(w->b->radius)));
	if (!(t_abs_sum(qa) <= MAX_QUAT && t_abs_sum(qb) <= MAX_QUAT && reach <= MAX_REACH))
		return 0;
	w->world = t_matrix(qa);
	w->relative = t_matrix(t_normalize(t_times((rotation){p_neg(qa.v), qa.w}, qb)));
	w->relative.p = turn_back(&w->world, d);
	w->margin = (w->a->radius + w->b->radius) + SPECULATIVE;
	return 1;
}

/* Writes the manifold of the points. */
static inline void write_points(const ranked_pair *w, workspace *k, et_space_manifold *m) {
	const float radii = w->a->radius + w->b->radius, half = w->b->radius - w->a->radius;
	if (k->count == 0)
		return;
	for (uint32_t i = 1; i < k->count; i++)
		for (uint32_t n = i; n > 0 && k->points[n].id < k->points[n - 1].id; n--) {
			const contact_point p = k->points[n];
			k->points[n] = k->points[n - 1];
			k->points[n - 1] = p;
		}
	const point normal = turn_by(&w->world, k->normal);
	put_point(m->normal, w->swapped ? p_neg(normal) : normal);
	m->count = k->count;
	for (uint32_t i = 0; i < k->count; i++) {
		const contact_point *p = &k->points[i];
		const point middle = p_add_times(p->p, k->normal, -0.5f * (p->separation + half));
		const point a = p_add(turn_by(&w->world, middle), w->origin), b = p_sub(a, w->apart);
		put_point(m->points[i].anchor_a, w->swapped ? b : a);
		put_point(m->points[i].anchor_b, w->swapped ? a : b);
		m->points[i].separation = p->separation - radii;
		m->points[i].id = p->id;
	}
}

/* The core of a sphere or a capsule. */
static inline segment segment_of(const et_space_shape *s, const frame *f) {
	const point half = point_of(s->half);
	return (segment){transform(f, p_neg(half)), transform(f, half)};
}

/* Collides two shapes that are not both boxes. */
ROUTINE(LEVEL) void collide_others(const et_space_scene *s, uint32_t a, uint32_t b, workspace *k, et_space_manifold *out) {
	ranked_pair w;
	box_columns box_a, box_b;
	polytope ta, tb;
	memset(out, 0, sizeof *out);
	if (!rank_pair(s, a, b, &w))
		return;
	k->count = 0;
	if (rank_of(w.b) == ET_SPACE_BOX) {
		if (polytope_of(&s->hulls, w.a, &box_a, &ta) && polytope_of(&s->hulls, w.b, &box_b, &tb))
			collide_hulls(&ta, &tb, &w.relative, w.margin, k);
	} else {
		const segment sb = segment_of(w.b, &w.relative);
		if (rank_of(w.a) == ET_SPACE_BOX) {
			if (polytope_of(&s->hulls, w.a, &box_a, &ta))
				collide_segment(&ta, &sb, w.margin, k);
		} else {
			const point half = point_of(w.a->half);
			const segment sa = {p_neg(half), half};
			collide_segments(&sa, &sb, w.margin, k);
		}
	}
	write_points(&w, k, out);
}

KERNEL(int32_t, space_collide, const et_space_scene *s, const et_space_collisions *c) {
	workspace k;
	box_batch batch;
	box_list later = {.n = 0};
	for (int64_t begin = 0; begin < c->n; begin += CHUNK) {
		const int64_t end = c->n - begin < CHUNK ? c->n : begin + CHUNK;
		uint32_t boxes[CHUNK], count = 0;
		for (int64_t i = begin; i < end; i++) {
			const uint32_t a = c->a[i], b = c->b[i];
			if (a >= s->shape_count || b >= s->shape_count || s->body_of[a] >= s->body_count || s->body_of[b] >= s->body_count)
				return 0;
			if (c->recycled && c->recycled[i] >= 0)
				continue;
			if (s->shapes[a].kind == ET_SPACE_BOX && s->shapes[b].kind == ET_SPACE_BOX)
				boxes[count++] = (uint32_t)i;
			else
				collide_others(s, a, b, &k, &c->out[i]);
		}
		for (uint32_t i = 0; i < count; i += V(LANES)) {
			fill_boxes(&batch, s, c, boxes + i, count - i, V(LANES));
			collide_boxes(s, &batch, count - i, c->out, &later);
			if (later.n >= V(LANES)) {
				later.n -= V(LANES);
				fill_boxes(&batch, s, c, later.pair + later.n, V(LANES), V(LANES));
				collide_boxes(s, &batch, V(LANES), c->out, NULL);
			}
		}
	}
	if (later.n > 0) {
		fill_boxes(&batch, s, c, later.pair, later.n, V(LANES));
		collide_boxes(s, &batch, later.n, c->out, NULL);
	}
	return 1;
}

#ifdef DISPATCH
int32_t et_space_collide(int32_t level, et_space_scene s, et_space_collisions c) { return DISPATCH(level, space_collide, &s, &c); }
#endif
