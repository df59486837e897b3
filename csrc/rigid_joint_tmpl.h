#include "rigid_atan.h"

/* 1/a where a > 0, 0 elsewhere. */
HELPER(LEVEL) V(f) CAT(over_, LEVEL)(V(f) a) { return V(pick)(a, ZERO, DIV(V(set1)(1.0f), a), ZERO); }

/* An impulse on B and its reverse on A, with those that turn A and B as it is not at their
 * centres. */
typedef struct {
	V(f) x, y, turn_a, turn_b;
} CAT(thrust_, LEVEL);

/* The bodies of some joints, and where the anchors are now. */
typedef struct {
	V(f) a[8], b[8]; /* states, of which vx, vy and w change */
	V(f) ia, ib;
	V(f) ax, ay, bx, by, dx, dy;
	CAT(thrust_, LEVEL) given;
} CAT(ends_, LEVEL);

/* A direction along which bodies are pushed. */
typedef struct {
	V(f) x, y, lever_a, lever_b, at;
} CAT(way_, LEVEL);

HELPER(LEVEL) void CAT(start_ends_, LEVEL)(const et_joint_block *b, uint32_t i, const et_state *states,
                                           CAT(ends_, LEVEL) *m) {
	const float *const p = (const float *)(const void *)states;
	V(rows8)(p, b->a + i, 8, m->a);
	V(rows8)(p, b->b + i, 8, m->b);
	m->ia = V(load)(b->inv_ia + i);
	m->ib = V(load)(b->inv_ib + i);
	const V(f) ax = V(load)(b->ax + i), ay = V(load)(b->ay + i), bx = V(load)(b->bx + i), by = V(load)(b->by + i);
	m->ax = CROSS(m->a[6], m->a[7], ay, ax);
	m->ay = DOT(m->a[7], m->a[6], ax, ay);
	m->bx = CROSS(m->b[6], m->b[7], by, bx);
	m->by = DOT(m->b[7], m->b[6], bx, by);
	m->dx = SUB(ADD(ADD(V(load)(b->gap_x + i), SUB(m->b[4], m->a[4])), m->bx), m->ax);
	m->dy = SUB(ADD(ADD(V(load)(b->gap_y + i), SUB(m->b[5], m->a[5])), m->by), m->ay);
}

HELPER(LEVEL) void CAT(load_given_, LEVEL)(const et_joint_block *b, uint32_t i, CAT(thrust_, LEVEL) *t) {
	t->x = V(load)(b->x + i);
	t->y = V(load)(b->y + i);
	t->turn_a = V(load)(b->turn_a + i);
	t->turn_b = V(load)(b->turn_b + i);
}

/* Stores velocities and what was given. */
HELPER(LEVEL) void CAT(put_ends_, LEVEL)(et_joint_block *b, uint32_t i, et_state *states, const CAT(ends_, LEVEL) *m) {
	float *const p = (float *)(void *)states;
	V(put4)(p, b->a + i, 8, m->a, b->dynamic_a >> i);
	V(put4)(p, b->b + i, 8, m->b, b->dynamic_b >> i);
	V(store)(b->x + i, m->given.x);
	V(store)(b->y + i, m->given.y);
	V(store)(b->turn_a + i, m->given.turn_a);
	V(store)(b->turn_b + i, m->given.turn_b);
}

HELPER(LEVEL) CAT(thrust_, LEVEL) CAT(add_thrust_, LEVEL)(CAT(thrust_, LEVEL) a, CAT(thrust_, LEVEL) b) {
	const CAT(thrust_, LEVEL) t = {ADD(a.x, b.x), ADD(a.y, b.y), ADD(a.turn_a, b.turn_a), ADD(a.turn_b, b.turn_b)};
	return t;
}

/* Gives impulses that turn A and B. */
HELPER(LEVEL) void CAT(turn_ends_, LEVEL)(CAT(ends_, LEVEL) *m, V(f) turn_a, V(f) turn_b) {
	m->a[2] = SUB(m->a[2], MUL(m->ia, turn_a));
	m->b[2] = ADD(m->b[2], MUL(m->ib, turn_b));
}

/* Gives a thrust, without noting it. */
HELPER(LEVEL) void CAT(push_ends_, LEVEL)(CAT(ends_, LEVEL) *m, CAT(thrust_, LEVEL) t) {
	m->a[0] = SUB(m->a[0], MUL(m->a[3], t.x));
	m->a[1] = SUB(m->a[1], MUL(m->a[3], t.y));
	m->b[0] = ADD(m->b[0], MUL(m->b[3], t.x));
	m->b[1] = ADD(m->b[1], MUL(m->b[3], t.y));
	CAT(turn_ends_, LEVEL)(m, t.turn_a, t.turn_b);
}

HELPER(LEVEL) void CAT(give_, LEVEL)(CAT(ends_, LEVEL) *m, CAT(thrust_, LEVEL) t) {
	CAT(push_ends_, LEVEL)(m, t);
	m->given = CAT(add_thrust_, LEVEL)(m->given, t);
}

HELPER(LEVEL) CAT(thrust_, LEVEL) CAT(at_anchors_, LEVEL)(const CAT(ends_, LEVEL) *m, V(f) x, V(f) y) {
	const CAT(thrust_, LEVEL) t = {x, y, CROSS(m->ax, m->ay, x, y), CROSS(m->bx, m->by, x, y)};
	return t;
}

HELPER(LEVEL) CAT(thrust_, LEVEL) CAT(thrust_of_, LEVEL)(const CAT(way_, LEVEL) *u, V(f) impulse) {
	const CAT(thrust_, LEVEL) t = {MUL(impulse, u->x), MUL(impulse, u->y), MUL(impulse, u->lever_a),
	                               MUL(impulse, u->lever_b)};
	return t;
}

/* The axis and what is across it, of kinds that have them; zero elsewhere. */
HELPER(LEVEL) void CAT(ways_, LEVEL)(const et_joint_block *b, uint32_t i, const uint32_t kind,
                                     const CAT(ends_, LEVEL) *m, CAT(way_, LEVEL) *axis, CAT(way_, LEVEL) *across) {
	const CAT(way_, LEVEL) none = {ZERO, ZERO, ZERO, ZERO, ZERO};
	*axis = *across = none;
	if (kind == ET_DISTANCE) {
		axis->at = V(sqrt)(DOT(m->dx, m->dy, m->dx, m->dy));
		const V(f) inv = CAT(over_, LEVEL)(axis->at), x = MUL(m->dx, inv), y = MUL(m->dy, inv);
		axis->x = x;
		axis->y = y;
		axis->lever_a = CROSS(m->ax, m->ay, x, y);
		axis->lever_b = CROSS(m->bx, m->by, x, y);
	} else if (has_line(kind)) {
		const V(f) x0 = V(load)(b->axis_x + i), y0 = V(load)(b->axis_y + i);
		const V(f) x = CROSS(m->a[6], m->a[7], y0, x0), y = DOT(m->a[7], m->a[6], x0, y0);
		const V(f) ax = ADD(m->ax, m->dx), ay = ADD(m->ay, m->dy);
		const CAT(way_, LEVEL) u = {x, y, CROSS(ax, ay, x, y), CROSS(m->bx, m->by, x, y), DOT(m->dx, m->dy, x, y)};
		const CAT(way_, LEVEL) v = {V(negate)(y), x, DOT(ax, ay, x, y), DOT(m->bx, m->by, x, y), CROSS(m->dy, m->dx, y, x)};
		*axis = u;
		*across = v;
	}
}

HELPER(LEVEL) V(f) CAT(sum_of_, LEVEL)(const et_block_drive *d, uint32_t i) {
	const V(f) sum = ADD(V(load)(d->spring + i), V(load)(d->motor + i));
	return SUB(ADD(sum, V(load)(d->lower_impulse + i)), V(load)(d->upper_impulse + i));
}

/* The thrust of the accumulated impulses with anchors and axes as they are now. */
HELPER(LEVEL) CAT(thrust_, LEVEL) CAT(held_, LEVEL)(const et_joint_block *b, uint32_t i, const uint32_t kind,
                                                    const uint32_t parts, const CAT(ends_, LEVEL) *m,
                                                    const CAT(way_, LEVEL) *axis, const CAT(way_, LEVEL) *across) {
	CAT(thrust_, LEVEL) t = {ZERO, ZERO, ZERO, ZERO};
	if (has_point(kind))
		return CAT(at_anchors_, LEVEL)(m, V(load)(b->x + i), V(load)(b->y + i));
	if (parts & ET_LINEAR)
		t = CAT(thrust_of_, LEVEL)(axis, CAT(sum_of_, LEVEL)(&b->linear, i));
	if (has_line(kind))
		t = CAT(add_thrust_, LEVEL)(t, CAT(thrust_of_, LEVEL)(across, V(load)(b->across + i)));
	return t;
}

KERNEL(LEVEL) void CAT(warm_start_joints_, LEVEL)(et_joint_block *blocks, int64_t n, et_state *states) {
	for (et_joint_block *b = blocks; b < blocks + n; b++) {
		for (uint32_t i = 0; i < b->joints; i += V(LANES)) {
			CAT(ends_, LEVEL) m;
			CAT(way_, LEVEL) axis, across;
			CAT(start_ends_, LEVEL)(b, i, states, &m);
			CAT(ways_, LEVEL)(b, i, b->kind, &m, &axis, &across);
			if (b->parts & ET_TURN) {
				const V(f) sum = CAT(sum_of_, LEVEL)(&b->angular, i);
				CAT(turn_ends_, LEVEL)(&m, sum, sum);
			}
			if (has_lock(b->kind)) {
				const V(f) lock = V(load)(b->angular.spring + i);
				CAT(turn_ends_, LEVEL)(&m, lock, lock);
			}
			m.given = CAT(held_, LEVEL)(b, i, b->kind, b->parts, &m, &axis, &across);
			CAT(push_ends_, LEVEL)(&m, m.given);
			CAT(put_ends_, LEVEL)(b, i, states, &m);
		}
	}
}

/* Makes what accumulated impulses gave what they give now. */
HELPER(LEVEL) void CAT(renew_, LEVEL)(const et_joint_block *b, uint32_t i, const uint32_t kind, const uint32_t parts,
                                      CAT(ends_, LEVEL) *m, const CAT(way_, LEVEL) *axis,
                                      const CAT(way_, LEVEL) *across) {
	const CAT(thrust_, LEVEL) now = CAT(held_, LEVEL)(b, i, kind, parts, m, axis, across);
	const V(f) turn_a = SUB(now.turn_a, m->given.turn_a), turn_b = SUB(now.turn_b, m->given.turn_b);
	if (has_point(kind)) {
		CAT(turn_ends_, LEVEL)(m, turn_a, turn_b);
	} else {
		const CAT(thrust_, LEVEL) more = {SUB(now.x, m->given.x), SUB(now.y, m->given.y), turn_a, turn_b};
		CAT(push_ends_, LEVEL)(m, more);
	}
	m->given = now;
}

/* The relative angle now. */
HELPER(LEVEL) V(f) CAT(angle_now_, LEVEL)(const et_joint_block *b, uint32_t i, const CAT(ends_, LEVEL) *m) {
	const V(f) sin = CROSS(m->b[7], m->b[6], m->a[7], m->a[6]), cos = DOT(m->b[6], m->b[7], m->a[6], m->a[7]);
	return ADD(V(load)(b->angle + i), CAT(atan2_, LEVEL)(sin, cos));
}

HELPER(LEVEL) V(f) CAT(within_, LEVEL)(V(f) a, V(f) limit) { return V(max)(V(min)(a, limit), V(negate)(limit)); }

/* What a drive acts on. */
typedef struct {
	V(f) at, v, yield, mass;
} CAT(coordinate_, LEVEL);

/* old less what a soft constraint takes, of velocity v and effective mass. */
HELPER(LEVEL) V(f) CAT(softly_, LEVEL)(V(f) old, V(f) mass, V(f) v, V(f) leak) {
	return SUB(SUB(old, MUL(mass, v)), MUL(leak, old));
}

/* The impulse of a limit that is x away and is left at the velocity v. */
HELPER(LEVEL) V(f) CAT(stop_, LEVEL)(const iteration *it, V(f) x, V(f) v, V(f) mass, V(f) old) {
	const V(f) deep = MUL(V(set1)(it->rate), CAT(within_, LEVEL)(x, V(set1)(farthest)));
	const V(f) bias = V(pick)(x, ZERO, MUL(x, V(set1)(it->inv_h)), deep);
	const V(f) scale = V(pick)(x, ZERO, V(set1)(1.0f), V(set1)(it->mass));
	const V(f) leak = V(pick)(x, ZERO, ZERO, V(set1)(it->impulse));
	return V(max)(CAT(softly_, LEVEL)(old, MUL(mass, scale), ADD(v, bias), leak), ZERO);
}

/* Adds an impulse to a sum, and to the velocity. */
HELPER(LEVEL) void CAT(add_to_, LEVEL)(CAT(coordinate_, LEVEL) *c, V(f) *sum, V(f) more) {
	*sum = ADD(*sum, more);
	c->v = ADD(c->v, MUL(c->yield, more));
}

/* By how much springs are off: x in a biased iteration, which stores it, and what that has stored in a
 * relaxing one. */
HELPER(LEVEL) V(f) CAT(off_, LEVEL)(const iteration *it, V(f) x, float *stored) {
	if (it->biased)
		V(store)(stored, x);
	return V(load)(stored);
}

/* One iteration of a drive: returns the impulse to add. */
HELPER(LEVEL) V(f) CAT(drive_, LEVEL)(et_block_drive *d, uint32_t i, uint32_t parts, CAT(coordinate_, LEVEL) c,
                                      uint32_t rigid, const iteration *it) {
	V(f) sum = ZERO;
	if (parts & ET_SPRING) {
		const V(mask) hard = (V(mask))(rigid >> i) & V(first)(V(LANES));
		const V(f) rate = V(select)(hard, V(set1)(it->rate), V(load)(d->rate + i));
		const V(f) mass = V(select)(hard, V(set1)(it->mass), V(load)(d->mass + i));
		const V(f) leak = V(select)(hard, V(set1)(it->impulse), V(load)(d->leak + i));
		const V(f) reach = V(select)(hard, V(set1)(farthest), V(set1)(__builtin_inff()));
		const V(f) old = V(load)(d->spring + i), far = SUB(c.at, V(load)(d->target + i));
		const V(f) x = CAT(off_, LEVEL)(it, CAT(within_, LEVEL)(far, reach), d->off + i);
		const V(f) free = CAT(softly_, LEVEL)(old, MUL(c.mass, mass), ADD(c.v, MUL(rate, x)), leak);
		const V(f) total = CAT(within_, LEVEL)(free, V(load)(d->max_spring + i));
		V(store)(d->spring + i, total);
		CAT(add_to_, LEVEL)(&c, &sum, SUB(total, old));
	}
	if (parts & ET_MOTOR) {
		const V(f) old = V(load)(d->motor + i), slow = SUB(c.v, V(load)(d->speed + i));
		const V(f) total = CAT(within_, LEVEL)(SUB(old, MUL(c.mass, slow)), V(load)(d->max_motor + i));
		V(store)(d->motor + i, total);
		CAT(add_to_, LEVEL)(&c, &sum, SUB(total, old));
	}
	if (parts & ET_LIMITS) {
		const V(f) low = V(load)(d->lower_impulse + i), high = V(load)(d->upper_impulse + i);
		const V(f) lower = CAT(stop_, LEVEL)(it, SUB(c.at, V(load)(d->lower + i)), c.v, c.mass, low);
		V(store)(d->lower_impulse + i, lower);
		CAT(add_to_, LEVEL)(&c, &sum, SUB(lower, low));
		const V(f) upper = CAT(stop_, LEVEL)(it, SUB(V(load)(d->upper + i), c.at), V(negate)(c.v), c.mass, high);
		V(store)(d->upper_impulse + i, upper);
		CAT(add_to_, LEVEL)(&c, &sum, SUB(high, upper));
	}
	return sum;
}

/* The speed of anchor B along u, and the speed that a unit impulse along u gives. */
HELPER(LEVEL) V(f) CAT(speed_, LEVEL)(const CAT(ends_, LEVEL) *m, const CAT(way_, LEVEL) *u) {
	const V(f) v = DOT(SUB(m->b[0], m->a[0]), SUB(m->b[1], m->a[1]), u->x, u->y);
	return ADD(v, SUB(MUL(m->b[2], u->lever_b), MUL(m->a[2], u->lever_a)));
}

HELPER(LEVEL) V(f) CAT(yield_, LEVEL)(const CAT(ends_, LEVEL) *m, const CAT(way_, LEVEL) *u) {
	const V(f) turning = ADD(MUL(MUL(m->ia, u->lever_a), u->lever_a), MUL(MUL(m->ib, u->lever_b), u->lever_b));
	return ADD(ADD(m->a[3], m->b[3]), turning);
}

HELPER(LEVEL) void CAT(solve_linear_, LEVEL)(et_joint_block *b, uint32_t i, const uint32_t kind, const uint32_t parts,
                                             CAT(ends_, LEVEL) *m, const CAT(way_, LEVEL) *u, const iteration *it) {
	const V(f) yield = CAT(yield_, LEVEL)(m, u);
	CAT(coordinate_, LEVEL) c = {u->at, CAT(speed_, LEVEL)(m, u), yield, CAT(over_, LEVEL)(yield)};
	if (kind == ET_DISTANCE)
		c.mass = V(pick)(u->at, ZERO, c.mass, ZERO);
	CAT(give_, LEVEL)(m, CAT(thrust_of_, LEVEL)(u, CAT(drive_, LEVEL)(&b->linear, i, parts, c, b->rigid, it)));
}

/* The inverse inertia that is left of the anchors from each other if the angle is held. */
HELPER(LEVEL) V(f) CAT(locked_, LEVEL)(const CAT(ends_, LEVEL) *m, V(f) turn_mass) {
	return MUL(MUL(m->ia, m->ib), turn_mass);
}

/* What the impulse of a row, old before, gives that is not leaked anyway. */
HELPER(LEVEL) V(f) CAT(taken_, LEVEL)(const iteration *it, V(f) total, V(f) old) {
	return ADD(SUB(total, old), MUL(V(set1)(it->impulse), old));
}

/* Holds the angle, where spin is the velocity of turning before the other rows, and takes back
 * what these gave to it. */
HELPER(LEVEL) void CAT(solve_lock_, LEVEL)(et_joint_block *b, uint32_t i, CAT(ends_, LEVEL) *m, V(f) spin, V(f) angle,
                                           V(f) given, const iteration *it) {
	const V(f) old = V(load)(b->angular.spring + i), off = CAT(within_, LEVEL)(angle, V(set1)(farthest));
	const V(f) v = ADD(MUL(V(set1)(it->mass), ADD(spin, MUL(V(set1)(it->rate), off))), given);
	const V(f) total = CAT(softly_, LEVEL)(old, V(load)(b->turn_mass + i), v, V(set1)(it->impulse));
	const V(f) more = SUB(total, old);
	V(store)(b->angular.spring + i, total);
	CAT(turn_ends_, LEVEL)(m, more, more);
}

HELPER(LEVEL) void CAT(solve_line_, LEVEL)(et_joint_block *b, uint32_t i, const uint32_t kind, CAT(ends_, LEVEL) *m,
                                           const CAT(way_, LEVEL) *u, V(f) angle, const iteration *it) {
	const V(f) off = CAT(within_, LEVEL)(u->at, V(set1)(farthest)), spin = SUB(m->b[2], m->a[2]);
	V(f) v = ADD(CAT(speed_, LEVEL)(m, u), MUL(V(set1)(it->rate), off)), yield, share = ZERO;
	if (has_lock(kind)) {
		const V(f) arm = SUB(u->lever_b, u->lever_a), turn_mass = V(load)(b->turn_mass + i);
		yield = ADD(ADD(m->a[3], m->b[3]), MUL(MUL(CAT(locked_, LEVEL)(m, turn_mass), arm), arm));
		share = ADD(MUL(m->ia, u->lever_a), MUL(m->ib, u->lever_b));
		v = SUB(v, MUL(share, MUL(spin, turn_mass)));
	} else {
		yield = CAT(yield_, LEVEL)(m, u);
	}
	const V(f) old = V(load)(b->across + i), mass = MUL(CAT(over_, LEVEL)(yield), V(set1)(it->mass));
	const V(f) total = CAT(softly_, LEVEL)(old, mass, v, V(set1)(it->impulse));
	V(store)(b->across + i, total);
	CAT(give_, LEVEL)(m, CAT(thrust_of_, LEVEL)(u, SUB(total, old)));
	if (has_lock(kind))
		CAT(solve_lock_, LEVEL)(b, i, m, spin, angle, MUL(share, CAT(taken_, LEVEL)(it, total, old)), it);
}

/* A symmetric matrix and its determinant. */
typedef struct {
	V(f) xx, xy, yy, det;
} CAT(matrix_, LEVEL);

HELPER(LEVEL) CAT(matrix_, LEVEL) CAT(yield_point_, LEVEL)(const CAT(ends_, LEVEL) *m, V(f) mass) {
	CAT(matrix_, LEVEL) k;
	const V(f) rod = CROSS(m->ax, m->ay, m->bx, m->by), both = MUL(m->ia, m->ib);
	const V(f) iax = MUL(m->ia, m->ax), iay = MUL(m->ia, m->ay), ibx = MUL(m->ib, m->bx), iby = MUL(m->ib, m->by);
	k.xx = ADD(mass, DOT(iay, iby, m->ay, m->by));
	k.yy = ADD(mass, DOT(iax, ibx, m->ax, m->bx));
	k.xy = V(negate)(DOT(iax, ibx, m->ay, m->by));
	k.det = ADD(MUL(mass, SUB(ADD(k.xx, k.yy), mass)), MUL(both, MUL(rod, rod)));
	return k;
}

/* That if the angle is held. */
HELPER(LEVEL) CAT(matrix_, LEVEL) CAT(yield_locked_, LEVEL)(const CAT(ends_, LEVEL) *m, V(f) mass, V(f) turn_mass) {
	CAT(matrix_, LEVEL) k;
	const V(f) x = SUB(m->bx, m->ax), y = SUB(m->by, m->ay), inertia = CAT(locked_, LEVEL)(m, turn_mass);
	const V(f) ix = MUL(inertia, x), iy = MUL(inertia, y);
	k.xx = ADD(mass, MUL(iy, y));
	k.yy = ADD(mass, MUL(ix, x));
	k.xy = V(negate)(MUL(ix, y));
	k.det = MUL(mass, SUB(ADD(k.xx, k.yy), mass));
	return k;
}

/* x and y of up to a limit, against the pull where they are longer. */
HELPER(LEVEL) void CAT(bounded_, LEVEL)(V(f) *x, V(f) *y, V(f) limit, V(f) pull_x, V(f) pull_y) {
	const V(f) square = DOT(*x, *y, *x, *y), most = MUL(limit, limit);
	const V(f) scale = V(negate)(MUL(limit, CAT(over_, LEVEL)(V(sqrt)(DOT(pull_x, pull_y, pull_x, pull_y)))));
	*x = V(pick)(square, most, MUL(pull_x, scale), *x);
	*y = V(pick)(square, most, MUL(pull_y, scale), *y);
}

HELPER(LEVEL) void CAT(solve_point_, LEVEL)(et_joint_block *b, uint32_t i, const uint32_t kind, const uint32_t parts,
                                            CAT(ends_, LEVEL) *m, V(f) angle, const iteration *it) {
	const V(f) old_x = m->given.x, old_y = m->given.y, spin = SUB(m->b[2], m->a[2]);
	V(f) rate = V(set1)(it->rate), scale = V(set1)(it->mass), leak = V(set1)(it->impulse), reach = V(set1)(farthest);
	V(f) mass = ADD(m->a[3], m->b[3]);
	V(f) vx = SUB(SUB(m->b[0], MUL(m->b[2], m->by)), SUB(m->a[0], MUL(m->a[2], m->ay)));
	V(f) vy = SUB(ADD(m->b[1], MUL(m->b[2], m->bx)), ADD(m->a[1], MUL(m->a[2], m->ax)));
	V(f) off_x = m->dx, off_y = m->dy;
	if (parts & ET_SOFT) {
		const V(mask) hard = (V(mask))(b->rigid >> i) & V(first)(V(LANES));
		const V(f) give = V(select)(hard, ZERO, MUL(mass, V(load)(b->linear.leak + i)));
		rate = V(select)(hard, rate, V(load)(b->linear.rate + i));
		scale = V(select)(hard, scale, V(set1)(1.0f));
		leak = V(select)(hard, leak, ZERO);
		reach = V(select)(hard, reach, V(set1)(__builtin_inff()));
		mass = ADD(mass, give);
		vx = ADD(vx, MUL(give, old_x));
		vy = ADD(vy, MUL(give, old_y));
		off_x = CAT(off_, LEVEL)(it, off_x, b->off_x + i);
		off_y = CAT(off_, LEVEL)(it, off_y, b->off_y + i);
	}
	vx = ADD(vx, MUL(rate, CAT(within_, LEVEL)(off_x, reach)));
	vy = ADD(vy, MUL(rate, CAT(within_, LEVEL)(off_y, reach)));
	const V(f) pull_x = vx, pull_y = vy;
	V(f) share_x = ZERO, share_y = ZERO;
	CAT(matrix_, LEVEL) k;
	if (has_lock(kind)) {
		const V(f) turn_mass = V(load)(b->turn_mass + i), turning = MUL(spin, turn_mass);
		k = CAT(yield_locked_, LEVEL)(m, mass, turn_mass);
		share_x = V(negate)(DOT(m->ia, m->ib, m->ay, m->by));
		share_y = DOT(m->ia, m->ib, m->ax, m->bx);
		vx = SUB(vx, MUL(share_x, turning));
		vy = SUB(vy, MUL(share_y, turning));
	} else {
		k = CAT(yield_point_, LEVEL)(m, mass);
	}
	const V(f) inv = CAT(over_, LEVEL)(k.det);
	V(f) x = CAT(softly_, LEVEL)(old_x, scale, MUL(CROSS(k.yy, k.xy, vy, vx), inv), leak);
	V(f) y = CAT(softly_, LEVEL)(old_y, scale, MUL(CROSS(k.xx, k.xy, vx, vy), inv), leak);
	if (parts & ET_SOFT)
		CAT(bounded_, LEVEL)(&x, &y, V(load)(b->linear.max_spring + i), pull_x, pull_y);
	CAT(give_, LEVEL)(m, CAT(at_anchors_, LEVEL)(m, SUB(x, old_x), SUB(y, old_y)));
	m->given.x = x;
	m->given.y = y;
	if (has_lock(kind)) {
		const V(f) given = DOT(share_x, share_y, CAT(taken_, LEVEL)(it, x, old_x), CAT(taken_, LEVEL)(it, y, old_y));
		CAT(solve_lock_, LEVEL)(b, i, m, spin, angle, given, it);
	}
}

HELPER(LEVEL) void CAT(solve_joint_, LEVEL)(et_joint_block *b, uint32_t i, et_state *states, const uint32_t kind,
                                            const uint32_t parts, const iteration *it) {
	CAT(ends_, LEVEL) m;
	CAT(way_, LEVEL) axis, across;
	V(f) angle = ZERO;
	CAT(start_ends_, LEVEL)(b, i, states, &m);
	CAT(load_given_, LEVEL)(b, i, &m.given);
	CAT(ways_, LEVEL)(b, i, kind, &m, &axis, &across);
	if (it->biased)
		CAT(renew_, LEVEL)(b, i, kind, parts, &m, &axis, &across);
	if (has_lock(kind) || parts & (ET_TURN_SPRING | ET_TURN_LIMITS))
		angle = CAT(angle_now_, LEVEL)(b, i, &m);
	if (parts & ET_TURN) {
		const CAT(coordinate_, LEVEL) c = {angle, SUB(m.b[2], m.a[2]), ADD(m.ia, m.ib), V(load)(b->turn_mass + i)};
		const V(f) more = CAT(drive_, LEVEL)(&b->angular, i, parts >> ET_TURN_SHIFT, c, b->rigid_turn, it);
		CAT(turn_ends_, LEVEL)(&m, more, more);
	}
	if (has_point(kind))
		CAT(solve_point_, LEVEL)(b, i, kind, parts, &m, angle, it);
	else if (parts & ET_LINEAR)
		CAT(solve_linear_, LEVEL)(b, i, kind, parts, &m, &axis, it);
	if (has_line(kind))
		CAT(solve_line_, LEVEL)(b, i, kind, &m, &across, angle, it);
	CAT(put_ends_, LEVEL)(b, i, states, &m);
}

KERNEL(LEVEL) void CAT(solve_joints_, LEVEL)(et_joint_block *blocks, int64_t n, et_state *states, const iteration *it) {
	for (et_joint_block *b = blocks; b < blocks + n; b++) {
		for (uint32_t i = 0; i < b->joints; i += V(LANES)) {
			if (b->kind == ET_POINT && b->parts == 0)
				CAT(solve_joint_, LEVEL)(b, i, states, ET_POINT, 0, it);
			else if (b->kind == ET_POINT)
				CAT(solve_joint_, LEVEL)(b, i, states, ET_POINT, b->parts, it);
			else if (b->kind == ET_DISTANCE)
				CAT(solve_joint_, LEVEL)(b, i, states, ET_DISTANCE, b->parts, it);
			else if (b->kind == ET_WELD)
				CAT(solve_joint_, LEVEL)(b, i, states, ET_WELD, b->parts, it);
			else if (b->kind == ET_PRISMATIC)
				CAT(solve_joint_, LEVEL)(b, i, states, ET_PRISMATIC, b->parts, it);
			else
				CAT(solve_joint_, LEVEL)(b, i, states, ET_WHEEL, b->parts, it);
		}
	}
}
