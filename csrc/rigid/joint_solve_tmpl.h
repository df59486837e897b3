#include "rows_lanes.h"
#include "system.h"

/* The greatest position error that an iteration removes at its rate. */
static const float max_position_error = 0.25f;

/* The settings of an iteration of some joints. The softness is that of rows and rigid springs. */
typedef struct {
	V(f) bias_rate, mass_scale, impulse_scale;
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

/* The state of an axis: position, velocity, and effective mass with its inverse. */
typedef struct {
	V(f) position, velocity, inv_mass, effective_mass;
} axis_state;

/* The new impulse of a soft constraint with velocity v and an effective mass. */
HELPER(LEVEL) V(f) soft_impulse(V(f) old, V(f) mass, V(f) v, V(f) impulse_scale) {
	return SUB(SUB(old, MUL(mass, v)), MUL(impulse_scale, old));
}

/* The impulse of a limit at distance x, which grows at the velocity v. */
HELPER(LEVEL) V(f) solve_limit(const joint_step *it, V(f) x, V(f) v, V(f) mass, V(f) old) {
	const V(f) deep = MUL(it->bias_rate, clamp(x, V(set1)(max_position_error)));
	const V(f) bias = V(pick)(x, ZERO, MUL(x, V(set1)(it->inv_h)), deep);
	const V(f) scale = V(pick)(x, ZERO, V(set1)(1.0f), it->mass_scale);
	const V(f) impulse_scale = V(pick)(x, ZERO, ZERO, it->impulse_scale);
	return V(max)(soft_impulse(old, MUL(mass, scale), ADD(v, bias), impulse_scale), ZERO);
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
		const V(f) rate = V(select)(rigid, it->bias_rate, V(load)(d->bias_rate + i));
		const V(f) mass = V(select)(rigid, it->mass_scale, V(load)(d->mass_scale + i));
		const V(f) impulse_scale = V(select)(rigid, it->impulse_scale, V(load)(d->impulse_scale + i));
		const V(f) max_error = V(select)(rigid, V(set1)(max_position_error), V(set1)(__builtin_inff()));
		const V(f) old = V(load)(d->spring_impulse + i), far = SUB(c.position, V(load)(d->target + i));
		const V(f) x = position_error(it, clamp(far, max_error), d->error + i);
		const V(f) free = soft_impulse(old, MUL(c.effective_mass, mass), ADD(c.velocity, MUL(rate, x)), impulse_scale);
		const V(f) limit = V(load)(d->max_spring_impulse + i);
		const V(f) least = parts & ET_SPRING_RANGE ? V(load)(d->min_spring_impulse + i) : V(negate)(limit);
		const V(f) total = V(max)(V(min)(free, limit), least);
		V(store)(d->spring_impulse + i, total);
		add_axis_impulse(&c, &sum, SUB(total, old));
	}
	if (parts & ET_MOTOR) {
		const V(f) old = V(load)(d->motor_impulse + i), slow = SUB(c.velocity, V(load)(d->motor_speed + i));
		const V(f) total = clamp(SUB(old, MUL(c.effective_mass, slow)), V(load)(d->max_motor_impulse + i));
		V(store)(d->motor_impulse + i, total);
		add_axis_impulse(&c, &sum, SUB(total, old));
	}
	if (parts & ET_LIMITS) {
		const V(f) low = V(load)(d->lower_impulse + i), high = V(load)(d->upper_impulse + i);
		const V(f) lower = solve_limit(it, SUB(c.position, V(load)(d->lower + i)), c.velocity, c.effective_mass, low);
		V(store)(d->lower_impulse + i, lower);
		add_axis_impulse(&c, &sum, SUB(lower, low));
		const V(f) upper = solve_limit(it, SUB(V(load)(d->upper + i), c.position), V(negate)(c.velocity), c.effective_mass, high);
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

HELPER(LEVEL) void solve_linear(et_joint_block *b, uint32_t i, const uint32_t kind, const uint32_t parts,
                                joint_bodies *m, const constraint_axis *u, const joint_step *it) {
	const V(f) inv_mass = inv_mass_along(m, u);
	axis_state c = {u->translation, velocity_along(m, u), inv_mass, inverse(inv_mass)};
	if (kind == ET_DISTANCE)
		c.effective_mass = V(pick)(u->translation, ZERO, c.effective_mass, ZERO);
	apply_impulse(m, impulse_along(u, solve_axis(&b->linear, i, parts, c, b->rigid_linear, it)));
}

/* The inverse inertia of the anchors relative to each other while the angle is held. */
HELPER(LEVEL) V(f) locked_inv_inertia(const joint_bodies *m, V(f) angular_mass) {
	return MUL(MUL(m->ia, m->ib), angular_mass);
}

/* The change of the impulse of a row, without the part that impulse_scale removes anyway. */
HELPER(LEVEL) V(f) lasting_impulse(const joint_step *it, V(f) total, V(f) old) {
	return ADD(SUB(total, old), MUL(it->impulse_scale, old));
}

/* Holds the angle. angular_velocity is the value before the other rows. correction is the effect of these rows on
 * it, which this step removes. */
HELPER(LEVEL) void solve_angle(et_joint_block *b, uint32_t i, joint_bodies *m, V(f) angular_velocity, V(f) angle,
                              V(f) correction, const joint_step *it) {
	const V(f) old = V(load)(b->angular.spring_impulse + i), off = clamp(angle, V(set1)(max_position_error));
	const V(f) v = ADD(MUL(it->mass_scale, ADD(angular_velocity, MUL(it->bias_rate, off))), correction);
	const V(f) total = soft_impulse(old, V(load)(b->angular_mass + i), v, it->impulse_scale);
	const V(f) more = SUB(total, old);
	V(store)(b->angular.spring_impulse + i, total);
	apply_angular_impulse(m, more, more);
}

HELPER(LEVEL) void solve_perpendicular(et_joint_block *b, uint32_t i, const uint32_t kind, joint_bodies *m,
                              const constraint_axis *u, V(f) angle, const joint_step *it) {
	const V(f) off = clamp(u->translation, V(set1)(max_position_error)), angular_velocity = SUB(m->b[2], m->a[2]);
	V(f) v = ADD(velocity_along(m, u), MUL(it->bias_rate, off)), inv_mass, coupling = ZERO;
	if (locks_angle(kind)) {
		const V(f) arm = SUB(u->cross_b, u->cross_a), angular_mass = V(load)(b->angular_mass + i);
		inv_mass = ADD(ADD(m->a[3], m->b[3]), MUL(MUL(locked_inv_inertia(m, angular_mass), arm), arm));
		coupling = ADD(MUL(m->ia, u->cross_a), MUL(m->ib, u->cross_b));
		v = SUB(v, MUL(coupling, MUL(angular_velocity, angular_mass)));
	} else {
		inv_mass = inv_mass_along(m, u);
	}
	const V(f) old = V(load)(b->perpendicular_impulse + i), mass = MUL(inverse(inv_mass), it->mass_scale);
	const V(f) total = soft_impulse(old, mass, v, it->impulse_scale);
	V(store)(b->perpendicular_impulse + i, total);
	apply_impulse(m, impulse_along(u, SUB(total, old)));
	if (locks_angle(kind))
		solve_angle(b, i, m, angular_velocity, angle, MUL(coupling, lasting_impulse(it, total, old)), it);
}

/* A symmetric matrix and its determinant. */
typedef struct {
	V(f) xx, xy, yy, det;
} symmetric_matrix;

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

/* Limits an impulse. It replaces one that is too long by one against the bias velocity. */
HELPER(LEVEL) void clamp_impulse(V(f) *x, V(f) *y, V(f) limit, V(f) bias_x, V(f) bias_y) {
	const V(f) square = DOT(*x, *y, *x, *y), most = MUL(limit, limit);
	const V(f) inv = inverse(V(sqrt)(DOT(bias_x, bias_y, bias_x, bias_y))), opposite = V(negate)(limit);
	*x = V(pick)(square, most, MUL(opposite, MUL(bias_x, inv)), *x);
	*y = V(pick)(square, most, MUL(opposite, MUL(bias_y, inv)), *y);
}

HELPER(LEVEL) void solve_point(et_joint_block *b, uint32_t i, const uint32_t kind, const uint32_t parts,
                               joint_bodies *m, V(f) angle, const joint_step *it) {
	const V(f) old_x = m->applied.x, old_y = m->applied.y, angular_velocity = SUB(m->b[2], m->a[2]);
	V(f) rate = it->bias_rate, scale = it->mass_scale, impulse_scale = it->impulse_scale, max_error = V(set1)(max_position_error);
	V(f) mass = ADD(m->a[3], m->b[3]);
	V(f) vx = SUB(SUB(m->b[0], MUL(m->b[2], m->by)), SUB(m->a[0], MUL(m->a[2], m->ay)));
	V(f) vy = SUB(ADD(m->b[1], MUL(m->b[2], m->bx)), ADD(m->a[1], MUL(m->a[2], m->ax)));
	V(f) error_x = m->dx, error_y = m->dy;
	if (parts & ET_SOFT) {
		const V(mask) rigid = (V(mask))(b->rigid_linear >> i) & V(first)(V(LANES));
		const V(f) apply_impulse = V(select)(rigid, ZERO, MUL(mass, V(load)(b->linear.impulse_scale + i)));
		rate = V(select)(rigid, rate, V(load)(b->linear.bias_rate + i));
		scale = V(select)(rigid, scale, V(set1)(1.0f));
		impulse_scale = V(select)(rigid, impulse_scale, ZERO);
		max_error = V(select)(rigid, max_error, V(set1)(__builtin_inff()));
		mass = ADD(mass, apply_impulse);
		vx = ADD(vx, MUL(apply_impulse, old_x));
		vy = ADD(vy, MUL(apply_impulse, old_y));
		error_x = position_error(it, error_x, b->error_x + i);
		error_y = position_error(it, error_y, b->error_y + i);
	}
	if (parts & ET_VELOCITY) {
		const V(f) x0 = V(load)(b->axis_x + i), y0 = V(load)(b->axis_y + i);
		vx = SUB(vx, CROSS(m->a[6], m->a[7], y0, x0));
		vy = SUB(vy, DOT(m->a[7], m->a[6], x0, y0));
	}
	vx = ADD(vx, MUL(rate, clamp(error_x, max_error)));
	vy = ADD(vy, MUL(rate, clamp(error_y, max_error)));
	const V(f) bias_x = vx, bias_y = vy;
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
	V(f) x = soft_impulse(old_x, scale, MUL(CROSS(k.yy, k.xy, vy, vx), inv), impulse_scale);
	V(f) y = soft_impulse(old_y, scale, MUL(CROSS(k.xx, k.xy, vx, vy), inv), impulse_scale);
	if (parts & ET_SOFT)
		clamp_impulse(&x, &y, V(load)(b->linear.max_spring_impulse + i), bias_x, bias_y);
	apply_impulse(m, impulse_at_anchors(m, SUB(x, old_x), SUB(y, old_y)));
	m->applied.x = x;
	m->applied.y = y;
	if (locks_angle(kind)) {
		const V(f) correction = DOT(coupling_x, coupling_y, lasting_impulse(it, x, old_x), lasting_impulse(it, y, old_y));
		solve_angle(b, i, m, angular_velocity, angle, correction, it);
	}
}

HELPER(LEVEL) void solve_joint(et_joint_block *b, uint32_t i, et_state *states, const uint32_t kind,
                               const uint32_t parts, const joint_step *it) {
	joint_bodies m;
	constraint_axis axis, perpendicular;
	V(f) angle = ZERO;
	load_bodies(b, i, states, &m);
	load_applied(b, i, &m.applied);
	load_axes(b, i, kind, &m, &axis, &perpendicular);
	if (it->use_bias)
		refresh_applied(b, i, kind, parts, &m, &axis, &perpendicular);
	if (locks_angle(kind) || parts & (ET_ANGULAR_SPRING | ET_ANGULAR_LIMITS))
		angle = current_angle(b, i, &m);
	if (parts & ET_ANGULAR) {
		const axis_state c = {angle, SUB(m.b[2], m.a[2]), ADD(m.ia, m.ib), V(load)(b->angular_mass + i)};
		const V(f) more = solve_axis(&b->angular, i, parts >> ET_ANGULAR_SHIFT, c, b->rigid_angular, it);
		apply_angular_impulse(&m, more, more);
	}
	if (has_point(kind))
		solve_point(b, i, kind, parts, &m, angle, it);
	else if (parts & ET_LINEAR)
		solve_linear(b, i, kind, parts, &m, &axis, it);
	if (has_perpendicular(kind))
		solve_perpendicular(b, i, kind, &m, &perpendicular, angle, it);
	store_bodies(b, i, states, &m);
}

KERNEL(void, solve_joints, const et_system *s, int32_t use_bias, int64_t lo, int64_t hi) {
	const et_softness soft = use_bias ? s->step.joint_softness : (et_softness){0.0f, 1.0f, 0.0f};
	const joint_step shared = {V(set1)(soft.bias_rate), V(set1)(soft.mass_scale), V(set1)(soft.impulse_scale), s->step.inv_h, use_bias};
	for (et_joint_block *b = s->joint_blocks + lo; b < s->joint_blocks + hi; b++) {
		for (uint32_t i = 0; i < b->joints; i += V(LANES)) {
			if (b->kind == ET_POINT && b->parts == 0) {
				solve_joint(b, i, s->states, ET_POINT, 0, &shared);
				continue;
			}
			joint_step it = shared;
			if (use_bias && b->parts & ET_TUNED) {
				it.bias_rate = V(load)(b->bias_rate + i);
				it.mass_scale = V(load)(b->mass_scale + i);
				it.impulse_scale = V(load)(b->impulse_scale + i);
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

void et_store_joint_impulses(et_system s, int64_t lo, int64_t hi) {
	for (int64_t n = lo; n < hi; n++)
		for (uint32_t i = 0; i < s.joint_blocks[n].joints; i++)
			store_joint(&s.joint_blocks[n], i, &s.joints[s.lane_joints[n * ET_LANES + i]]);
}
#endif
