#include "rows_lanes.h"
#include "system.h"

/* The joints of a block and their parts. Empty lanes repeat the first joint. */
typedef struct {
	uint32_t joint[ET_LANES], parts[ET_LANES];
} joint_lanes;

/* The parts that each kind can have. */
static const uint32_t allowed_parts[] = {
	0,
	ET_TUNED | ET_LINEAR | ET_ANGULAR | ET_SPRING_RANGE,
	ET_TUNED | ET_SOFT | ET_ANGULAR | ET_VELOCITY,
	ET_TUNED,
	ET_TUNED | ET_LINEAR,
	ET_TUNED | ET_LINEAR | ET_ANGULAR,
};

/* Fills in the integer fields, except the masks. */
static void look_up_joints(const et_system *s, const uint32_t *joint, et_joint_block *b, joint_lanes *l) {
	b->joints = b->parts = 0;
	b->kind = s->joints[joint[0]].kind;
	for (uint32_t i = 0; i < ET_LANES; i++) {
		const uint32_t n = joint[i] == UINT32_MAX ? joint[0] : joint[i];
		const et_joint *const j = &s->joints[n];
		b->joints += joint[i] != UINT32_MAX;
		l->joint[i] = n;
		l->parts[i] = j->parts & allowed_parts[b->kind];
		b->parts |= l->parts[i];
		b->a[i] = j->a;
		b->b[i] = j->b;
	}
	b->dynamic_a = b->dynamic_b = b->rigid_linear = b->rigid_angular = 0;
}

/* The lanes whose parts have any of the bits. */
HELPER(LEVEL) V(mask) having(V(u) parts, uint32_t bits) { return V(anyu)(parts, V(set1u)(bits)); }

/* The softness of springs: see makeSoftness and springSoftness in package internal/rigid. */
typedef struct {
	V(f) bias_rate, mass_scale, impulse_scale;
} spring_lanes;

HELPER(LEVEL) spring_lanes bounded_softness(const et_system *s, V(f) hertz, V(f) damping) {
	const V(f) max_stiffness = V(set1)(1e6f), one = V(set1)(1.0f), h = V(set1)(s->step.h);
	const V(f) w = MUL(V(set1)(6.283185307179586f), V(min)(hertz, max_stiffness)), hw = MUL(h, w);
	const V(f) c = ADD(MUL(V(set1)(2.0f), V(min)(damping, max_stiffness)), hw), stiff = MUL(hw, c);
	const V(f) impulse_scale = DIV(one, ADD(one, stiff)), mass = MUL(stiff, impulse_scale);
	const spring_lanes soft = {V(pick)(mass, ZERO, DIV(w, c), ZERO), mass, impulse_scale};
	return soft;
}

/* soft in some lanes, the softness of joints in the others. */
HELPER(LEVEL) spring_lanes soft_or_rigid(const et_system *s, V(mask) lanes, spring_lanes soft) {
	const et_softness *const rigid = &s->step.joint_softness;
	const spring_lanes both = {
		V(select)(lanes, soft.bias_rate, V(set1)(rigid->bias_rate)),
		V(select)(lanes, soft.mass_scale, V(set1)(rigid->mass_scale)),
		V(select)(lanes, soft.impulse_scale, V(set1)(rigid->impulse_scale)),
	};
	return both;
}

HELPER(LEVEL) spring_lanes spring_softness(const et_system *s, V(f) hertz, V(f) damping) {
	return soft_or_rigid(s, V(lt)(ZERO, hertz), bounded_softness(s, hertz, damping));
}

/* jointSoftnessOf in package internal/rigid. */
HELPER(LEVEL) void prepare_softness(et_joint_block *b, uint32_t i, const et_system *s, V(mask) tuned,
                                    V(f) hertz, V(f) damping) {
	const V(f) own_hertz = V(pick)(hertz, ZERO, hertz, V(set1)(s->step.joint_hertz));
	const V(f) own_damping = V(pick)(damping, ZERO, damping, V(set1)(s->step.joint_damping));
	const V(f) bounded = V(min)(own_hertz, V(set1)(0.25f * s->step.inv_h));
	const spring_lanes soft = soft_or_rigid(s, tuned, bounded_softness(s, bounded, own_damping));
	V(store)(b->bias_rate + i, soft.bias_rate);
	V(store)(b->mass_scale + i, soft.mass_scale);
	V(store)(b->impulse_scale + i, soft.impulse_scale);
}

/* Sets an axis in the lanes from i on. The rows are those of et_joint_axis and et_axis_impulse; parts are given as
 * those of Linear. Returns the lanes with a rigid spring. */
HELPER(LEVEL) V(mask) prepare_axis(et_axis_block *d, uint32_t i, const V(f) from[8], const V(f) old[4],
                                   V(u) parts, const et_system *s) {
	const V(f) infinity = V(set1)(__builtin_inff()), h = V(set1)(s->step.h);
	const V(mask) spring = having(parts, ET_SOFT);
	const spring_lanes soft = spring_softness(s, from[1], from[2]);
	V(store)(d->target + i, from[0]);
	V(store)(d->bias_rate + i, V(keep)(soft.bias_rate, spring));
	V(store)(d->mass_scale + i, V(keep)(soft.mass_scale, spring));
	V(store)(d->impulse_scale + i, V(keep)(soft.impulse_scale, spring));
	V(store)(d->max_spring_impulse + i, V(keep)(V(pick)(from[3], ZERO, MUL(from[3], h), infinity), spring));
	V(store)(d->spring_impulse + i, V(keep)(old[0], spring));

	const V(mask) motor = having(parts, ET_MOTOR), limits = having(parts, ET_LIMITS);
	V(store)(d->motor_speed + i, V(keep)(from[4], motor));
	V(store)(d->max_motor_impulse + i, V(keep)(MUL(from[5], h), motor));
	V(store)(d->motor_impulse + i, V(keep)(old[1], motor));
	V(store)(d->lower + i, V(select)(limits, from[6], V(negate)(infinity)));
	V(store)(d->upper + i, V(select)(limits, from[7], infinity));
	V(store)(d->lower_impulse + i, V(keep)(old[2], limits));
	V(store)(d->upper_impulse + i, V(keep)(old[3], limits));
	return spring & (V(mask))~V(lt)(ZERO, from[1]);
}

/* Converts the softness of an axis to that of a point. Returns the lanes that are rigid. */
HELPER(LEVEL) V(mask) prepare_point_axis(et_axis_block *d, uint32_t i, V(u) parts, V(mask) rigid) {
	const V(mask) friction = having(parts, ET_FRICTION), soft = having(parts, ET_SOFT);
	const V(f) impulse_scale = V(load)(d->impulse_scale + i), mass_scale = V(load)(d->mass_scale + i);
	const V(f) limit = V(load)(d->max_spring_impulse + i);
	const V(f) compliance = DIV(impulse_scale, V(max)(mass_scale, V(set1)(1e-12f)));
	V(store)(d->bias_rate + i, V(select)(friction, ZERO, V(load)(d->bias_rate + i)));
	V(store)(d->impulse_scale + i, V(select)(friction, ZERO, V(select)(soft, compliance, impulse_scale)));
	V(store)(d->max_spring_impulse + i, V(select)(soft, limit, V(set1)(__builtin_inff())));
	return (rigid | (V(mask))~soft) & (V(mask))~friction;
}

/* Sets the bounds of springs whose joints have ET_SPRING_RANGE. */
HELPER(LEVEL) void prepare_range(et_axis_block *d, uint32_t i, V(u) parts, V(f) min_force, V(f) max_force, V(f) h) {
	const V(mask) range = having(parts, ET_SPRING_RANGE) & having(parts, ET_SPRING);
	const V(f) limit = V(load)(d->max_spring_impulse + i);
	V(store)(d->min_spring_impulse + i, V(select)(range, MUL(min_force, h), V(negate)(limit)));
	V(store)(d->max_spring_impulse + i, V(select)(range, MUL(max_force, h), limit));
}

/* The angles of the directions a that are nearest to near. */
HELPER(LEVEL) V(f) nearest_angle(V(f) a, V(f) near) {
	const V(f) rounding = V(set1)(12582912.0f);
	const V(f) turns = SUB(ADD(MUL(SUB(a, near), V(set1)(0.15915494309189535f)), rounding), rounding);
	return SUB(a, MUL(turns, V(set1)(6.283185307179586f)));
}

/* The middle between the limits of the angle, 0 without them. */
HELPER(LEVEL) V(f) middle_angle(uint32_t i, const et_system *s, const joint_lanes *l) {
	V(f) limits[4];
	V(rows4)((const float *)(const void *)s->joints + 20, l->joint + i, 40, limits);
	return V(keep)(MUL(V(set1)(0.5f), ADD(limits[2], limits[3])), having(V(loadu)(l->parts + i), ET_ANGULAR_LIMITS));
}

/* Fills in anchors, centres, axis, the impulses of rows, and the relative angle. */
HELPER(LEVEL) void prepare_frames(et_joint_block *b, uint32_t i, const et_system *s, const joint_lanes *l) {
	const float *const words = (const float *)(const void *)s->joints;
	const V(u) body_a = V(loadu)(b->a + i), body_b = V(loadu)(b->b + i);
	V(f) anchors[4], rest[8];
	V(rows4)(words + 4, l->joint + i, 40, anchors);
	V(rows8)(words + 24, l->joint + i, 40, rest);
	const V(f) cos_a = V(fetch)(s->poses.cos, body_a), sin_a = V(fetch)(s->poses.sin, body_a);
	const V(f) cos_b = V(fetch)(s->poses.cos, body_b), sin_b = V(fetch)(s->poses.sin, body_b);
	V(store)(b->anchor_ax + i, CROSS(cos_a, sin_a, anchors[1], anchors[0]));
	V(store)(b->anchor_ay + i, DOT(sin_a, cos_a, anchors[0], anchors[1]));
	V(store)(b->anchor_bx + i, CROSS(cos_b, sin_b, anchors[3], anchors[2]));
	V(store)(b->anchor_by + i, DOT(sin_b, cos_b, anchors[2], anchors[3]));
	V(store)(b->delta_centre_x + i, SUB(V(fetch)(s->poses.x, body_b), V(fetch)(s->poses.x, body_a)));
	V(store)(b->delta_centre_y + i, SUB(V(fetch)(s->poses.y, body_b), V(fetch)(s->poses.y, body_a)));
	V(store)(b->impulse_x + i, rest[4]);
	V(store)(b->impulse_y + i, rest[5]);
	if (has_perpendicular(b->kind)) {
		V(store)(b->perpendicular_impulse + i, rest[4]);
		V(store)(b->axis_x + i, CROSS(cos_a, sin_a, rest[1], rest[0]));
		V(store)(b->axis_y + i, DOT(sin_a, cos_a, rest[0], rest[1]));
	}
	if (b->parts & ET_VELOCITY) {
		const V(mask) moves = having(V(loadu)(l->parts + i), ET_VELOCITY);
		V(store)(b->axis_x + i, V(keep)(CROSS(cos_a, sin_a, rest[1], rest[0]), moves));
		V(store)(b->axis_y + i, V(keep)(DOT(sin_a, cos_a, rest[0], rest[1]), moves));
	}
	if (b->parts & ET_TUNED)
		prepare_softness(b, i, s, having(V(loadu)(l->parts + i), ET_TUNED), rest[6], rest[7]);
	if (locks_angle(b->kind) || b->parts & (ET_ANGULAR_SPRING | ET_ANGULAR_LIMITS)) {
		const V(f) angle = SUB(V(fetch)(s->angle, body_b), V(fetch)(s->angle, body_a));
		V(store)(b->angle + i, nearest_angle(SUB(angle, rest[2]), middle_angle(i, s, l)));
	}
}

HELPER(LEVEL) void prepare_axes(et_joint_block *b, uint32_t i, V(mask) used, const et_system *s,
                               const joint_lanes *l) {
	const float *const words = (const float *)(const void *)s->joints;
	const V(u) parts = V(loadu)(l->parts + i);
	V(f) from[8], old[4];
	if (b->parts & (ET_LINEAR | ET_FRICTION)) {
		V(rows8)(words + 8, l->joint + i, 40, from);
		V(rows4)(words + 32, l->joint + i, 40, old);
		V(mask) rigid = prepare_axis(&b->linear, i, from, old, parts, s);
		if (has_point(b->kind))
			rigid = prepare_point_axis(&b->linear, i, parts, rigid);
		if (b->parts & ET_SPRING_RANGE) {
			V(rows4)(words + 24, l->joint + i, 40, old);
			prepare_range(&b->linear, i, parts, old[3], from[3], V(set1)(s->step.h));
		}
		b->rigid_linear |= (uint32_t)(rigid & used) << i;
	}
	V(rows4)(words + 36, l->joint + i, 40, old);
	if (b->parts & ET_ANGULAR) {
		uint32_t angular_parts[ET_LANES];
		for (int k = 0; k < V(LANES); k++)
			angular_parts[k] = (l->parts[i + (uint32_t)k] & ET_ANGULAR) >> ET_ANGULAR_SHIFT;
		V(rows8)(words + 16, l->joint + i, 40, from);
		const V(mask) rigid = prepare_axis(&b->angular, i, from, old, V(loadu)(angular_parts), s);
		b->rigid_angular |= (uint32_t)(rigid & used) << i;
		if (b->parts & ET_ANGULAR_SPRING) {
			const V(f) near = V(select)(having(parts, ET_ANGULAR_LIMITS), middle_angle(i, s, l), V(load)(b->angle + i));
			V(store)(b->angular.target + i, nearest_angle(from[0], near));
		}
	} else if (locks_angle(b->kind)) {
		V(store)(b->angular.spring_impulse + i, old[0]);
	}
}

HELPER(LEVEL) void fill_joints(et_joint_block *b, uint32_t i, const et_system *s, const joint_lanes *l) {
	const V(mask) used = V(first)(b->joints > i ? b->joints - i : 0);
	const V(u) body_a = V(loadu)(b->a + i), body_b = V(loadu)(b->b + i);
	const V(f) ia = V(fetch)(s->inv_inertia, body_a), ib = V(fetch)(s->inv_inertia, body_b);
	V(f) a[4], c[4];
	V(store)(b->inv_ia + i, ia);
	V(store)(b->inv_ib + i, ib);
	V(store)(b->angular_mass + i, inverse(ADD(ia, ib)));
	V(rows4)((const float *)(const void *)s->states, b->a + i, 8, a);
	V(rows4)((const float *)(const void *)s->states, b->b + i, 8, c);
	b->dynamic_a |= (uint32_t)(used & V(lt)(ZERO, a[3])) << i;
	b->dynamic_b |= (uint32_t)(used & V(lt)(ZERO, c[3])) << i;
	prepare_frames(b, i, s, l);
	prepare_axes(b, i, used, s, l);
}

KERNEL(void, prepare_joints, const et_system *s, int64_t lo, int64_t hi) {
	for (int64_t n = lo; n < hi; n++) {
		joint_lanes l;
		look_up_joints(s, s->lane_joints + n * ET_LANES, s->joint_blocks + n, &l);
		for (uint32_t i = 0; i < ET_LANES; i += V(LANES))
			fill_joints(s->joint_blocks + n, i, s, &l);
	}
}
