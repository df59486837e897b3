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

/* The sum over points with what point k adds. The first point adds to nothing, so that its -0 stays. */
HELPER(LEVEL) V(f) sum_points(const uint32_t k, V(f) sum, V(f) more) { return k > 0 ? ADD(sum, more) : more; }

/* A point of a contact: the accumulated normal impulse, what softness leaves of it, the velocity to remove, and the
 * effective mass. */
typedef struct {
	V(f) old, kept, v, mass;
} normal_row;

/* The accumulated normal impulses of one or two points. */
HELPER(LEVEL) void solve_normals(const normal_row row[2], V(f) coupling, const uint32_t points, V(f) impulse[2]) {
	const normal_row *const p = row, *const q = row + 1;
	if (points == 1) {
		impulse[0] = V(max)(SUB(p->kept, MUL(p->mass, p->v)), ZERO);
		return;
	}
	const V(f) x = SUB(p->kept, MUL(p->mass, SUB(p->v, MUL(coupling, q->old))));
	const V(f) y = SUB(q->kept, MUL(q->mass, SUB(q->v, MUL(coupling, p->old))));
	const V(f) share_x = MUL(coupling, p->mass), share_y = MUL(coupling, q->mass);
	const V(f) both_x = SUB(x, MUL(share_x, y)), both_y = SUB(y, MUL(share_y, x));
	const V(f) one = V(set1)(1.0f), inverse = DIV(one, SUB(one, MUL(share_x, share_y)));
	impulse[0] = V(max)(V(pick)(both_y, ZERO, MUL(both_x, inverse), x), ZERO);
	impulse[1] = V(max)(V(pick)(both_x, ZERO, MUL(both_y, inverse), y), ZERO);
}

/* Stores the normal impulses and adds their angular part to the velocities. */
HELPER(LEVEL) void apply_normals(et_contact_block *b, uint32_t i, contact_pair *m, const normal_row row[2],
                                 const V(f) impulse[2], const uint32_t points) {
	V(f) angular_a = ZERO, angular_b = ZERO;
	for (uint32_t k = 0; k < points; k++) {
		et_contact_block_point *const p = &b->points[k];
		const V(f) change = SUB(impulse[k], row[k].old);
		V(store)(p->normal_impulse + i, impulse[k]);
		m->normal = sum_points(k, m->normal, change);
		angular_a = sum_points(k, angular_a, MUL(V(load)(p->cross_a + i), change));
		angular_b = sum_points(k, angular_b, MUL(V(load)(p->cross_b + i), change));
	}
	m->wa = SUB(m->wa, MUL(m->ia, angular_a));
	m->wb = ADD(m->wb, MUL(m->ib, angular_b));
}

/* The velocity at which the bodies part at a point. */
HELPER(LEVEL) V(f) normal_velocity(const et_contact_block_point *p, uint32_t i, const contact_pair *m) {
	return ADD(m->vn, SUB(MUL(m->wb, V(load)(p->cross_b + i)), MUL(m->wa, V(load)(p->cross_a + i))));
}

/* The motion of two bodies since the step began: relative along the normal, and the sines of their rotations. */
typedef struct {
	V(f) along_normal, sin_a, sin_b;
} pair_motion;

/* A point in an iteration. */
HELPER(LEVEL) void make_row(const et_contact_block_point *p, uint32_t i, const contact_pair *m, const pair_motion *d,
                            const et_softness *soft, const et_step_context *step, const int use_bias, normal_row *row) {
	V(f) separation = ADD(d->along_normal, MUL(d->sin_b, V(load)(p->cross_b + i)));
	separation = ADD(SUB(separation, MUL(d->sin_a, V(load)(p->cross_a + i))), V(load)(p->base_separation + i));
	V(f) bias = MUL(separation, V(set1)(step->inv_h));
	row->old = row->kept = V(load)(p->normal_impulse + i);
	row->mass = V(load)(p->normal_mass + i);
	if (use_bias) {
		const V(f) push = V(max)(V(set1)(-step->max_bias_velocity), MUL(V(set1)(soft->bias_rate), separation));
		const V(f) mass_scale = V(pick)(separation, ZERO, V(set1)(1.0f), V(set1)(soft->mass_scale));
		bias = V(pick)(separation, ZERO, bias, push);
		row->kept = MUL(mass_scale, row->old);
		row->mass = MUL(row->mass, mass_scale);
	} else {
		bias = V(max)(bias, ZERO);
	}
	row->v = ADD(normal_velocity(p, i, m), bias);
}

/* One iteration of friction, with the normal impulses so far. */
HELPER(LEVEL) void solve_friction(et_contact_block *b, uint32_t i, contact_pair *m, const V(f) normal[2],
                                  const uint32_t points) {
	const V(f) total_normal = points == 2 ? ADD(normal[0], normal[1]) : normal[0];
	const V(f) inverse_normal = inverse(total_normal);
	V(f) total = ZERO, change = ZERO, share[2], angular_a = ZERO, angular_b = ZERO;
	for (uint32_t k = 0; k < points; k++) {
		const et_contact_block_point *const p = &b->points[k];
		const V(f) dot_a = V(load)(p->dot_a + i), dot_b = V(load)(p->dot_b + i);
		const V(f) angular = SUB(MUL(m->wb, dot_b), MUL(m->wa, dot_a));
		const V(f) v = SUB(SUB(m->vt, angular), V(load)(b->tangent_speed + i));
		V(f) mass = V(load)(p->tangent_mass + i);
		if (points == 2) {
			share[k] = MUL(normal[k], inverse_normal);
			mass = MUL(mass, share[k]);
		}
		total = sum_points(k, total, V(load)(p->tangent_impulse + i));
		change = sum_points(k, change, MUL(mass, v));
	}
	const V(f) limit = MUL(V(load)(b->friction + i), total_normal);
	total = V(max)(V(min)(SUB(total, change), limit), V(negate)(limit));
	for (uint32_t k = 0; k < points; k++) {
		et_contact_block_point *const p = &b->points[k];
		const V(f) new_impulse = points == 2 ? MUL(total, share[k]) : total;
		const V(f) impulse = SUB(new_impulse, V(load)(p->tangent_impulse + i));
		V(store)(p->tangent_impulse + i, new_impulse);
		m->tangent = sum_points(k, m->tangent, impulse);
		angular_a = sum_points(k, angular_a, MUL(V(load)(p->dot_a + i), impulse));
		angular_b = sum_points(k, angular_b, MUL(V(load)(p->dot_b + i), impulse));
	}
	m->wa = ADD(m->wa, MUL(m->ia, angular_a));
	m->wb = SUB(m->wb, MUL(m->ib, angular_b));
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

HELPER(LEVEL) void solve_block(const et_system *s, et_contact_block *b, const et_step_context *step,
                               const et_softness *soft, const int use_bias, const uint32_t points) {
	for (uint32_t i = 0; i < b->contacts; i += V(LANES)) {
		contact_pair m;
		normal_row row[2];
		V(f) a[8], c[8], impulse[2];
		V(rows8)(rows_of_states(s), b->a + i, 8, a);
		V(rows8)(rows_of_states(s), b->b + i, 8, c);
		for (int k = 0; k < 4; k++) {
			m.a[k] = a[k];
			m.b[k] = c[k];
		}
		load_pair(b, i, &m);
		const pair_motion d = {DOT(SUB(c[4], a[4]), SUB(c[5], a[5]), m.nx, m.ny), a[7], c[7]};
		for (uint32_t k = 0; k < points; k++)
			impulse[k] = V(load)(b->points[k].normal_impulse + i);
		solve_friction(b, i, &m, impulse, points);
		if (b->flags & ET_ROLLING)
			solve_rolling(b, i, &m, points == 2 ? ADD(impulse[0], impulse[1]) : impulse[0]);
		for (uint32_t k = 0; k < points; k++)
			make_row(&b->points[k], i, &m, &d, soft, step, use_bias, &row[k]);
		solve_normals(row, V(load)(b->coupling + i), points, impulse);
		for (uint32_t k = 0; k < points && !use_bias; k++) {
			float *const total = b->points[k].total_normal_impulse + i;
			V(store)(total, ADD(V(load)(total), impulse[k]));
		}
		apply_normals(b, i, &m, row, impulse, points);
		apply_contact_impulse(s, b, i, &m);
	}
}

/* Fetches what an iteration reads of a block: all up to the coupling. */
HELPER(LEVEL) void fetch_block(const et_contact_block *b) {
	for (size_t at = 0; at <= offsetof(et_contact_block, coupling); at += 64)
		__builtin_prefetch((const char *)b + at);
}

KERNEL(void, solve_contacts, const et_system *s, int32_t use_bias, int64_t lo, int64_t hi) {
	const et_step_context step = s->step; /* no store can change a copy */
	const int far = s->block_count >= ET_FAR_BLOCKS;
	for (et_contact_block *b = s->blocks + lo; b < s->blocks + hi; b++) {
		if (far && b + 2 < s->blocks + hi)
			fetch_block(b + 2);
		const et_softness soft = b->flags & ET_STATIC_BODY ? step.static_softness : step.contact_softness;
		if (use_bias && b->points_each == 2)
			solve_block(s, b, &step, &soft, 1, 2);
		else if (use_bias)
			solve_block(s, b, &step, &soft, 1, 1);
		else if (b->points_each == 2)
			solve_block(s, b, &step, &soft, 0, 2);
		else
			solve_block(s, b, &step, &soft, 0, 1);
	}
}

/* A point that bounces, and the mask of the lanes in which it does. */
HELPER(LEVEL) V(mask) make_bounce(const et_contact_block *b, const et_contact_block_point *p, uint32_t i,
                                  const contact_pair *m, float threshold, normal_row *row) {
	const V(f) restitution = V(load)(b->restitution + i), approach = V(load)(p->relative_velocity + i);
	row->v = ADD(normal_velocity(p, i, m), MUL(restitution, approach));
	row->mass = V(load)(p->normal_mass + i);
	row->old = row->kept = V(load)(p->normal_impulse + i);
	return V(lt)(ZERO, restitution) & V(lt)(approach, V(set1)(-threshold)) &
	       V(lt)(ZERO, V(load)(p->total_normal_impulse + i));
}

HELPER(LEVEL) void bounce_block(const et_system *s, et_contact_block *b, const uint32_t points) {
	for (uint32_t i = 0; i < b->contacts; i += V(LANES)) {
		contact_pair m;
		normal_row row[2];
		V(f) impulse[2];
		V(mask) bounces[2], all = (V(mask))~0u;
		load_velocities(s, b, i, &m);
		for (uint32_t k = 0; k < points; k++) {
			bounces[k] = make_bounce(b, &b->points[k], i, &m, s->step.restitution_threshold, &row[k]);
			all &= bounces[k];
		}
		solve_normals(row, V(keep)(V(load)(b->coupling + i), all), points, impulse);
		for (uint32_t k = 0; k < points; k++) {
			float *const total = b->points[k].total_normal_impulse + i;
			impulse[k] = V(select)(bounces[k], impulse[k], row[k].old);
			V(store)(total, ADD(V(load)(total), SUB(impulse[k], row[k].old)));
		}
		apply_normals(b, i, &m, row, impulse, points);
		apply_contact_impulse(s, b, i, &m);
	}
}

KERNEL(void, apply_restitution, const et_system *s, int64_t lo, int64_t hi) {
	for (et_contact_block *b = s->blocks + lo; b < s->blocks + hi; b++) {
		if (!(b->flags & ET_RESTITUTION))
			continue;
		if (b->points_each == 2)
			bounce_block(s, b, 2);
		else
			bounce_block(s, b, 1);
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
