#include "rows_lanes.h"
#include "system.h"

/* The position error beyond which an iteration removes an error more slowly than its rate, and the error up to which its force
 * then has a bound. */
static const float max_position_error = 0.25f, max_bounded_error = 1.0f;

typedef struct {
	V(f) bias_rate, mass_scale, impulse_scale;
} joint_softness;

/* The settings of an iteration of some joints. The softness is that of rows and rigid springs. */
typedef struct {
	joint_softness soft;
	float inv_h;
	int32_t use_bias;
} joint_step;

#include "../atan.h"

/* An impulse on B and the opposite one on A, with the angular impulses that they exert about the centres of A and
 * B. */
typedef struct {
	V(f) x, y, angular_a, angular_b;
} joint_impulse;

/* The bodies of some joints, and their current anchors. */
typedef struct {
	V(f) a[8], b[8]; /* states; vx, vy and w change */
	V(f) ia, ib;
	V(f) ax, ay, bx, by, dx, dy;
	joint_impulse applied;
} joint_bodies;

/* A unit vector along which impulses act. */
typedef struct {
	V(f) x, y, cross_a, cross_b, translation;
} constraint_axis;

HELPER(LEVEL) void load_bodies(const et_joint_block *b, uint32_t i, const et_state *states,
                              joint_bodies *m) {
	const float *const p = (const float *)(const void *)states;
	V(rows8)(p, b->a + i, 8, m->a);
	V(rows8)(p, b->b + i, 8, m->b);
	m->ia = V(load)(b->inv_ia + i);
	m->ib = V(load)(b->inv_ib + i);
	const V(f) ax = V(load)(b->anchor_ax + i), ay = V(load)(b->anchor_ay + i), bx = V(load)(b->anchor_bx + i), by = V(load)(b->anchor_by + i);
	m->ax = CROSS(m->a[6], m->a[7], ay, ax);
	m->ay = DOT(m->a[7], m->a[6], ax, ay);
	m->bx = CROSS(m->b[6], m->b[7], by, bx);
	m->by = DOT(m->b[7], m->b[6], bx, by);
	m->dx = SUB(ADD(ADD(V(load)(b->delta_centre_x + i), SUB(m->b[4], m->a[4])), m->bx), m->ax);
	m->dy = SUB(ADD(ADD(V(load)(b->delta_centre_y + i), SUB(m->b[5], m->a[5])), m->by), m->ay);
}

HELPER(LEVEL) void load_applied(const et_joint_block *b, uint32_t i, joint_impulse *t) {
	t->x = V(load)(b->impulse_x + i);
	t->y = V(load)(b->impulse_y + i);
	t->angular_a = V(load)(b->angular_impulse_a + i);
	t->angular_b = V(load)(b->angular_impulse_b + i);
}

/* Stores velocities and the applied impulse. */
HELPER(LEVEL) void store_bodies(et_joint_block *b, uint32_t i, et_state *states, const joint_bodies *m) {
	float *const p = (float *)(void *)states;
	V(put4)(p, b->a + i, 8, m->a, b->dynamic_a >> i);
	V(put4)(p, b->b + i, 8, m->b, b->dynamic_b >> i);
	V(store)(b->impulse_x + i, m->applied.x);
	V(store)(b->impulse_y + i, m->applied.y);
	V(store)(b->angular_impulse_a + i, m->applied.angular_a);
	V(store)(b->angular_impulse_b + i, m->applied.angular_b);
}

HELPER(LEVEL) joint_impulse add_impulses(joint_impulse a, joint_impulse b) {
	const joint_impulse t = {ADD(a.x, b.x), ADD(a.y, b.y), ADD(a.angular_a, b.angular_a), ADD(a.angular_b, b.angular_b)};
	return t;
}

/* Applies angular impulses. */
HELPER(LEVEL) void apply_angular_impulse(joint_bodies *m, V(f) angular_a, V(f) angular_b) {
	m->a[2] = SUB(m->a[2], MUL(m->ia, angular_a));
	m->b[2] = ADD(m->b[2], MUL(m->ib, angular_b));
}

/* Applies an impulse without recording it. */
HELPER(LEVEL) void apply_unrecorded(joint_bodies *m, joint_impulse t) {
	m->a[0] = SUB(m->a[0], MUL(m->a[3], t.x));
	m->a[1] = SUB(m->a[1], MUL(m->a[3], t.y));
	m->b[0] = ADD(m->b[0], MUL(m->b[3], t.x));
	m->b[1] = ADD(m->b[1], MUL(m->b[3], t.y));
	apply_angular_impulse(m, t.angular_a, t.angular_b);
}

HELPER(LEVEL) void apply_impulse(joint_bodies *m, joint_impulse t) {
	apply_unrecorded(m, t);
	m->applied = add_impulses(m->applied, t);
}

HELPER(LEVEL) joint_impulse impulse_at_anchors(const joint_bodies *m, V(f) x, V(f) y) {
	const joint_impulse t = {x, y, CROSS(m->ax, m->ay, x, y), CROSS(m->bx, m->by, x, y)};
	return t;
}

HELPER(LEVEL) joint_impulse impulse_along(const constraint_axis *u, V(f) impulse) {
	const joint_impulse t = {MUL(impulse, u->x), MUL(impulse, u->y), MUL(impulse, u->cross_a),
	                               MUL(impulse, u->cross_b)};
	return t;
}

/* The axis and its perpendicular, in kinds that have them; otherwise zero. */
HELPER(LEVEL) void load_axes(const et_joint_block *b, uint32_t i, const uint32_t kind,
                        const joint_bodies *m, constraint_axis *axis, constraint_axis *perpendicular) {
	const constraint_axis none = {ZERO, ZERO, ZERO, ZERO, ZERO};
	*axis = *perpendicular = none;
	if (kind == ET_DISTANCE) {
		axis->translation = V(sqrt)(DOT(m->dx, m->dy, m->dx, m->dy));
		const V(f) inv = inverse(axis->translation), x = MUL(m->dx, inv), y = MUL(m->dy, inv);
		axis->x = x;
		axis->y = y;
		axis->cross_a = CROSS(m->ax, m->ay, x, y);
		axis->cross_b = CROSS(m->bx, m->by, x, y);
	} else if (has_perpendicular(kind)) {
		const V(f) x0 = V(load)(b->axis_x + i), y0 = V(load)(b->axis_y + i);
		const V(f) x = CROSS(m->a[6], m->a[7], y0, x0), y = DOT(m->a[7], m->a[6], x0, y0);
		const V(f) ax = ADD(m->ax, m->dx), ay = ADD(m->ay, m->dy);
		const constraint_axis u = {x, y, CROSS(ax, ay, x, y), CROSS(m->bx, m->by, x, y), DOT(m->dx, m->dy, x, y)};
		const constraint_axis v = {V(negate)(y), x, DOT(ax, ay, x, y), DOT(m->bx, m->by, x, y), CROSS(m->dy, m->dx, y, x)};
		*axis = u;
		*perpendicular = v;
	}
}

HELPER(LEVEL) V(f) total_impulse(const et_axis_block *d, uint32_t i) {
	const V(f) sum = ADD(V(load)(d->spring_impulse + i), V(load)(d->motor_impulse + i));
	return SUB(ADD(sum, V(load)(d->lower_impulse + i)), V(load)(d->upper_impulse + i));
}

/* The accumulated impulse, with the current anchors and axes. */
HELPER(LEVEL) joint_impulse accumulated_impulse(const et_joint_block *b, uint32_t i, const uint32_t kind,
                          const uint32_t parts, const joint_bodies *m,
                          const constraint_axis *axis, const constraint_axis *perpendicular) {
	joint_impulse t = {ZERO, ZERO, ZERO, ZERO};
	if (has_point(kind))
		return impulse_at_anchors(m, V(load)(b->impulse_x + i), V(load)(b->impulse_y + i));
	if (parts & ET_LINEAR)
		t = impulse_along(axis, total_impulse(&b->linear, i));
	if (has_perpendicular(kind))
		t = add_impulses(t, impulse_along(perpendicular, V(load)(b->perpendicular_impulse + i)));
	return t;
}

KERNEL(void, warm_start_joints, const et_system *s, int64_t lo, int64_t hi) {
	for (et_joint_block *b = s->joint_blocks + lo; b < s->joint_blocks + hi; b++) {
		for (uint32_t i = 0; i < b->joints; i += V(LANES)) {
			joint_bodies m;
			constraint_axis axis, perpendicular;
			load_bodies(b, i, s->states, &m);
			load_axes(b, i, b->kind, &m, &axis, &perpendicular);
			if (b->parts & ET_ANGULAR) {
				const V(f) sum = total_impulse(&b->angular, i);
				apply_angular_impulse(&m, sum, sum);
			}
			if (locks_angle(b->kind)) {
				const V(f) lock = V(load)(b->angular.spring_impulse + i);
				apply_angular_impulse(&m, lock, lock);
			}
			m.applied = accumulated_impulse(b, i, b->kind, b->parts, &m, &axis, &perpendicular);
			apply_unrecorded(&m, m.applied);
			store_bodies(b, i, s->states, &m);
		}
	}
}

/* Replaces the effect that the accumulated impulses had with the anchors and axes of the last sub-step. */
HELPER(LEVEL) void refresh_applied(const et_joint_block *b, uint32_t i, const uint32_t kind, const uint32_t parts,
                         joint_bodies *m, const constraint_axis *axis,
                         const constraint_axis *perpendicular) {
	const joint_impulse now = accumulated_impulse(b, i, kind, parts, m, axis, perpendicular);
	const V(f) angular_a = SUB(now.angular_a, m->applied.angular_a), angular_b = SUB(now.angular_b, m->applied.angular_b);
	if (has_point(kind)) {
		apply_angular_impulse(m, angular_a, angular_b);
	} else {
		const joint_impulse more = {SUB(now.x, m->applied.x), SUB(now.y, m->applied.y), angular_a, angular_b};
		apply_unrecorded(m, more);
	}
	m->applied = now;
}

/* The current relative angle. */
HELPER(LEVEL) V(f) current_angle(const et_joint_block *b, uint32_t i, const joint_bodies *m) {
	const V(f) sin = CROSS(m->b[7], m->b[6], m->a[7], m->a[6]), cos = DOT(m->b[6], m->b[7], m->a[6], m->a[7]);
	return ADD(V(load)(b->angle + i), arctan2(sin, cos));
}

HELPER(LEVEL) V(f) clamp(V(f) a, V(f) limit) { return V(max)(V(min)(a, limit), V(negate)(limit)); }

/* The softness of the iteration for a position error of some size: see slowed in package internal/rigid. */
HELPER(LEVEL) joint_softness slowed(const joint_step *it, V(f) size) {
	const V(f) most = V(set1)(max_position_error), part = DIV(most, V(max)(size, most));
	const V(f) damper = V(min)(MUL(part, V(set1)(max_bounded_error / max_position_error)), V(set1)(1.0f));
	const V(f) impulse_scale = MUL(it->soft.impulse_scale, damper);
	const joint_softness soft = {MUL(it->soft.bias_rate, part),
	                             ADD(it->soft.mass_scale, SUB(it->soft.impulse_scale, impulse_scale)), impulse_scale};
	return soft;
}

HELPER(LEVEL) joint_softness select_softness(V(mask) m, joint_softness a, joint_softness b) {
	const joint_softness soft = {V(select)(m, a.bias_rate, b.bias_rate), V(select)(m, a.mass_scale, b.mass_scale),
	                             V(select)(m, a.impulse_scale, b.impulse_scale)};
	return soft;
}

/* The state of an axis: position, velocity as the rows will leave it, and inverse effective masses while the rows act as in
 * this iteration and while they hold. */
typedef struct {
	V(f) position, velocity, inv_mass, held_inv_mass;
} axis_state;

/* The new impulse of a soft constraint with velocity v and an effective mass. */
HELPER(LEVEL) V(f) soft_impulse(V(f) old, V(f) mass, V(f) v, V(f) impulse_scale) {
	return SUB(SUB(old, MUL(mass, v)), MUL(impulse_scale, old));
}

/* The new impulse of a soft constraint of an axis with velocity v. */
HELPER(LEVEL) V(f) axis_impulse(const axis_state *c, joint_softness soft, V(f) v, V(f) old) {
	const V(f) compliance = MUL(c->held_inv_mass, soft.impulse_scale);
	const V(f) inv = inverse(ADD(MUL(c->inv_mass, soft.mass_scale), compliance));
	return soft_impulse(old, MUL(inv, soft.mass_scale), v, MUL(inv, compliance));
}

/* The impulse of a limit at distance x, which grows at the velocity v. */
HELPER(LEVEL) V(f) solve_limit(const joint_step *it, const axis_state *c, V(f) x, V(f) v, V(f) old) {
	const joint_softness deep = slowed(it, V(negate)(x));
	const joint_softness soft = {V(pick)(x, ZERO, V(set1)(it->inv_h), deep.bias_rate),
	                             V(pick)(x, ZERO, V(set1)(1.0f), deep.mass_scale), V(pick)(x, ZERO, ZERO, deep.impulse_scale)};
	return V(max)(axis_impulse(c, soft, ADD(v, MUL(soft.bias_rate, x)), old), ZERO);
}

/* Bounds an impulse, which was old before, so that it does not press against a limit. */
HELPER(LEVEL) V(f) yield_to_limits(const et_axis_block *d, uint32_t i, const axis_state *c, V(f) total, V(f) old,
                                   const joint_step *it) {
	const V(f) mass = inverse(c->inv_mass), inv_h = V(set1)(it->inv_h);
	const V(f) pressing = SUB(V(load)(d->upper_impulse + i), V(load)(d->lower_impulse + i));
	const V(f) free = ADD(c->velocity, MUL(c->inv_mass, pressing));
	const V(f) up = MUL(SUB(V(load)(d->upper + i), c->position), inv_h), down = MUL(SUB(V(load)(d->lower + i), c->position), inv_h);
	const V(f) to_upper = SUB(old, MUL(mass, SUB(free, up))), to_lower = SUB(old, MUL(mass, SUB(free, down)));
	const V(f) most = V(max)(to_upper, V(min)(old, ZERO)), least = V(min)(to_lower, V(max)(old, ZERO));
	return V(max)(V(min)(total, most), least);
}

/* Adds an impulse to a sum, and its effect to the velocity. */
HELPER(LEVEL) void add_axis_impulse(axis_state *c, V(f) *sum, V(f) more) {
	*sum = ADD(*sum, more);
	c->velocity = ADD(c->velocity, MUL(c->inv_mass, more));
}

/* The errors of springs. An iteration with bias stores x and returns it; others return the stored errors. */
HELPER(LEVEL) V(f) position_error(const joint_step *it, V(f) x, float *stored) {
	if (it->use_bias)
		V(store)(stored, x);
	return V(load)(stored);
}

/* One iteration of an axis. Returns the impulse to add. */
HELPER(LEVEL) V(f) solve_axis(et_axis_block *d, uint32_t i, uint32_t parts, axis_state c,
                         uint32_t rigid_lanes, const joint_step *it) {
	V(f) sum = ZERO;
	if (parts & ET_SPRING) {
		const V(mask) rigid = (V(mask))(rigid_lanes >> i) & V(first)(V(LANES));
		const V(f) x = position_error(it, SUB(c.position, V(load)(d->target + i)), d->error + i);
		const joint_softness own = {V(load)(d->bias_rate + i), V(load)(d->mass_scale + i), V(load)(d->impulse_scale + i)};
		const joint_softness soft = select_softness(rigid, slowed(it, V(abs)(x)), own);
		const V(f) old = V(load)(d->spring_impulse + i), limit = V(load)(d->max_spring_impulse + i);
		const V(f) free = axis_impulse(&c, soft, ADD(c.velocity, MUL(soft.bias_rate, x)), old);
		const V(f) least = parts & ET_SPRING_RANGE ? V(load)(d->min_spring_impulse + i) : V(negate)(limit);
		V(f) total = V(max)(V(min)(free, limit), least);
		if (parts & ET_LIMITS)
			total = yield_to_limits(d, i, &c, total, old, it);
		V(store)(d->spring_impulse + i, total);
		add_axis_impulse(&c, &sum, SUB(total, old));
	}
	if (parts & ET_MOTOR) {
		const V(f) old = V(load)(d->motor_impulse + i), slow = SUB(c.velocity, V(load)(d->motor_speed + i));
		V(f) total = clamp(SUB(old, MUL(inverse(c.inv_mass), slow)), V(load)(d->max_motor_impulse + i));
		if (parts & ET_LIMITS)
			total = yield_to_limits(d, i, &c, total, old, it);
		V(store)(d->motor_impulse + i, total);
		add_axis_impulse(&c, &sum, SUB(total, old));
	}
	if (parts & ET_LIMITS) {
		const V(f) low = V(load)(d->lower_impulse + i), high = V(load)(d->upper_impulse + i);
		const V(f) lower = solve_limit(it, &c, SUB(c.position, V(load)(d->lower + i)), c.velocity, low);
		V(store)(d->lower_impulse + i, lower);
		add_axis_impulse(&c, &sum, SUB(lower, low));
		const V(f) upper = solve_limit(it, &c, SUB(V(load)(d->upper + i), c.position), V(negate)(c.velocity), high);
		V(store)(d->upper_impulse + i, upper);
		add_axis_impulse(&c, &sum, SUB(high, upper));
	}
	return sum;
}

/* The velocity of anchor B relative to A along u. */
HELPER(LEVEL) V(f) velocity_along(const joint_bodies *m, const constraint_axis *u) {
	const V(f) v = DOT(SUB(m->b[0], m->a[0]), SUB(m->b[1], m->a[1]), u->x, u->y);
	return ADD(v, SUB(MUL(m->b[2], u->cross_b), MUL(m->a[2], u->cross_a)));
}

HELPER(LEVEL) V(f) inv_mass_along(const joint_bodies *m, const constraint_axis *u) {
	const V(f) angular_impulse = ADD(MUL(MUL(m->ia, u->cross_a), u->cross_a), MUL(MUL(m->ib, u->cross_b), u->cross_b));
	return ADD(ADD(m->a[3], m->b[3]), angular_impulse);
}

/* The inverse inertia of the anchors relative to each other while the angle is held. */
HELPER(LEVEL) V(f) locked_inv_inertia(const joint_bodies *m, V(f) angular_mass) {
	return MUL(MUL(m->ia, m->ib), angular_mass);
}

/* inv_mass_along while the angle is held. */
HELPER(LEVEL) V(f) locked_inv_mass_along(const joint_bodies *m, const constraint_axis *u, V(f) angular_mass) {
	const V(f) arm = SUB(u->cross_b, u->cross_a);
	return ADD(ADD(m->a[3], m->b[3]), MUL(MUL(locked_inv_inertia(m, angular_mass), arm), arm));
}

/* The inverse mass along the axis while the rows hold: see heldInvMassAlong in package internal/rigid. */
HELPER(LEVEL) V(f) held_inv_mass_along(const et_joint_block *b, uint32_t i, const uint32_t kind, const joint_bodies *m,
                                       const constraint_axis *u, const constraint_axis *v) {
	const V(f) mass = ADD(m->a[3], m->b[3]);
	if (locks_angle(kind)) {
		const V(f) angular_mass = V(load)(b->angular_mass + i);
		const V(f) along = locked_inv_mass_along(m, u, angular_mass), across = locked_inv_mass_along(m, v, angular_mass);
		return MUL(MUL(mass, SUB(ADD(along, across), mass)), inverse(across));
	}
	const V(f) along = inv_mass_along(m, u), across = inv_mass_along(m, v);
	const V(f) turn = SUB(MUL(u->cross_a, v->cross_b), MUL(v->cross_a, u->cross_b));
	const V(f) det = ADD(MUL(mass, SUB(ADD(along, across), mass)), MUL(MUL(m->ia, m->ib), MUL(turn, turn)));
	return MUL(det, inverse(across));
}

/* The change of the impulse of a row, without the part that impulse_scale removes anyway. */
HELPER(LEVEL) V(f) lasting_impulse(joint_softness soft, V(f) total, V(f) old) {
	return ADD(SUB(total, old), MUL(soft.impulse_scale, old));
}

/* The softness of all rows of a joint, for the position error of its other rows: see rowSoftness in package internal/rigid. */
HELPER(LEVEL) joint_softness row_softness(const joint_step *it, const uint32_t kind, V(f) size, V(f) angle) {
	return slowed(it, locks_angle(kind) ? V(max)(size, V(abs)(angle)) : size);
}

/* Holds the angle and returns the impulse. angular_velocity is the value before the other rows. correction is the effect of
 * these rows on it, which this step removes. */
HELPER(LEVEL) V(f) solve_angle(const et_joint_block *b, uint32_t i, joint_bodies *m, V(f) angular_velocity, V(f) angle,
                              V(f) correction, joint_softness soft) {
	const V(f) old = V(load)(b->angular.spring_impulse + i);
	const V(f) v = ADD(MUL(soft.mass_scale, ADD(angular_velocity, MUL(soft.bias_rate, angle))), correction);
	const V(f) total = soft_impulse(old, V(load)(b->angular_mass + i), v, soft.impulse_scale);
	const V(f) more = SUB(total, old);
	apply_angular_impulse(m, more, more);
	return total;
}

/* A symmetric matrix and its determinant. */
typedef struct {
	V(f) xx, xy, yy, det;
} symmetric_matrix;

/* The impulses of rows, and how these have yielded. Of points: the inverse mass with the compliance, the matrix, the lanes
 * whose impulse has a bound, and those where it has reached it. */
typedef struct {
	V(f) perpendicular, angle, mass;
	joint_softness soft;
	symmetric_matrix matrix;
	V(mask) bounded, clamped;
} row_impulses;

HELPER(LEVEL) void solve_perpendicular(const et_joint_block *b, uint32_t i, const uint32_t kind, joint_bodies *m,
                              const constraint_axis *u, V(f) angle, const joint_step *it, row_impulses *r) {
	const joint_softness soft = row_softness(it, kind, V(abs)(u->translation), angle);
	const V(f) angular_velocity = SUB(m->b[2], m->a[2]);
	V(f) v = ADD(velocity_along(m, u), MUL(soft.bias_rate, u->translation)), inv_mass, coupling = ZERO;
	if (locks_angle(kind)) {
		const V(f) angular_mass = V(load)(b->angular_mass + i);
		inv_mass = locked_inv_mass_along(m, u, angular_mass);
		coupling = ADD(MUL(m->ia, u->cross_a), MUL(m->ib, u->cross_b));
		v = SUB(v, MUL(coupling, MUL(angular_velocity, angular_mass)));
	} else {
		inv_mass = inv_mass_along(m, u);
	}
	const V(f) old = V(load)(b->perpendicular_impulse + i), mass = MUL(inverse(inv_mass), soft.mass_scale);
	const V(f) total = soft_impulse(old, mass, v, soft.impulse_scale);
	r->perpendicular = total;
	r->soft = soft;
	apply_impulse(m, impulse_along(u, SUB(total, old)));
	if (locks_angle(kind))
		r->angle = solve_angle(b, i, m, angular_velocity, angle, MUL(coupling, lasting_impulse(soft, total, old)), soft);
}

HELPER(LEVEL) symmetric_matrix point_matrix(const joint_bodies *m, V(f) mass) {
	symmetric_matrix k;
	const V(f) rod = CROSS(m->ax, m->ay, m->bx, m->by), both = MUL(m->ia, m->ib);
	const V(f) iax = MUL(m->ia, m->ax), iay = MUL(m->ia, m->ay), ibx = MUL(m->ib, m->bx), iby = MUL(m->ib, m->by);
	k.xx = ADD(mass, DOT(iay, iby, m->ay, m->by));
	k.yy = ADD(mass, DOT(iax, ibx, m->ax, m->bx));
	k.xy = V(negate)(DOT(iax, ibx, m->ay, m->by));
	k.det = ADD(MUL(mass, SUB(ADD(k.xx, k.yy), mass)), MUL(both, MUL(rod, rod)));
	return k;
}

/* point_matrix while the angle is held. */
HELPER(LEVEL) symmetric_matrix locked_point_matrix(const joint_bodies *m, V(f) mass, V(f) angular_mass) {
	symmetric_matrix k;
	const V(f) x = SUB(m->bx, m->ax), y = SUB(m->by, m->ay), inertia = locked_inv_inertia(m, angular_mass);
	const V(f) ix = MUL(inertia, x), iy = MUL(inertia, y);
	k.xx = ADD(mass, MUL(iy, y));
	k.yy = ADD(mass, MUL(ix, x));
	k.xy = V(negate)(MUL(ix, y));
	k.det = MUL(mass, SUB(ADD(k.xx, k.yy), mass));
	return k;
}

/* The impulse of length bound for a velocity that is there without it: see bounded in package internal/rigid. */
HELPER(LEVEL) void bounded_impulse(const symmetric_matrix *k, V(f) vx, V(f) vy, V(f) bound, V(f) *x, V(f) *y) {
	const V(f) speed = V(sqrt)(DOT(vx, vy, vx, vy)), trace = ADD(k->xx, k->yy), max_shift = V(set1)(1e30f);
	const V(f) shift = V(min)(V(max)(SUB(MUL(speed, inverse(bound)), trace), ZERO), max_shift);
	const V(f) scale = inverse(ADD(trace, shift)), inv = V(negate)(inverse(speed));
	const V(f) xx = MUL(ADD(k->xx, shift), scale), xy = MUL(k->xy, scale), yy = MUL(ADD(k->yy, shift), scale);
	const V(f) ux = MUL(vx, inv), uy = MUL(vy, inv);
	const V(f) wx = SUB(MUL(yy, ux), MUL(xy, uy)), wy = SUB(MUL(xx, uy), MUL(xy, ux));
	const V(f) inv_size = inverse(V(sqrt)(DOT(wx, wy, wx, wy)));
	*x = MUL(bound, MUL(wx, inv_size));
	*y = MUL(bound, MUL(wy, inv_size));
}

HELPER(LEVEL) void solve_point(et_joint_block *b, uint32_t i, const uint32_t kind, const uint32_t parts,
                               joint_bodies *m, V(f) angle, const joint_step *it, row_impulses *r) {
	const V(f) old_x = m->applied.x, old_y = m->applied.y, angular_velocity = SUB(m->b[2], m->a[2]);
	joint_softness soft = row_softness(it, kind, V(max)(V(abs)(m->dx), V(abs)(m->dy)), angle);
	V(f) mass = ADD(m->a[3], m->b[3]);
	V(f) vx = SUB(SUB(m->b[0], MUL(m->b[2], m->by)), SUB(m->a[0], MUL(m->a[2], m->ay)));
	V(f) vy = SUB(ADD(m->b[1], MUL(m->b[2], m->bx)), ADD(m->a[1], MUL(m->a[2], m->ax)));
	V(f) error_x = m->dx, error_y = m->dy;
	if (parts & ET_SOFT) {
		const V(mask) rigid = (V(mask))(b->rigid_linear >> i) & V(first)(V(LANES));
		const V(f) compliance = V(select)(rigid, ZERO, MUL(mass, V(load)(b->linear.impulse_scale + i)));
		const joint_softness own = {V(load)(b->linear.bias_rate + i), V(set1)(1.0f), ZERO};
		soft = select_softness(rigid, soft, own);
		mass = ADD(mass, compliance);
		vx = ADD(vx, MUL(compliance, old_x));
		vy = ADD(vy, MUL(compliance, old_y));
		error_x = position_error(it, error_x, b->error_x + i);
		error_y = position_error(it, error_y, b->error_y + i);
	}
	if (parts & ET_VELOCITY) {
		const V(f) x0 = V(load)(b->axis_x + i), y0 = V(load)(b->axis_y + i);
		vx = SUB(vx, CROSS(m->a[6], m->a[7], y0, x0));
		vy = SUB(vy, DOT(m->a[7], m->a[6], x0, y0));
	}
	vx = ADD(vx, MUL(soft.bias_rate, error_x));
	vy = ADD(vy, MUL(soft.bias_rate, error_y));
	V(f) coupling_x = ZERO, coupling_y = ZERO;
	symmetric_matrix k;
	if (locks_angle(kind)) {
		const V(f) angular_mass = V(load)(b->angular_mass + i), angular_impulse = MUL(angular_velocity, angular_mass);
		k = locked_point_matrix(m, mass, angular_mass);
		coupling_x = V(negate)(DOT(m->ia, m->ib, m->ay, m->by));
		coupling_y = DOT(m->ia, m->ib, m->ax, m->bx);
		vx = SUB(vx, MUL(coupling_x, angular_impulse));
		vy = SUB(vy, MUL(coupling_y, angular_impulse));
	} else {
		k = point_matrix(m, mass);
	}
	const V(f) inv = inverse(k.det);
	V(f) x = soft_impulse(old_x, soft.mass_scale, MUL(CROSS(k.yy, k.xy, vy, vx), inv), soft.impulse_scale);
	V(f) y = soft_impulse(old_y, soft.mass_scale, MUL(CROSS(k.xx, k.xy, vx, vy), inv), soft.impulse_scale);
	r->soft = soft;
	r->mass = mass;
	r->matrix = k;
	r->bounded = r->clamped = (V(mask))0;
	if (parts & ET_SOFT) {
		const V(f) limit = V(load)(b->linear.max_spring_impulse + i);
		V(f) bounded_x, bounded_y;
		r->bounded = V(lt)(limit, V(set1)(__builtin_inff()));
		r->clamped = V(lt)(MUL(limit, limit), DOT(x, y, x, y));
		bounded_impulse(&k, SUB(vx, DOT(k.xx, k.xy, old_x, old_y)), SUB(vy, DOT(k.xy, k.yy, old_x, old_y)), limit, &bounded_x,
		                &bounded_y);
		x = V(select)(r->clamped, bounded_x, x);
		y = V(select)(r->clamped, bounded_y, y);
	}
	apply_impulse(m, impulse_at_anchors(m, SUB(x, old_x), SUB(y, old_y)));
	m->applied.x = x;
	m->applied.y = y;
	if (locks_angle(kind)) {
		const V(f) correction = DOT(coupling_x, coupling_y, lasting_impulse(soft, x, old_x), lasting_impulse(soft, y, old_y));
		r->angle = solve_angle(b, i, m, angular_velocity, angle, correction, soft);
	}
}

/* One iteration of the rows. It changes the velocities and the applied impulse of m, and not what b keeps of impulses. */
HELPER(LEVEL) void solve_rows(et_joint_block *b, uint32_t i, const uint32_t kind, const uint32_t parts, joint_bodies *m,
                              const constraint_axis *perpendicular, V(f) angle, const joint_step *it, row_impulses *r) {
	if (has_point(kind))
		solve_point(b, i, kind, parts, m, angle, it, r);
	else if (has_perpendicular(kind))
		solve_perpendicular(b, i, kind, m, perpendicular, angle, it, r);
}

/* An inverse mass between that without rows and that while they hold, as the rows yield. */
HELPER(LEVEL) V(f) yielding_inv_mass(joint_softness soft, V(f) free, V(f) held) {
	return ADD(MUL(soft.impulse_scale, free), MUL(soft.mass_scale, held));
}

/* The inverse of the effective mass of the relative angle while the point holds: see heldInvMass in package internal/rigid. */
HELPER(LEVEL) V(f) held_inv_mass(const joint_bodies *m, const row_impulses *r, V(f) inv_mass) {
	const V(f) x = SUB(m->bx, m->ax), y = SUB(m->by, m->ay), rod = CROSS(m->ax, m->ay, m->bx, m->by);
	const V(f) inertia = MUL(m->ia, m->ib), trace = SUB(ADD(r->matrix.xx, r->matrix.yy), r->mass);
	const V(f) inv = inverse(ADD(trace, MUL(MUL(inertia, MUL(rod, rod)), inverse(r->mass))));
	return ADD(MUL(MUL(r->mass, inv), inv_mass), MUL(MUL(inertia, inv), DOT(x, y, x, y)));
}

HELPER(LEVEL) axis_state angular_state(et_joint_block *b, uint32_t i, const uint32_t kind, const uint32_t parts,
                                       const joint_bodies *m, V(f) angle, const joint_step *it) {
	const V(f) inv_mass = ADD(m->ia, m->ib);
	axis_state c = {angle, SUB(m->b[2], m->a[2]), inv_mass, inv_mass};
	if (has_point(kind)) {
		joint_bodies after = *m;
		row_impulses r;
		solve_point(b, i, kind, parts, &after, angle, it, &r);
		const V(f) held = held_inv_mass(m, &r, inv_mass);
		c.velocity = SUB(after.b[2], after.a[2]);
		c.held_inv_mass = V(select)(r.bounded, inv_mass, held);
		c.inv_mass = V(select)(r.clamped, inv_mass, yielding_inv_mass(r.soft, inv_mass, held));
	}
	return c;
}

HELPER(LEVEL) axis_state linear_state(et_joint_block *b, uint32_t i, const uint32_t kind, const joint_bodies *m,
                                      const constraint_axis *axis, const constraint_axis *perpendicular, V(f) angle,
                                      const joint_step *it) {
	V(f) inv_mass = inv_mass_along(m, axis);
	if (kind == ET_DISTANCE) {
		inv_mass = V(pick)(axis->translation, ZERO, inv_mass, ZERO);
		const axis_state c = {axis->translation, velocity_along(m, axis), inv_mass, inv_mass};
		return c;
	}
	joint_bodies after = *m;
	row_impulses r;
	solve_perpendicular(b, i, kind, &after, perpendicular, angle, it, &r);
	const V(f) held = held_inv_mass_along(b, i, kind, m, axis, perpendicular);
	const axis_state c = {axis->translation, velocity_along(&after, axis), yielding_inv_mass(r.soft, inv_mass, held), held};
	return c;
}

HELPER(LEVEL) void solve_joint(et_joint_block *b, uint32_t i, et_state *states, const uint32_t kind,
                               const uint32_t parts, const joint_step *it) {
	joint_bodies m;
	constraint_axis axis, perpendicular;
	row_impulses r;
	V(f) angle = ZERO;
	load_bodies(b, i, states, &m);
	load_applied(b, i, &m.applied);
	load_axes(b, i, kind, &m, &axis, &perpendicular);
	if (it->use_bias)
		refresh_applied(b, i, kind, parts, &m, &axis, &perpendicular);
	if (locks_angle(kind) || parts & (ET_ANGULAR_SPRING | ET_ANGULAR_LIMITS))
		angle = current_angle(b, i, &m);
	if (parts & ET_ANGULAR) {
		const axis_state c = angular_state(b, i, kind, parts, &m, angle, it);
		const V(f) more = solve_axis(&b->angular, i, parts >> ET_ANGULAR_SHIFT, c, b->rigid_angular, it);
		apply_angular_impulse(&m, more, more);
	}
	if (parts & ET_LINEAR && !has_point(kind)) {
		const axis_state c = linear_state(b, i, kind, &m, &axis, &perpendicular, angle, it);
		apply_impulse(&m, impulse_along(&axis, solve_axis(&b->linear, i, parts, c, b->rigid_linear, it)));
	}
	solve_rows(b, i, kind, parts, &m, &perpendicular, angle, it, &r);
	if (has_perpendicular(kind))
		V(store)(b->perpendicular_impulse + i, r.perpendicular);
	if (locks_angle(kind))
		V(store)(b->angular.spring_impulse + i, r.angle);
	store_bodies(b, i, states, &m);
}

KERNEL(void, solve_joints, const et_system *s, int32_t use_bias, int64_t lo, int64_t hi) {
	const et_softness soft = use_bias ? s->step.joint_softness : (et_softness){0.0f, 1.0f, 0.0f};
	const joint_step shared = {
		{V(set1)(soft.bias_rate), V(set1)(soft.mass_scale), V(set1)(soft.impulse_scale)}, s->step.inv_h, use_bias};
	for (et_joint_block *b = s->joint_blocks + lo; b < s->joint_blocks + hi; b++) {
		for (uint32_t i = 0; i < b->joints; i += V(LANES)) {
			if (b->kind == ET_POINT && b->parts == 0) {
				solve_joint(b, i, s->states, ET_POINT, 0, &shared);
				continue;
			}
			joint_step it = shared;
			if (use_bias && b->parts & ET_TUNED) {
				it.soft.bias_rate = V(load)(b->bias_rate + i);
				it.soft.mass_scale = V(load)(b->mass_scale + i);
				it.soft.impulse_scale = V(load)(b->impulse_scale + i);
			}
			if (b->kind == ET_POINT)
				solve_joint(b, i, s->states, ET_POINT, b->parts, &it);
			else if (b->kind == ET_DISTANCE)
				solve_joint(b, i, s->states, ET_DISTANCE, b->parts, &it);
			else if (b->kind == ET_WELD)
				solve_joint(b, i, s->states, ET_WELD, b->parts, &it);
			else if (b->kind == ET_PRISMATIC)
				solve_joint(b, i, s->states, ET_PRISMATIC, b->parts, &it);
			else
				solve_joint(b, i, s->states, ET_WHEEL, b->parts, &it);
		}
	}
}

#ifdef DISPATCH
static et_axis_impulse impulse_of(const et_axis_block *d, uint32_t i) {
	const et_axis_impulse j = {d->spring_impulse[i], d->motor_impulse[i], d->lower_impulse[i], d->upper_impulse[i]};
	return j;
}

static void store_joint(const et_joint_block *b, uint32_t i, et_joint *to) {
	if (has_point(b->kind)) {
		to->point_impulse[0] = b->impulse_x[i];
		to->point_impulse[1] = b->impulse_y[i];
	} else if (has_perpendicular(b->kind)) {
		to->point_impulse[0] = b->perpendicular_impulse[i];
	}
	if (b->parts & ET_LINEAR && !has_point(b->kind))
		to->linear_impulse = impulse_of(&b->linear, i);
	if (b->parts & ET_ANGULAR)
		to->angular_impulse = impulse_of(&b->angular, i);
	else if (locks_angle(b->kind))
		to->angular_impulse.spring = b->angular.spring_impulse[i];
}

static float impulse_size(const et_axis_impulse *a) {
	return (__builtin_fabsf(a->spring) + __builtin_fabsf(a->motor)) + (__builtin_fabsf(a->lower) + __builtin_fabsf(a->upper));
}

/* Whether the impulses of a joint change no velocity by more than the bound: see maxImpulseSpeed in package internal/rigid. */
static int bounded(const et_joint_block *b, uint32_t i, const et_joint *j, const et_state *states) {
	const float linear = (__builtin_fabsf(j->point_impulse[0]) + __builtin_fabsf(j->point_impulse[1])) + impulse_size(&j->linear_impulse);
	const float inv_mass = states[b->a[i]].inv_mass + states[b->b[i]].inv_mass;
	const float turn = impulse_size(&j->angular_impulse) * (b->inv_ia[i] + b->inv_ib[i]);
	return linear * inv_mass <= 0x1p40f && turn <= 0x1p40f;
}

void et_store_joint_impulses(et_system s, int64_t lo, int64_t hi) {
	for (int64_t n = lo; n < hi; n++)
		for (uint32_t i = 0; i < s.joint_blocks[n].joints; i++) {
			et_joint *to = &s.joints[s.lane_joints[n * ET_LANES + i]];
			store_joint(&s.joint_blocks[n], i, to);
			if (!bounded(&s.joint_blocks[n], i, to, s.states)) {
				const et_axis_impulse none = {0, 0, 0, 0};
				to->point_impulse[0] = to->point_impulse[1] = 0;
				to->linear_impulse = to->angular_impulse = none;
			}
		}
}
#endif
