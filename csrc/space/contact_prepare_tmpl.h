#include "contacts.h"

/* A lane of a block and of what it is made from: numbers of contacts and materials. */
typedef struct {
	uint32_t contact[V(LANES)], material_a[V(LANES)], material_b[V(LANES)];
	V(mask) used;
} lane_numbers;

HELPER(LEVEL) void put_vec(float field[3][ET_SPACE_LANES], uint32_t i, vec v) {
	V(store)(field[0] + i, v.x);
	V(store)(field[1] + i, v.y);
	V(store)(field[2] + i, v.z);
}

/* Stores the inverse of a symmetric matrix of two rows, as PlanarLanes.setInverse. */
HELPER(LEVEL) void put_inverse(float field[3][ET_SPACE_LANES], uint32_t i, V(f) xx, V(f) yy, V(f) xy) {
	const V(f) square = MUL(xx, yy), determinant = SUB(square, MUL(xy, xy)), trace = inverse(ADD(xx, yy)), t = MUL(trace, trace);
	const V(f) limit = MUL(V(set1)(0x1p-16f), square), d = inverse(determinant);
	V(store)(field[0] + i, V(pick)(determinant, limit, MUL(yy, d), MUL(xx, t)));
	V(store)(field[1] + i, V(pick)(determinant, limit, MUL(xx, d), MUL(yy, t)));
	V(store)(field[2] + i, V(pick)(determinant, limit, V(negate)(MUL(xy, d)), MUL(xy, t)));
}

/* The numbers of the lanes from i on. Those beyond the contacts of the block have the contact of lane 0. Sets the bodies
 * of the block. */
HELPER(LEVEL) lane_numbers number_lanes(const et_space_system *s, et_space_block *b, const uint32_t *contacts, uint32_t i) {
	lane_numbers n;
	n.used = V(first)(b->contacts > i ? b->contacts - i : 0);
	for (uint32_t k = 0; k < V(LANES); k++) {
		n.contact[k] = contacts[i + k < b->contacts ? i + k : 0];
		const et_space_contact *const c = &s->contacts[n.contact[k]];
		const int64_t mixed = (int64_t)n.contact[k] - s->first_mixed;
		n.material_a[k] = mixed < 0 ? c->a : (uint32_t)(s->shape_count + mixed);
		n.material_b[k] = mixed < 0 ? c->b : (uint32_t)(s->shape_count + mixed);
		b->a[i + k] = s->body_of[c->a];
		b->b[i + k] = s->body_of[c->b];
	}
	return n;
}

HELPER(LEVEL) vec perpendicular(vec n) {
	const V(f) most = V(set1)(0.75f);
	const V(mask) flat = V(le)(most, V(abs)(n.x)) | V(le)(most, V(abs)(n.y));
	const vec v = {V(select)(flat, n.y, ZERO), V(select)(flat, V(negate)(n.x), n.z), V(select)(flat, ZERO, V(negate)(n.y))};
	const V(f) length = V(sqrt)(dot(v, v));
	return (vec){V(pick)(length, ZERO, DIV(v.x, length), ONE), V(pick)(length, ZERO, DIV(v.y, length), ZERO),
	             V(pick)(length, ZERO, DIV(v.z, length), ZERO)};
}

/* One body of some contacts: its state, and its inverse inertia. */
typedef struct {
	V(f) state[8], inertia[8];
	vec v, w;
} contact_body;

HELPER(LEVEL) void load_body(const et_space_system *s, const uint32_t *index, float field[6][ET_SPACE_LANES], uint32_t i, contact_body *o) {
	V(rows8)((const float *)(const void *)s->states, index, STATE, o->state);
	V(rows8)((const float *)(const void *)s->inertia, index, INERTIA, o->inertia);
	o->v = (vec){o->state[0], o->state[1], o->state[2]};
	o->w = (vec){o->state[4], o->state[5], o->state[6]};
	for (int k = 0; k < 6; k++)
		V(store)(field[k] + i, o->inertia[k]);
}

/* What an impulse along p does to the velocity along q of both bodies, with locks. */
HELPER(LEVEL) V(f) locked_mass(const contact_body *a, const contact_body *b, vec p, vec q) {
	return ADD(MUL(a->state[3], dot(unlocked(p, a->state[7]), q)), MUL(b->state[3], dot(unlocked(p, b->state[7]), q)));
}

/* Sums of inverse masses: along the normal, along both tangents, and of one tangent on the other. */
typedef struct {
	V(f) normal, along1, along2, across;
} pair_mass;

HELPER(LEVEL) pair_mass mass_of(et_space_block *block, V(mask) used, const contact_body *a, const contact_body *b, vec n, vec t1, vec t2) {
	const V(f) sum = ADD(a->state[3], b->state[3]);
	pair_mass m = {sum, sum, sum, ZERO};
	const V(mask) locked = V(nequ)(V(oru)(V(asu)(a->state[7]), V(asu)(b->state[7])), V(asu)(ZERO)) & used;
	if (locked) {
		block->flags |= ET_SPACE_LOCKED;
		m.normal = V(select)(locked, locked_mass(a, b, n, n), sum);
		m.along1 = V(select)(locked, locked_mass(a, b, t1, t1), sum);
		m.along2 = V(select)(locked, locked_mass(a, b, t2, t2), sum);
		m.across = V(select)(locked, locked_mass(a, b, t1, t2), ZERO);
	}
	return m;
}

HELPER(LEVEL) void mix_materials(const et_space_system *s, et_space_block *b, uint32_t i, const lane_numbers *n, vec t1, vec t2) {
	const float *const materials = (const float *)(const void *)s->materials;
	V(f) x[4], y[4], belt_a[4], belt_b[4];
	V(rows4)(materials, n->material_a, MATERIAL, x);
	V(rows4)(materials, n->material_b, MATERIAL, y);
	V(rows4)(materials + 3, n->material_a, MATERIAL, belt_a);
	V(rows4)(materials + 3, n->material_b, MATERIAL, belt_b);
	const V(f) restitution = V(max)(x[1], y[1]), rolling = V(max)(x[2], y[2]), twist = V(max)(x[3], y[3]);
	const vec belt = vec_add((vec){belt_a[1], belt_a[2], belt_a[3]}, (vec){belt_b[1], belt_b[2], belt_b[3]});
	const V(f) surface_x = ADD(dot(belt, t1), ZERO), surface_y = ADD(dot(belt, t2), ZERO);
	V(store)(b->friction + i, V(sqrt)(MUL(x[0], y[0])));
	V(store)(b->restitution + i, restitution);
	V(store)(b->rolling_resistance + i, rolling);
	V(store)(b->twist_resistance + i, twist);
	V(store)(b->surface_x + i, surface_x);
	V(store)(b->surface_y + i, surface_y);
	if ((nonzero(surface_x) | nonzero(surface_y)) & n->used)
		b->flags |= ET_SPACE_SURFACE;
	if (V(lt)(ZERO, restitution) & n->used)
		b->flags |= ET_SPACE_RESTITUTION;
	if ((V(lt)(ZERO, rolling) | V(lt)(ZERO, twist)) & n->used)
		b->flags |= ET_SPACE_ROLLING;
}

HELPER(LEVEL) void mark_dynamic(et_space_block *b, uint32_t i, V(mask) used, V(f) mass_a, V(f) mass_b) {
	const uint32_t a = V(lt)(ZERO, mass_a) & used, c = V(lt)(ZERO, mass_b) & used;
	b->dynamic_a |= a << i;
	b->dynamic_b |= c << i;
	if ((a & c) != used)
		b->flags |= ET_SPACE_STATIC_BODY;
}

HELPER(LEVEL) void prepare_points(const et_space_system *s, et_space_block *block, uint32_t i, const lane_numbers *numbers, vec n, uint32_t points) {
	const float *const manifolds = (const float *)(const void *)s->manifolds, *const contacts = (const float *)(const void *)s->contacts;
	V(f) point[4][8], impulses[8], tangent[4];
	vec centre_a = {ZERO, ZERO, ZERO}, centre_b = centre_a;
	const V(f) weight = V(set1)(1.0f / (float)points);
	for (uint32_t k = 0; k < points; k++) {
		V(rows8)(manifolds + 4 + 8 * k, numbers->contact, MANIFOLD, point[k]);
		centre_a = add_times(centre_a, (vec){point[k][0], point[k][1], point[k][2]}, weight);
		centre_b = add_times(centre_b, (vec){point[k][3], point[k][4], point[k][5]}, weight);
	}
	const vec t1 = perpendicular(n), t2 = cross(n, t1);
	put_vec(block->normal, i, n);
	put_vec(block->tangent, i, t1);
	put_vec(block->anchor_a, i, centre_a);
	put_vec(block->anchor_b, i, centre_b);
	contact_body a, b;
	load_body(s, block->a + i, block->inertia_a, i, &a);
	load_body(s, block->b + i, block->inertia_b, i, &b);
	mark_dynamic(block, i, numbers->used, a.state[3], b.state[3]);
	const pair_mass mass = mass_of(block, numbers->used, &a, &b, n, t1, t2);

	const vec ja = cross(centre_a, n), jb = cross(centre_b, n), w = vec_sub(b.w, a.w);
	const V(f) vn = ADD(dot(vec_sub(b.v, a.v), n), SUB(dot(b.w, jb), dot(a.w, ja))), w1 = dot(w, t1), w2 = dot(w, t2);
	V(rows8)(contacts + 4, numbers->contact, CONTACT, impulses);
	vec ka[4], kb[4];
	for (uint32_t k = 0; k < points; k++) {
		et_space_block_point *const p = &block->points[k];
		const vec offset = vec_sub((vec){point[k][0], point[k][1], point[k][2]}, centre_a);
		const V(f) at_a = dot(offset, t2), at_b = V(negate)(dot(offset, t1));
		V(store)(p->a + i, at_a);
		V(store)(p->b + i, at_b);
		V(store)(p->lever_arm + i, V(sqrt)(dot(offset, offset)));
		V(store)(p->base_separation + i, point[k][6]);
		V(store)(p->separation + i, point[k][6]);
		V(store)(p->impulse + i, impulses[2 * k]);
		V(store)(p->total_impulse + i, ZERO);
		V(store)(block->approach[k] + i, ZERO);
		V(store)(block->relative_velocity[k] + i, ADD(vn, ADD(MUL(at_a, w1), MUL(at_b, w2))));
		const vec turn = add_times(vec_times(t1, at_a), t2, at_b), pa = vec_add(ja, turn), pb = vec_add(jb, turn);
		ka[k] = sym_times(a.inertia, pa);
		kb[k] = sym_times(b.inertia, pb);
		V(store)(p->mass + i, inverse(ADD(mass.normal, ADD(dot(pa, ka[k]), dot(pb, kb[k])))));
		for (uint32_t o = 0; o < k; o++)
			V(store)(block->couplings[couplings[k][o]] + i, ADD(mass.normal, ADD(dot(pa, ka[o]), dot(pb, kb[o]))));
	}

	const vec j1a = cross(centre_a, t1), j1b = cross(centre_b, t1), j2a = cross(centre_a, t2), j2b = cross(centre_b, t2);
	const vec k1a = sym_times(a.inertia, j1a), k1b = sym_times(b.inertia, j1b);
	const vec k2a = sym_times(a.inertia, j2a), k2b = sym_times(b.inertia, j2b);
	put_inverse(block->friction_mass, i, ADD(mass.along1, ADD(dot(j1a, k1a), dot(j1b, k1b))),
	            ADD(mass.along2, ADD(dot(j2a, k2a), dot(j2b, k2b))), ADD(mass.across, ADD(dot(j1a, k2a), dot(j1b, k2b))));
	V(store)(block->twist1 + i, ADD(dot(n, k1a), dot(n, k1b)));
	V(store)(block->twist2 + i, ADD(dot(n, k2a), dot(n, k2b)));
	V(store)(block->twist_mass + i, inverse(ADD(dot(n, sym_times(a.inertia, n)), dot(n, sym_times(b.inertia, n)))));
	V(rows4)(contacts + 12, numbers->contact, CONTACT, tangent);
	const vec friction = {tangent[0], tangent[1], tangent[2]};
	V(store)(block->x + i, dot(friction, t1));
	V(store)(block->y + i, dot(friction, t2));
	V(store)(block->twist + i, tangent[3]);
	mix_materials(s, block, i, numbers, t1, t2);
}

HELPER(LEVEL) void prepare_rolling(const et_space_system *s, et_space_block *b, uint32_t i, const lane_numbers *n) {
	const vec t1 = LINES(b->tangent, i), t2 = cross(LINES(b->normal, i), t1);
	V(f) inertia_a[6], inertia_b[6], row[4];
	for (int k = 0; k < 6; k++) {
		inertia_a[k] = V(load)(b->inertia_a[k] + i);
		inertia_b[k] = V(load)(b->inertia_b[k] + i);
	}
	const vec r1 = vec_add(sym_times(inertia_a, t1), sym_times(inertia_b, t1));
	const vec r2 = vec_add(sym_times(inertia_a, t2), sym_times(inertia_b, t2));
	put_inverse(b->rolling_mass, i, dot(t1, r1), dot(t2, r2), dot(t1, r2));
	V(rows4)((const float *)(const void *)s->contacts + 15, n->contact, CONTACT, row);
	const vec rolling = {row[1], row[2], row[3]};
	V(store)(b->rolling_x + i, dot(rolling, t1));
	V(store)(b->rolling_y + i, dot(rolling, t2));
}

HELPER(LEVEL) void prepare_block(const et_space_system *s, et_space_block *b, const uint32_t *contacts) {
	for (uint32_t i = 0; i < ET_SPACE_LANES; i += V(LANES)) {
		const lane_numbers n = number_lanes(s, b, contacts, i);
		V(f) normal[4];
		if (i >= b->contacts)
			continue;
		V(rows4)((const float *)(const void *)s->manifolds, n.contact, MANIFOLD, normal);
		prepare_points(s, b, i, &n, (vec){normal[0], normal[1], normal[2]}, b->points_each);
	}
	for (uint32_t i = 0; i < b->contacts && b->flags & ET_SPACE_ROLLING; i += V(LANES)) {
		const lane_numbers n = number_lanes(s, b, contacts, i);
		prepare_rolling(s, b, i, &n);
	}
}

KERNEL(void, space_prepare_contacts, const et_space_system *s, int64_t lo, int64_t hi) {
	for (int64_t n = lo; n < hi; n++) {
		const uint32_t *const contacts = s->lane_contacts + n * ET_SPACE_LANES;
		et_space_block *const b = s->blocks + n;
		b->contacts = b->flags = b->dynamic_a = b->dynamic_b = 0;
		b->points_each = s->manifolds[contacts[0]].count;
		while (b->contacts < ET_SPACE_LANES && contacts[b->contacts] != UINT32_MAX)
			b->contacts++;
		prepare_block(s, b, contacts);
	}
}

/* Stores the impulses of LANES contacts of a block. */
HELPER(LEVEL) void store_impulses(const et_space_system *s, const et_space_block *b, uint32_t i, const uint32_t *index, const uint32_t used) {
	float *const contacts = (float *)(void *)s->contacts;
	const vec t1 = LINES(b->tangent, i), t2 = cross(LINES(b->normal, i), t1);
	V(f) impulses[8], speed = ZERO, sum = ZERO;
	V(rows8)(contacts + 4, index, CONTACT, impulses);
	for (uint32_t k = 0; k < b->points_each; k++) {
		const et_space_block_point *const p = &b->points[k];
		const V(f) total = V(load)(p->total_impulse + i), approach = V(negate)(V(load)(b->relative_velocity[k] + i));
		impulses[2 * k] = V(load)(p->impulse + i);
		speed = V(pick)(total, ZERO, V(max)(approach, speed), speed);
		sum = ADD(sum, total);
	}
	V(put8)(contacts + 4, index, CONTACT, impulses, used);
	const vec tangent = add_times(vec_times(t1, V(load)(b->x + i)), t2, V(load)(b->y + i));
	vec rolling = {ZERO, ZERO, ZERO};
	if (b->flags & ET_SPACE_ROLLING)
		rolling = vec_select(rolling_lanes(b, i), add_times(vec_times(t1, V(load)(b->rolling_x + i)), t2, V(load)(b->rolling_y + i)), rolling);
	const V(f) twist = V(load)(b->twist + i), row[8] = {tangent.x, tangent.y, tangent.z, twist, twist, rolling.x, rolling.y, rolling.z};
	V(put4)(contacts + 12, index, CONTACT, row, used);
	V(put4)(contacts + 15, index, CONTACT, row + 4, used);
	float speeds[V(LANES)], sums[V(LANES)];
	V(store)(speeds, speed);
	V(store)(sums, sum);
	for (uint32_t k = 0; k < V(LANES); k++)
		if (used >> k & 1)
			s->hits[index[k]] = (et_space_hit){speeds[k], sums[k]};
}

HELPER(LEVEL) void store_block(const et_space_system *s, const et_space_block *b, const uint32_t *contacts) {
	for (uint32_t i = 0; i < b->contacts; i += V(LANES)) {
		uint32_t index[V(LANES)];
		for (uint32_t k = 0; k < V(LANES); k++)
			index[k] = contacts[i + k < b->contacts ? i + k : 0];
		store_impulses(s, b, i, index, V(first)(b->contacts - i));
	}
}

KERNEL(void, space_store_impulses, const et_space_system *s, int64_t lo, int64_t hi) {
	for (int64_t n = lo; n < hi; n++)
		store_block(s, s->blocks + n, s->lane_contacts + n * ET_SPACE_LANES);
}
