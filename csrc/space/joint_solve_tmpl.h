#include "joints.h"

/* The bodies of some joints in an iteration. */
typedef struct {
	V(f) a[8], b[8]; /* the first half of each state as loaded: velocity, inverse mass, angular velocity, locks */
	quat qa, qb;
	vec va, wa, vb, wb;
	vec mass_a, mass_b;
	vec arm_a, arm_b, gap;
	vec impulse, torque_a, torque_b; /* what the joint has applied */
} joint_bodies;

HELPER(LEVEL) void load_joint(const et_space_system *s, const et_space_joint_block *b, uint32_t i, joint_bodies *m) {
	const float *const states = (const float *)(const void *)s->states;
	V(f) x[8], y[8];
	V(rows8)(states, b->a + i, STATE, m->a);
	V(rows8)(states, b->b + i, STATE, m->b);
	V(rows8)(states + 8, b->a + i, STATE, x);
	V(rows8)(states + 8, b->b + i, STATE, y);
	m->va = (vec){m->a[0], m->a[1], m->a[2]};
	m->wa = (vec){m->a[4], m->a[5], m->a[6]};
	m->vb = (vec){m->b[0], m->b[1], m->b[2]};
	m->wb = (vec){m->b[4], m->b[5], m->b[6]};
	m->mass_a = (vec){m->a[3], m->a[3], m->a[3]};
	m->mass_b = (vec){m->b[3], m->b[3], m->b[3]};
	if (b->flags & ET_SPACE_LOCKED) {
		m->mass_a = unlocked(m->mass_a, m->a[7]);
		m->mass_b = unlocked(m->mass_b, m->b[7]);
	}
	m->qa = (quat){x[3], x[4], x[5], x[6]};
	m->qb = (quat){y[3], y[4], y[5], y[6]};
	m->arm_b = rotate(m->qb, LINES(b->anchor_b, i));
	const vec moved = vec_sub((vec){y[0], y[1], y[2]}, (vec){x[0], x[1], x[2]});
	m->arm_a = vec_add(vec_add(LINES(b->delta_centre, i), moved), m->arm_b);
	m->gap = vec_sub(m->arm_a, rotate(m->qa, LINES(b->anchor_a, i)));
	m->impulse = LINES(b->impulse, i);
	m->torque_a = LINES(b->torque_a, i);
	m->torque_b = LINES(b->torque_b, i);
}

HELPER(LEVEL) void put_lines(float field[3][ET_SPACE_LANES], uint32_t i, vec v) {
	V(store)(field[0] + i, v.x);
	V(store)(field[1] + i, v.y);
	V(store)(field[2] + i, v.z);
}

/* Stores the velocities of the dynamic bodies, and what the joint has applied. */
HELPER(LEVEL) void store_joint(const et_space_system *s, et_space_joint_block *b, uint32_t i, const joint_bodies *m) {
	float *const states = (float *)(void *)s->states;
	const V(f) a[8] = {m->va.x, m->va.y, m->va.z, m->a[3], m->wa.x, m->wa.y, m->wa.z, m->a[7]};
	const V(f) c[8] = {m->vb.x, m->vb.y, m->vb.z, m->b[3], m->wb.x, m->wb.y, m->wb.z, m->b[7]};
	V(put8)(states, b->a + i, STATE, a, b->dynamic_a >> i);
	V(put8)(states, b->b + i, STATE, c, b->dynamic_b >> i);
	put_lines(b->impulse, i, m->impulse);
	put_lines(b->torque_a, i, m->torque_a);
	put_lines(b->torque_b, i, m->torque_b);
}

/* A symmetric matrix of a block times a vector. */
HELPER(LEVEL) vec lines_times(const float m[6][ET_SPACE_LANES], uint32_t i, vec v) {
	const V(f) xx = V(load)(m[0] + i), yy = V(load)(m[1] + i), zz = V(load)(m[2] + i);
	const V(f) xy = V(load)(m[3] + i), xz = V(load)(m[4] + i), yz = V(load)(m[5] + i);
	return (vec){SUM3(MUL(xx, v.x), MUL(xy, v.y), MUL(xz, v.z)), SUM3(MUL(xy, v.x), MUL(yy, v.y), MUL(yz, v.z)),
	             SUM3(MUL(xz, v.x), MUL(yz, v.y), MUL(zz, v.z))};
}

HELPER(LEVEL) vec scaled(vec a, vec b) { return (vec){MUL(a.x, b.x), MUL(a.y, b.y), MUL(a.z, b.z)}; }

HELPER(LEVEL) void turn_bodies(const et_space_joint_block *b, uint32_t i, joint_bodies *m, vec on_a, vec on_b) {
	m->wa = vec_sub(m->wa, lines_times(b->inertia_a, i, on_a));
	m->wb = vec_add(m->wb, lines_times(b->inertia_b, i, on_b));
}

HELPER(LEVEL) void push_bodies(joint_bodies *m, vec impulse) {
	m->va = vec_sub(m->va, scaled(m->mass_a, impulse));
	m->vb = vec_add(m->vb, scaled(m->mass_b, impulse));
}

/* An impulse on B, and torques on both bodies about their centres. */
typedef struct {
	vec lin, a, b;
} joint_impulse;

HELPER(LEVEL) void apply_joint(const et_space_joint_block *b, uint32_t i, joint_bodies *m, joint_impulse t) {
	push_bodies(m, t.lin);
	turn_bodies(b, i, m, t.a, t.b);
	m->impulse = vec_add(m->impulse, t.lin);
	m->torque_a = vec_add(m->torque_a, t.a);
	m->torque_b = vec_add(m->torque_b, t.b);
}

HELPER(LEVEL) void refresh_point(const et_space_joint_block *b, uint32_t i, joint_bodies *m, const int is_new) {
	const vec on_a = cross(m->arm_a, m->impulse), on_b = cross(m->arm_b, m->impulse);
	if (is_new)
		push_bodies(m, m->impulse);
	turn_bodies(b, i, m, vec_sub(on_a, m->torque_a), vec_sub(on_b, m->torque_b));
	m->torque_a = on_a;
	m->torque_b = on_b;
}

/* What an impulse at r does to the velocity there, by rotation: xx, yy, zz, xy, xz, yz. */
HELPER(LEVEL) void lever(const float l[6][ET_SPACE_LANES], uint32_t i, vec r, V(f) out[6]) {
	const V(f) xx = V(load)(l[0] + i), yy = V(load)(l[1] + i), zz = V(load)(l[2] + i);
	const V(f) xy = V(load)(l[3] + i), xz = V(load)(l[4] + i), yz = V(load)(l[5] + i);
	const V(f) nx = V(negate)(r.x), ny = V(negate)(r.y), nz = V(negate)(r.z);
	const vec mx = {ADD(MUL(xy, r.z), MUL(xz, ny)), ADD(MUL(yy, r.z), MUL(yz, ny)), ADD(MUL(yz, r.z), MUL(zz, ny))};
	const vec my = {ADD(MUL(xx, nz), MUL(xz, r.x)), ADD(MUL(xy, nz), MUL(yz, r.x)), ADD(MUL(xz, nz), MUL(zz, r.x))};
	const vec mz = {ADD(MUL(xx, r.y), MUL(xy, nx)), ADD(MUL(xy, r.y), MUL(yy, nx)), ADD(MUL(xz, r.y), MUL(yz, nx))};
	out[0] = ADD(MUL(r.z, mx.y), MUL(ny, mx.z));
	out[1] = ADD(MUL(nz, my.x), MUL(r.x, my.z));
	out[2] = ADD(MUL(r.y, mz.x), MUL(nx, mz.y));
	out[3] = ADD(MUL(r.z, my.y), MUL(ny, my.z));
	out[4] = ADD(MUL(r.z, mz.y), MUL(ny, mz.z));
	out[5] = ADD(MUL(nz, mz.x), MUL(r.x, mz.z));
}

/* The inverse of what elimination has left of an element of the diagonal, or 0 if that is not more than rounding. */
HELPER(LEVEL) V(f) pivot(V(f) left, V(f) diagonal) {
	return V(pick)(left, MUL(V(set1)(least_pivot), diagonal), inverse(left), ZERO);
}

/* The inverse of a symmetric matrix times a vector, as Sym.solve. */
HELPER(LEVEL) vec sym_solve(const V(f) k[6], vec v) {
	const V(f) d0 = pivot(k[0], k[0]), l1 = MUL(k[3], d0), l2 = MUL(k[4], d0);
	const V(f) d1 = pivot(SUB(k[1], MUL(l1, k[3])), k[1]);
	const V(f) u12 = SUB(k[5], MUL(l1, k[4])), l12 = MUL(u12, d1);
	const V(f) d2 = pivot(SUB(SUB(k[2], MUL(l2, k[4])), MUL(l12, u12)), k[2]);
	V(f) y = SUB(v.y, MUL(l1, v.x));
	const V(f) z = MUL(SUB(SUB(v.z, MUL(l2, v.x)), MUL(l12, y)), d2);
	y = SUB(MUL(y, d1), MUL(l12, z));
	return (vec){SUB(SUB(MUL(v.x, d0), MUL(l1, y)), MUL(l2, z)), y, z};
}

/* By how much less than its rate an error is removed. */
HELPER(LEVEL) V(f) slowing(vec gap) {
	const V(f) most = V(set1)(max_position_error * max_position_error);
	return DIV(V(set1)(max_position_error), V(sqrt)(V(max)(dot(gap, gap), most)));
}

/* An impulse, or 0 where it is tiny or not a number. */
HELPER(LEVEL) V(f) not_tiny(V(f) a) { return V(pick)(V(abs)(a), V(set1)(0x1p-60f), a, ZERO); }

HELPER(LEVEL) void solve_point(const et_space_joint_block *b, uint32_t i, joint_bodies *m, const int use_bias) {
	vec v = vec_sub(vec_add(m->vb, cross(m->wb, m->arm_b)), vec_add(m->va, cross(m->wa, m->arm_a)));
	if (use_bias) {
		v = add_times(v, m->gap, MUL(V(load)(b->bias_rate + i), slowing(m->gap)));
		v = vec_times(v, V(load)(b->mass_scale + i));
	}
	V(f) ka[6], kb[6];
	lever(b->inertia_a, i, m->arm_a, ka);
	lever(b->inertia_b, i, m->arm_b, kb);
	const V(f) k[6] = {
		ADD(ADD(m->mass_a.x, m->mass_b.x), ADD(ka[0], kb[0])), ADD(ADD(m->mass_a.y, m->mass_b.y), ADD(ka[1], kb[1])),
		ADD(ADD(m->mass_a.z, m->mass_b.z), ADD(ka[2], kb[2])), ADD(ka[3], kb[3]), ADD(ka[4], kb[4]), ADD(ka[5], kb[5]),
	};
	const vec x = sym_solve(k, v);
	vec change = {V(negate)(x.x), V(negate)(x.y), V(negate)(x.z)};
	if (use_bias)
		change = vec_sub(change, vec_times(m->impulse, V(load)(b->impulse_scale + i)));
	change = (vec){not_tiny(change.x), not_tiny(change.y), not_tiny(change.z)};
	apply_joint(b, i, m, (joint_impulse){change, cross(m->arm_a, change), cross(m->arm_b, change)});
}

/* How a coordinate depends on the motion of the bodies: see jointRow. */
typedef struct {
	vec lin, a, b;
	V(f) at;
} joint_row;

/* The rows of some joints in an iteration, and their other coordinates. */
typedef struct {
	uint32_t n, coordinate[ET_SPACE_ROWS];
	joint_row rows[ET_SPACE_ROWS], axes[ET_SPACE_COORDINATES];
	V(f) lower[ET_SPACE_ROWS][ET_SPACE_ROWS], d[ET_SPACE_ROWS];
} joint_rows;

/* The axes of frame A, the rotation of frame B relative to it, and the axis of its swing times the tangent of half the angle. */
typedef struct {
	vec x, y, z;
	quat q;
	V(f) y2, z2;
} joint_frame;

HELPER(LEVEL) joint_frame make_frame(quat qa, quat qb) {
	const mat axes = matrix(qa);
	joint_frame f = {{axes.x.x, axes.y.x, axes.z.x}, {axes.x.y, axes.y.y, axes.z.y}, {axes.x.z, axes.y.z, axes.z.z},
	                 quat_times(quat_inverse(qa), qb), ZERO, ZERO};
	const quat q = f.q;
	const V(f) square = ADD(MUL(q.w, q.w), MUL(q.x, q.x)), least = V(set1)(0x1p-20f), inv = DIV(ONE, square), far = V(set1)(0x1p10f);
	f.y2 = V(pick)(square, least, MUL(SUB(MUL(q.w, q.y), MUL(q.x, q.z)), inv), MUL(q.y, far));
	f.z2 = V(pick)(square, least, MUL(ADD(MUL(q.w, q.z), MUL(q.x, q.y)), inv), MUL(q.z, far));
	return f;
}

HELPER(LEVEL) vec combine(const joint_frame *f, V(f) a, V(f) b, V(f) c) {
	return add_times(add_times(vec_times(f->x, a), f->y, b), f->z, c);
}

HELPER(LEVEL) joint_row linear_row(const joint_bodies *m, vec axis) {
	return (joint_row){axis, cross(m->arm_a, axis), cross(m->arm_b, axis), dot(m->gap, axis)};
}

HELPER(LEVEL) joint_row turn_row(vec axis, V(f) at) { return (joint_row){{ZERO, ZERO, ZERO}, axis, axis, at}; }

/* The row of a swing, where y2 is of its own axis. */
HELPER(LEVEL) V(f) swing_scale(V(f) own) { return DIV(V(set1)(2), ADD(ONE, MUL(own, own))); }
HELPER(LEVEL) V(f) swing_about(V(f) scale, V(f) own, V(f) other) {
	return MUL(scale, MUL(V(set1)(0.5f), ADD(ONE, SUB(MUL(own, own), MUL(other, other)))));
}

HELPER(LEVEL) joint_row angular_row(const joint_frame *f, uint32_t c, V(f) twist) {
	if (c == ET_SPACE_TWIST)
		return turn_row(combine(f, ONE, f->z2, V(negate)(f->y2)), twist);
	const V(f) own = c == ET_SPACE_SWING_Y ? f->y2 : f->z2, other = c == ET_SPACE_SWING_Y ? f->z2 : f->y2;
	const V(f) s = swing_scale(own), about = swing_about(s, own, other), both = MUL(s, MUL(f->y2, f->z2));
	const V(f) at = twice(arctan2(own, ONE));
	if (c == ET_SPACE_SWING_Y)
		return turn_row(combine(f, V(negate)(MUL(s, f->z2)), about, both), at);
	return turn_row(combine(f, MUL(s, f->y2), both, about), at);
}

HELPER(LEVEL) joint_row cone_row(const joint_frame *f) {
	const V(f) t = V(sqrt)(ADD(MUL(f->y2, f->y2), MUL(f->z2, f->z2))), inv = inverse(t);
	return turn_row(add_times(vec_times(f->y, MUL(f->y2, inv)), f->z, MUL(f->z2, inv)), twice(arctan2(t, ONE)));
}

HELPER(LEVEL) joint_row length_row(const joint_bodies *m) {
	const V(f) length = V(sqrt)(dot(m->gap, m->gap));
	joint_row r = linear_row(m, vec_times(m->gap, inverse(length)));
	r.at = length;
	return r;
}

HELPER(LEVEL) joint_row coordinate_row(const joint_frame *f, uint32_t c, const joint_bodies *m, V(f) twist) {
	if (c < ET_SPACE_TWIST)
		return linear_row(m, c == 0 ? f->x : c == 1 ? f->y : f->z);
	if (c == ET_SPACE_LENGTH)
		return length_row(m);
	if (c == ET_SPACE_CONE)
		return cone_row(f);
	return angular_row(f, c, twist);
}

/* The rotation as a vector. */
HELPER(LEVEL) vec rotation_vector(quat q) {
	const V(mask) back = V(lt)(q.w, ZERO);
	const vec u = {q.x, q.y, q.z}, v = vec_select(back, (vec){V(negate)(q.x), V(negate)(q.y), V(negate)(q.z)}, u);
	const V(f) l = V(sqrt)(dot(v, v)), angle = DIV(twice(arctan2(l, V(abs)(q.w))), l);
	return vec_times(v, V(pick)(l, V(set1)(0x1p-14f), angle, V(set1)(2)));
}

HELPER(LEVEL) V(mask) has_bits(const uint32_t *bits, uint32_t i, uint32_t some) { return V(anyu)(V(loadu)(bits + i), V(set1u)(some)); }

HELPER(LEVEL) joint_row row_select(V(mask) m, const joint_row *a, const joint_row *b) {
	return (joint_row){vec_select(m, a->lin, b->lin), vec_select(m, a->a, b->a), vec_select(m, a->b, b->b), V(select)(m, a->at, b->at)};
}

/* The rows of each class. */
static const uint8_t locked_of[ET_SPACE_CLASS_ALL + 1] = {0, 7, 0, 7, 55, 62, 53, 37, 63};

ROUTINE(LEVEL) void make_rows(const et_space_joint_block *b, uint32_t i, joint_bodies *m, et_space_joint_parts *p, joint_rows *r) {
	const joint_frame f = make_frame(quat_times(m->qa, load_quat(p->frame_a, i)), quat_times(m->qb, load_quat(p->frame_b, i)));
	const V(f) raw = raw_twist(f.q), twist = nearest_angle(raw, V(load)(p->twist + i));
	const uint32_t locked = locked_of[b->class];
	const V(mask) angles = has_bits(p->locked, i, 8) & has_bits(p->locked, i, 16) & has_bits(p->locked, i, 32);
	const V(mask) free_angles = (V(mask))~angles & V(first)(b->joints - i);
	V(store)(p->twist + i, twist);
	vec rotation = {ZERO, ZERO, ZERO};
	if ((locked & ET_SPACE_LOCKED_ANGLES) == ET_SPACE_LOCKED_ANGLES) {
		quat q = f.q;
		if (p->any_soft & ET_SPACE_SOFT_ANGULAR) {
			const quat t = quat_times(q, quat_inverse(load_quat(p->target, i)));
			const V(mask) soft = has_bits(p->soft, i, ET_SPACE_SOFT_ANGULAR);
			q = (quat){V(select)(soft, t.x, q.x), V(select)(soft, t.y, q.y), V(select)(soft, t.z, q.z), V(select)(soft, t.w, q.w)};
		}
		rotation = rotation_vector(q);
	}
	r->n = 0;
	for (uint32_t c = 0; c < ET_SPACE_ROWS; c++) {
		if (!(locked >> c & 1))
			continue;
		joint_row *const row = &r->rows[r->n];
		r->coordinate[r->n++] = c;
		if (c < ET_SPACE_TWIST) {
			*row = linear_row(m, c == 0 ? f.x : c == 1 ? f.y : f.z);
		} else {
			const vec axis = c == ET_SPACE_TWIST ? f.x : c == ET_SPACE_SWING_Y ? f.y : f.z;
			*row = turn_row(axis, c == ET_SPACE_TWIST ? rotation.x : c == ET_SPACE_SWING_Y ? rotation.y : rotation.z);
			if (free_angles) {
				const joint_row swing = angular_row(&f, c, nearest_angle(raw, ZERO));
				*row = row_select(free_angles, &swing, row);
			}
		}
		if (b->class == ET_SPACE_CLASS_ALL) {
			const V(mask) has = has_bits(p->locked, i, 1u << c);
			const joint_row none = turn_row((vec){ZERO, ZERO, ZERO}, ZERO);
			*row = row_select(has, row, &none);
		}
	}
	for (uint32_t c = 0; c < ET_SPACE_COORDINATES; c++)
		if (p->axes >> c & 1)
			r->axes[c] = coordinate_row(&f, c, m, twist);
}

HELPER(LEVEL) void add_row(const joint_row *r, V(f) scale, joint_impulse *t) {
	t->lin = add_times(t->lin, r->lin, scale);
	t->a = add_times(t->a, r->a, scale);
	t->b = add_times(t->b, r->b, scale);
}

/* The sum of the impulses of a coordinate. */
HELPER(LEVEL) V(f) axis_total(const et_space_axis_lanes *l, uint32_t i) {
	return SUB(ADD(ADD(V(load)(l->impulse[0] + i), V(load)(l->impulse[1] + i)), V(load)(l->impulse[2] + i)), V(load)(l->impulse[3] + i));
}

ROUTINE(LEVEL) void refresh_joint(const et_space_joint_block *b, uint32_t i, joint_bodies *m, const et_space_joint_parts *p, const joint_rows *r) {
	const vec none = {ZERO, ZERO, ZERO};
	joint_impulse t = {none, none, none};
	for (uint32_t k = 0; k < r->n; k++)
		add_row(&r->rows[k], V(load)(p->rows[r->coordinate[k]] + i), &t);
	for (uint32_t c = 0; c < ET_SPACE_COORDINATES; c++) {
		if (!(p->axes >> c & 1))
			continue;
		const et_space_axis_lanes *const l = &p->coordinates[c];
		const V(mask) has = has_bits(l->parts, i, UINT32_MAX);
		joint_impulse more = t;
		add_row(&r->axes[c], axis_total(l, i), &more);
		t = (joint_impulse){vec_select(has, more.lin, t.lin), vec_select(has, more.a, t.a), vec_select(has, more.b, t.b)};
	}
	apply_joint(b, i, m, (joint_impulse){vec_sub(t.lin, m->impulse), vec_sub(t.a, m->torque_a), vec_sub(t.b, m->torque_b)});
}

HELPER(LEVEL) joint_impulse effect_of(const et_space_joint_block *b, uint32_t i, const joint_bodies *m, const joint_row *r) {
	return (joint_impulse){scaled(vec_add(m->mass_a, m->mass_b), r->lin), lines_times(b->inertia_a, i, r->a), lines_times(b->inertia_b, i, r->b)};
}

HELPER(LEVEL) V(f) effect_on(const joint_impulse *e, const joint_row *r) {
	return ADD(dot(r->lin, e->lin), ADD(dot(r->a, e->a), dot(r->b, e->b)));
}

HELPER(LEVEL) V(f) row_speed(const joint_row *r, const joint_bodies *m) {
	return ADD(dot(r->lin, vec_sub(m->vb, m->va)), SUB(dot(r->b, m->wb), dot(r->a, m->wa)));
}

/* Replaces x by the solution for x of the first n rows. */
HELPER(LEVEL) void backward(const joint_rows *r, V(f) x[ET_SPACE_ROWS], uint32_t n) {
	for (uint32_t k = 0; k < n; k++)
		for (uint32_t o = 0; o < k; o++)
			x[k] = SUB(x[k], MUL(r->lower[k][o], x[o]));
	for (uint32_t k = n; k-- > 0;) {
		x[k] = MUL(x[k], r->d[k]);
		for (uint32_t o = k + 1; o < n; o++)
			x[k] = SUB(x[k], MUL(r->lower[o][k], x[o]));
	}
}

/* The number of linear rows, which come first. */
HELPER(LEVEL) uint32_t linear_rows(const joint_rows *r) {
	uint32_t n = r->n;
	while (n > 0 && r->coordinate[n - 1] >= ET_SPACE_TWIST)
		n--;
	return n;
}

HELPER(LEVEL) void factor(joint_rows *r, V(f) matrix[ET_SPACE_ROWS][ET_SPACE_ROWS]) {
	for (uint32_t k = 0; k < r->n; k++) {
		V(f) left = matrix[k][k];
		for (uint32_t o = 0; o < k; o++) {
			V(f) u = matrix[k][o];
			for (uint32_t q = 0; q < o; q++)
				u = SUB(u, MUL(r->lower[o][q], matrix[k][q]));
			matrix[k][o] = u;
			r->lower[k][o] = MUL(u, r->d[o]);
			left = SUB(left, MUL(r->lower[k][o], u));
		}
		r->d[k] = pivot(left, matrix[k][k]);
	}
}

/* Shortens the impulses of rows [lo, hi), where x is minus the change of each, to a limit, in some lanes. Returns the lanes in which
 * they were longer. */
HELPER(LEVEL) V(mask) shorten(const et_space_joint_parts *p, uint32_t i, const joint_rows *r, V(f) x[ET_SPACE_ROWS], uint32_t lo, uint32_t hi,
                              const float *limits, V(mask) lanes) {
	V(f) square = ZERO;
	for (uint32_t k = lo; k < hi; k++) {
		const V(f) next = SUB(V(load)(p->rows[r->coordinate[k]] + i), x[k]);
		square = ADD(square, MUL(next, next));
	}
	const V(f) limit = V(load)(limits), scale = V(pick)(square, MUL(limit, limit), DIV(limit, V(sqrt)(square)), ONE);
	const V(mask) longer = V(lt)(scale, ONE) & lanes;
	for (uint32_t k = lo; k < hi && longer; k++) {
		const V(f) old = V(load)(p->rows[r->coordinate[k]] + i);
		x[k] = V(select)(longer, SUB(old, MUL(SUB(old, x[k]), scale)), x[k]);
	}
	return longer;
}

/* An element of the matrix of the angular rows, the first of which is n. */
HELPER(LEVEL) V(f) angular_element(V(f) matrix[ET_SPACE_ROWS][ET_SPACE_ROWS], uint32_t n, uint32_t rows, uint32_t a, uint32_t b, V(f) scale) {
	if (n + b >= rows)
		return ZERO;
	const V(f) x = matrix[n + a][n + b];
	return a == b ? x : ADD(x, MUL(scale, x));
}

/* Shortens the impulses of soft rows to their bounds, and solves those of the other kind again, as JointParts.bound. */
ROUTINE(LEVEL) void bound_rows_of(const et_space_joint_parts *p, uint32_t i, const joint_rows *r, V(f) matrix[ET_SPACE_ROWS][ET_SPACE_ROWS],
                                  const V(f) wanted[ET_SPACE_ROWS], V(f) x[ET_SPACE_ROWS], V(mask) used) {
	const uint32_t n = linear_rows(r);
	const V(mask) linear = has_bits(p->soft, i, ET_SPACE_SOFT_LINEAR) & used, angular = has_bits(p->soft, i, ET_SPACE_SOFT_ANGULAR) & used;
	V(mask) longer = shorten(p, i, r, x, n, r->n, p->angular.max_impulse + i, angular);
	if (longer) {
		V(f) again[ET_SPACE_ROWS];
		for (uint32_t k = 0; k < n; k++) {
			again[k] = wanted[k];
			for (uint32_t o = n; o < r->n; o++)
				again[k] = SUB(again[k], MUL(matrix[k][o], x[o]));
		}
		backward(r, again, n);
		for (uint32_t k = 0; k < n; k++)
			x[k] = V(select)(longer, again[k], x[k]);
	}
	longer = shorten(p, i, r, x, 0, n, p->linear.max_impulse + i, linear);
	if (!longer)
		return;
	V(f) v[3] = {ZERO, ZERO, ZERO};
	for (uint32_t k = n; k < r->n; k++) {
		v[k - n] = wanted[k];
		for (uint32_t o = 0; o < n; o++)
			v[k - n] = SUB(v[k - n], MUL(matrix[o][k], x[o]));
	}
	const V(f) scale = V(keep)(V(load)(p->angular.compliance + i), angular);
	const V(f) m[6] = {
		angular_element(matrix, n, r->n, 0, 0, scale), angular_element(matrix, n, r->n, 1, 1, scale),
		angular_element(matrix, n, r->n, 2, 2, scale), angular_element(matrix, n, r->n, 0, 1, scale),
		angular_element(matrix, n, r->n, 0, 2, scale), angular_element(matrix, n, r->n, 1, 2, scale),
	};
	const vec u = sym_solve(m, (vec){v[0], v[1], v[2]});
	const V(f) solved[3] = {u.x, u.y, u.z};
	for (uint32_t k = n; k < r->n; k++)
		x[k] = V(select)(longer, solved[k - n], x[k]);
	shorten(p, i, r, x, n, r->n, p->angular.max_impulse + i, angular & longer);
}

/* What row k of a drive is to change. own is the compliance times what the impulses do. */
HELPER(LEVEL) V(f) drive_change(const et_space_drive_lanes *d, uint32_t i, uint32_t axis, V(f) v, V(f) error, V(f) own) {
	const V(f) pull = MUL(V(load)(d->bias_rate + i), error);
	return ADD(ADD(SUB(v, V(load)(d->velocity[axis] + i)), pull), own);
}

ROUTINE(LEVEL) void solve_rows(const et_space_joint_block *b, uint32_t i, joint_bodies *m, et_space_joint_parts *p, joint_rows *r, const int use_bias) {
	V(f) matrix[ET_SPACE_ROWS][ET_SPACE_ROWS], change[ET_SPACE_ROWS];
	const uint32_t n = r->n;
	for (uint32_t k = 0; k < n; k++) {
		const joint_impulse e = effect_of(b, i, m, &r->rows[k]);
		for (uint32_t o = 0; o <= k; o++)
			matrix[k][o] = matrix[o][k] = effect_on(&e, &r->rows[o]);
	}
	const V(mask) soft_linear = has_bits(p->soft, i, ET_SPACE_SOFT_LINEAR), soft_angular = has_bits(p->soft, i, ET_SPACE_SOFT_ANGULAR);
	V(f) linear_compliance = ZERO, angular_scale = ZERO;
	if (p->any_soft) {
		linear_compliance = V(keep)(MUL(V(load)(p->linear.compliance + i), ADD(m->a[3], m->b[3])), soft_linear);
		angular_scale = V(keep)(V(load)(p->angular.compliance + i), soft_angular);
	}
	const V(f) rate = V(load)(b->bias_rate + i), mass_scale = V(load)(b->mass_scale + i), impulse_scale = V(load)(b->impulse_scale + i);
	const V(f) slow = use_bias ? MUL(rate, slowing(m->gap)) : ZERO;
	const joint_row applied = {m->impulse, m->torque_a, m->torque_b, ZERO};
	const joint_impulse all = effect_of(b, i, m, &applied);
	for (uint32_t k = 0; k < n; k++) {
		const joint_row *const row = &r->rows[k];
		const uint32_t c = r->coordinate[k], is_linear = c < ET_SPACE_TWIST;
		const V(f) v = row_speed(row, m);
		V(f) angular = ZERO;
		for (uint32_t o = 0; p->any_soft && o < n; o++)
			if (r->coordinate[o] >= ET_SPACE_TWIST)
				angular = ADD(angular, MUL(matrix[k][o], V(load)(p->rows[r->coordinate[o]] + i)));
		change[k] = v;
		if (use_bias) {
			const V(f) wanted = MUL(mass_scale, ADD(v, MUL(is_linear ? slow : rate, row->at)));
			change[k] = ADD(wanted, MUL(impulse_scale, effect_on(&all, row)));
		}
		const V(mask) soft = is_linear ? soft_linear : soft_angular;
		if (!(p->any_soft & (is_linear ? ET_SPACE_SOFT_LINEAR : ET_SPACE_SOFT_ANGULAR)))
			continue;
		const V(f) error = use_bias ? row->at : V(load)(p->error[c] + i);
		if (use_bias)
			V(store)(p->error[c] + i, error);
		const V(f) x = V(load)(p->rows[c] + i);
		const V(f) driven = is_linear ? drive_change(&p->linear, i, c, v, error, MUL(linear_compliance, x))
		                              : drive_change(&p->angular, i, c - ET_SPACE_TWIST, v, error, MUL(angular_scale, angular));
		change[k] = V(select)(soft, driven, change[k]);
	}
	for (uint32_t k = 0; k < n; k++) {
		if (r->coordinate[k] < ET_SPACE_TWIST) {
			matrix[k][k] = ADD(matrix[k][k], linear_compliance);
			continue;
		}
		for (uint32_t o = 0; o <= k; o++)
			if (r->coordinate[o] >= ET_SPACE_TWIST)
				matrix[k][o] = ADD(matrix[k][o], MUL(angular_scale, matrix[k][o]));
	}
	factor(r, matrix);
	V(f) wanted[ET_SPACE_ROWS];
	for (uint32_t k = 0; k < n; k++)
		wanted[k] = change[k];
	backward(r, change, n);
	if (p->any_soft)
		bound_rows_of(p, i, r, matrix, wanted, change, V(first)(b->joints - i));
	for (uint32_t k = 0; k < n; k++)
		change[k] = SUB(V(load)(p->rows[r->coordinate[k]] + i), change[k]);
	const vec none = {ZERO, ZERO, ZERO};
	joint_impulse t = {none, none, none};
	for (uint32_t k = 0; k < n; k++) {
		float *const x = p->rows[r->coordinate[k]] + i;
		const V(f) old = V(load)(x), more = not_tiny(SUB(change[k], old));
		const V(mask) moved = nonzero(more);
		const joint_impulse without = t;
		add_row(&r->rows[k], more, &t);
		t = (joint_impulse){vec_select(moved, t.lin, without.lin), vec_select(moved, t.a, without.a), vec_select(moved, t.b, without.b)};
		V(store)(x, V(select)(moved, change[k], old));
	}
	apply_joint(b, i, m, t);
}

/* A limit of some joints in an iteration: the bias of its speed, and its softness. */
typedef struct {
	V(f) bias, mass_scale, impulse_scale;
} limit_row;

HELPER(LEVEL) limit_row limit_at(V(f) distance, V(f) rate, V(f) mass_scale, V(f) impulse_scale, float inv_h) {
	return (limit_row){
		V(pick)(distance, ZERO, MUL(distance, V(set1)(inv_h)), MUL(rate, V(max)(distance, V(set1)(-max_limit_error)))),
		V(pick)(distance, ZERO, ONE, mass_scale), V(pick)(distance, ZERO, ZERO, impulse_scale),
	};
}

HELPER(LEVEL) V(f) limit_impulse(const limit_row *l, V(f) v, V(f) mass, V(f) old) {
	const V(f) next = SUB(old, MUL(l->mass_scale, MUL(mass, ADD(v, l->bias))));
	return not_tiny(V(max)(SUB(next, MUL(l->impulse_scale, old)), ZERO));
}

/* Bounds an impulse, which was old before, so that it does not press against a limit. */
HELPER(LEVEL) V(f) yield_to_limits(V(f) total, V(f) old, V(f) from_upper, V(f) from_lower) {
	const V(f) most = V(max)(SUB(old, from_upper), V(min)(old, ZERO));
	return V(max)(V(min)(total, most), V(min)(SUB(old, from_lower), V(max)(old, ZERO)));
}

/* Solves the parts of a coordinate. */
ROUTINE(LEVEL) void solve_axis(const et_space_joint_block *b, uint32_t i, joint_bodies *m, et_space_joint_parts *p, joint_rows *r, uint32_t c,
                              float inv_h, const int use_bias) {
	et_space_axis_lanes *const l = &p->coordinates[c];
	const joint_row *const row = &r->axes[c];
	const V(mask) used = V(first)(b->joints - i);
	const V(mask) spring = has_bits(l->parts, i, ET_SPACE_SPRING) & used, motor = has_bits(l->parts, i, ET_SPACE_MOTOR) & used;
	const V(mask) limits = has_bits(l->parts, i, ET_SPACE_LIMITS) & used;
	const V(f) rate = use_bias ? V(load)(b->bias_rate + i) : ZERO, mass_scale = use_bias ? V(load)(b->mass_scale + i) : ONE;
	const V(f) impulse_scale = use_bias ? V(load)(b->impulse_scale + i) : ZERO;
	const V(f) lower = SUB(row->at, V(load)(l->lower + i)), upper = SUB(V(load)(l->upper + i), row->at);
	const limit_row at_lower = limit_at(lower, rate, mass_scale, impulse_scale, inv_h);
	const limit_row at_upper = limit_at(upper, rate, mass_scale, impulse_scale, inv_h);
	V(f) v = row_speed(row, m);

	/* Limits that exert nothing, and will not, need no mass. */
	const V(f) was[4] = {V(load)(l->impulse[0] + i), V(load)(l->impulse[1] + i), V(load)(l->impulse[2] + i), V(load)(l->impulse[3] + i)};
	const V(mask) idle = V(le)(ZERO, ADD(v, at_lower.bias)) & V(le)(ZERO, SUB(at_upper.bias, v));
	if (!(spring | motor | (limits & (nonzero(was[2]) | nonzero(was[3]) | (V(mask))~idle))))
		return;

	const joint_impulse e = effect_of(b, i, m, row);
	V(f) coupling[ET_SPACE_ROWS], share[ET_SPACE_ROWS];
	for (uint32_t k = 0; k < r->n; k++)
		share[k] = coupling[k] = effect_on(&e, &r->rows[k]);
	backward(r, share, r->n);
	const uint32_t linear = linear_rows(r);
	const V(mask) soft = has_bits(p->soft, i, ET_SPACE_SOFT_ANGULAR);
	if (p->any_soft & ET_SPACE_SOFT_ANGULAR) { /* angular rows take no part where they are soft */
		V(f) some[ET_SPACE_ROWS];
		for (uint32_t k = 0; k < linear; k++)
			some[k] = coupling[k];
		backward(r, some, linear);
		for (uint32_t k = 0; k < linear; k++)
			share[k] = V(select)(soft, some[k], share[k]);
	}
	const V(f) free = effect_on(&e, row);
	V(f) held = free;
	for (uint32_t k = 0; k < r->n; k++) {
		const V(f) less = SUB(held, MUL(share[k], coupling[k]));
		held = k < linear ? less : V(select)(soft, held, less);
	}
	const V(f) mass = pivot(held, free), old = SUB(ADD(ADD(was[0], was[1]), was[2]), was[3]);
	if (spring) {
		const V(f) error = use_bias ? SUB(row->at, V(load)(l->target + i)) : V(load)(l->error + i);
		if (use_bias)
			V(storesome)(l->error + i, spring, error);
		const V(f) sought = MUL(mass, ADD(v, MUL(V(load)(l->bias_rate + i), error)));
		const V(f) next = SUB(SUB(was[0], MUL(V(load)(l->mass_scale + i), sought)), MUL(V(load)(l->impulse_scale + i), was[0]));
		V(f) x = V(max)(V(min)(next, V(load)(l->upper_spring_impulse + i)), V(load)(l->lower_spring_impulse + i));
		if (limits) {
			const V(f) free_v = ADD(v, MUL(held, SUB(was[3], was[2])));
			const V(f) from_upper = MUL(mass, SUB(free_v, MUL(upper, V(set1)(inv_h))));
			const V(f) from_lower = MUL(mass, ADD(free_v, MUL(lower, V(set1)(inv_h))));
			x = V(select)(limits, yield_to_limits(x, was[0], from_upper, from_lower), x);
		}
		x = not_tiny(x);
		V(storesome)(l->impulse[0] + i, spring, x);
		v = V(select)(spring, ADD(v, MUL(held, SUB(x, was[0]))), v);
	}
	if (motor) {
		const V(f) most = V(max)(MUL(upper, V(set1)(inv_h)), ZERO), least = V(min)(V(negate)(MUL(lower, V(set1)(inv_h))), ZERO);
		const V(f) speed = V(max)(V(min)(V(load)(l->motor_speed + i), most), least);
		const V(f) x = not_tiny(within(SUB(was[1], MUL(mass, SUB(v, speed))), V(load)(l->max_motor_impulse + i)));
		V(storesome)(l->impulse[1] + i, motor, x);
		v = V(select)(motor, ADD(v, MUL(held, SUB(x, was[1]))), v);
	}
	if (limits) {
		const V(f) x = limit_impulse(&at_lower, v, mass, was[2]);
		V(storesome)(l->impulse[2] + i, limits, x);
		v = ADD(v, MUL(held, SUB(x, was[2])));
		V(storesome)(l->impulse[3] + i, limits, limit_impulse(&at_upper, V(negate)(v), mass, was[3]));
	}
	const V(f) change = SUB(axis_total(l, i), old);
	const V(mask) moved = nonzero(change) & (spring | motor | limits);
	if (!moved)
		return;
	joint_impulse t = {vec_times(row->lin, change), vec_times(row->a, change), vec_times(row->b, change)};
	for (uint32_t k = 0; k < r->n; k++) {
		float *const x = p->rows[r->coordinate[k]] + i;
		const V(f) more = V(negate)(MUL(share[k], change));
		const V(mask) lanes = k < linear ? moved : moved & (V(mask))~soft;
		const joint_impulse without = t;
		add_row(&r->rows[k], more, &t);
		t = (joint_impulse){vec_select(lanes, t.lin, without.lin), vec_select(lanes, t.a, without.a), vec_select(lanes, t.b, without.b)};
		V(storesome)(x, lanes, ADD(V(load)(x), more));
	}
	const joint_bodies before = *m;
	apply_joint(b, i, m, t);
	m->va = vec_select(moved, m->va, before.va);
	m->wa = vec_select(moved, m->wa, before.wa);
	m->vb = vec_select(moved, m->vb, before.vb);
	m->wb = vec_select(moved, m->wb, before.wb);
	m->impulse = vec_select(moved, m->impulse, before.impulse);
	m->torque_a = vec_select(moved, m->torque_a, before.torque_a);
	m->torque_b = vec_select(moved, m->torque_b, before.torque_b);
}

/* What solve_parts does. */
enum { RELAX_PARTS, SOLVE_PARTS, WARM_START_PARTS };

/* Solves a block of a class other than the first. One function for all, since it is long. */
ROUTINE(LEVEL) void solve_parts(const et_space_system *s, et_space_joint_block *b, int what) {
	et_space_joint_parts *const p = s->joint_parts + b->parts;
	for (uint32_t i = 0; i < b->joints; i += V(LANES)) {
		joint_bodies m;
		joint_rows r;
		load_joint(s, b, i, &m);
		make_rows(b, i, &m, p, &r);
		if (what != RELAX_PARTS)
			refresh_joint(b, i, &m, p, &r);
		if (what != WARM_START_PARTS) {
			solve_rows(b, i, &m, p, &r, what);
			for (uint32_t c = 0; c < ET_SPACE_COORDINATES; c++)
				if (p->axes >> c & 1)
					solve_axis(b, i, &m, p, &r, c, s->step.inv_h, what);
		}
		store_joint(s, b, i, &m);
	}
}

HELPER(LEVEL) void solve_points_of(const et_space_system *s, et_space_joint_block *b, const int what) {
	for (uint32_t i = 0; i < b->joints; i += V(LANES)) {
		joint_bodies m;
		load_joint(s, b, i, &m);
		if (what != RELAX_PARTS)
			refresh_point(b, i, &m, what == WARM_START_PARTS);
		if (what != WARM_START_PARTS)
			solve_point(b, i, &m, what);
		store_joint(s, b, i, &m);
	}
}

HELPER(LEVEL) void each_joint_block(const et_space_system *s, int64_t lo, int64_t hi, const int what) {
	for (et_space_joint_block *b = s->joint_blocks + lo; b < s->joint_blocks + hi; b++) {
		if (b->class == ET_SPACE_CLASS_POINT)
			solve_points_of(s, b, what);
		else
			solve_parts(s, b, what);
	}
}

KERNEL(void, space_warm_start_joints, const et_space_system *s, int64_t lo, int64_t hi) { each_joint_block(s, lo, hi, WARM_START_PARTS); }

KERNEL(void, space_solve_joints, const et_space_system *s, int64_t lo, int64_t hi) { each_joint_block(s, lo, hi, SOLVE_PARTS); }

KERNEL(void, space_relax_joints, const et_space_system *s, int64_t lo, int64_t hi) { each_joint_block(s, lo, hi, RELAX_PARTS); }

/* What is kept of some joints: impulses are zero where they are not bounded. */
typedef struct {
	float impulse[3][ET_SPACE_LANES], angular[3][ET_SPACE_LANES];
	V(mask) bounded;
} kept_lanes;

HELPER(LEVEL) V(f) size3(vec v) { return ADD(ADD(V(abs)(v.x), V(abs)(v.y)), V(abs)(v.z)); }

HELPER(LEVEL) void keep_lanes(const et_space_system *s, const et_space_joint_block *b, const et_space_joint_parts *p, uint32_t i, kept_lanes *k) {
	const float *const states = (const float *)(const void *)s->states;
	const V(f) most = V(set1)(0x1p40f);
	const vec impulse = LINES(b->impulse, i);
	V(f) x[4], y[4], q[4];
	V(rows4)(states, b->a + i, STATE, x);
	V(rows4)(states, b->b + i, STATE, y);
	k->bounded = V(le)(MUL(size3(impulse), ADD(x[3], y[3])), most);
	put_lines(k->impulse, 0, impulse);
	put_lines(k->angular, 0, (vec){ZERO, ZERO, ZERO});
	if (!p)
		return;
	V(rows4)(states + 11, b->b + i, STATE, q);
	const vec arm = rotate((quat){q[0], q[1], q[2], q[3]}, LINES(b->anchor_b, i));
	const vec angular = vec_sub(LINES(b->torque_b, i), cross(arm, impulse));
	put_lines(k->angular, 0, angular);
	k->bounded &= V(le)(size3(angular), V(set1)(0x1.fffffep127f));
	for (uint32_t c = 0; c < ET_SPACE_ROWS; c++)
		k->bounded &= V(le)(V(abs)(V(load)(p->rows[c] + i)), most);
	for (uint32_t c = 0; c < ET_SPACE_COORDINATES; c++) {
		if (!(p->axes >> c & 1))
			continue;
		const et_space_axis_lanes *const l = &p->coordinates[c];
		const V(f) sum = ADD(ADD(V(abs)(V(load)(l->impulse[0] + i)), V(abs)(V(load)(l->impulse[1] + i))),
		                     ADD(V(abs)(V(load)(l->impulse[2] + i)), V(abs)(V(load)(l->impulse[3] + i))));
		k->bounded &= V(le)(sum, most) | (V(mask))~has_bits(l->parts, i, UINT32_MAX);
	}
}

/* Stores what lane i of a block keeps: lane n of k. */
HELPER(LEVEL) void store_kept(const et_space_joint_parts *p, uint32_t i, const kept_lanes *k, uint32_t n, et_space_kept_joint *out) {
	const int bounded = k->bounded >> n & 1;
	for (uint32_t c = 0; c < 3; c++) {
		out->impulse[c] = bounded ? k->impulse[c][n] : 0;
		out->angular[c] = bounded ? k->angular[c][n] : 0;
	}
	if (!p) {
		memcpy(out->rows, out->impulse, sizeof out->impulse);
		return;
	}
	out->known = __builtin_fabsf(p->twist[i]) <= 0x1p24f;
	out->twist = out->known ? p->twist[i] : 0;
	for (uint32_t c = 0; c < ET_SPACE_ROWS; c++)
		out->rows[c] = bounded ? p->rows[c][i] : 0;
	for (uint32_t c = 0; c < ET_SPACE_COORDINATES; c++) {
		const et_space_axis_lanes *const l = &p->coordinates[c];
		const int has = bounded && p->axes >> c & 1 && l->parts[i] != 0;
		out->axes[c] = (et_space_axis_impulse){has ? l->impulse[0][i] : 0, has ? l->impulse[1][i] : 0, has ? l->impulse[2][i] : 0,
		                                       has ? l->impulse[3][i] : 0};
	}
}

KERNEL(void, space_store_joint_impulses, const et_space_system *s, int64_t lo, int64_t hi) {
	for (int64_t block = lo; block < hi; block++) {
		const et_space_joint_block *const b = s->joint_blocks + block;
		const et_space_joint_parts *const p = b->class == ET_SPACE_CLASS_POINT ? 0 : s->joint_parts + b->parts;
		for (uint32_t i = 0; i < b->joints; i += V(LANES)) {
			kept_lanes k;
			keep_lanes(s, b, p, i, &k);
			for (uint32_t n = 0; n < V(LANES) && i + n < b->joints; n++)
				store_kept(p, i + n, &k, n, &s->joints[s->lane_joints[block * ET_SPACE_LANES + i + n]].kept);
		}
	}
}
