#include "rows_lanes.h"
#include "system.h"

/* The contacts of a block, and their shapes. Empty lanes repeat the first contact. */
typedef struct {
	uint32_t contact[ET_LANES], a[ET_LANES], b[ET_LANES];
} contact_lanes;

static uint32_t look_up_contacts(const et_system *s, const uint32_t *contact, et_contact_block *b, contact_lanes *l) {
	uint32_t n = 0;
	for (uint32_t i = 0; i < ET_LANES; i++) {
		const uint32_t c = contact[i] == UINT32_MAX ? contact[0] : contact[i];
		n += contact[i] != UINT32_MAX;
		l->contact[i] = c;
		l->a[i] = s->contacts[c].a;
		l->b[i] = s->contacts[c].b;
		b->a[i] = s->body_of[l->a[i]];
		b->b[i] = s->body_of[l->b[i]];
	}
	return n;
}

HELPER(LEVEL) V(f) mix(int32_t rule, V(f) a, V(f) b) {
	switch (rule) {
	case ET_MIX_GEOMETRIC:
		return V(sqrt)(MUL(a, b));
	case ET_MIX_MAX:
		return V(max)(a, b);
	case ET_MIX_MIN:
		return V(min)(a, b);
	case ET_MIX_AVERAGE:
		return MUL(V(set1)(0.5f), ADD(a, b));
	}
	return MUL(a, b);
}

/* 1/a where a > 0, 0 elsewhere. */
/* 1/a, or 0 where that could be infinite. */
HELPER(LEVEL) V(f) inverse(V(f) a) { return V(pick)(a, V(set1)(0x1p-127f), DIV(V(set1)(1.0f), a), ZERO); }

/* The lanes of a block from i on, while they are filled. Lanes in the mask are in use. */
typedef struct {
	uint32_t i;
	V(mask) used;
	V(f) a[4], b[4]; /* velocities and inverse masses */
	V(f) ia, ib, nx, ny;
} block_lanes;

HELPER(LEVEL) void set_field(const block_lanes *g, float *field, V(f) v) {
	V(store)(field + g->i, V(keep)(v, g->used));
}

/* The anchors of a point in the frame of the contact. */
typedef struct {
	V(f) cross_a, dot_a, cross_b, dot_b;
} block_anchors;

/* Sets the effective masses of a point, its velocity along the normal, and its separation. */
HELPER(LEVEL) void fill_masses(const block_lanes *g, et_contact_block_point *p, const block_anchors *r, V(f) separation) {
	const V(f) cross_a = r->cross_a, dot_a = r->dot_a, cross_b = r->cross_b, dot_b = r->dot_b;
	set_field(g, p->base_separation, separation);
	const V(f) inv_mass = ADD(g->a[3], g->b[3]);
	const V(f) normal_inertia = ADD(MUL(MUL(g->ia, cross_a), cross_a), MUL(MUL(g->ib, cross_b), cross_b));
	const V(f) tangent_inertia = ADD(MUL(MUL(g->ia, dot_a), dot_a), MUL(MUL(g->ib, dot_b), dot_b));
	set_field(g, p->normal_mass, inverse(ADD(inv_mass, normal_inertia)));
	set_field(g, p->tangent_mass, inverse(ADD(inv_mass, tangent_inertia)));

	const V(f) v = DOT(SUB(g->b[0], g->a[0]), SUB(g->b[1], g->a[1]), g->nx, g->ny);
	set_field(g, p->relative_velocity, ADD(v, SUB(MUL(g->b[2], cross_b), MUL(g->a[2], cross_a))));
	set_field(g, p->total_normal_impulse, ZERO);
}

/* Fills a point from its anchors, the separation and the impulses. */
HELPER(LEVEL) void fill_point(const block_lanes *g, et_contact_block_point *p, const V(f) r[4],
                              V(f) separation, V(f) normal, V(f) tangent) {
	const block_anchors anchors = {CROSS(r[0], r[1], g->nx, g->ny), DOT(r[0], r[1], g->nx, g->ny),
	                               CROSS(r[2], r[3], g->nx, g->ny), DOT(r[2], r[3], g->nx, g->ny)};
	set_field(g, p->cross_a, anchors.cross_a);
	set_field(g, p->dot_a, anchors.dot_a);
	set_field(g, p->cross_b, anchors.cross_b);
	set_field(g, p->dot_b, anchors.dot_b);
	set_field(g, p->normal_impulse, normal);
	set_field(g, p->tangent_impulse, tangent);
	fill_masses(g, p, &anchors, separation);
}

/* Lets two points be solved together. */
HELPER(LEVEL) void fill_coupling(const block_lanes *g, et_contact_block *b) {
	et_contact_block_point *const p = &b->points[0], *const q = &b->points[1];
	const V(f) cross_a = MUL(V(load)(p->cross_a + g->i), V(load)(q->cross_a + g->i));
	const V(f) cross_b = MUL(V(load)(p->cross_b + g->i), V(load)(q->cross_b + g->i));
	const V(f) angular = DOT(g->ia, g->ib, cross_a, cross_b), scale = V(set1)(1 - 0x1p-12f);
	set_field(g, b->coupling, ADD(ADD(g->a[3], g->b[3]), angular));
	V(store)(p->normal_mass + g->i, MUL(V(load)(p->normal_mass + g->i), scale));
	V(store)(q->normal_mass + g->i, MUL(V(load)(q->normal_mass + g->i), scale));
}

/* Mixes the materials of the shapes. Returns the flags of the block. */
HELPER(LEVEL) uint32_t fill_materials(const block_lanes *g, et_contact_block *b, const et_system *s,
                                    const contact_lanes *l) {
	const V(u) shape_a = V(loadu)(l->a + g->i), shape_b = V(loadu)(l->b + g->i);
	const V(f) friction = mix(s->step.friction_mix, V(fetch)(s->friction, shape_a), V(fetch)(s->friction, shape_b));
	const V(f) restitution =
		mix(s->step.restitution_mix, V(fetch)(s->restitution, shape_a), V(fetch)(s->restitution, shape_b));
	const V(f) rolling = V(max)(V(fetch)(s->rolling_resistance, shape_a), V(fetch)(s->rolling_resistance, shape_b));
	const V(f) speed = ADD(V(fetch)(s->tangent_speed, shape_a), V(fetch)(s->tangent_speed, shape_b));
	set_field(g, b->friction, friction);
	set_field(g, b->restitution, restitution);
	set_field(g, b->rolling_resistance, rolling);
	set_field(g, b->tangent_speed, speed);
	const V(mask) still = V(le)(speed, ZERO) & V(le)(ZERO, speed);
	return (g->used & V(lt)(ZERO, restitution) ? ET_RESTITUTION : 0u) | (g->used & V(lt)(ZERO, rolling) ? ET_ROLLING : 0u) |
	       (g->used & (V(mask))~still ? ET_TANGENT_SPEED : 0u);
}

static inline void keep_base(const et_system *s, uint32_t c, uint32_t body_a, uint32_t body_b) {
	const et_manifold *const m = &s->manifolds[c];
	et_base_manifold *const base = &s->bases[c];
	if (m->source != ET_COLLIDED)
		return;
	memcpy(base->normal, m->normal, sizeof base->normal);
	for (int k = 0; k < 2; k++)
		memcpy(&base->points[k], &m->points[k], sizeof base->points[k]);
	base->rotation_a[0] = s->poses.cos[body_a];
	base->rotation_a[1] = s->poses.sin[body_a];
	base->rotation_b[0] = s->poses.cos[body_b];
	base->rotation_b[1] = s->poses.sin[body_b];
	s->base_marks[c] = 1;
	s->contacts[c].flags |= ET_BASE;
}

HELPER(LEVEL) V(mask) below(V(f) a, V(f) limit) { return V(lt)(V(abs)(a), limit); }

/* Gives bases to contacts, as rigid.System.keepBase defines it. p and q are the anchors of their points. */
HELPER(LEVEL) void keep_bases(const block_lanes *g, const et_system *s, const et_contact_block *b, const contact_lanes *l,
                              const V(f) p[4], const V(f) q[4]) {
	const V(f) time = V(set1)(s->step.recycle_time), sine = V(set1)(RECYCLE_SINE);
	V(mask) keep = g->used & below(MUL(g->a[2], time), sine) & below(MUL(g->b[2], time), sine);
	if (!keep)
		return;
	const V(f) apart = SUB(V(load)(b->points[0].cross_a + g->i), V(load)(b->points[1].cross_a + g->i));
	const V(f) limit = V(min)(MUL(V(set1)(RECYCLE_SHARE), V(abs)(apart)), V(set1)(RECYCLE_DISTANCE));
	const V(f) sum = ADD(ADD(ADD(p[0], p[1]), ADD(p[2], p[3])), ADD(ADD(q[0], q[1]), ADD(q[2], q[3])));
	keep &= V(le)(SUB(sum, sum), ZERO);
	keep &= below(MUL(SUB(g->b[0], g->a[0]), time), limit) & below(MUL(SUB(g->b[1], g->a[1]), time), limit);
	for (uint32_t k = 0; keep >> k; k++)
		if (keep >> k & 1)
			keep_base(s, l->contact[g->i + k], b->a[g->i + k], b->b[g->i + k]);
}

HELPER(LEVEL) void fill_lanes(et_contact_block *b, const et_system *s, const contact_lanes *l, uint32_t i) {
	block_lanes g;
	V(f) half[8], other[8], old[8];
	const V(u) body_a = V(loadu)(b->a + i), body_b = V(loadu)(b->b + i);
	const float *const manifolds = s->manifolds->normal, *const impulses = (const float *)(const void *)&s->contacts->flags;
	g.i = i;
	g.used = V(first)(b->contacts > i ? b->contacts - i : 0);
	V(rows8)(manifolds, l->contact + i, 16, half);
	V(rows8)(manifolds + 8, l->contact + i, 16, other);
	V(rows8)(impulses, l->contact + i, 11, old);
	V(rows4)((const float *)(const void *)s->states, b->a + i, 8, g.a);
	V(rows4)((const float *)(const void *)s->states, b->b + i, 8, g.b);
	g.ia = V(fetch)(s->inv_inertia, body_a);
	g.ib = V(fetch)(s->inv_inertia, body_b);
	g.nx = half[0];
	g.ny = half[1];
	set_field(&g, b->inv_ia, g.ia);
	set_field(&g, b->inv_ib, g.ib);
	set_field(&g, b->normal_x, g.nx);
	set_field(&g, b->normal_y, g.ny);
	set_field(&g, b->rolling_mass, inverse(ADD(g.ia, g.ib)));
	set_field(&g, b->rolling_impulse, old[1]);
	fill_point(&g, &b->points[0], half + 4, other[0], old[2], old[3]);
	if (b->points_each > 1) {
		fill_point(&g, &b->points[1], other + 2, other[6], old[5], old[6]);
		fill_coupling(&g, b);
		if (s->bases)
			keep_bases(&g, s, b, l, half + 4, other + 2);
	}

	const uint32_t dynamic_a = g.used & V(lt)(ZERO, g.a[3]), dynamic_b = g.used & V(lt)(ZERO, g.b[3]);
	b->dynamic_a |= dynamic_a << i;
	b->dynamic_b |= dynamic_b << i;
	b->flags |= fill_materials(&g, b, s, l) | ((dynamic_a & dynamic_b) != g.used ? ET_STATIC_BODY : 0u);
}

/* Updates a block whose manifolds differ only in their separations from those for which it was prepared. */
HELPER(LEVEL) void update_block(const et_system *s, et_contact_block *b, float separation[2][ET_LANES]) {
	for (uint32_t i = 0; i < b->contacts; i += V(LANES)) {
		block_lanes g;
		g.i = i;
		g.used = V(first)(b->contacts - i);
		V(rows4)((const float *)(const void *)s->states, b->a + i, 8, g.a);
		V(rows4)((const float *)(const void *)s->states, b->b + i, 8, g.b);
		g.ia = V(fetch)(s->inv_inertia, V(loadu)(b->a + i));
		g.ib = V(fetch)(s->inv_inertia, V(loadu)(b->b + i));
		g.nx = V(load)(b->normal_x + i);
		g.ny = V(load)(b->normal_y + i);
		set_field(&g, b->inv_ia, g.ia);
		set_field(&g, b->inv_ib, g.ib);
		set_field(&g, b->rolling_mass, inverse(ADD(g.ia, g.ib)));
		for (int k = 0; k < 2; k++) {
			et_contact_block_point *const p = &b->points[k];
			const block_anchors r = {V(load)(p->cross_a + i), V(load)(p->dot_a + i), V(load)(p->cross_b + i),
			                         V(load)(p->dot_b + i)};
			fill_masses(&g, p, &r, V(load)(separation[k] + i));
		}
		fill_coupling(&g, b);
	}
}

/* Updates a block of which all contacts are recycled; otherwise returns 0. */
HELPER(LEVEL) int update_recycled(const et_system *s, et_contact_block *b, const uint32_t *contact) {
	float separation[2][ET_LANES] = {{0}};
	for (uint32_t i = 0; i < b->contacts; i++) {
		const et_manifold *const m = &s->manifolds[contact[i]];
		if (m->source != ET_RECYCLED)
			return 0;
		separation[0][i] = m->points[0].separation;
		separation[1][i] = m->points[1].separation;
	}
	update_block(s, b, separation);
	return 1;
}

KERNEL(void, prepare_contacts, const et_system *s, int64_t lo, int64_t hi) {
	for (int64_t n = lo; n < hi; n++) {
		et_contact_block *const b = s->blocks + n;
		const uint32_t *const contact = s->lane_contacts + n * ET_LANES;
		contact_lanes l;
		if (s->same_blocks && update_recycled(s, b, contact))
			continue;
		b->contacts = look_up_contacts(s, contact, b, &l);
		b->points_each = s->manifolds[contact[0]].count;
		b->flags = b->dynamic_a = b->dynamic_b = 0;
		for (uint32_t i = 0; i < ET_LANES; i += V(LANES))
			fill_lanes(b, s, &l, i);
	}
}
