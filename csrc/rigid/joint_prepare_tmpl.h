#include "joint.h"
#include "solve_lanes.h"

/* What blocks are made of: see et_prepare_joints. */
typedef struct {
	const et_joint *joints;
	const et_state *states;
	const float *inv_inertia, *x, *y, *cos, *sin, *angle;
	float rate, mass, impulse, h;
} joint_sources;

/* The joints of a block, those of the lanes without one being the first, and
 * their parts. */
typedef struct {
	uint32_t joint[ET_LANES], parts[ET_LANES];
} joint_lanes;

/* The parts that each kind can have. */
static const uint32_t allowed[] = {
	0, ET_LINEAR | ET_TURN, ET_SOFT | ET_TURN, ET_SOFT, ET_LINEAR, ET_LINEAR | ET_TURN,
};

/* Fills in what is not a float, but for the masks. */
static void look_up_joints(const joint_sources *s, const uint32_t *joint, et_joint_block *b, joint_lanes *l) {
	b->joints = b->parts = 0;
	b->kind = s->joints[joint[0]].kind;
	for (uint32_t i = 0; i < ET_LANES; i++) {
		const uint32_t n = joint[i] == UINT32_MAX ? joint[0] : joint[i];
		const et_joint *const j = &s->joints[n];
		b->joints += joint[i] != UINT32_MAX;
		l->joint[i] = n;
		l->parts[i] = j->parts & allowed[b->kind];
		b->parts |= l->parts[i];
		b->a[i] = j->a;
		b->b[i] = j->b;
	}
	b->dynamic_a = b->dynamic_b = b->rigid = b->rigid_turn = 0;
}

/* The lanes of parts that have any of some bits. */
HELPER(LEVEL) V(mask) having(V(u) parts, uint32_t bits) { return V(anyu)(parts, V(set1u)(bits)); }

/* The softness of springs of a frequency in Hz and a damping ratio: see soften and spring in
 * package native/rigid. */
typedef struct {
	V(f) rate, mass, leak;
} joint_softness;

HELPER(LEVEL) joint_softness spring_softness(const joint_sources *s, V(f) hertz, V(f) damping) {
	const V(f) stiffest = V(set1)(1e6f), one = V(set1)(1.0f), h = V(set1)(s->h);
	const V(f) w = MUL(V(set1)(6.283185307179586f), V(min)(hertz, stiffest)), hw = MUL(h, w);
	const V(f) c = ADD(MUL(V(set1)(2.0f), V(min)(damping, stiffest)), hw), stiff = MUL(hw, c);
	const V(f) leak = DIV(one, ADD(one, stiff)), mass = MUL(stiff, leak);
	const V(f) rate = V(pick)(mass, ZERO, DIV(w, c), ZERO);
	const joint_softness soft = {
		V(pick)(hertz, ZERO, rate, V(set1)(s->rate)),
		V(pick)(hertz, ZERO, mass, V(set1)(s->mass)),
		V(pick)(hertz, ZERO, leak, V(set1)(s->impulse)),
	};
	return soft;
}

/* Fills lanes i and on of a drive from rows of et_drive and et_drive_impulse, whose parts are those
 * of a linear one; returns the lanes with a rigid spring. */
HELPER(LEVEL) V(mask) fill_drive(et_block_drive *d, uint32_t i, const V(f) from[8], const V(f) old[4],
                                 V(u) parts, const joint_sources *s) {
	const V(f) infinity = V(set1)(__builtin_inff()), h = V(set1)(s->h);
	const V(mask) spring = having(parts, ET_SOFT);
	const joint_softness soft = spring_softness(s, from[1], from[2]);
	V(store)(d->target + i, from[0]);
	V(store)(d->rate + i, V(keep)(soft.rate, spring));
	V(store)(d->mass + i, V(keep)(soft.mass, spring));
	V(store)(d->leak + i, V(keep)(soft.leak, spring));
	V(store)(d->max_spring + i, V(keep)(V(pick)(from[3], ZERO, MUL(from[3], h), infinity), spring));
	V(store)(d->spring + i, V(keep)(old[0], spring));

	const V(mask) motor = having(parts, ET_MOTOR), limits = having(parts, ET_LIMITS);
	V(store)(d->speed + i, V(keep)(from[4], motor));
	V(store)(d->max_motor + i, V(keep)(MUL(from[5], h), motor));
	V(store)(d->motor + i, V(keep)(old[1], motor));
	V(store)(d->lower + i, V(select)(limits, from[6], V(negate)(infinity)));
	V(store)(d->upper + i, V(select)(limits, from[7], infinity));
	V(store)(d->lower_impulse + i, V(keep)(old[2], limits));
	V(store)(d->upper_impulse + i, V(keep)(old[3], limits));
	return spring & (V(mask))~V(lt)(ZERO, from[1]);
}

/* Makes the softness of a drive that of a point: returns the lanes that are rigid. */
HELPER(LEVEL) V(mask) fill_point_drive(et_block_drive *d, uint32_t i, V(u) parts, V(mask) rigid) {
	const V(mask) drag = having(parts, ET_DRAG), soft = having(parts, ET_SOFT);
	const V(f) leak = V(load)(d->leak + i), mass = V(load)(d->mass + i), most = V(load)(d->max_spring + i);
	const V(f) more = DIV(leak, V(max)(mass, V(set1)(1e-12f)));
	V(store)(d->rate + i, V(select)(drag, ZERO, V(load)(d->rate + i)));
	V(store)(d->leak + i, V(select)(drag, ZERO, V(select)(soft, more, leak)));
	V(store)(d->max_spring + i, V(select)(soft, most, V(set1)(__builtin_inff())));
	return (rigid | (V(mask))~soft) & (V(mask))~drag;
}

/* Angles less the nearest multiples of 2 pi. */
HELPER(LEVEL) V(f) wrapped(V(f) a) {
	const V(f) rounding = V(set1)(12582912.0f);
	const V(f) turns = SUB(ADD(MUL(a, V(set1)(0.15915494309189535f)), rounding), rounding);
	return SUB(a, MUL(turns, V(set1)(6.283185307179586f)));
}

/* Fills in where anchors, centres and axis are, the impulses of rows, and the relative angle. */
HELPER(LEVEL) void fill_place(et_joint_block *b, uint32_t i, const joint_sources *s, const joint_lanes *l) {
	const float *const words = (const float *)(const void *)s->joints;
	const V(u) body_a = V(loadu)(b->a + i), body_b = V(loadu)(b->b + i);
	V(f) anchors[4], rest[8];
	V(rows4)(words + 4, l->joint + i, 40, anchors);
	V(rows8)(words + 24, l->joint + i, 40, rest);
	const V(f) cos_a = V(fetch)(s->cos, body_a), sin_a = V(fetch)(s->sin, body_a);
	const V(f) cos_b = V(fetch)(s->cos, body_b), sin_b = V(fetch)(s->sin, body_b);
	V(store)(b->ax + i, CROSS(cos_a, sin_a, anchors[1], anchors[0]));
	V(store)(b->ay + i, DOT(sin_a, cos_a, anchors[0], anchors[1]));
	V(store)(b->bx + i, CROSS(cos_b, sin_b, anchors[3], anchors[2]));
	V(store)(b->by + i, DOT(sin_b, cos_b, anchors[2], anchors[3]));
	V(store)(b->gap_x + i, SUB(V(fetch)(s->x, body_b), V(fetch)(s->x, body_a)));
	V(store)(b->gap_y + i, SUB(V(fetch)(s->y, body_b), V(fetch)(s->y, body_a)));
	V(store)(b->x + i, rest[4]);
	V(store)(b->y + i, rest[5]);
	if (has_line(b->kind)) {
		V(store)(b->across + i, rest[4]);
		V(store)(b->axis_x + i, CROSS(cos_a, sin_a, rest[1], rest[0]));
		V(store)(b->axis_y + i, DOT(sin_a, cos_a, rest[0], rest[1]));
	}
	if (has_lock(b->kind) || b->parts & (ET_TURN_SPRING | ET_TURN_LIMITS)) {
		const V(f) angle = SUB(V(fetch)(s->angle, body_b), V(fetch)(s->angle, body_a));
		V(store)(b->angle + i, wrapped(SUB(angle, rest[2])));
	}
}

HELPER(LEVEL) void fill_drives(et_joint_block *b, uint32_t i, V(mask) used, const joint_sources *s,
                               const joint_lanes *l) {
	const float *const words = (const float *)(const void *)s->joints;
	const V(u) parts = V(loadu)(l->parts + i);
	V(f) from[8], old[4];
	if (b->parts & (ET_LINEAR | ET_DRAG)) {
		V(rows8)(words + 8, l->joint + i, 40, from);
		V(rows4)(words + 32, l->joint + i, 40, old);
		V(mask) rigid = fill_drive(&b->linear, i, from, old, parts, s);
		if (has_point(b->kind))
			rigid = fill_point_drive(&b->linear, i, parts, rigid);
		b->rigid |= (uint32_t)(rigid & used) << i;
	}
	V(rows4)(words + 36, l->joint + i, 40, old);
	if (b->parts & ET_TURN) {
		uint32_t turn[ET_LANES];
		for (int k = 0; k < V(LANES); k++)
			turn[k] = l->parts[i + (uint32_t)k] >> ET_TURN_SHIFT;
		V(rows8)(words + 16, l->joint + i, 40, from);
		const V(mask) rigid = fill_drive(&b->angular, i, from, old, V(loadu)(turn), s);
		b->rigid_turn |= (uint32_t)(rigid & used) << i;
	} else if (has_lock(b->kind)) {
		V(store)(b->angular.spring + i, old[0]);
	}
}

HELPER(LEVEL) void fill_joints(et_joint_block *b, uint32_t i, const joint_sources *s, const joint_lanes *l) {
	const V(mask) used = V(first)(b->joints > i ? b->joints - i : 0);
	const V(u) body_a = V(loadu)(b->a + i), body_b = V(loadu)(b->b + i);
	const V(f) ia = V(fetch)(s->inv_inertia, body_a), ib = V(fetch)(s->inv_inertia, body_b), inverse = ADD(ia, ib);
	V(f) a[4], c[4];
	V(store)(b->inv_ia + i, ia);
	V(store)(b->inv_ib + i, ib);
	V(store)(b->turn_mass + i, V(pick)(inverse, ZERO, DIV(V(set1)(1.0f), inverse), ZERO));
	V(rows4)((const float *)(const void *)s->states, b->a + i, 8, a);
	V(rows4)((const float *)(const void *)s->states, b->b + i, 8, c);
	b->dynamic_a |= (uint32_t)(used & V(lt)(ZERO, a[3])) << i;
	b->dynamic_b |= (uint32_t)(used & V(lt)(ZERO, c[3])) << i;
	fill_place(b, i, s, l);
	fill_drives(b, i, used, s, l);
}

KERNEL(void, prepare_joints, et_joint_block *blocks, const uint32_t *joint, int64_t n,
       const joint_sources *s) {
	for (et_joint_block *b = blocks; b < blocks + n; b++, joint += ET_LANES) {
		joint_lanes l;
		look_up_joints(s, joint, b, &l);
		for (uint32_t i = 0; i < ET_LANES; i += V(LANES))
			fill_joints(b, i, s, &l);
	}
}

#ifdef DISPATCH
void et_prepare_joints(int32_t level, et_joint_block *blocks, const uint32_t *joint, int64_t n, const et_joint *joints,
                       const et_state *states, const float *inv_inertia, const float *x, const float *y,
                       const float *cos, const float *sin, const float *angle, float rate, float mass, float impulse,
                       float h) {
	const joint_sources s = {joints, states, inv_inertia, x, y, cos, sin, angle, rate, mass, impulse, h};
	DISPATCH(level, prepare_joints, blocks, joint, n, &s);
}
#endif
