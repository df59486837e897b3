HELPER(LEVEL) V(f) CAT(mix_, LEVEL)(int32_t rule, V(f) a, V(f) b) {
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
HELPER(LEVEL) V(f) CAT(inverse_, LEVEL)(V(f) a) { return V(pick)(a, ZERO, DIV(V(set1)(1.0f), a), ZERO); }

/* Lanes i and on of a block as they are filled: in use are those of the mask. */
typedef struct {
	uint32_t i;
	V(mask) used;
	V(f) a[4], b[4]; /* velocities and inverse masses */
	V(f) ia, ib, nx, ny;
} CAT(filling_, LEVEL);

HELPER(LEVEL) void CAT(fill_, LEVEL)(const CAT(filling_, LEVEL) *g, float *field, V(f) v) {
	V(store)(field + g->i, V(keep)(v, g->used));
}

/* Fills a point from its anchors, the separation and the impulses. */
HELPER(LEVEL) void CAT(fill_point_, LEVEL)(const CAT(filling_, LEVEL) *g, et_contact_point *p, const V(f) r[4],
                                           V(f) separation, V(f) normal, V(f) tangent) {
	const V(f) lever_a = CROSS(r[0], r[1], g->nx, g->ny), reach_a = DOT(r[0], r[1], g->nx, g->ny);
	const V(f) lever_b = CROSS(r[2], r[3], g->nx, g->ny), reach_b = DOT(r[2], r[3], g->nx, g->ny);
	CAT(fill_, LEVEL)(g, p->lever_a, lever_a);
	CAT(fill_, LEVEL)(g, p->reach_a, reach_a);
	CAT(fill_, LEVEL)(g, p->lever_b, lever_b);
	CAT(fill_, LEVEL)(g, p->reach_b, reach_b);
	CAT(fill_, LEVEL)(g, p->separation, separation);

	const V(f) inv_mass = ADD(g->a[3], g->b[3]);
	const V(f) along = ADD(MUL(MUL(g->ia, lever_a), lever_a), MUL(MUL(g->ib, lever_b), lever_b));
	const V(f) across = ADD(MUL(MUL(g->ia, reach_a), reach_a), MUL(MUL(g->ib, reach_b), reach_b));
	CAT(fill_, LEVEL)(g, p->normal_mass, CAT(inverse_, LEVEL)(ADD(inv_mass, along)));
	CAT(fill_, LEVEL)(g, p->tangent_mass, CAT(inverse_, LEVEL)(ADD(inv_mass, across)));

	const V(f) v = DOT(SUB(g->b[0], g->a[0]), SUB(g->b[1], g->a[1]), g->nx, g->ny);
	CAT(fill_, LEVEL)(g, p->approach, ADD(v, SUB(MUL(g->b[2], lever_b), MUL(g->a[2], lever_a))));
	CAT(fill_, LEVEL)(g, p->normal, normal);
	CAT(fill_, LEVEL)(g, p->tangent, tangent);
	CAT(fill_, LEVEL)(g, p->total, ZERO);
}

/* Fills what comes of the shapes, and returns flags. */
HELPER(LEVEL) uint32_t CAT(fill_surface_, LEVEL)(const CAT(filling_, LEVEL) *g, et_contact_block *b, const sources *s,
                                                 const lanes *l) {
	const V(u) shape_a = V(loadu)(l->a + g->i), shape_b = V(loadu)(l->b + g->i);
	const V(f) friction = CAT(mix_, LEVEL)(s->mix_friction, V(fetch)(s->friction, shape_a), V(fetch)(s->friction, shape_b));
	const V(f) restitution =
		CAT(mix_, LEVEL)(s->mix_restitution, V(fetch)(s->restitution, shape_a), V(fetch)(s->restitution, shape_b));
	const V(f) rolling = V(max)(V(fetch)(s->rolling, shape_a), V(fetch)(s->rolling, shape_b));
	const V(f) speed = ADD(V(fetch)(s->tangent_speed, shape_a), V(fetch)(s->tangent_speed, shape_b));
	CAT(fill_, LEVEL)(g, b->friction, friction);
	CAT(fill_, LEVEL)(g, b->restitution, restitution);
	CAT(fill_, LEVEL)(g, b->rolling_resistance, rolling);
	CAT(fill_, LEVEL)(g, b->tangent_speed, speed);
	const V(mask) still = V(le)(speed, ZERO) & V(le)(ZERO, speed);
	return (g->used & V(lt)(ZERO, restitution) ? ET_BOUNCES : 0u) | (g->used & V(lt)(ZERO, rolling) ? ET_ROLLS : 0u) |
	       (g->used & (V(mask))~still ? ET_CONVEYS : 0u);
}

HELPER(LEVEL) void CAT(fill_lanes_, LEVEL)(et_contact_block *b, const sources *s, const lanes *l, uint32_t i) {
	CAT(filling_, LEVEL) g;
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
	CAT(fill_, LEVEL)(&g, b->inv_ia, g.ia);
	CAT(fill_, LEVEL)(&g, b->inv_ib, g.ib);
	CAT(fill_, LEVEL)(&g, b->nx, g.nx);
	CAT(fill_, LEVEL)(&g, b->ny, g.ny);
	CAT(fill_, LEVEL)(&g, b->rolling_mass, CAT(inverse_, LEVEL)(ADD(g.ia, g.ib)));
	CAT(fill_, LEVEL)(&g, b->rolling, old[1]);
	CAT(fill_point_, LEVEL)(&g, &b->points[0], half + 4, other[0], old[2], old[3]);
	if (b->points_each > 1)
		CAT(fill_point_, LEVEL)(&g, &b->points[1], other + 2, other[6], old[5], old[6]);

	const uint32_t dynamic_a = g.used & V(lt)(ZERO, g.a[3]), dynamic_b = g.used & V(lt)(ZERO, g.b[3]);
	b->dynamic_a |= dynamic_a << i;
	b->dynamic_b |= dynamic_b << i;
	b->flags |= CAT(fill_surface_, LEVEL)(&g, b, s, l) | ((dynamic_a & dynamic_b) != g.used ? ET_FIXED : 0u);
}

KERNEL(LEVEL) void CAT(prepare_, LEVEL)(et_contact_block *blocks, const uint32_t *contact, int64_t n, const sources *s) {
	for (et_contact_block *b = blocks; b < blocks + n; b++, contact += ET_LANES) {
		lanes l;
		b->contacts = look_up(s, contact, b, &l);
		b->points_each = s->manifolds[contact[0]].count;
		b->flags = b->dynamic_a = b->dynamic_b = 0;
		for (uint32_t i = 0; i < ET_LANES; i += V(LANES))
			CAT(fill_lanes_, LEVEL)(b, s, &l, i);
	}
}
