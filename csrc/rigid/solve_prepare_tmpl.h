#include "solve.h"
#include "solve_lanes.h"

/* What blocks are made of: see et_prepare. */
typedef struct {
	const et_manifold *manifolds;
	const et_contact *contacts;
	const et_state *states;
	const uint32_t *body;
	const float *inv_inertia, *friction, *restitution, *rolling, *tangent_speed;
	int32_t mix_friction, mix_restitution;
} sources;

/* The contacts of a block, those of the lanes without one being the first, and their
 * shapes. */
typedef struct {
	uint32_t contact[ET_LANES], a[ET_LANES], b[ET_LANES];
} lanes;

static uint32_t look_up_contacts(const sources *s, const uint32_t *contact, et_contact_block *b, lanes *l) {
	uint32_t n = 0;
	for (uint32_t i = 0; i < ET_LANES; i++) {
		const uint32_t c = contact[i] == UINT32_MAX ? contact[0] : contact[i];
		n += contact[i] != UINT32_MAX;
		l->contact[i] = c;
		l->a[i] = s->contacts[c].a;
		l->b[i] = s->contacts[c].b;
		b->a[i] = s->body[l->a[i]];
		b->b[i] = s->body[l->b[i]];
	}
	return n;
}

HELPER(LEVEL) V(f) mix(int32_t rule, V(f) a, V(f) b) {
	switch (rule) {
	case ET_GEOMETRIC:
		return V(sqrt)(MUL(a, b));
	case ET_MAX:
		return V(max)(a, b);
	case ET_MIN:
		return V(min)(a, b);
	case ET_AVERAGE:
		return MUL(V(set1)(0.5f), ADD(a, b));
	}
	return MUL(a, b);
}

/* 1/a where a > 0, 0 elsewhere. */
HELPER(LEVEL) V(f) inverse(V(f) a) { return V(pick)(a, ZERO, DIV(V(set1)(1.0f), a), ZERO); }

/* Lanes i and on of a block as they are filled: in use are those of the mask. */
typedef struct {
	uint32_t i;
	V(mask) used;
	V(f) a[4], b[4]; /* velocities and inverse masses */
	V(f) ia, ib, nx, ny;
} filling;

HELPER(LEVEL) void set_field(const filling *g, float *field, V(f) v) {
	V(store)(field + g->i, V(keep)(v, g->used));
}

/* Fills a point from its anchors, the separation and the impulses. */
HELPER(LEVEL) void fill_point(const filling *g, et_contact_point *p, const V(f) r[4],
                              V(f) separation, V(f) normal, V(f) tangent) {
	const V(f) lever_a = CROSS(r[0], r[1], g->nx, g->ny), reach_a = DOT(r[0], r[1], g->nx, g->ny);
	const V(f) lever_b = CROSS(r[2], r[3], g->nx, g->ny), reach_b = DOT(r[2], r[3], g->nx, g->ny);
	set_field(g, p->lever_a, lever_a);
	set_field(g, p->reach_a, reach_a);
	set_field(g, p->lever_b, lever_b);
	set_field(g, p->reach_b, reach_b);
	set_field(g, p->separation, separation);

	const V(f) inv_mass = ADD(g->a[3], g->b[3]);
	const V(f) along = ADD(MUL(MUL(g->ia, lever_a), lever_a), MUL(MUL(g->ib, lever_b), lever_b));
	const V(f) across = ADD(MUL(MUL(g->ia, reach_a), reach_a), MUL(MUL(g->ib, reach_b), reach_b));
	set_field(g, p->normal_mass, inverse(ADD(inv_mass, along)));
	set_field(g, p->tangent_mass, inverse(ADD(inv_mass, across)));

	const V(f) v = DOT(SUB(g->b[0], g->a[0]), SUB(g->b[1], g->a[1]), g->nx, g->ny);
	set_field(g, p->approach, ADD(v, SUB(MUL(g->b[2], lever_b), MUL(g->a[2], lever_a))));
	set_field(g, p->normal, normal);
	set_field(g, p->tangent, tangent);
	set_field(g, p->total, ZERO);
}

/* Fills what comes of the shapes, and returns flags. */
HELPER(LEVEL) uint32_t fill_surface(const filling *g, et_contact_block *b, const sources *s,
                                    const lanes *l) {
	const V(u) shape_a = V(loadu)(l->a + g->i), shape_b = V(loadu)(l->b + g->i);
	const V(f) friction = mix(s->mix_friction, V(fetch)(s->friction, shape_a), V(fetch)(s->friction, shape_b));
	const V(f) restitution =
		mix(s->mix_restitution, V(fetch)(s->restitution, shape_a), V(fetch)(s->restitution, shape_b));
	const V(f) rolling = V(max)(V(fetch)(s->rolling, shape_a), V(fetch)(s->rolling, shape_b));
	const V(f) speed = ADD(V(fetch)(s->tangent_speed, shape_a), V(fetch)(s->tangent_speed, shape_b));
	set_field(g, b->friction, friction);
	set_field(g, b->restitution, restitution);
	set_field(g, b->rolling_resistance, rolling);
	set_field(g, b->tangent_speed, speed);
	const V(mask) still = V(le)(speed, ZERO) & V(le)(ZERO, speed);
	return (g->used & V(lt)(ZERO, restitution) ? ET_BOUNCES : 0u) | (g->used & V(lt)(ZERO, rolling) ? ET_ROLLS : 0u) |
	       (g->used & (V(mask))~still ? ET_CONVEYS : 0u);
}

HELPER(LEVEL) void fill_lanes(et_contact_block *b, const sources *s, const lanes *l, uint32_t i) {
	filling g;
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
	set_field(&g, b->nx, g.nx);
	set_field(&g, b->ny, g.ny);
	set_field(&g, b->rolling_mass, inverse(ADD(g.ia, g.ib)));
	set_field(&g, b->rolling, old[1]);
	fill_point(&g, &b->points[0], half + 4, other[0], old[2], old[3]);
	if (b->points_each > 1)
		fill_point(&g, &b->points[1], other + 2, other[6], old[5], old[6]);

	const uint32_t dynamic_a = g.used & V(lt)(ZERO, g.a[3]), dynamic_b = g.used & V(lt)(ZERO, g.b[3]);
	b->dynamic_a |= dynamic_a << i;
	b->dynamic_b |= dynamic_b << i;
	b->flags |= fill_surface(&g, b, s, l) | ((dynamic_a & dynamic_b) != g.used ? ET_FIXED : 0u);
}

KERNEL(void, prepare, et_contact_block *blocks, const uint32_t *contact, int64_t n, const sources *s) {
	for (et_contact_block *b = blocks; b < blocks + n; b++, contact += ET_LANES) {
		lanes l;
		b->contacts = look_up_contacts(s, contact, b, &l);
		b->points_each = s->manifolds[contact[0]].count;
		b->flags = b->dynamic_a = b->dynamic_b = 0;
		for (uint32_t i = 0; i < ET_LANES; i += V(LANES))
			fill_lanes(b, s, &l, i);
	}
}

#ifdef DISPATCH
void et_prepare(int32_t level, et_contact_block *blocks, const uint32_t *contact, int64_t n,
                const et_manifold *manifolds, const et_contact *contacts, const et_state *states,
                const uint32_t *body, const float *inv_inertia, const float *friction, const float *restitution,
                const float *rolling, const float *tangent_speed, int32_t mix_friction, int32_t mix_restitution) {
	const sources s = {manifolds, contacts, states, body, inv_inertia, friction, restitution, rolling,
	                   tangent_speed, mix_friction, mix_restitution};
	DISPATCH(level, prepare, blocks, contact, n, &s);
}
#endif
