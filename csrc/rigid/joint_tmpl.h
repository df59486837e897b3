#include "joint.h"
#include "solve_lanes.h"

/* How much of what a joint is off an iteration removes at its rate. */
static const float farthest = 0.25f;

/* What an iteration of all joints has in common: the softness of what is rigid. */
typedef struct {
	float rate, mass, impulse, inv_h;
	int32_t biased;
} iteration;

#include "atan.h"

/* 1/a where a > 0, 0 elsewhere. */
HELPER(LEVEL) V(f) over(V(f) a) { return V(pick)(a, ZERO, DIV(V(set1)(1.0f), a), ZERO); }

/* An impulse on B and its reverse on A, with those that turn A and B as it is not at their
 * centres. */
typedef struct {
	V(f) x, y, turn_a, turn_b;
} thrust;

/* The bodies of some joints, and where the anchors are now. */
typedef struct {
	V(f) a[8], b[8]; /* states, of which vx, vy and w change */
	V(f) ia, ib;
	V(f) ax, ay, bx, by, dx, dy;
	thrust given;
} ends;

/* A direction along which bodies are pushed. */
typedef struct {
	V(f) x, y, lever_a, lever_b, at;
} way;

HELPER(LEVEL) void start_ends(const et_joint_block *b, uint32_t i, const et_state *states,
                              ends *m) {
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

HELPER(LEVEL) void load_given(const et_joint_block *b, uint32_t i, thrust *t) {
	t->x = V(load)(b->x + i);
	t->y = V(load)(b->y + i);
	t->turn_a = V(load)(b->turn_a + i);
	t->turn_b = V(load)(b->turn_b + i);
}

/* Stores velocities and what was given. */
HELPER(LEVEL) void put_ends(et_joint_block *b, uint32_t i, et_state *states, const ends *m) {
	float *const p = (float *)(void *)states;
	V(put4)(p, b->a + i, 8, m->a, b->dynamic_a >> i);
	V(put4)(p, b->b + i, 8, m->b, b->dynamic_b >> i);
	V(store)(b->x + i, m->given.x);
	V(store)(b->y + i, m->given.y);
	V(store)(b->turn_a + i, m->given.turn_a);
	V(store)(b->turn_b + i, m->given.turn_b);
}

HELPER(LEVEL) thrust add_thrust(thrust a, thrust b) {
	const thrust t = {ADD(a.x, b.x), ADD(a.y, b.y), ADD(a.turn_a, b.turn_a), ADD(a.turn_b, b.turn_b)};
	return t;
}

/* Gives impulses that turn A and B. */
HELPER(LEVEL) void turn_ends(ends *m, V(f) turn_a, V(f) turn_b) {
	m->a[2] = SUB(m->a[2], MUL(m->ia, turn_a));
	m->b[2] = ADD(m->b[2], MUL(m->ib, turn_b));
}

/* Gives a thrust, without noting it. */
HELPER(LEVEL) void push_ends(ends *m, thrust t) {
	m->a[0] = SUB(m->a[0], MUL(m->a[3], t.x));
	m->a[1] = SUB(m->a[1], MUL(m->a[3], t.y));
	m->b[0] = ADD(m->b[0], MUL(m->b[3], t.x));
	m->b[1] = ADD(m->b[1], MUL(m->b[3], t.y));
	turn_ends(m, t.turn_a, t.turn_b);
}

HELPER(LEVEL) void give(ends *m, thrust t) {
	push_ends(m, t);
	m->given = add_thrust(m->given, t);
}

HELPER(LEVEL) thrust at_anchors(const ends *m, V(f) x, V(f) y) {
	const thrust t = {x, y, CROSS(m->ax, m->ay, x, y), CROSS(m->bx, m->by, x, y)};
	return t;
}

HELPER(LEVEL) thrust thrust_of(const way *u, V(f) impulse) {
	const thrust t = {MUL(impulse, u->x), MUL(impulse, u->y), MUL(impulse, u->lever_a),
	                               MUL(impulse, u->lever_b)};
	return t;
}

/* The axis and what is across it, of kinds that have them; zero elsewhere. */
HELPER(LEVEL) void ways(const et_joint_block *b, uint32_t i, const uint32_t kind,
                        const ends *m, way *axis, way *across) {
	const way none = {ZERO, ZERO, ZERO, ZERO, ZERO};
	*axis = *across = none;
	if (kind == ET_DISTANCE) {
		axis->at = V(sqrt)(DOT(m->dx, m->dy, m->dx, m->dy));
		const V(f) inv = over(axis->at), x = MUL(m->dx, inv), y = MUL(m->dy, inv);
		axis->x = x;
		axis->y = y;
		axis->lever_a = CROSS(m->ax, m->ay, x, y);
		axis->lever_b = CROSS(m->bx, m->by, x, y);
	} else if (has_line(kind)) {
		const V(f) x0 = V(load)(b->axis_x + i), y0 = V(load)(b->axis_y + i);
		const V(f) x = CROSS(m->a[6], m->a[7], y0, x0), y = DOT(m->a[7], m->a[6], x0, y0);
		const V(f) ax = ADD(m->ax, m->dx), ay = ADD(m->ay, m->dy);
		const way u = {x, y, CROSS(ax, ay, x, y), CROSS(m->bx, m->by, x, y), DOT(m->dx, m->dy, x, y)};
		const way v = {V(negate)(y), x, DOT(ax, ay, x, y), DOT(m->bx, m->by, x, y), CROSS(m->dy, m->dx, y, x)};
		*axis = u;
		*across = v;
	}
}

HELPER(LEVEL) V(f) sum_of(const et_block_drive *d, uint32_t i) {
	const V(f) sum = ADD(V(load)(d->spring + i), V(load)(d->motor + i));
	return SUB(ADD(sum, V(load)(d->lower_impulse + i)), V(load)(d->upper_impulse + i));
}

/* The thrust of the accumulated impulses with anchors and axes as they are now. */
HELPER(LEVEL) thrust held(const et_joint_block *b, uint32_t i, const uint32_t kind,
                          const uint32_t parts, const ends *m,
                          const way *axis, const way *across) {
	thrust t = {ZERO, ZERO, ZERO, ZERO};
	if (has_point(kind))
		return at_anchors(m, V(load)(b->x + i), V(load)(b->y + i));
	if (parts & ET_LINEAR)
		t = thrust_of(axis, sum_of(&b->linear, i));
	if (has_line(kind))
		t = add_thrust(t, thrust_of(across, V(load)(b->across + i)));
	return t;
}

KERNEL(void, warm_start_joints, et_joint_block *blocks, int64_t n, et_state *states) {
	for (et_joint_block *b = blocks; b < blocks + n; b++) {
		for (uint32_t i = 0; i < b->joints; i += V(LANES)) {
			ends m;
			way axis, across;
			start_ends(b, i, states, &m);
			ways(b, i, b->kind, &m, &axis, &across);
			if (b->parts & ET_TURN) {
				const V(f) sum = sum_of(&b->angular, i);
				turn_ends(&m, sum, sum);
			}
			if (has_lock(b->kind)) {
				const V(f) lock = V(load)(b->angular.spring + i);
				turn_ends(&m, lock, lock);
			}
			m.given = held(b, i, b->kind, b->parts, &m, &axis, &across);
			push_ends(&m, m.given);
			put_ends(b, i, states, &m);
		}
	}
}

/* Makes what accumulated impulses gave what they give now. */
HELPER(LEVEL) void renew(const et_joint_block *b, uint32_t i, const uint32_t kind, const uint32_t parts,
                         ends *m, const way *axis,
                         const way *across) {
	const thrust now = held(b, i, kind, parts, m, axis, across);
	const V(f) turn_a = SUB(now.turn_a, m->given.turn_a), turn_b = SUB(now.turn_b, m->given.turn_b);
	if (has_point(kind)) {
		turn_ends(m, turn_a, turn_b);
	} else {
		const thrust more = {SUB(now.x, m->given.x), SUB(now.y, m->given.y), turn_a, turn_b};
		push_ends(m, more);
	}
	m->given = now;
}

/* The relative angle now. */
HELPER(LEVEL) V(f) angle_now(const et_joint_block *b, uint32_t i, const ends *m) {
	const V(f) sin = CROSS(m->b[7], m->b[6], m->a[7], m->a[6]), cos = DOT(m->b[6], m->b[7], m->a[6], m->a[7]);
	return ADD(V(load)(b->angle + i), arctan2(sin, cos));
}

HELPER(LEVEL) V(f) within(V(f) a, V(f) limit) { return V(max)(V(min)(a, limit), V(negate)(limit)); }

/* What a drive acts on. */
typedef struct {
	V(f) at, v, yield, mass;
} coordinate;

/* old less what a soft constraint takes, of velocity v and effective mass. */
HELPER(LEVEL) V(f) softly(V(f) old, V(f) mass, V(f) v, V(f) leak) {
	return SUB(SUB(old, MUL(mass, v)), MUL(leak, old));
}

/* The impulse of a limit that is x away and is left at the velocity v. */
HELPER(LEVEL) V(f) stop(const iteration *it, V(f) x, V(f) v, V(f) mass, V(f) old) {
	const V(f) deep = MUL(V(set1)(it->rate), within(x, V(set1)(farthest)));
	const V(f) bias = V(pick)(x, ZERO, MUL(x, V(set1)(it->inv_h)), deep);
	const V(f) scale = V(pick)(x, ZERO, V(set1)(1.0f), V(set1)(it->mass));
	const V(f) leak = V(pick)(x, ZERO, ZERO, V(set1)(it->impulse));
	return V(max)(softly(old, MUL(mass, scale), ADD(v, bias), leak), ZERO);
}

/* Adds an impulse to a sum, and to the velocity. */
HELPER(LEVEL) void add_to(coordinate *c, V(f) *sum, V(f) more) {
	*sum = ADD(*sum, more);
	c->v = ADD(c->v, MUL(c->yield, more));
}

/* By how much springs are off: x in a biased iteration, which stores it, and what that has stored in a
 * relaxing one. */
HELPER(LEVEL) V(f) off(const iteration *it, V(f) x, float *stored) {
	if (it->biased)
		V(store)(stored, x);
	return V(load)(stored);
}

/* One iteration of a drive: returns the impulse to add. */
HELPER(LEVEL) V(f) drive(et_block_drive *d, uint32_t i, uint32_t parts, coordinate c,
                         uint32_t rigid, const iteration *it) {
	V(f) sum = ZERO;
	if (parts & ET_SPRING) {
		const V(mask) hard = (V(mask))(rigid >> i) & V(first)(V(LANES));
		const V(f) rate = V(select)(hard, V(set1)(it->rate), V(load)(d->rate + i));
		const V(f) mass = V(select)(hard, V(set1)(it->mass), V(load)(d->mass + i));
		const V(f) leak = V(select)(hard, V(set1)(it->impulse), V(load)(d->leak + i));
		const V(f) reach = V(select)(hard, V(set1)(farthest), V(set1)(__builtin_inff()));
		const V(f) old = V(load)(d->spring + i), far = SUB(c.at, V(load)(d->target + i));
		const V(f) x = off(it, within(far, reach), d->off + i);
		const V(f) free = softly(old, MUL(c.mass, mass), ADD(c.v, MUL(rate, x)), leak);
		const V(f) total = within(free, V(load)(d->max_spring + i));
		V(store)(d->spring + i, total);
		add_to(&c, &sum, SUB(total, old));
	}
	if (parts & ET_MOTOR) {
		const V(f) old = V(load)(d->motor + i), slow = SUB(c.v, V(load)(d->speed + i));
		const V(f) total = within(SUB(old, MUL(c.mass, slow)), V(load)(d->max_motor + i));
		V(store)(d->motor + i, total);
		add_to(&c, &sum, SUB(total, old));
	}
	if (parts & ET_LIMITS) {
		const V(f) low = V(load)(d->lower_impulse + i), high = V(load)(d->upper_impulse + i);
		const V(f) lower = stop(it, SUB(c.at, V(load)(d->lower + i)), c.v, c.mass, low);
		V(store)(d->lower_impulse + i, lower);
		add_to(&c, &sum, SUB(lower, low));
		const V(f) upper = stop(it, SUB(V(load)(d->upper + i), c.at), V(negate)(c.v), c.mass, high);
		V(store)(d->upper_impulse + i, upper);
		add_to(&c, &sum, SUB(high, upper));
	}
	return sum;
}

/* The speed of anchor B along u, and the speed that a unit impulse along u gives. */
HELPER(LEVEL) V(f) speed(const ends *m, const way *u) {
	const V(f) v = DOT(SUB(m->b[0], m->a[0]), SUB(m->b[1], m->a[1]), u->x, u->y);
	return ADD(v, SUB(MUL(m->b[2], u->lever_b), MUL(m->a[2], u->lever_a)));
}

HELPER(LEVEL) V(f) mobility(const ends *m, const way *u) {
	const V(f) turning = ADD(MUL(MUL(m->ia, u->lever_a), u->lever_a), MUL(MUL(m->ib, u->lever_b), u->lever_b));
	return ADD(ADD(m->a[3], m->b[3]), turning);
}

HELPER(LEVEL) void solve_linear(et_joint_block *b, uint32_t i, const uint32_t kind, const uint32_t parts,
                                ends *m, const way *u, const iteration *it) {
	const V(f) yield = mobility(m, u);
	coordinate c = {u->at, speed(m, u), yield, over(yield)};
	if (kind == ET_DISTANCE)
		c.mass = V(pick)(u->at, ZERO, c.mass, ZERO);
	give(m, thrust_of(u, drive(&b->linear, i, parts, c, b->rigid, it)));
}

/* The inverse inertia that is left of the anchors from each other if the angle is held. */
HELPER(LEVEL) V(f) locked(const ends *m, V(f) turn_mass) {
	return MUL(MUL(m->ia, m->ib), turn_mass);
}

/* What the impulse of a row, old before, gives that is not leaked anyway. */
HELPER(LEVEL) V(f) taken(const iteration *it, V(f) total, V(f) old) {
	return ADD(SUB(total, old), MUL(V(set1)(it->impulse), old));
}

/* Holds the angle, where spin is the velocity of turning before the other rows, and takes back
 * what these gave to it. */
HELPER(LEVEL) void solve_lock(et_joint_block *b, uint32_t i, ends *m, V(f) spin, V(f) angle,
                              V(f) given, const iteration *it) {
	const V(f) old = V(load)(b->angular.spring + i), off = within(angle, V(set1)(farthest));
	const V(f) v = ADD(MUL(V(set1)(it->mass), ADD(spin, MUL(V(set1)(it->rate), off))), given);
	const V(f) total = softly(old, V(load)(b->turn_mass + i), v, V(set1)(it->impulse));
	const V(f) more = SUB(total, old);
	V(store)(b->angular.spring + i, total);
	turn_ends(m, more, more);
}

HELPER(LEVEL) void solve_line(et_joint_block *b, uint32_t i, const uint32_t kind, ends *m,
                              const way *u, V(f) angle, const iteration *it) {
	const V(f) off = within(u->at, V(set1)(farthest)), spin = SUB(m->b[2], m->a[2]);
	V(f) v = ADD(speed(m, u), MUL(V(set1)(it->rate), off)), yield, share = ZERO;
	if (has_lock(kind)) {
		const V(f) arm = SUB(u->lever_b, u->lever_a), turn_mass = V(load)(b->turn_mass + i);
		yield = ADD(ADD(m->a[3], m->b[3]), MUL(MUL(locked(m, turn_mass), arm), arm));
		share = ADD(MUL(m->ia, u->lever_a), MUL(m->ib, u->lever_b));
		v = SUB(v, MUL(share, MUL(spin, turn_mass)));
	} else {
		yield = mobility(m, u);
	}
	const V(f) old = V(load)(b->across + i), mass = MUL(over(yield), V(set1)(it->mass));
	const V(f) total = softly(old, mass, v, V(set1)(it->impulse));
	V(store)(b->across + i, total);
	give(m, thrust_of(u, SUB(total, old)));
	if (has_lock(kind))
		solve_lock(b, i, m, spin, angle, MUL(share, taken(it, total, old)), it);
}

/* A symmetric matrix and its determinant. */
typedef struct {
	V(f) xx, xy, yy, det;
} matrix;

HELPER(LEVEL) matrix yield_point(const ends *m, V(f) mass) {
	matrix k;
	const V(f) rod = CROSS(m->ax, m->ay, m->bx, m->by), both = MUL(m->ia, m->ib);
	const V(f) iax = MUL(m->ia, m->ax), iay = MUL(m->ia, m->ay), ibx = MUL(m->ib, m->bx), iby = MUL(m->ib, m->by);
	k.xx = ADD(mass, DOT(iay, iby, m->ay, m->by));
	k.yy = ADD(mass, DOT(iax, ibx, m->ax, m->bx));
	k.xy = V(negate)(DOT(iax, ibx, m->ay, m->by));
	k.det = ADD(MUL(mass, SUB(ADD(k.xx, k.yy), mass)), MUL(both, MUL(rod, rod)));
	return k;
}

/* That if the angle is held. */
HELPER(LEVEL) matrix yield_locked(const ends *m, V(f) mass, V(f) turn_mass) {
	matrix k;
	const V(f) x = SUB(m->bx, m->ax), y = SUB(m->by, m->ay), inertia = locked(m, turn_mass);
	const V(f) ix = MUL(inertia, x), iy = MUL(inertia, y);
	k.xx = ADD(mass, MUL(iy, y));
	k.yy = ADD(mass, MUL(ix, x));
	k.xy = V(negate)(MUL(ix, y));
	k.det = MUL(mass, SUB(ADD(k.xx, k.yy), mass));
	return k;
}

/* x and y of up to a limit, against the pull where they are longer. */
HELPER(LEVEL) void bounded(V(f) *x, V(f) *y, V(f) limit, V(f) pull_x, V(f) pull_y) {
	const V(f) square = DOT(*x, *y, *x, *y), most = MUL(limit, limit);
	const V(f) scale = V(negate)(MUL(limit, over(V(sqrt)(DOT(pull_x, pull_y, pull_x, pull_y)))));
	*x = V(pick)(square, most, MUL(pull_x, scale), *x);
	*y = V(pick)(square, most, MUL(pull_y, scale), *y);
}

HELPER(LEVEL) void solve_point(et_joint_block *b, uint32_t i, const uint32_t kind, const uint32_t parts,
                               ends *m, V(f) angle, const iteration *it) {
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
		off_x = off(it, off_x, b->off_x + i);
		off_y = off(it, off_y, b->off_y + i);
	}
	vx = ADD(vx, MUL(rate, within(off_x, reach)));
	vy = ADD(vy, MUL(rate, within(off_y, reach)));
	const V(f) pull_x = vx, pull_y = vy;
	V(f) share_x = ZERO, share_y = ZERO;
	matrix k;
	if (has_lock(kind)) {
		const V(f) turn_mass = V(load)(b->turn_mass + i), turning = MUL(spin, turn_mass);
		k = yield_locked(m, mass, turn_mass);
		share_x = V(negate)(DOT(m->ia, m->ib, m->ay, m->by));
		share_y = DOT(m->ia, m->ib, m->ax, m->bx);
		vx = SUB(vx, MUL(share_x, turning));
		vy = SUB(vy, MUL(share_y, turning));
	} else {
		k = yield_point(m, mass);
	}
	const V(f) inv = over(k.det);
	V(f) x = softly(old_x, scale, MUL(CROSS(k.yy, k.xy, vy, vx), inv), leak);
	V(f) y = softly(old_y, scale, MUL(CROSS(k.xx, k.xy, vx, vy), inv), leak);
	if (parts & ET_SOFT)
		bounded(&x, &y, V(load)(b->linear.max_spring + i), pull_x, pull_y);
	give(m, at_anchors(m, SUB(x, old_x), SUB(y, old_y)));
	m->given.x = x;
	m->given.y = y;
	if (has_lock(kind)) {
		const V(f) given = DOT(share_x, share_y, taken(it, x, old_x), taken(it, y, old_y));
		solve_lock(b, i, m, spin, angle, given, it);
	}
}

HELPER(LEVEL) void solve_joint(et_joint_block *b, uint32_t i, et_state *states, const uint32_t kind,
                               const uint32_t parts, const iteration *it) {
	ends m;
	way axis, across;
	V(f) angle = ZERO;
	start_ends(b, i, states, &m);
	load_given(b, i, &m.given);
	ways(b, i, kind, &m, &axis, &across);
	if (it->biased)
		renew(b, i, kind, parts, &m, &axis, &across);
	if (has_lock(kind) || parts & (ET_TURN_SPRING | ET_TURN_LIMITS))
		angle = angle_now(b, i, &m);
	if (parts & ET_TURN) {
		const coordinate c = {angle, SUB(m.b[2], m.a[2]), ADD(m.ia, m.ib), V(load)(b->turn_mass + i)};
		const V(f) more = drive(&b->angular, i, parts >> ET_TURN_SHIFT, c, b->rigid_turn, it);
		turn_ends(&m, more, more);
	}
	if (has_point(kind))
		solve_point(b, i, kind, parts, &m, angle, it);
	else if (parts & ET_LINEAR)
		solve_linear(b, i, kind, parts, &m, &axis, it);
	if (has_line(kind))
		solve_line(b, i, kind, &m, &across, angle, it);
	put_ends(b, i, states, &m);
}

KERNEL(void, solve_joints, et_joint_block *blocks, int64_t n, et_state *states, const iteration *it) {
	for (et_joint_block *b = blocks; b < blocks + n; b++) {
		for (uint32_t i = 0; i < b->joints; i += V(LANES)) {
			if (b->kind == ET_POINT && b->parts == 0)
				solve_joint(b, i, states, ET_POINT, 0, it);
			else if (b->kind == ET_POINT)
				solve_joint(b, i, states, ET_POINT, b->parts, it);
			else if (b->kind == ET_DISTANCE)
				solve_joint(b, i, states, ET_DISTANCE, b->parts, it);
			else if (b->kind == ET_WELD)
				solve_joint(b, i, states, ET_WELD, b->parts, it);
			else if (b->kind == ET_PRISMATIC)
				solve_joint(b, i, states, ET_PRISMATIC, b->parts, it);
			else
				solve_joint(b, i, states, ET_WHEEL, b->parts, it);
		}
	}
}

#ifdef DISPATCH
void et_warm_start_joints(int32_t level, et_joint_block *blocks, int64_t n, et_state *states) {
	DISPATCH(level, warm_start_joints, blocks, n, states);
}

void et_solve_joints(int32_t level, et_joint_block *blocks, int64_t n, et_state *states, float rate, float mass,
                     float impulse, float inv_h, int32_t biased) {
	const iteration it = {rate, mass, impulse, inv_h, biased};
	DISPATCH(level, solve_joints, blocks, n, states, &it);
}

static et_drive_impulse impulse_of(const et_block_drive *d, uint32_t i) {
	const et_drive_impulse j = {d->spring[i], d->motor[i], d->lower_impulse[i], d->upper_impulse[i]};
	return j;
}

static void store_joint(const et_joint_block *b, uint32_t i, et_joint *to) {
	if (has_point(b->kind)) {
		to->point[0] = b->x[i];
		to->point[1] = b->y[i];
	} else if (has_line(b->kind)) {
		to->point[0] = b->across[i];
	}
	if (b->parts & ET_LINEAR && !has_point(b->kind))
		to->linear_impulse = impulse_of(&b->linear, i);
	if (b->parts & ET_TURN)
		to->angular_impulse = impulse_of(&b->angular, i);
	else if (has_lock(b->kind))
		to->angular_impulse.spring = b->angular.spring[i];
}

void et_store_joints(const et_joint_block *blocks, const uint32_t *joint, int64_t n, et_joint *joints) {
	for (const et_joint_block *b = blocks; b < blocks + n; b++, joint += ET_LANES)
		for (uint32_t i = 0; i < b->joints; i++)
			store_joint(b, i, &joints[joint[i]]);
}
#endif
