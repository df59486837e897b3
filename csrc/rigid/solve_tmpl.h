#include "joint.h"
#include "solve_lanes.h"

typedef struct {
	float rate, mass, impulse;
} softness;

static inline float *velocities(et_state *states) { return (float *)(void *)states; }

static inline float largest(float a, float b) { return a > b ? a : b; }

/* The bodies of some contacts, in the frame of each: wa and wb are their angular
 * velocities, vn and vt the velocity of the centre of B past that of A along the normal
 * and the tangent, normal and tangent the impulses to add. */
typedef struct {
	V(f) a[4], b[4]; /* vx, vy, w, inverse mass, as they were */
	V(f) nx, ny, ia, ib, inv_mass;
	V(f) wa, wb, vn, vt, normal, tangent;
} pair;

HELPER(LEVEL) void start_pair(const et_contact_block *b, uint32_t i, pair *m) {
	m->nx = V(load)(b->nx + i);
	m->ny = V(load)(b->ny + i);
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

/* Adds the impulses to the velocities, and stores them. */
HELPER(LEVEL) void store_pair(et_state *states, const et_contact_block *b, uint32_t i, pair *m) {
	const V(f) px = DOT(m->normal, m->tangent, m->nx, m->ny), py = CROSS(m->normal, m->tangent, m->nx, m->ny);
	const V(f) va[4] = {SUB(m->a[0], MUL(m->a[3], px)), SUB(m->a[1], MUL(m->a[3], py)), m->wa, m->a[3]};
	const V(f) vb[4] = {ADD(m->b[0], MUL(m->b[3], px)), ADD(m->b[1], MUL(m->b[3], py)), m->wb, m->b[3]};
	V(put4)(velocities(states), b->a + i, 8, va, b->dynamic_a >> i);
	V(put4)(velocities(states), b->b + i, 8, vb, b->dynamic_b >> i);
}

/* Adds an impulse along the normal at a point with these levers. */
HELPER(LEVEL) void add_normal(pair *m, V(f) lever_a, V(f) lever_b, V(f) more) {
	m->normal = ADD(m->normal, more);
	m->vn = ADD(m->vn, MUL(m->inv_mass, more));
	m->wa = SUB(m->wa, MUL(MUL(m->ia, lever_a), more));
	m->wb = ADD(m->wb, MUL(MUL(m->ib, lever_b), more));
}

KERNEL(void, warm_start, const et_contact_block *blocks, int64_t n, et_state *states) {
	for (const et_contact_block *b = blocks; b < blocks + n; b++) {
		for (uint32_t i = 0; i < b->contacts; i += V(LANES)) {
			pair m;
			V(rows4)(velocities(states), b->a + i, 8, m.a);
			V(rows4)(velocities(states), b->b + i, 8, m.b);
			start_pair(b, i, &m);
			V(f) turn_a = V(load)(b->rolling + i), turn_b = turn_a;
			for (uint32_t k = 0; k < b->points_each; k++) {
				const et_contact_point *const p = &b->points[k];
				const V(f) normal = V(load)(p->normal + i), tangent = V(load)(p->tangent + i);
				m.normal = ADD(m.normal, normal);
				m.tangent = ADD(m.tangent, tangent);
				turn_a = ADD(turn_a, CROSS(V(load)(p->lever_a + i), V(load)(p->reach_a + i), tangent, normal));
				turn_b = ADD(turn_b, CROSS(V(load)(p->lever_b + i), V(load)(p->reach_b + i), tangent, normal));
			}
			m.wa = SUB(m.wa, MUL(m.ia, turn_a));
			m.wb = ADD(m.wb, MUL(m.ib, turn_b));
			store_pair(states, b, i, &m);
		}
	}
}

/* One iteration of friction at a point, which is pressed by a normal impulse. */
HELPER(LEVEL) void rub(const et_contact_block *b, et_contact_point *p, uint32_t i, pair *m,
                       V(f) normal) {
	const V(f) reach_a = V(load)(p->reach_a + i), reach_b = V(load)(p->reach_b + i);
	const V(f) turning = SUB(MUL(m->wb, reach_b), MUL(m->wa, reach_a));
	const V(f) v = SUB(SUB(m->vt, turning), V(load)(b->tangent_speed + i));
	const V(f) limit = MUL(V(load)(b->friction + i), normal);
	const V(f) old = V(load)(p->tangent + i);
	const V(f) least = V(min)(SUB(old, MUL(V(load)(p->tangent_mass + i), v)), limit);
	const V(f) total = V(max)(least, V(negate)(limit));
	const V(f) more = SUB(total, old);
	V(store)(p->tangent + i, total);
	m->tangent = ADD(m->tangent, more);
	m->vt = ADD(m->vt, MUL(m->inv_mass, more));
	m->wa = ADD(m->wa, MUL(MUL(m->ia, reach_a), more));
	m->wb = SUB(m->wb, MUL(MUL(m->ib, reach_b), more));
}

/* One iteration of rolling resistance, pressed by the sum of the normal impulses. */
HELPER(LEVEL) void roll(et_contact_block *b, uint32_t i, pair *m, V(f) sum) {
	const V(f) limit = MUL(V(load)(b->rolling_resistance + i), sum);
	const V(f) old = V(load)(b->rolling + i);
	const V(f) turned = MUL(V(load)(b->rolling_mass + i), SUB(m->wb, m->wa));
	const V(f) total = V(max)(V(min)(SUB(old, turned), limit), V(negate)(limit));
	V(store)(b->rolling + i, total);
	m->wa = SUB(m->wa, MUL(m->ia, SUB(total, old)));
	m->wb = ADD(m->wb, MUL(m->ib, SUB(total, old)));
}

/* How two bodies have moved since the step began: gap along the normal, and sines of
 * their turns. */
typedef struct {
	V(f) gap, sa, sb;
} moved;

/* One iteration of the normal impulse at a point. */
HELPER(LEVEL) void press(et_contact_point *p, uint32_t i, pair *m, const moved *d,
                         const softness *soft, float inv_h, float push, int biased) {
	const V(f) lever_a = V(load)(p->lever_a + i), lever_b = V(load)(p->lever_b + i);
	V(f) x = ADD(d->gap, MUL(d->sb, lever_b));
	x = ADD(SUB(x, MUL(d->sa, lever_a)), V(load)(p->separation + i));
	const V(f) deep = V(max)(MUL(V(set1)(soft->rate), V(min)(x, ZERO)), V(set1)(-push));
	const V(f) bias = V(pick)(x, ZERO, MUL(x, V(set1)(inv_h)), deep);
	const V(f) mass = V(pick)(x, ZERO, V(set1)(1.0f), V(set1)(soft->mass));
	const V(f) leak = V(pick)(x, ZERO, ZERO, V(set1)(soft->impulse));
	const V(f) v = ADD(m->vn, SUB(MUL(m->wb, lever_b), MUL(m->wa, lever_a)));
	const V(f) old = V(load)(p->normal + i);
	const V(f) stiff = SUB(old, MUL(MUL(V(load)(p->normal_mass + i), mass), ADD(v, bias)));
	const V(f) total = V(max)(SUB(stiff, MUL(leak, old)), ZERO);
	V(store)(p->normal + i, total);
	if (!biased)
		V(store)(p->total + i, ADD(V(load)(p->total + i), total));
	add_normal(m, lever_a, lever_b, SUB(total, old));
}

HELPER(LEVEL) void solve_block(et_contact_block *b, et_state *states, const softness *soft, float inv_h,
                               float push, const int biased, const uint32_t points) {
	for (uint32_t i = 0; i < b->contacts; i += V(LANES)) {
		pair m;
		V(f) a[8], c[8];
		V(rows8)(velocities(states), b->a + i, 8, a);
		V(rows8)(velocities(states), b->b + i, 8, c);
		for (int k = 0; k < 4; k++) {
			m.a[k] = a[k];
			m.b[k] = c[k];
		}
		start_pair(b, i, &m);
		const moved d = {DOT(SUB(c[4], a[4]), SUB(c[5], a[5]), m.nx, m.ny), a[7], c[7]};
		V(f) sum = ZERO;
		for (uint32_t k = 0; k < points; k++) {
			const V(f) normal = V(load)(b->points[k].normal + i);
			sum = ADD(sum, normal);
			rub(b, &b->points[k], i, &m, normal);
		}
		if (b->flags & ET_ROLLS)
			roll(b, i, &m, sum);
		for (uint32_t k = 0; k < points; k++)
			press(&b->points[k], i, &m, &d, soft, inv_h, push, biased);
		store_pair(states, b, i, &m);
	}
}

KERNEL(void, solve, et_contact_block *blocks, int64_t n, et_state *states, const softness *soft,
       float inv_h, float push, int32_t biased) {
	for (et_contact_block *b = blocks; b < blocks + n; b++) {
		const softness *const s = &soft[b->flags & ET_FIXED];
		if (biased && b->points_each == 2)
			solve_block(b, states, s, inv_h, push, 1, 2);
		else if (biased)
			solve_block(b, states, s, inv_h, push, 1, 1);
		else if (b->points_each == 2)
			solve_block(b, states, s, inv_h, push, 0, 2);
		else
			solve_block(b, states, s, inv_h, push, 0, 1);
	}
}

/* The normal impulse of a point that bounces. */
HELPER(LEVEL) void bounce(et_contact_point *p, uint32_t i, pair *m, V(f) restitution,
                          float threshold) {
	const V(f) lever_a = V(load)(p->lever_a + i), lever_b = V(load)(p->lever_b + i);
	const V(f) v = ADD(m->vn, SUB(MUL(m->wb, lever_b), MUL(m->wa, lever_a)));
	const V(f) approach = V(load)(p->approach + i), old = V(load)(p->normal + i), sum = V(load)(p->total + i);
	const V(f) back = ADD(v, MUL(restitution, approach));
	V(f) total = V(max)(SUB(old, MUL(V(load)(p->normal_mass + i), back)), ZERO);
	total = V(pick)(restitution, ZERO, total, old);
	total = V(pick)(V(set1)(-threshold), approach, total, old);
	total = V(pick)(sum, ZERO, total, old);
	const V(f) more = SUB(total, old);
	V(store)(p->normal + i, total);
	V(store)(p->total + i, ADD(sum, more));
	add_normal(m, lever_a, lever_b, more);
}

KERNEL(void, restitution, et_contact_block *blocks, int64_t n, et_state *states, float threshold) {
	for (et_contact_block *b = blocks; b < blocks + n; b++) {
		if (!(b->flags & ET_BOUNCES))
			continue;
		for (uint32_t i = 0; i < b->contacts; i += V(LANES)) {
			pair m;
			V(rows4)(velocities(states), b->a + i, 8, m.a);
			V(rows4)(velocities(states), b->b + i, 8, m.b);
			start_pair(b, i, &m);
			const V(f) restitution = V(load)(b->restitution + i);
			for (uint32_t k = 0; k < b->points_each; k++)
				bounce(&b->points[k], i, &m, restitution, threshold);
			store_pair(states, b, i, &m);
		}
	}
}

#ifdef DISPATCH
void et_warm_start(int32_t level, et_contact_block *blocks, int64_t n, et_state *states) {
	DISPATCH(level, warm_start, blocks, n, states);
}

void et_solve(int32_t level, et_contact_block *blocks, int64_t n, et_state *states, float rate, float mass,
              float impulse, float fixed_rate, float fixed_mass, float fixed_impulse, float inv_h, float push,
              int32_t biased) {
	const softness soft[2] = {{rate, mass, impulse}, {fixed_rate, fixed_mass, fixed_impulse}};
	DISPATCH(level, solve, blocks, n, states, soft, inv_h, push, biased);
}

void et_sub_steps(int32_t level, et_state *states, int64_t bodies, const float *inv_inertia, const float *fx,
                  const float *fy, const float *torque, const float *gravity_scale, const float *linear,
                  const float *angular, float *free_x, float *free_y, float *free_w, float gx, float gy, float h,
                  float max_speed, float max_turn, et_contact_block *blocks, int64_t n, float rate, float mass,
                  float impulse, float fixed_rate, float fixed_mass, float fixed_impulse, float inv_h, float push,
                  et_joint_block *joint_blocks, int64_t joints, float joint_rate, float joint_mass,
                  float joint_impulse, int32_t sub_steps) {
	for (int32_t sub = 0; sub < sub_steps; sub++) {
		et_velocities(level, states, inv_inertia, fx, fy, torque, gravity_scale, linear, angular, free_x, free_y,
		              free_w, gx, gy, h, max_speed, max_turn, sub > 0, 0, bodies);
		if (sub == 0) {
			et_warm_start_joints(level, joint_blocks, joints, states);
			et_warm_start(level, blocks, n, states);
		}
		et_solve_joints(level, joint_blocks, joints, states, joint_rate, joint_mass, joint_impulse, inv_h, 1);
		et_solve(level, blocks, n, states, rate, mass, impulse, fixed_rate, fixed_mass, fixed_impulse, inv_h, push, 1);
		et_positions(level, states, h, max_speed, max_turn, 0, bodies);
		et_solve_joints(level, joint_blocks, joints, states, 0, 1, 0, inv_h, 0);
		et_solve(level, blocks, n, states, 0, 1, 0, 0, 1, 0, inv_h, push, 0);
	}
}

void et_restitution(int32_t level, et_contact_block *blocks, int64_t n, et_state *states, float threshold) {
	DISPATCH(level, restitution, blocks, n, states, threshold);
}

void et_store(const et_contact_block *blocks, const uint32_t *contact, int64_t n, et_contact *contacts, et_hit *hits) {
	for (const et_contact_block *b = blocks; b < blocks + n; b++, contact += ET_LANES) {
		for (uint32_t i = 0; i < b->contacts; i++) {
			et_contact *const to = &contacts[contact[i]];
			et_hit *const hit = &hits[contact[i]];
			to->rolling = b->rolling[i];
			for (uint32_t k = 0; k < b->points_each; k++) {
				const et_contact_point *const p = &b->points[k];
				to->points[k].normal = p->normal[i];
				to->points[k].tangent = p->tangent[i];
				if (p->total[i] > 0)
					hit->speed = largest(-p->approach[i], hit->speed);
				hit->impulse += p->total[i];
			}
		}
	}
}
#endif
