/* The bodies of some contacts: velocities, inverse masses and inertias, and the normal. */
typedef struct {
	V(f) a[4], b[4]; /* vx, vy, w, inverse mass */
	V(f) ia, ib, nx, ny;
} CAT(pair_, LEVEL);

HELPER(LEVEL) void CAT(load_pair_, LEVEL)(const et_contact_block *b, uint32_t i, CAT(pair_, LEVEL) *m) {
	m->ia = V(load)(b->inv_ia + i);
	m->ib = V(load)(b->inv_ib + i);
	m->nx = V(load)(b->nx + i);
	m->ny = V(load)(b->ny + i);
}

HELPER(LEVEL) void CAT(put_pair_, LEVEL)(et_state *states, const et_contact_block *b, uint32_t i,
                                         const CAT(pair_, LEVEL) *m) {
	V(put4)(velocities(states), b->a + i, 8, m->a, b->dynamic_a >> i);
	V(put4)(velocities(states), b->b + i, 8, m->b, b->dynamic_b >> i);
}

/* The anchors of a point. */
typedef struct {
	V(f) ax, ay, bx, by;
} CAT(anchors_, LEVEL);

HELPER(LEVEL) CAT(anchors_, LEVEL) CAT(anchors_of_, LEVEL)(const et_contact_point *p, uint32_t i) {
	const CAT(anchors_, LEVEL) r = {V(load)(p->ax + i), V(load)(p->ay + i), V(load)(p->bx + i), V(load)(p->by + i)};
	return r;
}

/* Adds the impulse (px, py) at the anchors to B, and takes it from A. */
HELPER(LEVEL) void CAT(push_, LEVEL)(CAT(pair_, LEVEL) *m, const CAT(anchors_, LEVEL) *r, V(f) px, V(f) py) {
	m->a[0] = SUB(m->a[0], MUL(m->a[3], px));
	m->a[1] = SUB(m->a[1], MUL(m->a[3], py));
	m->a[2] = SUB(m->a[2], MUL(m->ia, CROSS(r->ax, r->ay, px, py)));
	m->b[0] = ADD(m->b[0], MUL(m->b[3], px));
	m->b[1] = ADD(m->b[1], MUL(m->b[3], py));
	m->b[2] = ADD(m->b[2], MUL(m->ib, CROSS(r->bx, r->by, px, py)));
}

/* The velocity of B past A at the anchors. */
HELPER(LEVEL) V(f) CAT(past_x_, LEVEL)(const CAT(pair_, LEVEL) *m, const CAT(anchors_, LEVEL) *r) {
	return SUB(SUB(m->b[0], MUL(m->b[2], r->by)), SUB(m->a[0], MUL(m->a[2], r->ay)));
}
HELPER(LEVEL) V(f) CAT(past_y_, LEVEL)(const CAT(pair_, LEVEL) *m, const CAT(anchors_, LEVEL) *r) {
	return SUB(ADD(m->b[1], MUL(m->b[2], r->bx)), ADD(m->a[1], MUL(m->a[2], r->ax)));
}

KERNEL(LEVEL) void CAT(warm_start_, LEVEL)(const et_contact_block *blocks, int64_t n, et_state *states) {
	for (const et_contact_block *b = blocks; b < blocks + n; b++) {
		for (uint32_t i = 0; i < b->contacts; i += V(LANES)) {
			CAT(pair_, LEVEL) m;
			CAT(load_pair_, LEVEL)(b, i, &m);
			V(rows4)(velocities(states), b->a + i, 8, m.a);
			V(rows4)(velocities(states), b->b + i, 8, m.b);
			for (uint32_t k = 0; k < b->points_each; k++) {
				const et_contact_point *const p = &b->points[k];
				const CAT(anchors_, LEVEL) r = CAT(anchors_of_, LEVEL)(p, i);
				const V(f) normal = V(load)(p->normal + i), tangent = V(load)(p->tangent + i);
				CAT(push_, LEVEL)(&m, &r, DOT(normal, tangent, m.nx, m.ny), CROSS(normal, tangent, m.nx, m.ny));
			}
			const V(f) rolling = V(load)(b->rolling + i);
			m.a[2] = SUB(m.a[2], MUL(m.ia, rolling));
			m.b[2] = ADD(m.b[2], MUL(m.ib, rolling));
			CAT(put_pair_, LEVEL)(states, b, i, &m);
		}
	}
}

/* One iteration of friction at a point. */
HELPER(LEVEL) void CAT(rub_, LEVEL)(const et_contact_block *b, et_contact_point *p, uint32_t i, CAT(pair_, LEVEL) *m,
                                    V(f) normal) {
	const CAT(anchors_, LEVEL) r = CAT(anchors_of_, LEVEL)(p, i);
	const V(f) vx = CAT(past_x_, LEVEL)(m, &r), vy = CAT(past_y_, LEVEL)(m, &r);
	const V(f) v = SUB(CROSS(vx, vy, m->nx, m->ny), V(load)(b->tangent_speed + i));
	const V(f) limit = MUL(V(load)(b->friction + i), normal);
	const V(f) old = V(load)(p->tangent + i);
	const V(f) least = V(min)(SUB(old, MUL(V(load)(p->tangent_mass + i), v)), limit);
	const V(f) total = V(max)(least, V(negate)(limit));
	const V(f) more = SUB(total, old);
	V(store)(p->tangent + i, total);
	CAT(push_, LEVEL)(m, &r, MUL(more, m->ny), V(negate)(MUL(more, m->nx)));
}

HELPER(LEVEL) void CAT(roll_, LEVEL)(et_contact_block *b, uint32_t i, CAT(pair_, LEVEL) *m, V(f) sum) {
	const V(f) limit = MUL(V(load)(b->rolling_resistance + i), sum);
	const V(f) old = V(load)(b->rolling + i);
	const V(f) turned = MUL(V(load)(b->rolling_mass + i), SUB(m->b[2], m->a[2]));
	const V(f) total = V(max)(V(min)(SUB(old, turned), limit), V(negate)(limit));
	V(store)(b->rolling + i, total);
	m->a[2] = SUB(m->a[2], MUL(m->ia, SUB(total, old)));
	m->b[2] = ADD(m->b[2], MUL(m->ib, SUB(total, old)));
}

/* How far the surfaces are apart at the anchors now; a and b are the moves of the bodies. */
HELPER(LEVEL) V(f) CAT(apart_, LEVEL)(const V(f) a[4], const V(f) b[4], const CAT(anchors_, LEVEL) *r,
                                      const CAT(pair_, LEVEL) *m, V(f) separation) {
	const V(f) x = SUB(ADD(b[0], CROSS(b[2], b[3], r->by, r->bx)), ADD(a[0], CROSS(a[2], a[3], r->ay, r->ax)));
	const V(f) y = SUB(ADD(b[1], DOT(b[3], b[2], r->bx, r->by)), ADD(a[1], DOT(a[3], a[2], r->ax, r->ay)));
	return ADD(DOT(x, y, m->nx, m->ny), separation);
}

/* One iteration of the normal impulse at a point. */
HELPER(LEVEL) void CAT(press_, LEVEL)(et_contact_point *p, uint32_t i, CAT(pair_, LEVEL) *m, const V(f) a[4],
                                      const V(f) b[4], const softness *soft, float inv_h, float push, int biased) {
	const CAT(anchors_, LEVEL) r = CAT(anchors_of_, LEVEL)(p, i);
	const V(f) x = CAT(apart_, LEVEL)(a, b, &r, m, V(load)(p->separation + i));
	const V(f) deep = V(max)(MUL(V(set1)(soft->rate), V(min)(x, ZERO)), V(set1)(-push));
	const V(f) bias = V(pick)(x, ZERO, MUL(x, V(set1)(inv_h)), deep);
	const V(f) mass = V(pick)(x, ZERO, V(set1)(1.0f), V(set1)(soft->mass));
	const V(f) leak = V(pick)(x, ZERO, ZERO, V(set1)(soft->impulse));
	const V(f) vx = CAT(past_x_, LEVEL)(m, &r), vy = CAT(past_y_, LEVEL)(m, &r);
	const V(f) v = DOT(vx, vy, m->nx, m->ny);
	const V(f) old = V(load)(p->normal + i);
	const V(f) stiff = SUB(old, MUL(MUL(V(load)(p->normal_mass + i), mass), ADD(v, bias)));
	const V(f) total = V(max)(SUB(stiff, MUL(leak, old)), ZERO);
	const V(f) more = SUB(total, old);
	V(store)(p->normal + i, total);
	if (!biased)
		V(store)(p->total + i, ADD(V(load)(p->total + i), total));
	CAT(push_, LEVEL)(m, &r, MUL(more, m->nx), MUL(more, m->ny));
}

HELPER(LEVEL) void CAT(solve_block_, LEVEL)(et_contact_block *b, et_state *states, const softness *soft, float inv_h,
                                            float push, const int biased, const uint32_t points) {
	for (uint32_t i = 0; i < b->contacts; i += V(LANES)) {
		CAT(pair_, LEVEL) m;
		V(f) a[8], c[8];
		CAT(load_pair_, LEVEL)(b, i, &m);
		V(rows8)(velocities(states), b->a + i, 8, a);
		V(rows8)(velocities(states), b->b + i, 8, c);
		for (int k = 0; k < 4; k++) {
			m.a[k] = a[k];
			m.b[k] = c[k];
		}
		V(f) sum = ZERO;
		for (uint32_t k = 0; k < points; k++) {
			const V(f) normal = V(load)(b->points[k].normal + i);
			sum = ADD(sum, normal);
			CAT(rub_, LEVEL)(b, &b->points[k], i, &m, normal);
		}
		if (b->flags & ET_ROLLS)
			CAT(roll_, LEVEL)(b, i, &m, sum);
		for (uint32_t k = 0; k < points; k++)
			CAT(press_, LEVEL)(&b->points[k], i, &m, a + 4, c + 4, soft, inv_h, push, biased);
		CAT(put_pair_, LEVEL)(states, b, i, &m);
	}
}

KERNEL(LEVEL) void CAT(solve_, LEVEL)(et_contact_block *blocks, int64_t n, et_state *states, const softness *soft,
                                      float inv_h, float push, int32_t biased) {
	for (et_contact_block *b = blocks; b < blocks + n; b++) {
		const softness *const s = &soft[b->flags & ET_FIXED];
		if (biased && b->points_each == 2)
			CAT(solve_block_, LEVEL)(b, states, s, inv_h, push, 1, 2);
		else if (biased)
			CAT(solve_block_, LEVEL)(b, states, s, inv_h, push, 1, 1);
		else if (b->points_each == 2)
			CAT(solve_block_, LEVEL)(b, states, s, inv_h, push, 0, 2);
		else
			CAT(solve_block_, LEVEL)(b, states, s, inv_h, push, 0, 1);
	}
}

/* The normal impulse of a point that bounces. */
HELPER(LEVEL) void CAT(bounce_, LEVEL)(et_contact_point *p, uint32_t i, CAT(pair_, LEVEL) *m, V(f) restitution,
                                       float threshold) {
	const CAT(anchors_, LEVEL) r = CAT(anchors_of_, LEVEL)(p, i);
	const V(f) vx = CAT(past_x_, LEVEL)(m, &r), vy = CAT(past_y_, LEVEL)(m, &r);
	const V(f) v = DOT(vx, vy, m->nx, m->ny), approach = V(load)(p->approach + i);
	const V(f) old = V(load)(p->normal + i), sum = V(load)(p->total + i);
	const V(f) back = ADD(v, MUL(restitution, approach));
	V(f) total = V(max)(SUB(old, MUL(V(load)(p->normal_mass + i), back)), ZERO);
	total = V(pick)(restitution, ZERO, total, old);
	total = V(pick)(V(set1)(-threshold), approach, total, old);
	total = V(pick)(sum, ZERO, total, old);
	const V(f) more = SUB(total, old);
	V(store)(p->normal + i, total);
	V(store)(p->total + i, ADD(sum, more));
	CAT(push_, LEVEL)(m, &r, MUL(more, m->nx), MUL(more, m->ny));
}

KERNEL(LEVEL) void CAT(restitution_, LEVEL)(et_contact_block *blocks, int64_t n, et_state *states, float threshold) {
	for (et_contact_block *b = blocks; b < blocks + n; b++) {
		if (!(b->flags & ET_BOUNCES))
			continue;
		for (uint32_t i = 0; i < b->contacts; i += V(LANES)) {
			CAT(pair_, LEVEL) m;
			CAT(load_pair_, LEVEL)(b, i, &m);
			V(rows4)(velocities(states), b->a + i, 8, m.a);
			V(rows4)(velocities(states), b->b + i, 8, m.b);
			const V(f) restitution = V(load)(b->restitution + i);
			for (uint32_t k = 0; k < b->points_each; k++)
				CAT(bounce_, LEVEL)(&b->points[k], i, &m, restitution, threshold);
			CAT(put_pair_, LEVEL)(states, b, i, &m);
		}
	}
}
