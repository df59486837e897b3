#include "rows_lanes.h"
#include "system.h"

/* The bodies of some contacts, in the frame of each contact. wa and wb are the angular velocities. vn and vt are
 * the velocity of the centre of B relative to that of A along the normal and the tangent. normal and tangent are
 * the impulses to add. */
typedef struct {
	V(f) a[4], b[4]; /* vx, vy, w, inverse mass, as loaded */
	V(f) nx, ny, ia, ib, inv_mass;
	V(f) wa, wb, vn, vt, normal, tangent;
} contact_pair;

HELPER(LEVEL) float *rows_of_states(const et_system *s) { return (float *)(void *)s->states; }

HELPER(LEVEL) void load_pair(const et_contact_block *b, uint32_t i, contact_pair *m) {
	m->nx = V(load)(b->normal_x + i);
	m->ny = V(load)(b->normal_y + i);
	m->ia = V(load)(b->inv_ia + i);
	m->ib = V(load)(b->inv_ib + i);
	m->inv_mass = ADD(m->a[3], m->b[3]);
	m->wa = m->a[2];
	m->wb = m->b[2];
	const V(f) vx = SUB(m->b[0], m->a[0]), vy = SUB(m->b[1], m->a[1]);
	m->vn = DOT(vx, vy, m->nx, m->ny);
	m->vt = CROSS(vx, vy, m->nx, m->ny);
	m->normal = m->tangent = ZERO;
}

HELPER(LEVEL) void load_velocities(const et_system *s, const et_contact_block *b, uint32_t i, contact_pair *m) {
	V(rows4)(rows_of_states(s), b->a + i, 8, m->a);
	V(rows4)(rows_of_states(s), b->b + i, 8, m->b);
	load_pair(b, i, m);
}

/* Adds the impulses to the velocities, and stores them. */
HELPER(LEVEL) void apply_contact_impulse(const et_system *s, const et_contact_block *b, uint32_t i, contact_pair *m) {
	const V(f) px = DOT(m->normal, m->tangent, m->nx, m->ny), py = CROSS(m->normal, m->tangent, m->nx, m->ny);
	const V(f) va[4] = {SUB(m->a[0], MUL(m->a[3], px)), SUB(m->a[1], MUL(m->a[3], py)), m->wa, m->a[3]};
	const V(f) vb[4] = {ADD(m->b[0], MUL(m->b[3], px)), ADD(m->b[1], MUL(m->b[3], py)), m->wb, m->b[3]};
	V(put4)(rows_of_states(s), b->a + i, 8, va, b->dynamic_a >> i);
	V(put4)(rows_of_states(s), b->b + i, 8, vb, b->dynamic_b >> i);
}

/* Adds an impulse along the normal at a point. */
HELPER(LEVEL) void add_normal_impulse(contact_pair *m, V(f) cross_a, V(f) cross_b, V(f) impulse) {
	m->normal = ADD(m->normal, impulse);
	m->vn = ADD(m->vn, MUL(m->inv_mass, impulse));
	m->wa = SUB(m->wa, MUL(MUL(m->ia, cross_a), impulse));
	m->wb = ADD(m->wb, MUL(MUL(m->ib, cross_b), impulse));
}

KERNEL(void, warm_start_contacts, const et_system *s, int64_t lo, int64_t hi) {
	for (const et_contact_block *b = s->blocks + lo; b < s->blocks + hi; b++) {
		for (uint32_t i = 0; i < b->contacts; i += V(LANES)) {
			contact_pair m;
			load_velocities(s, b, i, &m);
			V(f) angular_a = V(load)(b->rolling_impulse + i), angular_b = angular_a;
			for (uint32_t k = 0; k < b->points_each; k++) {
				const et_contact_block_point *const p = &b->points[k];
				const V(f) normal = V(load)(p->normal_impulse + i), tangent = V(load)(p->tangent_impulse + i);
				m.normal = ADD(m.normal, normal);
				m.tangent = ADD(m.tangent, tangent);
				angular_a = ADD(angular_a, CROSS(V(load)(p->cross_a + i), V(load)(p->dot_a + i), tangent, normal));
				angular_b = ADD(angular_b, CROSS(V(load)(p->cross_b + i), V(load)(p->dot_b + i), tangent, normal));
			}
			m.wa = SUB(m.wa, MUL(m.ia, angular_a));
			m.wb = ADD(m.wb, MUL(m.ib, angular_b));
			apply_contact_impulse(s, b, i, &m);
		}
	}
}

/* One iteration of friction at a point with a normal impulse. */
HELPER(LEVEL) void solve_friction(const et_contact_block *b, et_contact_block_point *p, uint32_t i, contact_pair *m,
                                  V(f) normal) {
	const V(f) dot_a = V(load)(p->dot_a + i), dot_b = V(load)(p->dot_b + i);
	const V(f) angular = SUB(MUL(m->wb, dot_b), MUL(m->wa, dot_a));
	const V(f) v = SUB(SUB(m->vt, angular), V(load)(b->tangent_speed + i));
	const V(f) limit = MUL(V(load)(b->friction + i), normal);
	const V(f) old = V(load)(p->tangent_impulse + i);
	const V(f) least = V(min)(SUB(old, MUL(V(load)(p->tangent_mass + i), v)), limit);
	const V(f) new_impulse = V(max)(least, V(negate)(limit));
	const V(f) impulse = SUB(new_impulse, old);
	V(store)(p->tangent_impulse + i, new_impulse);
	m->tangent = ADD(m->tangent, impulse);
	m->vt = ADD(m->vt, MUL(m->inv_mass, impulse));
	m->wa = ADD(m->wa, MUL(MUL(m->ia, dot_a), impulse));
	m->wb = SUB(m->wb, MUL(MUL(m->ib, dot_b), impulse));
}

/* One iteration of rolling resistance, with the sum of the normal impulses. */
HELPER(LEVEL) void solve_rolling(et_contact_block *b, uint32_t i, contact_pair *m, V(f) total_normal) {
	const V(f) limit = MUL(V(load)(b->rolling_resistance + i), total_normal);
	const V(f) old = V(load)(b->rolling_impulse + i);
	const V(f) angular = MUL(V(load)(b->rolling_mass + i), SUB(m->wb, m->wa));
	const V(f) new_impulse = V(max)(V(min)(SUB(old, angular), limit), V(negate)(limit));
	V(store)(b->rolling_impulse + i, new_impulse);
	m->wa = SUB(m->wa, MUL(m->ia, SUB(new_impulse, old)));
	m->wb = ADD(m->wb, MUL(m->ib, SUB(new_impulse, old)));
}

/* The motion of two bodies since the step began: relative along the normal, and the sines of their rotations. */
typedef struct {
	V(f) along_normal, sin_a, sin_b;
} pair_motion;

/* One iteration of the normal impulse at a point. */
HELPER(LEVEL) void solve_normal(et_contact_block_point *p, uint32_t i, contact_pair *m, const pair_motion *d,
                                const et_softness *soft, const et_step_context *step, int use_bias) {
	const V(f) cross_a = V(load)(p->cross_a + i), cross_b = V(load)(p->cross_b + i);
	V(f) separation = ADD(d->along_normal, MUL(d->sin_b, cross_b));
	separation = ADD(SUB(separation, MUL(d->sin_a, cross_a)), V(load)(p->base_separation + i));
	const V(f) push = V(max)(MUL(V(set1)(soft->bias_rate), V(min)(separation, ZERO)), V(set1)(-step->max_bias_velocity));
	const V(f) bias = V(pick)(separation, ZERO, MUL(separation, V(set1)(step->inv_h)), push);
	const V(f) mass_scale = V(pick)(separation, ZERO, V(set1)(1.0f), V(set1)(soft->mass_scale));
	const V(f) impulse_scale = V(pick)(separation, ZERO, ZERO, V(set1)(soft->impulse_scale));
	const V(f) v = ADD(m->vn, SUB(MUL(m->wb, cross_b), MUL(m->wa, cross_a)));
	const V(f) old = V(load)(p->normal_impulse + i);
	const V(f) stiff = SUB(old, MUL(MUL(V(load)(p->normal_mass + i), mass_scale), ADD(v, bias)));
	const V(f) new_impulse = V(max)(SUB(stiff, MUL(impulse_scale, old)), ZERO);
	V(store)(p->normal_impulse + i, new_impulse);
	if (!use_bias)
		V(store)(p->total_normal_impulse + i, ADD(V(load)(p->total_normal_impulse + i), new_impulse));
	add_normal_impulse(m, cross_a, cross_b, SUB(new_impulse, old));
}

HELPER(LEVEL) void solve_block(const et_system *s, et_contact_block *b, const et_softness *soft, const int use_bias,
                               const uint32_t points) {
	for (uint32_t i = 0; i < b->contacts; i += V(LANES)) {
		contact_pair m;
		V(f) a[8], c[8];
		V(rows8)(rows_of_states(s), b->a + i, 8, a);
		V(rows8)(rows_of_states(s), b->b + i, 8, c);
		for (int k = 0; k < 4; k++) {
			m.a[k] = a[k];
			m.b[k] = c[k];
		}
		load_pair(b, i, &m);
		const pair_motion d = {DOT(SUB(c[4], a[4]), SUB(c[5], a[5]), m.nx, m.ny), a[7], c[7]};
		V(f) total_normal = ZERO;
		for (uint32_t k = 0; k < points; k++) {
			const V(f) normal = V(load)(b->points[k].normal_impulse + i);
			total_normal = ADD(total_normal, normal);
			solve_friction(b, &b->points[k], i, &m, normal);
		}
		if (b->flags & ET_ROLLING)
			solve_rolling(b, i, &m, total_normal);
		for (uint32_t k = 0; k < points; k++)
			solve_normal(&b->points[k], i, &m, &d, soft, &s->step, use_bias);
		apply_contact_impulse(s, b, i, &m);
	}
}

KERNEL(void, solve_contacts, const et_system *s, int32_t use_bias, int64_t lo, int64_t hi) {
	const et_softness rigid = {0.0f, 1.0f, 0.0f};
	for (et_contact_block *b = s->blocks + lo; b < s->blocks + hi; b++) {
		const et_softness *const soft = b->flags & ET_STATIC_BODY ? &s->step.static_softness : &s->step.contact_softness;
		if (use_bias && b->points_each == 2)
			solve_block(s, b, soft, 1, 2);
		else if (use_bias)
			solve_block(s, b, soft, 1, 1);
		else if (b->points_each == 2)
			solve_block(s, b, &rigid, 0, 2);
		else
			solve_block(s, b, &rigid, 0, 1);
	}
}

/* The normal impulse of a point with restitution. */
HELPER(LEVEL) void solve_restitution(et_contact_block_point *p, uint32_t i, contact_pair *m, V(f) restitution,
                                     float threshold) {
	const V(f) cross_a = V(load)(p->cross_a + i), cross_b = V(load)(p->cross_b + i);
	const V(f) v = ADD(m->vn, SUB(MUL(m->wb, cross_b), MUL(m->wa, cross_a)));
	const V(f) approach = V(load)(p->relative_velocity + i);
	const V(f) old = V(load)(p->normal_impulse + i), total = V(load)(p->total_normal_impulse + i);
	const V(f) back = ADD(v, MUL(restitution, approach));
	V(f) new_impulse = V(max)(SUB(old, MUL(V(load)(p->normal_mass + i), back)), ZERO);
	new_impulse = V(pick)(restitution, ZERO, new_impulse, old);
	new_impulse = V(pick)(V(set1)(-threshold), approach, new_impulse, old);
	new_impulse = V(pick)(total, ZERO, new_impulse, old);
	const V(f) impulse = SUB(new_impulse, old);
	V(store)(p->normal_impulse + i, new_impulse);
	V(store)(p->total_normal_impulse + i, ADD(total, impulse));
	add_normal_impulse(m, cross_a, cross_b, impulse);
}

KERNEL(void, apply_restitution, const et_system *s, int64_t lo, int64_t hi) {
	for (et_contact_block *b = s->blocks + lo; b < s->blocks + hi; b++) {
		if (!(b->flags & ET_RESTITUTION))
			continue;
		for (uint32_t i = 0; i < b->contacts; i += V(LANES)) {
			contact_pair m;
			load_velocities(s, b, i, &m);
			const V(f) restitution = V(load)(b->restitution + i);
			for (uint32_t k = 0; k < b->points_each; k++)
				solve_restitution(&b->points[k], i, &m, restitution, s->step.restitution_threshold);
			apply_contact_impulse(s, b, i, &m);
		}
	}
}

#ifdef DISPATCH
void et_store_contact_impulses(et_system s, int64_t lo, int64_t hi) {
	for (int64_t n = lo; n < hi; n++) {
		const et_contact_block *const b = s.blocks + n;
		for (uint32_t i = 0; i < b->contacts; i++) {
			const uint32_t c = s.lane_contacts[n * ET_LANES + i];
			et_contact *const to = &s.contacts[c];
			et_hit *const hit = &s.hits[c];
			to->rolling_impulse = b->rolling_impulse[i];
			for (uint32_t k = 0; k < b->points_each; k++) {
				const et_contact_block_point *const p = &b->points[k];
				to->points[k].normal = p->normal_impulse[i];
				to->points[k].tangent = p->tangent_impulse[i];
				if (p->total_normal_impulse[i] > 0)
					hit->speed = c_max(-p->relative_velocity[i], hit->speed);
				hit->impulse += p->total_normal_impulse[i];
			}
		}
	}
}
#endif
