#include "joints.h"

typedef struct {
	V(f) bias_rate, mass_scale, impulse_scale;
} lane_softness;

/* boundedSoftness: of springs whose hertz and damping are bounded. */
HELPER(LEVEL) lane_softness bounded_softness(V(f) hertz, V(f) damping, float h) {
	const V(f) most = V(set1)(1e6f), w = MUL(V(set1)(6.28318530717958648f), V(min)(hertz, most)), hw = MUL(V(set1)(h), w);
	const V(f) c = ADD(twice(V(min)(damping, most)), hw), stiff = MUL(hw, c), impulse = DIV(ONE, ADD(ONE, stiff));
	const V(f) mass = MUL(stiff, impulse);
	return (lane_softness){V(pick)(mass, ZERO, DIV(w, c), ZERO), mass, impulse};
}

HELPER(LEVEL) V(f) impulse_bound(V(f) force, float h) { return V(pick)(force, ZERO, MUL(force, V(set1)(h)), V(set1)(__builtin_inff())); }

HELPER(LEVEL) const float *floats_of_joints(const et_space_system *s) { return (const float *)(const void *)s->joints; }

HELPER(LEVEL) void put_lanes(float field[3][ET_SPACE_LANES], uint32_t i, vec v) {
	V(store)(field[0] + i, v.x);
	V(store)(field[1] + i, v.y);
	V(store)(field[2] + i, v.z);
}

HELPER(LEVEL) void put_quat(float field[4][ET_SPACE_LANES], uint32_t i, quat q) {
	V(store)(field[0] + i, q.x);
	V(store)(field[1] + i, q.y);
	V(store)(field[2] + i, q.z);
	V(store)(field[3] + i, q.w);
}

HELPER(LEVEL) void prepare_bodies_of(const et_space_system *s, et_space_joint_block *b, uint32_t i, V(mask) used) {
	const float *const states = (const float *)(const void *)s->states, *const inertia = (const float *)(const void *)s->inertia;
	V(f) x[8], y[8];
	V(rows8)(states, b->a + i, STATE, x);
	V(rows8)(states, b->b + i, STATE, y);
	const uint32_t dynamic_a = V(lt)(ZERO, x[3]) & used, dynamic_b = V(lt)(ZERO, y[3]) & used;
	b->dynamic_a |= dynamic_a << i;
	b->dynamic_b |= dynamic_b << i;
	if (V(nequ)(V(oru)(V(asu)(x[7]), V(asu)(y[7])), V(asu)(ZERO)) & used)
		b->flags |= ET_SPACE_LOCKED;
	V(rows8)(inertia, b->a + i, INERTIA, x);
	V(rows8)(inertia, b->b + i, INERTIA, y);
	for (int k = 0; k < 6; k++) {
		V(store)(b->inertia_a[k] + i, x[k]);
		V(store)(b->inertia_b[k] + i, y[k]);
	}
}

/* Prepares what joints of all classes have. */
HELPER(LEVEL) void prepare_joint(const et_space_system *s, et_space_joint_block *b, uint32_t i, const uint32_t *index, const body_pose *pa,
                                 const body_pose *pb, V(mask) used) {
	const et_space_step_context *const step = &s->step;
	const float *const joints = floats_of_joints(s);
	V(f) anchors[8], tuning[4], rows[4];
	prepare_bodies_of(s, b, i, used);
	V(rows8)(joints + JOINT_ANCHORS, index, JOINT, anchors);
	put_lanes(b->anchor_a, i, rotate(pa->q, (vec){anchors[0], anchors[1], anchors[2]}));
	put_lanes(b->anchor_b, i, rotate(pb->q, (vec){anchors[3], anchors[4], anchors[5]}));
	put_lanes(b->delta_centre, i, vec_sub(pb->p, pa->p));
	const vec none = {ZERO, ZERO, ZERO};
	vec impulse = none;
	if (b->class == ET_SPACE_CLASS_POINT) {
		V(rows4)(joints + JOINT_KEPT, index, JOINT, rows);
		impulse = (vec){rows[0], rows[1], rows[2]};
	}
	put_lanes(b->impulse, i, impulse);
	put_lanes(b->torque_a, i, none);
	put_lanes(b->torque_b, i, none);

	V(rows4)(joints + JOINT_TUNING, index, JOINT, tuning);
	const V(mask) tuned = V(lt)(ZERO, tuning[2]) | V(lt)(ZERO, tuning[3]);
	lane_softness soft = {V(set1)(step->joint_softness.bias_rate), V(set1)(step->joint_softness.mass_scale),
	                      V(set1)(step->joint_softness.impulse_scale)};
	if (tuned & used) {
		const V(f) hertz = V(pick)(tuning[2], ZERO, tuning[2], V(set1)(step->joint_hertz));
		const V(f) damping = V(pick)(tuning[3], ZERO, tuning[3], V(set1)(step->joint_damping));
		const lane_softness own = bounded_softness(V(min)(hertz, V(set1)(0.25f * step->inv_h)), damping, step->h);
		soft.bias_rate = V(select)(tuned, own.bias_rate, soft.bias_rate);
		soft.mass_scale = V(select)(tuned, own.mass_scale, soft.mass_scale);
		soft.impulse_scale = V(select)(tuned, own.impulse_scale, soft.impulse_scale);
	}
	V(store)(b->bias_rate + i, soft.bias_rate);
	V(store)(b->mass_scale + i, soft.mass_scale);
	V(store)(b->impulse_scale + i, soft.impulse_scale);
}

ROUTINE(LEVEL) void prepare_drive(const et_space_system *s, et_space_drive_lanes *d, uint32_t i, const uint32_t *index, uint32_t at) {
	V(f) row[8];
	V(rows8)(floats_of_joints(s) + at, index, JOINT, row);
	const lane_softness soft = bounded_softness(row[0], row[1], s->step.h);
	const V(f) compliance = DIV(soft.impulse_scale, V(max)(soft.mass_scale, V(set1)(1e-12f)));
	V(store)(d->bias_rate + i, V(pick)(row[0], ZERO, soft.bias_rate, ZERO));
	V(store)(d->compliance + i, V(pick)(row[0], ZERO, compliance, ZERO));
	V(store)(d->max_impulse + i, impulse_bound(row[2], s->step.h));
	put_lanes(d->velocity, i, (vec){row[3], row[4], row[5]});
}

/* Sets the parts of each coordinate of some lanes. */
HELPER(LEVEL) void list_parts(const et_space_system *s, const et_space_joint_block *b, et_space_joint_parts *p, uint32_t i, const uint32_t *index) {
	for (uint32_t k = 0; k < V(LANES); k++) {
		const et_space_joint *const j = &s->joints[index[k]];
		uint32_t held = j->locked;
		if (j->soft & ET_SPACE_SOFT_ANGULAR)
			held &= ~(uint32_t)ET_SPACE_LOCKED_ANGLES;
		p->locked[i + k] = j->locked;
		p->soft[i + k] = j->soft;
		const uint32_t used = i + k < b->joints;
		p->any_soft |= used ? j->soft : 0;
		for (uint32_t c = 0; c < ET_SPACE_COORDINATES; c++) {
			const et_space_joint_axis *const a = &j->axes[c];
			uint32_t parts = used && !(held >> c & 1) ? a->parts : 0;
			p->axes |= (uint32_t)(parts != 0) << c;
			if (!(a->hertz > 0))
				parts &= ~(uint32_t)ET_SPACE_SPRING;
			p->coordinates[c].parts[i + k] = parts;
		}
	}
}

ROUTINE(LEVEL) void prepare_axis(const et_space_system *s, et_space_axis_lanes *l, uint32_t i, const uint32_t *index, uint32_t c) {
	const float *const joints = floats_of_joints(s), h = s->step.h;
	V(f) row[8], last[4], kept[4];
	V(rows8)(joints + JOINT_AXES + AXIS * c, index, JOINT, row);
	V(rows4)(joints + JOINT_AXES + AXIS * c + 6, index, JOINT, last);
	V(rows4)(joints + JOINT_KEPT_AXES + 4 * c, index, JOINT, kept);
	const V(u) parts = V(loadu)(l->parts + i);
	const V(mask) spring = V(anyu)(parts, V(set1u)(ET_SPACE_SPRING)), motor = V(anyu)(parts, V(set1u)(ET_SPACE_MOTOR));
	const V(mask) limits = V(anyu)(parts, V(set1u)(ET_SPACE_LIMITS));
	if (spring) {
		const lane_softness soft = bounded_softness(row[2], row[3], h);
		V(store)(l->target + i, row[1]);
		V(store)(l->bias_rate + i, soft.bias_rate);
		V(store)(l->mass_scale + i, soft.mass_scale);
		V(store)(l->impulse_scale + i, soft.impulse_scale);
		const V(mask) bounded = V(lt)(row[4], ZERO) | V(lt)(ZERO, row[4]) | V(lt)(row[5], ZERO) | V(lt)(ZERO, row[5]);
		V(store)(l->lower_spring_impulse + i, V(select)(bounded, MUL(row[4], V(set1)(h)), V(set1)(-__builtin_inff())));
		V(store)(l->upper_spring_impulse + i, V(select)(bounded, MUL(row[5], V(set1)(h)), V(set1)(__builtin_inff())));
	}
	V(store)(l->motor_speed + i, row[6]);
	V(store)(l->max_motor_impulse + i, MUL(row[7], V(set1)(h)));
	V(store)(l->lower + i, V(select)(limits, last[2], V(set1)(-__builtin_inff())));
	V(store)(l->upper + i, V(select)(limits, last[3], V(set1)(__builtin_inff())));
	V(store)(l->impulse[0] + i, V(keep)(kept[0], spring));
	V(store)(l->impulse[1] + i, V(keep)(kept[1], motor));
	V(store)(l->impulse[2] + i, V(keep)(V(max)(kept[2], ZERO), limits));
	V(store)(l->impulse[3] + i, V(keep)(V(max)(kept[3], ZERO), limits));
	V(store)(l->error + i, ZERO);
}

/* Prepares what joints of other classes than the first have besides. */
ROUTINE(LEVEL) void prepare_parts(const et_space_system *s, const et_space_joint_block *b, et_space_joint_parts *p, uint32_t i, const uint32_t *index,
                                 const body_pose *pa, const body_pose *pb) {
	const float *const joints = floats_of_joints(s);
	V(f) frame[8], twist[4], limits[8], rows[8];
	list_parts(s, b, p, i, index);
	V(rows8)(joints + JOINT_FRAME_A, index, JOINT, frame);
	const quat a = quat_times(pa->q, (quat){frame[0], frame[1], frame[2], frame[3]});
	const quat c = quat_times(pb->q, (quat){frame[4], frame[5], frame[6], frame[7]});
	put_quat(p->frame_a, i, a);
	put_quat(p->frame_b, i, c);

	V(rows4)(joints + JOINT_TWIST, index, JOINT, twist);
	V(rows8)(joints + JOINT_AXES + AXIS * ET_SPACE_TWIST, index, JOINT, limits);
	V(f) upper[4];
	V(rows4)(joints + JOINT_AXES + AXIS * ET_SPACE_TWIST + 6, index, JOINT, upper);
	const V(f) most = V(set1)(0x1p16f * 6.28318530717958648f), half = V(set1)(0.5f);
	const V(f) middle = ADD(MUL(half, within(upper[2], most)), MUL(half, within(upper[3], most)));
	const V(f) start = V(keep)(middle, V(anyu)(V(asu)(limits[0]), V(set1u)(ET_SPACE_LIMITS)));
	const V(f) near = V(select)(V(nequ)(V(asu)(twist[1]), V(asu)(ZERO)), twist[0], start);
	V(store)(p->twist + i, nearest_angle(raw_twist(quat_times(quat_inverse(a), c)), near));

	V(rows8)(joints + JOINT_KEPT, index, JOINT, rows);
	const V(u) locked = V(loadu)(p->locked + i);
	for (uint32_t k = 0; k < ET_SPACE_ROWS; k++) {
		V(store)(p->rows[k] + i, V(keep)(rows[k], V(anyu)(locked, V(set1u)(1u << k))));
		V(store)(p->error[k] + i, ZERO);
	}
	if (p->any_soft) {
		V(f) target[4];
		V(rows4)(joints + JOINT_TARGET, index, JOINT, target);
		put_quat(p->target, i, normalize((quat){target[0], target[1], target[2], target[3]}));
		prepare_drive(s, &p->linear, i, index, JOINT_LINEAR);
		prepare_drive(s, &p->angular, i, index, JOINT_ANGULAR);
	}
	for (uint32_t k = 0; k < ET_SPACE_COORDINATES; k++)
		if (p->axes >> k & 1)
			prepare_axis(s, &p->coordinates[k], i, index, k);
}

/* The joints of LANES lanes from i on. Those beyond the joints of the block have that of lane 0. */
HELPER(LEVEL) void joint_numbers(const et_space_joint_block *b, const uint32_t *joints, uint32_t i, uint32_t *index) {
	for (uint32_t k = 0; k < V(LANES); k++)
		index[k] = joints[i + k < b->joints ? i + k : 0];
}

KERNEL(void, space_prepare_joints, const et_space_system *s, int64_t lo, int64_t hi) {
	for (int64_t n = lo; n < hi; n++) {
		const uint32_t *const joints = s->lane_joints + n * ET_SPACE_LANES;
		et_space_joint_block *const b = s->joint_blocks + n;
		et_space_joint_parts *const p = b->class == ET_SPACE_CLASS_POINT ? 0 : s->joint_parts + b->parts;
		b->joints = b->flags = b->dynamic_a = b->dynamic_b = 0;
		while (b->joints < ET_SPACE_LANES && joints[b->joints] != UINT32_MAX)
			b->joints++;
		if (p)
			p->axes = p->any_soft = 0;
		for (uint32_t i = 0; i < ET_SPACE_LANES; i += V(LANES)) {
			uint32_t index[V(LANES)];
			joint_numbers(b, joints, i, index);
			for (uint32_t k = 0; k < V(LANES); k++) {
				b->a[i + k] = s->joints[index[k]].a;
				b->b[i + k] = s->joints[index[k]].b;
			}
			if (i >= b->joints)
				continue;
			const body_pose pa = load_poses(s->poses, b->a + i), pb = load_poses(s->poses, b->b + i);
			prepare_joint(s, b, i, index, &pa, &pb, V(first)(b->joints - i));
			if (p)
				prepare_parts(s, b, p, i, index, &pa, &pb);
		}
	}
}
